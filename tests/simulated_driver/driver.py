"""The simulated NVIDIA driver for tests: builds the library, writes its scenario, counts its calls."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from .cards import DATA_CENTRE, Card, Value

NOT_SUPPORTED = 3
_LIBRARY = "libnvidia-ml.so.1"
_SOURCES = sorted(Path(__file__).parent.glob("*.c"))
_HEADERS = sorted(Path(__file__).parent.glob("*.h"))


def why_not() -> str | None:
    """Why there can be no simulated driver here; None where there can."""
    if not sys.platform.startswith("linux"):
        return "the simulated driver is loaded through LD_LIBRARY_PATH, which is Linux"
    return None if _compiler() else "the simulated driver needs a C compiler (cc or gcc)"


def _compiler() -> str | None:
    return shutil.which("cc") or shutil.which("gcc")


def uuid_of(index: int) -> str:
    """The UUID of the GPU at this place of the driver's list, where its card has none of its own."""
    return f"GPU-{index:08x}-0000-4000-8000-000000000000"


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
        self._entries: dict[str, Value] = {
            "devices": 0,
            "driver_version": "575.57.08",
            "nvml_version": "12.575.57.08",
            "cuda_driver_version": 12090,
        }
        folder.mkdir(parents=True, exist_ok=True)
        self._write()

    def without(self, *functions: str) -> None:
        """Leave functions out of the library, as an older one does; before `environment()` is asked for."""
        self._missing = frozenset(functions)

    def set(self, entries: Mapping[str, Value | None]) -> None:
        """Change entries of the scenario at once; None takes one out. Their forms and meaning: nvml.c."""
        for key, value in entries.items():
            if value is None:
                self._entries.pop(key, None)
            else:
                self._entries[key] = value
        self._write()

    def change(self, index: int, changed: Mapping[str, Value | None]) -> None:
        """Change entries of one GPU at once; None takes one out."""
        self.set({f"gpu{index}.{key}": value for key, value in changed.items()})

    def cards(self, *cards: Card) -> None:
        """Plug in these GPUs, in this order; one data-centre card if none is named."""
        chosen = cards or (DATA_CENTRE,)
        self._entries = {key: value for key, value in self._entries.items() if not key.startswith("gpu")}
        self._entries["devices"] = len(chosen)
        for index, card in enumerate(chosen):
            own = {"uuid": uuid_of(index), "minor_number": index, **card}
            self._entries |= {f"gpu{index}.{key}": value for key, value in own.items()}
        self._write()

    def entries(self) -> dict[str, Value]:
        """The scenario as it is now."""
        return dict(self._entries)

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
            (function is None or name == function) and (gpu is None or index == gpu)
            for _, name, index in self.log()
        )

    def log(self) -> list[tuple[float, str, int]]:
        """Every call so far: seconds since the library was loaded, function, GPU (-1 where of none)."""
        return [(float(row[0]), row[1], int(row[2])) for row in self._rows() if len(row) == 3]

    def answers(self) -> list[tuple[str, int, float, int]]:
        """Every call that has ended: function, GPU, milliseconds it took, the code it returned.

        A field that is refused is among them as `field.N`.
        """
        return [(row[1], int(row[2]), float(row[3]), int(row[4])) for row in self._rows() if len(row) == 5]

    def spent_ms(self, function: str | None = None, gpu: int | None = None) -> float:
        """How long callers were inside, counted as `calls` counts; without what is still inside."""
        return sum(
            ms for name, index, ms, _ in self.answers() if function in (None, name) and gpu in (None, index)
        )

    def refused(self) -> list[tuple[str, int]]:
        """Every answer so far that was NOT_SUPPORTED: function or field, and GPU."""
        return [(name, index) for name, index, _, code in self.answers() if code == NOT_SUPPORTED]

    def most_at_once(self) -> dict[int, int]:
        """By GPU, how many of its calls were under way at the same time, at most."""
        inside: dict[int, int] = {}
        most: dict[int, int] = {}
        for row in self._rows():
            if row[1].startswith("field."):
                continue
            index = int(row[2])
            inside[index] = inside.get(index, 0) + (1 if len(row) == 3 else -1)
            most[index] = max(most.get(index, 0), inside[index])
        return most

    def _rows(self) -> Iterator[list[str]]:
        """The log's lines; the last may be half written."""
        text = self._calls.read_text() if self._calls.exists() else ""
        complete, _, _ = text.rpartition("\n")
        return (line.split() for line in complete.splitlines())

    def _write(self) -> None:
        lines = "".join(f"{key} = {value}\n" for key, value in self._entries.items())
        # Replaced as a whole, so that the library never reads half of it.
        fresh = self._scenario.with_suffix(".new")
        fresh.write_text(lines)
        fresh.replace(self._scenario)

    def _library(self) -> Path:
        """The folder with the library, built if it is not there yet."""
        parts = [" ".join(sorted(self._missing)), *(path.read_text() for path in (*_SOURCES, *_HEADERS))]
        folder = self._builds / hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]
        if (folder / _LIBRARY).exists():
            return folder
        folder.mkdir(parents=True, exist_ok=True)
        hidden = "".join(f" {name};" for name in sorted(self._missing))
        exports = folder / "exports.map"
        exports.write_text(f"{{ global: nvml*; local:{hidden} *; }};\n")
        fresh = folder / f"{_LIBRARY}.{os.getpid()}"
        command = [str(_compiler()), "-shared", "-fPIC", "-O1", "-std=gnu11", "-Wall", "-Wextra", "-Werror"]
        command += ["-pthread", f"-Wl,--version-script={exports}", "-o", str(fresh)]
        subprocess.run([*command, *map(str, _SOURCES), "-lm"], check=True)
        fresh.rename(folder / _LIBRARY)
        return folder
