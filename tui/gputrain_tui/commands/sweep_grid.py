"""What a sweep's options ask for, spelt out: its presets, the values each is varied over, its plan."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import structs

from gputrain_presets import Preset
from gputrain_runner.options import AUTO
from gputrain_runner.settings import RULES, Choice, Context, SettingError, Value, applies, parse, rule
from gputrain_runner.sweep.plan import Chosen, Plan, plan_points

from .options import device_called, preset_called, with_data
from .parsing import UsageError

EVERY = "all"
"""Stands for every value of a setting that has a list of them."""
MOST_POINTS = 10_000
RUNS, WARMUP, POINT_SECONDS = 100, 10, 300.0
"""Where nothing else is asked for."""
SMALLEST_ROUND = 5
"""With fewer timed steps than twice this there is one round alone."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A sweep as asked for."""

    plan: Plan
    presets: dict[str, Preset]
    """By the names that the points give."""
    notes: list[str]
    """What does not hold for all presets, in words."""


def grid_of(options: argparse.Namespace) -> Grid:
    """The grid that the options ask for.

    Raises:
        UsageError: it makes no sense.
    """
    named = _named(options)
    notes: list[str] = []
    chosen = _varied(named, _asked(options), notes)
    devices = [_device(each) for each in options.device or ()] or [AUTO]
    passes = options.passes or ["training"]
    count = sum(each.combinations for each in chosen) * len(devices) * len(passes)
    if count > MOST_POINTS:
        raise UsageError(f"that is {count:,} points, allowed: {MOST_POINTS:,}")
    runs = RUNS if options.runs is None else options.runs
    plan = Plan(
        points=plan_points(chosen, devices, passes),
        runs=runs,
        warmup=WARMUP if options.warmup is None else options.warmup,
        rounds=_rounds(options.rounds, runs),
        point_seconds=POINT_SECONDS if options.point_seconds is None else options.point_seconds,
        seed=options.seed or 0,
        shared=options.share_process,
    )
    return Grid(plan, {each.name: each.preset for each in chosen}, notes)


def _rounds(asked: int | None, runs: int) -> int:
    """So many that a drift shows, with enough steps in each."""
    if asked is not None:
        return min(asked, runs)
    return 2 if runs >= 2 * SMALLEST_ROUND else 1


def _named(options: argparse.Namespace) -> list[tuple[str, Preset]]:
    """Each preset with a name of its own; a preset's other names have it in common, and differ in size."""
    if not options.presets:
        raise UsageError("a preset is missing; `gputrain-tui presets` lists them")
    loaded = [preset_called(word) for word in options.presets]
    if options.data is not None:
        readers = [preset for preset in loaded if hasattr(preset.data, "path")]
        if not readers:
            raise UsageError("--data: none of these presets reads files")
        loaded = [with_data(preset, options.data) if preset in readers else preset for preset in loaded]
    named: list[tuple[str, Preset]] = []
    for preset in loaded:
        same = next((known for name, known in named if name == preset.name), None)
        differs = same is not None and not _differ_in_size_alone(same, preset)
        named.append(
            (f"{preset.name} ({preset.read_from or 'built in'})" if differs else preset.name, preset)
        )
    return named


def _differ_in_size_alone(one: Preset, other: Preset) -> bool:
    def without_size(preset: Preset) -> Preset:
        return structs.replace(preset, model=structs.replace(preset.model, default_size=""), read_from=None)

    return without_size(one) == without_size(other)


def _asked(options: argparse.Namespace) -> list[tuple[str, str, list[str]]]:
    """For each setting the option that turns it, its name and its values as text."""
    asked = [(f"--over {name}", name, [v.strip() for v in text.split(",")]) for name, text in options.over]
    asked += [(f"--set {name}", name, [text]) for name, text in options.assignments]
    for at, (option, name, texts) in enumerate(asked):
        if name in ("device", "passes"):
            raise UsageError(f"{option}: that is what --{name} does")
        if not all(texts):
            raise UsageError(f"{option}: a value is missing")
        if any(name == before for _, before, _ in asked[:at]):
            raise UsageError(f"{option}: {name} is given twice")
    return asked


def _varied(
    named: Sequence[tuple[str, Preset]], asked: Sequence[tuple[str, str, list[str]]], notes: list[str]
) -> list[Chosen]:
    """Each preset with those of the values that it can take."""
    values: list[dict[str, list[Value]]] = [{} for _ in named]
    for option, setting, texts in asked:
        for text in texts:
            _give(option, setting, text, named, values)
        for (name, _), taken in zip(named, values, strict=True):
            if setting not in taken:
                notes.append(f"{name}: {option} has no value that it can take; it stays as it starts")
    return [Chosen(name, preset, own) for (name, preset), own in zip(named, values, strict=True)]


def _give(
    option: str,
    setting: str,
    text: str,
    named: Sequence[tuple[str, Preset]],
    values: Sequence[dict[str, list[Value]]],
) -> None:
    """Add the value to every preset that can take it; UsageError where none can."""
    objection = ""
    accepted = False
    for (_, preset), own in zip(named, values, strict=True):
        try:
            taken = _values(setting, text, preset)
        except SettingError as error:
            objection = objection or str(error).removeprefix(f"{setting}: ")
            continue
        accepted = True
        known = own.setdefault(setting, [])
        known += [value for value in taken if value not in known]
    if not accepted:
        raise UsageError(f"{option}: {objection}")


def _values(setting: str, text: str, preset: Preset) -> list[Value]:
    """What the text means for that preset; SettingError where nothing."""
    context = Context(preset)
    of = rule(setting)
    if not applies(setting, context):
        raise SettingError(f"{RULES[setting].label} has no meaning for {preset.name}")
    if text == EVERY and isinstance(of, Choice):
        return list(of.choices(context))
    return [parse(setting, text, context)]


def _device(text: str) -> str:
    return device_called("--device", text, ", several with commas")
