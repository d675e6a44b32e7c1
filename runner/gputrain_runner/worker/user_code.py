"""Code of the user's own: imported here alone, and its exceptions told by its own files and lines."""

from __future__ import annotations

import importlib.util
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from gputrain_presets import PresetError

_INSTALLED = {"site-packages", "dist-packages"}
"""Folders of libraries, which may lie below the user's own folder."""
LONGEST = 300
"""Characters of an exception's text that are shown."""

_NOT_THE_USERS = (Path(sysconfig.get_path("stdlib")).resolve(), Path(__file__).resolve().parents[1])
_modules: dict[Path, ModuleType] = {}
_folders: set[Path] = set()


def module(path: Path) -> ModuleType:
    """The module in that file, imported once; PresetError says what it raised, and where."""
    path = path.resolve()
    if path not in _modules:
        _folders.add(path.parent)
        with first_on_path(path.parent):
            _modules[path] = call("model.file", _import, path)
    return _modules[path]


def call(what: str, function: Callable[..., Any], *arguments: object) -> Any:
    """What `function` returns; PresetError says `what` failed and what it raised, be it SystemExit."""
    try:
        return function(*arguments)
    except BaseException as error:
        with suppress(Exception):  # Standard error may be what the user's code has closed.
            traceback.print_exc()  # Whole, for the log.
        raise PresetError(f"{what}: {told(error)}") from None


@contextmanager
def first_on_path(folder: Path) -> Iterator[None]:
    """Let imports look into the user's folder first, as a script's do; afterwards they look there last.

    A module of the user's that is named like one of Python's own must not take its place when PyTorch
    imports that later.
    """
    entry = str(folder)
    sys.path.insert(0, entry)
    try:
        yield
    finally:
        sys.path.remove(entry)
        if entry not in sys.path:
            sys.path.append(entry)


def told(error: BaseException) -> str:
    """An exception in one line: `my_model.py:12 in make: ValueError: no such size`.

    The place is the last one in the user's files that it passed through; it is left out where it passed
    through none.
    """
    at = place(error)
    return f"{at}: {_said(error)}" if at else _said(error)


def place(error: BaseException) -> str | None:
    """`my_model.py:12 in make`: the last place in the user's files that an exception passed through."""
    if isinstance(error, SyntaxError) and error.filename and (name := _users_name(error.filename)):
        return f"{name}:{error.lineno}"
    found = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        if name := _users_name(frame.f_code.co_filename):
            function = frame.f_code.co_name
            found = f"{name}:{line}" + ("" if function == "<module>" else f" in {function}")
    return found


def _import(path: Path) -> ModuleType:
    name = _module_name(path)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None, "its name ends in .py"
    made = importlib.util.module_from_spec(spec)
    sys.modules[name] = made
    try:
        spec.loader.exec_module(made)
    except BaseException:
        del sys.modules[name]
        raise
    return made


def _module_name(path: Path) -> str:
    """The file's own name, so that its siblings can import it; not that of a module that is there already."""
    name = path.stem
    if name.isidentifier() and name not in sys.modules:
        found = importlib.util.find_spec(name)
        if found is None or found.origin == str(path):
            return name
    return f"gputrain_users_{name}"


def _users_name(file: str) -> str | None:
    """A file of the user's as it is told, from the folder of the model's file; None where it is not."""
    path = Path(file)
    if not path.is_absolute():
        return None
    path = path.resolve()
    if any(path.is_relative_to(folder) for folder in _NOT_THE_USERS):
        return None
    for folder in _folders:
        if path.is_relative_to(folder):
            name = path.relative_to(folder)
            return None if _INSTALLED & set(name.parts) else str(name)
    return None


def _said(error: BaseException) -> str:
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception:  # Its `__str__` is the user's too.
        text = ""
    first, *more = [line.strip() for line in text.splitlines() if line.strip()] or [""]
    if first.endswith(":") and more:  # `Error(s) in loading state_dict for Net:` says nothing yet.
        first = f"{first} {more[0]}"
    shown = "".join(letter if letter.isprintable() else " " for letter in first[:LONGEST]).strip()
    return f"{type(error).__name__}: {shown}" if shown else type(error).__name__
