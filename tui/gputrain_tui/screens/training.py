"""What the keys do on the training screen; each answers at once or says why it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gputrain_runner.feed import Refused, State
from gputrain_runner.settings import SettingError

from .. import keys
from .ask import AskLine
from .training_view import TrainingView


class TrainingScreen(TrainingView):
    """The training screen with its keys."""

    BINDINGS = keys.bindings(keys.TRAINING)

    @contextmanager
    def _answering(self) -> Iterator[None]:
        """Say why, where an action is refused; show what it did, where it is not."""
        try:
            yield
        except (Refused, SettingError, OSError) as error:
            self.say(str(error))
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

    def choose_device(self, device: str) -> None:
        """Train on this device."""
        with self._answering():
            self._must_train()
            self.desk.ask("device", device)

    def action_undo(self) -> None:
        """Ask for the last change that worked to be reversed."""
        with self._answering():
            self.control.undo()
            self.say("undoing the last change", "")

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
                raise Refused(f"nothing to pause: training is {self.feed.state}")

    def action_record(self) -> None:
        """Start a recording of the session from its beginning, or complete the one being written."""
        with self._answering():
            path = self.feed.recording
            if path is None:
                self.say(f"recording to {_place(self.control.start_recording())}", "")
            else:
                self.control.stop_recording()
                self.say(f"recording complete: {_place(path)}", "")

    def action_restart(self) -> None:
        """Start a new worker with the settings in force."""
        with self._answering():
            self.control.restart()
            self.say("starting a new worker with the same settings", "")

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
    """A file for a short line: its name first, then the folder, the user's own as `~`."""
    folder, home = str(path.parent), str(Path.home())
    return f"{path.name} in {'~' + folder[len(home) :] if path.is_relative_to(home) else folder}"
