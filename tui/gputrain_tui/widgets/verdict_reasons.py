"""All findings of a verdict one below the other, each with its slice of the step, evidence and remedies."""

from __future__ import annotations

from collections.abc import Sequence

from textual.geometry import Size

from gputrain_runner.diagnosis import findings_of
from gputrain_runner.diagnosis.ideas import IDEAS
from gputrain_runner.diagnosis.rules import names
from gputrain_runner.timeline import Finding, Remedy, Verdict

from .. import format, verdict_text
from .lines import Line, Lines
from .proportions import ideal_bounds, steady_bounds
from .text import Role, Run, padded, width_of, wrapped

WIDEST = 110
"""Cells beyond which lines of text become hard to read."""
CHANGES_TRAINING = "changes the training"
NO_VERDICT = "No verdict yet: training has just begun, or nothing is measured."


class VerdictText(Lines):
    """The findings one below the other; knows at which row each remedy stands."""

    DEFAULT_CSS = """
    VerdictText { height: auto; }
    """

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._verdict: Verdict | None = None
        self._marked = 0
        self._explained: str | None = None
        self.rows: list[int] = []
        """The row of each remedy."""

    def show_verdict(self, verdict: Verdict | None, marked: int, explained: str | None) -> None:
        """Show it, with the remedy of that number marked and the idea of one bottleneck explained."""
        if (verdict, marked, explained) == (
            self._verdict,
            self._marked,
            self._explained,
        ) and not self.is_stale:
            return
        self._verdict, self._marked, self._explained = verdict, marked, explained
        self.refresh(layout=True)
        self.rebuild()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """All lines; the container scrolls."""
        return max(1, len(self.build(width, 0)))

    def build(self, width: int, height: int) -> Sequence[Line]:
        """What is said of the whole, the step as a bar, then each finding."""
        self.rows = []
        verdict = self._verdict
        if verdict is None:
            return ["", *wrapped(NO_VERDICT, width)]
        width = min(width, WIDEST)
        findings = findings_of(verdict)
        lines: list[Line] = []
        if verdict.bottleneck == names.CANNOT_SAY:
            lines += [
                *verdict_text.sentence_lines(verdict.sentence, width),
                *self._idea(verdict.bottleneck, width),
            ]
            if findings:
                lines += ["", [("What holds so far, to be taken with care:", "dim")]]
        lines += _bar(findings, verdict.step_ms, width)
        for number, finding in enumerate(findings, 1):
            lines += ["", *self._finding(number, finding, verdict.step_ms, width, len(lines) + 1)]
        if verdict.cards:
            lines += ["", [("Would another card help?", "strong")]]
        for card in verdict.cards:
            first, *more = wrapped(f"{card.why}, {verdict_text.predicted(card)}", width - 5)
            lines += [f"   · {first}", *(f"     {line}" for line in more)]
        return lines

    def _finding(
        self, number: int, finding: Finding, step_ms: float | None, width: int, at: int
    ) -> list[Line]:
        lines = _title(number, finding, step_ms, width)
        sentence = verdict_text.without_title(finding.sentence, finding.bottleneck)
        lines += [f"   {line}" for line in wrapped(sentence, width - 3)]
        for text in finding.evidence:
            first, *more = wrapped(text, width - 5)
            lines.append([(f"   · {first}", "dim")])
            lines += [[(f"     {line}", "dim")] for line in more]
        lines += self._idea(finding.bottleneck, width)
        for remedy in finding.remedies:
            self.rows.append(at + len(lines))
            lines += _remedy(remedy, len(self.rows) - 1 == self._marked, width)
        return lines

    def _idea(self, bottleneck: str, width: int) -> list[Line]:
        idea = IDEAS.get(bottleneck)
        if bottleneck != self._explained or idea is None:
            return []
        return ["", *(f"   {line}" for line in wrapped(idea.paragraph, width - 6)), ""]


def _title(number: int, finding: Finding, step_ms: float | None, width: int) -> list[Line]:
    """`1  Launch-bound   0.427 ms of 0.538 ms, 79 %; removing this entirely gives at most ×4.8`.

    What does not fit behind the name goes below it, as the sentence does.
    """
    name: Run = (f"{number}  {verdict_text.name(finding.bottleneck)}", "strong")
    slice_: list[Run] = []
    if finding.slice_ms is not None and step_ms:
        share = format.percent(min(1.0, finding.slice_ms / step_ms))
        slice_ = [f"{format.milliseconds(finding.slice_ms)} of {format.milliseconds(step_ms)}, {share}"]
    limit = verdict_text.limit(finding)
    limited: list[Run] = [] if limit is None else [(limit, "dim")]
    one = [name, *(["   ", *slice_] if slice_ else []), *([("; ", "dim"), *limited] if limited else [])]
    if width_of(one) <= width:
        return [one]
    first = [name, "   ", *slice_]
    below = [["   ", run] for run in limited]
    if width_of(first) <= width:
        return [first, *below]
    return [[name], *([["   ", *slice_]] if slice_ else []), *below]


def _remedy(remedy: Remedy, marked: bool, width: int) -> list[Line]:
    role: Role = "accent" if marked else ""
    mark = "▸" if marked else " "
    predicted = verdict_text.predicted(remedy)
    if remedy.setting is None:
        first, *more = wrapped(remedy.why, width - 12)
        lines: list[Line] = [
            [(f" {mark} advice: {first}", role)],
            *([(f"           {line}", role)] for line in more),
        ]
        if remedy.predicted_ratio is not None:
            lines.append([(f"           {predicted}", "dim")])
        return lines
    named: Run = (f" {mark} {padded(verdict_text.remedy(remedy), 28)}", role)
    meaning = "" if remedy.keeps_meaning else CHANGES_TRAINING
    below = wrapped(remedy.why, width - 5)
    head: Line = [named, (f"  {predicted}{'   ' if meaning else ''}{meaning}", "dim")]
    if width_of(head) > width:
        head = [named, (f"  {predicted}", "dim")]
        below = [*([meaning] if meaning else []), *below]
    if width_of(head) > width:
        head = [(f" {mark} {verdict_text.remedy(remedy)}", role)]
        below = [predicted, *below]
    lines = [head]
    lines += [[(f"     {line}", "dim")] for line in below]
    return lines


def _bar(findings: Sequence[Finding], step_ms: float | None, width: int) -> list[Line]:
    """The step as one bar: each finding's slice with its number, then the rest."""
    if not step_ms:
        return []
    left_ms = step_ms
    parts: list[tuple[str, str, float]] = []
    for number, finding in enumerate(findings, 1):
        slice_ms = min(finding.slice_ms or 0.0, left_ms)
        if slice_ms > 0.005 * step_ms:
            parts.append((str(number), verdict_text.name(finding.bottleneck), slice_ms))
            left_ms -= slice_ms
    if not parts:
        return []
    if left_ms > 0.005 * step_ms:
        parts.append(("", "the rest", left_ms))
    bounds = steady_bounds(ideal_bounds([took for _, _, took in parts], width, 3), None, width)
    runs: list[Run] = []
    for index, ((label, name, _), end) in enumerate(zip(parts, bounds, strict=True)):
        cells = end - (bounds[index - 1] if index else 0)
        text = f" {label} {name}" if label else f" {name}"
        filled: Role = "dim" if not label else "segment-alt" if index % 2 == 0 else "segment"
        short = text if len(text) < cells else f" {label}"
        runs.append((padded(short[:cells], cells), filled))
    return ["", runs]
