"""One pass over the validation set, batch by batch, so that commands are taken in between."""

from __future__ import annotations

import math
from time import perf_counter

import torch
from torch import Tensor

from ..timeline import Validation
from .data import AnySplit
from .devices import synchronize
from .execution import precision
from .losses import counts_correct
from .trainer import Trainer


class ValidationPass:
    """Loss and, for classification, accuracy over the validation set.

    The settings may change between two batches; the model of the moment is used.
    """

    def __init__(self, split: AnySplit, epoch: int) -> None:
        self._split = split
        self._epoch = epoch
        self._samples = len(split)
        self._taken = 0
        self._loss_sum: Tensor | None = None
        self._correct: Tensor | None = None
        self._host_s = 0.0

    def advance(self, trainer: Trainer) -> Validation | None:
        """Run one batch; the result once it was the last."""
        started = perf_counter()
        chosen = slice(self._taken, self._taken + trainer.settings.batch_size)
        inputs, targets = (batch.to(trainer.device) for batch in self._split.gather(chosen))
        self._taken += inputs.shape[0]
        was_training = trainer.model.training
        trainer.model.eval()
        with torch.no_grad(), precision.autocast(trainer.settings):
            outputs = trainer.model(inputs)
            self._add(trainer, outputs.float(), targets)
        trainer.model.train(was_training)
        result = None
        if self._taken >= self._samples:
            synchronize(trainer.device)
            self._host_s += perf_counter() - started
            result = self._result()
        else:
            self._host_s += perf_counter() - started
        return result

    def _add(self, trainer: Trainer, outputs: Tensor, targets: Tensor) -> None:
        loss_sum = trainer.measure_loss(outputs, targets) * targets.shape[0]
        self._loss_sum = loss_sum if self._loss_sum is None else self._loss_sum.to(outputs.device) + loss_sum
        # A loss of a user's choice takes other targets than a label for each sample, too.
        labels = targets.dim() == 1 and not targets.is_floating_point()
        if labels and counts_correct(trainer.preset.loss):
            # Of models at once, (models, batch, classes), the mean accuracy is told.
            correct = (outputs.argmax(-1) == targets).sum() / trainer.settings.models_at_once
            self._correct = correct if self._correct is None else self._correct.to(outputs.device) + correct

    def _result(self) -> Validation:
        assert self._loss_sum is not None
        loss = self._loss_sum.item() / self._samples
        return Validation(
            epoch=self._epoch,
            host_ms=self._host_s * 1e3,
            samples=self._samples,
            loss=loss if math.isfinite(loss) else None,
            accuracy=None if self._correct is None else self._correct.item() / self._samples,
        )
