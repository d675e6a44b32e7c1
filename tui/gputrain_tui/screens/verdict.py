"""The whole reasoning: every finding with its slice of the step, its evidence, and its remedies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.events import Resize
from textual.geometry import Size

from gputrain_runner.diagnosis import findings_of
from gputrain_runner.diagnosis.ideas import IDEAS
from gputrain_runner.diagnosis.rules import names
from gputrain_runner.feed import Refused
from gputrain_runner.settings import SettingError
from gputrain_runner.timeline import Finding, Remedy, Verdict

from .. import format, keys, verdict_text
from ..widgets.lines import Line, Lines
from ..widgets.proportions import ideal_bounds, steady_bounds
from ..widgets.text import Role, Run, padded, shorten, wrapped
from . import heading
from .message_line import AnsweringScreen, MessageLine

if TYPE_CHECKING:
    from .training import TrainingScreen

DRAW_S = 0.5
WIDEST = 110
"""Cells beyond which lines of text become hard to read."""
Marked = tuple[str, Remedy]
"""A remedy, and the bottleneck whose it is."""


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
            return ["", "No verdict yet: training has just begun, or nothing is measured."]
        width = min(width, WIDEST)
        findings = findings_of(verdict)
        lines: list[Line] = []
        if verdict.bottleneck == names.CANNOT_SAY:
            lines += [
                *verdict_text.sentence_lines(verdict.sentence, width, 4),
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
            first, *more = wrapped(f"{card.why}, {verdict_text.predicted(card)}", width - 5, 3)
            lines += [f"   · {first}", *(f"     {line}" for line in more)]
        return lines

    def _finding(
        self, number: int, finding: Finding, step_ms: float | None, width: int, at: int
    ) -> list[Line]:
        lines: list[Line] = [_title(number, finding, step_ms)]
        sentence = verdict_text.without_title(finding.sentence, finding.bottleneck)
        lines += [f"   {line}" for line in wrapped(sentence, width - 3, 6)]
        for text in finding.evidence:
            first, *more = wrapped(text, width - 5, 4)
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
        return ["", *(f"   {line}" for line in wrapped(idea.paragraph, width - 6, 12)), ""]


class VerdictScreen(AnsweringScreen):
    """Lies over the training screen, which goes on reading; its verdict is the newest there is."""

    AUTO_FOCUS = ""
    BINDINGS = keys.bindings(keys.VERDICT)
    help_place = "verdict"

    def __init__(self, training: TrainingScreen, size_classes: str) -> None:
        super().__init__(classes=f"verdict {size_classes}")
        self._training = training
        self._marked: int = 0
        self._explained: str | None = None
        self._shown: Verdict | None = training.verdict

    def compose(self) -> ComposeResult:
        """Head, findings, message and keys."""
        yield Lines([""], id="verdict-head")
        with VerticalScroll(id="verdict-body", can_focus=False):
            yield VerdictText(id="verdict-text")
        yield MessageLine(id="message")
        yield Lines([""], id="keys")

    def on_mount(self) -> None:
        """Begin to draw."""
        self.set_interval(DRAW_S, self.draw)

    def on_resize(self, event: Resize) -> None:
        """Lay everything out anew."""
        self.call_after_refresh(self.draw)

    def draw(self) -> None:
        """Draw what has changed."""
        if not self.is_current:
            return
        self._take_verdict()
        feed, verdict = self._training.feed, self._shown
        with self.app.batch_update():
            left: Line = [
                ("WHY SO SLOW?  ", "strong"),
                *heading.identity(feed, max(10, self.size.width - 40)),
            ]
            right: list[Run] = []
            if verdict is not None and verdict.step_ms is not None:
                right = [("step ", "dim"), format.milliseconds(verdict.step_ms)]
            self.query_one("#verdict-head", Lines).show([heading.spread(list(left), right, self.size.width)])
            shown = keys.line(keys.VERDICT)
            self.query_one("#keys", Lines).show([heading.keys_line(shown, self.size.width)])
            self.query_one("#verdict-text", VerdictText).show_verdict(verdict, self._marked, self._explained)
        self.drawn()

    def action_mark(self, by: int) -> None:
        """Mark another remedy; stops at either end."""
        remedies = self._remedies()
        if not remedies:
            self.say("there is no remedy to mark")
            return
        self._marked = max(0, min(self._marked + by, len(remedies) - 1))
        if self._explained is not None:
            self._explained = remedies[self._marked][0]
        self.draw()
        rows = self.query_one("#verdict-text", VerdictText).rows
        body = self.query_one("#verdict-body", VerticalScroll)
        if self._marked < len(rows):
            body.scroll_to(y=max(0, rows[self._marked] - body.size.height // 2), animate=False)

    def action_scroll(self, pages: int) -> None:
        """Scroll by so many pages."""
        body = self.query_one("#verdict-body", VerticalScroll)
        body.scroll_relative(y=pages * max(1, body.size.height - 1), animate=False)

    def action_apply(self) -> None:
        """Apply the marked remedy through the ordinary settings."""
        remedies = self._remedies()
        if not remedies:
            self.say(verdict_text.nothing_to_apply(self._shown))
            return
        try:
            self.say(self._training.apply_remedy(remedies[self._marked][1]), "")
        except (Refused, SettingError) as error:
            self.say(str(error))

    def action_undo(self) -> None:
        """Ask for the last change that worked to be reversed."""
        try:
            self.say(self._training.desk.undo(), "")
        except (Refused, SettingError) as error:
            self.say(str(error))

    def action_explain(self) -> None:
        """Explain the idea of the marked remedy's bottleneck, or no longer."""
        if self._shown is None:
            self.say("nothing to explain yet: there is no verdict")
            return
        remedies = self._remedies()
        about = remedies[self._marked][0] if remedies else self._shown.bottleneck
        self._explained = None if self._explained == about else about
        self.draw()

    def action_close(self) -> None:
        """Back to the training."""
        self.dismiss(None)

    def _take_verdict(self) -> None:
        """Take the newest verdict; the mark stays at the same remedy where that is still there."""
        verdict = self._training.verdict
        if verdict is self._shown:
            return
        before = self._remedies()
        self._shown = verdict
        now = self._remedies()
        if before:
            at = min(self._marked, len(before) - 1)
            what = (before[at][0], before[at][1].setting, before[at][1].to)
            same = [i for i, (name, one) in enumerate(now) if (name, one.setting, one.to) == what]
            self._marked = same[0] if same else 0
        self._marked = max(0, min(self._marked, len(now) - 1))

    def _remedies(self) -> list[Marked]:
        """All remedies in the order in which they stand."""
        if self._shown is None:
            return []
        return [(one.bottleneck, remedy) for one in findings_of(self._shown) for remedy in one.remedies]


