"""What telemetry says when there is no GPU, and that it stays prompt whatever the driver does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simulated_driver.driver import SimulatedDriver
from simulated_driver.watched import WatchedTelemetry


def answered(reading: Any) -> bool:
    return reading.gpu_absence is None or not reading.gpu_absence.startswith("asking the NVIDIA driver")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (4, "refuses access"),
        (9, "not loaded"),
        (13, "too old"),
        (15, "lost"),
        (18, "library and kernel module differ: reboot or reload the module"),
        (23, "could not be asked: error 23"),
        (999, "container without access"),
        (12345, "could not be asked: error 12345"),
    ],
)
def test_initialising_fails(simulated_driver: SimulatedDriver, code: int, words: str) -> None:
    simulated_driver.cards()
    simulated_driver.set({"nvmlInitWithFlags.error": code})
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        reading = watched.until(answered)
        assert words in reading.gpu_absence
        assert "\n" not in reading.gpu_absence
        assert reading.gpus == []
        assert reading.age_s is reading.driver is reading.host.nvml_ms_per_s is None
        # The host is there all the same.
        watched.until(lambda reading: reading.host.cpu_utilisation is not None)
        assert watched.tell("stop") is None
        assert watched.leave() == 0


def test_no_library(no_library: dict[str, str]) -> None:
    with WatchedTelemetry(no_library) as watched:
        watched.tell("start")
        reading = watched.until(answered)
    assert reading.gpu_absence.startswith(
        "No NVIDIA GPU: the driver library libnvidia-ml.so.1 was not found."
    )
    assert reading.gpus == []


def test_no_gpu_listed(simulated_driver: SimulatedDriver) -> None:
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        reading = watched.until(answered)
    assert "lists no GPU" in reading.gpu_absence
    assert reading.driver == "575.57.08"


def test_counting_gpus_fails(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.set({"nvmlDeviceGetCount_v2.error": 999})
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        assert "unknown error" in watched.until(answered).gpu_absence


def test_nothing_is_asked_or_imported_before_the_start(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.cards()
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        reading = watched.latest()
        assert (reading.gpu_absence, reading.gpus, reading.age_s) == (None, [], None)
        assert not {"pynvml", "psutil", "torch", "numpy"} & set(watched.tell("imported"))
        watched.tell("stop")
        watched.tell("start")
        assert watched.leave() == 0
    assert simulated_driver.calls() == 0


def test_initialising_hangs(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.cards()
    simulated_driver.set({"nvmlInitWithFlags.hang": 1})
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        reading = watched.until(lambda reading: reading.host.cpu_utilisation is not None)
        assert reading.gpu_absence.startswith("asking the NVIDIA driver ...")
        assert (reading.gpus, reading.age_s) == ([], None)
        simulated_driver.set({"nvmlInitWithFlags.hang": None})
        reading = watched.until(lambda reading: reading.gpus and reading.gpus[0].utilisation == 0.37)
        assert reading.gpu_absence is None


@pytest.mark.parametrize("function", ["nvmlInitWithFlags", "nvmlDeviceGetUtilizationRates"])
def test_stop_and_exit_under_a_call_that_hangs_for_ever(
    simulated_driver: SimulatedDriver, function: str
) -> None:
    simulated_driver.cards()
    simulated_driver.set({f"{function}.hang": 1})
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        watched.until(lambda _: simulated_driver.calls(function) == 1)
        # Each of these answers although the call never will.
        watched.latest()
        watched.tell("stop")
        watched.latest()
        assert watched.leave() == 0
    assert simulated_driver.calls("nvmlShutdown") == 0


def test_driver_falls_silent(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.cards()
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        watched.until(lambda reading: reading.gpus and reading.gpus[0].temperature_c == 54)
        simulated_driver.set({"nvmlDeviceGetMemoryInfo_v2.hang": 1, "gpu0.power_limit_mw": 300_000})
        reading = watched.until(lambda reading: reading.age_s > 1)
        assert reading.gpus[0].power_limit_w == 700
        assert reading.host.nvml_ms_per_s > 100  # it waits in the driver all the time
        simulated_driver.set({"nvmlDeviceGetMemoryInfo_v2.hang": None})
        watched.until(lambda reading: reading.gpus[0].power_limit_w == 300 and reading.age_s < 1)


BINDING = """
import importlib.util, pathlib, site, sys
from importlib.machinery import PathFinder
here = str(pathlib.Path(__file__).parent)
spec = PathFinder.find_spec("pynvml", [entry for entry in sys.path if entry != here])
real = importlib.util.module_from_spec(spec)
spec.loader.exec_module(real)
globals().update({name: value for name, value in vars(real).items() if not name.startswith("__")})
"""
"""The real nvidia-ml-py under another roof, so that single functions of it can be replaced."""


def changed_binding(environment: dict[str, str], folder: Path, change: str) -> dict[str, str]:
    folder.mkdir()
    (folder / "pynvml.py").write_text(BINDING + change)
    return {**environment, "PYTHONPATH": str(folder)}


def test_binding_and_library_do_not_fit(simulated_driver: SimulatedDriver, tmp_path: Path) -> None:
    change = "def nvmlInit(): raise NVMLLibraryMismatchError('of a kind of its own')"
    environment = changed_binding(simulated_driver.environment(), tmp_path / "binding", change)
    with WatchedTelemetry(environment) as watched:
        watched.tell("start")
        assert "do not fit together" in watched.until(answered).gpu_absence


def test_binding_cannot_be_imported(simulated_driver: SimulatedDriver, tmp_path: Path) -> None:
    change = "raise ImportError('broken\\ninstallation')"
    environment = changed_binding(simulated_driver.environment(), tmp_path / "binding", change)
    with WatchedTelemetry(environment) as watched:
        watched.tell("start")
        absence = watched.until(answered).gpu_absence
    assert absence.endswith("install nvidia-ml-py again (broken installation).")


def test_unexpected_error_is_told_and_sampling_goes_on(
    simulated_driver: SimulatedDriver, tmp_path: Path
) -> None:
    simulated_driver.cards()
    marker = tmp_path / "broken"
    marker.touch()
    change = f"""
def nvmlDeviceGetUtilizationRates(handle):
    if pathlib.Path({str(marker)!r}).exists():
        raise RuntimeError("never thought of")
    return real.nvmlDeviceGetUtilizationRates(handle)
"""
    environment = changed_binding(simulated_driver.environment(), tmp_path / "binding", change)
    with WatchedTelemetry(environment) as watched:
        watched.tell("start")
        reading = watched.until(answered)
        assert "RuntimeError: never thought of" in reading.gpu_absence
        assert reading.gpus == []
        marker.unlink()
        reading = watched.until(lambda reading: reading.gpus and reading.gpus[0].utilisation == 0.37)
        assert reading.gpu_absence is None


def test_older_binding_lacks_a_function(simulated_driver: SimulatedDriver, tmp_path: Path) -> None:
    simulated_driver.cards()
    environment = changed_binding(
        simulated_driver.environment(), tmp_path / "binding", "del nvmlDeviceGetTemperatureV"
    )
    with WatchedTelemetry(environment) as watched:
        watched.tell("start")
        watched.until(lambda reading: reading.gpus and reading.gpus[0].temperature_c == 54)
    assert simulated_driver.calls("nvmlDeviceGetTemperature") > 0
