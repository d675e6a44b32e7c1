"""What is installed: the wheel's contents, and the command in folders and with modules of the user's own."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from sysconfig import get_path

import pytest

ROOT = Path(__file__).parents[1]

USERS_MODULES = (
    "types",
    "enum",
    "re",
    "runner",
    "tui",
    "argparse",
    "gputrain_runner",
    "gputrain_tui",
    "torch",
)


def run(*command: object, cwd: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built as pip builds it but without asking the network for the build backend."""
    folder = tmp_path_factory.mktemp("wheel")
    done = run(sys.executable, "-P", "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module", params=["wheel", "editable"])
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command in a virtual environment of its own, in a folder with a space in its name.

    What it depends on is taken from the environment the tests run in.
    """
    pytest.importorskip("pip")
    folder = tmp_path_factory.mktemp("an environment")
    made = run(sys.executable, "-P", "-m", "venv", "--without-pip", folder, cwd=ROOT)
    assert made.returncode == 0, made.stderr
    python = folder / "bin" / "python"
    (site_packages,) = folder.glob("lib/python3*/site-packages")
    (site_packages / "dependencies.pth").write_text(get_path("purelib") + "\n" + get_path("platlib") + "\n")
    what = [request.getfixturevalue("wheel")] if request.param == "wheel" else ["-e", ROOT]
    pip = [sys.executable, "-P", "-m", "pip", "--python", python, "--disable-pip-version-check", "install"]
    options = ["--no-deps", "--no-index", "--no-build-isolation", "--ignore-installed"]
    done = run(*pip, *options, *what, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "bin" / "gputrain-tui"


def users_folder(folder: Path) -> Path:
    """A folder with modules of names that the program, Python or PyTorch use."""
    folder.mkdir()
    for name in USERS_MODULES:
        (folder / f"{name}.py").write_text(f"raise SystemExit('the user\\'s {name}.py was imported')\n")
    return folder


def test_the_wheel_holds_all_the_program_needs(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())

    for package, source_root in (
        ("gputrain_presets", "presets"),
        ("gputrain_runner", "runner"),
        ("gputrain_tui", "tui"),
    ):
        folder = ROOT / source_root
        source = {
            path.relative_to(folder).as_posix()
            for path in (folder / package).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        assert source <= held
        assert f"{package}/py.typed" in source
    assert {"gputrain_presets/lasagne-mlp.toml", "gputrain_tui/app.tcss"} <= held
    assert {name.partition("/")[0].partition("-")[0] for name in held} == {
        "gputrain_presets",
        "gputrain_runner",
        "gputrain_tui",
    }


def test_the_command_may_be_executed(wheel: Path) -> None:
    assert os.access(ROOT / "tui" / "gputrain-tui", os.X_OK)
    with zipfile.ZipFile(wheel) as archive:
        (script,) = (info for info in archive.infolist() if info.filename.endswith("/scripts/gputrain-tui"))
    assert (script.external_attr >> 16) & 0o111 == 0o111


def test_the_command_starts_where_a_path_has_spaces(installed: Path, tmp_path: Path) -> None:
    done = run(installed, "presets", cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert "lasagne-mlp" in done.stdout


def test_the_command_starts_through_a_link(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gputrain-tui").symlink_to(installed)

    done = run(
        "gputrain-tui", "--version", cwd=tmp_path, PATH=f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("gputrain-tui ")


@pytest.mark.parametrize("python_path", [None, "", ".", "{users}", "{users}:.", ":../users"])
def test_a_users_modules_change_nothing(installed: Path, tmp_path: Path, python_path: str | None) -> None:
    """An empty entry of PYTHONPATH means the current folder."""
    users = users_folder(tmp_path / "users")
    environment = {} if python_path is None else {"PYTHONPATH": python_path.format(users=users)}

    done = run(installed, "run", "lasagne-mlp", "--model-size", "x3", cwd=users, **environment)

    assert "allowed: 1x15, x0.25" in done.stderr
    assert done.returncode == 2


def test_a_users_modules_change_nothing_in_the_worker(installed: Path, tmp_path: Path) -> None:
    users = users_folder(tmp_path / "users")

    done = run(installed, "presets", "--json", cwd=users, PYTHONPATH=f"{users}:.")

    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)
