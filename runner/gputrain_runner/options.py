"""What a session is to do, as the command line says it, and the settings it starts with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec import structs

from gputrain_presets import Preset

from . import settings
from .protocol import ScheduledChange
from .settings import Context, SettingError, Settings
from .timeline import Device

_MAY_GIVE_WAY = ("execution", "data_path", "precision")
"""Settings that a device may not be able to do."""
AUTO = "auto"
"""Stands for the device until the worker has said which there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """What a session is to do. Limits that are None do not end it."""

    preset: Preset
    device: str | None = None
    """None: the best that PyTorch can use."""
    falls_back: bool = False
    """Whether the best device is taken, with a warning, where the one asked for is not there."""
    batch_size: int | None = None
    model_size: str | None = None
    overrides: Sequence[tuple[str, str]] = ()
    """Settings by name, their values as text; a later one wins."""
    seed: int = 0
    steps: int | None = None
    epochs: int | None = None
    seconds: float | None = None
    scheduled: Sequence[ScheduledChange] = ()
    command: Sequence[str] = ()
    """The command line, for the recording."""
    record: Path | None = None
    """Record from the start, to this new file."""
    probe: bool = False
    """Measure the ceilings of its device and of the CPU before it trains."""
    report_every_s: float = 0.25
    profile_every_s: float | None = 30.0
    """From one burst of profiled steps to the next, at least; None or 0: there are none."""


def first_settings(options: SessionOptions) -> tuple[Settings, str | None]:
    """The settings a session starts with, their device being AUTO, and the device asked for.

    Raises:
        SettingError: a setting that does not exist, or a value that it cannot take.
    """
    context = Context(options.preset)
    chosen = settings.initial(options.preset, AUTO)
    device = options.device
    texts: list[tuple[str, str]] = []
    if options.batch_size is not None:
        texts.append(("batch_size", str(options.batch_size)))
    if options.model_size is not None:
        texts.append(("model_size", options.model_size))
    for name, text in [*texts, *options.overrides]:
        value = settings.parse(name, text, context)
        if name == "device":
            device = text
        else:
            chosen = chosen.with_value(name, value)
    return chosen, device


def resolve_device(asked: str | None, context: Context) -> str:
    """The device that `asked` means among those there are; None means the best.

    Raises:
        SettingError: there is no such device.
    """
    if asked is None:
        return context.devices[0]
    return str(settings.parse("device", canonical_device(asked), context))


def first_on_devices(
    wanted: Settings, device_asked: str | None, devices: Sequence[Device], context: Context, falls_back: bool
) -> tuple[Settings, list[str]]:
    """The settings to start with, once it is known which devices there are, and warnings about them.

    Args:
        wanted: those that were asked for; their device does not count.
        device_asked: the device; None for the best.
        devices: those there are, best first.
        context: what the allowed values depend on.
        falls_back: whether what cannot be gives way to what can, with a warning.

    Raises:
        SettingError: the device is not there, or settings cannot work on it, and nothing may give way.
    """
    warnings = []
    try:
        device = resolve_device(device_asked, context)
    except SettingError as error:
        if not falls_back:
            raise
        device = resolve_device(None, context)
        warnings.append(f"it trains on {device}: {error}")
    chosen = wanted.with_value("device", device)
    capability = next((known.compute_capability for known in devices if known.device == device), None)
    usual = settings.initial(context.preset, device)
    for name in _MAY_GIVE_WAY:
        why = settings.refusal(chosen, capability)
        if why is not None and not falls_back:
            raise SettingError(why)
        cured = chosen.with_value(name, usual.value(name))
        if why is not None and settings.refusal(cured, capability) != why:
            chosen = cured
            warnings.append(f"it trains with {usual.value(name)}: {why}")
    return chosen, warnings


def canonical_device(text: str) -> str:
    """`cuda` means `cuda:0`."""
    return "cuda:0" if text == "cuda" else text


def resolve_scheduled(
    scheduled: Sequence[ScheduledChange], context: Context, steps_done: int = 0
) -> list[ScheduledChange]:
    """The changes still to come after `steps_done` steps, counted from there, devices checked.

    Raises:
        SettingError: one changes to a device that there is not.
    """
    resolved = []
    for change in scheduled:
        if change.step < steps_done:
            continue
        to = resolve_device(str(change.to), context) if change.setting == "device" else change.to
        resolved.append(structs.replace(change, step=change.step - steps_done, to=to))
    return resolved
