"""The simulated NVIDIA driver for tests: builds the library, writes its scenario, counts its calls."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from .cards import DATA_CENTRE, Card, Value

_SOURCES = ("nvml.c", "scenario.c")
_LIBRARY = "libnvidia-ml.so.1"


def why_not() -> str | None:
    """Why there can be no simulated driver here; None where there can."""
    if not sys.platform.startswith("linux"):
        return "the simulated driver is loaded through LD_LIBRARY_PATH, which is Linux"
    return None if _compiler() else "the simulated driver needs a C compiler (cc or gcc)"


def _compiler() -> str | None:
    return shutil.which("cc") or shutil.which("gcc")


class SimulatedDriver:
    """A driver library of which each test says what it answers, also while it is in use.

    It is found through `LD_LIBRARY_PATH`, which a process reads when it starts: what is to use it runs
    in a process of its own, with `environment()`.
    """

    def __init__(self, folder: Path, builds: Path) -> None:
        """`folder`: of this test alone; `builds`: where built libraries are kept for the next test."""
        self._scenario = folder / "scenario.txt"
        self._calls = folder / "calls.txt"
        self._builds = builds
        self._missing: frozenset[str] = frozenset()
        self._entries: dict[str, Value] = {"devices": 0, "driver_version": "575.57.08"}
        folder.mkdir(parents=True, exist_ok=True)
        self._write()

    def without(self, *functions: str) -> None:
        """Leave functions out of the library, as an older one does; before `environment()` is asked for."""
        self._missing = frozenset(functions)

    def set(self, entries: Mapping[str, Value | None]) -> None:
        """Change entries of the scenario at once; None takes one out. What keys there are says nvml.c."""
        for key, value in entries.items():
            if value is None:
                self._entries.pop(key, None)
            else:
                self._entries[key] = value
        self._write()

    def cards(self, *cards: Card) -> None:
        """Plug in these GPUs, in this order; one data-centre card if none is named."""
        chosen = cards or (DATA_CENTRE,)
        self._entries = {key: value for key, value in self._entries.items() if not key.startswith("gpu")}
        self._entries["devices"] = len(chosen)
        for index, card in enumerate(chosen):
            uuid = f"GPU-{index:08x}-0000-4000-8000-000000000000"
            self._entries |= {f"gpu{index}.{key}": value for key, value in {"uuid": uuid, **card}.items()}
        self._write()

    def environment(self) -> dict[str, str]:
        """The environment of a process that is to find this driver."""
        library_path = [str(self._library()), os.environ.get("LD_LIBRARY_PATH", "")]
        return {
            **os.environ,
            "LD_LIBRARY_PATH": os.pathsep.join(filter(None, library_path)),
            "SIMULATED_DRIVER_SCENARIO": str(self._scenario),
            "SIMULATED_DRIVER_CALLS": str(self._calls),
        }

    def calls(self, function: str | None = None, gpu: int | None = None) -> int:
        """How often it was called so far: in all, one function of it, and for one GPU."""
        return sum(
            (function is None or name == function) and (gpu is None or int(index) == gpu)
            for _, name, index in self.log()
        )

    def log(self) -> list[tuple[float, str, int]]:
        """Every call so far: seconds since the library was loaded, function, GPU (-1 where of none)."""
        if not self._calls.exists():
            return []
        rows = (line.split() for line in self._calls.read_text().splitlines())
        return [(float(at), name, int(index)) for at, name, index in rows]

    def _write(self) -> None:
        lines = "".join(f"{key} = {value}\n" for key, value in self._entries.items())
        # Replaced as a whole, so that the library never reads half of it.
        fresh = self._scenario.with_suffix(".new")
        fresh.write_text(lines)
        fresh.replace(self._scenario)

    def _library(self) -> Path:
        """The folder with the library, built if it is not there yet."""
        key = hashlib.sha256(" ".join(sorted(self._missing)).encode()).hexdigest()[:12]
        folder = self._builds / key
        if (folder / _LIBRARY).exists():
            return folder
        folder.mkdir(parents=True, exist_ok=True)
        hidden = "".join(f" {name};" for name in sorted(self._missing))
        exports = folder / "exports.map"
        exports.write_text(f"{{ global: nvml*; local:{hidden} *; }};\n")
        here = Path(__file__).parent
        fresh = folder / f"{_LIBRARY}.{os.getpid()}"
        command = [str(_compiler()), "-shared", "-fPIC", "-O1", "-std=gnu11", "-Wall", "-Wextra", "-Werror"]
        command += ["-pthread", f"-Wl,--version-script={exports}", "-o", str(fresh)]
        subprocess.run([*command, *(str(here / name) for name in _SOURCES)], check=True)
        fresh.rename(folder / _LIBRARY)
        return folder
