"""A session without a screen: followed to its end, its result told."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from gputrain_runner.options import SessionOptions
from gputrain_runner.paths import default_path
from gputrain_runner.process import WorkerError, WorkerProcess
from gputrain_runner.recorder import RecordingError
from gputrain_runner.session import Session
from gputrain_runner.settings import SettingError
from gputrain_runner.telemetry import Telemetry
from gputrain_runner.timeline import Change, Sample, Summary

from .. import format
from . import scheduled
from .interruption import Interruption
from .narration import Narrator
from .parsing import RunError, UsageError
from .progress import Limit, Progress, Tracker, progress_for
from .result import result_text
from .run import Plan

SUMMARY_BYTES = 65_536
"""A summary is shorter than that."""
LOOK_S = 0.1
"""How often a signal and the run's end are looked for."""
DRAW_S = 0.25
"""How often progress is drawn."""


def run(plan: Plan) -> int:
    """Train as planned; the exit code. UsageError and RunError say why it could not be."""
    record = _record_path(plan)
    telemetry = Telemetry()
    with Interruption() as interruption:
        try:
            worker = WorkerProcess()  # By the main thread: it lives as long as the thread that started it.
        except WorkerError as error:
            raise RunError(str(error)) from None
        interruption.on_kill(lambda: worker.stop(grace_s=0))
        try:
            session = _session(plan, record, worker, telemetry)
            telemetry.start()
            session.start()
            summary, changes = _follow(session, plan, record, interruption)
        finally:
            worker.stop(grace_s=0)
            telemetry.stop()
        # Here, so that a second ctrl+c does not take the result away.
        code = _tell(session, summary, plan, record, interruption)
        return _tell_changes(changes, plan, summary, code)


def _record_path(plan: Plan) -> Path | None:
    if not plan.record or plan.record_path is not None:
        return plan.record_path
    try:
        return default_path(datetime.now(UTC), plan.preset.name)
    except RecordingError as error:
        raise UsageError(f"--record: {error}") from None


def _session(plan: Plan, record: Path | None, worker: WorkerProcess, telemetry: Telemetry) -> Session:
    options = SessionOptions(
        preset=plan.preset,
        overrides=[(name, str(value)) for name, value in plan.chosen.items()],
        seed=plan.seed,
        steps=plan.steps,
        epochs=plan.epochs,
        seconds=plan.seconds,
        scheduled=plan.scheduled,
        command=plan.command,
        probe=plan.probe,
        record=record,
    )
    try:
        return Session(options, worker, telemetry)
    except (SettingError, RecordingError) as error:
        raise UsageError(str(error)) from None


def _follow(
    session: Session, plan: Plan, record: Path | None, interruption: Interruption
) -> tuple[Summary, list[Change]]:
    """Show the session until it has ended, by itself or by a signal, and end it; the changes tried."""
    limit = Limit(steps=plan.steps, seconds=plan.seconds, epochs=plan.epochs)
    progress = progress_for(sys.stderr, limit, plan.preset.name)
    interruption.on_kill(progress.close)
    reader = _Reader(session, progress, Tracker(plan.preset.drop_last))
    try:
        if record is not None:
            progress.line(f"recording to {record}")
        draw_at = time.monotonic()
        while not session.wait(LOOK_S) and interruption.signal is None:
            if time.monotonic() >= draw_at:
                draw_at = time.monotonic() + DRAW_S
                reader.pull()
        reader.pull()
        summary = session.stop("finished" if interruption.signal is None else "interrupted")
        reader.pull()
        return summary, reader.changes
    except BaseException:
        session.stop("failed")
        raise
    finally:
        progress.close()


class _Reader:
    """Takes what is new in a session to where it is shown."""

    def __init__(self, session: Session, progress: Progress, tracker: Tracker) -> None:
        self._session = session
        self._progress = progress
        self._tracker = tracker
        self._narrator = Narrator()
        self._position = 0
        self.changes: list[Change] = []
        """Every change that was tried so far."""
        self._data_told = False

    def pull(self) -> None:
        """Tell of what is new, and how far it is."""
        self._tell_data()
        entries, after = self._session.read(self._position)
        # Only the older half of a timeline is thinned, so the newest entries are counted from its end.
        first, self._position = after - len(entries), after
        for line in self._narrator.lines(first, entries, told_last=self._session.reason):
            self._progress.line(line)
        for entry in entries:
            if isinstance(entry, Change):
                self.changes.append(entry)
            elif isinstance(entry, Sample):
                self._tracker.take(entry, self._session.context.training_samples)
        self._progress.show(self._tracker.position, self._session)

    def _tell_data(self) -> None:
        data = self._session.header.session.data
        if data is None or self._data_told:
            return
        self._data_told = True
        settings = self._session.header.session.settings
        where = f"{settings.device}, size {settings.model_size}, batch {settings.batch_size:,}"
        self._progress.line(f"training on {where}; data: {data}")


def _tell(
    session: Session, summary: Summary, plan: Plan, record: Path | None, interruption: Interruption
) -> int:
    """The result on stdout; the exit code."""
    if session.usage_error:
        raise UsageError(str(session.reason))
    if plan.json:
        print(msgspec.json.format(msgspec.json.encode(summary), indent=2).decode())
    elif summary.steps:
        print(result_text(summary, plan.preset, record))
    if summary.ended == "failed":
        raise RunError(_reason(session, summary))
    if interruption.signal is not None and not summary.steps:
        _say(f"interrupted after {format.elapsed(summary.seconds)}, before the first step")
    if record is not None and not _is_complete(record):
        raise RunError(f"{record}: the recording is incomplete")
    return 0 if interruption.signal is None else interruption.exit_code


def _tell_changes(changes: list[Change], plan: Plan, summary: Summary, code: int) -> int:
    """What became of `--at`, where not all was as asked for; the exit code."""
    unreached = scheduled.unreached(changes, plan.scheduled, summary.steps)
    if unreached is not None:
        _say(unreached)
    failed = scheduled.failed(changes, plan.scheduled)
    if failed is None:
        return code
    if code == 0:
        raise RunError(failed)
    _say(failed)
    return code


def _say(line: str) -> None:
    """A line on stderr; nobody need be there to read it."""
    with contextlib.suppress(OSError, AttributeError):
        print(line, file=sys.stderr, flush=True)


def _is_complete(record: Path) -> bool:
    """Whether the recording was closed with its summary, as it is unless the disk was full."""
    try:
        with record.open("rb") as opened:
            opened.seek(-min(SUMMARY_BYTES, record.stat().st_size), os.SEEK_END)
            return b'"summary"' in opened.read()
    except OSError:
        return False


def _reason(session: Session, summary: Summary) -> str:
    """Why it failed, in one line; where the worker could not say it, with the last line it wrote."""
    reason = summary.error or session.reason or "the run failed"
    said = session.log_tail
    return f"{reason}; it wrote last: {said[-1]}" if reason.startswith("worker ") and said else reason
