"""Fixtures of the screens' and the commands' tests."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where recordings lie by default; none is there yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    folder = tmp_path / "gputrain-tui" / "sessions"
    folder.mkdir(parents=True)
    return folder
