"""The memory limit of the control group (container, job) this program runs in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
_SELF = Path("/proc/self/cgroup")
_UNLIMITED = 2**60
"""Version 1 writes a huge number where there is no limit."""


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """The group with the lowest limit of those this process is in."""

    folder: Path
    limit_name: str
    usage_name: str
    cache_name: str

    def read(self) -> tuple[int, int] | None:
        """Bytes (used, limit), without file cache that the kernel would give up; None where it is gone."""
        limit = _number(self.folder / self.limit_name)
        usage = _number(self.folder / self.usage_name)
        if limit is None or usage is None:
            return None
        return max(0, usage - self._reclaimable()), limit

    def _reclaimable(self) -> int:
        try:
            lines = (self.folder / "memory.stat").read_text().splitlines()
        except OSError:
            return 0
        for line in lines:
            name, _, value = line.partition(" ")
            if name == self.cache_name:
                return int(value) if value.isdigit() else 0
        return 0


def find_memory_limit(root: Path = _ROOT, own: Path = _SELF) -> MemoryLimit | None:
    """The tightest memory limit on this process; None where there is none (or no cgroups at all)."""
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return None
    found: list[tuple[int, MemoryLimit]] = []
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers == "":
            base, names = root, ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            base = root / "memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        for folder in _upwards(base, path):
            limit = _number(folder / names[0])
            if limit is not None:
                found.append((limit, MemoryLimit(folder, *names)))
    return min(found, key=lambda pair: pair[0])[1] if found else None


def _upwards(base: Path, path: str) -> list[Path]:
    """A group's folder and those above it. Inside a container only `base` may be there to be seen."""
    parts = [part for part in path.split("/") if part not in ("", "..")]
    return [base.joinpath(*parts[:depth]) for depth in range(len(parts), -1, -1)]


def _number(path: Path) -> int | None:
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() and int(text) < _UNLIMITED else None
