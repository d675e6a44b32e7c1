"""Two recordings side by side: what was set differently, and what came out differently."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from msgspec import Struct

from ..settings import RULES, Settings, Value
from ..timeline import PHASES, Gpu, Header, Sample
from .bootstrap import Ratio, Series, ratio, series, thirds
from .reader import RecordingFile

WANDERS = 0.1
"""From here on, a rate whose thirds differ by such a share is said to have wandered."""
FEWEST = 4
"""Steady samples without which a side has no rate."""


class NotComparableError(ValueError):
    """Two recordings that are not to be compared; the text says why, in one line."""


class Difference(Struct, frozen=True, kw_only=True):
    """Something that is not the same on both sides."""

    name: str
    a: Value
    b: Value


class Row(Struct, frozen=True, kw_only=True):
    """One quantity on both sides; null where it was not measured."""

    name: str
    group: str
    unit: str
    a: Series | None
    b: Series | None
    ratio: Ratio | None


class Comparison(Struct, frozen=True, kw_only=True):
    """What differs, and by how much."""

    a: str
    b: str
    """The files."""
    settings: list[Difference]
    machine: list[Difference]
    rows: list[Row]
    warnings: list[str]


@dataclass(frozen=True, slots=True)
class Side:
    """One recording: its header, and the steady samples under the settings that are compared."""

    path: str
    header: Header
    settings: Settings
    samples: Sequence[Sample]
    changed: int
    """How many settings were in force in turn; the last that gave a steady rate are taken."""

    def gpu(self, sample: Sample) -> Gpu | None:
        """The GPU that trained."""
        uuid = next((d.uuid for d in self.header.devices if d.device == sample.settings.device), None)
        return next((gpu for gpu in sample.gpus if gpu.uuid is not None and gpu.uuid == uuid), None)


Read = Callable[[Side, Sample], float | None]


def _host_phase(name: str) -> Read:
    return lambda _side, sample: None if (p := (sample.phases or {}).get(name)) is None else p.host_ms


def _device_phase(name: str) -> Read:
    return lambda _side, sample: None if (p := (sample.phases or {}).get(name)) is None else p.device_ms


def _of_gpu(field: str) -> Read:
    def read(side: Side, sample: Sample) -> float | None:
        gpu = side.gpu(sample)
        value = None if gpu is None else getattr(gpu, field)
        return None if value is None else float(value)

    return read


def _of(part: str, field: str) -> Read:
    def read(_side: Side, sample: Sample) -> float | None:
        whole = getattr(sample, part)
        value = None if whole is None else getattr(whole, field)
        return None if value is None else float(value)

    return read


QUANTITIES: tuple[tuple[str, str, str, Read], ...] = (
    ("rate", "samples/s", "", lambda _side, sample: sample.samples_per_s),
    ("rate", "steps/s", "", lambda _side, sample: sample.steps_per_s),
    ("rate", "step, median", "ms", _of("step_ms", "p50")),
    ("rate", "step, 95th percentile", "ms", _of("step_ms", "p95")),
    ("rate", "FLOP/s", "FLOP/s", lambda _side, sample: sample.flops_per_s),
    *(("phases, host", name, "ms", _host_phase(name)) for name in PHASES),
    *(("phases, device", name, "ms", _device_phase(name)) for name in PHASES[1:-1]),
    ("phases, device", "dispatch", "ms", lambda _side, sample: sample.dispatch_ms),
    ("phases, device", "busy", "share", lambda _side, sample: sample.busy),
    ("memory", "allocated", "bytes", _of("memory", "allocated_bytes")),
    ("memory", "reserved", "bytes", _of("memory", "reserved_bytes")),
    ("memory", "peak allocated", "bytes", _of("memory", "peak_allocated_bytes")),
    ("memory", "worker RSS", "bytes", _of("host", "worker_rss_bytes")),
    ("GPU", "utilisation", "share", _of_gpu("utilisation")),
    ("GPU", "SM active", "share", _of_gpu("sm_active")),
    ("GPU", "memory used", "bytes", _of_gpu("memory_used_bytes")),
    ("GPU", "PCIe rx", "bytes/s", _of_gpu("pcie_rx_bytes_per_s")),
    ("GPU", "PCIe tx", "bytes/s", _of_gpu("pcie_tx_bytes_per_s")),
    ("GPU", "SM clock", "MHz", _of_gpu("sm_clock_mhz")),
    ("GPU", "power", "W", _of_gpu("power_w")),
    ("GPU", "temperature", "°C", _of_gpu("temperature_c")),
    ("host", "CPU utilisation", "share", _of("host", "cpu_utilisation")),
    ("host", "worker CPU", "cores", _of("host", "worker_cpu_utilisation")),
)
"""What is compared: group, name, unit, and how it is read from a sample."""


def side(recording: RecordingFile) -> Side:
    """A recording's steady samples under the last settings that gave a rate.

    Raises:
        NotComparableError: it has too few.
    """
    runs: list[tuple[Settings, list[Sample]]] = []
    for number in range(len(recording)):
        if recording.kind(number) != "sample":
            continue
        sample = recording.entry(number)
        assert isinstance(sample, Sample)
        if not sample.steady or sample.samples_per_s is None:
            continue
        if not runs or runs[-1][0] != sample.settings:
            runs.append((sample.settings, []))
        runs[-1][1].append(sample)
    whole = [run for run in runs if len(run[1]) >= FEWEST]
    if not whole:
        raise NotComparableError(f"{recording.path} has no steady rate: the session was too short")
    settings, samples = whole[-1]
    return Side(str(recording.path), recording.header, settings, samples, len(whole))


def compare(a: Side, b: Side, anyway: bool = False) -> Comparison:
    """The comparison of two sides.

    Raises:
        NotComparableError: they did different work, and it is not wanted `anyway`.
    """
    reasons = _reasons_against(a, b)
    if reasons and not anyway:
        raise NotComparableError(f"not comparable: {'; '.join(reasons)}")
    warnings = [*reasons, *_warnings(a), *_warnings(b)]
    return Comparison(
        a=a.path,
        b=b.path,
        settings=_settings(a.settings, b.settings),
        machine=_machine(a, b),
        rows=[row for each in QUANTITIES if (row := _row(each, a, b)) is not None],
        warnings=warnings,
    )


def _reasons_against(a: Side, b: Side) -> list[str]:
    """Why a ratio of their rates would mean nothing."""
    reasons = []
    one, other = a.header.session.preset, b.header.session.preset
    if one.get("name") != other.get("name"):
        reasons.append(f"the presets differ, {one.get('name')} and {other.get('name')}")
    elif one.get("model") != other.get("model"):
        reasons.append(f"{one.get('name')} is another model in the two")
    if a.settings.passes != b.settings.passes:
        reasons.append(f"passes differ, {a.settings.passes} and {b.settings.passes}")
    return reasons


def _warnings(a: Side) -> list[str]:
    warnings = []
    if a.changed > 1:
        warnings.append(
            f"{a.path}: settings changed on the way; the last that gave a steady rate are compared"
        )
    rates = thirds([sample.samples_per_s for sample in a.samples if sample.samples_per_s is not None])
    least, most = min(rates), max(rates)
    if most > (1 + WANDERS) * least:
        warnings.append(
            f"{a.path}: its rate wandered between {least:,.0f} and {most:,.0f} samples/s"
            " with nothing changed; a longer run, or one of each again, tells more"
        )
    return warnings


def _settings(a: Settings, b: Settings) -> list[Difference]:
    return [
        Difference(name=name, a=a.value(name), b=b.value(name))
        for name in RULES
        if a.value(name) != b.value(name)
    ]


def _machine(a: Side, b: Side) -> list[Difference]:
    def facts(of: Side) -> Mapping[str, Value]:
        host = of.header.host
        device = next((d for d in of.header.devices if d.device == of.settings.device), None)
        return {
            "device": None if device is None else device.name,
            "cpu": host.cpu,
            "cores": host.cores,
            "torch": host.torch,
            "cuda": host.cuda,
            "cudnn": host.cudnn,
            "driver": host.driver,
            "data": of.header.session.data,
        }

    one, other = facts(a), facts(b)
    return [Difference(name=n, a=one[n], b=other[n]) for n in one if one[n] != other[n]]


def _row(quantity: tuple[str, str, str, Read], a: Side, b: Side) -> Row | None:
    group, name, unit, read = quantity
    one = [value for sample in a.samples if (value := read(a, sample)) is not None]
    other = [value for sample in b.samples if (value := read(b, sample)) is not None]
    if not one and not other:
        return None
    return Row(name=name, group=group, unit=unit, a=series(one), b=series(other), ratio=ratio(one, other))
