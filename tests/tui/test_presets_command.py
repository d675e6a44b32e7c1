"""`gputrain-tui presets`: the table, and the JSON list with every size counted as built."""

import json
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

import gputrain_presets
from gputrain_presets.spec import MlpModel
from gputrain_runner import process
from gputrain_tui.cli import main
from terminal import Terminal

FIGURE = {"hardware", "framework", "size", "batch_size", "passes", "value", "unit", "source"}
PROGRAM = Path(sys.executable).parent / "gputrain-tui"


def test_where_no_terminal_is_each_preset_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["presets"])

    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    header, *lines = out.splitlines()
    assert header.split() == ["name", "what", "it", "is", "sizes", "data", "batch", "parameters"]
    assert [line.split()[0] for line in lines[: len(gputrain_presets.names())]] == gputrain_presets.names()
    (lasagne,) = (line for line in lines if line.startswith("lasagne-mlp"))
    assert "1x15 x0.25 5x15 x0.5 1x150 x1* x2 5x150 x4 x8 x16" in lasagne
    assert lasagne.split()[-3:] == ["1,024", "17.1", "k"]
    assert "934,918 samples, synthetic" in lasagne
    assert gputrain_presets.load("lasagne-mlp").title in lasagne
    assert lines[-1].startswith("sizes of lasagne-mlp may also be DEPTHxWIDTH from 1x15 to 5x150, or ")


@pytest.mark.terminal
def test_a_narrow_terminal_shows_everything_too() -> None:
    with Terminal([str(PROGRAM), "presets"], columns=80, rows=60) as terminal:
        assert terminal.wait_end() == 0
        words = terminal.text.split()

    assert "…" not in terminal.text
    for name in gputrain_presets.names():
        preset = gputrain_presets.load(name)
        title = preset.title.removesuffix(f", batch {preset.batch_size}")
        assert f" {title} " in terminal.text
        assert {name, f"{preset.batch_size:,}"} <= set(words)
    sizes = gputrain_presets.load("lasagne-mlp").other_sizes
    assert sizes is not None and sizes in " ".join(words)
    # A word that the terminal itself had broken would begin a row of its own.
    assert "\nlayer by layer" in terminal.text


def test_json_has_the_counts_of_the_models_as_built() -> None:
    done = subprocess.run(
        [PROGRAM, "presets", "--json"], capture_output=True, text=True, timeout=120, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")
    listed = json.loads(done.stdout)
    assert [preset["name"] for preset in listed] == gputrain_presets.names()
    for preset in listed:
        source = gputrain_presets.load(preset["name"])
        facts = ["name", "title", "origin", "batch_size", "data", "sizes", "other_sizes", "published"]
        assert list(preset) == facts
        assert preset["other_sizes"] == source.other_sizes
        assert preset["batch_size"] == source.batch_size
        assert [size["name"] for size in preset["sizes"]] == source.size_names
        assert [size["name"] for size in preset["sizes"] if size["default"]] == [source.model.default_size]
        assert len(preset["published"]) == len(source.published)
        for figure in preset["published"]:
            assert set(figure) == FIGURE
    by_name = {preset["name"]: preset for preset in listed}
    (lasagne,) = (size for size in by_name["lasagne-mlp"]["sizes"] if size["default"])
    # 75-40-113-76-10: weights 75*40 + 40*113 + 113*76 + 76*10, two FLOPs each, and a bias for each unit.
    weights = 75 * 40 + 40 * 113 + 113 * 76 + 76 * 10
    assert lasagne == {
        "name": "x1",
        "default": True,
        "parameters": weights + 40 + 113 + 76 + 10,
        "tensors": 8,
        "forward_flops_per_sample": 2 * weights,
    }
    model = gputrain_presets.load("lasagne-mlp").model
    assert isinstance(model, MlpModel)
    counted = {size["name"]: size["parameters"] for size in by_name["lasagne-mlp"]["sizes"]}
    assert counted == {name: model.parameters(name) for name in counted}
    assert list(counted.values()) == sorted(counted.values())
    assert by_name["keras-mnist-mlp"]["data"] == {
        "kind": "digits",
        "training_samples": 60_000,
        "validation_samples": 10_000,
    }


def test_a_worker_that_cannot_count_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import sys; print('no such library', file=sys.stderr); sys.exit(3)"
    monkeypatch.setattr(process.WorkerProcess.__init__, "__defaults__", ((sys.executable, "-c", code),))

    exit_code = main(["presets", "--json"])

    out, err = capsys.readouterr()
    assert (exit_code, out) == (1, "")
    assert err == ("gputrain-tui presets: the worker exited with code 3; it said last: no such library\n")
    assert psutil.Process().children() == []
