"""`loader`: PyTorch's DataLoader over single samples, the way most people feed their training."""

from __future__ import annotations

import contextlib
import functools
import gc
import math
import multiprocessing.connection
import multiprocessing.util
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

import numpy.random  # noqa: F401 - or each process would import it for itself, before its first batch.
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from ...process import exit_in_words
from .. import lifeline
from ..data import AnySplit, DataError
from ..phases import PhaseClock
from .interface import Supply, SupplyError
from .memory import SHARED_MEMORY, free_shared_memory, in_words, sample_bytes

AHEAD = 2
"""Batches each process is asked for ahead of time, DataLoader's own default."""
LOOK_UP_EVERY = 16
"""Samples after which a process looks whether its batch is still wanted."""
GRACE_S, END_S = 0.4, 0.4
"""For the processes to leave by themselves, and once they are told to."""
LOST_S = 0.5
"""For one that does not answer to be known as ended."""

_T = TypeVar("_T")
_Asked = tuple[int, list[int]]
"""A batch asked for: since which move, and which samples."""


class LoaderSupply(Supply):
    """`workers` processes put samples together to batches; with 0 the training thread does.

    The processes stay over epochs and changes of the batch size.
    """

    def __init__(self, split: AnySplit, device: torch.device, workers: int) -> None:
        super().__init__(split, device, workers)
        self._copies = device.type != "cpu"
        self._samples = _Samples(split)
        self._batches = _Batches()
        self._loader: DataLoader[tuple[Tensor, Tensor]] | None = self._build()
        self._iterator: Iterator[Any] | None = None
        self._processes: list[BaseProcess] = []
        self._shared_bytes = 0

    def next(self, clock: PhaseClock) -> tuple[Tensor, Tensor]:
        """Take the next batch from the loader; copy it from pinned memory."""
        self._take()
        inputs, targets = self._in_one_line(self._fetch)
        clock.mark()
        if self._copies:
            inputs = inputs.to(self.device, non_blocking=True)
            targets = targets.to(self.device, non_blocking=True)
        clock.mark()
        return inputs, targets

    def close(self) -> None:
        """End the processes. One that is at a sample for long is not waited for."""
        self._samples.move()
        # The loader waits for its processes when it goes; a thread waits with it.
        held = [self._iterator, self._loader]
        self._iterator = self._loader = None
        processes, self._processes = self._processes, []
        if not processes:
            return
        ending = threading.Thread(target=held.clear, name="loader's end", daemon=True)
        ending.start()
        ending.join(GRACE_S)
        if ending.is_alive():
            for process in processes:
                process.terminate()
            ending.join(END_S)

    def _prepare(self) -> None:
        self._check_shared_memory()
        generation = self._samples.move()
        self._batches.place = generation, self._order[self._taken :], self._batch_size
        before = [] if self._processes else multiprocessing.active_children()
        try:
            self._in_one_line(self._iterate)
        finally:
            if not self._processes:
                self._processes = [one for one in multiprocessing.active_children() if one not in before]

    def _iterate(self) -> None:
        assert self._loader is not None, "it is closed"
        with _own_ear_for_children():
            self._iterator = iter(self._loader)

    def _fetch(self) -> Any:
        assert self._iterator is not None, "it was not begun"
        return next(self._iterator)

    def _in_one_line(self, call: Callable[[], _T]) -> _T:
        """What it returns; what it raises is told in one line.

        The loader ends its processes when it is let go, so nothing that somebody keeps may hold it.
        """
        try:
            return call()
        except Exception as error:
            traceback.clear_frames(error.__traceback__)
            codes = self._exit_codes(LOST_S if isinstance(error, (OSError, EOFError)) else 0.0)
            failed = _explained(error, codes)
        raise failed.with_traceback(None)

    def _build(self) -> DataLoader[tuple[Tensor, Tensor]]:
        # Without a generator of its own, it would draw from the one that dropout draws from.
        options: dict[str, Any] = {"generator": torch.Generator()}
        if self.workers:
            # Their sockets lie in a folder that each would make for itself, and leave there when killed.
            lifeline.remove_at_end(multiprocessing.util.get_temp_dir())
            options |= {
                "persistent_workers": True,
                "prefetch_factor": AHEAD,
                "worker_init_fn": functools.partial(_begin_process, os.getpid()),
                "multiprocessing_context": "fork" if sys.platform == "linux" else None,
            }
        return DataLoader(
            self._samples,
            batch_sampler=self._batches,
            num_workers=self.workers,
            pin_memory=self._copies,
            **options,
        )

    def _exit_codes(self, timeout_s: float) -> list[int]:
        """Of the processes that have ended otherwise than they should, waiting for a first one that long.

        A connection breaks off, and a sentinel tells, just before the system knows of an end.
        """
        ended = multiprocessing.connection.wait([one.sentinel for one in self._processes], timeout_s)
        for one in self._processes:
            if one.sentinel in ended:
                one.join(LOST_S)
        return [code for one in self._processes if (code := one.exitcode)]

    def _check_shared_memory(self) -> None:
        """Processes that write where there is no shared memory left are killed for it, so ask before."""
        if not self.workers:
            return
        batches = min(self.workers * AHEAD + 1, math.ceil(len(self._order) / self._batch_size))
        needed = batches * self._batch_size * sample_bytes(self.split)
        free = free_shared_memory()
        if free is not None and needed > free + self._shared_bytes:
            lacking = f"needs {in_words(needed)} of shared memory, {SHARED_MEMORY} has {in_words(free)} left"
            raise SupplyError(_no_shared_memory(lacking))
        self._shared_bytes = needed


