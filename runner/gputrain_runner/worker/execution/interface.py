"""What every execution is given and offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from torch import Tensor, nn, optim

from ...settings import Settings
from ..losses import LossFunction
from ..phases import PhaseClock


class ExecutionError(RuntimeError):
    """An execution that cannot work here; the text is one line for the user."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a step is made of.

    Attributes:
        model: on the device, in train mode, or in eval mode where passes is "forward".
        optimizer: over the model's parameters.
        measure_loss: outputs and targets to a scalar.
        loss_weight: what the loss is multiplied by for the derivation (the number of models at once, whose
            mean the loss is); None: by one.
    """

    model: nn.Module
    optimizer: optim.Optimizer
    measure_loss: LossFunction
    loss_weight: Tensor | None = None


class Execution(ABC):
    """Runs steps on batches that are on the device.

    Attributes:
        PREPARED: what was done to the step in the time that `preparation_ms` tells, in a word.
    """

    PREPARED = "prepared"

    def __init__(self, parts: Parts, settings: Settings) -> None:
        self.parts = parts
        self.settings = settings

    @abstractmethod
    def run(self, inputs: Tensor, targets: Tensor, clock: PhaseClock) -> Tensor:
        """One step; marks the end of forward, backward and optimizer. The loss, without graph.

        With passes = "forward" it is inference: the model in eval mode, no gradients, the loss part of
        forward; backward and optimizer are marked all the same and take no time.

        Raises:
            ExecutionError: the step cannot run in this way.
        """

    def expect(self, batch_size: int) -> None:  # noqa: B027 - most take every size alike
        """Batches have so many samples from now on; a smaller one is what an epoch ends with."""

    def state(self) -> dict[str, object]:
        """What it holds besides model and optimizer that a step changes (a loss scale), on the host."""
        return {}

    def load_state(self, state: dict[str, object]) -> None:  # noqa: B027 - most have none
        """Take over what `state` gave, as far as it has a meaning here."""

    def preparation_ms(self) -> float | None:
        """Time spent on compiling or capturing since this was last asked; None where nothing was."""
        return None

    def close(self) -> None:  # noqa: B027 - most have nothing to let go of
        """Let go of graphs and compiled code, before the model goes."""
