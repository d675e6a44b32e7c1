"""Checks of the PCIe link: its width and its generation against what card and slot allow."""

from __future__ import annotations

from ..facts import Facts, GpuFacts
from ..unit import NOT_TOLD, GpuUnit, Result, note, ok, problem

_LOADED = 0.2
"""Utilisation from which on a GPU has left the low link speed of an idle one."""
_FULL_STATE = 2
"""P0 to P2 are the performance states of a GPU at work."""


def _width(_facts: Facts, gpu: GpuFacts) -> Result | None:
    now, most = gpu.busiest.pcie_width, gpu.busiest.pcie_width_max
    if gpu.lost or _integrated(gpu):
        return None
    if most is None or now is None:
        return NOT_TOLD
    if now < most:
        return problem(
            f"x{now}, but card and slot allow x{most}: copies take {most / now:.3g} times as long",
            "seat the card again, look for another slot (some share lanes with M.2 drives), a riser, or a "
            "lane setting of the firmware",
        )
    return ok(f"x{now}, the most that card and slot allow")


def _generation(_facts: Facts, gpu: GpuFacts) -> Result | None:
    now, most = gpu.busiest.pcie_generation, gpu.busiest.pcie_generation_max
    card = gpu.detail.pcie_generation_gpu_max
    if gpu.lost or _integrated(gpu):
        return None
    if most is None or now is None:
        return NOT_TOLD
    if now < most and _at_work(gpu):
        return problem(
            f"generation {now} while at work, but card and slot allow {most}",
            "look for a riser or cable, a PCIe setting of the firmware (Auto or the highest), and "
            "`nvidia-smi -q -d PCIE` for replays",
        )
    if now < most:
        return note(
            f"generation {now} of {most}: an idle GPU lowers it to save power",
            "look again while something trains; `doctor --probe` does",
        )
    if card is not None and most < card:
        return note(
            f"generation {now}, the most that the slot allows; the card could do {card}",
            "only a newer mainboard, or another slot, gives more",
        )
    return ok(f"generation {now}, the most that card and slot allow")


def _at_work(gpu: GpuFacts) -> bool:
    """Whether it was under load when it was looked at."""
    utilisation, state = gpu.busiest.utilisation, gpu.busiest.performance_state
    if utilisation is None:
        return False
    return utilisation >= _LOADED and (state is None or state <= _FULL_STATE)


def _integrated(gpu: GpuFacts) -> bool:
    """A GPU that shares the host's memory has no slot; its driver reports a link of 1 x1 all the same."""
    return gpu.detail.memory_source == "host"


UNITS = (
    GpuUnit("link_width", "link width", _width),
    GpuUnit("link_generation", "link generation", _generation),
)
