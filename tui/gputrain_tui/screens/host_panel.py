"""The panel of what the host does, in the GPU's place where there is no NVIDIA telemetry."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal

from gputrain_runner.feed import Feed
from gputrain_runner.timeline import HostLoad

from .. import format
from ..history import History
from ..widgets.lines import Lines
from ..widgets.text import Run, wrapped
from .panels import Panel, Plot, figure_line, percent_axis, runs


class HostPanel(Panel):
    """Why there is no GPU telemetry, and the host's CPU and memory over time."""

    def compose(self) -> ComposeResult:
        """The reason, two plots, one line."""
        yield Lines(id="absence")
        with Horizontal(classes="plot-row"):
            yield Plot("host_cpu", id="host-cpu", y_format=percent_axis, y_max=1.0)
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
        self.query_one("#host-cpu", Plot).show_title(figure_line("host CPU", format.percent(cpu)))
        self.query_one("#host-memory", Plot).show_title(
            figure_line("host memory", format.memory(memory), of_total)
        )
        self.query_one("#host-facts", Lines).show([_worker(load)])

    def show_charts(self, history: History, now_s: float) -> None:
        """Both plots."""
        for plot in self.plots:
            plot.show_chart(history, now_s)


def _cores(load: HostLoad | None) -> str:
    cores = None if load is None else load.worker_cpu_utilisation
    return format.UNKNOWN if cores is None else f"{cores:.1f} cores"


def host_short(load: HostLoad | None) -> list[Run]:
    """The host's load and the worker's in a few words."""
    cpu = None if load is None else load.cpu_utilisation
    return runs(("host CPU", format.percent(cpu)), ("worker", _cores(load)))


def _worker(load: HostLoad | None) -> list[Run]:
    memory = None if load is None else load.worker_rss_bytes
    screen = None if load is None else load.screen_cpu_utilisation
    own = format.UNKNOWN if screen is None else f"{format.percent(screen, 1)} of a core"
    return runs(("worker", f"{_cores(load)}, {format.memory(memory)}"), ("this screen", own))
