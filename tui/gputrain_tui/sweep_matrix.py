"""A sweep's points as the rows and columns of its table, and as the curves of one net."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gputrain_runner.sweep.fits import family_of
from gputrain_runner.sweep.plan import Point
from gputrain_runner.sweep.result import Fit, PointResult
from gputrain_runner.timeline import Device

from . import sweep_text

Column = tuple[str, str]
"""A device and passes."""
Results = Mapping[tuple[object, ...], PointResult]
"""By the points' keys."""


@dataclass(frozen=True, slots=True)
class Row:
    """One net at one batch size."""

    net: str
    batch_size: int
    points: Mapping[Column, Point]


@dataclass(frozen=True, slots=True)
class Curve:
    """Time against batch size."""

    name: str
    points: Sequence[tuple[int, float]]
    """Batch sizes, ascending, and milliseconds."""
    fit: Fit | None
    number: int = 0
    """Of its column, so that it keeps its mark whatever else there is."""


class Matrix:
    """The published layout: a row for each net and batch size, for each device a column for each passes."""

    def __init__(self, points: Sequence[Point], devices: Sequence[Device] = ()) -> None:
        """`points`: all there are to be; `devices`: what they are called, as far as it is known."""
        net_of = sweep_text.net_names(points)
        self.columns: list[Column] = list(
            dict.fromkeys((point.settings.device, point.settings.passes) for point in points)
        )
        self.columns.sort(key=lambda column: [point.settings.device for point in points].index(column[0]))
        cells: dict[tuple[str, int], dict[Column, Point]] = {}
        for point in points:
            now = point.settings
            cells.setdefault((net_of(point), now.batch_size), {})[now.device, now.passes] = point
        nets = list(dict.fromkeys(net for net, _ in cells))
        ordered = sorted(cells, key=lambda key: (nets.index(key[0]), key[1]))
        self.rows = [Row(net, batch, cells[net, batch]) for net, batch in ordered]
        self._names = {device.device: device.name for device in devices}

    def device_name(self, device: str) -> str:
        """What a device is called, with PyTorch's name for it."""
        name = self._names.get(device)
        return f"{device} {name}" if name else device

    def curves(self, net: str, results: Results, fits: Sequence[Fit]) -> list[Curve]:
        """One for each column in which the net has figures."""
        lines = {family_of(fit): fit for fit in fits}
        found = []
        for number, column in enumerate(self.columns):
            known = [
                result
                for row in self.rows
                if row.net == net and column in row.points
                if (result := results.get(row.points[column].key)) is not None and result.ms is not None
            ]
            if known:
                times = [(each.settings.batch_size, each.ms.median) for each in known if each.ms is not None]
                name = sweep_text.PASSES[column[1]]
                if len({device for device, _ in self.columns}) > 1:
                    name = f"{column[0]} {name}"
                found.append(Curve(name, times, lines.get(family_of(known[0])), number))
        return found
