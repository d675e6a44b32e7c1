"""Every value of every machine, from the driver through telemetry into the recording and onto the screen."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from gputrain_runner.schema import recording_schema
from gputrain_runner.timeline import Gpu, GpuDetail
from machine_screens import SCREENS, shows
from machine_values import MACHINES
from roughly import Values
from simulated_driver.driver import SimulatedDriver
from simulated_driver.played import DEADLINE_S, PlayedApp
from simulated_driver.scenarios import SCENARIOS

OF_THE_MOMENT = ("age_s", "trouble")
"""Fields that are about the asking, not about the GPU."""


@contextmanager
def played(driver: SimulatedDriver, name: str, folder: Path) -> Iterator[PlayedApp]:
    """The program on one of the machines, CUDA's first GPU being trained on."""
    scenario = SCENARIOS[name]
    scenario.play(driver)
    scenario.number_for_cuda(driver)
    with PlayedApp(driver.environment(), folder / "recording.json") as app:
        yield app


def whole(values: Values) -> Values:
    """All fields of a GPU, unknown where they are not named."""
    unknown: Values = msgspec.to_builtins(Gpu(index=0))
    detail: Values = msgspec.to_builtins(GpuDetail())
    return {**unknown, **values, "detail": {**detail, **values.get("detail", {})}}


def expected(name: str) -> list[Values]:
    """The GPUs of a machine."""
    order = SCENARIOS[name].cuda_order or range(len(MACHINES[name]))
    uuids = {index: f"GPU-cuda:{number}" for number, index in enumerate(order)}
    return [
        whole({"uuid": uuids[gpu.get("index", 0)], **gpu} if "uuid" not in gpu else gpu)
        for gpu in MACHINES[name]
    ]


def of_the_gpu(gpu: Values) -> Values:
    """A GPU's values but for those about the asking."""
    return {**gpu, **dict.fromkeys(OF_THE_MOMENT)}


def differences(found: list[Values], wanted: list[Values]) -> list[str]:
    """What is not as wanted, field by field."""
    if len(found) != len(wanted):
        return [f"{len(found)} GPUs, not {len(wanted)}"]
    different = []
    for gpu, other in zip(found, wanted, strict=True):
        flat, flat_other = ({**each, **(each["detail"] or {}), "detail": None} for each in (gpu, other))
        name = f"GPU {gpu['index']}" + ("" if gpu["mig"] is None else f" MIG {gpu['mig']}")
        different += [
            f"{name}: {field} is {value!r}, not {flat_other.get(field)!r}"
            for field, value in flat.items()
            if value != flat_other.get(field)
        ]
    return different


def settled(app: PlayedApp, wanted: list[Values]) -> list[Values]:
    """The GPUs as telemetry has them once they are as wanted; as they are after a long while otherwise."""
    deadline = time.monotonic() + DEADLINE_S / 2
    while True:
        gpus = [of_the_gpu(gpu) for gpu in app.latest()["gpus"]]
        if gpus == wanted or time.monotonic() > deadline:
            return gpus
        time.sleep(0.1)


def recorded_gpus(recording: dict[str, Any]) -> list[Values]:
    """Each GPU's last values, its detail being the last that was there."""
    jsonschema.validate(recording, recording_schema())
    last: dict[tuple[int, int | None], Values] = {}
    for sample in recording["timeline"]:
        for gpu in sample.get("gpus", []):
            key = (gpu["index"], gpu["mig"])
            detail = gpu["detail"] or last.get(key, {}).get("detail")
            last[key] = {**of_the_gpu(gpu), "detail": detail}
    return list(last.values())


@pytest.mark.parametrize("name", MACHINES)
def test_values_arrive(simulated_driver: SimulatedDriver, tmp_path: Path, name: str) -> None:
    wanted = expected(name)
    with played(simulated_driver, name, tmp_path) as app:
        assert "\n".join(differences(settled(app, wanted), wanted)) == ""
        app.begin()
        app.take_steps()
        panel, all_gpus = app.screen(), app.screen("g")
        recording = app.end()
    check_recording(recording, wanted, simulated_driver)
    check_screens(name, panel, all_gpus)


def check_recording(recording: dict[str, Any], wanted: list[Values], driver: SimulatedDriver) -> None:
    """All values are in it, those of the GPU that trains in every sample."""
    assert "\n".join(differences(recorded_gpus(recording), wanted)) == ""
    assert recording["host"]["driver"] == driver.entries()["driver_version"]
    # A MIG device is named otherwise by CUDA than by the driver, which names them by the driver's word.
    trained_on = recording["devices"][0]["uuid"]
    samples = [entry for entry in recording["timeline"] if entry["kind"] == "sample"]
    assert all(trained_on in [gpu["uuid"] for gpu in sample["gpus"]] for sample in samples)


def check_screens(name: str, panel: str, all_gpus: str) -> None:
    """What is to be read, is."""
    screens = SCREENS[name]
    assert [label for label, text in screens.panel.items() if not shows(panel, label, text)] == [], panel
    figures = screens.figures.items()
    assert [label for label, text in figures if not shows(all_gpus, label, text)] == [], all_gpus
    for words in screens.words:
        assert re.search(words, panel), panel
        assert re.search(words, all_gpus), all_gpus
    for row in screens.rows:
        assert re.search(row, all_gpus), f"{row} in\n{all_gpus}"
