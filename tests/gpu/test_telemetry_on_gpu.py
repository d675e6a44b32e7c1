"""The telemetry on a real driver: what it says of a known load, and beside what nvidia-smi says."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import median

import pytest
import torch

import gpu_load
import smi
from diagnosed import Diagnosed
from gpu_load import IDLE, PRODUCTS, TO_DEVICE, TO_HOST, Load, Stage, settled
from gputrain_runner.telemetry import Reading, Telemetry
from gputrain_runner.telemetry.uuids import bare, find
from gputrain_runner.timeline import Gpu, Sample
from training_presets import small

Note = Callable[[str, float, str], None]

LOOK_S = 0.05
NEWS = 2
"""Values of a copy's rate that are wanted, beside those that may be of what was before."""
AT_LEAST_S = {IDLE: 3.5, PRODUCTS: 4.0, TO_DEVICE: 2.0, TO_HOST: 2.0}
"""A steady load may have no news: it is given the time in which what moves is asked several times."""
AT_MOST_S = 10.0
AGREES_S = 12.0
"""What moves rarely is asked rarely: for so long the telemetry may lag behind nvidia-smi."""
HOPPER = (9, 0)


@dataclass
class Seen:
    """What was read during the stages of a load."""

    gpus: dict[str, list[Gpu]] = field(default_factory=dict)
    """By stage, again and again."""
    done: dict[str, Stage] = field(default_factory=dict)
    last: Reading | None = None
    mismatches: list[str] | None = None
    """Against nvidia-smi; None where there is none."""
    driver: str | None = None
    """The driver's version by nvidia-smi."""

    def values(self, stage: str, name: str) -> list[float]:
        """Those of a field that the stage gave."""
        return settled([getattr(gpu, name) for gpu in self.gpus[stage]])

    @property
    def gpu(self) -> Gpu:
        """As it was seen last."""
        return self.gpus[TO_HOST][-1]


@pytest.fixture(scope="module")
def seen() -> Iterator[Seen]:
    telemetry, found = Telemetry(), Seen()
    telemetry.start()
    try:
        with Load("cuda:0") as load:
            for stage in gpu_load.STAGES:
                load.begin(stage)
                look(telemetry, load, stage, found)
                if stage == TO_DEVICE and shutil.which("nvidia-smi"):
                    compare(telemetry, load, found)
                found.done[stage] = load.end()
        found.last = telemetry.latest()
        yield found
    finally:
        telemetry.stop()


def gpu_of(load: Load, reading: Reading) -> Gpu | None:
    return find(reading.gpus, load.uuid)


def look(telemetry: Telemetry, load: Load, stage: str, found: Seen) -> None:
    """Read until enough has come of the stage."""
    name = {TO_DEVICE: "pcie_rx_bytes_per_s", TO_HOST: "pcie_tx_bytes_per_s"}.get(stage)
    gpus = found.gpus.setdefault(stage, [])
    began = time.monotonic()
    while (spent_s := time.monotonic() - began) < AT_MOST_S:
        gpu = gpu_of(load, telemetry.latest())
        if gpu is not None:
            gpus.append(gpu)
        enough = name is None or len(found.values(stage, name)) >= NEWS
        if spent_s >= AT_LEAST_S[stage] and enough and gpus:
            return
        time.sleep(LOOK_S)
    assert gpus, f"the telemetry sees no GPU {load.uuid}: {telemetry.latest().gpu_absence}"


def compare(telemetry: Telemetry, load: Load, found: Seen) -> None:
    """Ask nvidia-smi, and wait until the telemetry says the same of it."""
    listing = smi.listed()
    told = next(gpu for uuid, gpu in listing.gpus.items() if bare(uuid) == bare(load.uuid))
    found.driver = listing.driver
    until = time.monotonic() + AGREES_S
    while True:
        gpu = gpu_of(load, telemetry.latest())
        found.mismatches = ["it is not there"] if gpu is None else smi.mismatches(gpu, told)
        if not found.mismatches or time.monotonic() > until:
            return
        time.sleep(LOOK_S)


@pytest.mark.parametrize(
    ("stage", "name"), [(TO_DEVICE, "pcie_rx_bytes_per_s"), (TO_HOST, "pcie_tx_bytes_per_s")]
)
def test_traffic_is_that_of_a_known_copy(seen: Seen, stage: str, name: str, note: Note) -> None:
    told, copied = seen.values(stage, name), seen.done[stage].bytes_per_s
    assert told, f"no {name} came; the source is {seen.gpu.pcie_source}"
    rate = median(told)
    note(f"PCIe by {seen.gpu.pcie_source}, {stage.replace('_', ' ')}", rate / 1e9, "GB/s")
    note("  copied, over time", copied / 1e9, "GB/s")
    note("  told / copied", rate / copied, "")
    assert 0.8 * copied <= rate <= 1.2 * copied
    other = "pcie_tx_bytes_per_s" if stage == TO_DEVICE else "pcie_rx_bytes_per_s"
    assert median(seen.values(stage, other) or [0.0]) < 0.5 * rate
    link = seen.gpu.pcie_link_bytes_per_s
    if link is not None:
        note("  of the link's top", rate / link * 100, "%")
        assert rate <= 1.15 * link  # What is told has the packets' heads in it.


@pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="there is no nvidia-smi here")
def test_everything_is_as_nvidia_smi_says(seen: Seen) -> None:
    assert seen.mismatches == []
    assert seen.last is not None
    assert seen.last.driver == seen.driver
    assert seen.last.gpu_absence is None
    assert seen.gpu.trouble is None or "no permission" in seen.gpu.trouble


def test_hopper_and_newer_tell_what_their_multiprocessors_do(seen: Seen, note: Note) -> None:
    if torch.cuda.get_device_capability(0) < HOPPER:
        pytest.skip("GPM is Hopper's and newer")
    detail = seen.gpu.detail
    if detail is not None and detail.mig_mode:
        pytest.skip("this GPU is divided (MIG)")
    idle, busy = seen.gpus[IDLE][-1], seen.gpus[PRODUCTS][-1]
    for name in ("sm_active", "sm_occupancy", "tensor_active", "dram_active", "graphics_active"):
        before, during = getattr(idle, name), getattr(busy, name)
        assert before is not None and during is not None, name
        note(f"{name}: idle", before * 100, "%")
        note("  matrix products", during * 100, "%")
    assert idle.sm_active is not None and busy.sm_active is not None
    assert idle.sm_active < 0.05
    assert busy.sm_active > 0.5
    assert (idle.tensor_active or 0.0) < 0.05 < (busy.tensor_active or 0.0)
    assert seen.gpu.pcie_source == "gpm"


def test_a_load_shows_in_power_clocks_utilisation_and_memory(seen: Seen, note: Note) -> None:
    idle, busy = seen.gpus[IDLE][-1], seen.gpus[PRODUCTS][-1]
    assert busy.utilisation is not None and busy.utilisation > 0.8
    assert idle.utilisation is not None and idle.utilisation < 0.5
    assert busy.power_w is not None and idle.power_w is not None
    assert busy.power_w > 1.3 * idle.power_w
    note("power: idle", idle.power_w, "W")
    note("  matrix products", busy.power_w, "W")
    assert busy.sm_clock_mhz is not None and busy.sm_clock_max_mhz is not None
    assert 0.3 * busy.sm_clock_max_mhz <= busy.sm_clock_mhz <= busy.sm_clock_max_mhz
    assert busy.memory_used_bytes is not None and busy.memory_total_bytes is not None
    # The buffer of the copies, the products' operands, and a context.
    assert gpu_load.COPY_BYTES + (100 << 20) < busy.memory_used_bytes <= busy.memory_total_bytes
    assert busy.throttle is not None


def test_the_drivers_calls_take_less_than_a_hundredth(seen: Seen, note: Note) -> None:
    assert seen.last is not None
    spent = seen.last.host.nvml_ms_per_s
    assert spent is not None
    note("NVML, for each GPU", spent / len(seen.last.gpus), "ms/s")
    assert spent <= 10.0 * len(seen.last.gpus)


@pytest.mark.parametrize("named", ["uuid", "index"])
def test_the_gpu_that_trains_is_followed_by_its_uuid(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """CUDA sees one GPU, the last there is, as its first."""
    last = torch.cuda.device_count() - 1
    uuid = str(torch.cuda.get_device_properties(last).uuid)
    monkeypatch.setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID" if named == "index" else "FASTEST_FIRST")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", f"GPU-{uuid}" if named == "uuid" else str(last))
    with Diagnosed(small("lasagne-mlp"), "cuda:0") as training:
        training.steering.measure(12)
        session = training.steering.session
        assert session.training_gpu is not None
        assert [device.device for device in session.header.devices] == ["cuda:0", "cpu"]
        samples = [each for each in training.entries if isinstance(each, Sample) and each.gpus]
    if named == "uuid":
        assert bare(session.training_gpu) == bare(uuid)
    gpu = find(samples[-1].gpus, session.training_gpu)
    assert gpu is not None, [each.uuid for each in samples[-1].gpus]
    memory = samples[-1].memory
    assert memory is not None and memory.reserved_bytes is not None
    assert gpu.memory_used_bytes is not None and gpu.memory_used_bytes > memory.reserved_bytes
    assert gpu.utilisation is not None
