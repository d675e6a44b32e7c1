"""The recordings of a folder: which are over, which go on, which have no end."""

from __future__ import annotations

from pathlib import Path

import pytest

from gputrain_runner.recordings.listing import about
from gputrain_runner.recordings.replay import open_replay
from past_recordings import EPYC, H200, record


@pytest.mark.parametrize(
    ("ends", "untouched_s", "being_written"),
    [(True, 60.0, False), (True, 0.0, False), (False, 60.0, False), (False, 0.0, True)],
)
def test_what_was_written_to_a_moment_ago_and_has_no_end_is_being_written(
    tmp_path: Path, ends: bool, untouched_s: float, being_written: bool
) -> None:
    path = record(tmp_path / "x.json", ends=ends, untouched_s=untouched_s)
    told = about(path)
    assert told.being_written is being_written
    assert (told.seconds is None) is not ends
    # The list says of it what opening it does.
    assert open_replay(path).following is being_written


def test_what_was_cut_off_a_moment_ago_is_not_being_written(tmp_path: Path) -> None:
    whole = record(tmp_path / "x.json", ends=False).read_bytes()
    path = tmp_path / "cut.json"
    path.write_bytes(whole[: len(whole) * 2 // 3])
    assert not about(path).being_written
    assert about(path).problem is None
    assert not open_replay(path).following


def test_the_device_is_told_by_name_and_as_pytorch_calls_it(tmp_path: Path) -> None:
    told = about(record(tmp_path / "x.json", device=H200))
    assert (told.device, told.torch_device) == (H200.name, "cuda:0")
    told = about(record(tmp_path / "y.json"))
    assert (told.device, told.torch_device) == (EPYC.name, "cpu")
