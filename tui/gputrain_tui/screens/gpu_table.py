"""All GPUs, one row each, with one of them marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual.geometry import Size

from gputrain_runner.timeline import Gpu

from .. import format, gpu_text
from ..known_gpus import SILENT_S, KnownGpu
from ..slowdowns import SHORT, Slowdown
from ..widgets.lines import Line, Lines, Run
from ..widgets.text import Role, padded, shorten

LEAST_NAME_CELLS = 8
MARKS_CELLS = 3


@dataclass(frozen=True, slots=True)
class Column:
    """Figures of one kind, right-aligned below their title and unit."""

    title: str
    cells: int
    read: Callable[[Gpu], str]
    from_width: int = 0
    """Width of the table from which on it is shown."""


def _number(value: float | None, digits: str = ",.0f") -> str:
    return format.UNKNOWN if value is None else f"{value:{digits}}"


def _memory(gpu: Gpu) -> str:
    used, total = gpu.memory_used_bytes, gpu.memory_total_bytes
    gib = 2**30
    if used is None and total is None:
        return format.UNKNOWN
    return f"{_number(None if used is None else used / gib, '.1f')} / " + (
        _number(None if total is None else total / gib)
    )


COLUMNS = (
    Column("util %", 6, lambda gpu: _number(None if gpu.utilisation is None else gpu.utilisation * 100)),
    Column("SM %", 4, lambda gpu: _number(None if gpu.sm_active is None else gpu.sm_active * 100), 100),
    Column("GiB", 10, _memory),
    Column("rx B/s", 6, lambda gpu: format.short(gpu.pcie_rx_bytes_per_s)),
    Column("tx B/s", 6, lambda gpu: format.short(gpu.pcie_tx_bytes_per_s)),
    Column("MHz", 5, lambda gpu: _number(gpu.sm_clock_mhz)),
    Column("W", 4, lambda gpu: _number(gpu.power_w)),
    Column("°C", 3, lambda gpu: _number(gpu.temperature_c)),
)
BAR_AFTER = "util %"


class GpuTable(Lines):
    """A title row and a row per GPU; where they do not fit, the rows around the marked one."""

    DEFAULT_CSS = """
    GpuTable { height: auto; }
    """

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._gpus: Sequence[KnownGpu] = ()
        self._at = 0
        self._trains: Callable[[Gpu], bool] = lambda gpu: False
        self._laid_out_for = 0

    def show_gpus(self, gpus: Sequence[KnownGpu], at: int, trains: Callable[[Gpu], bool]) -> None:
        """Show these, number `at` marked ▸ and the one that trains ●."""
        self._gpus, self._at, self._trains = gpus, at, trains
        if len(gpus) != self._laid_out_for:
            self._laid_out_for = len(gpus)
            self.refresh(layout=True)
        self.rebuild()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """All rows, as far as the style sheet lets them."""
        return 1 + len(self._gpus)

    def build(self, width: int, height: int) -> Sequence[Line]:
        """Titles and rows."""
        columns = [column for column in COLUMNS if width >= column.from_width]
        bar_cells = 4 if width < 100 else 12
        figures = sum(column.cells + 1 for column in columns) + bar_cells + 1
        rest = width - MARKS_CELLS - figures - 1
        longest = max((len(_name(known.gpu)) for known in self._gpus), default=0)
        name_cells = max(LEAST_NAME_CELLS, min(longest + 1, rest // 2))
        last_cells = max(0, rest - name_cells - 1)
        first = max(0, min(self._at - (height - 1) // 2, len(self._gpus) - height + 1))
        shown = list(enumerate(self._gpus))[first : first + height - 1]
        return [
            _titles(columns, name_cells, bar_cells, last_cells),
            *(self._row(known, n, columns, (name_cells, bar_cells, last_cells)) for n, known in shown),
        ]

    def _row(
        self, known: KnownGpu, number: int, columns: Sequence[Column], cells: tuple[int, int, int]
    ) -> Line:
        gpu, marked = known.gpu, number == self._at
        name_cells, bar_cells, last_cells = cells
        silent = known.lost or known.silent_s > SILENT_S
        line: list[Run] = [
            ("▸" if marked else " ", "accent"),
            ("● " if self._trains(gpu) else "  ", "strong"),
            (padded(shorten(_name(gpu), name_cells), name_cells), "accent" if marked else ""),
        ]
        for column in columns:
            text = padded(column.read(gpu), column.cells, right=True)
            dim = silent or text.strip() == format.UNKNOWN
            line.append((f" {text}", "dim" if dim else ""))
            if column.title == BAR_AFTER:
                line.append((f" {_bar(gpu.utilisation, bar_cells)}", "dim" if silent else "accent"))
        return [*line, ("  ", ""), _last(known, silent, last_cells)]


def _titles(columns: Sequence[Column], name_cells: int, bar_cells: int, last_cells: int) -> Line:
    text = " " * MARKS_CELLS + padded("GPU", name_cells)
    for column in columns:
        text += " " + padded(column.title, column.cells, right=True)
        if column.title == BAR_AFTER:
            text += " " * (bar_cells + 1)
    return [(f"{text}  {shorten('slowed by', last_cells)}", "dim")]


def _name(gpu: Gpu) -> str:
    name = (gpu.name or "").removeprefix("NVIDIA ").removeprefix("GeForce ")
    part = "" if gpu.mig is None else f" MIG {gpu.mig}"
    return f"{gpu.index}{part} {name}".rstrip()


def _bar(share: float | None, cells: int) -> str:
    """A share as blocks, so that eight GPUs can be compared at a glance."""
    filled = 0 if share is None else round(max(0.0, min(1.0, share)) * cells)
    return "█" * filled + "░" * (cells - filled) if share is not None else " " * cells


def _last(known: KnownGpu, silent: bool, cells: int) -> tuple[str, Role]:
    """What slows it down: in words where there is room, else in one or two."""
    if known.lost:
        return shorten(gpu_text.without_number(known).removeprefix("is "), cells), "warning"
    if silent:
        return shorten(f"silent {format.lasting(known.silent_s)}", cells), "warning"
    found = known.slowdowns
    if found is None:
        return format.UNKNOWN, "dim"
    if not found:
        return fit_or_dash(cells), "dim"
    first = found[0]
    text = first.text if len(first.text) <= cells else _short(found)
    return shorten(text, cells), gpu_text.ROLES[first.weight]


def fit_or_dash(cells: int) -> str:
    """Nothing, in words where there is room."""
    return "nothing" if cells >= len("nothing") else "-"


def _short(found: Sequence[Slowdown]) -> str:
    return ", ".join(dict.fromkeys(SHORT.get(each.reason, each.reason) for each in found))
