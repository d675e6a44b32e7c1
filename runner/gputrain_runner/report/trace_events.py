"""A recording in the trace-event format, which Perfetto and Chrome's tracing open.

What is known of steps are means over a sample's window, not each of them: one step of mean length is drawn
at the window's beginning and says so. Times are microseconds since the session began.
(Format: "Trace Event Format", the Catapult project, 2016, and Perfetto's importer of it.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import msgspec

from ..recordings import RecordingFile
from ..settings import Settings
from ..timeline import PHASES, Change, Effect, Entry, Gpu, Message, Sample, Verdict
from .story import became_known

Event = dict[str, Any]

TRACKS = (
    "settings",
    "samples",
    "host: a step of mean length, and its phases",
    "device: a step's phases, means",
    "changes",
    "verdicts",
    "messages",
)
"""The named tracks of a session, numbered from 1."""
SETTINGS, SAMPLES, HOST, DEVICE, CHANGES, VERDICTS, MESSAGES = range(1, 1 + len(TRACKS))


def write_trace(paths: Sequence[Path], file: TextIO) -> int:
    """Write recordings as one trace, a process each; how many events there were.

    Raises:
        UnreadableError: a file is no recording.
    """
    recordings = [RecordingFile(path) for path in paths]
    count = 0

    def pieces() -> Iterator[str]:
        nonlocal count
        yield '{"displayTimeUnit":"ms","traceEvents":[\n'
        for number, recording in enumerate(recordings, start=1):
            for event in _Session(number, recording).events():
                yield (",\n" if count else "") + msgspec.json.encode(event).decode()
                count += 1
        yield "\n]}\n"

    try:
        file.writelines(pieces())
    finally:
        for recording in recordings:
            recording.close()
    return count


class _Session:
    """The events of one recording."""

    def __init__(self, pid: int, recording: RecordingFile) -> None:
        self._pid = pid
        self._recording = recording
        self._window_began = 0.0
        self._steps_before = 0
        self._settings: tuple[Settings, float] | None = None
        self._verdict: Verdict | None = None
        self._changes: dict[int, Change] = {}
        self._last_t = 0.0

    def events(self) -> Iterator[Event]:
        """All of them, in the order of the recording."""
        yield from self._names()
        for number in range(len(self._recording)):
            entry = self._recording.entry(number)
            if entry is not None:
                self._last_t = max(self._last_t, entry.t)
                yield from self._of(number, entry)
        yield from self._end_settings(self._last_t)
        yield from self._end_verdict(self._last_t)

    def _names(self) -> Iterator[Event]:
        header = self._recording.header
        name = f"{header.session.preset.get('name', 'unnamed')} ({self._recording.path.name})"
        yield self._meta("process_name", 0, {"name": name})
        for tid, track in enumerate(TRACKS, start=1):
            yield self._meta("thread_name", tid, {"name": track})
            yield self._meta("thread_sort_index", tid, {"sort_index": tid})

    def _of(self, number: int, entry: Entry) -> Iterator[Event]:
        match entry:
            case Sample():
                yield from self._sample(entry)
            case Change():
                self._changes[number] = entry
                what = f"{entry.setting} {entry.from_} → {entry.to}"
                name = what if entry.ok else f"failed: {what}"
                yield self._instant(name, CHANGES, entry.t, _told(entry), scope="p")
            case Effect():
                change = self._changes.get(entry.change)
                what = "a change" if change is None else f"{change.setting} {change.from_} → {change.to}"
                name = f"effect of {what}: ×{entry.ratio:.3g}"
                yield self._instant(name, CHANGES, entry.t, _told(entry))
            case Verdict():
                yield from self._end_verdict(entry.t)
                self._verdict = entry
            case Message():
                yield self._instant(entry.text, MESSAGES, entry.t, {"level": entry.level})

    def _sample(self, sample: Sample) -> Iterator[Event]:
        if self._settings is not None and became_known(self._settings[0], sample.settings):
            self._settings = (sample.settings, self._settings[1])
        if self._settings is None or self._settings[0] != sample.settings:
            yield from self._end_settings(self._window_began)
            self._settings = (sample.settings, self._window_began)
        begin, self._window_began = self._window_began, sample.t
        steps, self._steps_before = sample.step - self._steps_before, sample.step
        length_ms = (sample.t - begin) * 1e3
        if length_ms > 0:
            told: Event = {"steps": steps, "steady": sample.steady, "epoch": sample.epoch}
            told |= _known({"samples_per_s": sample.samples_per_s, "loss": sample.loss})
            name = f"{steps} step{'s' * (steps != 1)}"
            yield self._slice(name, SAMPLES, begin, length_ms, told)
            yield from self._phases(sample, begin, length_ms, steps)
        yield from self._counters(sample)
        if sample.validation is not None:
            of = sample.validation
            yield self._instant(f"validation after epoch {of.epoch}", SAMPLES, sample.t, _told(of))

    def _phases(self, sample: Sample, begin: float, length_ms: float, steps: int) -> Iterator[Event]:
        """One step of mean length and its phases; shortened where it is longer than the window."""
        if sample.phases is None:
            return
        for tid, side in ((HOST, "host_ms"), (DEVICE, "device_ms")):
            parts = [(name, getattr(sample.phases[name], side)) for name in PHASES if name in sample.phases]
            parts = [(name, ms) for name, ms in parts if ms]
            total_ms = sum(ms for _, ms in parts)
            if not parts:
                continue
            scale = min(1.0, length_ms / total_ms)
            told: dict[str, Any] = {"mean_of_steps": steps, "mean_ms": total_ms}
            if scale < 1:
                told["drawn_at_scale"] = scale
            yield self._slice(f"step (mean of {steps})", tid, begin, total_ms * scale, told)
            at = begin
            for name, ms in parts:
                of_phase = {"mean_ms": ms, "mean_of_steps": steps}
                yield self._slice(f"{name} (mean)", tid, at, ms * scale, of_phase)
                at += ms * scale / 1e3

    def _counters(self, sample: Sample) -> Iterator[Event]:
        counters: list[tuple[str, Mapping[str, float | None]]] = [
            ("samples/s", {"samples/s": sample.samples_per_s}),
            ("loss", {"loss": sample.loss}),
            ("FLOP/s", {"FLOP/s": sample.flops_per_s}),
            ("busy", {"share": sample.busy}),
        ]
        if sample.step_ms is not None:
            counters.append(("step, ms", {"p50": sample.step_ms.p50, "p95": sample.step_ms.p95}))
        if sample.memory is not None:
            memory = sample.memory
            held = {"allocated": memory.allocated_bytes, "reserved": memory.reserved_bytes}
            counters.append(("PyTorch memory, bytes", held))
        if sample.host is not None:
            counters.append(("CPU utilisation", {"share": sample.host.cpu_utilisation}))
            counters.append(("worker CPU, cores", {"cores": sample.host.worker_cpu_utilisation}))
        for gpu in sample.gpus:
            counters += _gpu_counters(gpu)
        for name, values in counters:
            if known := _known(values):
                yield {
                    "ph": "C",
                    "name": name,
                    "pid": self._pid,
                    "tid": 0,
                    "ts": _us(sample.t),
                    "args": known,
                }

    def _end_settings(self, until: float) -> Iterator[Event]:
        if self._settings is None or until <= self._settings[1]:
            return
        of, since = self._settings
        name = f"{of.device}, batch {of.batch_size}, size {of.model_size}, {of.precision}, {of.execution}"
        yield self._slice(f"{name}, {of.data_path}", SETTINGS, since, (until - since) * 1e3, _told(of))

    def _end_verdict(self, until: float) -> Iterator[Event]:
        of, self._verdict = self._verdict, None
        if of is not None and until > of.t:
            told = {"sentence": of.sentence, "evidence": "; ".join(of.evidence)}
            yield self._slice(of.bottleneck, VERDICTS, of.t, (until - of.t) * 1e3, told)

    def _meta(self, name: str, tid: int, told: Event) -> Event:
        return {"ph": "M", "name": name, "pid": self._pid, "tid": tid, "ts": 0, "args": told}

    def _slice(self, name: str, tid: int, begin_s: float, length_ms: float, told: Event) -> Event:
        begin = _us(begin_s)
        # Both ends are rounded, so that a phase never reaches out of its step.
        length = max(0, _us(begin_s + length_ms / 1e3) - begin)
        return {
            "ph": "X",
            "name": name,
            "cat": TRACKS[tid - 1].partition(":")[0],
            "pid": self._pid,
            "tid": tid,
            "ts": begin,
            "dur": round(length, 3),
            "args": told,
        }

    def _instant(self, name: str, tid: int, t: float, told: Event, scope: str = "t") -> Event:
        return {
            "ph": "i",
            "name": name,
            "cat": TRACKS[tid - 1],
            "pid": self._pid,
            "tid": tid,
            "ts": _us(t),
            "s": scope,
            "args": told,
        }


def _gpu_counters(gpu: Gpu) -> Iterable[tuple[str, Mapping[str, float | None]]]:
    of = f"GPU {gpu.index}" if gpu.mig is None else f"GPU {gpu.index} MIG {gpu.mig}"
    return (
        (
            f"{of} shares",
            {
                "utilisation": gpu.utilisation,
                "SM active": gpu.sm_active,
                "tensor active": gpu.tensor_active,
                "DRAM active": gpu.dram_active,
            },
        ),
        (f"{of} memory, bytes", {"used": gpu.memory_used_bytes}),
        (f"{of} PCIe, bytes/s", {"rx": gpu.pcie_rx_bytes_per_s, "tx": gpu.pcie_tx_bytes_per_s}),
        (f"{of} SM clock, MHz", {"MHz": gpu.sm_clock_mhz}),
        (f"{of} power, W", {"W": gpu.power_w}),
        (f"{of} temperature, °C", {"°C": gpu.temperature_c}),
    )


def _us(seconds: float) -> float:
    return round(seconds * 1e6, 3)


def _known(values: Mapping[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in values.items() if value is not None}


def _told(struct: msgspec.Struct) -> Event:
    """A struct's fields that are known, but its time, which the event has."""
    fields: Event = msgspec.to_builtins(struct)
    return {name: value for name, value in fields.items() if value is not None and name not in ("t", "kind")}
