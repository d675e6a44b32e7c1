"""The story of a session: what was set, how fast it was, what was said and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from gputrain_presets import Preset

from ..recordings.bootstrap import Series, series
from ..recordings.compare import Side
from ..settings import Settings
from ..timeline import Change, Effect, Header, Message, Profile, Summary, Validation, Verdict
from .columns import GpuColumns, SampleColumns


@dataclass(slots=True)
class Stretch:
    """A time in which the settings stayed the same."""

    settings: Settings
    begin_s: float
    end_s: float
    first: int
    """Its samples: the first, and the one behind the last."""
    last: int


@dataclass(slots=True)
class Turned:
    """A change, and what came of it."""

    number: int
    """Counted from 1, as the charts mark it."""
    change: Change
    effect: Effect | None = None
    note: str | None = None
    """Why no effect could be told."""


@dataclass(slots=True)
class Held:
    """A verdict, and how long it stood."""

    verdict: Verdict
    since_s: float
    until_s: float


@dataclass(slots=True)
class Story:
    """A recording as a report tells it."""

    path: Path
    header: Header
    summary: Summary | None
    damage: str | None
    """What is wrong with the file's end, in one line."""
    samples: SampleColumns = field(default_factory=SampleColumns)
    gpus: dict[str, GpuColumns] = field(default_factory=dict)
    """By UUID, or by index where a GPU tells none; in the order in which they were seen."""
    stretches: list[Stretch] = field(default_factory=list)
    turned: list[Turned] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    messages_left_out: int = 0
    validations: list[tuple[float, Validation]] = field(default_factory=list)
    profiles: list[tuple[float, Profile]] = field(default_factory=list)
    unknown: int = 0
    """Entries of kinds that this version does not know."""
    side: Side | None = None
    """The steady samples under the last settings, to be compared with another session's."""

    @property
    def preset(self) -> Preset | None:
        """The preset as it was recorded; None where another version's cannot be read."""
        return resolved(self.header.session.preset)

    @property
    def preset_name(self) -> str:
        """Its name."""
        return str(self.header.session.preset.get("name", "unnamed"))

    @property
    def length_s(self) -> float:
        """How long the session was, as far as it is known."""
        last = self.samples.t[-1] if len(self.samples) else 0.0
        return last if self.summary is None else max(last, self.summary.seconds)

    @property
    def settings(self) -> Settings:
        """The settings at the end."""
        return self.stretches[-1].settings if self.stretches else self.header.session.settings

    def rate(self, stretch: Stretch) -> Series | None:
        """Samples/s of a stretch: median and quartiles of its steady samples."""
        return series(self.samples.steady_values("samples_per_s", stretch.first, stretch.last))

    def step_ms(self, stretch: Stretch) -> Series | None:
        """Step time of a stretch: the median and quartiles of its steady samples' medians."""
        return series(self.samples.steady_values("step_p50_ms", stretch.first, stretch.last))

    def device_name(self, device: str) -> str:
        """A device by the name that its maker gave it, with what PyTorch calls it."""
        name = next((each.name for each in self.header.devices if each.device == device), None)
        return device if name is None else f"{name} ({device})"

    def trained_on(self) -> Sequence[GpuColumns]:
        """The GPUs that trained at some time."""
        devices = {stretch.settings.device for stretch in self.stretches}
        uuids = {each.uuid for each in self.header.devices if each.device in devices and each.uuid}
        return [gpu for gpu in self.gpus.values() if gpu.uuid in uuids]

    def measured_gain(self, held: Held, setting: str | None, to: object) -> Effect | None:
        """What a remedy of a verdict brought, where it was followed while the verdict stood."""
        for turned in self.turned:
            change = turned.change
            wanted = change.ok and change.setting == setting and change.to == to
            if wanted and held.since_s <= change.t <= held.until_s:
                return turned.effect
        return None


def resolved(preset: dict[str, Any]) -> Preset | None:
    """A preset as a file holds it; None where another version's cannot be read."""
    try:
        return msgspec.convert(preset, Preset)
    except msgspec.ValidationError:
        return None


def became_known(before: Settings, now: Settings) -> bool:
    """Whether two settings are the same but for what had not been said yet: the device, the threads."""
    names = before.__struct_fields__
    return all(before.value(name) in (None, "auto", now.value(name)) for name in names)
