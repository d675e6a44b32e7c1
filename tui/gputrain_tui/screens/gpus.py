"""All GPUs at once, and of the marked one everything that is known."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.events import Resize
from textual.geometry import Size

from gputrain_runner.feed import Feed
from gputrain_runner.hardware_words import words

from .. import format, gpu_facts, gpu_text, keys
from ..gpu_facts import Group
from ..history import DRIVER_CALLS, History, costs_of
from ..key_places import PLACES
from ..known_gpus import KnownGpu
from ..widgets.lines import Line, Lines, Run
from ..widgets.text import Role, padded, shorten, wrapped
from . import heading
from .gpu_table import GpuTable
from .message_line import AnsweringScreen, MessageLine

DRAW_S = 1.0
COLUMN_CELLS = 37
LABEL_CELLS = 15
NO_GPUS = "No GPU is known yet."


class GpuFacts(Lines):
    """Everything known of one GPU: what slows it, the groups in columns, its processes."""

    DEFAULT_CSS = """
    GpuFacts { height: auto; }
    """

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._top: Sequence[Line] = ()
        self._groups: Sequence[Group] = ()
        self._end: Sequence[Line] = ()
        self._laid_out: dict[int, list[Line]] = {}
        """The lines by their width."""
        self._rows = 0

    def show_facts(self, top: Sequence[Line], groups: Sequence[Group], end: Sequence[Line]) -> None:
        """Show these lines, below them the groups, below them those."""
        if (top, groups, end) == (self._top, self._groups, self._end):
            return
        self._top, self._groups, self._end = top, groups, end
        self._laid_out.clear()
        rows = len(self.build(self.size.width or COLUMN_CELLS, 0))
        if rows != self._rows:
            self._rows = rows
            self.refresh(layout=True)
        self.rebuild()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """All lines; the container scrolls."""
        return max(1, len(self.build(width, 0)))

    def build(self, width: int, height: int) -> Sequence[Line]:
        """The lines; groups side by side as many as fit, none divided."""
        if width not in self._laid_out:
            self._laid_out[width] = self._lay_out(width)
        return self._laid_out[width]

    def _lay_out(self, width: int) -> list[Line]:
        count = max(1, width // COLUMN_CELLS)
        cells = width // count
        columns = _in_columns(self._groups, count, cells - 2)
        lines: list[Line] = []
        for y in range(max(map(len, columns), default=0)):
            line: list[Run] = []
            for column in columns:
                runs = column[y] if y < len(column) else []
                line += [*runs, " " * max(0, cells - sum(len(text) for text, _ in runs))]
            lines.append(line)
        return [*self._top, *([""] if lines else []), *lines[:-1], *self._end]


class GpusScreen(AnsweringScreen):
    """Drawn once a second from the history that the training screen below it goes on filling."""

    AUTO_FOCUS = ""
    BINDINGS = keys.bindings(keys.GPUS)
    help_place = "gpus"
    shows_training = True

    def __init__(self, feed: Feed, history: History, size_classes: str, place: str = "gpus") -> None:
        """`place`: whose keys there are, a name in `key_places.PLACES`."""
        super().__init__(classes=f"gpus {size_classes}")
        self.help_place = place
        self._feed = feed
        self._history = history
        self._at: int | None = None
        """The marked one; None: the one that trains."""

    def compose(self) -> ComposeResult:
        """Head, table, facts, message and keys."""
        yield Lines([""], id="gpus-head")
        yield GpuTable(id="gpus-table")
        with VerticalScroll(id="gpus-body", can_focus=False):
            yield GpuFacts(id="gpus-facts")
        yield MessageLine(id="message")
        yield Lines([""], id="keys")

    def on_mount(self) -> None:
        """Begin to draw."""
        self.set_interval(DRAW_S, self.draw)

    def on_resize(self, event: Resize) -> None:
        """Lay everything out anew once the parts have their sizes."""
        self.call_after_refresh(self.draw)

    def draw(self) -> None:
        """Draw what has changed; also behind a box."""
        if not self.is_current:
            return
        width = self.size.width
        gpus = self._history.gpus.all()
        with self.app.batch_update():
            self.query_one("#gpus-head", Lines).show([self._head(gpus, width)])
            shown = keys.line(PLACES[self.help_place])
            shown[-2:-2] = keys.line([keys.by_id("help")])
            self.query_one("#keys", Lines).show([heading.keys_line(shown, width)])
            self.query_one("#message", MessageLine).stand(self._feed.gpu_absence or "" if gpus else "")
            table = self.query_one("#gpus-table", GpuTable)
            if table.display != bool(gpus):
                table.display = bool(gpus)
            table.show_gpus(gpus, self._marked(gpus), self._history.trains)
            self._draw_facts(gpus)

    def own_costs(self) -> list[tuple[str, str]]:
        """What this program itself takes."""
        return costs_of(self._history.latest)

    def action_mark(self, by: int) -> None:
        """Mark another GPU; stops at either end."""
        gpus = self._history.gpus.all()
        self._at = max(0, min(self._marked(gpus) + by, len(gpus) - 1))
        self.query_one("#gpus-body", VerticalScroll).scroll_home(animate=False)
        self.draw()

    def action_scroll(self, pages: int) -> None:
        """Scroll the facts by so many pages."""
        body = self.query_one("#gpus-body", VerticalScroll)
        body.scroll_relative(y=pages * max(1, body.size.height - 1), animate=False)

    def action_close(self) -> None:
        """Back to the training."""
        self.dismiss(None)

    def _draw_facts(self, gpus: Sequence[KnownGpu]) -> None:
        facts = self.query_one("#gpus-facts", GpuFacts)
        if not gpus:
            reason = self._feed.gpu_absence or NO_GPUS
            facts.show_facts(wrapped(reason, max(20, facts.size.width), 6), [], [])
            return
        known = gpus[self._marked(gpus)]
        busy = None
        if self._history.trains(known.gpu):
            busy = self._history.number(lambda sample: sample.busy)
        width = max(20, facts.size.width)
        groups = gpu_facts.groups(known, busy, self._feed.header.host.driver)
        facts.show_facts(_top(known, self._feed, width), groups, _processes(known, width))

    def _marked(self, gpus: Sequence[KnownGpu]) -> int:
        if self._at is not None:
            return min(self._at, max(0, len(gpus) - 1))
        return next((n for n, known in enumerate(gpus) if self._history.trains(known.gpu)), 0)

    def _head(self, gpus: Sequence[KnownGpu], width: int) -> Line:
        count = "no GPU" if not gpus else f"{len(gpus)} GPU{'s' if len(gpus) > 1 else ''}"
        title: list[Run] = [("GPUS", "strong"), (f"  {count}", "dim")]
        if any(self._history.trains(known.gpu) for known in gpus):
            title.append(("   ● trains", "dim"))
        asking = "".join(text for label, text in self.own_costs() if label == DRIVER_CALLS)
        asking = f"{DRIVER_CALLS} {asking}" if asking else ""
        return heading.first_fitting([heading.spread(title, [(asking, "dim")], width), title], width)


def _top(known: KnownGpu, feed: Feed, width: int) -> list[Line]:
    """Which GPU it is, and what is the matter with it, in words."""
    gpu = known.gpu
    name: list[Run] = [
        (f"GPU {gpu.index}", "strong"),
        f"  {gpu.name or format.UNKNOWN}",
        (f"  {gpu.uuid or ''}", "dim"),
    ]
    told: list[tuple[str, Role]] = []
    silent = gpu_text.silence(known, feed.gpu_absence)
    if silent is not None:
        told.append((silent, "warning"))
    elif known.trouble is not None:
        told.append((known.trouble, "warning"))
    if silent is None:
        told += gpu_text.slowdown_texts(known.slowdowns)
    if known.detail is not None and known.detail.denied:
        told.append((f"this user may not read: {words(known.detail.denied)}", "dim"))
    lines: list[Line] = [name]
    for text, role in told:
        lines += [[(line, role)] for line in wrapped(text, width, 2)]
    return lines


def _processes(known: KnownGpu, width: int) -> list[Line]:
    found = gpu_facts.processes(known.detail)
    title: Line = [("PROCESSES", "strong")]
    if not found:
        return ["", title, [(format.UNKNOWN if found is None else "none", "dim")]]
    rows: list[Line] = []
    for each in found:
        row = f"{each.pid:>9}  {padded(format.memory(each.memory_bytes), 9, right=True)}  "
        ours = gpu_facts.whose(each)
        rows.append([row, (padded(ours, 15), "accent" if each.ours else "dim"), each.name or format.UNKNOWN])
    return ["", title, *rows]


def _in_columns(groups: Sequence[Group], count: int, cells: int) -> list[list[list[tuple[str, Role]]]]:
    """The groups in so many columns, in their order, as even as whole groups allow."""
    blocks = [_block(group, cells) for group in groups]
    total = sum(map(len, blocks))
    columns: list[list[list[tuple[str, Role]]]] = [[]]
    done = 0
    for block in blocks:
        # To the next column where the block's middle lies beyond this one's share.
        if columns[-1] and len(columns) < count and done + len(block) / 2 > total * len(columns) / count:
            columns.append([])
        columns[-1] += block
        done += len(block)
    return columns


def _block(group: Group, cells: int) -> list[list[tuple[str, Role]]]:
    lines: list[list[tuple[str, Role]]] = [[(group.title, "strong")]]
    for label, text in group.facts:
        role: Role = "dim" if text == format.UNKNOWN else ""
        room = cells - LABEL_CELLS
        lines.append([(padded(label, LABEL_CELLS), "dim"), (shorten(text, room), role)])
    return [*lines, []]
