"""What a session makes of the telemetry: whom it follows, what it says, what its header learns."""

from __future__ import annotations

from collections.abc import Mapping

from fake_session import Clock, FakeTelemetry, Start, change_and_wait, entries, messages
from fake_worker import until
from gputrain_runner.session import Session
from gputrain_runner.telemetry.reading import Reading
from gputrain_runner.timeline import Gpu, GpuDetail, HostLoad, PcieMax, Sample

FIRST, SECOND = "GPU-cuda:0", "GPU-cuda:1"


def two_gpus(troubles: Mapping[int, str] | None = None, focused: frozenset[int] | None = None) -> Reading:
    gpus = [
        Gpu(index=0, uuid=SECOND, name="b", pcie_generation_max=4, pcie_width_max=8),
        Gpu(index=1, uuid=FIRST, name="a", pcie_generation_max=5, pcie_width_max=16, detail=GpuDetail()),
    ]
    return Reading(
        gpus=gpus,
        host=HostLoad(),
        gpu_absence=None,
        driver="999.1",
        age_s=0.1,
        troubles=troubles or {},
        ages_s={0: 0.1, 1: 0.2},
        focused=focused,
    )


def take_sample(session: Session, clock: Clock) -> Sample:
    """One of host and GPUs alone."""
    clock.now += 1
    session.tick()
    return [entry for entry in entries(session) if isinstance(entry, Sample)][-1]


def test_telemetry_follows_the_gpu_that_trains_through_changes_of_device(
    start: Start, telemetry: FakeTelemetry
) -> None:
    """CUDA numbers them the other way round than the driver does."""
    telemetry.reading = two_gpus()
    session = start("--devices", "cuda:0,cuda:1,cpu")
    assert telemetry.focused == [{FIRST}]
    assert session.training_gpu == FIRST
    change_and_wait(session, "device", "cuda:1")
    until(lambda: telemetry.focused == [{FIRST}, {SECOND}])
    change_and_wait(session, "device", "cpu")
    until(lambda: len(telemetry.focused) == 3 and not telemetry.focused[2] & {FIRST, SECOND})


def test_the_header_learns_what_the_driver_knows(start: Start, telemetry: FakeTelemetry) -> None:
    telemetry.reading = two_gpus()
    session = start("--devices", "cuda:0,cuda:1,cpu")
    devices = {device.device: device for device in session.header.devices}
    assert session.header.host.driver == "999.1"
    assert devices["cuda:0"].pcie == PcieMax(generation_max=5, width_max=16)
    assert devices["cuda:1"].pcie == PcieMax(generation_max=4, width_max=8)
    assert devices["cpu"].pcie is None


def test_samples_have_the_age_and_detail_once(start: Start, telemetry: FakeTelemetry) -> None:
    telemetry.reading = two_gpus(focused=frozenset({1}))
    session = start("--devices", "cuda:0,cuda:1,cpu")
    told = [sample.gpus for sample in entries(session) if isinstance(sample, Sample)]
    assert [gpu.index for gpu in told[0]] == [0, 1]
    assert told[0][1].detail == GpuDetail()
    assert all([gpu.index for gpu in gpus] == [1] for gpus in told[1:])
    assert all(gpus[0].detail is None and gpus[0].age_s == 0.2 for gpus in told[1:])


def test_trouble_with_a_gpu_is_said_once_and_its_end_too(
    start: Start, telemetry: FakeTelemetry, clock: Clock
) -> None:
    telemetry.reading = two_gpus({1: "GPU 1 is lost"})
    session = start("--devices", "cuda:0,cuda:1,cpu")
    take_sample(session, clock)
    assert messages(session).count("GPU 1 is lost") == 1
    telemetry.reading = two_gpus()
    for _ in range(2):
        take_sample(session, clock)
    assert messages(session).count("GPU 1 can be read again") == 1
