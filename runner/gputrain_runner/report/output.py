"""Where a report goes: a file that is whole or not there, and never one that was there before."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO


class OutputError(Exception):
    """A report that cannot be written; the text is one line for the user."""


@contextmanager
def new_file(path: Path, *, replace: bool = False) -> Iterator[TextIO]:
    """A text file to write to, in place under its name once all is written.

    Raises:
        OutputError: there is such a file and it is not to be replaced, or it cannot be written.
    """
    if path.is_dir():
        raise OutputError(f"{path} is a folder")
    if not replace and (path.exists() or path.is_symlink()):
        raise OutputError(f"{path} is there already; --force replaces it")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("x", encoding="utf-8", newline="") as file:
            yield file
        _move(part, path, replace)
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _move(part: Path, path: Path, replace: bool) -> None:
    if replace:
        part.replace(path)
        return
    try:
        path.hardlink_to(part)  # Unlike a rename this fails where somebody has made the file meanwhile.
    except FileExistsError:
        raise OutputError(f"{path} is there already; --force replaces it") from None
    except OSError:  # A file system without hard links.
        part.rename(path)
