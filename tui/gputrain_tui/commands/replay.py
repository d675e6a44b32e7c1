"""`gputrain-tui replay`: the app over a recording."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..sessions import AppOptions
from .parsing import Parser, UsageError, one_of

EXAMPLES = """\
examples:
  gputrain-tui replay x.json

A finished recording is played from its beginning: space holds, < and > turn
the speed, [ and ] go to the change before and after, home and end to either
end. One that another process is still writing is followed.
"""


def main(arguments: Sequence[str]) -> int:
    """Show the recording."""
    options = _parser().read(arguments)
    if options.file is None:
        raise UsageError("the recording is missing; `gputrain-tui sessions` lists them")
    from ..launch import run_app

    path = Path(options.file).expanduser()
    return run_app(
        AppOptions(replay=path, glyphs=options.glyphs, command=("gputrain-tui", "replay", *arguments))
    )


def _parser() -> Parser:
    parser = Parser(
        "gputrain-tui replay",
        usage="gputrain-tui replay FILE",
        description="The app over a recording, also of one still being written.",
        examples=EXAMPLES,
    )
    parser.add_argument("file", metavar="FILE", nargs="?", help="a recording")
    parser.add_argument(
        "--glyphs", metavar="SET", type=one_of("braille", "block", "ascii"), help="as for the app"
    )
    return parser
