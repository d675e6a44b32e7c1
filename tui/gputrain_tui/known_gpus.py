"""Every GPU of a session as it was last heard of: values, the long tail, how long silent, what slows it."""

from __future__ import annotations

from collections.abc import Callable

from gputrain_runner.timeline import Gpu, GpuDetail, Memory, Sample

from .slowdowns import Slowdown, SlowdownWatch

Key = tuple[str | int, int | None]
"""UUID, or index where there is none, and the number of the MIG device."""

SILENT_S = 2.0
"""A driver that says nothing for longer is worth a word."""

SPEAKS: tuple[Callable[[Gpu], object], ...] = (
    lambda gpu: gpu.utilisation,
    lambda gpu: gpu.memory_used_bytes,
    lambda gpu: gpu.pcie_rx_bytes_per_s,
    lambda gpu: gpu.sm_clock_mhz,
    lambda gpu: gpu.power_w,
    lambda gpu: gpu.temperature_c,
)
"""Any of these known, and the driver has said something of a GPU."""


class KnownGpu:
    """One GPU. A driver that has fallen silent leaves its last word standing, and `silent_s` says how old."""

    def __init__(self, gpu: Gpu, t_s: float) -> None:
        self.gpu = gpu
        self.detail: GpuDetail | None = None
        self.memory: Memory | None = None
        """What PyTorch holds there; None where it does not train on this GPU."""
        self.silent_s = 0.0
        """Seconds since the driver last said anything of it."""
        self.trouble: str | None = None
        """What is wrong with reading it."""
        self.lost = False
        """Whether the driver has said, in `trouble`, that nothing of it can be read."""
        self._spoke_s = t_s
        self._watch = SlowdownWatch()

    def take(self, gpu: Gpu, t_s: float, memory: Memory | None) -> None:
        """Take in what a sample says of it."""
        self.trouble = gpu.trouble
        if gpu.detail is not None:
            self.detail = gpu.detail
        if speaks(gpu):
            self.gpu, self.memory = gpu, memory
            self._spoke_s = t_s
            self._watch.take(t_s, gpu)
            self.lost = False
        elif gpu.trouble is not None and (gpu.age_s is None or gpu.age_s <= SILENT_S):
            # It answered just now, and with this alone; a silent driver's last trouble comes with an age.
            self.lost = True
        self.silent_s = t_s - self._spoke_s if gpu.age_s is None else gpu.age_s

    @property
    def slowdowns(self) -> list[Slowdown] | None:
        """What holds its clocks back; None where the driver does not tell."""
        return self._watch.told(self.gpu) if self._watch.known else None


class KnownGpus:
    """All of them. A sample need not have every one: of those that do not train it tells only what is new."""

    def __init__(self) -> None:
        self._known: dict[Key, KnownGpu] = {}

    def take(self, sample: Sample, trains: Callable[[Gpu], bool]) -> None:
        """Take in a sample; `trains` tells the GPU whose memory PyTorch's figures are about."""
        for gpu in sample.gpus:
            key = key_of(gpu)
            if key not in self._known:
                self._known[key] = KnownGpu(gpu, sample.t)
            self._known[key].take(gpu, sample.t, sample.memory if trains(gpu) else None)

    def all(self) -> list[KnownGpu]:
        """Every GPU that was ever listed, by their numbers."""

        def number(known: KnownGpu) -> tuple[int, int]:
            return known.gpu.index, -1 if known.gpu.mig is None else known.gpu.mig

        return sorted(self._known.values(), key=number)

    def chosen(self, trains: Callable[[Gpu], bool]) -> KnownGpu | None:
        """The one that trains, or else the first; None where there is none."""
        gpus = self.all()
        return next((known for known in gpus if trains(known.gpu)), gpus[0] if gpus else None)


def key_of(gpu: Gpu) -> Key:
    """What tells a GPU, or a MIG device of it, from the others."""
    return (gpu.index if gpu.uuid is None else gpu.uuid, gpu.mig)


def speaks(gpu: Gpu) -> bool:
    """Whether the driver said anything of it."""
    return any(read(gpu) is not None for read in SPEAKS)
