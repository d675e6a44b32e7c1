"""How much of the GPUs goes into samples: all of the one that trains, of others what is new."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from gputrain_runner.gpu_samples import GpuSamples
from gputrain_runner.telemetry.reading import Reading
from gputrain_runner.timeline import Gpu, GpuDetail, GpuProcess, HostLoad

DETAIL = GpuDetail(
    pci_bus_id="00000000:18:00.0",
    compute_capability="9.0",
    persistence=True,
    compute_mode="default",
    ecc_corrected=0,
    processes=[GpuProcess(pid=12345, name="python", memory_bytes=2**33, ours=True)],
)


def reading(
    *gpus: Gpu, focused: frozenset[int] | None = None, ages: Mapping[int, float | None] | None = None
) -> Reading:
    return Reading(
        gpus=list(gpus),
        host=HostLoad(),
        gpu_absence=None,
        driver=None,
        age_s=0.1,
        ages_s=ages or {},
        focused=focused,
    )


def gpu(index: int, **values: object) -> Gpu:
    return msgspec.structs.replace(
        Gpu(index=index, uuid=f"GPU-{index}", name="card", utilisation=0.5, detail=DETAIL), **values
    )


def indices(told: list[Gpu]) -> list[int]:
    return [gpu.index for gpu in told]


def test_the_gpu_in_focus_is_in_every_sample_and_others_when_they_have_news() -> None:
    samples, first, other = GpuSamples(), gpu(0), gpu(1)
    focused = frozenset({1})
    assert indices(samples.choose(reading(first, other, focused=focused), 0.0)) == [0, 1]
    assert indices(samples.choose(reading(first, other, focused=focused), 0.25)) == [1]
    assert indices(samples.choose(reading(first, other, focused=focused), 60.0)) == [1]
    fresh = gpu(0, utilisation=0.7)
    assert indices(samples.choose(reading(fresh, other, focused=focused), 60.25)) == [0, 1]
    again = gpu(0, utilisation=0.8)
    assert indices(samples.choose(reading(again, other, focused=focused), 60.5)) == [1]
    assert indices(samples.choose(reading(again, other, focused=focused), 62.0)) == [0, 1]


def test_without_a_focus_all_are_in_every_sample() -> None:
    samples = GpuSamples()
    for t in (0.0, 0.25):
        assert indices(samples.choose(reading(gpu(0), gpu(1)), t)) == [0, 1]


def test_detail_when_it_changed_and_every_half_minute() -> None:
    samples = GpuSamples()

    def detail(t: float, of: GpuDetail = DETAIL) -> GpuDetail | None:
        return samples.choose(reading(gpu(0, detail=of)), t)[0].detail

    changed = msgspec.structs.replace(DETAIL, ecc_corrected=1)
    assert detail(0.0) == DETAIL
    assert detail(0.25) is detail(29.75) is None
    assert detail(30.0) == DETAIL
    assert detail(31.0, changed) is None  # it may be changing all the time
    assert detail(35.0, changed) == changed
    assert detail(35.25, changed) is None
    assert detail(65.0, changed) == changed


def test_a_silent_gpu_has_its_name_and_age_and_nothing_that_is_old() -> None:
    samples = GpuSamples()
    told = samples.choose(reading(gpu(0), gpu(1), ages={0: 12.345, 1: 0.2}), 1.0)
    assert told[0] == Gpu(index=0, uuid="GPU-0", name="card", age_s=12.35)
    assert (told[1].utilisation, told[1].age_s) == (0.5, 0.2)


def test_a_gpu_out_of_focus_that_falls_silent_is_told_once_in_a_while() -> None:
    samples, focused = GpuSamples(), frozenset({1})
    silent = {0: 16.0, 1: 0.1}
    told = [
        0 in indices(samples.choose(reading(gpu(0), gpu(1), focused=focused, ages=silent), t / 4))
        for t in range(41)
    ]
    assert told == [t in (0, 40) for t in range(41)]


def test_trouble_is_told_at_once() -> None:
    samples, focused = GpuSamples(), frozenset({1})
    samples.choose(reading(gpu(0), gpu(1), focused=focused), 0.0)
    lost = gpu(0, utilisation=None, trouble="GPU 0 is lost")
    assert samples.choose(reading(lost, gpu(1), focused=focused), 0.25)[0].trouble == "GPU 0 is lost"


def test_mig_devices_are_told_apart() -> None:
    samples = GpuSamples()
    whole, part = gpu(0), gpu(0, mig=0, uuid="MIG-0")
    assert [told.mig for told in samples.choose(reading(whole, part), 0.0)] == [None, 0]


FULL = Gpu(
    index=0,
    uuid="GPU-00000000-0000-4000-8000-000000000000",
    name="NVIDIA H100 80GB HBM3",
    utilisation=0.9712,
    memory_used_bytes=70_866_960_384,
    memory_total_bytes=85_899_345_920,
    pcie_tx_bytes_per_s=1610612736.0,
    pcie_rx_bytes_per_s=24696061952.0,
    pcie_source="gpm",
    pcie_generation=5,
    pcie_width=16,
    pcie_generation_max=5,
    pcie_width_max=16,
    sm_clock_mhz=1815,
    sm_clock_max_mhz=1980,
    memory_clock_mhz=3201,
    power_w=640.253,
    power_limit_w=700.0,
    temperature_c=63,
    throttle=["sw_power_cap"],
    sm_active=0.8751,
    tensor_active=0.5626,
    dram_active=0.3127,
    memory_free_bytes=14_495_514_624,
    memory_reserved_bytes=536_870_912,
    memory_ours_bytes=70_866_960_384,
    memory_others_bytes=0,
    pcie_link_bytes_per_s=63008000000.0,
    graphics_active=0.9688,
    sm_occupancy=0.4375,
    nvlink_tx_bytes_per_s=51539607552.0,
    nvlink_rx_bytes_per_s=103079215104.0,
    memory_temperature_c=71,
    performance_state=0,
    throttled={"sw_power_cap": 0.9375},
    throttled_s={"sw_power_cap": 1234.567},
    detail=DETAIL,
)


def test_eight_gpus_leave_a_recording_small() -> None:
    """Four samples a second, new values twice a second of the one that trains, every two of the others."""
    samples, focused, written = GpuSamples(), frozenset({3}), 0
    gpus = [msgspec.structs.replace(FULL, index=index) for index in range(8)]
    for quarter in range(400):
        for index in range(8):
            if quarter % (2 if index == 3 else 8) == index % 2:
                gpus[index] = msgspec.structs.replace(gpus[index])
        told = samples.choose(reading(*gpus, focused=focused), quarter / 4)
        written += len(msgspec.json.encode(told))
    assert written / 100 < 10_000
