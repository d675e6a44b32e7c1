"""What a screen remembers of its feed's GPUs: which one is shown, and what is known of the others."""

from __future__ import annotations

import pytest
from msgspec import structs

from fake_feed import FakeSession
from gpus import DETAIL, gpu, nameless
from gputrain_runner.timeline import Gpu
from gputrain_tui.history import History


def pulled(session: FakeSession, *samples: list[Gpu]) -> History:
    """A history after samples with these GPUs, a quarter of a second apart."""
    history = History(session)
    for gpus in samples:
        session.gpus = gpus
        session.run(0.25)
    history.pull()
    return history


def test_gpus_without_news_are_left_out_of_samples_and_stay_known() -> None:
    session = FakeSession(gpu=True)
    first = [gpu(0), gpu(1, power_w=111.0), gpu(2)]
    history = pulled(session, first, [gpu(0)], [gpu(0), gpu(2, power_w=222.0)], [gpu(0)])
    assert [known.gpu.power_w for known in history.gpus.all()] == [142.0, 111.0, 222.0]


def test_the_gpu_shown_stays_where_a_sample_tells_of_others_alone() -> None:
    session = FakeSession(gpu=True)
    session.devices = session.devices[1:]  # On the CPU: no GPU trains.
    history = pulled(session, [gpu(0), gpu(1)], [gpu(1, utilisation=0.99)], [gpu(0, utilisation=0.5)])
    assert history.gpu is not None
    assert history.gpu.index == 0
    assert history.gpu_number(lambda shown: shown.utilisation) == pytest.approx((0.61 + 0.5) / 2)
    _, first, between, last = history.series["gpu_utilisation"].columns(0, 4, 0.25)
    assert (first, last) == ((0.61, 0.61), (0.5, 0.5))
    assert between is not None
    assert 0.5 < between[0] < 0.61


def test_a_curve_has_a_gap_where_it_goes_on_with_another_gpu() -> None:
    session = FakeSession(gpu=True)
    history = pulled(session, *[[gpu(0), gpu(1, utilisation=0.2)]] * 4)
    session.devices = [structs.replace(session.devices[0], uuid="GPU-2"), session.devices[1]]
    session.run(1)
    history.pull()
    columns = history.series["gpu_utilisation"].columns(1, 8, 0.25)
    assert columns == [*[(0.61, 0.61)] * 4, None, *[(0.2, 0.2)] * 3]


def test_the_detail_that_was_told_last_holds() -> None:
    session = FakeSession(gpu=True)
    history = pulled(session, [gpu(0)], [gpu(0, detail=None)], [nameless(0)])
    (known,) = history.gpus.all()
    assert known.detail == DETAIL


def test_a_silent_gpu_keeps_its_last_values_and_says_how_old_they_are() -> None:
    session = FakeSession(gpu=True)
    history = pulled(session, [gpu(0)], [Gpu(index=0, uuid="GPU-1", age_s=12.0, trouble="lost")])
    (known,) = history.gpus.all()
    assert (known.gpu.power_w, known.silent_s, known.trouble) == (142.0, 12.0, "lost")


def test_where_a_recording_tells_no_age_silence_counts_from_the_last_word() -> None:
    session = FakeSession(gpu=True)
    silent = structs.replace(nameless(0), age_s=None)
    history = pulled(session, [gpu(0, age_s=None)], *[[silent]] * 8)
    assert history.gpus.all()[0].silent_s == 2.0


def test_a_mig_device_is_not_its_gpu() -> None:
    session = FakeSession(gpu=True)
    parts = [gpu(0), structs.replace(gpu(0), mig=1, power_w=50.0), structs.replace(gpu(0), mig=0)]
    history = pulled(session, parts)
    assert [known.gpu.mig for known in history.gpus.all()] == [None, 0, 1]
