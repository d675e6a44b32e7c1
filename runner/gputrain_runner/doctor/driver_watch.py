"""Asks the NVIDIA driver what the checks want to know, and looks at its GPUs while they are under load."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock, Thread

from msgspec import structs

from ..hardware import Gpu
from ..telemetry.device import Means
from ..telemetry.device_thread import DeviceThread
from ..telemetry.driver import DriverError
from ..telemetry.meter import Meter
from ..telemetry.pace import Pace
from ..telemetry.question import Tier
from .facts import Capability, DriverFacts, GpuFacts
from .noting_driver import NotingDriver, load_driver

PATIENCE_S = 5.0
"""How long the driver may take: without persistence it first has to wake up every GPU."""
_INTERVAL_S = 0.25
_ROUNDS = 2
"""Figures over time need two."""
_LOOK_S = 0.02
_HANGS_S = 2.0
"""A single call that takes longer hangs; the slowest usual ones take some milliseconds."""
_IDENTITY = frozenset({"index", "uuid", "name", "mig", "trouble", "detail", "age_s"})
_VALUES = tuple(name for name in Gpu.__struct_fields__ if name not in _IDENTITY)


@dataclass(slots=True)
class _Watched:
    """One GPU, its thread, and what has been seen of it."""

    driver: NotingDriver
    thread: DeviceThread
    power_limit_default_w: float | None = None
    first: tuple[Gpu, ...] | None = None
    """The GPU and its MIG devices before anything was done."""
    rounds: int = 0
    taken_s: float | None = None
    busiest: Gpu | None = None


@dataclass(slots=True)
class _Found:
    """What initialising has led to."""

    error: Exception | None = None
    version: str | None = None
    cuda: Capability | None = None
    gpus: list[_Watched] = field(default_factory=list)
    done: bool = False


class DriverWatch:
    """Daemon threads do the asking, one for each GPU: a call that hangs is left to the process's end."""

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._stop = Event()
        self._found = _Found()
        self._driver: NotingDriver | None = None
        self._began_s = time.monotonic()
        self._lock = Lock()

    def start(self) -> None:
        """Begin to ask."""
        self._began_s = time.monotonic()
        Thread(target=self._initialise, name="doctor-nvml", daemon=True).start()

    def wait(self) -> bool:
        """Until every GPU was looked at, at most as long as patience lasts; whether they all were."""
        until_s = self._began_s + self._patience_s
        while not (done := self._looked_at_all()) and time.monotonic() < until_s:
            time.sleep(_LOOK_S)
        return done

    @contextmanager
    def following(self) -> Iterator[None]:
        """While inside, keep of each GPU what is seen under the highest load."""
        done = Event()

        def follow() -> None:
            while not done.wait(_INTERVAL_S):
                self._looked_at_all()

        thread = Thread(target=follow, name="doctor-following", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def facts(self) -> DriverFacts:
        """What is known now; asks no more afterwards."""
        self._looked_at_all()
        self._stop.set()
        found = self._found
        waited_s = time.monotonic() - self._began_s
        return DriverFacts(
            error=found.error,
            silence=None if found.done else _silence(self._driver, "it", waited_s),
            version=found.version,
            cuda=found.cuda,
            gpus=tuple(_facts(at, gpu, waited_s) for at, gpu in enumerate(found.gpus)) if found.done else (),
        )

    def _initialise(self) -> None:
        found = self._found
        try:
            self._driver = driver = load_driver()
            driver.call("nvmlInit")
            found.version = _text(driver)
            found.cuda = _cuda(driver)
            count = int(driver.call("nvmlDeviceGetCount"))
            pace = Pace(count)
            found.gpus = [_watched(index, driver, pace) for index in range(count)]
            for gpu in found.gpus:
                Thread(target=self._ask, args=(gpu,), name="doctor-gpu", daemon=True).start()
        except Exception as error:
            found.error = error
        found.done = True

    def _ask(self, gpu: _Watched) -> None:
        """The work of a GPU's thread."""
        gpu.power_limit_default_w = _default_power_limit_w(gpu.driver, gpu.thread.index)
        gpu.thread.run(self._stop, 0.0)

    def _looked_at_all(self) -> bool:
        """Take in what is new; whether that is enough to judge."""
        if not self._found.done:
            return False
        with self._lock:
            looks = [_look(gpu) for gpu in self._found.gpus]
            return all(looks)


def _look(gpu: _Watched) -> bool:
    part = gpu.thread.part
    whole = part.gpus[0]
    if part.taken_s is not None and part.taken_s != gpu.taken_s:
        gpu.taken_s = part.taken_s
        gpu.rounds += 1
        if gpu.rounds <= _ROUNDS:
            gpu.first = part.gpus
        gpu.busiest = _busier(gpu.busiest, whole)
    if part.error is not None or _is_lost(whole):
        gpu.first = part.gpus
        return True
    return gpu.rounds >= _ROUNDS


def _busier(before: Gpu | None, now: Gpu) -> Gpu:
    """The sample under the higher load, with the best link that was seen: the link is asked more rarely
    than the load, so right after the load's beginning it is still the idle one."""
    if before is None:
        return now
    base = now if (now.utilisation or 0.0) >= (before.utilisation or 0.0) else before
    return structs.replace(
        base,
        pcie_generation=_most(before.pcie_generation, now.pcie_generation),
        pcie_width=_most(before.pcie_width, now.pcie_width),
    )


def _most(first: int | None, second: int | None) -> int | None:
    return max((value for value in (first, second) if value is not None), default=None)


def _is_lost(gpu: Gpu) -> bool:
    return gpu.trouble is not None and all(getattr(gpu, name) is None for name in _VALUES)


def _facts(index: int, gpu: _Watched, waited_s: float) -> GpuFacts:
    if gpu.first is None:
        nothing = Gpu(index=index, trouble=_silence(gpu.driver, f"GPU {index}", waited_s))
        return GpuFacts(gpu=nothing, busiest=nothing, lost=True)
    whole, *parts = gpu.first
    error = gpu.thread.part.error
    if error is not None:
        whole = structs.replace(whole, trouble=f"reading it failed: {type(error).__name__}: {error}")
    return GpuFacts(
        gpu=whole,
        busiest=gpu.busiest or whole,
        lost=_is_lost(whole) or error is not None,
        mig_devices=tuple(parts),
        power_limit_default_w=gpu.power_limit_default_w,
    )


def _silence(driver: NotingDriver | None, who: str, waited_s: float) -> str:
    """What is the matter where the driver has not told everything in time."""
    calling = driver.calling if driver is not None else None
    if calling is None or (since_s := time.monotonic() - calling[1]) < _HANGS_S:
        return f"driver slow: after {waited_s:.0f} s {who} had not told everything yet"
    return f"driver silent: {calling[0]} has not answered for {since_s:.0f} s"


def _watched(index: int, driver: NotingDriver, pace: Pace) -> _Watched:
    own = driver.with_meter(Meter())
    means = Means(own, pace, _INTERVAL_S / Tier.FAST.value, time.monotonic)
    return _Watched(own, DeviceThread(index, means, _INTERVAL_S, lambda: None))


def _text(driver: NotingDriver) -> str | None:
    try:
        return str(driver.call("nvmlSystemGetDriverVersion")) or None
    except DriverError:
        return None


def _cuda(driver: NotingDriver) -> Capability | None:
    """The newest CUDA version: 12090 is 12.9."""
    for name in ("nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"):
        try:
            number = int(driver.call(name))
        except DriverError:
            continue
        if 1000 <= number < 1_000_000:
            return number // 1000, number % 1000 // 10
    return None


def _default_power_limit_w(driver: NotingDriver, index: int) -> float | None:
    try:
        handle = driver.call("nvmlDeviceGetHandleByIndex", index)
        milliwatts = int(driver.call("nvmlDeviceGetPowerManagementDefaultLimit", handle))
    except DriverError:
        return None
    return milliwatts / 1000 if 0 < milliwatts <= 10_000_000 else None
