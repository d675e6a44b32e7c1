"""One short run on a machine with a GPU: figures are collected, printed as one table last, kept as JSON.

pytest -m gpu tests/gpu; the figures go to gpu-figures.json, or where GPU_FIGURES says. The most telling
tests come first (`gpu_plan.py`), and none begins when the six minutes are nearly over.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

import gpu_plan
from gputrain_runner import probing
from gputrain_runner.ceilings import Ceilings

Note = Callable[[str, float, str], None]

GPU = "cuda:0"
PROBE_S = 6.0
"""As long as the spreads need; by default the probe takes a little more."""

_HERE = Path(__file__).parent
_began_s = time.monotonic()
_figures: list[dict[str, Any]] = []
_left_out: list[str] = []


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None, None, None]:
    mine = [item for item in items if _HERE in Path(item.path).parents]
    why = _absence() if mine else None
    for item in mine:
        item.add_marker(pytest.mark.gpu)
        if why:
            item.add_marker(pytest.mark.skip(reason=why))
    yield  # Some are left out by their marks, and others put together by their fixtures.
    ours = set(mine).intersection(items)
    ordered = iter(sorted(ours, key=lambda item: (_place(item), items.index(item))))
    items[:] = [next(ordered) if item in ours else item for item in items]


def _place(item: pytest.Item) -> tuple[int, int]:
    return gpu_plan.place(Path(item.path).stem, item.name)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("skip") is not None:
        return
    why = gpu_plan.too_late(time.monotonic() - _began_s)
    if why is not None:
        _left_out.append(item.name)
        pytest.skip(why)


def _absence() -> str | None:
    """Why no GPU test can run; None where they can."""
    import torch

    if torch.version.cuda is None:
        return "this PyTorch is a CPU build"
    if not torch.cuda.is_available():
        return "PyTorch finds no CUDA GPU"
    return None


@pytest.fixture(scope="session", autouse=True)
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is kept between sessions lies in a folder of its own; training may use every core there is."""
    import torch

    threads = torch.get_num_threads()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        # The other tests have all that they start take one thread (tests/conftest.py).
        if os.environ.get("OMP_NUM_THREADS") == "1":
            patch.delenv("OMP_NUM_THREADS")
            affinity = getattr(os, "sched_getaffinity", None)
            torch.set_num_threads(len(affinity(0)) if affinity else os.cpu_count() or 1)
        yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def ceilings() -> Ceilings:
    """What this GPU can do at most; kept, so that every session after it knows them as well."""
    return probing.measure([GPU], PROBE_S)[GPU]


@pytest.fixture
def note() -> Note:
    """Keep a figure for the table: name, value, unit."""

    def keep(name: str, value: float, unit: str) -> None:
        _figures.append({"name": name, "value": value, "unit": unit})
        _write()  # Whatever ends the run, what was measured is there.

    return keep


def _out() -> Path:
    return Path(os.environ.get("GPU_FIGURES", "gpu-figures.json"))


def _write() -> None:
    _out().write_text(json.dumps(_figures, indent=1) + "\n")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: Any) -> Generator[None, None, None]:
    yield
    if not _figures:
        return
    _figures.append({"name": "all of it", "value": time.monotonic() - _began_s, "unit": "s"})
    _figures.append({"name": "tests left out for want of time", "value": float(len(_left_out)), "unit": ""})
    terminalreporter.section("figures of this GPU")
    rows = ((figure["name"], figure["value"], figure["unit"]) for figure in _figures)
    for line in gpu_plan.table(rows):
        terminalreporter.write_line(line)
    _write()
    terminalreporter.write_line(f"as JSON: {_out()}")
