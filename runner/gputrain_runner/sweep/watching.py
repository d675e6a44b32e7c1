"""Host and GPU while a point is measured: the means of what the telemetry says meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread

from ..protocol import Hello
from ..telemetry.reading import Reading
from ..timeline import Gpu

EVERY_S = 0.5
OF_GPU = (
    "utilisation",
    "sm_active",
    "tensor_active",
    "dram_active",
    "sm_clock_mhz",
    "power_w",
    "temperature_c",
    "memory_used_bytes",
    "pcie_rx_bytes_per_s",
    "pcie_tx_bytes_per_s",
)
OF_HOST = ("cpu_utilisation", "worker_cpu_utilisation")


class Watching:
    """Looks at the telemetry twice a second, and forgets at each point's beginning."""

    def __init__(self, latest: Callable[[], Reading]) -> None:
        """`latest`: what the telemetry knows, at once."""
        self._latest = latest
        self._values: dict[str, list[float]] = {}
        self._uuid: str | None = None
        self._stop = Event()
        Thread(target=self._look, name="sweep telemetry", daemon=True).start()

    def begin(self, device: str, hello: Hello) -> None:
        """A point on that device begins."""
        self._uuid = next((each.uuid for each in hello.devices if each.device == device), None)
        self._values = {}

    def means(self) -> dict[str, float]:
        """The means since then; what was not known is absent."""
        return {name: sum(each) / len(each) for name, each in self._values.items() if each}

    def close(self) -> None:
        """Look no more."""
        self._stop.set()

    def _look(self) -> None:
        while not self._stop.wait(EVERY_S):
            reading, values = self._latest(), self._values
            gpu = next((each for each in reading.gpus if each.uuid == self._uuid), None)
            if self._uuid is not None and gpu is not None:
                _note(values, gpu, OF_GPU)
            for name in OF_HOST:
                value = getattr(reading.host, name)
                if value is not None:
                    values.setdefault(name, []).append(value)


def _note(values: dict[str, list[float]], gpu: Gpu, names: tuple[str, ...]) -> None:
    for name in names:
        value = getattr(gpu, name)
        if value is not None:
            values.setdefault(name, []).append(float(value))
