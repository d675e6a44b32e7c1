"""Changing a setting between two steps, and the way back when it cannot work."""

from __future__ import annotations

import re
from dataclasses import dataclass

import torch

from gputrain_presets import PresetError

from ..settings import Settings, Value
from ..settings import refusal as wanted_together
from . import devices, ensemble, user_code
from .data import DataError
from .devices import synchronize
from .execution import ExecutionError
from .memory_limit import bounded_memory
from .supply import SupplyError
from .trainer import Saved, Trainer, free_memory


class WorkerBrokenError(Exception):
    """The device or the process is in a state that no way back leads out of; the text is one line."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of going over to other settings."""

    error: str | None
    """Why everything is as it was before; None where it was done."""
    samples: int
    """Training samples of the first step under the new settings; 0 where it was given up."""
    preparation_ms: float | None = None
    """How much of the time went into compiling or capturing; None where nothing was."""


def make(trainer: Trainer, setting: str, to: Value) -> Outcome:
    """Change one setting and run the first step under it; `refusal` first, then as `attempt`."""
    settings = trainer.settings.with_value(setting, to)
    refused = refusal(trainer, settings)
    return Outcome(refused, 0) if refused else attempt(trainer, settings)


def attempt(trainer: Trainer, settings: Settings) -> Outcome:
    """Go over to these settings and run the first step under them.

    Whatever fails, in building or in that step, leads back to the weights, optimizer state, data
    position and settings from before.

    Raises:
        WorkerBrokenError: the way back failed as well, or the device's context is lost.
    """
    what = _in_words(settings, trainer.settings)
    saved = trainer.save()
    # Of the exception only text leaves the `except` body: while anything holds the exception, the
    # failed frame's tensors stay alive and the way back would lack their memory.
    error: str | None = None
    samples = 0
    try:
        with bounded_memory(settings.device):
            trainer.clock.go_on()
            trainer.reconfigure(settings, saved)
            if trainer.order.exhausted:  # Also where only a larger batch finds too little left.
                trainer.begin_epoch()
            samples = trainer.step()
            synchronize(trainer.device)
    except devices.CONTEXT_LOST as lost:
        raise WorkerBrokenError(f"{what}: {plain(lost)}") from None
    except (Exception, SystemExit) as failed:  # A user's own model may raise anything.
        error = plain(failed)
    if error is None:
        return Outcome(None, samples, trainer.preparation_ms())
    again = _go_back(trainer, saved)
    if again:
        raise WorkerBrokenError(f"{what}: {error}; the way back failed too: {again}")
    return Outcome(error, 0)


def trial(trainer: Trainer, settings: Settings) -> str | None:
    """Why no step can be run under these settings; all is as it was before where one can, too.

    Raises:
        WorkerBrokenError: as `attempt`.
    """
    refused = refusal(trainer, settings)
    if refused:
        return refused
    what = _in_words(settings, trainer.settings)
    saved = trainer.save()
    error = attempt(trainer, settings).error
    if error is None and (again := _go_back(trainer, saved)):
        raise WorkerBrokenError(f"{what}: the way back failed: {again}")
    return error


def _go_back(trainer: Trainer, saved: Saved) -> str | None:
    """Why the way back failed; None where it did not."""
    free_memory()
    try:
        trainer.go_back(saved)
        synchronize(trainer.device)
    except (Exception, SystemExit) as failed:
        return plain(failed)
    return None


def plain(error: BaseException) -> str:
    """What went wrong, in one line a user can act on."""
    text = str(error)
    host = re.search(r"can't allocate memory: you tried to allocate (\d+) bytes", text)
    if host:
        return f"out of memory: this host cannot give another {_size(int(host[1]))}"
    tried = re.search(r"Tried to allocate ([\d.]+ \w+)", text)
    free = re.search(r"of which ([\d.]+ \w+) is free", text)
    if tried:
        return f"out of memory: needs another {tried[1]}" + (f", {free[1]} are free" if free else "")
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)) or "bad_alloc" in text:
        return "out of memory"
    if isinstance(error, (DataError, SupplyError, ExecutionError, PresetError)):
        return text
    return user_code.told(error)


def refusal(trainer: Trainer, settings: Settings) -> str | None:
    """Why the settings cannot work, where that can be said without trying."""
    samples = len(trainer.dataset.training)
    if settings.batch_size > samples:
        return f"larger than the data, which has {samples:,} training samples"
    if not trainer.preset.has_size(settings.model_size):
        other = trainer.preset.other_sizes
        also = "" if other is None else f"; or {other}"
        return f"no such size; there are {', '.join(trainer.preset.size_names)}{also}"
    device = settings.device
    if device != "cpu":
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        known = [f"cuda:{index}" for index in range(count)]
        if device not in known:
            return f"there is no such device here; there are {', '.join([*known, 'cpu'])}"
    return wanted_together(settings, devices.capability(device)) or _one_at_a_time(trainer, settings)


def _one_at_a_time(trainer: Trainer, settings: Settings) -> str | None:
    """Why models at once cannot be trained of this preset."""
    if settings.models_at_once == 1 or trainer.settings.models_at_once > 1:
        return None
    return ensemble.refusal(trainer.model, trainer.optimizer)


def _in_words(settings: Settings, before: Settings) -> str:
    """What differs: `batch_size 512, device cpu`."""
    names = [name for name in settings.__struct_fields__ if settings.value(name) != before.value(name)]
    return ", ".join(f"{name} {settings.value(name)}" for name in names)


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.1f} MB"
