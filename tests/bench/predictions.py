"""What the diagnosis predicts of its remedies against what they give: by turns, on real sessions on the CPU.

python tests/bench/predictions.py [CASE...]. For each case a session is trained until there is a verdict;
each remedy of it that is a setting is then tried, up to `MOST` of a case. Ends with the median error of the
ratio, and with how many had the wrong sign.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

import gputrain_presets
from gputrain_runner.diagnosis import findings_of
from gputrain_runner.diagnosis.rules import names
from gputrain_runner.feed import Refused
from gputrain_runner.measured_run import MeasureError
from gputrain_runner.options import SessionOptions
from gputrain_runner.steering import Steering, rate_of
from gputrain_runner.telemetry import Telemetry
from gputrain_runner.timeline import Entry, Remedy, Verdict

MOST = 2
VERDICT_S = 25.0
TURNS = 3
"""With the remedy and without it, in turn."""
SAMPLES = 6
SAME = 0.03
"""A measured ratio within this of 1 has no sign."""


@dataclass(frozen=True, slots=True)
class Case:
    """A workload that something would help."""

    name: str
    preset: str
    settings: dict[str, str] = field(default_factory=dict)


CASES = (
    Case("tiny batch", "lasagne-mlp", {"batch_size": "32"}),
    Case("tiny batch, one thread", "lasagne-mlp", {"batch_size": "16", "threads": "1"}),
    Case("tiny batch", "keras-mnist-mlp", {"batch_size": "8"}),
    Case("one thread of two", "lasagne-mlp", {"threads": "1"}),
    Case("one thread of two", "keras-mnist-mlp", {"threads": "1", "batch_size": "512"}),
    Case("too many threads", "lasagne-mlp", {"threads": "8"}),
    Case(
        "loader, no workers", "keras-mnist-mlp", {"data_path": "loader", "workers": "0", "model_size": "100"}
    ),
    Case("loader", "lasagne-mlp", {"data_path": "loader", "workers": "1"}),
    Case("stepwise", "hier-bilstm", {"recurrence": "stepwise", "batch_size": "4"}),
    Case("stepwise, larger", "hier-bilstm", {"recurrence": "stepwise", "batch_size": "16"}),
    Case("small network", "keras-mnist-mlp", {"model_size": "100", "batch_size": "32"}),
    Case("as the question has it", "lasagne-mlp"),
    Case("inference", "lasagne-mlp", {"passes": "forward", "batch_size": "64"}),
    Case("inference", "keras-mnist-mlp", {"passes": "forward", "batch_size": "16"}),
)


class Collector:
    """The newest verdict of a session."""

    def __init__(self) -> None:
        self.verdict: Verdict | None = None

    def take(self, _first: int, entries: Sequence[Entry]) -> None:
        for entry in entries:
            if isinstance(entry, Verdict):
                self.verdict = entry


def remedies_of(case: Case, steering: Steering, collector: Collector) -> list[tuple[str, Remedy]]:
    """What the verdict offers, with the bottleneck's name."""
    steering.wait_until_training()
    try:
        if steering.settings.device not in (steering.session.header.probe or {}):
            steering.session.probe()
            steering.let_run(14)
    except Refused:
        pass
    waited = 0.0
    while waited < VERDICT_S and (
        collector.verdict is None or collector.verdict.bottleneck == names.CANNOT_SAY
    ):
        steering.let_run(0.5)
        waited += 0.5
    if collector.verdict is None:
        return []
    offered = [
        (finding.bottleneck, remedy)
        for finding in findings_of(collector.verdict)
        for remedy in finding.remedies
        if remedy.setting is not None and remedy.predicted_ratio is not None
    ]
    kinds: dict[str, tuple[str, Remedy]] = {}
    for bottleneck, remedy in offered:
        kinds.setdefault(str(remedy.setting), (bottleneck, remedy))
    return list(kinds.values())[:MOST]


def measured(steering: Steering, remedy: Remedy) -> tuple[float, float] | None:
    """Ratio by turns, and by how much the rate without it varied; None where it was refused."""
    assert remedy.setting is not None
    before = steering.settings.value(remedy.setting)
    rates: list[float] = []
    for turn in range(2 * TURNS + 1):
        if steering.turn({remedy.setting: remedy.to if turn % 2 else before}) is not None:
            return None
        rates.append(rate_of(steering.measure(SAMPLES)).samples_per_s)
    without, having = rates[::2], rates[1::2]
    # Each turn with it against the mean of its neighbours without it.
    ratios = [b / math.sqrt(without[at] * without[at + 1]) for at, b in enumerate(having)]
    return median(ratios), max(without) / min(without)


def main(wanted: list[str]) -> None:
    """All cases, a line each, and the sum of it."""
    telemetry = Telemetry()
    telemetry.start()
    errors: list[float] = []
    wrong = inside = 0
    for case in CASES:
        if wanted and not any(word in f"{case.preset} {case.name}" for word in wanted):
            continue
        collector = Collector()
        options = SessionOptions(
            preset=gputrain_presets.load(case.preset), device="cpu", overrides=list(case.settings.items())
        )
        try:
            with Steering(options, telemetry, collector.take) as steering:
                offered = remedies_of(case, steering, collector)
                for bottleneck, remedy in offered:
                    before = steering.settings.value(str(remedy.setting))
                    found = measured(steering, remedy)
                    change = f"{remedy.setting} {before} -> {remedy.to}"
                    if found is None:
                        print(f"{case.preset:<16} {case.name:<24} {change:<28} refused", flush=True)
                        continue
                    ratio, drift = found
                    predicted = remedy.predicted_ratio or 1.0
                    error = predicted / ratio - 1
                    errors.append(abs(error))
                    low, high = remedy.predicted_low or predicted, remedy.predicted_high or predicted
                    inside += low <= ratio <= high
                    sign = (predicted > 1) != (ratio > 1) and abs(ratio - 1) > SAME
                    wrong += sign
                    print(
                        f"{case.preset:<16} {case.name:<24} {bottleneck:<24} {change:<28} "
                        f"predicted x{predicted:5.2f} ({low:.2f}-{high:.2f})  measured x{ratio:5.2f}  "
                        f"error {error:+6.1%}  drift {drift:.2f}{'  WRONG SIGN' if sign else ''}",
                        flush=True,
                    )
                if not offered:
                    said = "no verdict" if collector.verdict is None else collector.verdict.sentence
                    print(f"{case.preset:<16} {case.name:<24} {said}", flush=True)
        except MeasureError as error:
            print(f"{case.preset:<16} {case.name:<24} failed: {error}", flush=True)
    telemetry.stop()
    if errors:
        print(
            f"{len(errors)} pairs: median error of the ratio {median(errors):.1%}, within the range told "
            f"{inside}, wrong sign {wrong}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
