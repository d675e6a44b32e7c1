"""What all tables of a preset file share: strictness, kinds of numbers and names, a rung of a size ladder."""

from typing import Annotated

from msgspec import Meta, Struct

PositiveInt = Annotated[int, Meta(ge=1)]
NonNegativeInt = Annotated[int, Meta(ge=0)]
Fraction = Annotated[float, Meta(ge=0.0, lt=1.0)]
NonNegativeFloat = Annotated[float, Meta(ge=0.0)]
PositiveFloat = Annotated[float, Meta(gt=0.0)]
Name = Annotated[str, Meta(min_length=1, max_length=60, pattern=r"^[\w.+-]+$")]


class Table(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of a preset file: an unknown key is an error, not a silent default."""


class Rung(Table, frozen=True, kw_only=True):
    """One rung of a model's size ladder; a family adds what makes its sizes differ."""

    name: Name
    parameters: PositiveInt | None = None
    """Trainable numbers, as the origin states them; checked against the built model by a test."""
