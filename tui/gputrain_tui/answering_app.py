"""An app whose screens answer in their message lines; the topmost one says what the app has to say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .cell_diff import FrugalApp
from .screens.message_line import AnsweringScreen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.dom import DOMNode


class AnsweringApp(FrugalApp[None]):
    """Ends what was said when the next key acts."""

    async def run_action(
        self,
        action: str | tuple[str, str, tuple[object, ...]],
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Do what a key is bound to, or the palette's choice: what was answered before is over."""
        screen = self.answering_screen
        if screen is not None:
            screen.key_acts(action.partition("(")[0] if isinstance(action, str) else action[1])
        return await super().run_action(action, default_namespace, namespaces)

    @property
    def answering_screen(self) -> AnsweringScreen | None:
        """The topmost screen that has a place for answers."""
        stack = reversed(self.screen_stack)
        return next((screen for screen in stack if isinstance(screen, AnsweringScreen)), None)

    def answer(self, text: str) -> None:
        """Say it where it is seen."""
        screen = self.answering_screen
        if screen is not None:
            screen.say(text)

    def uncover(self, count: int) -> None:
        """Take away the screens above the lowest so many."""
        while len(self.screen_stack) > count:
            self.pop_screen()
