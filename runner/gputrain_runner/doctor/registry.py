"""All checks, in the order in which they are shown: adding one is an entry in its family's `UNITS`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from .checks import clocks, cpu, driver, health, kernels, link, memory, pytorch, sharing, system, visibility
from .examination import Check, Examination, ExaminedGpu, Group, NotRun
from .facts import Facts, GpuFacts
from .unit import NOT_TOLD, GpuUnit, Result, Unit, note
from .words import plain

UNITS: tuple[tuple[Group, Sequence[Unit]], ...] = (
    ("host", (*system.UNITS, *cpu.UNITS, *memory.UNITS)),
    ("driver", driver.UNITS),
    ("pytorch", (*pytorch.UNITS, *visibility.UNITS)),
)
GPU_UNITS: Sequence[GpuUnit] = (
    *health.UNITS,
    *link.UNITS,
    *clocks.UNITS,
    *sharing.UNITS,
    *kernels.UNITS,
)


def examine(facts: Facts) -> Examination:
    """Make every check that applies."""
    return Examination(
        host=facts.host.host,
        gpus=[
            ExaminedGpu(device=_device(gpu), name=gpu.gpu.name, uuid=gpu.gpu.uuid)
            for gpu in facts.driver.gpus
        ],
        checks=[*_of_machine(facts), *(check for gpu in facts.driver.gpus for check in _of_gpu(facts, gpu))],
        not_run=list(_not_run(facts)),
        probe=facts.probe,
    )


def _of_machine(facts: Facts) -> Iterator[Check]:
    for group, units in UNITS:
        for unit in units:
            result = _made(partial(unit.examine, facts))
            if result is not None:
                yield _check(unit, group, None, result)


def _of_gpu(facts: Facts, gpu: GpuFacts) -> Iterator[Check]:
    """The checks of one GPU, and last in one line what it does not tell."""
    untold = []
    for unit in GPU_UNITS:
        result = _made(partial(unit.examine, facts, gpu))
        if result is NOT_TOLD:
            untold.append(unit.title)
        elif result is not None:
            yield _check(unit, "gpu", _device(gpu), result)
    if untold:
        found = f"n/a, not told by this card or driver: {', '.join(untold)}"
        yield _check(_UNTOLD, "gpu", _device(gpu), note(found))


_UNTOLD = GpuUnit("not_told", "not told", lambda _facts, _gpu: None)


def _not_run(facts: Facts) -> Iterator[NotRun]:
    """What only a loaded PyTorch can tell, where it was not loaded and there is something to tell."""
    if facts.torch.loaded is not None or not facts.torch.installed:
        return
    machine = (unit for _, units in UNITS for unit in units if unit.needs_torch)
    for unit in machine:
        yield NotRun(name=unit.name, title=unit.title)
    if facts.torch.cuda is not None and facts.driver.gpus:
        for gpu_unit in GPU_UNITS:
            if gpu_unit.needs_torch:
                yield NotRun(name=gpu_unit.name, title=gpu_unit.title)


def _made(examine_it: Callable[[], Result | None]) -> Result | None:
    """What a check says; one that fails does not take the others with it."""
    try:
        return examine_it()
    except Exception as error:
        return note(
            f"this check failed, a mistake of this program: {type(error).__name__}: {plain(str(error))}"
        )


def _check(unit: Unit | GpuUnit, group: Group, device: str | None, result: Result) -> Check:
    return Check(
        name=unit.name,
        group=group,
        device=device,
        verdict=result.verdict,
        found=plain(result.found),
        do=None if result.do is None else plain(result.do),
        title=unit.title,
    )


def _device(gpu: GpuFacts) -> str:
    return f"gpu:{gpu.gpu.index}"
