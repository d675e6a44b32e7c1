"""Sweeps being run, by a worker that answers at once."""

from __future__ import annotations

import json
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs

from fake_session import FakeTelemetry
from fake_sweep_worker import (
    CRASHED,
    FAILS,
    HANGS,
    KILLED,
    REFUSES,
    asked,
    fake_worker,
    plan,
    step_ms,
    tiny,
)
from fake_worker import until
from gputrain_runner.ceilings import Ceilings, Figure
from gputrain_runner.options import AUTO
from gputrain_runner.sweep import (
    Listener,
    Plan,
    PointResult,
    Progress,
    Surroundings,
    Sweep,
    SweepError,
    SweepFile,
    load,
)

Run = Callable[..., SweepFile]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "asked.log"


@pytest.fixture
def run(tmp_path: Path, log: Path) -> Run:
    """Runs a plan to its end, in the file x.json."""

    def run_it(wanted: Plan, resumed: SweepFile | None = None, **options: object) -> SweepFile:
        options.setdefault("around", Surroundings(start=fake_worker(log)))
        path = tmp_path / "x.json"
        return Sweep(wanted, {"tiny": tiny()}, path, resumed=resumed, **options).run()  # type: ignore[arg-type]

    return run_it


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def outcomes(sweep: SweepFile) -> dict[int, str]:
    return {point.settings.batch_size: point.outcome for point in sweep.points}


def test_every_figure_of_a_point(run: Run) -> None:
    (point,) = run(plan(8, runs=4)).points
    whole = step_ms(point.settings)
    assert (point.preset, point.passes, point.outcome, point.error) == ("tiny", "training", "ok", None)
    assert (point.runs, point.rounds) == (4, 1)
    assert point.step_ms is not None and point.forward_ms is not None and point.ms is not None
    assert point.step_ms.median == pytest.approx(whole)
    assert point.ms == point.forward_backward_ms and point.ms.median == pytest.approx(whole * 0.9)
    assert point.forward_ms.median == pytest.approx(whole / 3, abs=1e-4)
    assert point.ms.iqr == 0 and not point.noisy
    assert point.samples_per_s == pytest.approx(8 / whole * 1e3)
    assert point.ms_per_sample == pytest.approx(whole / 8)
    assert point.peak_memory_bytes == 8000
    assert point.flops_per_s == pytest.approx(8 / whole * 1e3 * 1000)
    assert point.share_of_ceiling is None and point.telemetry is None
    assert point.actual == point.settings
    assert point.times.step == [whole] * 4


def test_forward_alone_has_no_backward(run: Run) -> None:
    wanted = plan(8)
    forward = structs.replace(
        wanted,
        points=[
            structs.replace(p, settings=p.settings.with_value("passes", "forward")) for p in wanted.points
        ],
    )
    (point,) = run(forward).points
    assert point.ms == point.forward_ms and point.forward_backward_ms is None
    assert point.times.forward_backward == []


def test_each_point_of_each_round_has_a_process_of_its_own(run: Run, log: Path) -> None:
    sweep = run(plan(8, 16, runs=6, rounds=3))
    calls = asked(log)
    assert [batch for _, _, batch in calls] == [8, 16, 8, 16, 8, 16]
    assert len({pid for pid, _, _ in calls}) == 6
    assert [(point.runs, point.rounds) for point in sweep.points] == [(6, 3), (6, 3)]


def test_nothing_is_left_open_behind_a_point(run: Run) -> None:
    run(plan(8))
    before = open_files()
    run(plan(8, 16, 32, rounds=2))
    until(lambda: open_files() <= before)


def test_one_process_can_do_them_all(run: Run, log: Path) -> None:
    run(plan(8, 16, 32, rounds=2, shared=True))
    assert len({pid for pid, _, _ in asked(log)}) == 1


def test_larger_batches_than_one_that_did_not_fit_are_not_tried(run: Run, log: Path) -> None:
    sweep = run(plan(512, 1024, 2048, 4096, 8192, rounds=2))
    assert outcomes(sweep) == {
        512: "ok",
        1024: "ok",
        2048: "out_of_memory",
        4096: "out_of_memory",
        8192: "out_of_memory",
    }
    assert [batch for _, _, batch in asked(log)] == [512, 1024, 2048, 512, 1024]
    errors = {point.settings.batch_size: point.error for point in sweep.points}
    assert errors[2048] == "out of memory: needs another 1 GB"
    assert errors[4096] == "not tried: batch 2,048 did not fit already"
    for point in sweep.points[:2]:
        assert point.ms is not None and point.ms.median == pytest.approx(0.9 * step_ms(point.settings))
    for point in sweep.points[2:]:
        assert point.ms is None and point.samples_per_s is None and point.runs == 0


@pytest.mark.parametrize("shared", [False, True])
def test_whatever_becomes_of_a_point_the_sweep_goes_on(run: Run, shared: bool) -> None:
    batches = (8, KILLED, CRASHED, HANGS, REFUSES, FAILS, 700)
    sweep = run(plan(*batches, point_seconds=0.5, shared=shared))
    assert outcomes(sweep) == {
        8: "ok",
        KILLED: "failed",
        CRASHED: "failed",
        HANGS: "timed_out",
        REFUSES: "failed",
        FAILS: "failed",
        700: "ok",
    }
    errors = {point.settings.batch_size: point.error or "" for point in sweep.points}
    assert "killed by SIGKILL" in errors[KILLED] and f"last words before {KILLED}" in errors[KILLED]
    assert "SIGSEGV" in errors[CRASHED]
    assert errors[HANGS] == "given up after 0.5 s"
    assert errors[REFUSES] == "the loss is no number"
    assert errors[FAILS] == "the device fell off the bus"
    assert sweep.complete


