"""The training screen over a recording: the very same panels, and keys that move through time."""

from __future__ import annotations

from gputrain_runner.feed import Refused
from gputrain_runner.recordings.replay import Replay

from .. import format, keys
from ..key_places import PLACES
from .training import TrainingScreen

AHEAD_S = 3.0
"""A change is shown from so long before it, and so long after it when it was jumped to."""


class ReplayScreen(TrainingScreen):
    """A recording being played, or followed while it is written."""

    BINDINGS = keys.bindings(keys.REPLAY)
    help_place = "replay"
    turns = False

    def __init__(self, replay: Replay, size_classes: str) -> None:
        super().__init__(replay, replay, size_classes)
        self._replay = replay
        self.history.time_stands = True

    def action_speed(self, up: bool) -> None:
        """Play faster or slower."""
        self._replay.turn_speed(up)
        self.draw_at_once()

    def action_jump(self, where: str) -> None:
        """Go to the beginning, the end, the change after this time or the one before."""
        with self._answering():
            if where == "end":
                self._replay.jump_to_end()
            elif where == "begin":
                self._begin_at(0.0)
            elif where == "next":
                found = self._replay.change_after()
                if found is None:
                    raise Refused("there is no change after this one")
                self._replay.jump_ahead(found)
            else:
                found = self._replay.change_before()
                if found is None:
                    raise Refused("there is no change before this one")
                self._begin_at(max(0.0, found - AHEAD_S))

    @property
    def no_sweep(self) -> str | None:
        """Nothing trains here; the recording is left."""
        return None

    async def action_back(self, sure: bool = False) -> None:
        """Leave the recording; nothing is lost by that."""
        self.app.pop_screen()

    def action_restart(self, sure: bool = False) -> None:
        """Refused: nothing trains."""
        with self._answering():
            self.control.restart()

    def _begin_at(self, t: float) -> None:
        """Going back takes a new screen: what this one has drawn cannot be taken back."""
        earlier = Replay(self._replay.file, t, speed=self._replay.speed)
        if self._replay.state == "paused":
            earlier.pause()
        self.app.switch_screen(ReplayScreen(earlier, " ".join(self.size_classes())))

    def action_cursor(self, by: int) -> None:
        """Refused: what is marked could not be turned."""
        with self._answering():
            self._must_train()

    def _must_train(self) -> None:
        raise Refused("this is a recording: nothing in it can be turned")

    def _state_word(self) -> str:
        replay = self._replay
        if replay.following:
            return "following" if replay.state == "running" else "ended"
        word = {"paused": "held", "finished": "at its end"}.get(replay.state, "replay")
        return f"{word} ×{replay.speed:g}" if word == "replay" else word

    def _keys(self) -> list[tuple[str, str]]:
        words = {"pause": "go on"} if self.feed.state == "paused" else {}
        shown = keys.line(PLACES[self.help_place], words)
        return [*shown[:-2], *keys.line([keys.by_id("help")]), *shown[-2:]]

    def _standing(self) -> str:
        replay = self._replay
        if replay.file.damage is not None:
            return replay.file.damage
        of = f"{format.elapsed(replay.at_s)} of {format.elapsed(replay.length_s)}"
        name = replay.path.name
        return f"following {name}" if replay.following else f"{name}: {of}"
