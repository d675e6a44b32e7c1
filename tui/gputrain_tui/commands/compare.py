"""`gputrain-tui compare`: two recordings, or two sweeps, side by side."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from gputrain_runner.recordings import RecordingFile, UnreadableError
from gputrain_runner.recordings.compare import Comparison, NotComparableError, Row, compare, side
from gputrain_runner.report.kinds import kind_of
from gputrain_runner.settings import RULES

from .. import format
from ..quantities import quantity
from .comparing import differences, head, ratio_cells, shorter
from .parsing import Parser, UsageError, number_above_zero
from .table import columns, first_fitting, stacked, table, told

EXAMPLES = """\
examples:
  gputrain-tui compare before.json after.json
  gputrain-tui compare main.json branch.json --fail-below 0.95

Compared are the steady samples under the last settings of each recording; of
two sweeps the points that they have in common, the worst of which is held
against --fail-below.
Ratios are B over A, with the interval in which the true one lies 19 times out
of 20; a difference is called one only beyond that and beyond 3 %.
Exit codes: 0 done; 1 samples/s fell below --fail-below; 2 a file was wrong, or
the two did different work.
"""


_Found = TypeVar("_Found")


def main(arguments: Sequence[str]) -> int:
    """Print the comparison; 1 where it falls below the gate."""
    options = _parser().read(arguments)
    if options.b is None:
        raise UsageError("two files are needed, as in compare before.json after.json")
    paths = [Path(path).expanduser() for path in (options.a, options.b)]
    try:
        kinds = [kind_of(path) for path in paths]
        if kinds[0] != kinds[1]:
            what = " and ".join(f"{path} is a {kind}" for path, kind in zip(paths, kinds, strict=True))
            raise UsageError(f"{what}: two of a kind can be compared")
        return _sweeps(options, *paths) if kinds[0] == "sweep" else _recordings(options, *paths)
    except UnreadableError as error:
        raise UsageError(str(error)) from None
    except NotComparableError as error:
        hint = "; --anyway compares them all the same" if str(error).startswith("not comparable") else ""
        raise UsageError(f"{error}{hint}") from None


def _recordings(options: argparse.Namespace, a: Path, b: Path) -> int:
    found = compare(side(RecordingFile(a)), side(RecordingFile(b)), options.anyway)
    _show(options, found, as_text)
    return 0 if options.fail_below is None else _judge(options, *_gate(found, options.fail_below))


def _sweeps(options: argparse.Namespace, a: Path, b: Path) -> int:
    from . import compare_sweeps

    found = compare_sweeps.compared(a, b, options.anyway)
    _show(options, found, compare_sweeps.as_text)
    if options.fail_below is None:
        return 0
    return _judge(options, *compare_sweeps.gate(found, options.fail_below))


def _show(options: argparse.Namespace, found: _Found, text: Callable[[_Found, int | None], str]) -> None:
    if options.json:
        print(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
    else:
        print(text(found, columns()))


def _judge(options: argparse.Namespace, passed: bool, line: str) -> int:
    """Say how the gate was passed, beside what is read by programs; the exit code."""
    if options.json:
        print(line, file=sys.stderr)
    else:
        print("\n".join(told(line, columns())))
    return 0 if passed else 1


def _gate(found: Comparison, least: float) -> tuple[bool, str]:
    """Whether the rate of B reaches that share of A's, and a line that says so."""
    rate = next((row.ratio for row in found.rows if row.name == "samples/s"), None)
    if rate is None:
        raise NotComparableError("there is no samples/s in both")
    passed = rate.ratio >= least
    return passed, (
        f"{'passed' if passed else 'FAILED'}: samples/s is ×{rate.ratio:.3f} "
        f"({rate.low:.3f}–{rate.high:.3f}), at least ×{least:g} is asked for"
    )


def as_text(found: Comparison, width: int | None = None) -> str:
    """The comparison for people, in at most `width` cells where that is given."""
    lines = head(found.a, found.b, found.warnings, width)
    lines += differences("settings", found.settings, lambda name: RULES[name].label, width)
    lines += differences("machine", found.machine, str, width)
    rows: list[tuple[str, ...]] = [("", "A", "B", "B / A", "(19 of 20)", "")]
    group = ""
    for row in found.rows:
        if row.group != group:
            group = row.group
            rows.append((group, "", "", "", "", ""))
        rows.append(_row(row))
    short = shorter(rows)
    layouts = [
        *(
            table(rows, left=(0, 5), gap=2),
            table(short, left=(0, 5), gap=2),
            table(short, left=(0, 5), gap=1),
        ),
        stacked(short, left=(5,)),
    ]
    return "\n".join([*lines, *first_fitting(layouts, width)])


def _row(row: Row) -> tuple[str, ...]:
    ratio, between, judged = ratio_cells(row.ratio)
    return (
        f"  {row.name}",
        quantity(row.a, row.unit),
        quantity(row.b, row.unit),
        ratio or format.UNKNOWN,
        between,
        judged,
    )


def _parser() -> Parser:
    parser = Parser(
        "gputrain-tui compare",
        usage="gputrain-tui compare A.json B.json [options]",
        description="Two recordings, or two sweeps, side by side: settings, rates, ratios.",
        examples=EXAMPLES,
    )
    parser.add_argument("a", metavar="A.json", nargs="?", help="a recording or a sweep")
    parser.add_argument("b", metavar="B.json", nargs="?", help="the one to compare with it")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument(
        "--fail-below",
        metavar="RATIO",
        type=number_above_zero,
        help="exit with 1 where samples/s of B is below this share of A's",
    )
    parser.add_argument("--anyway", action="store_true", help="compare even what did different work")
    return parser
