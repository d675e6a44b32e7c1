"""`gputrain-tui crossover`: where one device overtakes the other."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

import msgspec

from gputrain_presets import Preset

from .. import format
from .failures import told_plainly
from .options import (
    add_data_option,
    add_setting_options,
    chosen_texts,
    chosen_values,
    preset_called,
    with_data,
)
from .parsing import Parser, UsageError, one_of
from .table import table
from .text_plot import log_plot

EXAMPLES = """\
examples:
  gputrain-tui crossover keras-mnist-mlp
  gputrain-tui crossover keras-mnist-mlp --over model_size
  gputrain-tui crossover lasagne-mlp --devices cpu@1,cpu@2

The same steps are trained on both devices, from small to large and one right
after the other; cpu@2 means the CPU with two threads. Without --devices it is
the CPU against the first GPU.
"""


def main(arguments: Sequence[str]) -> int:
    """Measure both devices and print where the faster one changes."""
    options = _parser().read(arguments)
    if options.preset is None:
        raise UsageError("the preset is missing; `gputrain-tui presets` lists them")
    preset = with_data(preset_called(options.preset), options.data)
    chosen = chosen_texts(options)
    for name in ("device", "threads", options.over):
        if name in chosen:
            raise UsageError(f"{chosen[name][0]}: {name} is what crossover turns itself")
    overrides = [(name, str(value)) for name, value in chosen_values(chosen, preset).items()]
    found = _find(preset, overrides, options)
    print(_as_json(found, preset) if options.json else _text(found, preset))
    return 0


def _find(preset: Preset, overrides: list[tuple[str, str]], options: argparse.Namespace) -> Any:
    from gputrain_runner.crossover import Finder, batch_ladder
    from gputrain_runner.options import SessionOptions
    from gputrain_runner.steering import Steering

    given = _contenders(options.devices)
    ladder = batch_ladder(preset) if options.over == "batch_size" else _sizes(preset, overrides)
    if len(ladder) < 2:
        raise UsageError(f"--over {options.over}: {preset.name} has only one")
    start = dict(given[0].settings()) if given else {}
    first = [
        *overrides,
        *((name, str(value)) for name, value in start.items()),
        (options.over, str(ladder[0].value)),
    ]
    asked = SessionOptions(preset=preset, overrides=first, report_every_s=0.1)
    with told_plainly(), Steering(asked) as steering:
        steering.wait_until_training()
        pair = given or _default_pair(steering.session.context.devices)
        return Finder(steering, options.over, ladder, pair, _tell).find()


def _contenders(text: str | None) -> Any:
    """The two that `--devices` names; None where it is not given."""
    from gputrain_runner.crossover import Contender

    if text is None:
        return None
    pair = [Contender(name.strip()) for name in text.split(",")]
    if len(pair) != 2 or pair[0] == pair[1]:
        raise UsageError(f"--devices: found {text!r}, allowed: two different devices, as in cpu,cuda:0")
    for each in pair:
        try:
            each.settings()
        except ValueError as error:
            raise UsageError(f"--devices: {error}") from None
    return pair[0], pair[1]


def _default_pair(devices: Sequence[str]) -> Any:
    from gputrain_runner.crossover import Contender

    gpu = next((device for device in devices if device != "cpu"), None)
    if gpu is None:
        raise UsageError(
            "PyTorch can use no GPU here, so there is nothing to compare the CPU with; "
            "--devices cpu@1,cpu@2 compares it with itself at other thread counts"
        )
    return Contender("cpu"), Contender(gpu)


def _sizes(preset: Preset, overrides: list[tuple[str, str]]) -> Any:
    """The ladder of model sizes, by the FLOPs of a step's samples."""
    from gputrain_runner.asking import ask
    from gputrain_runner.crossover import size_ladder
    from gputrain_runner.protocol import Describe, Described

    with told_plainly():
        _, (described,) = ask([Describe(preset=preset)], Described)
    batch = int(dict(overrides).get("batch_size", preset.batch_size))
    if any(size.forward_flops_per_sample is None for size in described.sizes):
        # A user's own model that cannot be counted: in the order of its parameters.
        return size_ladder([(size.name, max(1, size.parameters)) for size in described.sizes])
    return size_ladder(
        [(size.name, (size.forward_flops_per_sample or 1) * batch) for size in described.sizes]
    )


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _text(found: Any, preset: Preset) -> str:
    names = [curve.contender.name for curve in found.curves]
    rows = [(format.setting_label(found.over), *(f"{name} ms" for name in names), "ratio", "faster")]
    for rung in sorted(found.curves[0].ms):
        one, other = (curve.ms.get(rung) for curve in found.curves)
        value = found.ladder[rung].value
        label = f"{value:,}" if isinstance(value, int) else str(value)
        ratio = format.UNKNOWN if one is None or other is None else f"×{one / other:.3g}"
        faster = format.UNKNOWN if one is None or other is None else names[0] if one <= other else names[1]
        rows.append((label, _ms(one), _ms(other), ratio, faster))
    curves = {
        curve.contender.name: [(found.ladder[rung].x, ms) for rung, ms in curve.ms.items() if ms is not None]
        for curve in found.curves
    }
    x_label = "batch size" if found.over == "batch_size" else "FLOPs of a step, forward"
    plot = log_plot(curves, x_label=x_label, y_label="ms a step")
    return "\n".join([*table(rows, left=()), "", plot, "", *_fits(found), _conclusion(found, preset)])


