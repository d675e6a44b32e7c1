"""The families of text models: the typed form of their tables in a preset file."""

from typing import Annotated

from msgspec import Meta

from .tables import Name, PositiveInt, Rung, Table


class HierBiLstmSize(Rung, frozen=True, kw_only=True):
    """One rung of a hierarchical Bi-LSTM's size ladder."""

    hidden: PositiveInt
    """Units of each direction, in the lower and the upper Bi-LSTM alike."""


class HierBiLstmModel(Table, frozen=True, kw_only=True, tag_field="family", tag="hier_bilstm"):
    """Words to a sentence by one Bi-LSTM's last outputs, sentences to a document by another's, then Linear.

    Inputs are (batch, longest_document, longest_sentence) word numbers from 1; 0 is padding at the end.
    """

    words: PositiveInt
    """Words of the vocabulary; padding is not one of them."""
    embedding: PositiveInt
    """Numbers that a word is turned into."""
    longest_document: PositiveInt
    """Sentences that each document is padded to."""
    longest_sentence: PositiveInt
    """Words that each sentence is padded to."""
    outputs: PositiveInt
    """Classes."""
    default_size: Name
    sizes: Annotated[list[HierBiLstmSize], Meta(min_length=1)]
