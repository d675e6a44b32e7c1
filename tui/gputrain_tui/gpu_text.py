"""What is known of a GPU as texts: shares of the link, clocks, where rates come from, parts of its memory."""

from __future__ import annotations

from dataclasses import dataclass

from gputrain_runner.timeline import Gpu

from . import format
from .known_gpus import SILENT_S, KnownGpu
from .slowdowns import Slowdown, Weight
from .widgets.text import Role

SOURCES = {
    "gpm": "GPM averages",
    "byte_counters": "byte counters",
    "20_ms_window": "20 ms windows",
}
"""Where PCIe rates come from."""
ROLES: dict[Weight, Role] = {"normal": "dim", "note": "", "warning": "warning"}


@dataclass(frozen=True, slots=True)
class MemoryPart:
    """A part of a GPU's memory; `size_bytes` None where it is not known."""

    name: str
    short: str
    size_bytes: int | None


def memory_parts(known: KnownGpu) -> list[MemoryPart]:
    """The memory told apart, from what the training holds to what is free."""
    # Here and not above: the telemetry's package is not needed for a first frame.
    from gputrain_runner.telemetry.memory_split import split

    parts = split(known.gpu, known.memory)
    told = [
        MemoryPart("allocated", "alloc.", parts.allocated),
        MemoryPart("cached", "cached", parts.cached),
        MemoryPart("context", "context", parts.context),
        MemoryPart("others", "others", parts.others),
    ]
    if parts.rest:
        told.append(MemoryPart("not told", "untold", parts.rest))
    if parts.reserved_by_driver:
        told.append(MemoryPart("driver", "driver", parts.reserved_by_driver))
    return [*told, MemoryPart("free", "free", parts.free)]


def of_limit(value: float | None, limit: float | None, unit: str) -> str:
    """`1,410 of 1,980 MHz`; without a limit `1,410 MHz`."""
    if value is None:
        return format.UNKNOWN
    most = "" if limit is None else f" of {limit:,.0f}"
    return f"{value:,.0f}{most} {unit}"


def link(generation: int | None, width: int | None) -> str:
    """`gen 5 ×16`."""
    if generation is None and width is None:
        return format.UNKNOWN
    return f"gen {'?' if generation is None else generation} ×{'?' if width is None else width}"


def link_now(gpu: Gpu) -> str:
    """The link as it runs, and what it could be where that is more: an idle GPU slows it down on purpose."""
    now, most = (gpu.pcie_generation, gpu.pcie_width), (gpu.pcie_generation_max, gpu.pcie_width_max)
    text = link(*now)
    return f"{text} of {link(*most)}" if None not in (*now, *most) and most != now else text


def of_link(rate_bytes_per_s: float | None, gpu: Gpu) -> str:
    """A rate as a share of what the link can carry that way: `0.7 %`; "" where that is not known."""
    top = gpu.pcie_link_bytes_per_s
    if rate_bytes_per_s is None or not top:
        return ""
    share = rate_bytes_per_s / top
    if 0 < share < 0.0005:
        return "<0.1 %"
    return format.percent(share, 0 if share >= 0.0995 else 1)


def celsius(value: float | None) -> str:
    """`38 °C`."""
    return format.UNKNOWN if value is None else f"{value:.0f} °C"


def silence(known: KnownGpu, absence: str | None) -> str | None:
    """What to say where the driver no longer speaks of a GPU, as why it is lost; None where it does."""
    if absence is not None:
        return absence
    if known.lost:
        return known.trouble
    if known.silent_s <= SILENT_S:
        return None
    trouble = without_number(known)
    why = f" ({trouble})" if trouble else ""
    return f"driver silent for {known.silent_s:.0f} s; training goes on{why}"


def without_number(known: KnownGpu) -> str:
    """What is wrong with reading a GPU, for where its number stands before: `is lost: ...`."""
    return (known.trouble or "").removeprefix(f"GPU {known.gpu.index}").removeprefix(":").strip()


def slowdown_texts(found: list[Slowdown] | None) -> list[tuple[str, Role]]:
    """Why the clocks are low, each with its look; one text also where nothing holds them back."""
    if found is None:
        return [("slow-downs n/a", "dim")]
    if not found:
        return [("not slowed down", "dim")]
    return [(each.text, ROLES[each.weight]) for each in found]