def _fits(found: Any) -> list[str]:
    lines = []
    unit = "sample" if found.over == "batch_size" else "GFLOP"
    scale = 1.0 if found.over == "batch_size" else 1e9
    for curve in found.curves:
        line = curve.fit(found.ladder)
        if line is not None:
            worst = max(abs(residual) for residual in line.residuals)
            lines.append(
                f"{curve.contender.name}: {line.a_ms:.3g} ms a step + {line.c_ms * scale:.3g} ms a {unit}"
                f" (within {worst:.0%})"
            )
    return lines


def _conclusion(found: Any, preset: Preset) -> str:
    names = [curve.contender.name for curve in found.curves]
    if found.faster_small is None:
        return "The two could not be compared at any size."
    small = names[found.faster_small]
    if found.between is None:
        return f"{small} is faster at every {format.setting_label(found.over)} measured."
    other = names[1 - found.faster_small]
    low, high = (found.ladder[rung].value for rung in found.between)
    where = f"between {low} and {high}"
    if found.over == "batch_size" and found.at is not None:
        where += f", at about {found.at:.3g}"
    return f"{small} is faster below, {other} above: they cross {where}."


def _ms(value: float | None) -> str:
    return format.UNKNOWN if value is None else f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def _as_json(found: Any, preset: Preset) -> str:
    told = {
        "preset": preset.name,
        "over": found.over,
        "points": [
            {
                found.over: found.ladder[rung].value,
                "x": found.ladder[rung].x,
                **{f"{curve.contender.name}_ms": curve.ms.get(rung) for curve in found.curves},
                "errors": [curve.errors[rung] for curve in found.curves if rung in curve.errors],
            }
            for rung in sorted(found.curves[0].ms)
        ],
        "fits": {
            curve.contender.name: msgspec.to_builtins(curve.fit(found.ladder)) for curve in found.curves
        },
        "faster_small": None
        if found.faster_small is None
        else found.curves[found.faster_small].contender.name,
        "between": None if found.between is None else [found.ladder[rung].value for rung in found.between],
        "at": found.at,
        "fitted": found.fitted,
    }
    return json.dumps(told, indent=2, ensure_ascii=False)


def _parser() -> Parser:
    parser = Parser(
        "gputrain-tui crossover",
        usage="gputrain-tui crossover PRESET [options]",
        description="Where one device overtakes the other.",
        examples=EXAMPLES,
    )
    parser.add_argument("preset", metavar="PRESET", nargs="?", help="a name from `gputrain-tui presets`")
    what = parser.add_argument_group("what to compare")
    what.add_argument("--devices", metavar="D1,D2", help="two devices (default: cpu and the first GPU)")
    what.add_argument(
        "--over",
        metavar="SETTING",
        type=one_of("batch_size", "model_size"),
        default="batch_size",
        help="what grows: batch_size (default) or model_size",
    )
    add_data_option(what)
    what.add_argument("--json", action="store_true", help="print the figures as JSON")
    add_setting_options(parser)
    return parser
