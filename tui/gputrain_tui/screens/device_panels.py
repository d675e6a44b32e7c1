"""The panels of what the GPU does, or, without NVIDIA telemetry, of what the host does."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal

from gputrain_runner.feed import Feed
from gputrain_runner.timeline import Gpu, HostLoad

from .. import format
from ..history import History
from ..widgets.lines import Lines
from ..widgets.text import Line, Run, padded, wrapped
from .heading import first_fitting
from .panels import Panel, Plot, runs

FIGURE_CELLS = 9
SILENT_S = 2.0
"""A driver that says nothing for longer is worth a word."""


def figure(text: str) -> str:
    """Right-aligned, so that digits do not move."""
    return padded(text, FIGURE_CELLS, right=True)


def _percent_axis(share: float) -> str:
    return format.percent(share)


class GpuPanel(Panel):
    """Utilisation, memory and PCIe traffic over time; clocks, power, temperature and link as figures."""

    def compose(self) -> ComposeResult:
        """Two rows of two plots, and two lines."""
        yield Lines(id="gpu-title", classes="panel-title")
        with Horizontal(classes="plot-row"):
            yield Plot("gpu_utilisation", id="gpu-utilisation", y_format=_percent_axis, y_max=1.0)
            yield Plot("gpu_memory_gib", id="gpu-memory")
        with Horizontal(classes="plot-row"):
            yield Plot("pcie_rx", id="pcie-rx")
            yield Plot("pcie_tx", id="pcie-tx")
        yield Lines(id="gpu-facts")

    def show_numbers(self, history: History, feed: Feed) -> None:
        """Titles and facts."""
        gpu = history.gpu
        if gpu is None:
            return
        silent = history.gpu_silent_s > SILENT_S or feed.gpu_absence is not None
        self.set_class(silent, "-silent")
        name: list[Run] = [(f"GPU {gpu.index}", "strong"), f"  {gpu.name or ''}".rstrip()]
        if silent:
            what = feed.gpu_absence or f"driver silent for {history.gpu_silent_s:.0f} s; training goes on"
            name += ["   ", (what, "warning")]
        self.query_one("#gpu-title", Lines).show([name])
        used = history.gpu_number(lambda gpu: gpu.memory_used_bytes)
        of_total = "" if gpu.memory_total_bytes is None else f"of {format.memory(gpu.memory_total_bytes)}"
        for plot, title in (
            ("gpu-utilisation", _figure_line("utilisation", _utilisation(history))),
            ("gpu-memory", _figure_line("memory", format.memory(used), of_total)),
            ("pcie-rx", _figure_line("PCIe rx", _rate(history, "rx"), "host to GPU")),
            ("pcie-tx", _figure_line("PCIe tx", _rate(history, "tx"), "GPU to host")),
        ):
            self.query_one(f"#{plot}", Plot).show_title(title)
        sample = history.latest
        host = sample.host if sample is not None else None
        self.query_one("#gpu-facts", Lines).show(
            [_clocks(gpu, self.content_size.width), [*_link(gpu), "   ", *_host_short(host)]]
        )

    def show_charts(self, history: History, now_s: float) -> None:
        """The four plots."""
        for plot in self.query(Plot):
            plot.show_chart(history, now_s)


class HostPanel(Panel):
    """Why there is no GPU telemetry, and the host's CPU and memory over time."""

    def compose(self) -> ComposeResult:
        """The reason, two plots, one line."""
        yield Lines(id="absence")
        with Horizontal(classes="plot-row"):
            yield Plot("host_cpu", id="host-cpu", y_format=_percent_axis, y_max=1.0)
            yield Plot("host_memory_gib", id="host-memory")
        yield Lines(id="host-facts")

    def show_numbers(self, history: History, feed: Feed) -> None:
        """Reason, titles and facts."""
        reason = feed.gpu_absence or "HOST"
        self.query_one("#absence", Lines).show(wrapped(reason, max(20, self.content_size.width), 2))
        sample = history.latest
        load = sample.host if sample is not None else None
        cpu = history.number(lambda sample: sample.host.cpu_utilisation if sample.host else None)
        memory = history.number(lambda sample: sample.host.memory_used_bytes if sample.host else None)
        total = None if load is None else load.memory_total_bytes
        of_total = "" if total is None else f"of {format.memory(total)}"
        self.query_one("#host-cpu", Plot).show_title(_figure_line("host CPU", format.percent(cpu)))
        self.query_one("#host-memory", Plot).show_title(
            _figure_line("host memory", format.memory(memory), of_total)
        )
        self.query_one("#host-facts", Lines).show([_worker(load)])

    def show_charts(self, history: History, now_s: float) -> None:
        """Both plots."""
        for plot in self.query(Plot):
            plot.show_chart(history, now_s)