class _Samples(Dataset[tuple[Tensor, Tensor]]):
    """Single samples of a split, as many at a time as a batch has; gives up a batch nobody wants."""

    def __init__(self, split: AnySplit) -> None:
        self._split = split
        self._wanted = multiprocessing.RawValue("q", 0)  # Shared with the processes.

    def move(self) -> int:
        """What was asked for is not wanted any more; the number of what is asked for from now on."""
        self._wanted.value += 1
        return int(self._wanted.value)

    def __getitems__(self, asked: _Asked) -> list[tuple[Tensor, Tensor]]:
        """The samples of a batch."""
        generation, indices = asked
        split = self._split
        samples: list[tuple[Tensor, Tensor]] = []
        for first in range(0, len(indices), LOOK_UP_EVERY):
            if self._wanted.value != generation:
                raise SupplyError("not wanted any more")
            samples += [split[index] for index in indices[first : first + LOOK_UP_EVERY]]
        return samples


class _Batches:
    """The batch sampler: what is asked for, from the place on."""

    def __init__(self) -> None:
        self.place = 0, torch.empty(0, dtype=torch.int64), 1

    def __iter__(self) -> Iterator[Any]:
        """Begin at the place; each is `_Asked`."""
        generation, order, batch_size = self.place
        for first in range(0, len(order), batch_size):
            yield generation, order[first : first + batch_size].tolist()


def _begin_process(parent: int, _worker: int) -> None:
    """In a process of the loader: end with the trainer, whose memory is not to be tidied up here."""
    lifeline.die_with_parent(parent)
    gc.freeze()


@contextlib.contextmanager
def _own_ear_for_children() -> Iterator[None]:
    """What hears of processes that end is afterwards as it was.

    The loader would have a signal raise in whatever the training thread is at just then. It looks after
    them when it waits for a batch, too, and there an error has its place.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # Signals are the main thread's.
        return
    heard = signal.getsignal(signal.SIGCHLD)
    try:
        yield
    finally:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL if heard is None else heard)


def _explained(error: Exception, exit_codes: list[int]) -> Exception:
    """The error in one line.

    Args:
        error: from a process of the loader, it brings that one's whole traceback.
        exit_codes: of those processes that ended in another way than they should.
    """
    text = str(error)
    if "shared memory" in text or -signal.SIGBUS in exit_codes:
        return SupplyError(_no_shared_memory("ran out of shared memory"))
    if exit_codes:
        return SupplyError(f"one of the loader's processes has ended: {exit_in_words(exit_codes[0])}")
    if isinstance(error, (OSError, EOFError)):
        return SupplyError(f"data path loader: {text or 'a process is gone'}")
    last_words = re.findall(r"^([\w.]+): (.*)$", text, re.MULTILINE) if text.startswith("Caught ") else []
    if not last_words or isinstance(error, MemoryError):
        return error
    name, what = last_words[-1]
    told = DataError(what) if isinstance(error, DataError) else SupplyError(f"{name}: {what}")
    told.add_note(text)  # For the log.
    return told


def _no_shared_memory(what: str) -> str:
    return f"data path loader {what}: take fewer workers, smaller batches or another data path"
