"""What came of a run, for people."""

from __future__ import annotations

from pathlib import Path

from gputrain_presets import Preset
from gputrain_runner.timeline import Summary

from .. import format


def result_text(summary: Summary, preset: Preset, recording: Path | None) -> str:
    """The summary as some lines of `name  value`."""
    rows = [
        (preset.name, f"{summary.ended} after {format.elapsed(summary.seconds)}"),
        ("steps", f"{summary.steps:,}, epochs {summary.epochs:,}, samples {summary.samples:,}"),
        ("samples/s", _rate(summary)),
        ("loss", f"{format.loss(summary.loss_first)} → {format.loss(summary.loss_last)}"),
    ]
    if summary.validation is not None:
        rows.append(("validation loss", format.loss(summary.validation.loss)))
    if summary.validation is not None and summary.validation.accuracy is not None:
        rows.append(("accuracy", format.percent(summary.validation.accuracy, 1)))
    if summary.changes:
        rows.append(("changes", f"{summary.changes}, effects measured {summary.effects}"))
    if recording is not None:
        rows.append(("recording", str(recording)))
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)


def _rate(summary: Summary) -> str:
    if summary.samples_per_s is None:
        return f"{format.UNKNOWN} (it ended before the rate was steady)"
    return f"{format.count(summary.samples_per_s)} (median, under the last settings)"
