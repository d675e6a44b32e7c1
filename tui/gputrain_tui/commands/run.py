"""`gputrain-tui run`: its command line, checked as far as it can be before anything is started."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gputrain_presets import Preset
from gputrain_runner.protocol import ScheduledChange
from gputrain_runner.settings import Value

from .options import (
    add_data_option,
    add_record_option,
    add_setting_options,
    chosen_texts,
    chosen_values,
    preset_called,
    record_path,
    setting_value,
    with_data,
)
from .parsing import Parser, UsageError, duration_s, scheduled_assignment, whole_number

EXAMPLES = """\
examples:
  gputrain-tui run lasagne-mlp --steps 2000
  gputrain-tui run keras-mnist-mlp --data ~/mnist --epochs 1
  gputrain-tui run lasagne-mlp --steps 2000 --at 1000:batch_size=4096 --json
  gputrain-tui run ./mine.toml --device cpu --seconds 30

Without --steps, --seconds or --epochs it trains until ctrl+c. Progress and
messages go to stderr, the result to stdout. Exit codes: 0 done, 1 the run or
a change of --at failed, 2 the command line or a file was wrong, 130
interrupted (the recording is complete).
"""


ALLOWABLE = ("batch_size", "precision")
"""What `--allow` may name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A run as the command line asks for it."""

    preset: Preset
    chosen: dict[str, Value] = field(default_factory=dict)
    """The settings named on the command line."""
    steps: int | None = None
    seconds: float | None = None
    epochs: int | None = None
    scheduled: list[ScheduledChange] = field(default_factory=list)
    seed: int = 0
    record: bool = False
    record_path: Path | None = None
    """Where to; None: the default place."""
    probe: bool = False
    """Measure the machine's ceilings before training."""
    diagnose: bool = False
    """Have the remedies of the diagnosis tried, one after another."""
    allow: tuple[str, ...] = ()
    """Settings that a diagnosis may turn though they change the training."""
    json: bool = False
    command: list[str]
    """The command line, for the recording."""


def main(arguments: Sequence[str]) -> int:
    """Train without a screen."""
    plan = read_plan(arguments)
    if plan.diagnose:
        from .diagnose import run as diagnose

        return diagnose(plan)
    from .headless import run

    return run(plan)


def read_plan(arguments: Sequence[str]) -> Plan:
    """What `arguments` ask for; UsageError where they are wrong."""
    options = _parser().read(arguments)
    if options.preset is None:
        raise UsageError(_preset_missing(options))
    preset = with_data(preset_called(options.preset), options.data)
    return Plan(
        preset=preset,
        chosen=chosen_values(chosen_texts(options), preset),
        steps=options.steps,
        seconds=options.seconds,
        epochs=options.epochs,
        scheduled=_all_scheduled(options, preset),
        seed=options.seed,
        record=options.record is not None,
        record_path=record_path(options),
        probe=options.probe,
        diagnose=_diagnose(options),
        allow=tuple(options.allow),
        json=options.json,
        command=["gputrain-tui", "run", *arguments],
    )


def _diagnose(options: argparse.Namespace) -> bool:
    """Whether the diagnosis is to act; UsageError where other options do not go with that."""
    if not options.diagnose:
        if options.allow:
            raise UsageError(
                "--allow: it says what --diagnose may turn; without --diagnose nothing is turned"
            )
        return False
    for name in ("steps", "epochs"):
        if getattr(options, name) is not None:
            raise UsageError(f"--{name}: --diagnose ends by itself; --seconds bounds it")
    if options.at:
        raise UsageError("--at: --diagnose chooses itself what is changed")
    return True


def _parser() -> Parser:
    parser = Parser(
        "gputrain-tui run",
        usage="gputrain-tui run PRESET [options]",
        description="Train a preset without a screen, and tell how fast it went.",
        examples=EXAMPLES,
    )
    parser.add_argument(
        "preset",
        metavar="PRESET",
        nargs="?",
        help="a name from `gputrain-tui presets`, or the path of a TOML file of the same form",
    )
    add_setting_options(parser)
    _add_length_options(parser)
    what = parser.add_argument_group("what else")
    what.add_argument(
        "--at",
        metavar="STEP:NAME=VALUE",
        type=scheduled_assignment,
        action="append",
        default=[],
        help="change a setting before that step, counted from 0; may be repeated, also for the same step: "
        "such changes are made at once",
    )
    add_data_option(what)
    what.add_argument(
        "--seed",
        metavar="N",
        type=whole_number(0),
        default=0,
        help="for initial weights, order of the samples and dropout (default: 0)",
    )
    add_record_option(what)
    what.add_argument(
        "--probe",
        action="store_true",
        help="measure before training what the device and the CPU can do at most (about 10 s each)",
    )
    what.add_argument(
        "--diagnose",
        action="store_true",
        help="find the bottleneck, try what is said to help, keep what does, and tell what came of it",
    )
    what.add_argument(
        "--allow",
        metavar="NAMES",
        type=_allowed,
        default=[],
        help="what --diagnose may turn though it changes the training: batch_size, precision, or both",
    )
    what.add_argument("--json", action="store_true", help="print the summary alone on stdout, as JSON")
    return parser


def _add_length_options(parser: Parser) -> None:
    length = parser.add_argument_group("how long").add_mutually_exclusive_group()
    length.add_argument("--steps", metavar="N", type=whole_number(1), help="stop after so many steps")
    length.add_argument("--seconds", metavar="S", type=duration_s, help="stop after training for so long")
    length.add_argument(
        "--epochs",
        metavar="N",
        type=whole_number(1),
        help="stop after so many epochs, each with its validation",
    )


def _allowed(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(name in ALLOWABLE for name in names):
        raise argparse.ArgumentTypeError(f"found {text!r}, allowed: {', '.join(ALLOWABLE)}")
    return names


def _preset_missing(options: argparse.Namespace) -> str:
    taken = options.record
    hint = f" ({taken!r} was taken as the path of --record)" if isinstance(taken, str) else ""
    return f"the preset is missing{hint}; `gputrain-tui presets` lists them"


def _all_scheduled(options: argparse.Namespace, preset: Preset) -> list[ScheduledChange]:
    """The changes of `--at`; UsageError where two of them set the same before the same step."""
    found: dict[tuple[int, str], ScheduledChange] = {}
    for step, name, text in options.at:
        if (step, name) in found:
            raise UsageError(
                f"--at {step}:{name}={text}: another --at sets {name} before step {step} already"
            )
        found[step, name] = _scheduled((step, name, text), options.steps, preset)
    return list(found.values())


def _scheduled(change: tuple[int, str, str], steps: int | None, preset: Preset) -> ScheduledChange:
    step, name, text = change
    option = f"--at {step}:{name}"
    if steps is not None and step >= steps:
        raise UsageError(f"{option}={text}: the last step is number {steps - 1}, counted from 0")
    return ScheduledChange(step=step, setting=name, to=setting_value(option, name, text, preset))
