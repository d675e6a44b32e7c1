"""`gputrain-tui report`: a recording or a sweep as a page, a table, a trace or a text."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from gputrain_runner.recordings import UnreadableError
from gputrain_runner.report.kinds import Kind, kind_of
from gputrain_runner.report.output import OutputError, new_file
from gputrain_runner.sweep.result import SweepFileError

from .. import format
from ..report.page import LibraryMissingError
from .parsing import Parser, UsageError

EXAMPLES = """\
examples:
  gputrain-tui report x.json               x.html: the whole story, with charts
  gputrain-tui report a.json b.json -o c.html       two of them side by side
  gputrain-tui report x.json -o x.csv      a row per sample, for a data frame
  gputrain-tui report x.json -o x.trace.json        for Perfetto
  gputrain-tui report x.json -o x.md       a short text for an issue
  gputrain-tui report sweep.json           the tables and curves of a sweep

The page is one file that loads nothing else. Its charts need the library
Plotly: pip install 'gputrain-tui[report]'.
"""

ENDINGS = (".trace.json", ".html", ".csv", ".md")


def main(arguments: Sequence[str]) -> int:
    """Write the report; its path goes to stdout."""
    options = _parser().read(arguments)
    if not options.files:
        raise UsageError("the recording is missing; `gputrain-tui sessions` lists them")
    paths = [Path(file).expanduser() for file in options.files]
    out = Path(f"{paths[0].stem}.html") if options.output is None else Path(options.output).expanduser()
    ending = _ending(out)
    if any(out.exists() and path.exists() and out.samefile(path) for path in paths):
        raise UsageError(f"{out} is what the report is of; choose another name for it")
    try:
        _write(paths, out, ending, options.force)
    except (OutputError, UnreadableError, SweepFileError, LibraryMissingError) as error:
        raise UsageError(str(error)) from None
    print(out)
    return 0


def _ending(out: Path) -> str:
    for ending in ENDINGS:
        if out.name.lower().endswith(ending):
            return ending
    raise UsageError(f"-o {out}: found the ending {out.suffix!r}, allowed: {', '.join(ENDINGS)}")


def _write(paths: Sequence[Path], out: Path, ending: str, force: bool) -> None:
    kind = _kind(paths)
    with new_file(out, replace=force) as file:
        if kind == "sweep":
            told = _write_sweeps(paths, file, ending)
        else:
            told = _write_recordings(paths, file, ending)
    size = format.data(out.stat().st_size)
    print(f"{told}, {size}" if told else size, file=sys.stderr)


def _kind(paths: Sequence[Path]) -> Kind:
    kinds = {path: kind_of(path) for path in paths}
    for path, kind in kinds.items():
        if kind != kinds[paths[0]]:
            raise UsageError(
                f"{paths[0]} is a {kinds[paths[0]]} and {path} a {kind}: a report is of one kind"
            )
    return kinds[paths[0]]


def _write_recordings(paths: Sequence[Path], file: TextIO, ending: str) -> str:
    """Write it; how much it is, where that can be counted."""
    if ending == ".csv":
        from gputrain_runner.report.samples_csv import write_samples

        return f"{write_samples(paths, file):,} samples"
    if ending == ".trace.json":
        from gputrain_runner.report.trace_events import write_trace

        return f"{write_trace(paths, file):,} events"
    from gputrain_runner.report.telling import tell

    from ..report import markdown, whole

    stories = [tell(path) for path in paths]
    file.writelines(markdown.sessions(stories) if ending == ".md" else whole.sessions(stories))
    return ""


def _write_sweeps(paths: Sequence[Path], file: TextIO, ending: str) -> str:
    """Write it; how much it is, where that can be counted."""
    if ending == ".trace.json":
        raise UsageError("a sweep has no timeline to be traced; .html, .csv and .md are what it can become")
    from gputrain_runner.sweep.result import load

    from ..report import markdown, sweep_table, whole

    told = [(str(path), load(path)) for path in paths]
    if ending == ".csv":
        return f"{sweep_table.write_points(told, file):,} points"
    file.writelines(markdown.sweeps(told) if ending == ".md" else whole.sweeps(told))
    return ""


def _parser() -> Parser:
    parser = Parser(
        "gputrain-tui report",
        usage="gputrain-tui report FILE... [-o OUT] [options]",
        description="Recordings or sweeps as a page with charts, a table, a trace, a text.",
        examples=EXAMPLES,
    )
    parser.add_argument(
        "files", metavar="FILE", nargs="*", help="a recording or a sweep; several are set side by side"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help=f"where to write: {', '.join(ENDINGS)} (default: FILE's name with .html, in this folder)",
    )
    parser.add_argument("--force", action="store_true", help="replace a report that is there already")
    return parser
