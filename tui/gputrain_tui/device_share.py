"""What the device did during a step, in shares of the step: worked, and what kept it from working.

Knows nothing of screens.
"""

from __future__ import annotations

from gputrain_runner.settings import Settings
from gputrain_runner.timeline import Profile, Sample

Share = tuple[str, float]
"""What, and how much of the step it was."""

_WORTH_TELLING = 0.05
"""A CPU's wait for data is told apart from here on."""
_GATHERED_ELSEWHERE = ("loader", "prefetch")
"""Data paths on which the training thread waits for another; on the others it puts data together itself."""


class DeviceShare:
    """Takes in samples, and remembers what the newest profile under their settings showed."""

    def __init__(self) -> None:
        self.shares: list[Share] | None = None
        """The first is work, the others are not; they add up to one. None until a profile showed them."""
        self._settings: Settings | None = None

    def take(self, sample: Sample) -> None:
        """A newer sample."""
        if sample.settings != self._settings:
            self._settings, self.shares = sample.settings, None
        if sample.busy is not None:
            self.shares = [("busy", sample.busy), ("idle", 1 - sample.busy)]
        elif sample.profile is not None and sample.settings.device == "cpu":
            self.shares = _on_cpu(sample, sample.profile)


def _on_cpu(sample: Sample, profile: Profile) -> list[Share]:
    """Operators, waiting for data where it is worth telling, and the rest."""
    working = min(1.0, profile.work_ms / profile.step_ms)
    supply_ms = sum(
        phase.host_ms
        for name, phase in (sample.phases or {}).items()
        if name in ("data", "h2d") and phase.host_ms is not None
    )
    waiting = max(0.0, supply_ms - (profile.supply_ms or 0.0)) / profile.step_ms
    if waiting < _WORTH_TELLING or sample.settings.data_path not in _GATHERED_ELSEWHERE:
        return [("operators", working), ("Python and dispatch", 1 - working)]
    waiting = min(waiting, 1 - working)
    return [
        ("operators", working),
        ("waits for data", waiting),
        ("Python and dispatch", max(0.0, 1 - working - waiting)),
    ]
