"""What of each machine must be read on the screen: in the GPU panel, and on the screen of all GPUs.

Figures are the machines' own, rounded for the eye; of what a machine does not tell, n/a.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

UNKNOWN = "n/a"
Figure = str | re.Pattern[str]
"""A pattern where the program measures over time, and so never twice the same."""


@dataclass(frozen=True)
class Screens:
    """Of one machine."""

    panel: Mapping[str, Figure] = field(default_factory=dict)
    """The GPU panel: figures by their labels."""
    words: tuple[str, ...] = ()
    """What both screens must say, as regular expressions."""
    rows: tuple[str, ...] = ()
    """Rows of the table of all GPUs, as regular expressions."""
    figures: Mapping[str, Figure] = field(default_factory=dict)
    """The long tail of the GPU that trains: figures by their labels."""


def shows(screen: str, label: str, figure: Figure) -> bool:
    """Whether a figure is there, beside its label and not as a part of another."""
    text = re.escape(figure) if isinstance(figure, str) else figure.pattern
    return re.search(rf"(?<!\S){re.escape(label)} +{text}(?=[ ,│]|$)", screen, re.MULTILINE) is not None


_TAIL = {
    "context active": "94 %",
    "SM occupancy": "44 %",
    "card and slot": "gen 5 ×16",
    "card alone": "gen 5",
    "carries": "63.0 GB/s",
    "replays": "2",
    "NVLink rx": "103 GB/s",
    "NVLink tx": "51.5 GB/s",
    "memory clock": "3,201 of 3,201 MHz",
    "performance": "P0",
    "memory": "71 °C",
    "fan": UNKNOWN,
    "ECC": "on",
    "corrected": "3",
    "uncorrected": "0",
    "rows replaced": "0 corrected",
    "Xid errors": "none",
    "PCI bus": "00000000:18:00.0",
    "capability": "9.0",
    "driver": "575.57.08",
    "persistence": "on",
    "compute mode": "default",
    "MIG": "off",
    "driver model": UNKNOWN,
    "this program": "0 B",
    "others": "0 B",
    "free": "74 GiB",
    "used": "66 GiB of 141 GiB",
}
_H200_PANEL = {
    "utilisation": "92 %",
    "SM active": "88 %",
    "tensor active": "56 %",
    "DRAM active": "31 %",
    "memory": "66 GiB of 141 GiB",
    "driver": "512 MiB",
    "free": "74 GiB",
    "PCIe rx": "24.7 GB/s 39 %",
    "PCIe tx": "1.61 GB/s 2.6 %",
    "SM clock": "1,815 of 1,980 MHz",
    "power": "640 of 700 W",
    "link": "gen 5 ×16",
}
_NOTHING_OF_HOPPER = dict.fromkeys(
    ("SM active", "SM occupancy", "tensor active", "DRAM active", "context active", "NVLink rx", "NVLink tx"),
    UNKNOWN,
)


_ABOUT_3_MB: Figure = re.compile(r"[23]\.\d\d MB/s <0\.1 %")


def _row(index: int) -> str:
    """One of eight: all of its figures beside one another."""
    rx, tx = (20 - index) * 1.073741824, (10 - index) * 1.073741824
    figures = [
        f"{90 - 10 * index}",
        r"\S+",
        f"{87.5 - 6.25 * index:.0f}",
        rf"{60 - 7 * index}\.0 / 141",
        re.escape(f"{rx:#.3g} G"),
        re.escape(f"{tx:#.3g} G"),
        f"{1800 - 15 * index:,}",
        rf"{610 - 50 * index}|{611 - 50 * index}",
        f"{60 - index}",
    ]
    return rf"{index} H200 +" + " +".join(f"(?:{each})" for each in figures) + "(?= )"


SCREENS = {
    "healthy": Screens(
        panel=_H200_PANEL,
        words=("NVIDIA H200", "not slowed down"),
        figures={**_TAIL, "rx": "24.7 GB/s", "tx": "1.61 GB/s"},
    ),
    "eight": Screens(
        panel={**_H200_PANEL, "utilisation": "90 %", "PCIe rx": "21.5 GB/s", "PCIe tx": "10.7 GB/s"}
        | {"power": "610 of 700 W", "SM clock": "1,800 of 1,980 MHz", "memory": "60 GiB of 141 GiB"}
        | {"tensor active": "50 %", "DRAM active": "25 %", "free": "80 GiB"},
        rows=tuple(_row(index) for index in range(8)),
    ),
    "old": Screens(
        panel={"utilisation": UNKNOWN, "memory": "512 MiB of 2.0 GiB", "PCIe rx": UNKNOWN, "PCIe tx": UNKNOWN}
        | {"SM clock": "1,085 MHz", "power": UNKNOWN, "link": "gen 2 ×16", "allocated": UNKNOWN},
        words=("GTX 750 Ti", "slow-downs n/a"),
        figures={**_NOTHING_OF_HOPPER, "utilisation": UNKNOWN, "rx": UNKNOWN, "tx": UNKNOWN, "rates": UNKNOWN}
        | {"carries": "8.00 GB/s", "temperature": "41 °C", "ECC": UNKNOWN, "corrected": UNKNOWN}
        | {"persistence": UNKNOWN, "MIG": UNKNOWN, "driver": "390.157", "replays": UNKNOWN, "fan": UNKNOWN},
    ),
    "laptop": Screens(
        panel={"utilisation": "0 %", "memory": "420 MiB of 8.0 GiB", "PCIe rx": _ABOUT_3_MB}
        | {"link": "gen 1 ×8 of gen 4 ×8", "SM clock": "210 of 3,105 MHz", "power": "4 W"},
        words=("idle for .*low clocks, as nothing runs",),
        figures={**_NOTHING_OF_HOPPER, "carries": "15.8 GB/s", "performance": "P8", "persistence": "off"}
        | {
            "this program": UNKNOWN,
            "others": UNKNOWN,
            "4194001": "210 MiB",
            "memory clock": "405 of 8,001 MHz",
        },
    ),
    "trained_down": Screens(
        panel={"utilisation": "96 %", "link": "gen 4 ×4 of gen 4 ×16", "power": "392 of 450 W"},
        figures={"now": "gen 4 ×4", "card and slot": "gen 4 ×16", "carries": "7.88 GB/s", "fan": "61 %"}
        | {"temperature": "67 °C", "performance": "P2"},
    ),
    "hot": Screens(
        panel={"SM clock": "1,110 of 1,980 MHz"},
        words=("thermal: SM clock 1,110 of 1,980 MHz since",),
        figures={"temperature": "91 °C", "memory": "102 °C"},
    ),
    "at_its_cap": Screens(
        panel={"utilisation": "100 %", "power": "700 of 700 W"},
        words=("power cap .*normal at full load",),
        figures={"power cap": re.compile(r"(?:[7-9]\d|100) % now")},
    ),
    "vgpu": Screens(
        panel={"utilisation": "55 %", "memory": "7.0 GiB of 20 GiB", "PCIe rx": UNKNOWN, "power": UNKNOWN}
        | {"link": UNKNOWN, "driver": "1.0 GiB", "free": "12 GiB"},
        words=("slow-downs n/a",),
        figures={**_NOTHING_OF_HOPPER, "virtual": "vGPU", "temperature": UNKNOWN, "carries": UNKNOWN},
    ),
    "mig": Screens(
        panel={
            "utilisation": UNKNOWN,
            "SM active": "25 %",
            "memory": "1.0 GiB of 20 GiB",
            "PCIe rx": UNKNOWN,
        },
        rows=(
            r" 0 H100 80GB HBM3 +n/a +88 +66\.0 / 141 +24\.7 G +1\.61 G",
            r"0 MIG 0 .*n/a +25 +1\.0 / 20 +n/a +n/a",
            r"0 MIG 1 .*n/a +50 +2\.0 / 40 +n/a +n/a",
        ),
        figures={
            "SM active": "25 %",
            "used": "1.0 GiB of 20 GiB",
            "free": "19 GiB",
            "MIG": "device 0 of this GPU",
        },
    ),
    "no_permission": Screens(
        panel={"utilisation": UNKNOWN, "PCIe rx": UNKNOWN, "memory": "66 GiB of 141 GiB", "others": UNKNOWN},
        words=(),
        figures={**_NOTHING_OF_HOPPER, "utilisation": UNKNOWN, "this program": UNKNOWN, "ECC": "on"},
    ),
    "no_memory_v2": Screens(
        panel={"memory": "12 GiB of 80 GiB", "utilisation": "37 %", "power": "652 of 700 W"},
        words=("power cap",),
        figures={**_NOTHING_OF_HOPPER, "used": "12 GiB of 80 GiB"},
    ),
    "garbage": Screens(
        panel={
            "utilisation": UNKNOWN,
            "memory": UNKNOWN,
            "PCIe rx": UNKNOWN,
            "PCIe tx": UNKNOWN,
            "SM clock": UNKNOWN,
        }
        | {"power": UNKNOWN, "link": UNKNOWN, "allocated": UNKNOWN, "others": UNKNOWN, "free": UNKNOWN},
        words=("slow-downs n/a",),
        figures={**_NOTHING_OF_HOPPER, "performance": UNKNOWN, "corrected": UNKNOWN, "replays": UNKNOWN}
        | {
            "persistence": UNKNOWN,
            "compute mode": UNKNOWN,
            "fan": UNKNOWN,
            "used": UNKNOWN,
            "capability": UNKNOWN,
        },
    ),
    "unified": Screens(
        panel={"utilisation": "44 %", "link": UNKNOWN, "PCIe rx": UNKNOWN, "power": "32 W"},
        figures={"counted": "shared with the host", "carries": UNKNOWN, "card and slot": UNKNOWN},
    ),
    "unified_zero": Screens(figures={"counted": "shared with the host"}),
    "reversed": Screens(
        panel=_H200_PANEL,
        words=("GPU 1  NVIDIA H200",),
        rows=(r"▸● 1 H200 +92 ", r"  0 RTX 3060 +3 "),
        figures=_TAIL,
    ),
}
"""By the scenario's name."""
