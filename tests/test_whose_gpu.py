"""The GPU that trains is followed through device changes, and whose memory is whose is told."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any

from simulated_driver.cards import H200, card
from simulated_driver.driver import SimulatedDriver
from simulated_driver.parts import GIB, failing, processes
from simulated_driver.played import DEADLINE_S, PlayedApp
from simulated_driver.scenarios import SCENARIOS


def wait_for(app: PlayedApp, pattern: str, *, stepping: bool = False) -> str:
    """The screen once it shows this; `stepping`: with steps, and so samples, until it does."""
    deadline = time.monotonic() + DEADLINE_S
    while not re.search(pattern, screen := app.screen()):
        if stepping:
            app.take_steps()
        assert time.monotonic() < deadline, screen
        time.sleep(0.1)
    return screen


def test_panels_follow_the_device_in_cudas_order(simulated_driver: SimulatedDriver, tmp_path: Path) -> None:
    """CUDA's first is the driver's second, and the other way round."""
    scenario = SCENARIOS["reversed"]
    scenario.play(simulated_driver)
    scenario.number_for_cuda(simulated_driver)
    with PlayedApp(simulated_driver.environment(), tmp_path / "recording.json") as app:
        app.until(lambda reading: len(reading["gpus"]) == 2)
        app.begin()
        app.take_steps()
        first = wait_for(app, r"GPU 1 +NVIDIA H200")
        assert "RTX 3060" not in first
        app.change("device", "cuda:1")
        second = wait_for(app, r"GPU 0 +NVIDIA GeForce RTX 3060")
        wait_for(app, r"utilisation +3 %")
        assert "H200" not in second.split("GPU 0")[1]
        app.change("device", "cpu")
        app.take_steps()
        app.change("device", "cuda:0")
        wait_for(app, r"GPU 1 +NVIDIA H200")
        wait_for(app, r"utilisation +92 %")
        app.take_steps()
        recording = app.end()
    devices = {
        device["device"]: device["uuid"] for device in recording["devices"] if device["device"] != "cpu"
    }
    for entry in recording["timeline"]:
        if entry["kind"] == "sample" and entry["settings"]["device"] in devices:
            uuids = {gpu["uuid"] for gpu in entry["gpus"]}
            assert not uuids or devices[entry["settings"]["device"]] in uuids


def test_memory_of_this_program_and_of_others(simulated_driver: SimulatedDriver, tmp_path: Path) -> None:
    another = os.getpid()
    theirs = {another: 6 * GIB}
    simulated_driver.cards(card(H200, processes(theirs, graphics=theirs), uuid="GPU-cuda:0"))
    with PlayedApp(simulated_driver.environment(), tmp_path / "recording.json") as app:
        reading = app.until(lambda reading: has_processes(reading, 1))
        name = Path(f"/proc/{another}/comm").read_text().strip()
        row = {"pid": another, "name": name, "memory_bytes": 6 * GIB, "ours": False}
        assert reading["gpus"][0]["detail"]["processes"] == [row]
        app.begin()
        worker = app.worker_pid()
        simulated_driver.change(0, processes({worker: 40 * GIB, **theirs}, graphics=theirs))
        [gpu] = app.until(lambda reading: has_processes(reading, 2))["gpus"]
        assert (gpu["memory_ours_bytes"], gpu["memory_others_bytes"]) == (40 * GIB, 6 * GIB)
        ours = {each["pid"]: each["ours"] for each in gpu["detail"]["processes"]}
        assert ours == {worker: True, another: False}
        app.screen("g")
        screen = wait_for(app, r"this program +40 GiB", stepping=True)
        # A process of another system, as a container's host: what is whose, nobody can say.
        simulated_driver.change(0, processes({worker: 40 * GIB, 4194001: 6 * GIB}))
        app.until(lambda reading: reading["gpus"][0]["memory_others_bytes"] is None)
        app.screen("escape")
        wait_for(app, r"others +n/a", stepping=True)
    assert re.search(r"others +6\.0 GiB", screen), screen
    assert re.search(rf"{another} +6\.0 GiB", screen), screen


def has_processes(reading: dict[str, Any], count: int) -> bool:
    """Whether the first GPU's processes are known, and so many."""
    return bool(reading["gpus"]) and len(reading["gpus"][0]["detail"]["processes"] or ()) == count


def test_process_rows_of_another_size_are_left_out(simulated_driver: SimulatedDriver, tmp_path: Path) -> None:
    """As drivers 535.43 to 535.98 wrote them: the second row begins where it is not looked for."""
    rows = processes({os.getpid(): GIB, os.getppid(): 2 * GIB}, graphics={})
    simulated_driver.cards(card(H200, rows, failing(GetComputeRunningProcesses_v2=3), process_rows_longer=1))
    with PlayedApp(simulated_driver.environment(), tmp_path / "recording.json") as app:
        reading = app.until(
            lambda reading: bool(reading["gpus"] and reading["gpus"][0]["detail"]["processes"])
        )
    [gpu] = reading["gpus"]
    assert [each["pid"] for each in gpu["detail"]["processes"]] == [os.getpid()]
    assert gpu["memory_others_bytes"] is None
