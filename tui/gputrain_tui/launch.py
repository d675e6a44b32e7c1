"""Starting the app and leaving it: the worker first, then the screen; and last the terminal as it was."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from typing import TYPE_CHECKING, cast

from . import terminal
from .sessions import AppOptions, SessionError

if TYPE_CHECKING:
    from gputrain_runner.recordings.replay import Replay

    from .app import GpuTrainApp
    from .live_sessions import LiveSessions
    from .widgets.glyphs import GlyphName

__all__ = ["AppOptions", "run_app"]


def run_app(options: AppOptions) -> int:
    """Run the app until the user leaves it.

    Returns:
        The exit code: 0 left by key, 1 failed, 2 could not start, 130 interrupted, 128 + N by signal N.
    """
    reason = terminal.unusable()
    if reason is not None:
        return _say(reason, 2)
    terminal.limit_colours()
    from gputrain_runner.process import WorkerError

    from .live_sessions import LiveSessions

    try:
        # Before the screen is built, so that PyTorch is loaded meanwhile.
        sessions = LiveSessions(options)
    except WorkerError as error:
        return _say(str(error), 1)
    code = _run(options, sessions)
    _end_at_once(code)
    return code


def _end_at_once(code: int) -> None:
    """Everything is put away by now: taking the interpreter apart would keep the user waiting a sixth of a
    second, and longer where a driver's call hangs in a thread."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def _run(options: AppOptions, sessions: LiveSessions) -> int:
    from .signals import ExitSignals

    signals = ExitSignals(lambda: sessions.leave("interrupted"))
    code = 1
    try:
        app = _build(options, sessions)
        signals.watch(app)
        app.run(mouse=False)
        code = _exit_code(app)
    except SessionError as error:
        code = _say(str(error), 2)
    finally:
        sessions.leave("finished" if code == 0 else "interrupted")
        signals.left()
    for path in sessions.recorded:
        _say(f"recorded: {path}", 0)
    return code if signals.caught is None else 128 + signals.caught


def _build(options: AppOptions, sessions: LiveSessions) -> GpuTrainApp:
    from gputrain_presets import PresetError, load

    from .app import GpuTrainApp

    live = None
    if options.preset is not None:
        try:
            live = sessions.open(load(options.preset))
        except PresetError as error:
            raise SessionError(str(error)) from None
    glyphs = cast("GlyphName", options.glyphs) if options.glyphs else terminal.glyphs()
    return GpuTrainApp(sessions, live, glyphs, _replay(options))


def _replay(options: AppOptions) -> Replay | None:
    """The recording to show first; SessionError where it is none."""
    if options.replay is None:
        return None
    from gputrain_runner.recordings import UnreadableError
    from gputrain_runner.recordings.replay import open_replay

    try:
        return open_replay(options.replay)
    except UnreadableError as error:
        raise SessionError(str(error)) from None


def _exit_code(app: GpuTrainApp) -> int:
    if app.crash is None:
        return app.return_code or 0
    error = app.crash
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    return _say(f"an error in the app itself ended it: {what}{_keep_traceback(error)}", 1)


def _keep_traceback(error: BaseException) -> str:
    """Write the traceback where a report of the error can quote it; where, in words."""
    from gputrain_runner.paths import sessions_folder

    path = sessions_folder().parent / "last-error.txt"
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
        return f"; the traceback is in {path}"
    return ""


def _say(text: str, code: int) -> int:
    """One line on stderr; returns `code`."""
    with contextlib.suppress(OSError, AttributeError):
        sys.stderr.write(f"gputrain-tui: {text}\n")
        sys.stderr.flush()
    return code
