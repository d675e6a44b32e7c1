"""What became of the changes of `--at`, in a line each: those that failed, those that were never reached."""

from __future__ import annotations

from collections.abc import Sequence

from gputrain_runner.protocol import ScheduledChange
from gputrain_runner.timeline import Change


def failed(changes: Sequence[Change], scheduled: Sequence[ScheduledChange]) -> str | None:
    """Which could not be made, the first one's reason with it; None where all were.

    Args:
        changes: every one that was tried, made or not.
        scheduled: those of the command line.
    """
    lost = [change for change in changes if not change.ok]
    if not lost:
        return None
    reason = " ".join((lost[0].error or "no reason was told").split())
    named = [_option(_asked(change, scheduled)) for change in lost]
    first = f"{named[0]} could not be made: {reason}"
    others = f" (nor could {', '.join(named[1:])})" if named[1:] else ""
    return f"{first}{others}; training went on without it"


def unreached(changes: Sequence[Change], scheduled: Sequence[ScheduledChange], steps: int) -> str | None:
    """Which of the scheduled changes a run of so many steps never came to; None where it came to all."""
    tried = {_asked(change, scheduled) for change in changes}
    missed = [change for change in scheduled if change.step >= steps and change not in tried]
    if not missed:
        return None
    were = "was" if len(missed) == 1 else "were"
    ended = f"{steps:,} step{'' if steps == 1 else 's'}"
    return f"{', '.join(map(_option, missed))} {were} never reached: the run ended after {ended}"


def _asked(change: Change, scheduled: Sequence[ScheduledChange]) -> ScheduledChange:
    """The one that asked for it: at an epoch's end a change is made later than it was asked for."""
    for each in sorted(scheduled, key=lambda one: one.step, reverse=True):
        if (each.setting, each.to) == (change.setting, change.to) and each.step <= change.step:
            return each
    return ScheduledChange(step=change.step, setting=change.setting, to=change.to)


def _option(change: ScheduledChange) -> str:
    return f"--at {change.step}:{change.setting}={change.to}"
