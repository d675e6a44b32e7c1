"""Synthetic documents to classify: common words, and in most sentences a few that hint at a class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from gputrain_presets.spec import TextData
from gputrain_presets.text_models import HierBiLstmModel

from .dataset import Dataset, Split

HINTS = 40
"""Words that hint at each class; fewer where the vocabulary is small."""
HINTED_WORDS = 0.2
"""Of a sentence that hints at a class, the share of words that do."""
OWN_SENTENCES = 0.5
"""The share of sentences that hint at the document's class; one in each document at least."""
MISLEADING_SENTENCES = 0.25
"""The share that hint at any class, drawn at random; the rest hint at none."""
CHUNK = 1 << 11
"""Documents drawn at a time, so that little more memory is used than is kept."""
DRAWS = 1 << 16
"""Equally likely draws that stand for the frequencies of words: 16 bits choose a word."""


@dataclass(frozen=True, slots=True)
class Language:
    """What a seed's documents have in common.

    Attributes:
        common: (DRAWS,) a word for each draw: the n-th most frequent comes up in proportion to 1 / n.
        hints: (classes, hints) the words that hint at each class.
    """

    common: np.ndarray
    hints: np.ndarray


def load(data: TextData, model: HierBiLstmModel) -> Dataset:
    """Documents (samples, longest_document, longest_sentence) int32, padded with 0, and their classes.

    Of the model its vocabulary, its lengths and its classes matter, not its size.
    """
    language = _language(data.seed, model.words, model.outputs)
    training = _split(data.training_samples, language, data, model, stream=1)
    validation = _split(data.validation_samples, language, data, model, stream=2)
    return Dataset(
        training=training,
        validation=validation if len(validation) else None,
        description=(
            f"synthetic: documents of {data.shortest_document}-{model.longest_document} sentences of "
            f"{data.shortest_sentence}-{model.longest_sentence} words, {model.outputs} classes"
        ),
        synthetic=True,
    )


def _language(seed: int, words: int, classes: int) -> Language:
    random = np.random.default_rng((seed, 0))
    numbers = random.permutation(words).astype(np.int32) + 1
    share = 1 / np.arange(1, words + 1)
    up_to = np.cumsum(share) / share.sum()
    ranks = np.searchsorted(up_to, (np.arange(DRAWS) + 0.5) / DRAWS)
    # From the rarer half, so that a word hints at a class wherever it stands.
    count = max(1, min(HINTS, words // (2 * classes)))
    hints = np.resize(numbers[::-1], (classes, count))
    return Language(numbers[ranks], hints)


def _split(samples: int, language: Language, data: TextData, model: HierBiLstmModel, stream: int) -> Split:
    inputs = np.empty((samples, model.longest_document, model.longest_sentence), np.int32)
    targets = np.empty(samples, np.int64)
    for start in range(0, samples, CHUNK):
        rows = slice(start, start + CHUNK)
        random = np.random.default_rng((data.seed, stream, start))
        targets[rows] = random.integers(len(language.hints), size=len(targets[rows]))
        _write(inputs[rows], targets[rows], language, data, random)
    return Split(torch.from_numpy(inputs), torch.from_numpy(targets))


def _write(
    into: np.ndarray, classes: np.ndarray, language: Language, data: TextData, random: np.random.Generator
) -> None:
    """Fill `into` (documents, sentences, words) with documents of those classes."""
    documents, sentences, words = into.shape
    into[:] = language.common[random.integers(DRAWS, size=into.shape, dtype=np.uint16)]
    in_document = random.integers(data.shortest_document, sentences + 1, size=documents)
    in_sentence = random.integers(data.shortest_sentence, words + 1, size=(documents, sentences))
    topics = _topics(classes, in_document, sentences, language, random)
    hinting = random.integers(256, size=into.shape, dtype=np.uint8) < round(HINTED_WORDS * 256)
    hinting &= (topics >= 0)[:, :, None]
    document, sentence, word = hinting.nonzero()
    choice = random.integers(language.hints.shape[1], size=len(word))
    into[document, sentence, word] = language.hints[topics[document, sentence], choice]
    in_sentence[np.arange(sentences) >= in_document[:, None]] = 0
    into[np.arange(words) >= in_sentence[:, :, None]] = 0


def _topics(
    classes: np.ndarray,
    in_document: np.ndarray,
    sentences: int,
    language: Language,
    random: np.random.Generator,
) -> np.ndarray:
    """The class each sentence hints at (documents, sentences); -1: none."""
    kind = random.random((len(classes), sentences))
    misled = random.integers(len(language.hints), size=kind.shape)
    topics = np.where(kind < OWN_SENTENCES + MISLEADING_SENTENCES, misled, -1)
    own = kind < OWN_SENTENCES
    own[np.arange(len(classes)), random.integers(in_document)] = True
    return np.where(own, classes[:, None], topics)
