"""Which GPUs, and how much of each, go into a sample: all of the one that trains, of others what is new.

A recording holds four samples a second; eight GPUs with all their fields in each would drown it.
"""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import structs

from .hardware import Gpu, GpuDetail
from .telemetry.reading import Reading

STALE_S = 5.0
"""GPU values older than this are of another time than the steps: they count as not measured."""
_STALE_OVERVIEW_S = 15.0
"""Of a GPU out of focus, which is asked rarely, and more rarely still by a slow driver."""
_OVERVIEW_S = 1.5
"""Of a GPU out of focus there is no news more often than this."""
_SILENT_AGAIN_S = 10.0
"""How often it is repeated that one out of focus is silent."""
_DETAIL_S = 30.0
"""How often a GPU's detail is repeated though nothing in it has changed."""
_DETAIL_APART_S = 5.0
"""And how often it is told at most when it keeps changing."""

_Key = tuple[int, int | None]


@dataclass(slots=True)
class _Told:
    """What went into samples last of one GPU."""

    gpu: Gpu | None = None
    at_s: float = float("-inf")
    stale: bool = False
    detail: GpuDetail | None = None
    detail_s: float = float("-inf")


class GpuSamples:
    """Remembers what samples were told, and chooses what the next is to be told."""

    def __init__(self) -> None:
        self._told: dict[_Key, _Told] = {}

    def choose(self, reading: Reading, t: float) -> list[Gpu]:
        """The GPUs of a sample at `t`, seconds of the session."""
        return [told for gpu in reading.gpus if (told := self._tell(gpu, reading, t)) is not None]

    def _tell(self, gpu: Gpu, reading: Reading, t: float) -> Gpu | None:
        told = self._told.setdefault((gpu.index, gpu.mig), _Told())
        age_s = reading.ages_s.get(gpu.index, reading.age_s)
        focused = reading.focused is None or gpu.index in reading.focused
        stale = age_s is None or age_s > (STALE_S if focused else _STALE_OVERVIEW_S)
        if not focused and not _is_news(told, gpu, stale, t):
            return None
        told.gpu, told.at_s, told.stale = gpu, t, stale
        age_s = None if age_s is None else round(age_s, 2)
        if stale:
            return Gpu(
                index=gpu.index,
                mig=gpu.mig,
                uuid=gpu.uuid,
                name=gpu.name,
                age_s=age_s,
                trouble=gpu.trouble or reading.troubles.get(gpu.index),
            )
        return structs.replace(gpu, age_s=age_s, detail=_detail(told, gpu.detail, t))


def _is_news(told: _Told, gpu: Gpu, stale: bool, t: float) -> bool:
    """Whether a GPU out of focus has anything to tell."""
    if stale:
        return not told.stale or t - told.at_s >= _SILENT_AGAIN_S
    if told.gpu is None or told.stale or gpu.trouble != told.gpu.trouble:
        return True
    return gpu is not told.gpu and t - told.at_s >= _OVERVIEW_S


def _detail(told: _Told, detail: GpuDetail | None, t: float) -> GpuDetail | None:
    if detail is None:
        return None
    since_s = t - told.detail_s
    changed = detail != told.detail and since_s >= _DETAIL_APART_S
    if not (changed or since_s >= _DETAIL_S):
        return None
    told.detail, told.detail_s = detail, t
    return detail
