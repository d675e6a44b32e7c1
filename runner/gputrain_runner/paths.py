"""Where things are kept by default: recordings, and what the probe found."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import platformdirs

from .recorder import RecordingError

_APP = "gputrain-tui"


def sessions_folder() -> Path:
    """The folder of recordings, which need not exist: below $XDG_STATE_HOME where that is set."""
    return _state_folder() / "sessions"


def probes_folder() -> Path:
    """The folder of what the probe found on this machine, which need not exist; beside the recordings."""
    return _state_folder() / "probes"


def sweeps_folder() -> Path:
    """The folder of sweeps, which need not exist; beside the recordings."""
    return _state_folder() / "sweeps"


def _state_folder() -> Path:
    state_home = os.environ.get("XDG_STATE_HOME", "")
    # platformdirs heeds the variable on Linux alone; a relative path in it is to be ignored.
    if Path(state_home).is_absolute():
        return Path(state_home) / _APP
    return platformdirs.user_state_path(_APP, appauthor=False)


def default_path(started_at: datetime, preset_name: str) -> Path:
    """A path for a new recording in the default place, named by start time (UTC) and preset.

    Creates the folder, for its owner alone, where it is missing.

    Raises:
        RecordingError: the folder cannot be created.
    """
    folder = sessions_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise RecordingError(
            f"{folder}: {error.strerror}: set XDG_STATE_HOME to a folder that can be written to"
        ) from None
    stem = f"{started_at.astimezone(UTC):%Y-%m-%dT%H-%M-%S}-{preset_name}"
    names = (folder / f"{stem}{suffix}.json" for suffix in _suffixes())
    return next(path for path in names if not path.exists() and not path.is_symlink())


def _suffixes() -> Iterator[str]:
    yield ""
    for number in count(2):
        yield f"-{number}"
