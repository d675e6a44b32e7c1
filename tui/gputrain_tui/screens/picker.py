"""The first screen: which preset to train."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Key, Paste, Resize
from textual.message import Message

from gputrain_presets import Preset, PresetError, load, names

from .. import format, keys, preset_text
from ..key_places import PRESETS_WORDS
from ..sessions import Sessions
from ..widgets.lines import Lines
from ..widgets.text import Line, Run, wrapped
from . import heading
from .ask import AskLine
from .message_line import AnsweringScreen, MessageLine
from .preset_list import Item, PresetList

OPEN_FILE = Item("open a file …", "your own workload (a TOML file)", "", always=True)
LOOK_S = 0.5
"""How often what is known of the machine is looked up."""
LONGEST_FILTER = 40
LEAST_CELLS = 20
"""A narrower place for the details is not laid out but cut."""
ABSENCE_ROWS = 3
"""Of why there is no GPU."""


class PickerScreen(AnsweringScreen):
    """A list to choose from by arrow keys or by typing, and all about the marked preset."""

    BINDINGS = keys.bindings(keys.PICKER)
    AUTO_FOCUS = ""

    class Chosen(Message):
        """The user wants to train this preset."""

        def __init__(self, preset: Preset) -> None:
            super().__init__()
            self.preset = preset

    def __init__(self, sessions: Sessions, size_classes: str) -> None:
        super().__init__(classes=f"picker {size_classes}")
        self._sessions = sessions
        self._filter = ""
        self._presets: dict[str, Preset] = {}
        self._broken: dict[str, str] = {}
        self._opened: Preset | None = None

    def compose(self) -> ComposeResult:
        """Head, list, details, machine, message, keys."""
        yield Lines([""], id="picker-head")
        with Vertical(id="picker-body"):
            with Vertical(id="picker-choice"):
                yield Lines([""], id="picker-filter")
                yield PresetList(self._items(), id="picker-list")
            yield _Details(self._details)
        yield Lines(id="picker-gpu")
        yield MessageLine(id="message")
        yield Lines([""], id="keys")

    def on_mount(self) -> None:
        """Begin to look up the machine."""
        self.set_interval(LOOK_S, self.show_machine)

    def on_resize(self, event: Resize) -> None:
        """Lay the lines out anew once the panels have their sizes."""
        self.call_after_refresh(self.draw)

    @property
    def marked(self) -> str | None:
        """The marked preset's name; None where it is none that can be used."""
        name = self.query_one("#picker-list", PresetList).chosen.name
        return name if name in self._presets else None

    def draw(self) -> None:
        """Everything but the list, which draws itself."""
        width = self.size.width
        question: list[Run] = [("What trains slowly?   ", "strong"), ("type to filter", "dim")]
        if self._filter:
            question[1:] = [("filter: ", "dim"), (f"{self._filter}▏", "strong")]
        line = self.query_one("#picker-filter", Lines)
        line.show([heading.spread(question, [("parameters", "dim")], line.size.width)])
        self.query_one(_Details).rebuild()
        shown = [*keys.line(keys.PICKER), *keys.line(keys.APP, PRESETS_WORDS)]
        self.query_one("#keys", Lines).show([heading.keys_line(shown, width)])
        self.show_machine()
        self.drawn()

    def show_machine(self) -> None:
        """What this machine is, as far as it is known by now."""
        if not self.is_active:
            return
        width = self.size.width
        title: Run = ("gputrain-tui", "strong")
        self.query_one("#picker-head", Lines).show([heading.spread([title], [self._machine()], width)])
        self.query_one("#picker-gpu", Lines).show(
            [[(line, "dim")] for line in wrapped(self._sessions.gpu_absence or "", width, ABSENCE_ROWS)]
        )
        self.query_one("#message", MessageLine).stand("")

    # ------------------------------------------------------------------ actions

    def on_key(self, event: Key) -> None:
        """A letter goes to the filter; a question mark, which no name has, is for the help."""
        if event.key in ("backspace", "ctrl+h"):
            # Here and not by its binding, which would come after letters typed behind it.
            self.key_acts("erase")
            self.action_erase()
            event.stop()
            return
        letter = event.character if event.is_printable else None
        if letter and letter != "?" and len(self._filter) < LONGEST_FILTER:
            self.key_acts("filter")
            self._set_filter(self._filter + letter)
            event.stop()

    def on_paste(self, event: Paste) -> None:
        """So does pasted text, its first line."""
        self.key_acts("filter")
        first = event.text.strip().splitlines()[:1]
        self._set_filter((self._filter + "".join(first))[:LONGEST_FILTER])

    def action_move(self, by: int) -> None:
        """Mark another preset."""
        self.query_one("#picker-list", PresetList).move(by)
        self.draw()

    def action_erase(self) -> None:
        """Take the filter's last letter away."""
        self._set_filter(self._filter[:-1])

    def action_clear(self) -> None:
        """Take the whole filter away."""
        if not self._filter:
            self.say("ctrl+q leaves the program")
        self._set_filter("")

    def action_choose(self) -> None:
        """Train the marked preset, or ask for a file."""
        item = self.query_one("#picker-list", PresetList).chosen
        if item is OPEN_FILE:
            allowed = "a TOML file of the same form as a preset"
            self.app.push_screen(AskLine("Open a file", allowed, self._take_path), self._train_opened)
        elif item.name in self._broken:
            self.say(self._broken[item.name])
        else:
            self.post_message(self.Chosen(self._presets[item.name]))

    def _take_path(self, text: str) -> str | None:
        path = text.strip()
        if not path:
            return "type the path of a TOML file"
        try:
            # A bare word would be looked up in the catalog; here it is a file's name.
            self._opened = load(path if "/" in path else f"./{path}")
        except PresetError as error:
            return str(error)
        return None

    def _train_opened(self, accepted: bool | None) -> None:
        if accepted and self._opened is not None:
            self.post_message(self.Chosen(self._opened))

    def _set_filter(self, text: str) -> None:
        self._filter = text.lstrip()
        self.query_one("#picker-list", PresetList).filter(self._filter)
        self.draw()

    # -------------------------------------------------------------------- texts

    def _items(self) -> list[Item]:
        items = []
        for name in names():
            try:
                preset = load(name)
            except PresetError as error:
                self._broken[name] = str(error)
                items.append(Item(name, str(error), ""))
                continue
            self._presets[name] = preset
            items.append(Item(name, preset_text.short_title(preset), preset_text.parameters(preset)))
        return [*items, OPEN_FILE]

    def _details(self, width: int, height: int) -> list[Line]:
        width = max(LEAST_CELLS, width)
        shown = self.query_one("#picker-list", PresetList)
        preset = self._presets.get(shown.chosen.name)
        if preset is None:
            about = self._broken.get(shown.chosen.name, shown.chosen.title)
            return list(wrapped(about, width, max(3, height)))
        title: list[Line] = [*wrapped(shown.chosen.title, width, 2)] if shown.cuts_title() else []
        origin = wrapped(preset.origin.strip(), width)
        whole = [*title, *origin, "", *_fact_lines(preset_text.facts(preset), width)]
        if len(whole) <= height:
            return whole
        return [*title, *_brief(preset, width, height - len(title))]

    def _machine(self) -> str:
        cards = [device.name or device.device for device in self._sessions.devices if device.device != "cpu"]
        host = self._sessions.host
        if host is None:
            return ""
        parts = cards or ["CPU"]
        if host.cores is not None:
            parts.append(f"{host.cores} cores")
        if host.memory_bytes is not None:
            parts.append(format.memory(host.memory_bytes))
        return " · ".join(parts)


class _Details(Lines):
    """All about the marked preset that there is room for."""

    def __init__(self, about: Callable[[int, int], list[Line]]) -> None:
        super().__init__(id="picker-details")
        self._about = about

    def build(self, width: int, height: int) -> Sequence[Line]:
        """Laid out anew whenever its size changes too."""
        return self._about(width, height)


def _brief(preset: Preset, width: int, height: int) -> list[Line]:
    """What it is comes before what was published of it and where it comes from, as much as has room."""
    lines = _fact_lines(preset_text.few_facts(preset), width)
    label = "published"
    for figure in preset_text.published_figures(preset):
        more = _fact_lines([(label, figure)], width)
        if len(lines) + len(more) > height:
            break
        lines += more
        label = ""
    room = height - len(lines) - 1
    return [*lines, "", *wrapped(preset.origin.strip(), width, room)] if room > 0 else lines[:height]


def _fact_lines(facts: Sequence[tuple[str, str]], width: int) -> list[Line]:
    lines: list[Line] = []
    for label, text in facts:
        first, *more = wrapped(text, width - 11)
        lines.append([(f"{label:<10} ", "dim"), first])
        lines += [" " * 11 + line for line in more]
    return lines
