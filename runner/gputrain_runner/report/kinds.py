"""What a file is that a report is asked of: a session's recording or a sweep's result."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from ..documents import SWEEP
from ..recordings import UnreadableError

Kind = Literal["recording", "sweep"]

_SCHEMA = re.compile(rb'"schema"\s*:\s*"([^"]*)"')
_HEAD_BYTES = 4096


def kind_of(path: Path) -> Kind:
    """What it says it is; whatever says nothing is left to the reader of recordings to judge.

    Raises:
        UnreadableError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            found = _SCHEMA.search(file.read(_HEAD_BYTES))
    except FileNotFoundError:
        raise UnreadableError(f"{path}: there is no such file") from None
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}") from None
    return "sweep" if found is not None and found[1].decode(errors="replace") == SWEEP else "recording"
