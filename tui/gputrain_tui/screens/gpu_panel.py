"""The panel of what the GPU does that trains: over time, as figures, and in words what slows it down."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal

from gputrain_runner.feed import Feed
from gputrain_runner.timeline import Gpu

from .. import format, gpu_text
from ..history import History
from ..known_gpus import KnownGpu
from ..widgets.lines import Lines
from ..widgets.memory_bar import MemoryBar
from ..widgets.text import Line, Role, Run, padded
from .heading import first_fitting, spread
from .host_panel import host_short
from .panels import Panel, Plot, figure, figure_line, percent_axis, runs


class GpuPanel(Panel):
    """Utilisation with SM active, memory told apart, PCIe both ways, clock and power."""

    DEFAULT_CSS = """
    GpuPanel.-silent TimeChartPlot, GpuPanel.-silent .lines--accent { color: $text-muted; }
    GpuPanel.-silent .lines--strong { color: $text-muted; text-style: none; }
    """

    def compose(self) -> ComposeResult:
        """Three rows of two plots, the memory's bar below the first, and two lines."""
        yield Lines([""], id="gpu-title", classes="panel-title")
        with Horizontal(classes="plot-row", id="gpu-activity"):
            yield Plot(
                "gpu_utilisation", id="gpu-utilisation", below="sm_active", y_format=percent_axis, y_max=1.0
            )
            yield Plot("gpu_memory_gib", id="gpu-memory")
        yield MemoryBar(id="gpu-memory-bar")
        with Horizontal(classes="plot-row", id="gpu-traffic"):
            yield Plot("pcie_rx", id="pcie-rx")
            yield Plot("pcie_tx", id="pcie-tx")
        with Horizontal(classes="plot-row", id="gpu-clocks"):
            yield Plot("sm_clock_mhz", id="sm-clock", y_format=_megahertz)
            yield Plot("power_w", id="power")
        yield Lines(id="gpu-facts")

    def show_numbers(self, history: History, feed: Feed) -> None:
        """Titles, the memory's bar, and what slows it down."""
        known = history.shown
        if known is None:
            return
        silent = gpu_text.silence(known, feed.gpu_absence)
        self.set_class(silent is not None, "-silent")
        width = self.content_size.width
        self.query_one("#gpu-title", Lines).show([_title(known, history, silent, width)])
        room = self.query_one("#gpu-utilisation", Plot).content_size.width
        for plot, title in _plot_titles(known.gpu, history, room):
            self.query_one(f"#{plot}", Plot).show_title(title)
        self.query_one("#sm-clock", Plot).y_max = known.gpu.sm_clock_max_mhz
        self.query_one("#power", Plot).y_max = known.gpu.power_limit_w
        self.query_one("#gpu-memory-bar", MemoryBar).show_parts(gpu_text.memory_parts(known))
        sample = history.latest
        host = host_short(sample.host if sample is not None else None)
        self.query_one("#gpu-facts", Lines).show(
            [_slowdowns(known, width, silent is not None), _link(known.gpu, host, width)]
        )

    def show_charts(self, history: History, now_s: float) -> None:
        """The six plots."""
        for plot in self.plots:
            plot.show_chart(history, now_s)


def _title(known: KnownGpu, history: History, silent: str | None, width: int) -> Line:
    """Which GPU, and what needs no plot of its own; or that it is lost, or the driver says nothing."""
    gpu = known.gpu
    name: list[Run] = [(f"GPU {gpu.index}", "strong"), f"  {gpu.name or ''}".rstrip()]
    if silent is not None and known.lost and silent == known.trouble:
        # It names the GPU itself; its card only where there is room.
        return first_fitting([[(silent, "warning"), f"   {gpu.name or ''}"], [(silent, "warning")]], width)
    if silent is not None:
        return [*name, "   ", (silent, "warning")]
    figures = [
        ("tensor active", history.gpu_number(lambda gpu: gpu.tensor_active)),
        ("DRAM active", history.gpu_number(lambda gpu: gpu.dram_active)),
    ]
    told = [(label, _share(value)) for label, value in figures if value is not None]
    heat = ("", gpu_text.celsius(gpu.temperature_c))
    candidates = [spread(name, runs(*told[:n], heat), width) for n in range(len(told), -1, -1)]
    return first_fitting([*candidates, name], width)


