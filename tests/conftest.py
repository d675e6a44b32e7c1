"""Fixtures that tests of several packages use."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from simulated_driver.driver import SimulatedDriver, why_not

# Workers under test share few cores; threads that wait for one another by spinning would starve.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A suite started in the background or by nohup has these ignored, and so would all that it starts.
for _number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL)


@pytest.fixture
def simulated_driver(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> SimulatedDriver:
    """A simulated NVIDIA driver without a GPU yet; skips where it cannot be built."""
    reason = why_not()
    if reason is not None:
        pytest.skip(reason)
    builds = tmp_path_factory.getbasetemp() / "simulated-driver-builds"
    return SimulatedDriver(tmp_path / "simulated-driver", builds)


@pytest.fixture
def no_library(tmp_path: Path) -> dict[str, str]:
    """The environment of a process that finds no NVIDIA driver, not even on a machine that has one."""
    folder = tmp_path / "no-library"
    folder.mkdir()
    (folder / "libnvidia-ml.so.1").write_text("not a library\n")
    return {**os.environ, "LD_LIBRARY_PATH": str(folder)}
