"""A user's own model through the commands: a run, wrong files, and files to start from."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

import gputrain_presets
from gputrain_tui.cli import main
from user_presets import MODEL, with_files, write

BUILT_IN = Path(gputrain_presets.__file__).parent


def said_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line on stderr with which a command refuses, after the command's name."""
    code = main(arguments)
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert err.count("\n") == 1, err
    return err.rstrip("\n").removeprefix(f"gputrain-tui {arguments[0]}: ")


# ------------------------------------------------------------------------------ run


def test_a_users_model_trains_and_changes_on_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, model=f"print('hello from the model')\n{MODEL}")
    monkeypatch.chdir(tmp_path)
    changes = ["--at", "100:batch_size=64", "--at", "200:model_size=large", "--at", "300:data_path=resident"]

    code = main(["run", "./mine.toml", "--steps", "400", *changes, "--record", "x.json", "--json"])

    out, _ = capsys.readouterr()
    summary, recording = json.loads(out), json.loads((tmp_path / "x.json").read_text())
    assert code == 0
    assert (summary["ended"], summary["steps"], summary["changes"]) == ("finished", 400, 3)
    assert summary["loss_last"] < summary["loss_first"]
    preset = recording["session"]["preset"]
    assert (preset["name"], preset["read_from"]) == ("mine", "./mine.toml")
    assert preset["model"]["file"] == str(tmp_path / "my_model.py")
    settings = [entry["settings"] for entry in recording["timeline"] if entry["kind"] == "sample"]
    assert (settings[-1]["batch_size"], settings[-1]["model_size"]) == (64, "large")


def test_a_users_files_are_trained_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, preset=with_files())
    labels = np.arange(200) % 4
    np.save(tmp_path / "y.npy", labels)
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(labels[:, None, None], 0.1, (200, 3, 4)))
    monkeypatch.chdir(tmp_path)

    code = main(["run", "mine.toml", "--epochs", "40", "--json"])

    out, err = capsys.readouterr()
    summary = json.loads(out)
    assert code == 0, err
    assert f"x.npy and y.npy in {tmp_path}: 150 + 50 samples of (3, 4) float32" in err
    assert summary["validation"]["accuracy"] > 0.9


@pytest.mark.parametrize(
    ("edit", "model", "said"),
    [
        (
            ('"my_model.py"', '"none.py"'),
            MODEL,
            "model.file: found 'none.py', allowed: the path of a Python f",
        ),
        (('"random"', '"randon"'), MODEL, "data.kind: found 'randon', allowed: "),
        (
            ("", ""),
            f"import nosuch\n{MODEL}",
            "model.file: my_model.py:1: ModuleNotFoundError: No module named",
        ),
        (('"make"', '"mkae"'), MODEL, "model.build: my_model.py has no 'mkae'; did you mean 'make'?"),
        (("", ""), MODEL.replace("[size]", "['x']"), "model.build: my_model.py:17 in make: KeyError: 'x'"),
        (
            ("[3, 4]", "[3, 5]"),
            MODEL,
            "model.build: inputs (2, 3, 5) float32: my_model.py:13 in forward: Runt",
        ),
        (
            ('"CrossEntropyLoss"', '"CrossEntropy"'),
            MODEL,
            "loss.name: torch.nn has no 'CrossEntropy'; did you",
        ),
        (('"AdamW"', '"AdamV"'), MODEL, "optimizer.name: torch.optim has no 'AdamV'; did you mean 'Adam'?"),
        (
            ("", ""),
            MODEL.replace(".relu()", ".log()"),
            "model.build: outputs that are not finite, of inputs t",
        ),
    ],
    ids=[
        "no module",
        "no such kind",
        "import",
        "no function",
        "build raises",
        "shapes",
        "no loss",
        "no optimizer",
        "nan",
    ],
)
def test_a_wrong_file_is_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    edit: tuple[str, str],
    model: str,
    said: str,
) -> None:
    write(tmp_path, *([edit] if edit[0] else []), model=model)
    monkeypatch.chdir(tmp_path)

    assert said_of(capsys, "run", "./mine.toml", "--steps", "3").startswith(f"./mine.toml: {said}")


@pytest.mark.parametrize("wrong", ["missing", "counts"])
def test_a_wrong_data_file_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], wrong: str
) -> None:
    write(tmp_path, preset=with_files())
    monkeypatch.chdir(tmp_path)
    np.save(tmp_path / "y.npy", np.arange(40) % 4)
    if wrong == "counts":
        np.save(tmp_path / "x.npy", np.zeros((41, 3, 4)))

    said = said_of(capsys, "run", "mine.toml", "--steps", "3")

    key, reason = {
        "missing": (f"data.inputs: {tmp_path / 'x.npy'}", "there is no such file"),
        "counts": ("data.targets", "y.npy holds 40 samples, x.npy 41; allowed: as many"),
    }[wrong]
    assert said.startswith(f"mine.toml: {key}: {reason}")


