"""What the keys do on the training screen; each answers at once or says why it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gputrain_runner.feed import Refused, State
from gputrain_runner.settings import SettingError, Value
from gputrain_runner.timeline import Remedy

from .. import format, keys, verdict_text
from .ask import AskLine
from .training_view import TrainingView

SURE_S = 2.0
"""A key that ends a running training must be pressed again within so long."""
NOT_PAUSED = {
    "starting": "nothing to pause yet: PyTorch, the data and the model are being loaded",
    "finished": "nothing to pause: training has finished; r starts it anew",
    "died": "nothing to pause: the worker has ended; r starts a new one with the same settings",
}


class TrainingScreen(TrainingView):
    """The training screen with its keys."""

    BINDINGS = keys.bindings(keys.TRAINING)

    @contextmanager
    def _answering(self) -> Iterator[None]:
        """Say why, where an action is refused; show what it did, where it is not."""
        try:
            yield
        except (Refused, SettingError, OSError) as error:
            state = self.feed.state
            self.say(str(error), holds=lambda: self.feed.state == state)
        self.draw_at_once()

    def action_turn(self, name: str, up: bool) -> None:
        """Step a setting up or down its ladder."""
        with self._answering():
            self._must_train()
            self.desk.turn(name, up)

    def action_turn_marked(self, up: bool) -> None:
        """Step the marked setting."""
        self.action_turn(self.desk.cursor, up)

    def action_cursor(self, by: int) -> None:
        """Mark another setting."""
        self.desk.move_cursor(by)
        self.draw_at_once()

    def action_edit(self) -> None:
        """Type a value for the marked setting."""
        name = self.desk.cursor
        with self._answering():
            self._must_train()
            allowed = f"allowed: {self.desk.allowed(name)}"
            self.app.push_screen(
                AskLine(self.desk.label(name), allowed, self._enter, self.desk.current_text(name))
            )

    def _enter(self, text: str) -> str | None:
        try:
            self.desk.enter(self.desk.cursor, text)
        except (Refused, SettingError) as error:
            return str(error)
        return None

    def choose(self, name: str, value: Value) -> None:
        """Turn a setting to this value."""
        with self._answering():
            self._must_train()
            self.desk.ask(name, value)

    def type_value(self, name: str) -> None:
        """Mark a setting, and have a value typed for it."""
        self.desk.mark(name)
        self.action_edit()

    def action_apply(self) -> None:
        """Apply the first remedy of the verdict that is a setting."""
        with self._answering():
            self._must_train()
            remedy = verdict_text.applicable(self.verdict.remedies) if self.verdict is not None else None
            if remedy is None:
                raise Refused(verdict_text.nothing_to_apply(self.verdict))
            self.say(self.apply_remedy(remedy), "", holds=lambda: self.desk.waits)

    def apply_remedy(self, remedy: Remedy) -> str:
        """Turn what a remedy turns; in words, what that is. Refused or SettingError says why not."""
        self._must_train()
        if remedy.setting is None:
            raise Refused("this is advice, no setting can do it")
        self.desk.ask(remedy.setting, remedy.to)
        return f"applying: {verdict_text.remedy(remedy)}, {verdict_text.predicted(remedy)}; u undoes"

    def action_verdict(self) -> None:
        """Show the whole reasoning; the training goes on being read below."""
        from .verdict import VerdictScreen

        self.app.push_screen(VerdictScreen(self, " ".join(self.size_classes())))

    def action_undo(self) -> None:
        """Ask for the last change that worked to be reversed."""
        with self._answering():
            self.say(self.desk.undo(), "", holds=lambda: self.desk.waits)

    def action_pause(self) -> None:
        """Pause, or go on."""
        with self._answering():
            if self.feed.state == "paused":
                self.control.resume()
                self._ask_state("running")
            elif self.feed.state == "running":
                self.control.pause()
                self._ask_state("paused")
            else:
                raise Refused(NOT_PAUSED[self.feed.state])

    def action_probe(self) -> None:
        """Measure what the device that trains, and the host, can do at most."""
        with self._answering():
            self.control.probe()
            self.say("measuring this machine's ceilings: training waits some seconds", "")

    def action_record(self) -> None:
        """Start a recording of the session from its beginning, or complete the one being written."""
        with self._answering():
            path = self.feed.recording
            if path is None:
                self.say(f"recording to {_place(self.control.start_recording())}", "")
            else:
                self.control.stop_recording()
                self.say(f"recording complete: {_place(path)}", "")

    def action_restart(self, sure: bool = False) -> None:
        """Start a new worker with the settings in force; where one trains, at the second press."""
        if not (sure or self._pressed_twice("restart", "r", "starts anew with a fresh model")):
            return
        with self._answering():
            self.control.restart()
            self.desk.forget_asked()
            told = "starting a new worker with the same settings"
            self.say(told, "", holds=lambda: self.feed.state == "starting")

    @property
    def no_sweep(self) -> str | None:
        """A training and a sweep would each slow the other down, and measure that."""
        if self.feed.state in ("died", "finished"):
            return "a sweep begins at the presets: esc leads there, then ctrl+s"
        return "a sweep needs the machine to itself: end this training (esc), then ctrl+s"

    async def action_back(self, sure: bool = False) -> None:
        """End the session and go back to the presets; where it trains, at the second press."""
        if sure or self._pressed_twice("back", "esc", "ends this training"):
            await self.run_action("app.presets")

    def _pressed_twice(self, action: str, key: str, does: str) -> bool:
        """Whether a key may end what runs: pressed again soon enough, or there is nothing to be lost."""
        latest = self.history.latest
        if self.feed.state not in ("running", "paused") or latest is None or not latest.step:
            return True
        kept = "" if self.feed.recording is None else ", recording kept"
        steps = format.short(latest.step)
        question = f"{key} again within {SURE_S:.0f} s {does} ({steps} steps{kept})"
        return self.pressed_again(action, question, SURE_S)

    def action_gpus(self) -> None:
        """Show all GPUs; the training goes on being read below."""
        from .gpus import GpusScreen

        sized, place = " ".join(self.size_classes()), "gpus" if self.turns else "replay gpus"
        self.app.push_screen(GpusScreen(self.feed, self.history, sized, place))

    def action_span(self) -> None:
        """Show the next longer stretch of time in the charts, after the longest the shortest."""
        span_s = self.next_span()
        self.say(f"the charts span {format.lasting(span_s)}", "")

    def action_view(self, view: str) -> None:
        """Choose what the folded layout shows."""
        self.choose_view(view)

    def _ask_state(self, state: State) -> None:
        self.asked_state = state

    def _must_train(self) -> None:
        if self.feed.state == "died":
            raise Refused("nothing is training: r starts a new worker with the same settings")
        if self.feed.state == "finished":
            raise Refused("training has finished: r starts it anew")


def _place(path: Path) -> str:
    """A file as people write it, the user's own folder as `~`."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
