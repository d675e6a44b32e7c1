"""A model of the user's own: the Python file and the function in it that a preset file names."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, field

from .tables import Name, Rung, Table

FAMILY = "file"
IDENTIFIER = r"^[A-Za-z_]\w*$"
ONLY_SIZE = "default"
"""The rung of a model whose file lists no sizes."""


class UserSize(Rung, frozen=True, kw_only=True):
    """A rung of a user's model: the name that its function is called with."""


def _only_size() -> list[UserSize]:
    return [UserSize(name=ONLY_SIZE)]


class UserModel(Table, frozen=True, kw_only=True, tag_field="family", tag=FAMILY):
    """A model that a Python file of the user's builds. Only the worker imports it."""

    file: Annotated[str, Meta(min_length=1, max_length=4096)]
    """The Python file; a relative path counts from the preset file's folder."""
    build: Annotated[str, Meta(max_length=200, pattern=IDENTIFIER)]
    """A function in it, or a class, that returns a new `torch.nn.Module` each time it is called: with the
    size's name where `sizes` lists any, else with nothing."""
    default_size: Name = ONLY_SIZE
    sizes: Annotated[list[UserSize], Meta(min_length=1)] = field(default_factory=_only_size)

    @property
    def lists_sizes(self) -> bool:
        """Whether the function is to be told a size."""
        return [size.name for size in self.sizes] != [ONLY_SIZE]


def completed(table: dict[str, Any]) -> dict[str, Any]:
    """A preset file's tables with what the short form of a user's model leaves out.

    `file` is enough to tell the family, sizes may be names alone, and the first is the default one.
    """
    model = table.get("model")
    if not isinstance(model, dict) or "file" not in model or model.get("family", FAMILY) != FAMILY:
        return table
    model = {"family": FAMILY, **model}
    sizes = model.get("sizes")
    if isinstance(sizes, list) and sizes:
        model["sizes"] = sizes = [size if isinstance(size, dict) else {"name": size} for size in sizes]
        if "name" in sizes[0]:
            model.setdefault("default_size", sizes[0]["name"])
    return {**table, "model": model}
