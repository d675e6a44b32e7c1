"""A short session without a screen, and what its steady samples say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from .options import SessionOptions
from .process import WorkerError
from .samples import TelemetrySource
from .session import Session
from .settings import SettingError, Settings
from .timeline import Header, Profile, Rate, Sample


class MeasureError(Exception):
    """The run failed; the text is one line for the user.

    Attributes:
        usage: whether the command line or a file is wrong.
    """

    def __init__(self, text: str, usage: bool = False) -> None:
        super().__init__(text)
        self.usage = usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Medians over a run's steady samples under its last settings; None where nothing was measured."""

    header: Header
    settings: Settings
    rate: Rate | None
    step_ms: float | None
    data_ms: float | None
    """Host time to put a batch together."""
    dispatch_ms: float | None
    profile: Profile | None

    @property
    def name(self) -> str | None:
        """What the device that trained is called."""
        known = (device.name for device in self.header.devices if device.device == self.settings.device)
        return next(known, None)


def measure(options: SessionOptions, telemetry: TelemetrySource | None = None) -> Measured:
    """Train as `options` say, to their limit, and take the medians.

    Raises:
        MeasureError: it could not be trained so.
    """
    try:
        session = Session(options, telemetry=telemetry)
    except (SettingError, WorkerError) as error:
        raise MeasureError(str(error), isinstance(error, SettingError)) from None
    try:
        session.start()
        while not session.wait(0.2):
            pass
        summary = session.stop()
    except BaseException:
        session.stop("interrupted")
        raise
    if summary.ended == "failed":
        raise MeasureError(summary.error or session.reason or "the run failed", session.usage_error)
    entries, _ = session.read(0)
    samples = [entry for entry in entries if isinstance(entry, Sample)]
    return _medians(session.header, session.settings, samples)


def _medians(header: Header, settings: Settings, samples: list[Sample]) -> Measured:
    last = [sample for sample in samples if sample.settings == settings]
    steady = [sample for sample in last if sample.steady]
    profiles = [sample.profile for sample in last if sample.profile is not None]
    return Measured(
        header=header,
        settings=settings,
        rate=rate_in([sample.samples_per_s for sample in steady]),
        step_ms=_median([sample.step_ms.p50 for sample in steady if sample.step_ms is not None]),
        data_ms=_median([sample.phases["data"].host_ms for sample in steady if sample.phases is not None]),
        dispatch_ms=_median([sample.dispatch_ms for sample in steady]),
        profile=profiles[-1] if profiles else None,
    )


def _median(values: list[float | None] | list[float]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def rate_in(values: Sequence[float | None]) -> Rate | None:
    """Median and quartiles of the rates that are known; None where none is."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    if len(known) == 1:
        return Rate(samples_per_s=known[0], q25=known[0], q75=known[0], samples=1)
    q25, middle, q75 = quantiles(known, n=4, method="inclusive")
    return Rate(samples_per_s=middle, q25=q25, q75=q75, samples=len(known))
