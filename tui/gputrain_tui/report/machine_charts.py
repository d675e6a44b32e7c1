"""The charts of what GPUs and host did meanwhile."""

from __future__ import annotations

from collections.abc import Sequence

from gputrain_runner.report.columns import GpuColumns
from gputrain_runner.report.story import Story

from .charts import BLUE, GREEN, GREY, ORANGE, PINK, RED, SKY, Chart, Times, Trace, level, line, over_time

GIB = float(1 << 30)
PERCENT = 0.01
"""What shares are divided by to be percent."""


def gpu(story: Story, gpu: GpuColumns, times: Times) -> list[Chart]:
    """Everything of a GPU that trained."""
    made = [
        _shares(story, gpu, times),
        _memory(story, gpu, times),
        _link(gpu, times),
        *_single(gpu, times),
    ]
    return [chart for chart in made if chart is not None]


def _shares(story: Story, gpu: GpuColumns, times: Times) -> Chart | None:
    """Utilisation, SM active and busy, which are three different things."""
    told = (
        ("utilisation", "utilisation: any kernel resident", GREY),
        ("sm_active", "SM active: of all multiprocessors", BLUE),
        ("tensor_active", "tensor cores active", GREEN),
        ("dram_active", "memory bandwidth used", PINK),
    )
    traces = [
        line(gpu.t, gpu[name], label, colour, scale=PERCENT, digits=".1f", unit="%")
        for name, label, colour in told
        if gpu.known(name)
    ]
    if story.samples.known("busy"):
        busy = line(
            story.samples.t, story.samples["busy"], "busy: kernels of this process", ORANGE, scale=PERCENT
        )
        traces.insert(1, busy | {"hovertemplate": "%{y:.1f} %"})
    if not traces:
        return None
    note = (
        "The driver's utilisation says only that some kernel was there; busy is the share of time in which "
        "kernels of this process ran, SM active how much of the chip had work."
    )
    return over_time(
        "How much of the GPU works", traces, times, "%", note=note, height=270, range=[0, 103], nticks=6
    )


def _memory(story: Story, gpu: GpuColumns, times: Times) -> Chart | None:
    samples = story.samples
    of_torch = (
        ("allocated_bytes", "allocated by PyTorch", BLUE),
        ("reserved_bytes", "reserved by PyTorch", GREEN),
        ("peak_allocated_bytes", "peak allocated", ORANGE),
    )
    traces: list[Trace] = []
    if gpu.known("memory_used_bytes"):
        traces.append(
            line(gpu.t, gpu["memory_used_bytes"], "used on the device", GREY, scale=GIB, unit="GiB")
        )
    traces += [
        line(samples.t, samples[name], label, colour, scale=GIB, unit="GiB")
        for name, label, colour in of_torch
        if samples.known(name)
    ]
    if not traces:
        return None
    total = gpu.limits.get("memory_total_bytes")
    note = "" if total is None else f"The device has {total / GIB:,.1f} GiB."
    return over_time("GPU memory", traces, times, "GiB", note=note)


def _link(gpu: GpuColumns, times: Times) -> Chart | None:
    traces = [
        line(gpu.t, gpu[name], label, colour, unit="B/s")
        for name, label, colour in (
            ("pcie_rx_bytes_per_s", "rx: host to device", BLUE),
            ("pcie_tx_bytes_per_s", "tx: device to host", ORANGE),
        )
        if gpu.known(name)
    ]
    if not traces:
        return None
    ceiling = gpu.limits.get("pcie_link_bytes_per_s")
    highest = max(gpu.values("pcie_rx_bytes_per_s") + gpu.values("pcie_tx_bytes_per_s"))
    note = ""
    if ceiling is not None:
        note = f"The link can carry {ceiling / 1e9:,.1f} GB/s one way; {highest / ceiling:.1%} was the most."
        if highest > 0.25 * ceiling:
            traces.append(level((0.0, times.length_s), ceiling, "the link's most", unit="B/s"))
    return over_time("PCIe traffic", traces, times, "bytes/s", note=note, tickformat="~s")


def _single(gpu: GpuColumns, times: Times) -> list[Chart]:
    """Clock, power and temperature, each with its limit where it comes near to it."""
    told = (
        ("sm_clock_mhz", "SM clock", "MHz", GREEN, "sm_clock_max_mhz"),
        ("power_w", "Power", "W", RED, "power_limit_w"),
        ("temperature_c", "Temperature", "°C", ORANGE, None),
    )
    charts = []
    for name, title, unit, colour, limit in told:
        if not gpu.known(name):
            continue
        traces = [line(gpu.t, gpu[name], title, colour, digits=",.4~r", unit=unit)]
        most = None if limit is None else gpu.limits.get(limit)
        if most is not None:
            traces.append(level((0.0, times.length_s), most, f"most: {most:,.0f} {unit}", unit=unit))
        charts.append(over_time(title, traces, times, unit, half=True, height=200))
    return charts


def others(gpus: Sequence[GpuColumns], times: Times) -> Chart | None:
    """The utilisation of GPUs that did not train."""
    colours = (BLUE, ORANGE, GREEN, PINK, SKY, RED, GREY)
    traces = [
        line(
            gpu.t,
            gpu["utilisation"],
            f"GPU {gpu.index}",
            colours[at % len(colours)],
            scale=PERCENT,
            digits=".1f",
            unit="%",
        )
        for at, gpu in enumerate(gpus)
        if gpu.known("utilisation")
    ]
    return over_time("The other GPUs: utilisation", traces, times, "%", range=[0, 103]) if traces else None


def host(story: Story, times: Times) -> list[Chart]:
    """CPU and memory of the host."""
    samples = story.samples
    charts = []
    shares = [
        line(samples.t, samples[name], label, colour, scale=PERCENT, digits=".1f", unit="%")
        for name, label, colour in (
            ("cpu_utilisation", "all cores", GREY),
            ("busiest_core_utilisation", "the busiest core", ORANGE),
        )
        if samples.known(name)
    ]
    if shares:
        charts.append(over_time("CPU utilisation", shares, times, "%", half=True, height=210, range=[0, 103]))
    cores = [
        line(samples.t, samples[name], label, colour, digits=".2f", unit="cores")
        for name, label, colour in (
            ("worker_cpu_utilisation", "training", BLUE),
            ("others_cpu_utilisation", "other programs", GREY),
        )
        if samples.known(name)
    ]
    if cores:
        charts.append(over_time("CPU time used", cores, times, "cores", half=True, height=210))
    return charts
