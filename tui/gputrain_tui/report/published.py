"""Published figures beside what was measured here, as a table of a page."""

from __future__ import annotations

from collections.abc import Sequence

from gputrain_runner.report.beside import Beside

from .. import format, preset_text
from .html import Html, Part, element, join, table

NOTE = (
    "Figures of other people's machines for the same network, as rates, beside what was measured here at the "
    "batch size nearest to theirs."
)
MOST = 24
"""So many are listed, those nearest in batch size."""


def published(pairs: Sequence[Beside]) -> Html:
    """Each figure, the rate measured nearest to it, and their ratio."""
    nearest = sorted(pairs, key=_apart)[:MOST]
    if not nearest:
        return Html("")
    head = (
        "published",
        "hardware, framework",
        "as samples/s",
        "measured here",
        "with",
        "here ÷ there",
        "source",
    )
    listed = table(head, [_row(pair) for pair in pairs if pair in nearest], left=(1, 4, 6))
    left_out = len(pairs) - len(nearest)
    more = element("p", f"{left_out} more are for batch sizes further off.", class_="note")
    return join([listed, more] if left_out else [listed])


def _apart(pair: Beside) -> float:
    sizes = pair.figure.batch_size, pair.measured.settings.batch_size
    return max(sizes) / min(sizes)


def _row(pair: Beside) -> tuple[Part, ...]:
    figure, settings = pair.figure, pair.measured.settings
    return (
        f"{figure.value:,g} {figure.unit}",
        preset_text.published(figure).partition(": ")[2],
        format.short(pair.published_samples_per_s),
        format.short(pair.measured.samples_per_s),
        f"{settings.device}, batch {settings.batch_size:,}",
        format.ratio(pair.ratio),
        figure.source,
    )
