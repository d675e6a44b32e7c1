"""A user's own model: built by the function in their file, and looked at before it is trained."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn

from gputrain_presets import PresetError
from gputrain_presets.explain import nearest
from gputrain_presets.user_models import UserModel

from .. import user_code

_built: weakref.WeakSet[nn.Module] = weakref.WeakSet()
"""Models that are still there."""


def build(model: UserModel, size: str) -> nn.Module:
    """What the user's function returns for that size.

    PresetError says what it raised and where, or what is wrong with what it returned.
    """
    path = Path(model.file)
    with _defaults_kept():
        function = _function(model)
    with _defaults_kept(), user_code.first_on_path(path.parent):
        built = user_code.call("model.build", function, *_arguments(model, function, size))
    problem = _problem(built)
    if problem:
        raise PresetError(f"model.build: {model.build} in {path.name} {problem}")
    assert isinstance(built, nn.Module)
    _built.add(built)
    return built


@contextmanager
def _defaults_kept() -> Iterator[None]:
    """Whatever the user's code makes PyTorch's defaults, ours stay for the data and the steps."""
    dtype, device, grad = torch.get_default_dtype(), torch.get_default_device(), torch.is_grad_enabled()
    try:
        yield
    finally:
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(grad)
        if torch.get_default_device() != device:
            torch.set_default_device(None)


def _function(model: UserModel) -> Callable[..., Any]:
    path = Path(model.file)
    module = user_code.module(path)
    found = getattr(module, model.build, None)
    if found is None:
        there = [name for name, value in vars(module).items() if callable(value) and name[0] != "_"]
        near = nearest(model.build, there)
        hint = f"; did you mean {near!r}?" if near else ""
        raise PresetError(f"model.build: {path.name} has no {model.build!r}{hint}")
    if isinstance(found, nn.Module) or not callable(found):
        kind = f"of type {type(found).__name__}"
        allowed = "a function, or a class, that returns a new torch.nn.Module"
        raise PresetError(f"model.build: {model.build!r} in {path.name} is {kind}, allowed: {allowed}")
    function: Callable[..., Any] = found
    return function


def _arguments(model: UserModel, function: Callable[..., Any], size: str) -> list[str]:
    """The size, where the file lists sizes or the function needs one."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # Some of those written in C have none.
        return [size] if model.lists_sizes else []
    if not model.lists_sizes and _takes(signature):
        return []
    if _takes(signature, size):
        return [size]
    what = f"{model.build}{signature} in {Path(model.file).name}"
    if model.lists_sizes and _takes(signature):
        raise PresetError(f"model.sizes: {what} takes no size, but the file lists some")
    raise PresetError(f"model.build: {what} is called with a size alone, and needs more")


def _takes(signature: inspect.Signature, *arguments: str) -> bool:
    try:
        signature.bind(*arguments)
    except TypeError:
        return False
    return True


def _problem(built: object) -> str | None:
    """Why it cannot be trained; None where nothing speaks against it."""
    if not isinstance(built, nn.Module):
        if built is None:
            return "returned nothing: is there a `return`?"
        return f"returned a value of type {type(built).__name__}, allowed: a torch.nn.Module"
    if built in _built:
        return "returned a model that it had returned before, allowed: a new one each time"
    parameters = list(built.parameters())
    if any(nn.parameter.is_lazy(parameter) for parameter in parameters):
        return "returned a model with lazy layers, allowed: layers whose sizes are given"
    if not any(parameter.requires_grad for parameter in parameters):
        return f"returned a {type(built).__name__} without parameters to train"
    if any(parameter.is_meta for parameter in parameters):
        return "returned a model on the meta device, whose parameters have no values"
    return None
