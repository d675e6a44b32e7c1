"""One model in training: everything a step needs, for the settings in force."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gputrain_presets import Preset

from ..settings import Settings
from . import losses, models, optimizers
from .batches import Batches, Position
from .data import Dataset
from .phases import PhaseClock

State = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Saved:
    """Everything that a step changes, copied to the host."""

    settings: Settings
    model: State
    optimizer: State
    position: Position
    host_rng: Tensor


class Trainer:
    """Model, optimizer and position in the data.

    Attributes:
        settings: what it trains with.
        model: the network, on the settings' device.
        loss: the last step's loss on the device, a scalar without graph; None before the first step.
        clock: the phase clock of the settings' device.
    """

    model: nn.Module
    optimizer: torch.optim.Optimizer

    def __init__(self, preset: Preset, dataset: Dataset, settings: Settings, seed: int) -> None:
        self.preset = preset
        self.dataset = dataset
        self.settings = settings
        self.loss: Tensor | None = None
        self.measure_loss = losses.build(preset.loss)
        self.batches = Batches(dataset.training, settings.batch_size, preset.drop_last, seed)
        self._build(settings)
        self.clock = PhaseClock(self.device)

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return torch.device(self.settings.device)

    @property
    def parameters(self) -> int:
        """Number of trainable values."""
        return sum(parameter.numel() for parameter in self.model.parameters())

    def step(self) -> int:
        """Train on one batch; the number of samples in it."""
        clock = self.clock
        clock.begin()
        inputs, targets = self.batches.next()
        samples = inputs.shape[0]
        clock.mark()
        if self._must_copy:
            inputs, targets = self.to_device(inputs), self.to_device(targets)
        clock.mark()
        loss = self.measure_loss(self.model(inputs), targets)
        clock.mark()
        loss.backward()
        clock.mark()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        clock.mark()
        self.loss = loss.detach()
        clock.end()
        return samples

    def to_device(self, batch: Tensor) -> Tensor:
        """A batch on the training device."""
        return batch.to(self.settings.device)

    def save(self) -> Saved:
        """A copy on the host of everything a step changes."""
        return Saved(
            settings=self.settings,
            model=_host_copy(self.model.state_dict()),
            optimizer=_host_copy(self.optimizer.state_dict()),
            position=self.batches.position(),
            host_rng=torch.get_rng_state(),
        )

    def reconfigure(self, settings: Settings, saved: Saved) -> None:
        """Train with other settings from now on.

        Weights, optimizer state and position are carried over, to another device too; a new model
        size begins with new weights at the same position.
        """
        rebuild = (settings.device, settings.model_size) != (self.settings.device, self.settings.model_size)
        self.batches.batch_size = settings.batch_size
        if rebuild:
            # The old model goes before the new one comes: both may not fit on the device.
            self._drop()
            self._build(settings)
            if settings.model_size == saved.settings.model_size:
                self._load(saved)
                torch.set_rng_state(saved.host_rng)  # Building drew from it.
        if settings.device != self.settings.device:
            self.clock = PhaseClock(torch.device(settings.device))
        self.settings = settings

    def go_back(self, saved: Saved) -> None:
        """Be exactly as it was when `saved` was made, whatever has failed since."""
        self._drop()
        self._build(saved.settings)
        self._load(saved)
        self.batches.batch_size = saved.settings.batch_size
        self.batches.go_back(saved.position)
        torch.set_rng_state(saved.host_rng)
        if saved.settings.device != self.settings.device:
            self.clock = PhaseClock(torch.device(saved.settings.device))
        self.clock.abandon()
        self.settings = saved.settings

    def _drop(self) -> None:
        self.loss = None
        self.model = nn.Module()
        self.optimizer = torch.optim.SGD([torch.empty(0)])
        free_memory()

    def _build(self, settings: Settings) -> None:
        self._must_copy = settings.device != "cpu"
        # Initialised on the host, so that a seed gives the same weights on every device.
        model = models.build(self.preset.model, settings.model_size)
        self.model = model.to(settings.device)
        self.optimizer = optimizers.build(self.preset.optimizer, self.model.parameters())

    def _load(self, saved: Saved) -> None:
        self.model.load_state_dict(saved.model)
        # Casts the state to each parameter's device and leaves step counters where they belong.
        self.optimizer.load_state_dict(saved.optimizer)


def free_memory() -> None:
    """Give back what nothing refers to any more, the caching allocator's blocks too."""
    gc.collect()
    if torch.cuda.is_initialized():
        torch.cuda.empty_cache()


def _host_copy(state: Any) -> Any:
    if isinstance(state, Tensor):
        return state.detach().to("cpu", copy=True)
    if isinstance(state, dict):
        return {key: _host_copy(value) for key, value in state.items()}
    if isinstance(state, list):
        return [_host_copy(value) for value in state]
    return state
