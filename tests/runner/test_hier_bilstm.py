"""The hierarchical Bi-LSTM: its two implementations agree, and padding changes nothing."""

from __future__ import annotations

import pytest
import torch
from msgspec import structs
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence

import gputrain_presets
from gputrain_presets.text_models import HierBiLstmModel
from gputrain_runner.worker import data, models
from gputrain_runner.worker.models.hier_bilstm import RECURRENCES, HierBiLstm
from training import in_memory

PRESET = gputrain_presets.load("hier-bilstm")


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def small_model(hidden: int = 16, seed: int = 0) -> HierBiLstm:
    torch.manual_seed(seed)
    return HierBiLstm(words=50, embedding=12, hidden=hidden, outputs=5)


def documents(count: int, sentences: int = 5, words: int = 7) -> Tensor:
    """Documents of every length up to the longest, padded."""
    generator = torch.Generator().manual_seed(1)
    inputs = torch.randint(1, 51, (count, sentences, words), generator=generator, dtype=torch.int32)
    for number, document in enumerate(inputs):
        document[1 + number % sentences :] = 0
        for place, sentence in enumerate(document):
            sentence[1 + (number + place) % words :] = 0
    return inputs


def padded(inputs: Tensor, sentences: int, words: int) -> Tensor:
    return functional.pad(inputs, (0, words - inputs.shape[2], 0, sentences - inputs.shape[1]))


@pytest.mark.parametrize("recurrence", RECURRENCES)
def test_scores_and_gradients_do_not_depend_on_padding(recurrence: str) -> None:
    inputs = documents(10)
    found = []
    for batch in (inputs, padded(inputs, 9, 7), padded(inputs, 5, 16), padded(inputs, 12, 30)):
        model = small_model()
        model.set_recurrence(recurrence)
        scores = model(batch)
        functional.cross_entropy(scores, torch.arange(10) % 5).backward()
        found.append([scores.detach(), *(parameter.grad for parameter in model.parameters())])
    for other in found[1:]:
        torch.testing.assert_close(other, found[0], atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("recurrence", RECURRENCES)
def test_a_document_scores_the_same_alone_and_among_longer_ones(recurrence: str) -> None:
    inputs = documents(12)
    model = small_model()
    model.set_recurrence(recurrence)
    together = model(inputs)
    for number, document in enumerate(inputs):
        sentences = int((document.sum(1) != 0).sum())
        words = int((document != 0).sum(1).max())
        alone = model(document[None, :sentences, :words])
        torch.testing.assert_close(alone[0], together[number], atol=1e-6, rtol=1e-5)


def packed_ends(forwards: nn.LSTM, backwards: nn.LSTM, steps: Tensor, lengths: Tensor) -> Tensor:
    """What PyTorch's own bidirectional LSTM ends with on packed sequences: (batch, 2 x hidden)."""
    both = nn.LSTM(forwards.input_size, forwards.hidden_size, bidirectional=True)
    with torch.no_grad():
        for name, parameter in forwards.named_parameters():
            both.get_parameter(name).copy_(parameter)
            both.get_parameter(f"{name}_reverse").copy_(backwards.get_parameter(name))
    ends = both(pack_padded_sequence(steps, lengths, enforce_sorted=False))[1][0]
    return torch.cat([ends[0], ends[1]], 1)


@pytest.mark.parametrize("recurrence", RECURRENCES)
def test_both_levels_are_what_pytorchs_bidirectional_lstm_gives_for_packed_sequences(
    recurrence: str,
) -> None:
    inputs = documents(10)
    model = small_model()
    model.set_recurrence(recurrence)
    in_sentence = (inputs != 0).sum(2)
    in_document = (in_sentence != 0).sum(1)
    words = model.embedding(inputs.flatten(0, 1).t())
    vectors = packed_ends(
        model.sentence.forwards, model.sentence.backwards, words, in_sentence.flatten().clamp(min=1)
    )
    sentences = vectors.view(10, 5, -1).transpose(0, 1)
    ends = packed_ends(model.document.forwards, model.document.backwards, sentences, in_document)
    torch.testing.assert_close(model(inputs), model.classifier(ends), atol=1e-6, rtol=1e-5)


def test_the_word_order_matters_in_both_directions() -> None:
    model = small_model()
    one = torch.tensor([[[3, 4, 5, 0]], [[5, 4, 3, 0]]])
    scores = model(one)
    assert not torch.allclose(scores[0], scores[1], atol=1e-4)


def losses_and_gradients(recurrences: list[str], steps: int) -> tuple[list[float], list[Tensor]]:
    """Adam on the preset's own data; the last step's gradients."""
    less = structs.replace(PRESET.data, training_samples=4 * steps, validation_samples=0)
    split = data.load(less, PRESET.model).training
    torch.manual_seed(0)
    model = models.build(PRESET.model, "64")
    assert isinstance(model, HierBiLstm)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    losses = []
    for step in range(steps):
        model.set_recurrence(recurrences[step % len(recurrences)])
        rows = slice(4 * step, 4 * step + 4)
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(in_memory(split).inputs[rows]), in_memory(split).targets[rows])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, [parameter.grad for parameter in model.parameters() if parameter.grad is not None]


def test_fused_and_stepwise_train_alike_and_can_be_switched_mid_run() -> None:
    expected, gradients = losses_and_gradients(["fused"], 20)
    for recurrences in (["stepwise"], ["fused", "stepwise"]):
        found, others = losses_and_gradients(recurrences, 20)
        assert max(abs(a - b) for a, b in zip(found, expected, strict=True)) <= 1e-5
        assert len(others) == len(gradients) == 19
        torch.testing.assert_close(others, gradients, atol=1e-5, rtol=1e-3)


def test_stepwise_leaves_pytorchs_lstm_alone_and_fused_calls_it(monkeypatch: pytest.MonkeyPatch) -> None:
    called = []

    def forward(lstm: nn.LSTM, steps: Tensor) -> tuple[Tensor, None]:
        called.append(lstm)
        return steps.new_zeros(*steps.shape[:2], lstm.hidden_size), None

    model = small_model()
    monkeypatch.setattr(nn.LSTM, "forward", forward)
    model.set_recurrence("stepwise")
    model(documents(3))
    assert not called
    model.set_recurrence("fused")
    model(documents(3))
    assert len(called) == 4


def test_an_unknown_recurrence_is_refused() -> None:
    model = small_model()
    with pytest.raises(ValueError, match="found 'scan', allowed: fused, stepwise"):
        model.set_recurrence("scan")
    assert model.recurrence == "fused"


def test_the_sizes_have_the_parameters_they_state() -> None:
    assert isinstance(PRESET.model, HierBiLstmModel)
    for size in PRESET.model.sizes:
        with torch.device("meta"):
            model = models.build(PRESET.model, size.name)
        h, e = size.hidden, PRESET.model.embedding
        lower, upper = 8 * h * (e + h + 2), 8 * h * (2 * h + h + 2)
        by_hand = 10_001 * e + lower + upper + 5 * (2 * h + 1)
        assert sum(parameter.numel() for parameter in model.parameters()) == size.parameters == by_hand


def test_the_padding_word_never_learns() -> None:
    model = small_model()
    functional.cross_entropy(model(documents(6)), torch.arange(6) % 5).backward()
    assert model.embedding.weight.grad is not None
    assert not model.embedding.weight.grad[0].any()
    assert model.embedding.weight.grad[1:].any()
