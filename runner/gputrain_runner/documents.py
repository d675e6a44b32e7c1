"""The kinds of JSON documents that this program writes, by what each says of itself in `schema`."""

from __future__ import annotations

from typing import Final

SESSION: Final = "gputrain-session"
SWEEP: Final = "gputrain-sweep"


def what_it_is(schema: object) -> str:
    """What a document is that is not of the kind that was asked for: another one of ours, or foreign."""
    if schema == SESSION:
        return "it is a session's recording"
    return "it is a sweep" if schema == SWEEP else "it is JSON of another program"
