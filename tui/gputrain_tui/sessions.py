"""Where the screens get their sessions from, and what they may know of the machine before there is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from gputrain_presets import Preset
from gputrain_runner.feed import Control, Feed
from gputrain_runner.timeline import Device, Host

if TYPE_CHECKING:
    from gputrain_runner.samples import TelemetrySource
    from gputrain_runner.summary import Ended


@dataclass(frozen=True, slots=True, kw_only=True)
class AppOptions:
    """What the app is started with, as the command line says it."""

    preset: str | None = None
    """A name or a file's path; None: it is picked on the first screen."""
    device: str | None = None
    batch_size: int | None = None
    model_size: str | None = None
    overrides: tuple[tuple[str, str], ...] = ()
    """Settings by name, their values as text."""
    record: Path | Literal[True] | None = None
    """Record the first session to this new file, each further one beside it; True: in the default place."""
    data: str | None = None
    """Real data, for presets that read files."""
    replay: Path | None = None
    """Show this recording first."""
    glyphs: str | None = None
    """`braille`, `block` or `ascii`; None: what the terminal can show."""
    command: tuple[str, ...] = ()
    """The command line, for the recording."""


class LiveFeed(Feed, Control, Protocol):
    """A session as a screen has it: what it tells, and what can be asked of it."""


class Sessions(Protocol):
    """Keeps at most one session. Every call but the last returns at once."""

    @property
    def host(self) -> Host | None:
        """The machine; None while that is not known yet."""

    @property
    def devices(self) -> Sequence[Device]:
        """The devices PyTorch can use; empty while it is being loaded."""

    @property
    def gpu_absence(self) -> str | None:
        """Why there is no GPU telemetry, in one line; None where there is some or it is not known yet."""

    @property
    def awaits_worker(self) -> bool:
        """Whether the session's worker still loads PyTorch and has yet to be told what to train: this process
        is needed for that."""

    @property
    def telemetry(self) -> TelemetrySource | None:
        """What samples GPUs and host, for whoever measures without a session."""

    def first_frame(self) -> None:
        """The screen is up: what would have delayed it may begin."""

    def open(self, preset: Preset) -> LiveFeed:
        """Begin to train a preset; SessionError says in one line why that cannot be."""

    def close(self) -> None:
        """End the session, its recording completed, and get ready for the next."""

    def leave(self, ended: Ended) -> None:
        """End everything, recordings completed, and wait for it; from any thread, and again."""


class SessionError(Exception):
    """A session that cannot begin; the text is one line for the user."""
