"""Where one step's time goes, on one scale: a bar for what the host did, one for what the device did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cell_len

from gputrain_runner.timeline import PHASES, Phase

from .. import format as text_format
from .device_bar import device_bar
from .glyphs import fit
from .lines import Line, Lines, Role, Run
from .proportions import SteadyNumber, ideal_bounds, steady_bounds
from .text import padded

_SHORT = {
    "data": ("d",),
    "h2d": ("h",),
    "forward": ("fwd", "f"),
    "backward": ("bwd", "b"),
    "optimizer": ("opt", "o"),
    "other": ("…", "."),
}
"""What stands for a phase where its name does not fit, longest first."""

_LABEL_WIDTH = 7
_JUMP = 0.25
"""A step time this far (relative) from the one shown is an outlier or another regime: not averaged in."""

_LEGEND_COLUMN = 11
_NARROW_COLUMN = 6


class PhaseBars(Lines):
    """Title with the step time, the host's phases, the device's work, and a legend where there is room.

    Takes in steps as they come; draws them at the next `rebuild`.

    In the legend `span` is the time between the device's events around a phase: it contains what the device
    waited for the host, which the device's bar shows as idle.

    Height comes from CSS: 1 or 2 for the bars alone, 3 with the title, 6 or 7 with the legend.
    """

    DEFAULT_CSS = """
    PhaseBars { height: 3; }
    PhaseBars.-few-colours > .lines--segment { color: $foreground; }
    PhaseBars.-earlier, PhaseBars.-earlier > .lines--segment-alt { color: $text-muted; }
    PhaseBars.-earlier > .lines--strong { color: $text-muted; text-style: none; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._bounds: dict[str, list[int]] = {}
        self._earlier = ""
        self._shares: Sequence[tuple[str, float]] | None = None
        self.restart()

    def on_mount(self) -> None:
        """With 16 colours the grey of the bar may be too dark for the names on it."""
        self.set_class(self.app.console.color_system not in ("256", "truecolor"), "-few-colours")

    def restart(self) -> None:
        """Forget what was shown: the next sample is taken as it is."""
        self._step = SteadyNumber()
        self._host: dict[str, SteadyNumber] = {name: SteadyNumber() for name in PHASES}
        self._device: dict[str, SteadyNumber] = {name: SteadyNumber() for name in PHASES}
        self._known = False
        self._stray = 0

    def take_device(self, shares: Sequence[tuple[str, float]] | None) -> None:
        """How much of a step the device worked, and what it did else; None where that is not known."""
        self._shares = shares

    def take_step(self, phases: Mapping[str, Phase] | None, step_ms: float | None) -> None:
        """A sample's phases and mean step time; without phases what was taken before stays."""
        if phases is None:
            return
        if self._strays(step_ms):
            return
        self._known = True
        self._step.add(step_ms)
        for name in PHASES:
            phase = phases.get(name, Phase())
            self._host[name].add(phase.host_ms)
            self._device[name].add(phase.device_ms)

    @property
    def step_ms(self) -> float | None:
        """The step time as it is written; None where there is none of now."""
        step_ms = self._step.value
        if step_ms is None or self._earlier:
            return None
        return self._step.shown(_last_digit(step_ms))

    def set_earlier(self, note: str) -> None:
        """Say that what is shown is of earlier steps, dim and with this note; "" where it is of now."""
        if note != self._earlier:
            self._earlier = note
            self.set_class(bool(note), "-earlier")

    def _strays(self, step_ms: float | None) -> bool:
        """True for a single step time far off, which is left out; a second one the same way begins anew."""
        shown = self._step.value
        if step_ms is None or shown is None or abs(step_ms - shown) <= _JUMP * shown:
            self._stray = 0
            return False
        way = 1 if step_ms > shown else -1
        if way != self._stray:
            self._stray = way
            return True
        self.restart()
        return False

    def build(self, width: int, height: int) -> Sequence[Line]:
        """As many of title, bars and legend as fit."""
        if not self._known:
            return [[("ONE STEP", "strong"), ("  not measured yet", "dim")]]
        bars = [self._host_bar(width), device_bar("device", self._shares, width, _LABEL_WIDTH)]
        lines: list[Line] = [self._title()] if height > len(bars) else []
        lines += bars
        legend = self._legend(width, height - len(lines))
        if legend and len(lines) + len(legend) < height:
            lines.append("")
        return [*lines, *legend]

    def _title(self) -> Line:
        step_ms = self._step.value
        shown = self._step.shown(_last_digit(step_ms)) if step_ms is not None else None
        earlier: Run = (f"  {self._earlier}" if self._earlier else "", "dim")
        return [("ONE STEP  ", "strong"), (text_format.milliseconds(shown), "strong"), earlier]

    def _host_bar(self, width: int) -> Line:
        """The label and a bar as long as the step, divided into its phases."""
        label: Run = (padded("host", _LABEL_WIDTH), "dim")
        room = max(1, width - _LABEL_WIDTH)
        amounts = {name: number.value for name, number in self._host.items() if number.value}
        if not amounts:
            return [label]
        key = " ".join(amounts)
        ideal = ideal_bounds(list(amounts.values()), room - 1)
        bounds = steady_bounds(ideal, self._bounds.get(key), room - 1)
        self._bounds[key] = bounds
        widths = [end - start for start, end in zip([0, *bounds], bounds, strict=False)]
        segments = [
            _segment(name, self._host[name], cells) for name, cells in zip(amounts, widths, strict=False)
        ]
        return [label, ("".join(segments), "segment"), ("▏", "dim")]

    def _legend(self, width: int, height: int) -> list[Line]:
        """Names, milliseconds and shares under one another; narrow names where the full ones do not fit.

        Without room for all rows, that of the shares, which the bar shows, is left out where there are spans.
        """
        wide = width >= _LABEL_WIDTH + _LEGEND_COLUMN * len(PHASES)
        column = _LEGEND_COLUMN if wide else _NARROW_COLUMN
        if width < _LABEL_WIDTH + column * len(PHASES):
            return []
        names = [name if wide or len(name) < column else _SHORT[name][0] for name in PHASES]
        total_ms = sum(number.value or 0.0 for number in self._host.values())
        shares = [
            None if number.value is None or not total_ms else number.value / total_ms
            for number in self._host.values()
        ]
        rows: list[tuple[str, list[str], Role]] = [
            ("ms", names, "dim"),
            ("host", [_number(self._host[name]) for name in PHASES], ""),
            ("share", [text_format.percent(share) for share in shares], ""),
        ]
        if any(number.value for number in self._device.values()):
            rows.append(("span", [_number(self._device[name]) for name in PHASES], ""))
            if len(rows) > height:
                del rows[2]
        if len(rows) > height:
            return []
        return [
            [
                (padded(label, _LABEL_WIDTH), "dim"),
                ("".join(padded(cell, column, right=True) for cell in cells), role),
            ]
            for label, cells, role in rows
        ]


def _last_digit(value: float) -> float:
    """What the last digit stands for when three are written, two decimals at most below 10."""
    if value < 10:
        return 0.01
    return 0.1 if value < 100 else 1.0


def _number(number: SteadyNumber) -> str:
    """Milliseconds without the unit: `0.19`, `12.3`, `145`; n/a where not measured."""
    value = number.value
    if value is None:
        return text_format.UNKNOWN
    shown = number.shown(_last_digit(value)) or 0.0
    if 0 < shown < 0.005:
        return "<0.01"
    return f"{shown:.2f}" if shown < 10 else f"{shown:.1f}" if shown < 100 else f"{shown:,.0f}"


def _segment(name: str, number: SteadyNumber, width: int) -> str:
    """A separator and as much of name and time as fits whole."""
    texts = (fit(each) for each in (f"{name} {_number(number)}", name, *_SHORT[name]))
    text = next((each for each in texts if cell_len(each) < width), "")
    return fit("▏") + padded(text, width - 1) if width > 0 else ""
