"""`gputrain-tui compare`: two recordings side by side."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from gputrain_runner.recordings import RecordingFile, UnreadableError
from gputrain_runner.recordings.compare import Comparison, Difference, NotComparableError, Row, compare, side
from gputrain_runner.settings import RULES

from .. import format
from ..quantities import judgement, quantity
from .parsing import Parser, UsageError, number_above_zero
from .table import table

EXAMPLES = """\
examples:
  gputrain-tui compare before.json after.json
  gputrain-tui compare main.json branch.json --fail-below 0.95

Compared are the steady samples under the last settings of each recording.
Ratios are B over A, with the interval in which the true one lies 19 times out
of 20; a difference is called one only beyond that and beyond 3 %.
Exit codes: 0 done; 1 samples/s fell below --fail-below; 2 a file was wrong, or
the two did different work.
"""


def main(arguments: Sequence[str]) -> int:
    """Print the comparison; 1 where it falls below the gate."""
    options = _parser().read(arguments)
    if options.b is None:
        raise UsageError("two files are needed, as in compare before.json after.json")
    found = _compare(options)
    if options.json:
        print(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
    else:
        print(as_text(found))
    return _gate(found, options.fail_below)


def _compare(options: argparse.Namespace) -> Comparison:
    try:
        a, b = (side(RecordingFile(Path(path).expanduser())) for path in (options.a, options.b))
        return compare(a, b, options.anyway)
    except UnreadableError as error:
        raise UsageError(str(error)) from None
    except NotComparableError as error:
        hint = "; --anyway compares them all the same" if str(error).startswith("not comparable") else ""
        raise UsageError(f"{error}{hint}") from None


def _gate(found: Comparison, least: float | None) -> int:
    """1 where the rate of B surely is below that share of A's: its whole interval is."""
    if least is None:
        return 0
    rate = next(row.ratio for row in found.rows if row.name == "samples/s")
    if rate is None:
        return 0
    fell = rate.ratio < least
    print(
        f"{'FAILED' if fell else 'passed'}: samples/s is ×{rate.ratio:.3f} "
        f"({rate.low:.3f}–{rate.high:.3f}), at least ×{least:g} is asked for"
    )
    return 1 if fell else 0


def as_text(found: Comparison) -> str:
    """The comparison for people."""
    lines = [f"A  {found.a}", f"B  {found.b}", ""]
    lines += [f"note: {warning}" for warning in found.warnings]
    lines += _differences("settings", found.settings, lambda name: RULES[name].label)
    lines += _differences("machine", found.machine, str)
    rows: list[tuple[str, ...]] = [("", "A", "B", "B / A", "(19 of 20)", "")]
    group = ""
    for row in found.rows:
        if row.group != group:
            group = row.group
            rows.append((group, "", "", "", "", ""))
        rows.append(_row(row))
    return "\n".join([*lines, *table(rows, left=(0, 5))])


def _differences(title: str, found: Sequence[Difference], label: Callable[[str], str]) -> list[str]:
    if not found:
        return [f"{title}: the same", ""]
    rows = [(f"  {label(each.name)}", _value(each.a), "→", _value(each.b)) for each in found]
    return [f"{title} that differ", *table(rows, left=(0, 1, 2, 3)), ""]


def _value(value: object) -> str:
    return format.UNKNOWN if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _row(row: Row) -> tuple[str, ...]:
    told = row.ratio
    between = "" if told is None else f"({told.low:.3f}–{told.high:.3f})"
    return (
        f"  {row.name}",
        quantity(row.a, row.unit),
        quantity(row.b, row.unit),
        format.UNKNOWN if told is None else f"×{told.ratio:.3f}",
        between,
        judgement(told),
    )


def _parser() -> Parser:
    parser = Parser(
        "gputrain-tui compare",
        usage="gputrain-tui compare A.json B.json [options]",
        description="Two recordings side by side: settings that differ, rates, phases, memory, devices.",
        examples=EXAMPLES,
    )
    parser.add_argument("a", metavar="A.json", nargs="?", help="a recording")
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
