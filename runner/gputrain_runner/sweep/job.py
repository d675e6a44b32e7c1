"""A sweep to be run: a new one, or one that is gone on with from its file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import structs

from gputrain_presets import Preset

from ..options import AUTO
from ..paths import sweeps_folder
from .plan import Plan, Point
from .result import SweepFile, SweepFileError, load


class JobError(ValueError):
    """A sweep that cannot be begun or gone on with; the text is one line for the user."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be measured, and where to."""

    plan: Plan
    presets: Mapping[str, Preset]
    path: Path
    command: Sequence[str] = ()
    resumed: SweepFile | None = None
    """What was measured before."""

    def is_of(self, points: Sequence[Point], presets: Mapping[str, Preset]) -> bool:
        """Whether these are its points and presets, AUTO meaning any device."""
        if len(points) != len(self.plan.points):
            return False
        for mine, theirs in zip(self.plan.points, points, strict=True):
            device = mine.settings.device if theirs.settings.device == AUTO else theirs.settings.device
            if mine != structs.replace(theirs, settings=theirs.settings.with_value("device", device)):
                return False
        return all(_work(self.presets[name]) == _work(preset) for name, preset in presets.items())


def resumed_job(path: Path, *, retry_failed: bool = False) -> Job:
    """Go on with the sweep in that file.

    Args:
        path: the file.
        retry_failed: measure again what has no figures.

    Raises:
        JobError: it cannot be read, or does not say what was to be measured.
    """
    try:
        sweep = load(path)
    except SweepFileError as error:
        raise JobError(str(error)) from None
    plan = sweep.plan
    if plan is None:
        raise JobError(f"{path} does not say what is still to be measured: begin a new sweep")
    try:
        presets = {name: msgspec.convert(found, Preset) for name, found in sweep.presets.items()}
    except msgspec.ValidationError as error:
        raise JobError(f"{path}: a preset in it is not known to this version: {error}") from None
    missing = {point.preset for point in plan.points} - presets.keys()
    if missing:
        raise JobError(f"{path}: it lacks the preset {min(missing)}")
    if retry_failed:
        kept = [point for point in sweep.points if point.outcome == "ok"]
        sweep = structs.replace(sweep, points=kept)
    return Job(plan, presets, path, sweep.command, sweep)


def new_path(plan: Plan) -> Path:
    """A path for a new sweep in the default place, named by the time (UTC) and its presets.

    Creates the folder, for its owner alone, where it is missing.

    Raises:
        JobError: the folder cannot be created.
    """
    folder = sweeps_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise JobError(
            f"{folder}: {error.strerror}: set XDG_STATE_HOME to a folder that can be written to"
        ) from None
    names = list(dict.fromkeys(point.preset.partition(" ")[0] for point in plan.points))
    more = f"-and-{len(names) - 1}-more" if len(names) > 1 else ""
    stem = f"{datetime.now(UTC):%Y-%m-%dT%H-%M-%S}-{names[0]}{more}"
    path, number = folder / f"{stem}.json", 1
    while path.exists():
        number += 1
        path = folder / f"{stem}-{number}.json"
    return path


def _work(preset: Preset) -> Preset:
    """All of a preset that its times depend on."""
    model = structs.replace(preset.model, default_size="")
    return structs.replace(preset, model=model, read_from=None, published=[], origin="", title="")
