"""Faults of the driver with training on: it goes on, the reason is in words, and leaving is quick."""

from __future__ import annotations

import json
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gputrain_runner.schema import recording_schema
from simulated_driver.driver import SimulatedDriver
from simulated_driver.fault_words import WORDS
from simulated_driver.parts import GIB
from simulated_driver.played import DEADLINE_S, PlayedApp
from simulated_driver.scenarios import FAULTS, SCENARIOS, Scenario
from terminal import PROGRAM, Terminal

LEFT_IN_S = 2.0
"""Leaving takes a fraction of this; more only where something waits for the driver."""


def steps_of(recording: dict[str, Any]) -> list[int]:
    return [entry["step"] for entry in recording["timeline"] if entry["kind"] == "sample"]


def wait_for_words(app: PlayedApp, scenario: Scenario) -> str:
    """The screen once it says what is the matter."""
    deadline = time.monotonic() + DEADLINE_S
    while True:
        screen = app.screen()
        if WORDS[scenario.name].search(screen):
            return screen
        assert time.monotonic() < deadline, screen
        time.sleep(0.1)


@pytest.mark.parametrize("scenario", FAULTS, ids=lambda scenario: scenario.name)
def test_fault_is_in_words_and_steps_are_recorded_on(
    simulated_driver: SimulatedDriver, tmp_path: Path, scenario: Scenario
) -> None:
    scenario.play(simulated_driver)
    scenario.number_for_cuda(simulated_driver)
    with PlayedApp(simulated_driver.environment(), tmp_path / "recording.json") as app:
        app.begin()
        app.take_steps()
        scenario.strike(simulated_driver)
        wait_for_words(app, scenario)
        app.take_steps()
        app.screen("g")
        began = time.monotonic()
        recording = app.end()
        assert time.monotonic() - began < LEFT_IN_S
    jsonschema.validate(recording, recording_schema())
    steps = steps_of(recording)
    assert steps[-1] > steps[0] + 150
    assert simulated_driver.calls("nvmlShutdown") == 0
    initialised = [code for name, _, _, code in simulated_driver.answers() if name == "nvmlInitWithFlags"]
    assert initialised.count(0) <= 1
    # One call in flight per GPU.
    assert all(most <= 1 for gpu, most in simulated_driver.most_at_once().items() if gpu >= 0)


def read_steps(path: Path) -> int:
    """How far training has come, by the recording as it is now."""
    return max(steps_of(json.loads(path.read_text())), default=0)


@pytest.mark.terminal
def test_lost_back_and_silent_while_the_real_program_trains(
    simulated_driver: SimulatedDriver, tmp_path: Path
) -> None:
    path = tmp_path / "recording.json"
    lost, hangs = SCENARIOS["lost"], SCENARIOS["all_hangs"]
    lost.play(simulated_driver)
    arguments = [PROGRAM, "--preset", "lasagne-mlp", "--device", "cpu", "--record", str(path)]
    with Terminal(arguments, columns=160, rows=48, environment=simulated_driver.environment()) as terminal:
        terminal.wait_for(r"utilisation +92 %")
        terminal.wait_for(r"samples/s +[\d,]+", timeout_s=60)
        lost.strike(simulated_driver)
        # In the message and in the panel, as soon as the driver has said it.
        said = terminal.wait_for(lambda text: len(WORDS["lost"].findall(text)) >= 2)
        assert "driver silent" not in said
        simulated_driver.set({"gpu0.*.error": None})
        terminal.wait_for("GPU 0 can be read again")
        hangs.strike(simulated_driver)
        terminal.wait_for(WORDS["all_hangs"].pattern)
        steps = read_steps(path)
        terminal.send("b")
        terminal.wait_for(r"batch \d+ → \d+")
        assert read_steps(path) > steps
        began = time.monotonic()
        terminal.send("q")
        assert terminal.wait_end() == 0
        assert time.monotonic() - began < LEFT_IN_S
    recording = json.loads(path.read_text())
    jsonschema.validate(recording, recording_schema())
    assert recording["summary"]["ended"] == "finished"
    told = [entry["text"] for entry in recording["timeline"] if entry["kind"] == "message"]
    assert any("GPU 0 is lost" in text for text in told)


@pytest.mark.parametrize("name", ["lost", "all_hangs"])
def test_run_without_a_screen_goes_on(simulated_driver: SimulatedDriver, tmp_path: Path, name: str) -> None:
    scenario, path = SCENARIOS[name], tmp_path / "recording.json"
    scenario.play(simulated_driver)
    command = [PROGRAM, "run", "lasagne-mlp", "--device", "cpu", "--seconds", "3", "--record", str(path)]
    process = subprocess.Popen(
        command,
        env=simulated_driver.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + DEADLINE_S
    while not (path.exists() and '"gpm"' in path.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    scenario.strike(simulated_driver)
    stdout, stderr = process.communicate(timeout=2 * DEADLINE_S)
    assert process.returncode == 0, stderr
    assert re.search(r"samples/s", stdout)
    assert "Traceback" not in stderr
    recording = json.loads(path.read_text())
    jsonschema.validate(recording, recording_schema())
    assert recording["summary"]["ended"] == "finished"
    samples = [entry for entry in recording["timeline"] if entry["kind"] == "sample"]
    [read] = [sample["gpus"][0] for sample in samples if sample["gpus"][0]["pcie_source"]][:1]
    assert (read["name"], read["utilisation"], read["power_w"]) == ("NVIDIA H200", 0.92, 640.25)
    assert (read["pcie_rx_bytes_per_s"], read["pcie_tx_bytes_per_s"]) == (23 * GIB, 1.5 * GIB)
    if name == "lost":
        assert "GPU 0 is lost" in stderr
        last = samples[-1]
        assert last["gpus"][0]["utilisation"] is None
        assert "GPU 0 is lost" in last["gpus"][0]["trouble"]
