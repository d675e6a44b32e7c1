"""Facts for tests of the doctor: a healthy machine with one GPU, changed where a test wants it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec import structs

from gputrain_runner.doctor.facts import DriverFacts, Facts, GpuFacts, HostFacts, Surroundings, TorchFacts
from gputrain_runner.doctor.registry import examine
from gputrain_runner.hardware import Gpu, GpuDetail
from gputrain_runner.timeline import Host

GIB = 2**30

HOST = HostFacts(
    host=Host(os="Linux", cpu="CPU", cores=16, memory_bytes=128 * GIB, python="3.12.1", over_ssh=False),
    cores_installed=16,
    cores_by_affinity=16,
    load=0.5,
    memory_left_bytes=100 * GIB,
    memory_total_bytes=128 * GIB,
    shared_memory_bytes=64 * GIB,
    shared_memory_left_bytes=63 * GIB,
    locked_memory_limit_bytes=float("inf"),
    recordings=Path("/home/a/.local/state/gputrain-tui/sessions"),
    recordings_writable=True,
    recordings_left_bytes=200 * GIB,
)
DETAIL = GpuDetail(
    pci_bus_id="00000000:01:00.0",
    compute_capability="8.9",
    pcie_generation_gpu_max=4,
    persistence=True,
    compute_mode="default",
    mig_mode=False,
    virtualisation="none",
    ecc_mode=True,
    ecc_corrected=0,
    ecc_uncorrected=0,
    remapped_rows_corrected=0,
    remapped_rows_uncorrected=0,
    remapping_pending=False,
    remapping_failed=False,
    processes=[],
    memory_source="driver",
)
GPU = Gpu(
    index=0,
    uuid="GPU-00000000-0000-4000-8000-000000000000",
    name="NVIDIA L40S",
    utilisation=0.0,
    memory_used_bytes=GIB,
    memory_total_bytes=48 * GIB,
    memory_free_bytes=47 * GIB,
    pcie_generation=4,
    pcie_generation_max=4,
    pcie_width=16,
    pcie_width_max=16,
    power_w=80.0,
    power_limit_w=350.0,
    throttle=[],
)


def gpu(index: int = 0, **values: Any) -> GpuFacts:
    """A GPU with some values of its struct, of its detail, or of the facts about it replaced."""
    detail = {name: values.pop(name) for name in list(values) if name in GpuDetail.__struct_fields__}
    of_gpu = {name: values.pop(name) for name in list(values) if name in Gpu.__struct_fields__}
    uuid = f"GPU-{index:08x}-0000-4000-8000-000000000000"
    whole = structs.replace(
        GPU, **{"index": index, "uuid": uuid, "detail": structs.replace(DETAIL, **detail), **of_gpu}
    )
    return GpuFacts(**{"gpu": whole, "busiest": whole, "power_limit_default_w": 350.0, **values})


FACTS = Facts(
    host=HOST,
    surroundings=Surroundings(
        bus_known=True,
        kernel_module="575.57.08",
        device_files=("/dev/nvidia-uvm", "/dev/nvidia0", "/dev/nvidiactl"),
    ),
    driver=DriverFacts(version="575.57.08", cuda=(12, 9), gpus=(gpu(),)),
    torch=TorchFacts(installed=True, version="2.8.0+cu128", cuda="12.8"),
)
"""Nothing is wrong here."""


def changed(**parts: dict[str, Any]) -> Facts:
    """`FACTS` with fields of its parts replaced: `changed(host={"load": 9.0})`."""
    return replace(FACTS, **{name: replace(getattr(FACTS, name), **values) for name, values in parts.items()})


def with_gpu(**values: Any) -> Facts:
    """`FACTS` with values of its one GPU replaced."""
    return changed(driver={"gpus": (gpu(**values),)})


def said(facts: Facts, name: str) -> tuple[str, str, str | None]:
    """Verdict, what was found and what to do, of the one check of that name."""
    (check,) = (check for check in examine(facts).checks if check.name == name)
    return check.verdict, check.found, check.do


def names(facts: Facts) -> set[str]:
    """The checks that had something to say."""
    return {check.name for check in examine(facts).checks}