# -------------------------------------------------------------------------- presets


def test_a_users_preset_is_counted_as_built(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["presets", str(write(tmp_path)), "--json"])

    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    (preset,) = json.loads(out)
    assert preset["name"] == "mine"
    assert [(size["name"], size["default"], size["parameters"]) for size in preset["sizes"]] == [
        ("small", True, 140),
        ("large", False, 548),
    ]


def test_a_users_preset_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["presets", str(write(tmp_path, preset=with_files())), "lasagne-mlp"])

    out, _ = capsys.readouterr()
    assert code == 0
    _, mine, lasagne, *_ = out.splitlines()
    assert mine.split()[0] == "mine"
    assert f"x.npy and y.npy in {tmp_path}" in mine
    assert lasagne.split()[0] == "lasagne-mlp"


@pytest.mark.parametrize("name", gputrain_presets.names())
def test_a_copy_is_the_preset_with_its_comments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    monkeypatch.chdir(tmp_path)

    code = main(["presets", "--copy", name, "mine.toml"])

    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    assert out.splitlines() == ["wrote mine.toml; to train it:", "  gputrain-tui run ./mine.toml"]
    text, shipped = (tmp_path / "mine.toml").read_text(), (BUILT_IN / f"{name}.toml").read_text()
    assert text.endswith(shipped.partition("\n")[2])
    copy, preset = gputrain_presets.load("./mine.toml"), gputrain_presets.load(name)
    assert (copy.name, copy.model, copy.data, copy.optimizer) == (
        "mine",
        preset.model,
        preset.data,
        preset.optimizer,
    )


def test_a_copy_of_another_name_begins_with_its_size(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"

    assert main(["presets", "--copy", "resnet152", str(path)]) == 0

    assert gputrain_presets.load(str(path)).model.default_size == "152"


def test_a_start_of_ones_own_trains_and_its_comments_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    assert main(["presets", "--copy", "own", "my net.toml"]) == 0

    out, _ = capsys.readouterr()
    assert out.splitlines()[0] == "wrote my net.toml and my net_model.py; to train it:"
    assert out.splitlines()[1].strip() == "gputrain-tui run './my net.toml'"
    assert main(["run", "./my net.toml", "--steps", "30", "--at", "10:model_size=large"]) == 0
    text = (tmp_path / "my net.toml").read_text()
    lines = [line.removeprefix("#  ").lstrip() for line in text.splitlines() if line.startswith("#   ")]
    offered = [line.removeprefix("# ") for line in lines if not line.startswith("gputrain-tui")]
    for table in "\n".join(offered).split("[data]\n")[1:]:
        keys = "".join(line + "\n" for line in table.splitlines() if "=" in line)
        start, end = text.index("\n[data]"), text.index("\n[loss]")
        (tmp_path / "other.toml").write_text(f"{text[:start]}\n[data]\n{keys}{text[end:]}")
        assert tomllib.loads(keys)
        gputrain_presets.load("./other.toml")


def test_nothing_is_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.toml").write_text("mine")
    (tmp_path / "b_model.py").write_text("mine")
    (tmp_path / "c.toml").symlink_to("nowhere")

    assert said_of(capsys, "presets", "--copy", "vgg", "a.toml") == (
        "a.toml: is there already, and is not overwritten"
    )
    assert "b_model.py: is there already" in said_of(capsys, "presets", "--copy", "own", "b.toml")
    assert "c.toml: is there already" in said_of(capsys, "presets", "--copy", "vgg", "c.toml")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.toml", "b_model.py", "c.toml"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--copy", "vggg", "a.toml"), "no preset is called 'vggg'; did you mean 'vgg'?"),
        (("--copy", "???", "a.toml"), "no preset is called '???'; there are lasagne-mlp, "),
        (("--copy", "vgg", "a.txt"), "'a.txt': allowed: the path of a new file whose name ends in .toml"),
        (("--copy", "vgg", "none/a.toml"), "none/a.toml: there is no folder none"),
        (("--copy", "vgg"), "--copy: expected 2 arguments"),
        (("--copy", "vgg", "a.toml", "--json"), "--copy: writes a file and lists nothing; "),
        (("./none.toml",), "./none.toml: there is no such file"),
        (("lasagne",), "no preset is called 'lasagne'; did you mean 'lasagne-mlp'?"),
    ],
)
def test_a_command_that_makes_no_sense(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)

    assert said_of(capsys, "presets", *arguments).startswith(said)
    assert list(tmp_path.iterdir()) == []
