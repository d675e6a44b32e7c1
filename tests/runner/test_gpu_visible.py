"""CUDA's order of the GPUs, from NVML's list and the environment."""

from __future__ import annotations

import pytest

from gputrain_runner.telemetry.uuids import bare, find, known_to_driver
from gputrain_runner.telemetry.visible import CudaOrder, ListedGpu, MigDevice, cuda_order, listed
from gputrain_runner.timeline import Device, Gpu, GpuDetail, PcieMax

A, B, C = "GPU-aaaa1111-0000", "GPU-aaaa2222-0000", "GPU-cccc3333-0000"
M0, M1 = "MIG-11110000-aaaa", "MIG-22220000-bbbb"


def gpu(
    index: int, uuid: str, bus: int, name: str = "one kind", mig: tuple[MigDevice, ...] | None = None
) -> ListedGpu:
    return ListedGpu(index, uuid, name, f"00000000:{bus:02X}:00.0", mig)


THREE = [gpu(0, A, 1), gpu(1, B, 2), gpu(2, C, 3)]
DIVIDED = [gpu(0, A, 1), gpu(1, B, 2, mig=(MigDevice(M0, 7, 0), MigDevice(M1, 9, 0)))]


def order(gpus: list[ListedGpu], named: str | None, **environment: str) -> CudaOrder:
    visible = {} if named is None else {"CUDA_VISIBLE_DEVICES": named}
    return cuda_order(gpus, visible | environment)


@pytest.mark.parametrize(
    ("named", "uuids"),
    [
        (None, (A, B, C)),
        ("0,1,2", (A, B, C)),
        ("2,0", (C, A)),
        (" 1 , 2 ", (B, C)),
        ("1,7,0", (B,)),
        ("1,-1,0", (B,)),
        ("-1", ()),
        ("", ()),
        ("NoDevFiles", ()),
        ("1,1", ()),
        ("1gpu,2x", (B, C)),
        (A, (A,)),
        (f"{C},{A}", (C, A)),
        ("GPU-cccc", (C,)),
        ("GPU-aaaa2,GPU-c", (B, C)),
        ("GPU-aaaa", ()),
        ("GPU-c,GPU-aaaa", (C,)),
        ("GPU-c,1", (C,)),
        (f"{A},{A}", ()),
        ("MIG-1111", ()),
    ],
)
def test_gpus_that_are_named(named: str | None, uuids: tuple[str, ...]) -> None:
    found = order(THREE, named)
    assert found.uuids == uuids
    assert found.hidden == tuple(uuid for uuid in (A, B, C) if uuid not in uuids)
    assert found.certain


@pytest.mark.parametrize(
    ("named", "words"),
    [
        (None, None),
        ("2,0", None),
        ("1,7,0", "'7' names no GPU, there are GPUs 0 to 2; it hides all that follow"),
        ("9", "it hides every GPU"),
        ("", "is empty, which hides every GPU"),
        ("1,,2", "an empty entry"),
        ("1,1", "'1' is named twice, which hides every GPU"),
        ("GPU-aaaa", "names no GPU, or more than one"),
        ("MIG-1111", "names no MIG device"),
    ],
)
def test_what_is_wrong_with_the_variable(named: str | None, words: str | None) -> None:
    problem = order(THREE, named).problem
    if words is None:
        assert problem is None
    else:
        assert problem is not None and words in problem and "\n" not in problem


@pytest.mark.parametrize(
    ("named", "uuids"),
    [
        (None, (M0,)),
        ("1", (M0,)),
        ("0", (A,)),
        (M1, (M1,)),
        ("MIG-2222", (M1,)),
        (f"MIG-{B}/9/0", (M1,)),
        (f"MIG-{B}/8/0", ()),
        (f"{M1},{M0}", (M1,)),
    ],
)
def test_one_mig_device_and_no_whole_gpu_beside_it(named: str | None, uuids: tuple[str, ...]) -> None:
    found = order(DIVIDED, named)
    assert found.uuids == uuids
    hidden = {A: uuids != (A,), B: uuids in ((A,), ())}
    assert found.hidden == tuple(uuid for uuid, away in hidden.items() if away)


def test_a_divided_gpu_without_parts_is_of_no_use() -> None:
    assert order([gpu(0, A, 1, mig=()), gpu(1, B, 2)], None).uuids == (B,)


def test_order_is_the_buss_not_the_drivers() -> None:
    assert order([gpu(0, A, 9), gpu(1, B, 2)], "0").uuids == (B,)


def test_gpus_of_different_kinds_are_certain_only_by_bus_or_by_name() -> None:
    mixed = [gpu(0, A, 1, "small"), gpu(1, B, 2, "big")]
    assert not order(mixed, None).certain
    assert not order(mixed, "1").certain
    assert order(mixed, None, CUDA_DEVICE_ORDER="PCI_BUS_ID").certain
    assert order(mixed, B).certain


def test_no_gpus() -> None:
    assert order([], None) == CudaOrder((), (), True)
    assert "there is no GPU" in (order([], "0").problem or "")


def test_gpus_of_a_reading() -> None:
    reading = [
        Gpu(index=0, uuid=A, name="x", detail=GpuDetail(pci_bus_id="00000000:01:00.0", mig_mode=False)),
        Gpu(index=1, uuid=B, name="x", detail=GpuDetail(mig_mode=True)),
        Gpu(index=1, mig=0, uuid=M0),
        Gpu(index=2, uuid=C, detail=GpuDetail(mig_mode=True)),
    ]
    first, second, third = listed(reading)
    assert (first.pci_bus_id, first.mig) == ("00000000:01:00.0", None)
    assert second.mig == (MigDevice(M0),)
    assert third.mig == ()


@pytest.mark.parametrize("spelling", ["GPU-ABCD-1", "abcd-1", " MIG-abcd-1 "])
def test_spellings_of_one_gpu(spelling: str) -> None:
    assert bare(spelling) == "abcd-1"
    gpus = [Gpu(index=0), Gpu(index=1, uuid="GPU-abcd-1")]
    assert find(gpus, spelling) is gpus[1]
    assert find(gpus, "abcd-2") is find(gpus, None) is None


def test_pytorchs_devices_get_the_drivers_spelling_and_their_links_limits() -> None:
    """PyTorch spells a MIG device like a GPU, and older ones tell no UUID."""
    gpus = [
        Gpu(index=0, uuid=A, pcie_generation_max=4, pcie_width_max=16),
        Gpu(index=1, uuid=B, pcie_generation_max=5, pcie_width_max=8),
        Gpu(index=1, mig=0, uuid=M0, pcie_generation_max=5, pcie_width_max=8),
    ]

    def joined(uuid: str | None, order: list[str] | None = None) -> Device:
        devices = [Device(device="cuda:0", uuid=uuid), Device(device="cpu", name="host")]
        first, cpu = known_to_driver(devices, gpus, order)
        assert cpu == devices[1]
        return first

    assert joined(f"GPU-{bare(M0)}") == Device(
        device="cuda:0", uuid=M0, pcie=PcieMax(generation_max=5, width_max=8)
    )
    assert joined(A.lower()).uuid == A
    assert joined(None).uuid is None
    assert joined(None, [B]).uuid == B
    assert joined(B, [M0]).uuid == M0
    assert joined(A, [B]).uuid == A
    assert joined("GPU-elsewhere") == Device(device="cuda:0", uuid="GPU-elsewhere")