def _figure_line(label: str, text: str, note: str = "") -> Line:
    return [*runs((label, figure(text))), (f" {note}", "dim")]


def _utilisation(history: History) -> str:
    return format.percent(history.gpu_number(lambda gpu: gpu.utilisation))


def _rate(history: History, direction: str) -> str:
    if direction == "rx":
        return format.data_rate(history.gpu_number(lambda gpu: gpu.pcie_rx_bytes_per_s))
    return format.data_rate(history.gpu_number(lambda gpu: gpu.pcie_tx_bytes_per_s))


def _of(value: float | None, limit: float | None, unit: str) -> str:
    if value is None:
        return format.UNKNOWN
    most = "" if limit is None else f" of {limit:,.0f}"
    return f"{value:,.0f}{most} {unit}"


def _clocks(gpu: Gpu, width: int) -> Line:
    """Clock, power, heat and throttling; without the limits where they do not fit."""
    heat = format.UNKNOWN if gpu.temperature_c is None else f"{gpu.temperature_c} °C"
    end: list[Run] = ["   ", (heat, "dim" if heat == format.UNKNOWN else "strong")]
    if gpu.throttle:
        end.append((f"   throttled: {', '.join(gpu.throttle)}", "warning"))
    elif gpu.throttle is not None:
        end.append(("   not throttled", "dim"))
    candidates: list[Line] = []
    for clock_limit, power_limit in ((gpu.sm_clock_max_mhz, gpu.power_limit_w), (None, None)):
        clock = ("SM", _of(gpu.sm_clock_mhz, clock_limit, "MHz"))
        power = ("power", _of(gpu.power_w, power_limit, "W"))
        candidates.append([*runs(clock, power), *end])
    return first_fitting(candidates, width)


def _link(gpu: Gpu) -> list[Run]:
    if gpu.pcie_generation is None or gpu.pcie_width is None:
        return runs(("link", format.UNKNOWN))
    now, most = (gpu.pcie_generation, gpu.pcie_width), (gpu.pcie_generation_max, gpu.pcie_width_max)
    # An idle GPU slows its link down, so less than the most is no fault in itself.
    best = f" of gen {most[0]} ×{most[1]}" if None not in most and most != now else ""
    return [("link ", "dim"), (f"gen {now[0]} ×{now[1]}", "strong"), (best, "dim")]


def _cores(load: HostLoad | None) -> str:
    cores = None if load is None else load.worker_cpu_utilisation
    return format.UNKNOWN if cores is None else f"{cores:.1f} cores"


def _host_short(load: HostLoad | None) -> list[Run]:
    cpu = None if load is None else load.cpu_utilisation
    return runs(("host CPU", format.percent(cpu)), ("worker", _cores(load)))


def _worker(load: HostLoad | None) -> list[Run]:
    memory = None if load is None else load.worker_rss_bytes
    screen = None if load is None else load.screen_cpu_utilisation
    own = format.UNKNOWN if screen is None else f"{format.percent(screen, 1)} of a core"
    return runs(("worker", f"{_cores(load)}, {format.memory(memory)}"), ("this screen", own))
