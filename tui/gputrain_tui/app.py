"""The app: which screen is shown, and what works on all of them."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from threading import Thread
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.command import Provider
from textual.driver import Driver
from textual.screen import Screen
from textual.theme import Theme

from gputrain_presets import Preset

from . import keys, theme
from .answering_app import AnsweringApp
from .screens.message_line import AnsweringScreen
from .screens.picker import PickerScreen
from .sessions import LiveFeed, SessionError, Sessions
from .sweep_run import LiveSweeps, Sweeps
from .widgets.glyphs import GlyphName, set_glyphs

if TYPE_CHECKING:
    from gputrain_runner.recordings.replay import Replay
    from gputrain_runner.summary import Ended

    from .screens.recordings import RecordingsScreen

LOOK_S = 0.1
"""How often it is looked whether a suspension that was asked for can be."""


def _no_sweep_beside(screen: Screen[object]) -> str | None:
    """Why no sweep can be begun while this screen is there; None where it can."""
    return screen.no_sweep if isinstance(screen, AnsweringScreen) else None


def _palette() -> type[Provider]:
    from .palette import Everything

    return Everything


class GpuTrainApp(AnsweringApp):
    """The presets, and from there the training screen."""

    TITLE = "gputrain-tui"
    CSS_PATH = "app.tcss"
    COMMANDS: ClassVar = {_palette}
    BINDINGS = keys.bindings(keys.APP)
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - Textual declares both as an instance's.
        (0, "-tiny-width"),
        (60, "-narrow"),
        (110, "-wide"),
    ]
    VERTICAL_BREAKPOINTS = [  # noqa: RUF012
        (0, "-tiny-height"),
        (15, "-low"),
        (20, "-short"),
        (36, "-tall"),
        (44, "-roomy"),
    ]
    """Classes that every screen gets by the terminal's size; app.tcss lays out by them."""

    _look: Theme | None = None

    def __init__(
        self,
        sessions: Sessions,
        live: LiveFeed | None = None,
        glyphs: GlyphName = "braille",
        replay: Replay | None = None,
        sweeps: Sweeps | None = None,
    ) -> None:
        """`live`: a session that runs; `replay`: a recording; without either the picker comes first.

        `sweeps`: where sweeps come from; None: real ones.
        """
        # Said here and not by the theme alone, or NO_COLOR would turn the terminal's own colours into black.
        super().__init__(ansi_color=True)
        set_glyphs(glyphs)
        self._sessions = sessions
        self._sweeps = LiveSweeps(lambda: sessions.telemetry) if sweeps is None else sweeps
        self._live = live
        self._replay = replay
        self._curtain: ExitStack | None = None
        self._framed = False
        self._training_awaited = live is not None or replay is not None
        self._suspension_waits = False
        self.leaving = False
        """A signal is ending it: the screen need not come back."""
        self.loop: asyncio.AbstractEventLoop | None = None
        """The running loop, for a signal's handler; None before there is one."""
        self.animation_level = "none"
        self._look = theme.for_terminal(self.console.color_system, ascii_only=glyphs == "ascii")
        self.register_theme(self._look)
        self.theme = self._look.name

    def get_theme(self, theme_name: str) -> Theme | None:
        """A theme by its name; ours at once, as Textual lists all its own for every widget drawn."""
        look = self._look
        return look if look is not None and theme_name == look.name else super().get_theme(theme_name)

    def get_driver_class(self) -> type[Driver]:
        """The terminal's driver, one that survives being stopped where the system has such a thing."""
        driver = super().get_driver_class()
        if driver.__name__ == "LinuxDriver":
            from .stoppable_driver import StoppableDriver

            return StoppableDriver
        return driver

    def on_load(self) -> None:
        """Draw nothing until the first screen is complete."""
        self._lower_curtain()

    def get_default_screen(self) -> Screen[None]:
        """The picker; training lies on top of it."""
        return PickerScreen(self._sessions, self.size_classes())

    def on_mount(self) -> None:
        """Bring up the session that runs already, if there is one."""
        self.loop = asyncio.get_running_loop()
        if self._live is not None:
            self.push_screen(self._training(self._live))
        elif self._replay is not None:
            self._show_replay(self._replay)

    def _after_first_frame(self) -> None:
        """Let begin what was not to delay the first frame."""
        if self._framed:
            return
        self._framed = True
        self._sessions.first_frame()
        if isinstance(self.screen, PickerScreen):
            self.screen.show_machine()

    @on(PickerScreen.Chosen)
    def start_chosen(self, event: PickerScreen.Chosen) -> None:
        """Train what was picked."""
        self.train(event.preset)

    def train(self, preset: Preset) -> None:
        """End what runs, and train this preset."""
        try:
            live = self._sessions.open(preset)
        except SessionError as error:
            self.answer(str(error))
            return
        self._lower_curtain()
        self.uncover(2)
        if isinstance(self.screen, PickerScreen):
            self.push_screen(self._training(live))
        else:
            self.switch_screen(self._training(live))

    def action_presets(self) -> None:
        """End the session, and let another preset be picked."""
        if not isinstance(self.screen, PickerScreen):
            self.pop_screen()
            self._sessions.close()

    def action_recordings(self) -> None:
        """List the recordings; a training goes on below."""
        from .screens.recordings import RecordingsScreen

        listed = [at for at, screen in enumerate(self.screen_stack) if isinstance(screen, RecordingsScreen)]
        if not listed:
            self.push_screen(RecordingsScreen(self.size_classes()))
        elif self.screen is self.screen_stack[listed[0]]:
            self.answer("these are the recordings: enter replays the marked one")
        else:
            self.uncover(listed[0] + 1)

    def on_recordings_screen_chosen(self, event: RecordingsScreen.Chosen) -> None:
        """Replay the one that was chosen."""
        from gputrain_runner.recordings import UnreadableError
        from gputrain_runner.recordings.replay import open_replay

        try:
            self._show_replay(open_replay(event.path))
        except UnreadableError as error:
            self.answer(str(error))

    def action_sweep(self) -> None:
        """Choose what to measure, beginning with the marked preset; not beside a training."""
        from .screens.sweep_setup import SweepSetupScreen

        objection = next((text for text in map(_no_sweep_beside, self.screen_stack) if text), None)
        if objection is None and any(isinstance(screen, SweepSetupScreen) for screen in self.screen_stack):
            objection = "what to measure is being chosen already"
            if not isinstance(self.screen, SweepSetupScreen):
                objection += ": esc leads back there"
        if objection is not None:
            self.answer(objection)
            return
        self.uncover(1)
        marked = self.screen.marked if isinstance(self.screen, PickerScreen) else None
        presets = [marked] if marked is not None else []
        self.push_screen(SweepSetupScreen(self._sweeps, self._sessions, presets, self.size_classes()))

    def _show_replay(self, replay: Replay) -> None:
        from .screens.replay import ReplayScreen

        self.push_screen(ReplayScreen(replay, self.size_classes()))

    async def action_help(self) -> None:
        """Show the help."""
        from .screens.help import HelpScreen

        if not isinstance(self.screen, HelpScreen):
            screen = self.screen
            if isinstance(screen, AnsweringScreen):
                self.push_screen(HelpScreen(screen.help_place, screen.own_costs()))

    def action_suspend_process(self) -> None:
        """Back to the shell; where a worker loads PyTorch, once it was told what to train, or pressed again.

        Stopped before, this process could not tell it: loading would stand still until `fg`.
        """
        if self._sessions.awaits_worker and not self._suspension_waits:
            self._suspension_waits = True
            if isinstance(self.screen, AnsweringScreen):
                told = "to the shell in a moment, when PyTorch is loaded; ctrl+z again: at once"
                self.screen.say(told, role="", holds=lambda: self._suspension_waits)
            self.set_timer(LOOK_S, self._suspend_when_told)
            return
        self._suspension_waits = False
        super().action_suspend_process()

    def _suspend_when_told(self) -> None:
        if not self._suspension_waits:
            return
        if self._sessions.awaits_worker:
            self.set_timer(LOOK_S, self._suspend_when_told)
        else:
            self.action_suspend_process()

    def action_leave(self, code: int) -> None:
        """Leave the program; the session is ended while Textual puts the terminal back."""
        ended: Ended = "finished" if code == 0 else "interrupted"
        Thread(target=self._sessions.leave, args=(ended,), name="leaving", daemon=True).start()
        self.exit(return_code=code)

    @property
    def crash(self) -> BaseException | None:
        """What ended the app, where that was an error in it."""
        return self._exception

    def _fatal_error(self) -> None:
        """Textual's way out after an error, without its pages of traceback: `crash` has it."""
        self._close_messages_no_wait()

    def size_classes(self) -> str:
        """The classes of the terminal's size, for a new screen: given later they cost a layout."""
        width, height = self.size
        across = [name for least, name in self.HORIZONTAL_BREAKPOINTS or () if width >= least]
        down = [name for least, name in self.VERTICAL_BREAKPOINTS or () if height >= least]
        return f"{across[-1]} {down[-1]}"

    def first_drawn(self, screen: Screen[None]) -> None:
        """A screen is complete for the first time: show it, if it is what was waited for."""
        if self._curtain is not None and self._training_awaited != isinstance(screen, PickerScreen):
            self._curtain.close()
            self._curtain = None
            screen.refresh()
            self.call_after_refresh(self._after_first_frame)

    def _lower_curtain(self) -> None:
        """Paint nothing for now: a screen that comes up half drawn is painted three times over."""
        if self._curtain is None:
            self._curtain = ExitStack()
            self._curtain.enter_context(self.batch_update())

    def _training(self, live: LiveFeed) -> Screen[None]:
        self._training_awaited = True
        from .screens.training import TrainingScreen

        return TrainingScreen(live, live, self.size_classes())
