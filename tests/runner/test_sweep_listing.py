"""The sweeps in a folder, and going on with one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec import structs, to_builtins

from fake_sweep_worker import plan, tiny
from gputrain_runner.options import AUTO
from gputrain_runner.settings import Settings
from gputrain_runner.sweep import Plan, PointResult, SweepFile, save
from gputrain_runner.sweep.job import Job, JobError, new_path, resumed_job
from gputrain_runner.sweep.listing import swept
from gputrain_runner.sweep.reckoning import nothing
from gputrain_runner.timeline import Host


def result(settings: Settings, outcome: str = "failed") -> PointResult:
    (point,) = plan(settings.batch_size).points
    return structs.replace(nothing(point, "failed", "no luck"), outcome=outcome)


def sweep(wanted: Plan, started_at: str = "2026-11-30T10:00:00.000+00:00", **fields: object) -> SweepFile:
    host = Host(os="Linux", cpu="a CPU", cores=2, memory_bytes=1, python="3.11", over_ssh=False)
    whole = SweepFile(
        started_at=started_at,
        host=host,
        planned=len(wanted.points),
        runs=wanted.runs,
        warmup=1,
        rounds=1,
        points=[result(point.settings) for point in wanted.points[:1]],
        presets={"tiny": to_builtins(tiny())},
        plan=wanted,
    )
    return structs.replace(whole, **fields)


def test_newest_first_without_their_figures(tmp_path: Path) -> None:
    save(tmp_path / "a.json", sweep(plan(8, 16)))
    save(tmp_path / "b.json", sweep(plan(8), "2026-12-01T10:00:00.000+00:00", complete=True))
    (tmp_path / "c.json").write_text('{"schema": "gputrain-session"}')
    (tmp_path / "d.json").write_bytes(b"\xff")
    (tmp_path / ".a.json.new").write_text("half of")
    (tmp_path / "notes.txt").write_text("not mine")
    found = {each.path.name: each for each in swept(tmp_path)}
    assert list(found)[-2:] == ["b.json", "a.json"] and set(found) == {"a.json", "b.json", "c.json", "d.json"}
    a = found["a.json"]
    assert (a.presets, a.devices, a.measured, a.planned, a.complete) == (["tiny"], ["cpu"], 1, 2, False)
    assert found["b.json"].complete and found["b.json"].problem is None
    assert found["c.json"].problem is not None and found["d.json"].problem is not None


def test_a_folder_that_is_not_there_has_none(tmp_path: Path) -> None:
    assert swept(tmp_path / "nowhere") == []


def test_a_file_tells_all_that_is_needed_to_go_on(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    wanted = plan(8, 16)
    save(path, sweep(wanted))
    job = resumed_job(path)
    assert job.plan == wanted and job.presets == {"tiny": tiny()}
    assert job.resumed is not None and len(job.resumed.points) == 1
    retried = resumed_job(path, retry_failed=True).resumed
    assert retried is not None and retried.points == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"plan": None}, "does not say what is still to be measured"),
        ({"presets": {}}, "it lacks the preset tiny"),
        ({"presets": {"tiny": {"name": "tiny"}}}, "a preset in it is not known to this version"),
    ],
)
def test_a_file_that_cannot_be_gone_on_with_is_one_line(
    tmp_path: Path, change: dict[str, object], said: str
) -> None:
    path = tmp_path / "x.json"
    save(path, sweep(plan(8)))
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(JobError, match=said) as refused:
        resumed_job(path)
    assert "\n" not in str(refused.value)


def test_whether_a_grid_is_the_jobs(tmp_path: Path) -> None:
    job = Job(plan(8, 16, device="cuda:0"), {"tiny": tiny()}, tmp_path / "x.json")
    assert job.is_of(plan(8, 16, device="cuda:0").points, {"tiny": tiny()})
    assert job.is_of(plan(8, 16, device=AUTO).points, {"tiny": tiny()})
    assert job.is_of(job.plan.points, {"tiny": tiny(default_size="large")})
    assert not job.is_of(plan(8, 16).points, {"tiny": tiny()})
    assert not job.is_of(plan(8, device="cuda:0").points, {"tiny": tiny()})
    other = structs.replace(tiny(), batch_size=9)
    assert not job.is_of(job.plan.points, {"tiny": other})


def test_two_sweeps_of_a_second_have_two_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    paths = set()
    for _ in range(3):
        path = new_path(plan(8))
        path.write_text("{}")
        paths.add(path)
    assert len(paths) == 3 and all(path.name.endswith(".json") for path in paths)
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/nowhere")
    with pytest.raises(JobError, match="set XDG_STATE_HOME"):
        new_path(plan(8))
