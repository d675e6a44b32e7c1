"""Reads a recording into its story, in one pass that keeps numbers and words but no entries."""

from __future__ import annotations

from pathlib import Path

from ..recordings import RecordingFile
from ..recordings.compare import FEWEST, Side
from ..settings import Settings
from ..timeline import Change, Effect, Entry, Message, Sample, Verdict
from .columns import GpuColumns
from .story import Held, Story, Stretch, Turned, became_known

MOST_MESSAGES = 400
MOST_PROFILES = 2000
MOST_COMPARED = 4096
"""Of a long stretch so many samples are kept to be compared, evenly."""


def tell(path: Path) -> Story:
    """The story of a recording.

    Raises:
        UnreadableError: it is none, or cannot be read.
    """
    recording = RecordingFile(path)
    try:
        return _Teller(recording).told()
    finally:
        recording.close()


class _Steady:
    """The steady samples under one set of settings; where there are many, every other, fourth ..."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.samples: list[Sample] = []
        self._every = 1
        self._seen = 0

    def add(self, sample: Sample) -> None:
        """Take in the next one."""
        if self._seen % self._every == 0:
            self.samples.append(sample)
        self._seen += 1
        if len(self.samples) > MOST_COMPARED:
            self.samples = self.samples[::2]
            self._every *= 2


class _Teller:
    """Goes through the entries once."""

    def __init__(self, recording: RecordingFile) -> None:
        self._recording = recording
        self._story = Story(recording.path, recording.header, recording.summary, recording.damage)
        self._by_entry: dict[int, Turned] = {}
        """Changes by their number in the file: effects and messages name them so."""
        self._turned_at: float | None = None
        self._steady: _Steady | None = None
        self._compared: _Steady | None = None
        self._steady_runs = 0

    def told(self) -> Story:
        """The whole story."""
        story = self._story
        for number in range(len(self._recording)):
            entry = self._recording.entry(number)
            if entry is None:
                story.unknown += 1
            else:
                self._take(number, entry)
        self._end_steady()
        story.summary, story.damage = self._recording.summary, self._recording.damage
        if story.held:
            story.held[-1].until_s = story.length_s
        if self._compared is not None:
            story.side = Side(
                str(story.path),
                story.header,
                self._compared.settings,
                self._compared.samples,
                self._steady_runs,
            )
        return story

    def _take(self, number: int, entry: Entry) -> None:
        story = self._story
        match entry:
            case Sample():
                self._sample(entry)
            case Change():
                turned = Turned(len(story.turned) + 1, entry)
                story.turned.append(turned)
                self._by_entry[number] = turned
                if entry.ok:
                    self._turned_at = entry.t
            case Effect(change=change):
                if change in self._by_entry:
                    self._by_entry[change].effect = entry
            case Verdict():
                self._verdict(entry)
            case Message(change=change) if change in self._by_entry:
                self._by_entry[change].note = entry.text
            case Message() if len(story.messages) < MOST_MESSAGES:
                story.messages.append(entry)
            case Message():
                story.messages_left_out += 1

    def _sample(self, sample: Sample) -> None:
        story = self._story
        self._stretch(sample)
        story.samples.add_sample(sample)
        for gpu in sample.gpus:
            key = gpu.uuid or str(gpu.index)
            if key not in story.gpus:
                story.gpus[key] = GpuColumns(gpu)
            story.gpus[key].add_gpu(sample.t, gpu)
        if sample.validation is not None and len(story.validations) < MOST_PROFILES:
            story.validations.append((sample.t, sample.validation))
        if sample.profile is not None and len(story.profiles) < MOST_PROFILES:
            story.profiles.append((sample.t, sample.profile))
        if sample.steady and sample.samples_per_s is not None:
            if self._steady is None or self._steady.settings != sample.settings:
                self._end_steady()
                self._steady = _Steady(sample.settings)
            self._steady.add(sample)

    def _stretch(self, sample: Sample) -> None:
        """Prolong the present stretch, or begin one where the settings are others."""
        story = self._story
        count = len(story.samples)
        if story.stretches and became_known(story.stretches[-1].settings, sample.settings):
            story.stretches[-1].settings = sample.settings
        if not story.stretches or story.stretches[-1].settings != sample.settings:
            before = story.samples.t[-1] if count else 0.0
            began = before if self._turned_at is None else self._turned_at
            if story.stretches:
                story.stretches[-1].end_s = began
            story.stretches.append(Stretch(sample.settings, began, sample.t, count, count))
        story.stretches[-1].end_s = sample.t
        story.stretches[-1].last = count + 1
        self._turned_at = None

    def _verdict(self, verdict: Verdict) -> None:
        """The same bottleneck in the next verdict is the same verdict with newer figures."""
        held = self._story.held
        if held:
            held[-1].until_s = verdict.t
        if held and held[-1].verdict.bottleneck == verdict.bottleneck:
            held[-1].verdict = verdict
        else:
            held.append(Held(verdict, verdict.t, verdict.t))

    def _end_steady(self) -> None:
        if self._steady is not None and len(self._steady.samples) >= FEWEST:
            self._compared = self._steady
            self._steady_runs += 1
        self._steady = None
