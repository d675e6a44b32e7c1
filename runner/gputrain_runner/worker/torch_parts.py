"""Parts of PyTorch that a preset names, found and called: what does not exist is told with what is near."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import ModuleType
from typing import Any, TypeVar

from gputrain_presets import PresetError
from gputrain_presets.explain import in_toml, nearest

from . import user_code

T = TypeVar("T")


def find(key: str, name: str, module: ModuleType, base: type[T]) -> type[T]:
    """The class of that name in a module of PyTorch's; PresetError where there is none."""
    there = {
        known: value
        for known, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, base) and value is not base and known[0] != "_"
    }
    if name in there:
        return there[name]
    plain = {known.casefold(): known for known in there}
    near = plain.get(name.casefold()) or nearest(name, there)
    hint = f"did you mean {near!r}?" if near else f"there are {', '.join(sorted(there))}"
    raise PresetError(f"{key}.name: {module.__name__} has no {name!r}; {hint}")


def make(key: str, of: type[T], arguments: Mapping[str, Any], *first: Any) -> T:
    """An instance of a class of PyTorch's.

    PresetError names an argument that it does not have, or says why it takes none of those values.
    """
    known = list(inspect.signature(of.__init__).parameters)[1 + len(first) :]
    for name, value in arguments.items():
        if name not in known:
            near = nearest(name, known)
            hint = f"did you mean {near!r}?" if near else f"there are {', '.join(known)}"
            found = f"found {in_toml(value)}, but torch's {of.__name__} has no such argument"
            raise PresetError(f"{key}.arguments.{name}: {found}; {hint}")
    made: T = user_code.call(f"{key}.arguments: {of.__name__}", lambda: of(*first, **arguments))
    return made
