"""A sweep's part of the page: the tables and curves, the published figures, and what went wrong."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from gputrain_runner.report.beside import of_sweep
from gputrain_runner.sweep.fits import family_of
from gputrain_runner.sweep.result import PointResult, SweepFile

from .. import format, sweep_text
from ..sweep_text import MISSING, PASSES
from . import sweep_charts
from .html import Html, Part, element, facts, join, section, table
from .machine_facts import machine
from .page import Page
from .published import NOTE, published

MOST_COMPARISONS = 4
"""So many batch sizes are compared in a table and a chart of their own: the largest ones."""
_AS_PUBLISHED = (
    "What was measured here is forward, or forward and backward, alone; the samples/s above are of whole "
    "steps."
)


def sweep(page: Page, told: SweepFile, group: str, file: str, heading: str = "h1", mark: str = "") -> Html:
    """The whole of it; `heading` is the element that its title is, `mark` the letter before it."""
    pairs = of_sweep(told)
    net_of = sweep_text.nets(told)
    of_net = sweep_charts.curves(told, pairs)
    comparisons = _comparisons(page, told, few=bool(of_net))
    parts = [
        section(
            f"{net} by batch size",
            page.charts(charts),
            *(
                _batches(told, family)
                for family in sweep_text.families(told.points)
                if net_of(family[0]) == net
            ),
            note="Bars reach from the fastest step to the slowest; dashed is the line t(b) = a + c·b.",
        )
        for net, charts in of_net.items()
    ]
    return element(
        "article",
        _heading(told, heading, mark),
        comparisons,
        *parts,
        *(
            section(f"Published figures: {name}", published(own), note=f"{NOTE} {_AS_PUBLISHED}")
            for name, own in pairs.items()
        ),
        _problems(told),
        section(
            "Machine and command",
            facts(machine(told.host, told.devices)),
            facts([("command", element("code", shlex.join(told.command))), ("file", element("code", file))]),
        ),
        id=group,
    )


def _heading(told: SweepFile, heading: str, mark: str) -> Html:
    names = ", ".join(dict.fromkeys(each.preset for each in told.points))
    devices = ", ".join(device_name(told, device) for device in _devices(told))
    started = told.started_at[:19].replace("T", " ")
    done = (
        f"{len(told.points)} of {told.planned} points" if not told.complete else f"{len(told.points)} points"
    )
    how = f"{told.runs} timed steps each after {told.warmup}"
    return element(
        "header",
        element(heading, f"{mark}  Sweep: {names}".strip()),
        element("p", f"{devices} · started {started} UTC · {done}, {how}", class_="sub"),
    )


def device_name(told: SweepFile, device: str) -> str:
    """A device by the name that its maker gave it, with what PyTorch calls it."""
    name = next((each.name for each in told.devices if each.device == device), None)
    return device if name is None else f"{name} ({device})"


def _devices(told: SweepFile) -> list[str]:
    return list(dict.fromkeys(each.settings.device for each in told.points))


def _comparisons(page: Page, told: SweepFile, *, few: bool) -> Html:
    """Nets by devices as published: a table for each batch size, and a chart."""
    sizes = sweep_charts.batches(told)
    single = len({sweep_text.nets(told)(each) for each in told.points}) == 1 and few
    if single:
        return Html("")
    shown = sizes[-MOST_COMPARISONS:]
    parts: list[Html] = []
    for batch in reversed(shown):
        chart = sweep_charts.comparison(told, batch)
        parts.append(element("h4", f"Batch {batch:,}, ms"))
        parts.append(comparison_table([told], batch))
        if chart is not None and batch == shown[-1]:
            parts.append(page.chart(chart))
    if len(shown) < len(sizes):
        parts.append(element("p", "Smaller batches are in the tables by batch size.", class_="note"))
    note = "Median time of a batch; missing: it did not fit into the memory. ~: the steps were noisy."
    return section("Nets by devices", *parts, note=note)


def comparison_table(sweeps: Sequence[SweepFile], batch: int, marks: Sequence[str] = ("",)) -> Html:
    """A row for each net, for each sweep and device a column forward and one forward and backward."""
    head: list[Part] = ["net"]
    cells: dict[tuple[str, int, str, str], str] = {}
    columns: list[tuple[int, str, str]] = []
    rows: dict[str, None] = {}
    for number, (told, mark) in enumerate(zip(sweeps, marks, strict=True)):
        net_of = sweep_text.nets(told)
        for device, passes in sweep_charts.grid(told):
            columns.append((number, device, passes))
            head.append(f"{mark} {device_name(told, device)}: {PASSES[passes]}".strip())
        for each in told.points:
            if each.settings.batch_size == batch:
                rows[net_of(each)] = None
                key = (net_of(each), number, each.settings.device, each.passes)
                cells.setdefault(key, sweep_text.cell(each))
    lines = [[_whole(net), *(_cell(cells.get((net, *column), "")) for column in columns)] for net in rows]
    return table(head, lines)


def _whole(name: str) -> str:
    """A name that is not to be broken in two lines."""
    return name.replace(" ", "\N{NO-BREAK SPACE}")


def _cell(text: str) -> Part:
    return element("span", text, class_="dim") if text in MISSING.values() else text


def _batches(told: SweepFile, family: Sequence[PointResult]) -> Html:
    """A family's table, and what the line through it says."""
    if len(family) < 2:
        return Html("")
    head = ("batch", "ms", "IQR", "fastest–slowest", "ms a sample", "whole step", "samples/s", "peak memory")
    fit = next((each for each in told.fits if family_of(each) == family_of(family[0])), None)
    title = f"{device_name(told, family[0].settings.device)}, {PASSES[family[0].passes]}"
    title += f"; {sweep_text.OF_THE_STEP}"
    parts = [element("h4", title), table(head, [_row(each) for each in family], left=())]
    if fit is not None:
        parts.append(element("ul", *(element("li", line) for line in sweep_text.fit_lines(fit))))
    return join(parts)


def _row(each: PointResult) -> tuple[Part, ...]:
    batch = f"{each.settings.batch_size:,}"
    if each.ms is None:
        return batch, _cell(MISSING[each.outcome]), "", "", "", "", "", ""
    samples = each.settings.batch_size * each.settings.models_at_once
    return (
        batch,
        sweep_text.cell(each),
        format.percent(each.ms.iqr / each.ms.median, 1),
        f"{format.significant(each.ms.min)}–{format.significant(each.ms.max)}",
        format.significant(each.ms.median / samples),
        format.milliseconds(None if each.step_ms is None else each.step_ms.median),
        format.count(each.samples_per_s),
        format.memory(each.peak_memory_bytes),
    )


def _problems(told: SweepFile) -> Html:
    rows = [
        (sweep_text.label(each), MISSING.get(each.outcome, "note"), each.error)
        for each in told.points
        if each.error
    ]
    return (
        section("What did not work", table(("point", "", "why"), rows, left=(0, 1, 2))) if rows else Html("")
    )
