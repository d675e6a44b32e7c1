"""`gputrain-tui report`: a recording or a sweep as a page, a table, a trace or a text."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from gputrain_runner.recordings import UnreadableError
from gputrain_runner.report.output import OutputError, new_file, write_all

from .. import format
from .parsing import Parser, UsageError

EXAMPLES = """\
examples:
  gputrain-tui report x.json                  x.html: the whole story, with charts
  gputrain-tui report before.json after.json -o both.html
  gputrain-tui report x.json -o x.csv         one row per sample, for a data frame
  gputrain-tui report x.json -o x.trace.json  for Perfetto
  gputrain-tui report x.json -o x.md          a short text for an issue

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
    except (OutputError, UnreadableError) as error:
        raise UsageError(str(error)) from None
    print(out)
    return 0


def _ending(out: Path) -> str:
    for ending in ENDINGS:
        if out.name.lower().endswith(ending):
            return ending
    raise UsageError(f"-o {out}: found the ending {out.suffix!r}, allowed: {', '.join(ENDINGS)}")


def _write(paths: Sequence[Path], out: Path, ending: str, force: bool) -> None:
    with new_file(out, replace=force) as file:
        if ending == ".csv":
            from gputrain_runner.report.samples_csv import write_samples

            told = f"{write_samples(paths, file):,} samples"
        elif ending == ".trace.json":
            from gputrain_runner.report.trace_events import write_trace

            told = f"{write_trace(paths, file):,} events"
        else:
            write_all(file, _pieces(paths, ending))
            told = ""
    size = format.data(out.stat().st_size)
    print(f"{told}, {size}" if told else size, file=sys.stderr)


def _pieces(paths: Sequence[Path], ending: str) -> list[str]:
    """All of a page or a text: nothing is written before it is known to be whole."""
    from gputrain_runner.report.telling import tell

    from ..report import markdown, whole
    from ..report.page import LibraryMissingError

    stories = [tell(path) for path in paths]
    try:
        return list(markdown.sessions(stories) if ending == ".md" else whole.sessions(stories))
    except LibraryMissingError as error:
        raise UsageError(str(error)) from None


def _parser() -> Parser:
    parser = Parser(
        "gputrain-tui report",
        usage="gputrain-tui report FILE... [-o OUT] [options]",
        description="A recording as a page with charts, or as a table, a trace or a text: by OUT's ending.",
        examples=EXAMPLES,
    )
    parser.add_argument("files", metavar="FILE", nargs="*", help="a recording; several are set side by side")
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help=f"where to write: {', '.join(ENDINGS)} (default: FILE's name with .html, in this folder)",
    )
    parser.add_argument("--force", action="store_true", help="replace a report that is there already")
    return parser
