"""The catalog: which presets there are, and how a preset file is found, read and checked."""

from __future__ import annotations

import math
import os
import re
import tomllib
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from . import checks, learning_rates, user_models
from .explain import WrongKeyError, explain, in_toml, nearest
from .spec import Preset

LARGEST_FILE_BYTES = 1_000_000
"""More than any preset needs; it keeps a device file or a data set from being read as one."""


class PresetError(ValueError):
    """A preset that does not exist or a file that is wrong; the text is one line for the user."""


def names() -> list[str]:
    """The built-in presets: those whose default size states the fewest parameters first."""
    return sorted(_built_in(), key=lambda name: (_stated_parameters(name), name))


def load(name_or_path: str) -> Preset:
    """The built-in preset of that name, or the one in that file.

    A path is told by `.toml` at its end or a separator in it. Paths in a file, of data and of a model's
    Python file, count from the file's folder. PresetError says in one line which file and which key is
    wrong, what was found and what is allowed.
    """
    if name_or_path.endswith(".toml") or any(sep in name_or_path for sep in (os.sep, os.altsep) if sep):
        path = Path(name_or_path)
        return _located(_read(path, name_or_path), path, _printable(name_or_path))
    if name_or_path in _aliases():
        name, size = _aliases()[name_or_path]
        preset = _load_built_in(name)
        return structs.replace(preset, model=structs.replace(preset.model, default_size=size))
    return _load_built_in(name_or_path)


def shipped(name: str) -> tuple[Preset, str]:
    """The built-in preset of that name, and the text of its file; PresetError where there is none."""
    own_name, _ = _aliases().get(name, (name, ""))
    _load_built_in(own_name)
    return load(name), _text(_built_in()[own_name], own_name)


# ------------------------------------------------------------------------- built in


@cache
def _built_in() -> dict[str, Traversable]:
    """The preset files beside this one, by their names without `.toml`."""
    beside = resources.files(__package__).iterdir()
    return {file.name.removesuffix(".toml"): file for file in beside if file.name.endswith(".toml")}


@cache
def _load_built_in(name: str) -> Preset:
    file = _built_in().get(name)
    if file is not None:
        return _read(file, file.name)
    all_names = [*names(), *_aliases()]
    containing = [known for known in all_names if name and name in known]
    near = containing[0] if containing else nearest(name, all_names)
    hint = f"; did you mean {near!r}?" if near else f"; there are {', '.join(names())}"
    raise PresetError(
        f"no preset is called {in_toml(name)}{hint} (a file's name must end in .toml or contain a {os.sep})"
    )


@cache
def _aliases() -> dict[str, tuple[str, str]]:
    """The other names of built-in presets: the preset's own and the size to start with."""
    found: dict[str, tuple[str, str]] = {}
    for name in _built_in():
        try:
            preset = _load_built_in(name)
        except PresetError:  # Said when that one is loaded.
            continue
        found |= {alias: (name, size) for alias, size in preset.aliases.items()}
    return found


def _stated_parameters(name: str) -> float:
    try:
        preset = _load_built_in(name)
    except PresetError:  # Said when that one is loaded; the others are listed all the same.
        return math.inf
    return preset.size(preset.model.default_size).parameters or math.inf


# ---------------------------------------------------------------------- from a file


def _read(file: Traversable, label: str) -> Preset:
    """The checked preset in a file that errors call `label`."""
    label = _printable(label)
    text = _text(file, label)
    try:
        table = learning_rates.completed(user_models.completed(_parse(text, label)))
        checks.before(table)
        preset = msgspec.convert(table, Preset)
        checks.after(preset)
    except msgspec.ValidationError as error:
        raise PresetError(f"{label}: {explain(error, table)}") from None
    except RecursionError:
        raise PresetError(f"{label}: tables or arrays are nested too deeply") from None
    except WrongKeyError as error:
        raise PresetError(f"{label}: {error}") from None
    return preset


def _text(file: Traversable, label: str) -> str:
    if isinstance(file, Path) and file.exists() and not (file.is_file() or file.is_dir()):
        # Opening a pipe would wait for whoever writes to it.
        raise PresetError(f"{label}: this is not a regular file; a preset is a TOML file")
    try:
        with file.open("rb") as opened:
            content = opened.read(LARGEST_FILE_BYTES + 1)
    except FileNotFoundError:
        raise PresetError(f"{label}: there is no such file") from None
    except IsADirectoryError:
        raise PresetError(f"{label}: this is a folder; a preset is a TOML file") from None
    except (OSError, ValueError) as error:
        raise PresetError(f"{label}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(content) > LARGEST_FILE_BYTES:
        raise PresetError(f"{label}: larger than {LARGEST_FILE_BYTES:,} bytes; this is no preset file")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PresetError(
            f"{label}: line {line}: found the byte 0x{content[error.start]:02x}, allowed: UTF-8 text"
        ) from None


def _parse(text: str, label: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except ValueError as error:
        reason, place = str(error), ""
        if found := re.fullmatch(r"(.*) \(at (line \d+, column \d+|end of document)\)", reason, re.DOTALL):
            reason, place = found.groups()
            if place == "end of document":
                lines = text.split("\n")
                place = f"line {len(lines)}, column {len(lines[-1]) + 1}"
            place += ": "
        raise PresetError(f"{label}: {place}not valid TOML: {reason}") from None


def _located(preset: Preset, path: Path, label: str) -> Preset:
    """The same preset, wherever the worker runs; it knows its file by `label`."""
    folder = path.absolute().parent
    data, model = preset.data, preset.model
    data_path = getattr(data, "path", None)
    if data_path is not None:
        data = structs.replace(data, path=str(_from(folder, data_path)))
    if isinstance(model, user_models.UserModel):
        file = _from(folder, model.file)
        if not file.is_file():
            allowed = f"the path of a Python file; there is none at {file}"
            raise PresetError(f"{label}: {WrongKeyError('model.file', model.file, allowed)}")
        model = structs.replace(model, file=str(file))
    return structs.replace(preset, data=data, model=model, read_from=label)


def _from(folder: Path, given: str) -> Path:
    """The absolute path that a file in that folder means."""
    try:
        return folder / Path(given).expanduser()
    except RuntimeError:  # A name of no user: the folder that it says, then.
        return folder / given


def _printable(label: str) -> str:
    return label if label.isprintable() else repr(label)
