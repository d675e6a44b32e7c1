"""Where one device overtakes another: the same steps on both, from small to large."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from gputrain_presets import Preset

from .measured_run import MeasureError
from .settings import Value
from .steering import Steering, step_ms_of
from .step_fit import StepFit, crossing, fit

LONGEST_STEP_MS = 2000.0
"""A ladder is climbed no further than to steps as long as this."""
LARGEST_BATCH = 1 << 16
SAMPLES = 6


@dataclass(frozen=True, slots=True)
class Contender:
    """A device to compare, as `cpu`, `cuda:0`, or `cpu@2`: the CPU with that many threads."""

    name: str

    def settings(self) -> dict[str, Value]:
        """What it is in settings. ValueError where the name is none."""
        matched = re.fullmatch(r"(cpu|cuda(?::\d+)?)(?:@(\d+))?", self.name)
        if matched is None or (matched[2] and matched[1] != "cpu") or matched[2] == "0":
            raise ValueError(f"found {self.name!r}, allowed: cpu, cuda, cuda:NUMBER, or cpu@THREADS")
        device = "cuda:0" if matched[1] == "cuda" else matched[1]
        return {"device": device} if matched[2] is None else {"device": device, "threads": int(matched[2])}


@dataclass(frozen=True, slots=True)
class Rung:
    """One size of the ladder."""

    value: Value
    """The setting's value."""
    x: float
    """What the line is fitted over: samples in the batch, or FLOPs of a step."""


@dataclass(slots=True)
class Curve:
    """A device's step times by rung; None where it could not be run there, with the reason."""

    contender: Contender
    ms: dict[int, float | None] = field(default_factory=dict)
    errors: dict[int, str] = field(default_factory=dict)

    def fit(self, ladder: Sequence[Rung]) -> StepFit | None:
        """The line through what was measured."""
        known = [(ladder[rung].x, ms) for rung, ms in self.ms.items() if ms is not None]
        return fit([x for x, _ in known], [ms for _, ms in known]) if known else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossover:
    """What was found. Rungs are indices into the ladder."""

    over: str
    ladder: Sequence[Rung]
    curves: tuple[Curve, Curve]
    between: tuple[int, int] | None
    """The rungs between which the faster device changes; None where it does not."""
    at: float | None
    """The x of the crossing, interpolated between them on a logarithmic scale."""
    fitted: float | None
    """The x at which the two lines meet."""
    faster_small: int | None
    """Which of the two is faster at the lower end (0 or 1); None where they could not be compared."""


class Finder:
    """Measures rungs on both devices as they are needed."""

    def __init__(
        self,
        steering: Steering,
        over: str,
        ladder: Sequence[Rung],
        contenders: tuple[Contender, Contender],
        tell: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self._steering = steering
        self._over = over
        self._ladder = ladder
        self._curves = (Curve(contenders[0]), Curve(contenders[1]))
        self._tell = tell
        self._top = len(ladder) - 1

    def find(self) -> Crossover:
        """Some rungs spread over the ladder for the lines, then those around where they meet.

        Raises:
            MeasureError: training failed, or a device is not there.
        """
        for rung in self._spread():
            self._measure(self._affordable(rung))
        between = self._bracket()
        fits = [curve.fit(self._ladder) for curve in self._curves]
        both = fits[0] is not None and fits[1] is not None
        return Crossover(
            over=self._over,
            ladder=self._ladder,
            curves=self._curves,
            between=between,
            at=None if between is None else self._interpolated(*between),
            fitted=crossing(fits[0], fits[1]) if both else None,  # type: ignore[arg-type]
            faster_small=self._faster(self._known()[0]) if self._known() else None,
        )

    def _spread(self) -> list[int]:
        """About five rungs from the lowest to the highest."""
        last = len(self._ladder) - 1
        return sorted({round(last * part / 4) for part in range(5)})

    def _affordable(self, wanted: int) -> int:
        """`wanted`, or the highest rung whose steps are not expected to take too long."""
        lines = [line for curve in self._curves if (line := curve.fit(self._ladder)) is not None]
        top = min(wanted, self._top)
        while top and any(line.at(self._ladder[top].x) > LONGEST_STEP_MS for line in lines):
            top -= 1
        return top

    def _measure(self, rung: int) -> None:
        """Both devices at one rung, one right after the other; nothing where it was measured."""
        if rung in self._curves[0].ms:
            return
        value = self._ladder[rung].value
        for curve in self._curves:
            wanted = {**curve.contender.settings(), self._over: value}
            error = self._steering.turn(wanted)
            if error is not None and not curve.ms:
                raise MeasureError(f"{curve.contender.name}: {error}", usage=True)
            if error is not None:
                curve.ms[rung], curve.errors[rung] = None, error
                continue
            curve.ms[rung] = step_ms_of(self._steering.measure(SAMPLES))
        times = [curve.ms.get(rung) for curve in self._curves]
        shown = " against ".join("n/a" if ms is None else f"{ms:.3g} ms" for ms in times)
        self._tell(f"{self._over} {value}: {shown}")
        if any(ms is None or ms > LONGEST_STEP_MS for ms in times):
            self._top = min(self._top, rung)

    def _faster(self, rung: int) -> int | None:
        one, other = (curve.ms.get(rung) for curve in self._curves)
        if one is None or other is None:
            return None
        return 0 if one <= other else 1

    def _known(self) -> list[int]:
        """Rungs at which the two can be compared, in order."""
        return [rung for rung in sorted(self._curves[0].ms) if self._faster(rung) is not None]

    def _bracket(self) -> tuple[int, int] | None:
        """Halve the stretch in which the faster device changes, until it lies between neighbours."""
        known = self._known()
        pairs = [(low, high) for low, high in pairwise(known) if self._changes(low, high)]
        if not pairs:
            return None
        low, high = pairs[0]
        while high - low > 1:
            middle = self._guess(low, high)
            self._measure(middle)
            if self._faster(middle) is None:
                return low, high
            low, high = (middle, high) if not self._changes(low, middle) else (low, middle)
        return low, high

    def _guess(self, low: int, high: int) -> int:
        """The rung between them that lies nearest to where the curves seem to cross."""
        x = self._interpolated(low, high)
        return min(range(low + 1, high), key=lambda rung: abs(math.log(self._ladder[rung].x / x)))

    def _changes(self, low: int, high: int) -> bool:
        return self._faster(low) != self._faster(high)

    def _interpolated(self, low: int, high: int) -> float:
        """Where the ratio of the two devices' times is 1, between two rungs."""
        ratios = []
        for rung in (low, high):
            one, other = (curve.ms[rung] for curve in self._curves)
            assert one is not None and other is not None
            ratios.append(math.log(one / other))
        begin, end = (math.log(self._ladder[rung].x) for rung in (low, high))
        part = 0.5 if ratios[0] == ratios[1] else ratios[0] / (ratios[0] - ratios[1])
        return math.exp(begin + min(1.0, max(0.0, part)) * (end - begin))


def batch_ladder(preset: Preset) -> list[Rung]:
    """Batch sizes by doubling, as far as there are samples."""
    largest = min(preset.data.training_samples, LARGEST_BATCH)
    return [
        Rung(1 << power, float(1 << power)) for power in range(largest.bit_length()) if 1 << power <= largest
    ]


def size_ladder(sizes: Sequence[tuple[str, int]]) -> list[Rung]:
    """Model sizes in the order of their FLOPs, given as (name, FLOPs of a step)."""
    return [Rung(name, float(flops)) for name, flops in sorted(sizes, key=lambda size: size[1])]
