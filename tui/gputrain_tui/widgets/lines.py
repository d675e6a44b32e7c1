"""A block of text lines that rewrites only what changed.

Textual rewrites a whole widget whenever it is refreshed; this one compares what it shows with what it should
show, line by line, and refreshes the differing part alone. The other widgets of this folder stand on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from .text import FILLED, ROLES, Line, Role, Run, Runs, fitted, runs_of, text_of

__all__ = ["Line", "Lines", "Role", "Run"]


class Lines(Widget):
    """Lines of text shown as given by `show`; longer ones end in an ellipsis, at a word's end where possible.

    As wide as its container and as high as its lines unless CSS says otherwise. A subclass that draws from
    data overrides `build` and calls `rebuild` when the data changed.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"lines--{role}" for role in ROLES}
    """`lines--dim` labels, units, what is not known; `lines--strong` numbers and what is new; `lines--accent`
    what is chosen; `lines--warning` what needs attention."""

    DEFAULT_CSS = """
    Lines {
        width: 1fr;
        height: auto;
        .lines--dim { color: $text-muted; }
        .lines--strong { text-style: bold; }
        .lines--accent { color: $accent; text-style: bold; }
        .lines--warning { color: $warning; }
        .lines--segment { color: $text-muted; text-style: reverse; }
        .lines--segment-alt { color: $accent; text-style: reverse; }
    }
    """

    def __init__(
        self, lines: Sequence[Line] = (), *, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._given: Sequence[Line] = list(lines)
        self._drawn: list[Runs] = []
        self._hidden = True
        self._role_styles: dict[tuple[Role, Style], Style] = {}

    @property
    def is_stale(self) -> bool:
        """True where what is drawn does not belong to the present size and style, or nothing is drawn yet."""
        return not self._drawn

    def show(self, lines: Sequence[Line]) -> None:
        """Show these lines from now on; lines beyond the height are not drawn, missing ones are blank."""
        changes_height = len(lines) != len(self._given) and self.styles.is_auto_height
        self._given = list(lines)
        if changes_height and self.is_mounted:
            self.refresh(layout=True)
        self.rebuild()

    @property
    def text(self) -> str:
        """What is drawn, one line per row, without trailing spaces."""
        return "\n".join(text_of(runs).rstrip() for runs in self._drawn)

    def build(self, width: int, height: int) -> Sequence[Line]:
        """The lines for so many cells; what does not fit is cut by the caller."""
        return self._given

    def rebuild(self) -> None:
        """Compare what is drawn with what should be, and refresh the difference.

        Nothing happens while the widget is not displayed: it is built anew when it is.
        """
        width, height = self.size
        if self._hidden or not width or not height:
            return
        lines = [fitted(runs_of(line), width) for line in list(self.build(width, height))[:height]]
        lines += [()] * (height - len(lines))
        before, self._drawn = self._drawn, lines
        if len(before) != height:
            self.refresh()
            return
        regions = [
            Region(first, y, last - first, 1)
            for y, (old, new) in enumerate(zip(before, lines, strict=True))
            if old != new
            for first, last in (changed_span(old, new),)
        ]
        if regions:
            self.refresh(*regions)

    def render_line(self, y: int) -> Strip:
        """The strip of row `y`: one segment per run, padding included in the last."""
        width = self.size.width
        base = self.visual_style.rich_style
        runs = self._drawn[y] if y < len(self._drawn) else ()
        segments = [Segment(text, self._style(role, base)) for text, role in runs]
        gap = width - cell_len(text_of(runs))
        if gap > 0:
            # In the style of the last run, so that no further change of style is sent.
            plain = not runs or runs[-1][1] in FILLED
            segments.append(Segment(" " * gap, base if plain else segments[-1].style))
        return Strip(segments).simplify().adjust_cell_length(width, base)

    def _style(self, role: Role, base: Style) -> Style:
        """The style of a role; remembered, because Textual forgets its own at every refresh."""
        if not role:
            return base
        key = (role, base)
        if key not in self._role_styles:
            self._role_styles[key] = self.get_component_rich_style(f"lines--{role}")
        return self._role_styles[key]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many rows as there are lines."""
        return max(1, len(self._given))

    def notify_style_update(self) -> None:
        """Draw everything again: the theme or the classes have changed."""
        super().notify_style_update()
        self._role_styles.clear()
        self._drawn = []
        self.rebuild()

    def on_show(self, event: events.Show) -> None:
        """Draw what came in while hidden."""
        self._hidden = False
        self.rebuild()

    def on_hide(self, event: events.Hide) -> None:
        """Draw nothing until it is shown again."""
        self._hidden = True
        self._drawn = []

    def on_resize(self, event: events.Resize) -> None:
        """Lay the lines out for the new size."""
        self._drawn = []
        self._hidden = False
        self.rebuild()


def changed_span(old: Runs, new: Runs) -> tuple[int, int]:
    """The cells [first, last) in which two different lines differ."""
    if len(old) == len(new) == 1 and old[0][1] == new[0][1]:
        # The usual case, a row of a chart; by character, which is by cell but for wide ones.
        before_text, after_text = old[0][0], new[0][0]
        if len(before_text) == len(after_text) == cell_len(before_text) == cell_len(after_text):
            different = [x for x, (a, b) in enumerate(zip(before_text, after_text, strict=True)) if a != b]
            return different[0], different[-1] + 1
    before, after = _cells(old), _cells(new)
    length = max(len(before), len(after))
    blank = (" ", "")
    before += [blank] * (length - len(before))
    after += [blank] * (length - len(after))
    different = [x for x in range(length) if before[x] != after[x]]
    return (different[0], different[-1] + 1) if different else (0, length)


def _cells(runs: Runs) -> list[tuple[str, str]]:
    """Each cell's character and role; a wide character's second cell is empty, a space has no role."""
    cells: list[tuple[str, str]] = []
    for text, role in runs:
        for character in text:
            wide = cell_len(character)
            if wide == 0 and cells:
                cells[-1] = (cells[-1][0] + character, cells[-1][1])
                continue
            cells.append((character, "" if character == " " else role))
            cells += [("", role)] * (wide - 1)
    return cells
