"""How long PyTorch compiles, told by itself: nothing is asked for in a step that compiles nothing."""

from __future__ import annotations

from contextlib import suppress
from time import perf_counter
from typing import Any

from torch._dynamo.callback import callback_handler


class CompileWatch:
    """Counts the seconds that torch.compile takes in this process, from its making to `close`.

    Of a backward pass that is compiled only when it is first run, PyTorch before 2.7 does not tell.
    """

    def __init__(self) -> None:
        self.spent_s = 0.0
        """Seconds since the last `take`."""
        self._under_way = 0
        self._began = 0.0
        callback_handler.register_start_callback(self._begin)
        callback_handler.register_end_callback(self._end)

    def take(self) -> float | None:
        """Milliseconds since this was last asked; None where nothing was compiled."""
        spent_s, self.spent_s = self.spent_s, 0.0
        return spent_s * 1e3 if spent_s else None

    def close(self) -> None:
        """Watch no longer."""
        with suppress(ValueError):  # Resetting the compiler has removed them.
            callback_handler.remove_start_callback(self._begin)
            callback_handler.remove_end_callback(self._end)

    def _begin(self, *_: Any) -> None:  # Older releases hand over nothing, newer ones what is compiled.
        if not self._under_way:
            self._began = perf_counter()
        self._under_way += 1

    def _end(self, *_: Any) -> None:
        self._under_way -= 1
        if not self._under_way:
            self.spent_s += perf_counter() - self._began
