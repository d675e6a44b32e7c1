"""`gputrain-tui sweep` as users run it, by a worker that answers at once: grid, tables, files, mistakes."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

import fake_sweep_worker
from gputrain_tui import cli
from sweep_program import load, preset, sweep


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


def test_the_published_layout(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    done = sweep(
        *(preset(tmp_path, "one"), preset(tmp_path, "two"), "--device", "cuda,cpu"),
        *("--passes", "forward,training", "--over", "batch_size=8,2048", "--runs", "4", "--json", str(path)),
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    at = lines.index("batch 8, ms: median of 4 steps")
    assert lines[at + 1].index("a GPU") < lines[at + 1].index("a CPU")
    assert lines[at + 2].split() == ["net", *["forward", "forward+backward"] * 2]
    # 2.8 ms a step: a third of it forward, nine tenths forward and backward.
    assert lines[at + 3].split() == ["one", "narrow", *["0.933", "2.52"] * 2]
    assert lines[at + 4].split() == ["two", "narrow", *["0.933", "2.52"] * 2]
    at = lines.index("batch 2,048, ms")
    assert lines[at + 3].split() == ["one", "narrow", *["missing"] * 4]
    assert done.stderr.splitlines()[0] == f"16 points, 1 round; {path}"
    assert "[1/16] one narrow, cuda:0, batch 8, forward: 0.9333 ms" in done.stderr
    assert "missing: not tried: passes forward did not fit already" in done.stdout


def test_the_file_as_promised(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    one = preset(tmp_path, "one")
    sweep(one, "--device", "cpu", "--over", "batch_size=8,16,32", "--runs", "4", "--json", str(path))
    found = load(path)
    assert found["schema"] == "gputrain-sweep" and found["version"] == 1 and found["complete"]
    assert set(found) >= {"host", "devices", "points", "fits"}
    assert found["command"][:3] == ["gputrain-tui", "sweep", one]
    point = found["points"][0]
    assert set(point) >= {
        *("preset", "settings", "passes", "outcome", "error", "runs", "ms", "samples_per_s"),
        *("ms_per_sample", "peak_memory_bytes", "flops_per_s", "noisy"),
    }
    assert set(point["ms"]) == {"median", "iqr", "min", "max"}
    (fit,) = found["fits"]
    assert fit["a_ms"] == pytest.approx(1.8) and fit["c_ms"] == pytest.approx(0.09)
    assert fit["half"] == pytest.approx(20.0) and fit["best"] == 32


def test_what_the_curve_over_batch_sizes_says(tmp_path: Path) -> None:
    done = sweep(preset(tmp_path, "one"), "--device", "cpu", "--over", "batch_size=8,16,32", "--runs", "4")
    assert "one narrow on cpu, forward+backward; samples/s by the whole step" in done.stdout
    lines = done.stdout.splitlines()
    at = next(n for n, line in enumerate(lines) if line.split()[:2] == ["batch", "ms"])
    assert " ".join(lines[at].split()) == "batch ms IQR ms/sample whole step ms samples/s peak memory"
    # 2.52 ms forward and backward, 2.8 ms with data, copy and optimizer.
    assert lines[at + 1].split()[:7] == ["8", "2.52", "0.0", "%", "0.315", "2.80", "2,857"]
    assert "t(b) = 1.80 ms + 0.0900 ms · b, within 0.0 %; n1/2 = 20" in done.stdout
    assert "least time per sample at batch 32" in done.stdout
    assert "o forward+backward" in done.stdout
    assert "net " not in done.stdout  # One net: the table by batch sizes holds it all.


def test_csv_has_a_row_for_each_point(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    sweep(preset(tmp_path, "one"), "--device", "cpu", "--over", "batch_size=8,2048", "--csv", str(path))
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    assert [row["batch_size"] for row in rows] == ["8", "2048"]
    assert float(rows[0]["step_ms_median"]) == pytest.approx(2.8)
    assert rows[0]["runs"] == "100" and rows[0]["noisy"] == "False" and rows[0]["error"] == ""
    assert rows[1]["outcome"] == "out_of_memory" and rows[1]["step_ms_median"] == ""


def test_without_a_path_it_goes_among_the_sweeps(tmp_path: Path) -> None:
    sweep(preset(tmp_path, "one"), preset(tmp_path, "two"), "--runs", "2")
    (path,) = (tmp_path / "state" / "gputrain-tui" / "sweeps").iterdir()
    assert path.name.endswith("-one-and-1-more.json")
    assert load(path)["points"][0]["settings"]["device"] == "cuda:0"  # The best there is.


def test_a_value_is_for_the_presets_that_know_it(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    files = (
        preset(tmp_path, "one", "narrow"),
        preset(tmp_path, "two", "slim"),
        preset(tmp_path, "two", "thin"),
    )
    over = ("--over", "model_size=narrow,wide,slim", "--device", "cpu", "--runs", "2", "--json", str(path))
    done = sweep(*files, *over)
    assert done.returncode == 0, done.stderr
    shown = [(p["preset"], p["settings"]["model_size"]) for p in load(path)["points"]]
    other = f"two ({files[2]})"
    assert shown == [("one", "narrow"), ("one", "wide"), ("two", "wide"), ("two", "slim"), (other, "wide")]


def test_presets_that_know_none_of_the_values_say_so(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    files = (preset(tmp_path, "one", "narrow"), preset(tmp_path, "two", "slim"))
    over = ("--over", "model_size=slim", "--set", "batch_size=4", "--runs", "2", "--json", str(path))
    done = sweep(*files, *over)
    assert "one: --over model_size has no value that it can take; it stays as it starts" in done.stderr
    assert [p["settings"]["model_size"] for p in load(path)["points"]] == ["narrow", "slim"]
    assert {p["settings"]["batch_size"] for p in load(path)["points"]} == {4}


def test_all_means_the_whole_ladder(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    every = ("--over", "model_size=all", "--over", "precision=all", "--device", "cuda:0")
    sweep(preset(tmp_path, "one"), *every, "--runs", "2", "--json", str(path))
    shown = [(p["settings"]["model_size"], p["settings"]["precision"]) for p in load(path)["points"]]
    assert len(shown) == 8 and ("wide", "bf16") in shown and ("narrow", "tf32") in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "a preset is missing"),
        (["nothing-like-it"], "no preset is called"),
        (["ONE", "--over", "batch_size"], "allowed: NAME=VALUE"),
        (["ONE", "--over", "batch_size=0"], "--over batch_size: found '0'"),
        (["ONE", "--over", "batch_size=8,,9"], "--over batch_size: a value is missing"),
        (["ONE", "--over", "batch_size=8", "--set", "batch_size=9"], "batch_size is given twice"),
        (["ONE", "--over", "size=8"], "no setting is called 'size'"),
        (["ONE", "--over", "model_size=huge"], "found 'huge', allowed: narrow, wide"),
        (["ONE", "--set", "memory_format=channels_last"], "memory format has no meaning for one"),
        (["ONE", "--over", "device=cpu,cuda"], "that is what --device does"),
        (["ONE", "--device", "gpu"], "--device: found 'gpu', allowed: cpu, cuda or cuda:NUMBER, several"),
        (["ONE", "--passes", "backward"], "--passes: found 'backward', allowed: forward, training"),
        (["ONE", "--runs", "1"], "--runs: found '1'"),
        (["ONE", "--batch-size", "8"], "did you mean '--over batch_size=N'"),
        (["ONE", "--data", "/nowhere"], "none of these presets reads files"),
        (["ONE", "--json", "/nowhere/x.json"], "there is no folder /nowhere"),
        (["ONE", "--json", "/"], "is a folder: name a file in it"),
        (["ONE", "--csv", "/nowhere/x.csv"], "--csv: there is no folder /nowhere"),
        (["ONE", "--json", "-"], "allowed: the path of a file"),
        (["ONE", "--resume"], "name the sweep's file"),
        (["ONE", "--retry-failed"], "--retry-failed goes with --resume"),
        (["--json", "/nowhere.json", "--resume"], "--resume: /nowhere.json: No such file"),
        (["--json", "x", "--resume", "--runs", "5"], "--runs: a sweep is gone on with as it was begun"),
        (["ONE", "--over", "batch_size=all"], "found 'all'"),
    ],
)
def test_wrong_command_lines_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    one = preset(tmp_path, "one")
    code = cli.main(["sweep", *(one if word == "ONE" else word for word in arguments)])
    out, err = capsys.readouterr()
    assert code == 2 and out == ""
    assert err.startswith("gputrain-tui sweep: ") and said in err and err.count("\n") == 1


def test_a_device_that_is_not_there_is_a_wrong_command_line(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    done = sweep(preset(tmp_path, "one"), "--device", "cuda:7", "--json", str(path))
    assert done.returncode == 2 and done.stdout == "" and not path.exists()
    last = done.stderr.splitlines()[-1]
    assert last == "gputrain-tui sweep: there is no device cuda:7; there are cuda:0, cpu"


def test_more_points_than_anyone_wants_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    batches = ",".join(str(number) for number in range(1, 200))
    workers = ",".join(str(number) for number in range(60))
    over = ("--over", f"batch_size={batches}", "--over", f"workers={workers}")
    assert cli.main(["sweep", preset(tmp_path, "one"), *over]) == 2
    assert "that is 11,940 points, allowed: 10,000" in capsys.readouterr().err
