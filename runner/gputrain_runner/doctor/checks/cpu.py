"""Checks of the CPU: the cores this process may use, its threads against them, and who else is at work."""

from __future__ import annotations

from ..facts import Facts
from ..unit import NOT_TOLD, Result, Unit, note, ok, problem

_THREADS = "OMP_NUM_THREADS"
_BUSY = 0.5
"""The share of all cores from which on other work shows in what is measured."""


def _cores(facts: Facts) -> Result | None:
    host = facts.host
    usable, affinity, installed = host.host.cores, host.cores_by_affinity, host.cores_installed
    if usable is None:
        return NOT_TOLD
    if installed is None or usable >= installed:
        return ok(f"all {usable} cores may be used")
    if affinity is not None and usable < affinity:
        return note(
            f"{usable} of {installed} cores may be used: the control group allows no more time",
            "give the container or job more CPU time if data or CPU training is slow (docker: --cpus)",
        )
    return note(
        f"{usable} of {installed} cores may be used: this process is bound to them",
        "start it on more cores if data or CPU training is slow (taskset, --cpuset-cpus, the job's cores)",
    )


def _threads(facts: Facts) -> Result | None:
    host, given = facts.host, facts.surroundings.environment.get(_THREADS, "").strip()
    cores, affinity = host.host.cores, host.cores_by_affinity
    if cores is None:
        return None
    if not given:
        if affinity is not None and affinity > cores:
            return problem(
                f"PyTorch starts a thread for each of {affinity} cores, but has the time of {cores}: "
                "its threads wait for one another",
                f"export {_THREADS}={cores}, or turn the setting `threads` to {cores}",
            )
        return ok(f"as PyTorch chooses ({cores} cores; {_THREADS} is not set)")
    # A list gives the threads of nested regions; the first counts here.
    first = given.split(",")[0].strip()
    threads = int(first) if first.isascii() and first.isdigit() and len(first) < 10 else 0
    if threads < 1:
        return note(f"{_THREADS} is {given!r}, which is no number of threads", f"export {_THREADS}={cores}")
    if threads > cores:
        return problem(
            f"{_THREADS} is {threads}, but {cores} cores may be used: threads wait for one another",
            f"export {_THREADS}={cores}",
        )
    if threads < cores:
        return note(
            f"{_THREADS} is {threads}: CPU training and operators leave {cores - threads} of {cores} "
            "cores unused",
            f"unset {_THREADS}, or turn the setting `threads` up",
        )
    return ok(f"{_THREADS} is {threads}, as many as cores")


def _load(facts: Facts) -> Result | None:
    load, installed = facts.host.load, facts.host.cores_installed
    if load is None or not installed:
        return None
    said = f"{load:.1f} of {installed} cores wanted during the last minute"
    if load < max(1.0, _BUSY * installed):
        return ok(said)
    return note(f"{said}: figures measured now are lower and wider", "measure when the machine is quiet")


UNITS = (
    Unit("cpu_cores", "CPU cores", _cores),
    Unit("cpu_threads", "CPU threads", _threads),
    Unit("cpu_load", "CPU load", _load),
)
