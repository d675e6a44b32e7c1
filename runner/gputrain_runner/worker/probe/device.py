"""Measuring one device's ceilings, with everything in PyTorch and in its memory as before at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import torch

from ...ceilings import Ceilings, Figure, is_wide
from ...timeline import Device
from .. import devices
from ..execution import precision
from ..trainer import free_memory
from . import cpu, gpu
from .rounds import Key, Repeat, go_round


def measure(device: Device, seconds: float, stopped: Callable[[], bool] = lambda: False) -> Ceilings | None:
    """The ceilings of a device, in about so many seconds; None where it was stopped.

    Nothing else may run on it in this process meanwhile. Its random numbers, PyTorch's switches and number
    of threads are afterwards what they were; the memory it took is given back. (MKL, once told a number of
    threads, no longer lowers it by itself; PyTorch has no way to take that back.)

    Raises:
        RuntimeError: the device's context is lost.
    """
    where = torch.device(device.device)
    try:
        with _as_before(where), torch.no_grad():
            figures = _figures(where, seconds, stopped)
    finally:
        _give_back(where)
    return None if figures is None else _ceilings(device, figures)


def _figures(where: torch.device, seconds: float, stopped: Callable[[], bool]) -> dict[Key, Figure] | None:
    until = time.perf_counter() + seconds
    free_memory()  # What training's cache holds unused counts as free.
    built: dict[Key, Repeat] = {}
    for key, build in (gpu if where.type == "cuda" else cpu).quantities(where, seconds).items():
        if stopped():
            return None
        repeat = build()
        if repeat is not None:
            built[key] = repeat
    return go_round(built, until, stopped)


@contextmanager
def _as_before(where: torch.device) -> Iterator[None]:
    threads = torch.get_num_threads()
    try:
        with precision.product_switches_kept():
            if where.type == "cuda":
                with torch.cuda.device(where):
                    yield
            else:
                yield
    finally:
        if torch.get_num_threads() != threads:
            torch.set_num_threads(threads)


def _give_back(where: torch.device) -> None:
    free_memory()
    if where.type == "cuda":
        # Not of the training's making: its own highest is reached again with the next step.
        torch.cuda.reset_peak_memory_stats(where)
        empty_pinned_cache = getattr(torch.accelerator, "empty_host_cache", None)  # Newer than PyTorch 2.6.
        if empty_pinned_cache is not None:
            empty_pinned_cache()


def _ceilings(device: Device, figures: dict[Key, Figure]) -> Ceilings:
    several: dict[str, dict[str, Figure]] = {}
    single: dict[str, Figure] = {}
    for (field, name), found in figures.items():
        if name:
            several.setdefault(field, {})[name] = found
        else:
            single[field] = found
    by_threads = several.get("matmul_threads_flops_per_s", {})
    products = several.get("matmul_flops_per_s", {})
    if by_threads:  # With all threads: that is what training may use.
        products = {"fp32": by_threads[max(by_threads, key=int)], **products}
    main = [
        *products.values(),
        *(single[name] for name in ("memory_bytes_per_s", "launch_us") if name in single),
    ]
    return Ceilings(
        device=device.device,
        name=device.name,
        uuid=device.uuid,
        measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
        torch=str(torch.__version__),
        driver=devices.driver_version() if device.device != "cpu" else None,
        matmul_flops_per_s=products,
        matmul_threads_flops_per_s=by_threads,
        noisy=any(is_wide(found) for found in main),
        **single,
    )
