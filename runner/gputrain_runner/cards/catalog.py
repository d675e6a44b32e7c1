"""The data file of cards: their published peaks, found by the names that people call them."""

from __future__ import annotations

import difflib
import re
from functools import cache
from importlib.resources import files

import msgspec
from msgspec import Struct


class CardError(ValueError):
    """A card that is not in the file; the text is one line for the user."""


class Card(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A card as published; the head of `cards.toml` says what the figures are."""

    name: str
    aliases: list[str]
    architecture: str
    compute_capability: str
    year: int
    fp32_tflops: float
    tf32_tflops: float | None = None
    bf16_tflops: float | None = None
    fp16_tflops: float | None = None
    memory_gb: float
    bandwidth_gb_per_s: float
    link: tuple[int, int]
    """PCIe generation and width of the card."""
    source: str

    def product_flops_per_s(self, precision: str) -> float:
        """Peak of matrix products in that precision; fp32's where the card has no units for it."""
        rates = {"tf32": self.tf32_tflops, "bf16": self.bf16_tflops, "fp16": self.fp16_tflops}
        return (rates.get(precision) or self.fp32_tflops) * 1e12

    @property
    def memory_bytes_per_s(self) -> float:
        """Published memory bandwidth."""
        return self.bandwidth_gb_per_s * 1e9

    def runs(self, precision: str) -> bool:
        """Whether PyTorch runs this precision there faster than fp32, or at all."""
        return precision == "fp32" or self.product_flops_per_s(precision) > self.fp32_tflops * 1e12


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    card: list[Card]


@cache
def cards() -> tuple[Card, ...]:
    """All cards of the file, the oldest first."""
    text = files(__package__).joinpath("cards.toml").read_text(encoding="utf-8")
    known = msgspec.toml.decode(text, type=_File).card
    return tuple(sorted(known, key=lambda card: (card.year, card.fp32_tflops)))


def find(text: str) -> Card:
    """The card that a user means by `text`.

    Raises:
        CardError: there is none, or more than one.
    """
    named = _by_name()
    wanted = _plain(text)
    if wanted in named:
        return named[wanted]
    holding = {card.name: card for name, card in named.items() if wanted and wanted in name}
    if len(holding) > 1:
        raise CardError(f"{text!r} may be any of: {', '.join(sorted(holding))}")
    if holding:  # A GTX 780 is not a GTX 780 Ti.
        raise CardError(f"no card is called {text!r}; did you mean {next(iter(holding))!r}?")
    near = difflib.get_close_matches(wanted, named, n=1, cutoff=0.6)
    hint = f"did you mean {named[near[0]].name!r}?" if near else f"known are: {', '.join(_names())}"
    raise CardError(f"no card is called {text!r}; {hint}")


def of_device(name: str | None) -> Card | None:
    """The card that a driver or PyTorch calls `name` ("NVIDIA H200"); None where it is not in the file.

    Names as drivers give them must match whole: a laptop's "RTX 3080 Laptop GPU" is not an RTX 3080.
    """
    return _by_name().get(_plain(name)) if name else None


def _by_name() -> dict[str, Card]:
    return {_plain(name): card for card in cards() for name in (card.name, *card.aliases)}


def _names() -> list[str]:
    return [card.name for card in cards()]


def _plain(text: str) -> str:
    """Lower case, without the maker and the brand, as people write it."""
    words = re.sub(r"[^0-9a-z]+", " ", text.lower()).split()
    return " ".join(word for word in words if word not in ("nvidia", "geforce", "tesla"))