def _plot_titles(gpu: Gpu, history: History, width: int) -> list[tuple[str, Line]]:
    used = history.gpu_number(lambda gpu: gpu.memory_used_bytes)
    total = gpu.memory_total_bytes
    return [
        ("gpu-utilisation", _activity(history, width)),
        (
            "gpu-memory",
            figure_line("memory", format.memory(used), "" if total is None else f"of {format.memory(total)}"),
        ),
        ("pcie-rx", _traffic("PCIe rx", history, gpu, width, "host to GPU")),
        ("pcie-tx", _traffic("PCIe tx", history, gpu, width, "GPU to host")),
        (
            "sm-clock",
            runs(("SM clock", gpu_text.of_limit(gpu.sm_clock_mhz, gpu.sm_clock_max_mhz, "MHz"))),
        ),
        ("power", runs(("power", gpu_text.of_limit(gpu.power_w, gpu.power_limit_w, "W")))),
    ]


def _activity(history: History, width: int) -> Line:
    """The driver's utilisation beside what it is mistaken for: busy, and SM active, the filled area."""
    utilisation = history.gpu_number(lambda gpu: gpu.utilisation)
    busy = history.number(lambda sample: sample.busy)
    active = history.gpu_number(lambda gpu: gpu.sm_active)
    candidates: list[Line] = []
    for names in (("utilisation", "busy", "SM active"), ("util.", "busy", "SM")):
        told = [(names[0], _share(utilisation)), (names[1], _share(busy))]
        if active is not None:
            told.append((names[2], _share(active)))
        candidates += [runs(*told), runs(*told, gap="  ")]
    return first_fitting(candidates, width)


def _traffic(label: str, history: History, gpu: Gpu, width: int, way: str) -> Line:
    """A rate, its share of what the link can carry, and which way it goes where there is room."""
    rx = label.endswith("rx")
    rate = history.gpu_number(lambda gpu: gpu.pcie_rx_bytes_per_s if rx else gpu.pcie_tx_bytes_per_s)
    share = gpu_text.of_link(rate, gpu)
    first = runs((label, figure(format.data_rate(rate))))
    notes = [f" {share} of {format.data_rate(gpu.pcie_link_bytes_per_s)}, {way}", f" {share} of the link"]
    notes = notes if share else [f" {way}"]
    return first_fitting([[*first, (note, "dim")] for note in (*notes, f" {share}")], width)


def _slowdowns(known: KnownGpu, width: int, silent: bool) -> Line:
    """As many reasons as fit, the most worrying first; that there are more is said. Old ones are dim."""
    texts = gpu_text.slowdown_texts(known.slowdowns)
    if silent:
        texts = [(f"when last heard: {text}", "dim") for text, _ in texts[:1]]
    candidates: list[Line] = []
    for shown in range(len(texts), 0, -1):
        more: list[tuple[str, Role]] = [] if shown == len(texts) else [(f"+{len(texts) - shown} more", "dim")]
        candidates.append(_joined([*texts[:shown], *more]))
    return first_fitting(candidates, width)


def _joined(parts: Sequence[tuple[str, Role]]) -> list[Run]:
    line: list[Run] = []
    for part in parts:
        line += ["   ", part] if line else [part]
    return line


def _link(gpu: Gpu, host: list[Run], width: int) -> Line:
    """The link, where its rates come from, and the host's load, as much as fits."""
    now = runs(("link", gpu_text.link_now(gpu)))
    source = gpu_text.SOURCES.get(gpu.pcie_source or "")
    rates: list[Run] = [] if source is None else [(f"   PCIe rates: {source}", "dim")]
    return first_fitting([[*now, *rates, "   ", *host], [*now, *rates], [*now, "   ", *host], now], width)


def _megahertz(value: float) -> str:
    return f"{value:,.0f}"


def _share(value: float | None) -> str:
    return padded(format.percent(value), 5, right=True)
