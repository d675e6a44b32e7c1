"""The `gputrain-tui` command: which command was given, and how errors leave the program."""

from __future__ import annotations

import codecs
import contextlib
import difflib
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from .commands.parsing import RunError, UsageError

COMMANDS = {
    "presets": "the presets: what there is to train",
    "run": "train a preset without a screen",
    "sweep": "measure a grid of presets, sizes and settings",
    "sessions": "the recordings there are, newest first",
    "replay": "the app over a recording, also of one still being written",
    "compare": "two recordings, or two sweeps, side by side",
    "report": "a recording as a page with charts, a table, a trace or a text",
    "crossover": "where one device overtakes the other",
    "upgrade": "what another card would give, and what would limit it there",
    "doctor": "what is wrong with this machine for training, and what to do",
    "schema": "the JSON Schema of a recording",
}
"""Every command and what it does; `commands/NAME.py` has its `main(arguments) -> int`."""

_IN_ASCII = "gputrain-tui.in-ascii"


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the command line asks for; the exit code (0 done, 1 failed, 2 wrong, 130 interrupted)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _print_any_character()
    given = arguments.pop(0) if arguments and not arguments[0].startswith("-") else None
    prog = f"gputrain-tui {given}" if given in COMMANDS else "gputrain-tui"
    return _flushed(prog, _guarded(prog, given, arguments))


def _guarded(prog: str, given: str | None, arguments: Sequence[str]) -> int:
    """Run the command; every way in which it can fail is one line and an exit code."""
    try:
        return _run(given, arguments)
    except UsageError as error:
        return _say(f"{prog}: {error}", 2)
    except RunError as error:
        return _say(f"{prog}: {error}", 1)
    except KeyboardInterrupt:
        return _say(f"{prog}: interrupted", 130)
    except BrokenPipeError:
        return 0
    except OSError as error:
        return _say(f"{prog}: {_reason(error)}", 1)
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        return _say(f"{prog}: {_mistake(error)}", 1)


def _flushed(prog: str, code: int) -> int:
    """Hand on what stdout still holds; the exit code."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:  # Nobody reads it any more, which is no error.
        _drop_stdout()
    except OSError as error:
        _drop_stdout()
        return _say(f"{prog}: {_reason(error)}", code or 1)
    return code


def _run(given: str | None, arguments: Sequence[str]) -> int:
    """Run the command that the first word names, or the app where there is none."""
    if given is not None and given not in COMMANDS:
        raise UsageError(_unknown_command(given))
    command = importlib.import_module(f".commands.{given or 'app'}", __package__)
    try:
        return int(command.main(arguments))
    except SystemExit as exit:  # argparse, after --help.
        return exit.code if isinstance(exit.code, int) else 0


def _reason(error: OSError) -> str:
    where = f": {error.filename!r}" if error.filename else ""
    return f"{error.strerror or error}{where}"


def _mistake(error: Exception) -> str:
    """One line about an error that should not have happened, with what a report of it needs."""
    import traceback

    place = traceback.extract_tb(error.__traceback__)[-1]
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return (
        f"this is a mistake in gputrain-tui: {what} ({Path(place.filename).name}, line {place.lineno}); "
        "PYTHONDEVMODE=1 shows where it comes from"
    )


def _unknown_command(word: str) -> str:
    from gputrain_presets import names

    what = f"no command is called {word!r}"
    if word in names() or word.endswith(".toml"):
        return f"{what}; did you mean 'run {word}', or '--preset {word}' for the app?"
    if word in ("help", "version"):
        return f"{what}; did you mean '--{word}'?"
    near = difflib.get_close_matches(word, COMMANDS, n=1, cutoff=0.6)
    nearest = f"did you mean {near[0]!r}?" if near else f"commands are {', '.join(COMMANDS)}"
    return f"{what}; {nearest}"


def _print_any_character() -> None:
    """Let a character that the stream's encoding lacks become what stands for it in ASCII: `->`, `x`, `?`."""
    codecs.register_error(_IN_ASCII, _in_ascii)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=_IN_ASCII)


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    from .widgets.glyphs import in_ascii

    return in_ascii(error.object[error.start : error.end]), error.end


def _say(text: str, code: int) -> int:
    """One line on stderr; returns `code`."""
    line = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    with contextlib.suppress(OSError, AttributeError):
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
    return code


def _drop_stdout() -> None:
    """Nobody reads stdout any more, or it is full: what is left in its buffer goes nowhere, quietly."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
