"""Several GPUs, and a driver that stalls: what each thread does, and what it leaves alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from simulated_driver.cards import DATA_CENTRE
from simulated_driver.driver import SimulatedDriver
from simulated_driver.watched import WatchedTelemetry, measures

SECOND_UUID = "GPU-00000001-0000-4000-8000-000000000000"


def all_measured(reading: Any) -> bool:
    return bool(reading.gpus) and all(gpu.temperature_c == 54 for gpu in reading.gpus)


def test_a_gpu_that_hangs_silences_no_other(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.cards(DATA_CENTRE, DATA_CENTRE, DATA_CENTRE)
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        watched.until(lambda reading: len(reading.gpus) == 3 and all_measured(reading))
        simulated_driver.set({"gpu1.nvmlDeviceGetMemoryInfo_v2.hang": 1})
        simulated_driver.set({"utilisation_percent": 5})
        simulated_driver.set({f"gpu{index}.utilisation_percent": 11 for index in range(3)})
        reading = watched.until(lambda reading: vars(reading.ages_s)["1"] > 1)
        ages = vars(reading.ages_s)
        assert ages["0"] < 1 and ages["2"] < 1
        assert reading.age_s < 1
        assert [gpu.utilisation for gpu in reading.gpus] == [0.11, 0.37, 0.11]
        simulated_driver.set({"gpu1.nvmlDeviceGetMemoryInfo_v2.hang": None})
        watched.until(lambda reading: vars(reading.ages_s)["1"] < 1 and reading.gpus[1].utilisation == 0.11)


def test_a_gpu_that_hangs_from_the_beginning_is_listed_without_values(
    simulated_driver: SimulatedDriver,
) -> None:
    simulated_driver.cards(DATA_CENTRE, DATA_CENTRE)
    simulated_driver.set({"gpu0.*.hang": 1})
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        reading = watched.until(lambda reading: len(reading.gpus) == 2 and reading.gpus[1].uuid is not None)
        assert reading.gpus[0].uuid is vars(reading.ages_s)["0"] is None
        assert reading.gpu_absence is None
        watched.tell("stop")
        assert watched.leave() == 0


def test_gpus_out_of_focus_are_asked_less_often(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.cards(DATA_CENTRE, DATA_CENTRE)
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        reading = watched.until(lambda reading: len(reading.gpus) == 2 and all_measured(reading))
        assert reading.focused is None

        def asked(gpu: int) -> int:
            return simulated_driver.calls("nvmlDeviceGetMemoryInfo_v2", gpu=gpu)

        watched.tell("focus", SECOND_UUID.upper())
        assert watched.latest().focused == [1]
        before = asked(0), asked(1)
        watched.until(lambda _: asked(1) >= before[1] + 20)
        assert 1 <= asked(0) - before[0] <= 10
        watched.tell("focus", "GPU-00000000-0000-4000-8000-000000000000")
        assert watched.latest().focused == [0]
        before = asked(0), asked(1)
        watched.until(lambda _: asked(0) >= before[0] + 20)
        assert 1 <= asked(1) - before[1] <= 10
        watched.tell("focus")
        assert watched.latest().focused == [0]  # on a CPU the first is the one that is shown


def test_a_driver_that_is_being_loaded_is_found_later(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.cards()
    simulated_driver.set({"nvmlInitWithFlags.error": 9})
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        watched.until(lambda reading: "not loaded" in (reading.gpu_absence or ""))
        watched.until(lambda _: simulated_driver.calls("nvmlInitWithFlags") >= 2)
        simulated_driver.set({"nvmlInitWithFlags.error": None})
        reading = watched.until(measures)
        assert reading.gpu_absence is None
        initialised = simulated_driver.calls("nvmlInitWithFlags")
        watched.until(lambda _: simulated_driver.calls("nvmlDeviceGetMemoryInfo_v2") > 10)
        assert simulated_driver.calls("nvmlInitWithFlags") == initialised


def test_what_cannot_heal_is_not_tried_again(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.cards()
    simulated_driver.set({"nvmlInitWithFlags.error": 18})
    with WatchedTelemetry(simulated_driver.environment(), interval_s=0.005) as watched:
        watched.tell("start")
        watched.until(lambda reading: "differ" in (reading.gpu_absence or ""))
        watched.until(lambda reading: reading.host.cpu_utilisation is not None)
        assert simulated_driver.calls() == 1


FORKS = """
import os, sys, time
from gputrain_runner.telemetry import Telemetry
calls, = sys.argv[1:]
def count(): return len(open(calls).readlines())
telemetry = Telemetry(interval_s=0.05)
telemetry.start()
while not telemetry.latest().gpus: time.sleep(0.01)
print("read", flush=True)
sys.stdin.readline()
while (before := count()) != (time.sleep(0.3) or count()): pass
child = os.fork()
if child == 0:
    telemetry.start(); telemetry.focus(["GPU-1"]); telemetry.watch(1)
    assert telemetry.latest().gpus
    time.sleep(0.3)
    telemetry.stop()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(count() - before, flush=True)
telemetry.stop()
"""


def test_the_driver_is_not_touched_after_a_fork(simulated_driver: SimulatedDriver, tmp_path: Path) -> None:
    simulated_driver.cards()
    environment = simulated_driver.environment()
    path = ":".join(entry for entry in sys.path if entry)
    process = subprocess.Popen(
        [sys.executable, "-c", FORKS, environment["SIMULATED_DRIVER_CALLS"]],
        env={**environment, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    assert process.stdout.readline() == "read\n"
    # The parent's own thread stands still from here on, so that every call would be the child's.
    simulated_driver.set({"*.hang": 1})
    out, _ = process.communicate("\n", timeout=30)
    assert (out, process.returncode) == ("0\n", 0)


def test_a_slow_driver_is_not_a_silent_one(simulated_driver: SimulatedDriver) -> None:
    """A whole round takes far longer than it may take to see that the driver answers."""
    simulated_driver.cards()
    simulated_driver.set({"*.delay_ms": 120, "nvmlInitWithFlags.delay_ms": 0})
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        reading = watched.until(
            lambda reading: reading.gpus and reading.gpus[0].memory_used_bytes is not None
        )
        assert simulated_driver.calls("nvmlDeviceGetPcieReplayCounter") == 0  # the last one
        assert reading.age_s < 2
        watched.tell("stop")
        assert watched.leave() == 0