def _title(number: int, finding: Finding, step_ms: float | None) -> Line:
    """`1 Launch-bound   0.427 ms of 0.538 ms (79 %), removing it entirely gives at most ×4.8`."""
    runs: list[Run] = [(f"{number}  {verdict_text.name(finding.bottleneck)}", "strong")]
    if finding.slice_ms is not None and step_ms:
        share = format.percent(min(1.0, finding.slice_ms / step_ms))
        runs.append(
            (f"   {format.milliseconds(finding.slice_ms)} of {format.milliseconds(step_ms)}, {share}", "")
        )
    limit = verdict_text.limit(finding)
    if limit is not None:
        runs.append((f"; {limit}", "dim"))
    return runs


def _remedy(remedy: Remedy, marked: bool, width: int) -> list[Line]:
    role: Role = "accent" if marked else ""
    mark = "▸" if marked else " "
    predicted = verdict_text.predicted(remedy)
    if remedy.setting is None:
        first, *more = wrapped(remedy.why, width - 12, 4)
        lines: list[Line] = [
            [(f" {mark} advice: {first}", role)],
            *([(f"           {line}", role)] for line in more),
        ]
        if remedy.predicted_ratio is not None:
            lines.append([(f"           {predicted}", "dim")])
        return lines
    meaning = "" if remedy.keeps_meaning else "   changes the training"
    head: Line = [
        (f" {mark} {padded(verdict_text.remedy(remedy), 28)}", role),
        (f"  {predicted}{meaning}", "dim"),
    ]
    return [head, [("     " + shorten(remedy.why, width - 5), "dim")]]


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
