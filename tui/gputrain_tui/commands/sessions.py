"""`gputrain-tui sessions`: the recordings in the default folder, newest first."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import msgspec

from gputrain_runner.paths import sessions_folder
from gputrain_runner.recordings.listing import recorded

from .. import recording_text
from .parsing import Parser, whole_number
from .table import columns

EXAMPLES = """\
examples:
  gputrain-tui sessions
  gputrain-tui sessions --all --json

`gputrain-tui replay FILE` plays one, `compare A B` sets two side by side,
`report FILE` makes a page of it.
"""


def main(arguments: Sequence[str]) -> int:
    """Print the list."""
    options = _parser().read(arguments)
    folder = sessions_folder()
    found = recorded(folder)
    shown = found if options.all else found[: options.last]
    if options.json:
        print(msgspec.json.format(msgspec.json.encode(shown), indent=2).decode())
        return 0
    if not found:
        print(f"no recordings in {folder}; `c` in the app and `run --record` make them", file=sys.stderr)
        return 0
    print("\n".join([str(folder), *recording_text.listed(shown, columns())]))
    if len(shown) < len(found):
        print(f"and {len(found) - len(shown)} older; --all lists them", file=sys.stderr)
    return 0


def _parser() -> Parser:
    parser = Parser(
        "gputrain-tui sessions",
        usage="gputrain-tui sessions [options]",
        description="The recordings in the default folder, newest first.",
        examples=EXAMPLES,
    )
    parser.add_argument(
        "--last", metavar="N", type=whole_number(1), default=20, help="how many to list (default: 20)"
    )
    parser.add_argument("--all", action="store_true", help="list all of them")
    parser.add_argument("--json", action="store_true", help="print the list as JSON")
    return parser
