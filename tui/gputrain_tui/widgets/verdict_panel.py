"""The verdict in a panel: the bottleneck in a sentence, the first remedies with what they predict."""

from __future__ import annotations

from collections.abc import Sequence

from textual.geometry import Size

from gputrain_runner.diagnosis.rules import names
from gputrain_runner.timeline import Verdict

from .. import verdict_text
from .lines import Line, Lines
from .text import Run, padded, shorten, width_of, wrapped

TITLE = "WHY SO SLOW?"
REMEDIES = 3
SENTENCE_ROWS = 6
ADVICE_ROWS = 2
REMEDY_CELLS = 26


class VerdictPanel(Lines):
    """As high as what there is to say, at most what CSS gives it."""

    def __init__(self, *, applies: bool = True, id: str | None = None) -> None:
        """`applies`: whether its remedies can be applied, by the key beside the first."""
        super().__init__(id=id)
        self._applies = applies
        self._verdict: Verdict | None = None
        self._rows = 0

    def show_verdict(self, verdict: Verdict | None) -> None:
        """Show it; the very same one again costs nothing."""
        if verdict is self._verdict and not self.is_stale:
            return
        self._verdict = verdict
        rows = len(self.build(self.size.width or 40, 0))
        if rows != self._rows:
            self._rows = rows
            self.refresh(layout=True)
        self.rebuild()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """All lines."""
        return len(self.build(width, 0))

    def build(self, width: int, height: int) -> Sequence[Line]:
        """Title, sentence, limit, remedies, what else holds. With a `height` too small, remedies stay."""
        verdict = self._verdict
        title: Line = [(TITLE, "strong")]
        if verdict is None:
            return [title, [("no verdict yet", "dim")]]
        remedies = self._remedies(verdict, width)
        room = SENTENCE_ROWS if not height else max(1, min(SENTENCE_ROWS, height - 1 - len(remedies)))
        lines = [title, *verdict_text.sentence_lines(verdict.sentence, max(20, width), room)]
        beside = self._beside(verdict, width)
        if not height or len(lines) + len(beside) + len(remedies) <= height:
            lines += beside
        return [*lines, *remedies]

    def _beside(self, verdict: Verdict, width: int) -> list[Line]:
        """What removing it would give at most, and what else holds."""
        limit = verdict_text.limit(verdict)
        others = ", ".join(verdict_text.name(one.bottleneck).lower() for one in verdict.others)
        said = "so far" if verdict.bottleneck == names.CANNOT_SAY else "also"
        texts = [limit, f"{said}: {others}" if others else None]
        return [[(shorten(text, width), "dim")] for text in texts if text]

    def _remedies(self, verdict: Verdict, width: int) -> list[Line]:
        if not verdict.remedies:
            return [] if not verdict.others else [[("v", "strong"), ("  what holds so far", "dim")]]
        first = verdict_text.applicable(verdict.remedies)
        lines: list[Line] = [""]
        for remedy in verdict.remedies[:REMEDIES]:
            if remedy.setting is None:
                advice = wrapped(f"advice: {remedy.why}", max(20, width - 3), ADVICE_ROWS)
                lines += [["   ", (line, "dim")] for line in advice]
                continue
            key: Run = ("a", "strong") if remedy is first and self._applies else " "
            predicted = verdict_text.predicted(remedy)
            room = width - 3 - width_of(predicted) - 2
            what = shorten(verdict_text.remedy(remedy), max(8, room))
            lines.append([key, "  ", padded(what, min(REMEDY_CELLS, room)), "  ", (predicted, "dim")])
        return [*lines, [("v", "strong"), ("  the whole reasoning", "dim")]]
