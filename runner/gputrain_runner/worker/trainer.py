"""One model in training: everything a step needs, for the settings in force."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gputrain_presets import Preset, learning_rates

from ..settings import Settings
from . import ensemble, execution, losses, models, optimizers, supply
from .data import Dataset
from .execution import precision
from .models.hier_bilstm import HierBiLstm
from .phases import PhaseClock
from .sample_order import Place, SampleOrder

State = dict[str, Any]

_MODEL = ("device", "model_size", "models_at_once")
"""Settings with which a new model is built; the others leave it where it is."""
_SUPPLY = ("device", "data_path", "workers")
_EXECUTION = (*_MODEL, "precision", "execution", "passes", "memory_format", "recurrence")


@dataclass(frozen=True, slots=True)
class Saved:
    """Everything that a step changes, copied to the host."""

    settings: Settings
    model: State
    optimizer: State
    execution: State
    place: Place
    host_rng: Tensor
    device_rng: Tensor | None
    """Of a CUDA device; a CPU's is the host's."""


class Trainer:
    """Model, optimizer and place in the data.

    Attributes:
        settings: what it trains with.
        model: the network, on the settings' device.
        order: which samples come next.
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
        self._seed = seed
        self._loss_of_one = losses.build(preset.loss)
        self.order = SampleOrder(len(dataset.training), settings.batch_size, preset.drop_last, seed)
        self._supply: supply.Supply | None = None
        self._execution: execution.Execution | None = None
        self._build_model(settings)
        self._build_rest(settings, changed=frozenset(_SUPPLY + _EXECUTION))
        self.clock = PhaseClock(self.device)

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return torch.device(self.settings.device)

    @property
    def parameters(self) -> int:
        """Number of trainable values, of all models at once."""
        return sum(parameter.numel() for parameter in self.model.parameters())

    @property
    def prepared(self) -> str:
        """What is done to a step in the time that `preparation_ms` tells, in a word."""
        return self._running.PREPARED

    def preparation_ms(self) -> float | None:
        """Time spent on compiling or capturing since this was last asked; None where nothing was."""
        return self._running.preparation_ms()

    def step(self) -> int:
        """Train on one batch; the number of samples in it, those of all models at once."""
        clock = self.clock
        clock.begin()
        samples = self.order.advance()
        inputs, targets = self._source.next(clock)
        self.loss = self._running.run(inputs, targets, clock)
        clock.end()
        return samples * self.settings.models_at_once

    def compiles(self, settings: Settings) -> bool:
        """Whether going over to these settings compiles the step anew."""
        return settings.execution == "compiled" and bool(self._changed(settings) & set(_EXECUTION))

    def begin_epoch(self) -> None:
        """Count the epoch and go through the data in a new order."""
        self.order.begin_epoch()
        self._resume_supply()

    def measure_loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """The loss, a scalar; the mean over models at once."""
        return self._measure_loss(outputs, targets)

    def save(self) -> Saved:
        """A copy on the host of everything a step changes."""
        return Saved(
            settings=self.settings,
            model=_host_copy(self.model.state_dict()),
            optimizer=_host_copy(self.optimizer.state_dict()),
            execution=self._running.state(),
            place=self.order.place(),
            host_rng=torch.get_rng_state(),
            device_rng=torch.cuda.get_rng_state(self.device) if self.device.type == "cuda" else None,
        )

    def reconfigure(self, settings: Settings, saved: Saved) -> None:
        """Train with other settings from now on.

        Weights, optimizer state and place in the data are carried over, to another device too; a new model
        size begins with new weights at the same place, more models at once begin beside those there are.
        """
        changed = self._changed(settings)
        self.order.batch_size = settings.batch_size
        if changed & set(_SUPPLY):
            self._close_supply()
        if changed & set(_MODEL):
            # The old model goes before the new one comes: both may not fit on the device.
            self._drop_model()
            self._build_model(settings)
            if settings.model_size == saved.settings.model_size:
                self._load(saved, settings)
                torch.set_rng_state(saved.host_rng)  # Building drew from it.
        self._build_rest(settings, frozenset(changed))
        self._running.load_state(saved.execution)
        if "device" in changed:
            self.clock = PhaseClock(torch.device(settings.device))
        self.settings = settings

    def go_back(self, saved: Saved) -> None:
        """Be exactly as it was when `saved` was made, whatever has failed since."""
        self._close_supply()
        self._drop_model()
        self._build_model(saved.settings)
        self._load(saved, saved.settings)
        self.order.batch_size = saved.settings.batch_size
        self.order.go_back(saved.place)
        self._build_rest(saved.settings, frozenset(_SUPPLY + _EXECUTION))
        self._running.load_state(saved.execution)
        torch.set_rng_state(saved.host_rng)
        if saved.device_rng is not None:
            torch.cuda.set_rng_state(saved.device_rng, saved.settings.device)
        if saved.settings.device != self.settings.device:
            self.clock = PhaseClock(torch.device(saved.settings.device))
        self.clock.abandon()
        self.settings = saved.settings

    def close(self) -> None:
        """Let go of processes and threads."""
        self._close_execution()
        self._close_supply()

    def _changed(self, settings: Settings) -> set[str]:
        changed = {name for name in settings.__struct_fields__ if _differ(name, settings, self.settings)}
        # Where no processes are used, their number is no reason to copy a resident data set again.
        return changed if settings.data_path == "loader" else changed - {"workers"}

    @property
    def _source(self) -> supply.Supply:
        assert self._supply is not None
        return self._supply

    @property
    def _running(self) -> execution.Execution:
        assert self._execution is not None
        return self._execution

    def _drop_model(self) -> None:
        self._close_execution()
        self.loss = None
        self.model = nn.Module()
        self.optimizer = torch.optim.SGD([torch.empty(0)])
        free_memory()

    def _build_model(self, settings: Settings) -> None:
        count = settings.models_at_once
        # Initialised on the host, so that a seed gives the same weights on every device.
        if count == 1:
            model = models.build(self.preset.model, settings.model_size)
            self._measure_loss = self._loss_of_one
        else:
            model = ensemble.build(self.preset.model, settings.model_size, count, self._seed)
            self._measure_loss = ensemble.mean_loss(self._loss_of_one)
        self.model = model.to(settings.device)
        self.optimizer = optimizers.build(self.preset.optimizer, self.model.parameters())
        rates = self.preset.optimizer.learning_rates
        if count > 1 and rates is not None:
            ensemble.set_rates(self.optimizer, learning_rates.of_models(rates, count))

    def _build_rest(self, settings: Settings, changed: frozenset[str]) -> None:
        """Supply and execution anew where what they stand on has changed."""
        if settings.threads is not None and settings.threads != torch.get_num_threads():
            torch.set_num_threads(settings.threads)
        if changed & set(_SUPPLY) or self._supply is None:
            self._close_supply()
            device = torch.device(settings.device)
            self._supply = supply.build(settings.data_path, self.dataset.training, device, settings.workers)
        if changed & set(_EXECUTION) or self._execution is None:
            self._close_execution()
            self._execution = self._build_execution(settings)
        self._running.expect(settings.batch_size)
        self._resume_supply()

    def _build_execution(self, settings: Settings) -> execution.Execution:
        precision.set_flags(settings.precision)
        if settings.recurrence is not None:
            assert isinstance(self.model, HierBiLstm)
            self.model.set_recurrence(settings.recurrence)
        if settings.memory_format is not None:
            execution.set_memory_format(self.model, self.optimizer, settings.memory_format)
        self.model.train(settings.passes == "training")
        count = settings.models_at_once
        weight = None if count == 1 else torch.tensor(float(count), device=settings.device)
        parts = execution.Parts(self.model, self.optimizer, self._measure_loss, weight)
        return execution.build(parts, settings)

    def _load(self, saved: Saved, settings: Settings) -> None:
        model, optimizer = saved.model, saved.optimizer
        before = saved.settings.models_at_once
        if before != settings.models_at_once:
            model = ensemble.resized_model(model, self.model.state_dict(), before)
            optimizer = ensemble.resized_optimizer(optimizer, list(self.model.parameters()), before)
        self.model.load_state_dict(model)
        # Of other models at once it may be another: the largest of theirs.
        rates = [group["lr"] for group in self.optimizer.param_groups]
        # Casts the state to each parameter's device, but for some of what counts steps.
        self.optimizer.load_state_dict(optimizer)
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
        execution.count_on_host(self.optimizer)

    def _resume_supply(self) -> None:
        self._source.begin(self.order.order, self.order.taken, self.order.batch_size)

    def _close_execution(self) -> None:
        if self._execution is not None:
            self._execution.close()
            self._execution = None

    def _close_supply(self) -> None:
        if self._supply is not None:
            self._supply.close()
            self._supply = None


def free_memory() -> None:
    """Give back what nothing refers to any more, the caching allocator's blocks too."""
    gc.collect()
    if torch.cuda.is_initialized():
        torch.cuda.empty_cache()


def _differ(name: str, one: Settings, other: Settings) -> bool:
    return one.value(name) != other.value(name)


def _host_copy(state: Any) -> Any:
    if isinstance(state, Tensor):
        return state.detach().to("cpu", copy=True)
    if isinstance(state, dict):
        return {key: _host_copy(value) for key, value in state.items()}
    if isinstance(state, list):
        return [_host_copy(value) for value in state]
    return state
