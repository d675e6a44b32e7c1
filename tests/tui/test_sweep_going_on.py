"""`gputrain-tui sweep` stopped, gone on with, compared; and with real workers what fails in them."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import fake_sweep_worker
import user_presets
from fake_sweep_worker import asked
from fake_worker import until
from sweep_program import PROGRAM, REAL, load, preset, sweep
from terminal import Terminal


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "asked.log"


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv(fake_sweep_worker.LOG, str(log))
    # One thread's stack of the C library's own for each of many threads would fill the memory allowed.
    monkeypatch.setenv("MALLOC_ARENA_MAX", "1")


@contextmanager
def sweeping(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A sweep that has measured a point."""
    environment = {**os.environ, fake_sweep_worker.TAKES_S: "0.3"}
    with subprocess.Popen(
        [*PROGRAM, "sweep", *arguments],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        try:
            assert process.stderr is not None
            for line in process.stderr:
                if line.startswith("[2/"):
                    break
            yield process
        finally:
            process.kill()


def test_killed_in_the_middle_it_redoes_nothing(tmp_path: Path, log: Path) -> None:
    path = tmp_path / "x.json"
    one = preset(tmp_path, "one")
    what = (one, "--device", "cpu", "--over", "batch_size=8,16,32", "--runs", "10", "--json", str(path))
    with sweeping(*what) as process:
        process.send_signal(signal.SIGKILL)
        process.wait(20)
    before = load(path)
    measured = {point["settings"]["batch_size"]: point for point in before["points"]}
    assert not before["complete"] and set(measured) >= {8, 16}
    calls = len(asked(log))
    Path(one).unlink()  # The file tells all that is needed.
    done = sweep("--json", str(path), "--resume")
    assert done.returncode == 0, done.stderr
    after = load(path)
    assert after["complete"] and [p["rounds"] for p in after["points"]] == [2, 2, 2]
    assert [p["runs"] for p in after["points"]] == [10, 10, 10]
    for point in after["points"]:
        kept = measured.get(point["settings"]["batch_size"])
        if kept is not None:
            assert point["times"]["step"][: len(kept["times"]["step"])] == kept["times"]["step"]
    again = [batch for _, _, batch in asked(log)[calls:]]
    left = 6 - sum(point["rounds"] for point in before["points"])
    assert len(again) == left
    whole = sweep("--json", str(path), "--resume")
    assert whole.returncode == 0 and load(path) == after and len(asked(log)) == calls + left
    assert whole.stdout == done.stdout


def test_control_c_leaves_the_file_valid(tmp_path: Path, log: Path) -> None:
    path = tmp_path / "x.json"
    with sweeping(preset(tmp_path, "one"), "--over", "batch_size=8,16,32", "--json", str(path)) as process:
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert f"interrupted; `gputrain-tui sweep --json {path} --resume` goes on" in said
    assert not load(path)["complete"] and "not complete: " in out
    pids = [pid for pid, _, _ in asked(log)]
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


def test_resumed_with_its_grid_said_again(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    one = preset(tmp_path, "one")
    what = [one, "--over", "batch_size=8,16", "--runs", "4", "--json", str(path)]
    assert sweep(*what).returncode == 0
    assert sweep(*what, "--resume").returncode == 0
    again = sweep(*what)
    assert again.returncode == 2 and "exists already; --resume goes on from it" in again.stderr
    other = sweep(one, "--over", "batch_size=8,32", "--runs", "4", "--json", str(path), "--resume")
    assert other.returncode == 2 and "holds another grid" in other.stderr
    slower = sweep(one, "--over", "batch_size=8,16", "--runs", "9", "--json", str(path), "--resume")
    assert slower.returncode == 2 and "was begun with --runs 4, not 9" in slower.stderr


def test_what_failed_is_tried_again_on_demand(tmp_path: Path, log: Path) -> None:
    path = tmp_path / "x.json"
    killed = fake_sweep_worker.KILLED
    over = ("--over", f"batch_size=8,{killed}", "--runs", "4", "--json", str(path))
    assert sweep(preset(tmp_path, "one"), *over).returncode == 0
    calls = len(asked(log))
    assert sweep("--json", str(path), "--resume").returncode == 0
    assert len(asked(log)) == calls
    again = sweep("--json", str(path), "--resume", "--retry-failed")
    assert again.returncode == 0 and "failed: the worker killed by SIGKILL" in again.stdout
    assert [batch for _, _, batch in asked(log)[calls:]] == [killed]


def test_a_sweep_of_which_nothing_works_has_failed(tmp_path: Path) -> None:
    done = sweep(preset(tmp_path, "one"), "--set", "execution=graph", "--device", "cpu")
    assert done.returncode == 1
    assert "needs a CUDA GPU" in done.stderr and "failed" in done.stdout


def test_on_a_terminal_the_last_line_tells_how_far_it_is(tmp_path: Path) -> None:
    arguments = [*PROGRAM, "sweep", preset(tmp_path, "one"), "--over", "batch_size=8,16,32", "--runs", "4"]
    environment = {fake_sweep_worker.TAKES_S: "0.4"}
    with Terminal(arguments, columns=100, rows=60, environment=environment) as terminal:
        terminal.wait_for(r"one narrow, cuda:0, batch 16, training ━*.*1/3  about \d+ s left")
        shown = terminal.wait_for(r"least time per sample at batch 32")
        assert "one narrow, cuda:0, batch 8, training: 2.52 ms" in shown
        assert terminal.wait_end() == 0


def compare(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gputrain_tui", "compare", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_two_sweeps_are_compared_and_gated(tmp_path: Path) -> None:
    one, a, b = preset(tmp_path, "one"), tmp_path / "a.json", tmp_path / "b.json"
    what = (one, "--device", "cpu", "--over", "batch_size=8,1024", "--runs", "8")
    assert sweep(*what, "--json", str(a)).returncode == 0
    found = load(a)
    for ms in ("median", "min", "max"):
        found["points"][1]["step_ms"][ms] *= 2
    found["points"][1]["times"]["step"] = [2 * ms for ms in found["points"][1]["times"]["step"]]
    b.write_text(json.dumps(found))
    same = compare(a, a, "--fail-below", "0.99")
    assert same.returncode == 0 and "passed: at worst" in same.stdout
    assert "A, step ms" in same.stdout and "A, samples/s" in same.stdout
    # As the sweep itself says: 8 samples in 2.8 ms.
    assert same.stdout.split("batch 8, training", 1)[1].split()[:4] == ["2.80", "2.80", "2,857", "2,857"]
    assert "settings: the same" in same.stdout and "machine: the same" in same.stdout
    slower = compare(a, b, "--fail-below", "0.9")
    assert slower.returncode == 1
    assert "FAILED: at worst, one narrow, cpu, batch 1,024, training, samples/s is ×0.500" in slower.stdout
    assert compare(a, b).returncode == 0
    as_json = compare(a, b, "--json", "--fail-below", "0.9")
    rows = json.loads(as_json.stdout)["rows"]
    assert [row["ratio"]["ratio"] for row in rows] == pytest.approx([1.0, 0.5])
    assert as_json.returncode == 1 and "FAILED" in as_json.stderr
    found["points"][1] |= {"outcome": "out_of_memory", "ms": None, "times": {}}
    b.write_text(json.dumps(found))
    lost = compare(a, b, "--fail-below", "0.1")
    assert (
        lost.returncode == 1 and "batch 1,024, training was measured in A and is missing in B" in lost.stdout
    )


def test_a_sweep_and_a_recording_are_not_two_of_a_kind(tmp_path: Path) -> None:
    a, b = tmp_path / "a.json", tmp_path / "b.json"
    sweep(preset(tmp_path, "one"), "--runs", "2", "--json", str(a))
    b.write_text('{"schema": "gputrain-session", "version": 1}')
    done = compare(a, b)
    assert done.returncode == 2 and "a.json is a sweep and " in done.stderr
    assert "two of a kind can be compared" in done.stderr and done.stderr.count("\n") == 1


# ---------------------------------------------------------------------------- the real worker


def test_what_does_not_fit_into_memory_is_missing_and_its_neighbours_are_right(tmp_path: Path) -> None:
    """Activations of a layer of 20,000 units: 80 kB a sample, in a process that may take 1.2 GB."""
    path = tmp_path / "x.json"
    model = user_presets.MODEL.replace('"large": 32', '"large": 20_000')
    mine = user_presets.write(tmp_path, ("training_samples = 320", "training_samples = 40000"), model=model)

    def allow_little() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (1_200_000_000, 1_200_000_000))

    done = sweep(
        *(str(mine), "--device", "cpu", "--set", "model_size=large", "--set", "threads=1"),
        *("--over", "batch_size=2,4,20000,40000", "--runs", "3", "--warmup", "1", "--json", str(path)),
        program=REAL,
        preexec_fn=allow_little,
    )
    assert done.returncode == 0, done.stderr
    points = {point["settings"]["batch_size"]: point for point in load(path)["points"]}
    assert [points[batch]["outcome"] for batch in (2, 4)] == ["ok", "ok"], done.stdout
    assert all(points[batch]["runs"] == 3 and points[batch]["ms"]["median"] > 0 for batch in (2, 4))
    assert points[20000]["outcome"] == "out_of_memory"
    assert "cannot give another" in points[20000]["error"]
    assert points[40000]["error"] == "not tried: batch 20,000 did not fit already"
    assert "missing" in done.stdout


def test_a_point_that_hangs_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    model = user_presets.MODEL.replace(
        "    return Net(",
        "    if size == 'large':\n        import time\n        time.sleep(600)\n    return Net(",
    )
    mine = user_presets.write(tmp_path, model=model)
    done = sweep(
        *(str(mine), "--device", "cpu", "--over", "model_size=large,small", "--runs", "3", "--warmup", "1"),
        *("--point-seconds", "3", "--json", str(path)),
        program=REAL,
    )
    assert done.returncode == 0, done.stderr
    outcomes = {p["settings"]["model_size"]: (p["outcome"], p["error"]) for p in load(path)["points"]}
    assert outcomes == {"large": ("timed_out", "given up after 3 s"), "small": ("ok", None)}
