"""`gputrain-tui sweep`: a grid of presets, sizes and settings, measured point by point."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from gputrain_presets import Preset
from gputrain_runner.settings import RULES, Context, Value, applies

from .. import format
from .options import preset_called, setting_value, with_data
from .parsing import Parser, RunError, UsageError, assignment, duration_s, whole_number

EXAMPLES = """\
examples:
  gputrain-tui sweep alexnet vgg googlenet resnet50 --passes forward,training
  gputrain-tui sweep keras-mnist-mlp --over batch_size=32,64,128,256,512
  gputrain-tui sweep resnet50 --over batch_size=16,32,64 --over precision=fp32,bf16
  gputrain-tui sweep --json x.json --resume

Each point is measured in a process of its own, in rounds, so that a drift of
the machine hits all alike. A point that does not fit is told as missing, and
larger batches of it are not tried. The file is whole after each point: ctrl+c
or worse loses nothing, --resume goes on.
"""
SMALLEST_ROUND = 5
"""With fewer timed steps than twice this there is one round alone."""


def main(arguments: Sequence[str]) -> int:
    """Measure the grid."""
    options = _parser().read(arguments)
    resumed = _resumed(options)
    if resumed is not None and not options.presets:
        # The earlier command line says what to measure.
        earlier = _parser().read(list(resumed.command[2:]))
        for name in ("json", "csv", "share_process"):
            setattr(earlier, name, getattr(options, name))
        options = earlier
    from .sweeping import run

    return run(options, list(arguments), resumed)


def presets_of(options: argparse.Namespace) -> dict[str, Preset]:
    """The presets by name, data as asked for."""
    if not options.presets:
        raise UsageError("a preset is missing; `gputrain-tui presets` lists them")
    return {
        word: with_data(preset_called(word), options.data if _reads(word) else None)
        for word in options.presets
    }


def _reads(word: str) -> bool:
    return hasattr(preset_called(word).data, "path")


def grid_of(
    options: argparse.Namespace, presets: Sequence[Preset]
) -> tuple[dict[str, list[Value]], dict[str, Value]]:
    """The settings that vary and those that do not, checked for every preset."""
    over: dict[str, list[Value]] = {}
    for name, text in options.over:
        if name in ("device", "passes"):
            raise UsageError(f"--over {name}={text}: that is what --{name} {text} does")
        over[name] = [_value(f"--over {name}", name, each, presets) for each in text.split(",") if each]
        if not over[name]:
            raise UsageError(f"--over {name}: there is no value")
    fixed = {name: _value(f"--set {name}", name, text, presets) for name, text in options.assignments}
    both = sorted(set(over) & set(fixed))
    if both:
        raise UsageError(f"--set {both[0]}: --over turns it already")
    return over, fixed


def _value(option: str, name: str, text: str, presets: Sequence[Preset]) -> Value:
    values = []
    for preset in presets:
        value = setting_value(option, name, text, preset)
        if not applies(name, Context(preset)):
            raise UsageError(f"{option}: {RULES[name].label} has no meaning for {preset.name}")
        values.append(value)
    return values[0]


def _resumed(options: argparse.Namespace):  # type: ignore[no-untyped-def]
    """What is in the file that `--resume` goes on from; None without it."""
    from gputrain_runner.sweep.result import SweepFileError, load

    if not options.resume:
        return None
    if options.json is None:
        raise UsageError("--resume: name the sweep's file, as in --json x.json --resume")
    try:
        return load(options.json)
    except SweepFileError as error:
        raise UsageError(f"--resume: {error}") from None


def json_path(options: argparse.Namespace) -> Path:
    """Where the file goes; a new one unless it is gone on from."""
    if options.json is None:
        from gputrain_runner.paths import sweeps_folder

        folder = sweeps_folder()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{folder}: {error.strerror}: name a place with --json PATH") from None
        return folder / f"{datetime.now(UTC):%Y-%m-%dT%H-%M-%S}.json"
    path = Path(options.json)
    if path.is_dir():
        raise UsageError(f"--json: {path} is a folder: name a file in it")
    if path.exists() and not options.resume:
        raise UsageError(f"--json: {path} exists already; --resume goes on from it")
    if not path.parent.is_dir():
        raise UsageError(f"--json: there is no folder {path.parent}")
    return path


def write_csv(path: Path, rows: Sequence[Sequence[object]]) -> None:
    """The points as comma-separated values."""
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)
    except OSError as error:
        raise RunError(f"--csv: {path}: {error.strerror}") from None


def _listed(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _passes(text: str) -> list[str]:
    found = _listed(text)
    if not found or any(each not in ("forward", "training") for each in found):
        raise argparse.ArgumentTypeError(f"found {text!r}, allowed: forward, training, or both")
    return found


def _path(text: str) -> Path:
    return Path(text).expanduser()


def _parser() -> Parser:
    parser = Parser(
        "gputrain-tui sweep",
        usage="gputrain-tui sweep PRESET... [options]",
        description="Measure a grid of presets, sizes and settings, forward and training.",
        examples=EXAMPLES,
    )
    parser.add_argument(
        "presets", metavar="PRESET", nargs="*", help="names from `gputrain-tui presets`, or files"
    )
    what = parser.add_argument_group("what to measure")
    what.add_argument(
        "--over",
        metavar="NAME=V1,V2",
        type=assignment,
        action="append",
        default=[],
        help="a setting that varies, with its values; may be repeated",
    )
    what.add_argument(
        "--set",
        metavar="NAME=VALUE",
        type=assignment,
        action="append",
        default=[],
        dest="assignments",
        help="a setting that does not",
    )
    what.add_argument(
        "--device",
        metavar="D1,D2",
        type=_listed,
        default=[],
        help="devices (default: the first GPU, else cpu)",
    )
    what.add_argument(
        "--passes",
        metavar="WHICH",
        type=_passes,
        default=["training"],
        help="forward, training (default), or both",
    )
    what.add_argument("--data", metavar="PATH", help="real data for presets that read files")
    how = parser.add_argument_group("how")
    how.add_argument(
        "--runs",
        metavar="N",
        type=whole_number(2),
        default=100,
        help="timed steps of each point (default: 100)",
    )
    how.add_argument(
        "--warmup", metavar="N", type=whole_number(0), default=10, help="steps before them (default: 10)"
    )
    how.add_argument(
        "--rounds",
        metavar="N",
        type=whole_number(1),
        help="measure all points so many times in turn (default: 2, with few runs 1)",
    )
    how.add_argument(
        "--point-seconds",
        metavar="S",
        type=duration_s,
        default=300.0,
        help="give up a point after so long (default: 300)",
    )
    how.add_argument(
        "--share-process",
        action="store_true",
        help="one process for all points: quicker, but a point may depend on those before",
    )
    how.add_argument(
        "--seed",
        metavar="N",
        type=whole_number(0, 2**63 - 1),
        default=0,
        help="for weights and data (default: 0)",
    )
    where = parser.add_argument_group("where to")
    where.add_argument(
        "--json", metavar="PATH", type=_path, help="the file (default: a new one in the state folder)"
    )
    where.add_argument("--csv", metavar="PATH", type=_path, help="the points as CSV too")
    where.add_argument("--resume", action="store_true", help="go on from the file that --json names")
    return parser


def rounds_of(options: argparse.Namespace) -> int:
    """How many rounds: enough to see a drift, with enough steps in each."""
    if options.rounds is not None:
        return min(options.rounds, options.runs)
    return 2 if options.runs >= 2 * SMALLEST_ROUND else 1


def say(line: str) -> None:
    """A line of progress."""
    print(line, file=sys.stderr, flush=True)


def about(seconds: float | None) -> str:
    """About how long, in words; "" where it is not known."""
    return "" if seconds is None else f"  about {format.lasting(max(1.0, seconds))} left"
