"""What happens in a session as lines of text, for those who follow a run without a screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gputrain_runner.timeline import Change, Effect, Entry, Message, Sample, Validation

from .. import format

VALIDATION_EVERY_S = 5.0
"""Between two lines that tell of a validation."""


class Narrator:
    """Turns a feed's entries into lines; samples pass in silence, but for the validation in them."""

    def __init__(self) -> None:
        self._changes: dict[int, Change] = {}
        """By position in the timeline: an effect names its change so."""
        self._next_validation_t = 0.0

    def lines(self, first: int, entries: Sequence[Entry], told_last: str | None = None) -> Iterator[str]:
        """A line for each entry worth one.

        `first` is the position of the first entry; the message `told_last` is left to the program's end.
        """
        for position, entry in enumerate(entries, start=first):
            match entry:
                case Change():
                    self._changes[position] = entry
                    yield f"{format.clock(entry.t)} step {entry.step:,}: {_change(entry)}"
                case Effect():
                    yield f"{format.clock(entry.t)} {self._effect(entry)}"
                case Message(text=text) if text == told_last:
                    pass
                case Message(level="info"):
                    yield f"{format.clock(entry.t)} {entry.text}"
                case Message():
                    yield f"{format.clock(entry.t)} {entry.level}: {entry.text}"
                case Sample(validation=Validation() as validation) if self._is_due(entry.t):
                    yield f"{format.clock(entry.t)} {_validation(validation)}"

    def _is_due(self, t: float) -> bool:
        """Whether the last validation was told long enough ago; a small network has many a second."""
        if t < self._next_validation_t:
            return False
        self._next_validation_t = t + VALIDATION_EVERY_S
        return True

    def _effect(self, effect: Effect) -> str:
        first = self._changes.get(effect.change if effect.since is None else effect.since)
        last = self._changes.get(effect.change)
        what = ""
        if first is not None and last is not None:
            together = first is not last and first.setting != last.setting
            what = f"the changes up to {_change(last)}" if together else _span(first, last)
        rates = f"{format.short(effect.before.samples_per_s)} → {format.short(effect.after.samples_per_s)}"
        spread = format.ratio_spread(effect.ratio, effect.ratio_low, effect.ratio_high)
        return f"effect of {what}: {spread}, {rates} samples/s"


def _span(first: Change, last: Change) -> str:
    return format.setting_change(last.setting, first.from_, last.to)


def _change(change: Change) -> str:
    if change.ok:
        took = "" if change.applied_in_ms is None else f", in {format.milliseconds(change.applied_in_ms)}"
        return format.setting_change(change.setting, change.from_, change.to) + took
    label = format.setting_label(change.setting)
    to, back = (format.setting(change.setting, value) for value in (change.to, change.from_))
    return f"{label} {to} → back to {back}: {change.error or 'it could not be made'}"


def _validation(validation: Validation) -> str:
    accuracy = validation.accuracy
    also = "" if accuracy is None else f", accuracy {format.percent(accuracy, 1)}"
    return f"epoch {validation.epoch}: validation loss {format.loss(validation.loss)}{also}"
