"""Ceilings kept from one session to the next: found again under the same versions alone, never lost."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from msgspec import structs

from gputrain_runner.ceilings import Ceilings, Figure
from gputrain_runner.paths import probes_folder
from gputrain_runner.probe_store import StoreError, keep, stored
from gputrain_runner.timeline import Device, Host

HOST = Host(
    os="Linux",
    cpu="a CPU",
    cores=8,
    memory_bytes=1 << 34,
    python="3.11.7",
    over_ssh=False,
    torch="2.13.0",
    driver="570.86",
)
GPU = Device(device="cuda:0", name="a card", uuid="GPU-1234")
CPU = Device(device="cpu", name="a CPU")


def ceilings(device: Device, gflops: float = 100.0) -> Ceilings:
    rate = Figure(median=gflops * 1e9, q25=gflops * 0.99e9, q75=gflops * 1.01e9, repeats=9)
    return Ceilings(
        device=device.device,
        name=device.name,
        uuid=device.uuid,
        measured_at="2026-11-30T10:00:00+00:00",
        torch="2.13.0",
        driver=None if device.device == "cpu" else "570.86",
        matmul_flops_per_s={"fp32": rate},
    )


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "gputrain-tui" / "probes"


def test_what_was_kept_is_found_again(folder: Path) -> None:
    assert stored([GPU, CPU], HOST) == {}
    assert probes_folder() == folder
    for device in (GPU, CPU):
        path = keep(ceilings(device), HOST)
        assert path is not None and path.parent == folder
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stored([GPU, CPU], HOST) == {"cuda:0": ceilings(GPU), "cpu": ceilings(CPU)}
    assert len(list(folder.iterdir())) == 2


def test_a_newer_measurement_takes_the_place_of_the_old() -> None:
    keep(ceilings(GPU, 100.0), HOST)
    keep(ceilings(GPU, 120.0), HOST)
    assert stored([GPU], HOST) == {"cuda:0": ceilings(GPU, 120.0)}


def test_a_noisy_measurement_does_not_take_the_place_of_a_good_one() -> None:
    noisy = structs.replace(ceilings(GPU, 60.0), noisy=True)
    keep(noisy, HOST)
    assert stored([GPU], HOST) == {"cuda:0": noisy}
    keep(ceilings(GPU, 100.0), HOST)
    keep(noisy, HOST)
    assert stored([GPU], HOST) == {"cuda:0": ceilings(GPU, 100.0)}


def test_a_card_is_known_by_its_uuid_wherever_it_is_counted() -> None:
    keep(ceilings(GPU), HOST)
    found = stored([structs.replace(GPU, device="cuda:1")], HOST)
    assert found["cuda:1"].device == "cuda:1"
    assert found["cuda:1"].matmul_flops_per_s == ceilings(GPU).matmul_flops_per_s
    assert stored([structs.replace(GPU, uuid="GPU-9")], HOST) == {}


@pytest.mark.parametrize(
    ("now", "known"),
    [
        (structs.replace(HOST, torch="2.14.0"), set()),
        (structs.replace(HOST, driver="575.00"), {"cpu"}),
        (structs.replace(HOST, driver=None), {"cpu"}),
        (structs.replace(HOST, cores=4), {"cuda:0"}),
        (structs.replace(HOST, python="3.12.0"), {"cuda:0", "cpu"}),
    ],
)
def test_other_versions_have_other_ceilings(now: Host, known: set[str]) -> None:
    keep(ceilings(GPU), HOST)
    keep(ceilings(CPU), HOST)
    assert set(stored([GPU, CPU], now)) == known
    assert set(stored([GPU, CPU], HOST)) == {"cuda:0", "cpu"}


@pytest.mark.parametrize(
    "damage", [b"", b'{"schema": "gputrain-probe", "ver', b"\xff\xfe", b'{"ceilings": 3}', b"[]"]
)
def test_a_damaged_file_counts_as_none_and_is_not_lost(damage: bytes) -> None:
    path = keep(ceilings(CPU), HOST)
    assert path is not None
    path.write_bytes(damage)
    assert stored([CPU], HOST) == {}
    assert path.read_bytes() == damage
    keep(ceilings(CPU, 7.0), HOST)
    assert stored([CPU], HOST) == {"cpu": ceilings(CPU, 7.0)}
    assert path.with_suffix(".damaged").read_bytes() == damage


def test_a_file_copied_over_another_is_not_taken_for_it() -> None:
    of_gpu, of_cpu = keep(ceilings(GPU), HOST), keep(ceilings(CPU), HOST)
    assert of_gpu is not None and of_cpu is not None
    of_cpu.write_bytes(of_gpu.read_bytes())
    assert stored([CPU], HOST) == {}


def test_a_gpu_without_a_uuid_is_not_kept(folder: Path) -> None:
    nameless = structs.replace(GPU, uuid=None)
    assert keep(ceilings(nameless), HOST) is None
    assert stored([nameless], HOST) == {}
    assert not folder.exists()


def test_a_write_that_fails_leaves_what_was_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(ceilings(CPU), HOST)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(StoreError, match="No space left on device: the ceilings are not kept"):
        keep(ceilings(CPU, 7.0), HOST)
    assert stored([CPU], HOST) == {"cpu": ceilings(CPU)}
    assert len(list(folder.iterdir())) == 1


def test_a_place_that_cannot_be_used_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", os.fspath(tmp_path / "file"))
    with pytest.raises(StoreError, match="Not a directory"):
        keep(ceilings(CPU), HOST)
    assert stored([CPU], HOST) == {}
