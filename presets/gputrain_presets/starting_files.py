"""Files to start from: a copy of a built-in preset, or a preset with a model of the user's own."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

from .catalog import PresetError, names, shipped
from .explain import in_toml, nearest

OWN = "own"
"""In place of a preset's name: a preset file with a model's Python file beside it."""


def write(name: str, to: Path) -> list[Path]:
    """Write the files that a preset of one's own begins with; what was written, the preset's file first.

    Args:
        name: a built-in preset, or `OWN`.
        to: the preset's file, whose name ends in `.toml`. What is there already is left as it is.

    Raises:
        PresetError: there is no such preset, or a file cannot be written; one line that says which.
    """
    if not to.name.endswith(".toml") or not to.name.isprintable():
        raise PresetError(f"{in_toml(str(to))}: allowed: the path of a new file whose name ends in .toml")
    texts = _own(to) if name == OWN else {to: _copy(name, to)}
    for path in texts:
        if path.exists() or path.is_symlink():
            raise PresetError(f"{path}: is there already, and is not overwritten")
    for path, text in texts.items():
        _write(path, text)
    return list(texts)


def _own(to: Path) -> dict[Path, str]:
    beside = to.with_name(f"{to.stem}_model.py")
    words = {"file": to.name, "name": _preset_name(to) or OWN, "model_file": beside.name}
    return {to: _filled("own_preset.txt", words), beside: _filled("own_model.txt", words)}


def _copy(name: str, to: Path) -> str:
    try:
        preset, text = shipped(name)
    except PresetError:
        near = nearest(name, [*names(), OWN])
        hint = f"did you mean {near!r}?" if near else f"there are {', '.join([*names(), OWN])}"
        raise PresetError(f"no preset is called {in_toml(name)}; {hint}") from None
    if own := _preset_name(to):
        text = _replaced("name", own, text)
    text = _replaced("default_size", preset.model.default_size, text)
    return _filled("copy.txt", {"preset": name, "file": to.name}) + text


def _replaced(key: str, value: str, text: str) -> str:
    """The text with another value for the first such key, which is a text in quotes."""
    return re.sub(rf'^{key} = ".*"$', f'{key} = "{value}"', text, count=1, flags=re.MULTILINE)


def _preset_name(to: Path) -> str | None:
    """The file's name as a preset's, so that its recordings are told apart; None where it cannot be one."""
    stem = to.name.removesuffix(".toml")
    return stem if re.fullmatch(r"[\w.+-]{1,60}", stem) else None


def _filled(file: str, words: dict[str, str]) -> str:
    """One of the texts in `starting`, each `{word}` replaced."""
    text = (resources.files(__package__) / "starting" / file).read_text(encoding="utf-8")
    for word, value in words.items():
        text = text.replace(f"{{{word}}}", value)
    return text


def _write(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileNotFoundError:
        raise PresetError(f"{path}: there is no folder {path.parent}") from None
    except OSError as error:
        raise PresetError(f"{path}: cannot be written: {error.strerror}") from None
