"""`gputrain-tui doctor`: what this machine has, and what is wrong with it for training."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from gputrain_runner.doctor import Examination

from .options import device_called
from .parsing import Parser, UsageError

EXAMPLES = """\
examples:
  gputrain-tui doctor
  gputrain-tui doctor --torch
  gputrain-tui doctor --probe --device cuda:0
  gputrain-tui doctor --json | jq '.checks[] | select(.verdict == "problem")'
"""

_WIDEST = 100
_COLOURS = {"bold": "1", "green": "32", "yellow": "33", "red": "31"}
"""By name: the terminal's own codes."""


def main(arguments: Sequence[str]) -> int:
    """Look at the machine; 0 where nothing is a problem, 1 where something is."""
    options = _parser().read(arguments)
    if options.device and not options.probe:
        raise UsageError("--device: names what --probe measures; add --probe")
    devices = list(dict.fromkeys(device_called("--device", text) for text in options.device or ()))
    from gputrain_runner.doctor.consultation import NoDeviceError, consult

    try:
        found = consult(
            load_torch=options.torch or options.probe,
            probe=options.probe,
            devices=devices or None,
            on_progress=_progress,
        )
    except NoDeviceError as error:
        raise UsageError(f"--device: {error}") from None
    print(_json(found) if options.json else _text(found))
    return 1 if found.problems else 0


def _parser() -> Parser:
    parser = Parser(
        "gputrain-tui doctor",
        usage="gputrain-tui doctor [--torch] [--probe [--device D]...] [--json]",
        description="Look for what stops or slows training on this machine, each with what to do.\n"
        "Exit code 0: nothing is a problem; 1: something is.",
        examples=EXAMPLES,
    )
    parser.add_argument(
        "--torch", action="store_true", help="also what only a loaded PyTorch can tell (some seconds)"
    )
    parser.add_argument(
        "--probe",
        action="store_true",
        help="measure what each device can do at most, about 10 s each: matrix products, memory, copies, "
        "launches; the link is looked at under that load",
    )
    parser.add_argument(
        "--device",
        metavar="D",
        action="append",
        help="probe this device alone (cpu, cuda:0); may be given more than once",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    return parser


def _progress(line: str) -> None:
    if sys.stderr is not None and sys.stderr.isatty():
        print(line, file=sys.stderr, flush=True)


def _json(found: Examination) -> str:
    import msgspec

    return msgspec.json.format(msgspec.json.encode(found), indent=2).decode()


def _text(found: Examination) -> str:
    from .doctor_text import lines

    terminal = sys.stdout is not None and sys.stdout.isatty()
    return "\n".join(
        lines(found, _width() if terminal else 80, _painted if terminal and _may_colour() else _plain)
    )


def _width() -> int:
    try:
        return min(os.get_terminal_size(sys.stdout.fileno()).columns or 80, _WIDEST)
    except OSError:
        return 80


def _may_colour() -> bool:
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"


def _painted(text: str, colour: str) -> str:
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"


def _plain(text: str, _colour: str) -> str:
    return text
