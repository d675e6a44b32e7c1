"""Who imports whom, seen in fresh interpreters: why the screen starts fast and the runner works alone."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TRAINING = {"torch", "numpy"}
SCREEN = {"textual", "rich"}


def modules_of(package: str) -> list[str]:
    """The names of all modules of ours in that package (or that module alone)."""
    source_root = (
        ROOT / {"gputrain_tui": "tui", "gputrain_runner": "runner", "gputrain_presets": "presets"}[package]
    )
    paths = (path.relative_to(source_root) for path in (source_root / package).rglob("*.py"))
    return sorted(".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in paths)


def outside_the_worker() -> list[str]:
    names = modules_of("gputrain_runner")
    return [name for name in names if not name.startswith("gputrain_runner.worker")]


def loaded_after(statement: str) -> set[str]:
    """The top-level modules that a fresh interpreter holds after `statement`."""
    code = f"import sys\n{statement}\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


def test_the_screens_process_never_loads_torch_or_numpy() -> None:
    names = [*modules_of("gputrain_tui"), *outside_the_worker(), *modules_of("gputrain_presets")]
    assert {"gputrain_tui.commands.run", "gputrain_runner.session", "gputrain_presets.catalog"} <= set(names)

    assert loaded_after(f"import {', '.join(names)}").isdisjoint(TRAINING)


def test_the_runner_never_loads_a_screen() -> None:
    names = [*outside_the_worker(), *modules_of("gputrain_presets")]

    assert loaded_after(f"import {', '.join(names)}").isdisjoint(SCREEN | TRAINING)


def test_the_worker_never_loads_a_screen() -> None:
    names = [name for name in modules_of("gputrain_runner") if name.startswith("gputrain_runner.worker")]
    assert "gputrain_runner.worker.__main__" in names

    loaded = loaded_after(f"import {', '.join(names)}")

    assert "torch" in loaded
    assert loaded.isdisjoint(SCREEN)


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        (["--help"], {"textual", "rich", "torch", "numpy", "psutil", "pynvml"}),
        (["--version"], {"textual", "rich", "torch", "numpy", "psutil", "pynvml"}),
        (["no-such-command"], {"textual", "rich", "torch", "numpy", "psutil", "pynvml"}),
        (["presets"], {"textual", "torch", "numpy", "psutil", "pynvml"}),
        (["doctor"], {"textual", "rich", "torch", "numpy"}),
        (["report", "--help"], {"textual", "rich", "torch", "numpy", "psutil", "pynvml", "plotly"}),
        (["schema"], {"textual", "rich", "torch", "numpy", "psutil", "pynvml"}),
        (["run", "--help"], {"textual", "rich", "torch", "numpy", "psutil", "pynvml"}),
        (["run", "lasagne-mlp", "--steps", "0"], {"textual", "rich", "torch", "numpy", "psutil", "pynvml"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_command_loads_only_what_it_needs(arguments: list[str], unwanted: set[str]) -> None:
    loaded = loaded_after(f"from gputrain_tui.cli import main\nmain({arguments!r})")

    assert loaded.isdisjoint(unwanted)


def test_the_contracts_between_the_packages_hold() -> None:
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr
