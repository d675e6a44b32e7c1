"""The command line of `gputrain-tui run`: what it means, and what is refused before anything is started."""

from pathlib import Path

import pytest

from gputrain_runner.protocol import ScheduledChange
from gputrain_tui.cli import main
from gputrain_tui.commands.run import read_plan


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line with which `run` refuses `arguments`, without its beginning."""
    code = main(["run", *arguments])
    out, err = capsys.readouterr()
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert err.startswith("gputrain-tui run: ")
    return err.removeprefix("gputrain-tui run: ").rstrip("\n")


def test_a_plan_holds_what_the_command_line_says() -> None:
    arguments = ["lasagne-mlp", "--batch-size", "32", "--set", "model_size=x2", "--device", "cpu"]
    arguments += ["--seconds", "1.5", "--at", "5:batch_size=16", "--at", "9:device=cpu"]
    arguments += ["--seed", "7", "--record", "new.json"]

    plan = read_plan(arguments)

    assert plan.preset.name == "lasagne-mlp"
    assert plan.chosen == {"batch_size": 32, "model_size": "x2", "device": "cpu"}
    assert (plan.steps, plan.seconds, plan.epochs, plan.seed, plan.json) == (None, 1.5, None, 7, False)
    assert plan.scheduled == [
        ScheduledChange(step=5, setting="batch_size", to=16),
        ScheduledChange(step=9, setting="device", to="cpu"),
    ]
    assert (plan.record, plan.record_path) == (True, Path("new.json"))
    assert plan.command == ["gputrain-tui", "run", *arguments]


def test_data_replaces_the_path_of_a_preset_that_reads_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mnist").mkdir()
    monkeypatch.chdir(tmp_path)

    plan = read_plan(["keras-mnist-mlp", "--data", "mnist"])

    assert getattr(plan.preset.data, "path", None) == str(tmp_path / "mnist")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "the preset is missing; `gputrain-tui presets` lists them"),
        (
            ["--record", "lasagne-mlp"],
            "the preset is missing ('lasagne-mlp' was taken as the path of --record); "
            "`gputrain-tui presets` lists them",
        ),
        (["lasagne-mlp", "more"], "unexpected word 'more'; gputrain-tui run --help explains"),
        (["no.toml"], "no.toml: there is no such file"),
        (["lasagne-mlp", "--steps", "0"], "--steps: found '0', allowed: a whole number from 1 on"),
        (["lasagne-mlp", "--steps"], "--steps: a value is missing"),
        (["lasagne-mlp", "--epochs", "-1"], "--epochs: found '-1', allowed: a whole number from 1 on"),
        (["lasagne-mlp", "--seconds", "nan"], "--seconds: found 'nan', allowed: a number of seconds above 0"),
        (["lasagne-mlp", "--steps", "1", "--epochs", "1"], "--epochs: not allowed with --steps"),
        (["lasagne-mlp", "--seed", "1.5"], "--seed: found '1.5', allowed: a whole number from 0 on"),
        (["lasagne-mlp", "--device", "gpu"], "--device: found 'gpu', allowed: cpu, cuda or cuda:NUMBER"),
        (
            ["lasagne-mlp", "--batch-size", "0"],
            "--batch-size: found '0', allowed: a whole number from 1 to 934,918 "
            "(the training samples there are)",
        ),
        (
            ["keras-mnist-mlp", "--model-size", "7"],
            "--model-size: found '7', allowed: 100, 750, 1000, 4000",
        ),
        (["lasagne-mlp", "--set", "x"], "--set: found 'x', allowed: NAME=VALUE, as in batch_size=512"),
        (
            ["lasagne-mlp", "--set", "batchsize=5"],
            "--set batchsize: no setting is called 'batchsize'; did you mean 'batch_size'?",
        ),
        (
            ["lasagne-mlp", "--batch-size", "5", "--set", "batch_size=6"],
            "--set batch_size=6: --batch-size has set batch_size already",
        ),
        (
            ["lasagne-mlp", "--at", "batch_size=5"],
            "--at: found 'batch_size=5', allowed: STEP:NAME=VALUE, as in 1000:batch_size=512",
        ),
        (
            ["lasagne-mlp", "--at", "-1:batch_size=5"],
            "--at: found '-1:batch_size=5', allowed: a step that is a whole number from 0 on, "
            "as in 1000:batch_size=512",
        ),
        (
            ["lasagne-mlp", "--at", "5:batch_size=8", "--at", "5:batch_size=16"],
            "--at 5:batch_size=16: another --at sets batch_size before step 5 already",
        ),
        (
            ["lasagne-mlp", "--seed", str(2**63)],
            "--seed: found '9223372036854775808', allowed: a whole number from 0 to "
            "9,223,372,036,854,775,807",
        ),
        (
            ["lasagne-mlp", "--seed", "9" * 50],
            "--seed: found a number of 50 digits, allowed: a whole number from 0 to "
            "9,223,372,036,854,775,807",
        ),
        (["lasagne-mlp", "--seed", "-1"], "--seed: found '-1', allowed: a whole number from 0 on"),
        (
            ["lasagne-mlp", "--model-size", "6x80"],
            "--model-size: found '6x80', allowed: 1x15, x0.25, 5x15, x0.5, 1x150, x1, x2, 5x150, x4, x8, "
            "x16; or DEPTHxWIDTH from 1x15 to 5x150, or the units layer by layer as in 15-150",
        ),
        (
            ["lasagne-mlp", "--at", "5:batch_size=1000000"],
            "--at 5:batch_size: found '1000000', allowed: a whole number from 1 to 934,918 "
            "(the training samples there are)",
        ),
        (
            ["lasagne-mlp", "--steps", "5", "--at", "5:batch_size=8"],
            "--at 5:batch_size=8: the last step is number 4, counted from 0",
        ),
        (["lasagne-mlp", "--data", "/"], "--data: lasagne-mlp makes its own data and reads no files"),
        (
            ["keras-mnist-mlp", "--data", ""],
            "--data: the path is empty, allowed: the path of a file or folder",
        ),
        (
            ["lasagne-mlp", "--record", "-"],
            "--record: '-' would be stdout, allowed: the path of a new file; `run --json` prints the summary "
            "there",
        ),
        (
            ["lasagne-mlp", "--record", "/dev/null"],
            "--record: /dev/null is a device or a pipe, allowed: the path of a new file",
        ),
        (
            ["lasagne-mlp", "--record", ""],
            "--record: the path is empty, allowed: the path of a new file; without one it goes among the "
            "sessions",
        ),
        (["keras-mnist-mlp", "--data", "/no/x"], "--data: there is no file or folder '/no/x'"),
        (
            ["lasagne-mlp", "--record", "/no/x.json"],
            "--record: /no/x.json: there is no folder /no: create it or choose another place",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_wrong_is_said_before_anything_is_started(
    arguments: list[str], line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gputrain_tui.commands.headless.run", lambda plan: pytest.fail("started"))

    assert refused(capsys, *arguments) == line


def test_a_recording_is_never_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "old.json"
    path.write_text("old")

    line = refused(capsys, "lasagne-mlp", "--record", str(path))

    assert line.startswith(f"--record: {path} exists already")
    assert path.read_text() == "old"
