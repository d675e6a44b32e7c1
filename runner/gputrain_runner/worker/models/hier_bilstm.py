"""Hierarchical Bi-LSTM classifier: words to sentences by one Bi-LSTM, sentences to a document by another.

Sequences of unequal length are padded, never packed: packing needs the lengths on the host, on a GPU
a wait for the device in every step. Instead the backward direction runs forward over each sequence
reversed within its own length, and each direction's output at the last real step is picked. What
padding computes is never looked at, so the result is exact, and all shapes are known beforehand.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from gputrain_presets.text_models import HierBiLstmModel

RECURRENCES = ("fused", "stepwise")
"""`fused`: one call of PyTorch's LSTM for all steps, a fused kernel where the device has one (cuDNN,
oneDNN). `stepwise`: a Python loop over the steps, each a matrix product and the arithmetic of a cell,
after one product that projects all inputs: what Theano's scan and the frameworks on it ran."""


def build(model: HierBiLstmModel, size: str) -> HierBiLstm:
    """The classifier of that size; KeyError where there is none."""
    for rung in model.sizes:
        if rung.name == size:
            return HierBiLstm(model.words, model.embedding, rung.hidden, model.outputs)
    raise KeyError(size)


def example_inputs(model: HierBiLstmModel, samples: int) -> Tensor:
    """Word numbers (samples, longest_document, longest_sentence) int32, all padding.

    The steps computed, and with them the FLOPs, are those of the padded shape, whatever the lengths.
    """
    return torch.zeros(samples, model.longest_document, model.longest_sentence, dtype=torch.int32)


class HierBiLstm(nn.Module):
    """Word numbers (batch, sentences, words), 0 is padding at the end, to class scores (batch, outputs).

    Sentences and words may be padded to any length: the scores do not depend on it.
    """

    def __init__(self, words: int, embedding: int, hidden: int, outputs: int) -> None:
        super().__init__()
        self.embedding = WordVectors(words + 1, embedding, padding_idx=0)
        self.sentence = BiLstm(embedding, hidden)
        self.document = BiLstm(2 * hidden, hidden)
        self.classifier = nn.Linear(2 * hidden, outputs)

    @property
    def recurrence(self) -> str:
        """Which implementation runs, one of `RECURRENCES`."""
        return self.sentence.recurrence

    def set_recurrence(self, name: str) -> None:
        """Run the other implementation from now on, on the same weights; ValueError where there is none."""
        if name not in RECURRENCES:
            raise ValueError(f"recurrence: found {name!r}, allowed: {', '.join(RECURRENCES)}")
        self.sentence.recurrence = self.document.recurrence = name

    def forward(self, inputs: Tensor) -> Tensor:
        """Class scores (batch, outputs) for `inputs` (batch, sentences, words), integers."""
        batch, sentences, words = inputs.shape
        lines = inputs.reshape(batch * sentences, words)
        words_in = _lengths(lines)
        sentences_in = _lengths(words_in.view(batch, sentences))
        # Reversing the numbers, not the vectors, moves a hundredth of the bytes.
        backward_lines = lines.gather(1, _reversed(words_in, words).t())
        vectors = self.sentence(self.embedding(lines.t()), self.embedding(backward_lines.t()), words_in)
        steps = vectors.view(batch, sentences, -1).transpose(0, 1)
        turn = _reversed(sentences_in, sentences).unsqueeze(2).expand_as(steps)
        scores: Tensor = self.classifier(self.document(steps, steps.gather(0, turn), sentences_in))
        return scores


class WordVectors(nn.Embedding):
    """An Embedding that starts with uniform numbers, as wide as PyTorch's normal ones; padding's are 0.

    Drawing normal numbers without storage makes PyTorch import its compiler, which takes a second.
    """

    def reset_parameters(self) -> None:
        """Draw the vectors anew from PyTorch's global random state."""
        nn.init.uniform_(self.weight, -(3**0.5), 3**0.5)
        with torch.no_grad():
            self.weight[0].zero_()


class BiLstm(nn.Module):
    """Two LSTMs of one layer, whose outputs at the last real step are joined.

    Attributes:
        recurrence: which implementation runs, one of `RECURRENCES`.
    """

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.forwards = nn.LSTM(inputs, hidden)
        self.backwards = nn.LSTM(inputs, hidden)
        self.recurrence = "fused"

    def forward(self, steps: Tensor, reversed_steps: Tensor, lengths: Tensor) -> Tensor:
        """Vectors (batch, 2 x hidden): the forward direction's last output, then the backward one's.

        Args:
            steps: (steps, batch, inputs), real ones first.
            reversed_steps: the same, each sequence's real steps in reverse.
            lengths: (batch,) how many steps of each sequence are real; none counts as one.
        """
        run = _fused if self.recurrence == "fused" else _stepwise
        last = (lengths - 1).clamp(min=0).long()[None, :, None].expand(1, -1, self.forwards.hidden_size)
        ends = [
            run(self.forwards, steps).gather(0, last),
            run(self.backwards, reversed_steps).gather(0, last),
        ]
        return torch.cat(ends, 2)[0]


def _fused(lstm: nn.LSTM, steps: Tensor) -> Tensor:
    """Outputs (steps, batch, hidden) of all steps, from one call."""
    outputs: Tensor = lstm(steps)[0]
    return outputs


def _stepwise(lstm: nn.LSTM, steps: Tensor) -> Tensor:
    """The same outputs, from a loop over the steps."""
    weight_in, weight_back, bias_in, bias_back = lstm.all_weights[0]
    projected = functional.linear(steps, weight_in, bias_in)
    output = cell = steps.new_zeros(steps.shape[1], lstm.hidden_size)
    outputs = []
    for step in projected.unbind(0):
        gates = step + functional.linear(output, weight_back, bias_back)
        take, keep, new, give = gates.chunk(4, 1)
        cell = keep.sigmoid() * cell + take.sigmoid() * new.tanh()
        output = give.sigmoid() * cell.tanh()
        outputs.append(output)
    return torch.stack(outputs)


def _lengths(items: Tensor) -> Tensor:
    """Where each row's last item other than 0 stands, counted from 1: (rows,) for (rows, items)."""
    places = torch.arange(1, items.shape[1] + 1, device=items.device, dtype=items.dtype)
    return torch.where(items != 0, places, 0).amax(1)


def _reversed(lengths: Tensor, steps: int) -> Tensor:
    """Which step to take at each step (steps, batch) so that each sequence's real ones are reversed."""
    places = torch.arange(steps, device=lengths.device).unsqueeze(1)
    return torch.where(places < lengths, lengths - 1 - places, places)
