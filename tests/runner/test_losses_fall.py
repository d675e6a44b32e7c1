"""Each preset learns on its own data at a small batch; the image networks have their own tests."""

from __future__ import annotations

import pytest
import torch
from msgspec import structs

from gputrain_presets import Preset
from gputrain_presets.spec import TextData
from gputrain_presets.text_models import HierBiLstmModel, HierBiLstmSize
from gputrain_runner.worker import changes
from training import losses_of, trainer
from training_presets import small


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def fell(losses: list[float], share: float) -> bool:
    """Whether the last tenth's mean is below that share of the first loss."""
    last = losses[-len(losses) // 10 :]
    return sum(last) / len(last) < share * losses[0]


@pytest.mark.parametrize("size", ["x1", "1x15", "5x150", "40-113-76", "3x80"])
def test_lasagne_mlp(size: str) -> None:
    of = trainer(small("lasagne-mlp"))
    if size != "x1":
        assert changes.make(of, "model_size", size).error is None
    losses = losses_of(of, 150)

    assert fell(losses, 0.8), losses
    assert (
        of.parameters
        == {"x1": 17_107, "1x15": 1300, "5x150": 103_510, "40-113-76": 17_107, "3x80": 19_850}[size]
    )


def test_keras_mnist_mlp() -> None:
    losses = losses_of(trainer(small("keras-mnist-mlp")), 240)

    assert fell(losses, 0.5), losses


def short_documents() -> Preset:
    """The text preset with fewer units and shorter documents, so that a step takes milliseconds."""
    preset = small("hier-bilstm", training_samples=640, validation_samples=0)
    assert isinstance(preset.model, HierBiLstmModel)
    assert isinstance(preset.data, TextData)
    sizes = [HierBiLstmSize(name="small", hidden=16)]
    model = structs.replace(
        preset.model, words=500, longest_document=4, longest_sentence=8, default_size="small", sizes=sizes
    )
    return structs.replace(preset, model=model, optimizer=structs.replace(preset.optimizer, lr=0.01))


@pytest.mark.parametrize("recurrence", ["fused", "stepwise"])
def test_hier_bilstm(recurrence: str) -> None:
    of = trainer(short_documents())
    if recurrence != "fused":
        assert changes.make(of, "recurrence", recurrence).error is None

    losses = losses_of(of, 60)

    assert fell(losses, 0.7), losses
