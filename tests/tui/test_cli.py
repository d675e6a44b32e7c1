"""The `gputrain-tui` command: which command a line means, and how errors are told."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gputrain_tui.cli import COMMANDS, main

PROGRAM = Path(sys.executable).parent / "gputrain-tui"


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the command, run within this process."""
    code = main(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line with which the command refuses `arguments`."""
    code, out, err = told(capsys, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    return err.rstrip("\n")


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_command_explains_itself_with_examples(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")

    code, out, err = told(capsys, *command.split(), "--help")

    assert (code, err) == (0, "")
    assert out.startswith(f"usage: gputrain-tui {command}".rstrip())
    assert f"examples:\n  gputrain-tui {command}".rstrip() in out
    assert max(len(line) for line in out.splitlines()) <= 80


def test_the_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = told(capsys, "--help")

    for name, what in COMMANDS.items():
        assert name in out and what in out


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    from importlib.metadata import version

    assert told(capsys, "--version") == (0, f"gputrain-tui {version('gputrain-tui')}\n", "")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["preset"], "gputrain-tui: no command is called 'preset'; did you mean 'presets'?"),
        (["launch"], f"gputrain-tui: no command is called 'launch'; commands are {', '.join(COMMANDS)}"),
        (["help"], "gputrain-tui: no command is called 'help'; did you mean '--help'?"),
        (
            ["lasagne-mlp"],
            "gputrain-tui: no command is called 'lasagne-mlp'; did you mean 'run lasagne-mlp', "
            "or '--preset lasagne-mlp' for the app?",
        ),
        (["--pre", "x"], "gputrain-tui: unknown option '--pre'; did you mean '--preset'?"),
        (["--device", "cpu", "run"], "gputrain-tui: unexpected word 'run'; gputrain-tui --help explains"),
        (
            ["run", "lasagne-mlp", "--stesp", "5"],
            "gputrain-tui run: unknown option '--stesp'; did you mean '--steps'?",
        ),
        (
            ["run", "lasagne-mlp", "--precision", "bf16"],
            "gputrain-tui run: unknown option '--precision'; did you mean '--set precision=VALUE'?",
        ),
        (["presets", "--jsn"], "gputrain-tui presets: unknown option '--jsn'; did you mean '--json'?"),
        (["schema", "x"], "gputrain-tui schema: unexpected word 'x'; gputrain-tui schema --help explains"),
        (
            ["two\nlines"],
            f"gputrain-tui: no command is called 'two\\nlines'; commands are {', '.join(COMMANDS)}",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_command_line_is_one_line_with_a_suggestion(
    arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(capsys, *arguments) == line


def test_a_mistake_of_the_programs_own_is_one_line_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> str:
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr("gputrain_runner.schema.recording_schema_text", fail)

    code, out, err = told(capsys, "schema")

    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(
        "gputrain-tui schema: this is a mistake in gputrain-tui: ZeroDivisionError: division by zero"
    )


def test_a_reader_that_leaves_early_is_no_error() -> None:
    done = subprocess.run(
        ["sh", "-c", '"$0" schema; echo "exit code $?" >&2', PROGRAM],
        stdout=_closed_pipe(),
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.stderr == "exit code 0\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_is_told() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [PROGRAM, "schema"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False
        )

    assert (done.returncode, done.stderr) == (1, "gputrain-tui schema: No space left on device\n")


def test_the_program_prints_in_any_encoding() -> None:
    done = subprocess.run(
        [PROGRAM, "run", "×.toml"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stderr) == (2, b"gputrain-tui run: x.toml: there is no such file\n")


def _closed_pipe() -> int:
    """The writing end of a pipe whose reader is gone."""
    reading, writing = os.pipe()
    os.close(reading)
    return writing
