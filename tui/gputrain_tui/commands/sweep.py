"""`gputrain-tui sweep`: a grid of presets, sizes and settings, measured point by point."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from .parsing import Parser, UsageError, assignment, duration_s, whole_number

EXAMPLES = """\
examples:
  gputrain-tui sweep alexnet vgg googlenet resnet50 --passes forward,training
  gputrain-tui sweep keras-mnist-mlp --over batch_size=32,64,128,256,512
  gputrain-tui sweep resnet --over model_size=all --over precision=fp32,bf16
  gputrain-tui sweep --json x.json --resume

Each point is measured in a process of its own, in rounds, so that a drift of
the machine hits all alike. A point that does not fit is told as missing, and
what takes more memory still is not tried. A value that only some presets know
is for those alone. The file is whole after each point: ctrl+c or worse loses
nothing, --resume goes on.
"""
GIVEN_ANEW = ("json", "csv", "resume", "retry_failed", "presets")
"""What may be said when a sweep is gone on with; all else is as it was begun."""


def main(arguments: Sequence[str]) -> int:
    """Measure the grid."""
    options = parser().read(arguments)
    _check(options)
    from .sweeping import run

    return run(options, list(arguments))


def _check(options: argparse.Namespace) -> None:
    if options.resume and options.json is None:
        raise UsageError("--resume: name the sweep's file, as in --json x.json --resume")
    if options.retry_failed and not options.resume:
        raise UsageError("--retry-failed goes with --resume")
    if not options.resume or options.presets:
        return
    for name, value in vars(options).items():
        if name not in GIVEN_ANEW and value not in (None, [], False):
            option = "--set" if name == "assignments" else f"--{name.replace('_', '-')}"
            raise UsageError(f"{option}: a sweep is gone on with as it was begun; leave it out")


def _listed(text: str) -> list[str]:
    found = [each.strip() for each in text.split(",") if each.strip()]
    if not found:
        raise argparse.ArgumentTypeError(f"found {text!r}, allowed: a list with commas")
    return list(dict.fromkeys(found))


def _passes(text: str) -> list[str]:
    found = _listed(text)
    if any(each not in ("forward", "training") for each in found):
        raise argparse.ArgumentTypeError(f"found {text!r}, allowed: forward, training, or both")
    return found


def _path(text: str) -> Path:
    if text in ("", "-"):
        raise argparse.ArgumentTypeError(f"found {text!r}, allowed: the path of a file")
    return Path(text).expanduser()


def parser() -> Parser:
    """What the command line may say; options that are not given are None, empty or False."""
    parser = Parser(
        "gputrain-tui sweep",
        usage="gputrain-tui sweep PRESET... [options]",
        description="Measure a grid of presets, sizes and settings, forward and training.",
        examples=EXAMPLES,
    )
    parser.add_argument(
        "presets", metavar="PRESET", nargs="*", help="names from `gputrain-tui presets`, or files"
    )
    _add_what(parser.add_argument_group("what to measure"))
    _add_how(parser.add_argument_group("how"))
    _add_where(parser.add_argument_group("where to"))
    parser.instead |= {"--batch-size": "--over batch_size=N", "--model-size": "--over model_size=S"}
    return parser


def _add_what(what: argparse._ArgumentGroup) -> None:
    what.add_argument(
        "--over",
        metavar="NAME=V1,V2",
        type=assignment,
        action="append",
        default=[],
        help="a setting that varies, with its values, or all; may be repeated",
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
        "--device", metavar="D1,D2", type=_listed, help="devices (default: the first GPU, else cpu)"
    )
    what.add_argument("--passes", metavar="WHICH", type=_passes, help="forward, training (default), or both")
    what.add_argument("--data", metavar="PATH", help="real data for presets that read files")


def _add_how(how: argparse._ArgumentGroup) -> None:
    how.add_argument(
        "--runs", metavar="N", type=whole_number(2), help="timed steps of each point (default: 100)"
    )
    how.add_argument("--warmup", metavar="N", type=whole_number(0), help="steps before them (default: 10)")
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
        help="what a point may take in a round; with long steps fewer are timed, a point that takes longer "
        "all the same is given up (default: 300)",
    )
    how.add_argument(
        "--share-process",
        action="store_true",
        help="one process for all points: quicker, but a point may depend on those before",
    )
    how.add_argument(
        "--seed", metavar="N", type=whole_number(0, 2**63 - 1), help="for weights and data (default: 0)"
    )


def _add_where(where: argparse._ArgumentGroup) -> None:
    where.add_argument(
        "--json", metavar="PATH", type=_path, help="the file (default: a new one in the state folder)"
    )
    where.add_argument("--csv", metavar="PATH", type=_path, help="the points as CSV too")
    where.add_argument("--resume", action="store_true", help="go on from the file that --json names")
    where.add_argument(
        "--retry-failed",
        action="store_true",
        help="with --resume: measure again what failed, did not fit or took too long",
    )
