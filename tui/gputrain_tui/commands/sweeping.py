"""A sweep on the command line: planned or gone on with, run, told."""

from __future__ import annotations

import argparse
import csv
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from gputrain_runner.probe_store import stored
from gputrain_runner.sweep import Listener, Surroundings, Sweep, SweepError, SweepFile, SweepFileError
from gputrain_runner.sweep.job import Job, JobError, new_path, resumed_job
from gputrain_runner.telemetry import Telemetry

from .. import sweep_text
from .interruption import Interruption
from .parsing import RunError, UsageError
from .sweep_grid import Grid, grid_of
from .sweep_progress import SweepProgress, progress_for


def run(options: argparse.Namespace, arguments: list[str]) -> int:
    """Measure what the options ask for; the exit code."""
    job, notes = _job(options, arguments)
    _check_csv(options.csv)
    progress = progress_for(sys.stderr)
    for note in notes:
        progress.line(note)
    points, rounds = len(job.plan.points), job.plan.rounds
    progress.line(f"{_counted(points, 'point')}, {_counted(rounds, 'round')}; {job.path}")
    code, done = _run(job, progress)
    if done is not None:
        print(sweep_text.as_text(done))
        if options.csv is not None:
            _write_csv(options.csv, list(sweep_text.csv_rows(done)))
    return code


def _run(job: Job, progress: SweepProgress) -> tuple[int, SweepFile | None]:
    """The exit code, and what is in the file at last."""
    telemetry = Telemetry()
    last: list[SweepFile] = []
    listener = Listener(progress.begins, progress.measured, lambda sweep: last.__setitem__(slice(1), [sweep]))
    try:
        telemetry.start()
        with Interruption() as interruption:
            sweep = Sweep(
                job.plan,
                job.presets,
                job.path,
                command=job.command,
                resumed=job.resumed,
                around=Surroundings(telemetry, stored),
                listener=listener,
                interrupted=lambda: interruption.signal is not None,
            )
            code = _ended(sweep, interruption, job.path, progress)
    except SweepError as error:
        raise (UsageError if error.usage else RunError)(str(error)) from None
    except SweepFileError as error:
        raise RunError(str(error)) from None
    finally:
        progress.close()
        telemetry.stop()
    return code, last[0] if last else None


def _ended(sweep: Sweep, interruption: Interruption, path: Path, progress: SweepProgress) -> int:
    """Run it to its end; the exit code."""
    try:
        done = sweep.run()
    except KeyboardInterrupt:
        progress.close()
        if path.exists():
            how = f"gputrain-tui sweep --json {shlex.quote(str(path))} --resume"
            progress.line(f"interrupted; `{how}` goes on")
        return interruption.exit_code
    return 0 if any(each.outcome in ("ok", "out_of_memory") for each in done.points) else 1


def _job(options: argparse.Namespace, arguments: list[str]) -> tuple[Job, Sequence[str]]:
    """What is to be measured, and what there is to say of it."""
    try:
        grid = grid_of(options) if options.presets or not options.resume else None
        if options.resume:
            job = resumed_job(options.json, retry_failed=options.retry_failed)
            if grid is not None:
                _check_same(grid, job)
            return job, grid.notes if grid is not None else ()
        assert grid is not None
        path = new_path(grid.plan) if options.json is None else _given_path(options.json)
        command = ["gputrain-tui", "sweep", *arguments]
        return Job(grid.plan, grid.presets, path, command), grid.notes
    except JobError as error:
        raise UsageError(f"--resume: {error}" if options.resume else str(error)) from None


def _check_same(grid: Grid, job: Job) -> None:
    """A sweep is gone on with as it was begun."""
    for name in ("runs", "warmup", "rounds", "seed"):
        now, then = getattr(grid.plan, name), getattr(job.plan, name)
        if now != then:
            raise UsageError(f"--resume: the sweep was begun with --{name} {then}, not {now}")
    if not job.is_of(grid.plan.points, grid.presets):
        raise UsageError(
            f"--resume: {job.path} holds another grid; leave the presets and settings out to go on with it, "
            "or name a new file"
        )


def _given_path(path: Path) -> Path:
    if path.is_dir():
        raise UsageError(f"--json: {path} is a folder: name a file in it")
    if path.exists() or path.is_symlink():
        raise UsageError(f"--json: {path} exists already; --resume goes on from it")
    _check_folder("--json", path.parent)
    return path


def _check_csv(path: Path | None) -> None:
    if path is not None and path.is_dir():
        raise UsageError(f"--csv: {path} is a folder: name a file in it")
    if path is not None:
        _check_folder("--csv", path.parent)


def _check_folder(option: str, folder: Path) -> None:
    if not folder.is_dir():
        raise UsageError(f"{option}: there is no folder {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"{option}: {folder}: no permission to write there: choose another place")


def _write_csv(path: Path, rows: Sequence[Sequence[object]]) -> None:
    """The points as comma-separated values."""
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)
    except OSError as error:
        raise RunError(f"--csv: {path}: {error.strerror}") from None


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
