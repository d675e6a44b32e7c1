"""`gputrain-tui` without a command: what the app is started with, and what is refused before it is."""

import subprocess
import sys
from pathlib import Path

import pytest

from gputrain_tui import launch
from gputrain_tui.cli import main
from gputrain_tui.launch import AppOptions

PROGRAM = Path(sys.executable).parent / "gputrain-tui"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[AppOptions]:
    """What the app was started with; it ends at once, with exit code 7."""
    all_options: list[AppOptions] = []

    def run_app(options: AppOptions) -> int:
        all_options.append(options)
        return 7

    monkeypatch.setattr(launch, "run_app", run_app)
    return all_options


def test_alone_it_starts_with_nothing(started: list[AppOptions]) -> None:
    assert main([]) == 7
    assert started == [AppOptions(command=("gputrain-tui",))]


def test_every_option_reaches_the_app(
    started: list[AppOptions], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mnist.npz").touch()
    arguments = ["--preset", "keras-mnist-mlp", "--device", "cuda:1", "--batch-size", "64"]
    arguments += ["--model-size", "1000", "--set", "precision=fp32", "--set", "execution=eager"]
    arguments += ["--record", "new.json", "--data", "mnist.npz", "--glyphs", "block"]

    assert main(arguments) == 7

    assert started == [
        AppOptions(
            preset="keras-mnist-mlp",
            device="cuda:1",
            batch_size=64,
            model_size="1000",
            overrides=(("precision", "fp32"), ("execution", "eager")),
            record=Path("new.json"),
            data=str(tmp_path / "mnist.npz"),
            glyphs="block",
            command=("gputrain-tui", *arguments),
        )
    ]


def test_record_without_a_path_means_the_default_place(started: list[AppOptions]) -> None:
    assert main(["--record", "--device", "cpu"]) == 7
    assert started[0].record is True


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--preset", "no.toml"], "no.toml: there is no such file"),
        (["--preset", "lasagne-mlp", "--model-size", "x3"], "--model-size: found 'x3', allowed: 1x15, x0.25"),
        (["--preset", "lasagne-mlp", "--data", "/"], "--data: lasagne-mlp makes its own data"),
        (["--batch-size", "0"], "--batch-size: found '0', allowed: a whole number from 1 on"),
        (["--batch-size", "1e3"], "--batch-size: found '1e3', allowed: a whole number from 1 on"),
        (["--device", "gpu"], "--device: found 'gpu', allowed: cpu, cuda or cuda:NUMBER"),
        (["--set", "size=x2"], "--set size: no setting is called 'size'"),
        (["--data", "/no/x"], "--data: there is no file or folder '/no/x'"),
        (["--record", "/"], "--record: / is a folder"),
        (["--glyphs", "emoji"], "--glyphs: found 'emoji', allowed: braille, block, ascii"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_wrong_is_said_before_the_app_starts(
    arguments: list[str], line: str, started: list[AppOptions], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2

    out, err = capsys.readouterr()
    assert (out, err.count("\n"), started) == ("", 1, [])
    assert err.startswith(f"gputrain-tui: {line}")


def test_without_a_terminal_it_says_so() -> None:
    done = subprocess.run(
        [PROGRAM], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
    )

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "needs a terminal" in done.stderr
