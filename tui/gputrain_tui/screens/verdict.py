"""The whole reasoning: every finding of the verdict, a remedy to mark among them and the keys that act."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.events import Resize

from gputrain_runner.diagnosis import findings_of
from gputrain_runner.feed import Refused
from gputrain_runner.settings import SettingError
from gputrain_runner.timeline import Remedy, Verdict

from .. import format, keys, verdict_text
from ..key_places import PLACES
from ..widgets.lines import Lines
from ..widgets.text import Run, width_of
from ..widgets.verdict_reasons import VerdictText
from . import heading
from .message_line import AnsweringScreen, MessageLine

if TYPE_CHECKING:
    from .training import TrainingScreen

DRAW_S = 0.5
Marked = tuple[str, Remedy]
"""A remedy, and the bottleneck whose it is."""


class VerdictScreen(AnsweringScreen):
    """Lies over the training screen, which goes on reading; its verdict is the newest there is."""

    AUTO_FOCUS = ""
    BINDINGS = keys.bindings(keys.VERDICT)
    help_place = "verdict"
    shows_training = True

    def __init__(self, training: TrainingScreen, size_classes: str) -> None:
        super().__init__(classes=f"verdict {size_classes}")
        if not training.turns:
            self.help_place = "replay verdict"
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
            title: Run = ("WHY SO SLOW?  ", "strong")
            right: list[Run] = []
            if verdict is not None and verdict.step_ms is not None:
                right = [("step ", "dim"), format.milliseconds(verdict.step_ms)]
            head = self.query_one("#verdict-head", Lines)
            room = head.size.width - width_of([title]) - (width_of(right) + 2 if right else 0)
            head.show([heading.spread([title, *heading.identity(feed, room)], right, head.size.width)])
            shown = keys.line(PLACES[self.help_place])
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