def test_killed_for_want_of_memory_is_out_of_memory(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = iter(range(100))
    monkeypatch.setattr("gputrain_runner.sweep.measuring._oom_kills", lambda: next(counted))
    assert outcomes(run(plan(KILLED)))[KILLED] == "out_of_memory"


def test_settings_that_cannot_work_fail_at_once_with_the_reason(run: Run, log: Path) -> None:
    wanted = plan(8)
    graph = structs.replace(
        wanted.points[0], settings=wanted.points[0].settings.with_value("execution", "graph")
    )
    old_gpu = structs.replace(
        wanted.points[0],
        settings=structs.replace(wanted.points[0].settings, device="cuda:0", precision="bf16"),
    )
    sweep = run(structs.replace(wanted, points=[graph, old_gpu, *wanted.points]))
    assert [point.outcome for point in sweep.points] == ["failed", "failed", "ok"]
    assert "needs a CUDA GPU" in (sweep.points[0].error or "")
    assert "needs compute capability 8.0" in (sweep.points[1].error or "")
    assert len(asked(log)) == 1


def test_the_file_is_whole_after_each_point(run: Run, tmp_path: Path) -> None:
    seen: list[int] = []

    def look(result: PointResult, progress: Progress) -> None:
        on_disk = json.loads((tmp_path / "x.json").read_text())
        assert on_disk["schema"] == "gputrain-sweep" and on_disk["version"] == 1
        assert not on_disk["complete"] and on_disk["planned"] == 3
        assert on_disk["points"][-1]["settings"]["batch_size"] == result.settings.batch_size
        seen.append(len(on_disk["points"]))

    done = run(plan(8, 16, 2048), listener=Listener(measured=look))
    assert seen == [1, 2, 3]
    path = tmp_path / "x.json"
    assert load(path) == done and done.complete
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.glob("*x.json*")] == ["x.json"]


def test_a_sweep_that_is_gone_on_with_redoes_nothing(run: Run, log: Path, tmp_path: Path) -> None:
    stop = threading.Event()

    def look(_result: PointResult, progress: Progress) -> None:
        if progress.done == 5:
            stop.set()

    wanted = plan(8, 16, 2048, KILLED, rounds=2, runs=4)
    with pytest.raises(KeyboardInterrupt):
        run(wanted, listener=Listener(measured=look), interrupted=stop.is_set)
    before = load(tmp_path / "x.json")
    assert not before.complete and [p.rounds for p in before.points] == [2, 1, 1, 1]
    calls = len(asked(log))
    done = run(wanted, resumed=before)
    assert [batch for _, _, batch in asked(log)[calls:]] == [16]
    assert done.complete and done.started_at == before.started_at
    assert [(p.runs, p.rounds) for p in done.points[:2]] == [(4, 2), (4, 2)]
    assert done.points[0] == before.points[0] and done.points[2:] == before.points[2:]
    assert done.points[1].times.step[:2] == before.points[1].times.step
    assert run(wanted, resumed=done) == done
    assert len(asked(log)) == calls + 1


def test_points_of_another_grid_are_not_gone_on_with(run: Run) -> None:
    other = run(plan(8, 16))
    with pytest.raises(SweepError, match=r"holds points of another grid .*batch 16") as refused:
        run(plan(8, 32), resumed=other)
    assert refused.value.usage


def test_no_device_named_means_the_best(run: Run) -> None:
    (point,) = run(plan(8, device=AUTO)).points
    assert point.settings.device == "cuda:0"


def test_a_worker_that_does_not_start_is_one_line(run: Run) -> None:
    from gputrain_runner.process import WorkerProcess

    def broken() -> WorkerProcess:
        return WorkerProcess(["/bin/sh", "-c", "echo no such module; exit 3", "sh"])

    with pytest.raises(SweepError, match="ended before PyTorch was loaded; it said last: no such module"):
        run(plan(8), around=Surroundings(start=broken))


def test_progress_counts_every_measurement_and_tells_the_time_left(run: Run) -> None:
    told: list[Progress] = []
    run(plan(8, 16, 2048, rounds=2), listener=Listener(measured=lambda _r, progress: told.append(progress)))
    assert [(each.done, each.of, each.round) for each in told] == [
        (1, 6, 1),
        (2, 6, 1),
        (3, 6, 1),
        (4, 6, 2),
        (5, 6, 2),
    ]
    assert all(each.left_s is not None and each.left_s >= 0 for each in told)
    assert told[-1].left_s == 0


def test_ceilings_and_telemetry_stand_beside_the_times(run: Run, log: Path) -> None:
    telemetry = FakeTelemetry()
    rate = Figure(median=1e6, q25=1e6, q75=1e6, repeats=9)
    ceilings = Ceilings(
        device="cpu", uuid=None, measured_at="", torch="2.99", driver=None, matmul_flops_per_s={"fp32": rate}
    )
    around = Surroundings(telemetry, lambda _devices, _host: {"cpu": ceilings}, fake_worker(log))
    (point,) = run(plan(8), around=around).points
    assert point.flops_per_s is not None
    assert point.share_of_ceiling == pytest.approx(point.flops_per_s / 1e6)
    assert not point.ceiling_noisy
    assert telemetry.watched[-1] == asked(log)[-1][0]
    assert telemetry.focused[-1] == frozenset()
