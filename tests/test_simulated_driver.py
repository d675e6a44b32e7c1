"""The simulated driver itself, asked through nvidia-ml-py: it must answer what the scenario says."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from simulated_driver.cards import DATA_CENTRE, H200, card, split
from simulated_driver.driver import SimulatedDriver
from simulated_driver.parts import byte_counters, field, gpm, processes, utilisation
from simulated_driver.scenarios import SCENARIOS
from simulated_driver.waves import after, counter, ramp, sine, square

PREAMBLE = """
import json, time
import pynvml as nvml
nvml.nvmlInit()
gpu = nvml.nvmlDeviceGetHandleByIndex(0)
def field(number, member="ullVal"):
    value = nvml.nvmlDeviceGetFieldValues(gpu, [number])[0]
    return getattr(value.value, member) if value.nvmlReturn == 0 else -value.nvmlReturn
def tell(**values):
    print(json.dumps(values))
"""


def asked(driver: SimulatedDriver, script: str) -> Any:
    """What a process that uses the driver tells."""
    done = subprocess.run(
        [sys.executable, "-c", PREAMBLE + script],
        check=True,
        env=driver.environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout)


def test_waves(simulated_driver: SimulatedDriver) -> None:
    """Numbers and counters between two moments, which a field that is a ramp tells."""
    simulated_driver.cards(
        card(
            DATA_CENTRE,
            field(1000, ramp(0, 1_000_000)),
            field(1001, sine(5e9, 1e9, 0.4)),
            field(1002, square(100, 300, 0.2, share=0.25)),
            field(1003, after(0.3, 7, before=5)),
            field(1004, counter(1e6)),
            field(1005, counter(square(0, 4e6, 0.02, share=0.25))),
            field(1006, counter(1e6, start=2**32 - 1000, bits=32)),
            field(1007, counter(sine(1e6, 5e5, 0.02))),
        )
    )
    told = asked(
        simulated_driver,
        "rows = []\n"
        "for _ in range(200):\n"
        "    rows.append([field(number) for number in (*range(1000, 1008), 1000)])\n"
        "    time.sleep(0.003)\n"
        "tell(rows=rows)\n",
    )
    rows = told["rows"]
    assert rows[-1][0] > 600_000
    assert {row[2] for row in rows} == {100, 300}
    assert {row[3] for row in rows} == {5, 7}
    assert 3.99e9 < min(row[1] for row in rows) < 4.1e9 < 5.9e9 < max(row[1] for row in rows) < 6.01e9
    for first, _, _, _, steady, in_steps, narrow, swinging, last in rows:
        # All counters run at 1e6 per second in the mean, as the ramp does.
        assert first <= steady <= last
        assert first - 17_000 <= in_steps <= last + 17_000
        assert first <= (narrow + 1000) % 2**32 <= last
        assert first - 6000 <= swinging <= last + 6000


def test_a_counter_runs_on_when_its_rate_changes(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.cards(card(DATA_CENTRE, byte_counters(rx_bytes_per_s=1e9, tx_bytes_per_s=0)))
    script = PREAMBLE + "while True:\n    input()\n    tell(rx=field(198), tx=field(197))\n"
    with subprocess.Popen(
        [sys.executable, "-uc", script],
        env=simulated_driver.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None and process.stdout is not None

        def counts() -> dict[str, int]:
            assert process.stdin is not None and process.stdout is not None
            print(file=process.stdin, flush=True)
            return json.loads(process.stdout.readline())  # type: ignore[no-any-return]

        before = counts()
        simulated_driver.change(0, byte_counters(rx_bytes_per_s=0, tx_bytes_per_s=5e8))
        stopped = counts()
        after_it = counts()
        process.kill()
    assert stopped["rx"] >= before["rx"] > 0
    assert after_it["rx"] == stopped["rx"]
    assert after_it["tx"] > stopped["tx"] >= before["tx"] == 0


def test_gpm_tells_the_mean_between_two_samples(simulated_driver: SimulatedDriver) -> None:
    card_with_waves = card(H200, gpm(sm_active=0.5, rx_bytes_per_s=2**30), **{"gpm.5": square(0, 80, 0.05)})
    simulated_driver.cards(card_with_waves, split(20, 40))
    told = asked(
        simulated_driver,
        """
def measure(take, pause_s):
    get = nvml.c_nvmlGpmMetricsGet_t(version=1, numMetrics=4)
    get.sample1, get.sample2 = nvml.nvmlGpmSampleAlloc(), nvml.nvmlGpmSampleAlloc()
    for at, metric in enumerate((2, 5, 21, 4)):
        get.metrics[at].metricId = metric
    take(get.sample1); time.sleep(pause_s); take(get.sample2)
    nvml.nvmlGpmMetricsGet(get)
    return [(get.metrics[at].nvmlReturn, get.metrics[at].value) for at in range(4)]
