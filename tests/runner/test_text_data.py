"""Synthetic text: its shape, that a seed repeats it, and that its classes can be learnt."""

from __future__ import annotations

import pytest
import torch
from msgspec import structs
from torch import Tensor
from torch.nn import functional

import gputrain_presets
from gputrain_presets.spec import TextData
from gputrain_presets.text_models import HierBiLstmModel
from gputrain_runner.worker import data
from gputrain_runner.worker.models.hier_bilstm import HierBiLstm
from training import in_memory

PRESET = gputrain_presets.load("hier-bilstm")
assert isinstance(PRESET.model, HierBiLstmModel)
assert isinstance(PRESET.data, TextData)
MODEL, DATA = PRESET.model, PRESET.data


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def load(
    training: int = 600, validation: int = 100, seed: int = 0, model: HierBiLstmModel = MODEL
) -> data.Dataset:
    less = structs.replace(DATA, training_samples=training, validation_samples=validation, seed=seed)
    return data.load(less, model)


def test_documents_have_the_lengths_that_the_preset_states() -> None:
    dataset = load(3000)
    inputs = in_memory(dataset.training).inputs
    assert inputs.shape == (3000, 12, 30)
    assert inputs.dtype == torch.int32
    assert in_memory(dataset.training).targets.dtype == torch.int64
    in_sentence = (inputs != 0).sum(2)
    in_document = (in_sentence != 0).sum(1)
    assert (int(in_document.min()), int(in_document.max())) == (2, 12)
    real = in_sentence[in_sentence > 0]
    assert (int(real.min()), int(real.max())) == (3, 30)
    assert (int(inputs.max()), int(inputs.min())) == (10_000, 0)
    assert dataset.synthetic
    assert dataset.description.startswith("synthetic: documents of 2-12 sentences of 3-30 words")


def test_padding_stands_at_the_end_only() -> None:
    inputs = in_memory(load().training).inputs
    for items in (inputs != 0, (inputs != 0).any(2)):
        assert not (items[..., 1:] & ~items[..., :-1]).any()


def test_classes_are_balanced() -> None:
    counts = in_memory(load(3000).training).targets.bincount(minlength=5)
    assert counts.min() > 500


def test_a_seed_gives_the_same_documents_and_another_seed_others() -> None:
    first, again, other = load(), load(), load(seed=1)
    for name in ("inputs", "targets"):
        assert torch.equal(getattr(first.training, name), getattr(again.training, name))
        assert not torch.equal(getattr(first.training, name), getattr(other.training, name))
    assert first.validation is not None
    assert not torch.equal(in_memory(first.validation).inputs, in_memory(first.training).inputs[:100])


def test_more_documents_begin_with_the_same_ones() -> None:
    few, many = load(2048).training, load(4096).training
    assert torch.equal(in_memory(few).inputs, in_memory(many).inputs[:2048])


def test_a_small_vocabulary_works_and_no_validation_is_none() -> None:
    tiny = structs.replace(MODEL, words=4, outputs=3, longest_document=3, longest_sentence=5)
    dataset = load(50, 0, model=tiny)
    assert dataset.validation is None
    assert int(in_memory(dataset.training).inputs.max()) <= 4
    assert int(in_memory(dataset.training).targets.max()) == 2


def accuracy(model: HierBiLstm, inputs: Tensor, targets: Tensor) -> float:
    with torch.no_grad():
        return float((model(inputs).argmax(1) == targets).float().mean())


def test_a_small_net_learns_the_classes() -> None:
    short = structs.replace(MODEL, words=400, longest_document=4, longest_sentence=8)
    dataset = load(2000, 400, model=short)
    assert dataset.validation is not None
    torch.manual_seed(0)
    model = HierBiLstm(words=400, embedding=32, hidden=16, outputs=5)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    before = accuracy(model, in_memory(dataset.validation).inputs, in_memory(dataset.validation).targets)
    assert before < 0.35
    training = dataset.training
    for step in range(180):
        rows = slice(step % 60 * 32, step % 60 * 32 + 32)
        optimizer.zero_grad()
        functional.cross_entropy(
            model(in_memory(training).inputs[rows]), in_memory(training).targets[rows]
        ).backward()
        optimizer.step()
    assert accuracy(model, in_memory(dataset.validation).inputs, in_memory(dataset.validation).targets) > 0.55