parent = nvml.nvmlDeviceGetHandleByIndex(1)
tell(
    whole=measure(lambda sample: nvml.nvmlGpmSampleGet(gpu, sample), 0.5),
    close=min(measure(lambda sample: nvml.nvmlGpmSampleGet(gpu, sample), 0.01) for _ in range(10)),
    part=measure(lambda sample: nvml.nvmlGpmMigSampleGet(parent, 2, sample), 0.15),
)
""",
    )
    codes, values = zip(*told["whole"], strict=True)
    assert codes == (0, 0, 0, 3)
    assert values[:3] == pytest.approx((50, 40, 1024), abs=5)
    assert [value for _, value in told["close"]][:3] == [0, 0, 0]
    assert told["part"][0] == [0, 50]


def test_samples_since_the_last_asking(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.cards(card(DATA_CENTRE, utilisation(square(20, 80, 0.1), samples_per_s=100)))
    told = asked(
        simulated_driver,
        """
time.sleep(0.4)
kind, samples = nvml.nvmlDeviceGetSamples(gpu, 1, 0)
last = samples[-1].timeStamp
try:
    nvml.nvmlDeviceGetSamples(gpu, 1, last + 10**7)
except nvml.NVMLError as error:
    code = error.value
tell(kind=kind, values=[sample.sampleValue.uiVal for sample in samples], code=code,
     gaps=[b.timeStamp - a.timeStamp for a, b in zip(samples, samples[1:])])
""",
    )
    assert (told["kind"], told["code"]) == (1, 6)
    assert len(told["values"]) >= 35
    assert told["values"].count(80) / len(told["values"]) == pytest.approx(0.5, abs=0.15)
    assert all(9_990 <= gap <= 10_010 for gap in told["gaps"])


def test_process_rows_as_drivers_535_43_to_535_98_wrote_them(simulated_driver: SimulatedDriver) -> None:
    listed = processes({11: 100, 12: None})
    simulated_driver.cards(card(DATA_CENTRE, listed), card(DATA_CENTRE, listed, process_rows_longer=1))
    told = asked(
        simulated_driver,
        """
rows = [
    [(row.pid, row.usedGpuMemory) for row in nvml.nvmlDeviceGetComputeRunningProcesses(handle)]
    for handle in (gpu, nvml.nvmlDeviceGetHandleByIndex(1))
]
tell(rows=rows)
""",
    )
    assert told["rows"][0] == [[11, 100], [12, None]]
    assert told["rows"][1][0] == [11, 100]
    assert told["rows"][1][1] != [12, None]


def test_behaviour_is_as_told_and_counted(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.without("nvmlDeviceGetFanSpeed")
    simulated_driver.cards(H200)
    simulated_driver.set({"nvmlDeviceGetName.error": 999, "gpu0.nvmlDeviceGetTemperature.delay_ms": 30})
    told = asked(
        simulated_driver,
        """
def code(function, *arguments):
    try:
        function(gpu, *arguments)
    except nvml.NVMLError as error:
        return error.value
    return 0
tell(name=code(nvml.nvmlDeviceGetName), fan=code(nvml.nvmlDeviceGetFanSpeed),
     temperature=code(nvml.nvmlDeviceGetTemperature, 0), uuid=code(nvml.nvmlDeviceGetUUID))
""",
    )
    assert told == {"name": 999, "fan": 13, "temperature": 0, "uuid": 0}
    assert simulated_driver.calls("nvmlDeviceGetName", gpu=0) == 1
    assert simulated_driver.calls("nvmlDeviceGetFanSpeed") == 0
    assert 30 <= simulated_driver.spent_ms("nvmlDeviceGetTemperature") < 1000
    assert ("nvmlDeviceGetName", 0, 999) in {
        (name, gpu, code) for name, gpu, _, code in simulated_driver.answers()
    }
    assert simulated_driver.most_at_once() == {-1: 1, 0: 1}


def test_an_event_is_told_once(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.cards(card(H200, xid=79))
    told = asked(
        simulated_driver,
        """
events = nvml.nvmlEventSetCreate()
nvml.nvmlDeviceRegisterEvents(gpu, nvml.nvmlEventTypeXidCriticalError, events)
first = nvml.nvmlEventSetWait(events, 1000)
try:
    nvml.nvmlEventSetWait(events, 10)
except nvml.NVMLError as error:
    code = error.value
tell(xid=first.eventData, kind=first.eventType, code=code)
""",
    )
    assert told == {"xid": 79, "kind": 8, "code": 10}


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_can_be_played(simulated_driver: SimulatedDriver, name: str) -> None:
    scenario = SCENARIOS[name]
    scenario.play(simulated_driver)
    entries = simulated_driver.environment()
    assert entries["LD_LIBRARY_PATH"]
    before = simulated_driver.entries()
    scenario.strike(simulated_driver)
    assert (simulated_driver.entries() != before) == bool(scenario.fault)
    assert simulated_driver.entries()["devices"] == len(scenario.cards)
