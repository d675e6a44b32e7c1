"""Every check of the doctor by itself: what it says of facts that are made up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from doctor_facts import FACTS, GIB, changed, gpu, names, said, with_gpu
from gputrain_runner.ceilings import Ceilings
from gputrain_runner.doctor.facts import DriverFacts, Facts, LoadedDevice, LoadedTorch, PciGpu
from gputrain_runner.doctor.registry import examine
from gputrain_runner.hardware import Gpu, GpuProcess
from gputrain_runner.telemetry.driver import DriverError, Kind

NO_LIBRARY = DriverError(Kind.TRANSIENT, "error 12", 12)
ON_BUS = PciGpu("0000:01:00.0", "10de:2684", "nvidia")


def no_driver(**around: Any) -> Facts:
    """A machine on which no driver library was found."""
    facts = changed(surroundings={"kernel_module": None, "device_files": (), **around})
    return replace(facts, driver=DriverFacts(error=NO_LIBRARY))


def failing(code: int, **around: Any) -> Facts:
    """A machine whose driver does not initialise."""
    facts = changed(surroundings={"kernel_module": None, "device_files": (), **around})
    return replace(facts, driver=DriverFacts(error=DriverError(Kind.TRANSIENT, f"error {code}", code)))


def loaded(**values: Any) -> Facts:
    """A machine on which PyTorch was loaded."""
    found = LoadedTorch(**{"kernels": ("sm_80", "sm_90"), **values})
    return changed(torch={"loaded": found})


def test_a_healthy_machine_has_neither_problem_nor_note() -> None:
    found = examine(FACTS)

    assert [(check.name, check.found) for check in found.checks if check.verdict != "ok"] == []
    assert (found.problems, found.notes) == (0, 0)
    assert [gpu.device for gpu in found.gpus] == ["gpu:0"]
    assert {check.device for check in found.checks if check.group == "gpu"} == {"gpu:0"}
    assert {check.device for check in found.checks if check.group != "gpu"} == {None}


def test_what_needs_a_loaded_pytorch_is_named() -> None:
    assert [unit.name for unit in examine(FACTS).not_run] == ["pytorch_loads", "kernels", "first_kernel"]
    assert examine(loaded()).not_run == []
    assert [unit.name for unit in examine(no_driver()).not_run] == ["pytorch_loads"]


HOST_CASES = [
    ("cpu_threads", changed(host={"cores_by_affinity": 32}), "problem", "a thread for each of 32 cores"),
    (
        "cpu_threads",
        changed(surroundings={"environment": {"OMP_NUM_THREADS": "64"}}),
        "problem",
        "64, but 16",
    ),
    (
        "cpu_threads",
        changed(surroundings={"environment": {"OMP_NUM_THREADS": "1"}}),
        "note",
        "15 of 16 cores unused",
    ),
    (
        "cpu_threads",
        changed(surroundings={"environment": {"OMP_NUM_THREADS": "16,2"}}),
        "ok",
        "as many as cores",
    ),
    ("cpu_threads", changed(surroundings={"environment": {"OMP_NUM_THREADS": "all"}}), "note", "no number"),
    (
        "cpu_cores",
        changed(host={"cores_installed": 64}),
        "note",
        "16 of 64 cores may be used: this process is bound",
    ),
    (
        "cpu_cores",
        changed(host={"cores_installed": 64, "cores_by_affinity": 64}),
        "note",
        "the control group allows no more",
    ),
    ("cpu_load", changed(host={"load": 12.0}), "note", "12.0 of 16 cores wanted"),
    ("memory_left", changed(host={"memory_left_bytes": GIB // 2}), "problem", "512 MiB of 128 GiB left"),
    ("memory_left", changed(host={"memory_left_bytes": 3 * GIB}), "note", "3.0 GiB of 128 GiB left"),
    (
        "shared_memory",
        changed(host={"shared_memory_bytes": 2**26, "shared_memory_left_bytes": 2**26}),
        "problem",
        "/dev/shm has 64 MiB of 64 MiB left: loader workers",
    ),
    ("shared_memory", changed(host={"shared_memory_left_bytes": 2**29}), "note", "512 MiB of 64 GiB left"),
    (
        "pinned_memory",
        changed(host={"locked_memory_limit_bytes": 65536.0}, surroundings={"wsl": True}),
        "note",
        "64 KiB may be locked",
    ),
    ("pinned_memory", changed(host={"locked_memory_limit_bytes": 65536.0}), "ok", "64 KiB may be locked"),
    ("recordings", changed(host={"recordings_writable": False}), "problem", "cannot be written to"),
    ("recordings", changed(host={"recordings_left_bytes": 2**20}), "problem", "1.0 MiB left for recordings"),
    ("recordings", changed(host={"recordings_left_bytes": 2**29}), "note", "512 MiB left for recordings"),
    ("wsl", changed(surroundings={"wsl": True}), "note", "the Windows driver runs the GPU"),
    ("container", changed(surroundings={"container": "docker"}), "ok", "docker"),
    (
        "container",
        no_driver(container="docker", environment={"NVIDIA_VISIBLE_DEVICES": "void"}, pci_gpus=(ON_BUS,)),
        "problem",
        "it is given no GPU",
    ),
]

DRIVER_CASES = [
    ("nvidia_gpu", no_driver(), "note", "no NVIDIA GPU here: every preset runs on the CPU"),
    ("nvidia_gpu", failing(9), "note", "a driver is installed, but its kernel module is not loaded"),
    (
        "nvidia_gpu",
        no_driver(pci_gpus=(replace(ON_BUS, kernel_driver="vfio-pci"),)),
        "note",
        "handed to a virtual machine",
    ),
    (
        "driver_library",
        no_driver(pci_gpus=(ON_BUS,)),
        "problem",
        "0000:01:00.0 (10de:2684), but libnvidia-ml",
    ),
    (
        "driver_library",
        no_driver(kernel_module="550.54.15"),
        "problem",
        "module 550.54.15 is loaded, but libnv",
    ),
    ("driver_library", failing(9, pci_gpus=(ON_BUS,)), "problem", "the NVIDIA driver is not loaded"),
    ("driver_library", failing(9, bus_known=False), "problem", "the NVIDIA driver is not loaded"),
    ("driver_library", failing(18), "problem", "library and kernel module differ"),
    ("driver_library", failing(999), "problem", "`unknown error`"),
    ("driver_library", failing(4), "problem", "refuses access"),
    (
        "driver_library",
        replace(FACTS, driver=DriverFacts(silence="driver silent: nvmlInit has not answered for 3 s")),
        "problem",
        "driver silent: nvmlInit has not answered for 3 s",
    ),
    (
        "driver_library",
        replace(FACTS, driver=DriverFacts(error=ImportError("broken"))),
        "problem",
        "could not be",
    ),
    ("gpus_listed", changed(driver={"gpus": ()}), "problem", "the driver runs, but lists no GPU"),
    (
        "device_files",
        changed(surroundings={"closed_device_files": {"/dev/nvidiactl": "mode 600, owner 0, group 0"}}),
        "problem",
        "/dev/nvidiactl may not be opened by this user (mode 600",
    ),
    (
        "device_files",
        changed(surroundings={"device_files": ("/dev/nvidia0", "/dev/nvidiactl")}),
        "problem",
        "/dev/nvidia-uvm is missing",
    ),
    ("device_files", failing(9, kernel_module="550.1"), "problem", "there is no /dev/nvidia*"),
    (
        "kernel_module",
        changed(surroundings={"kernel_module": "570.1"}),
        "problem",
        "module 570.1, library 575",
    ),
]

PYTORCH_CASES = [
    ("pytorch_build", changed(torch={"installed": False}), "problem", "not installed"),
    (
        "pytorch_build",
        changed(torch={"cuda": None}),
        "problem",
        "built for the CPU: it cannot use the NVIDIA GPU",
    ),
    ("pytorch_build", changed(torch={"cuda": None, "hip": "6.2"}), "problem", "built for ROCm 6.2"),
    ("pytorch_build", replace(no_driver(), torch=replace(FACTS.torch, cuda=None)), "ok", "built for the CPU"),
    (
        "driver_for_cuda",
        changed(driver={"cuda": (11, 8)}),
        "problem",
        "up to 11.8, is too old for PyTorch's CUDA 12.8",
    ),
    ("driver_for_cuda", changed(driver={"cuda": (12, 4)}), "note", "minor version compatibility"),
    ("driver_for_cuda", changed(driver={"cuda": (13, 0)}), "ok", "can run PyTorch's CUDA 12.8"),
    ("driver_for_cuda", changed(driver={"cuda": None, "version": "470.256.02"}), "problem", "is too old"),
    ("driver_for_cuda", changed(driver={"cuda": None}), "ok", "driver 575.57.08 can run"),
    ("pytorch_loads", loaded(error="libcudart.so.12: cannot open"), "problem", "cannot open"),
    (
        "pytorch_loads",
        loaded(absence="no kernel module"),
        "problem",
        "sees none of the driver's 1 GPU(s): no kernel",
    ),
    ("pytorch_loads", loaded(devices=(LoadedDevice("NVIDIA L40S"),)), "ok", "1 CUDA device(s): NVIDIA L40S"),
    ("kernels", loaded(kernels=("sm_50", "sm_86")), "ok", "has kernels for compute capability 8.9"),
    ("kernels", loaded(kernels=("sm_90a", "compute_80")), "note", "the driver makes them"),
    (
        "kernels",
        loaded(kernels=("sm_90", "compute_90")),
        "problem",
        "no kernels for compute capability 8.9: it has",
    ),
    (
        "first_kernel",
        loaded(devices=(LoadedDevice("x", uuid=gpu().gpu.uuid, error="no kernel image is available"),)),
        "problem",
        "no kernel image",
    ),
    ("first_kernel", loaded(devices=(LoadedDevice("x", uuid=gpu().gpu.uuid),)), "ok", "ran on it"),
    ("probe", replace(FACTS, probe_failure="the worker ended"), "problem", "the worker ended"),
    (
        "probe",
        replace(FACTS, probe={"cpu": Ceilings(device="cpu", measured_at="", noisy=True)}),
        "note",
        "too wide to trust on cpu",
    ),
]

GPU_CASES = [
    ("answers", {"lost": True, "trouble": "GPU 0 is lost. Reboot."}, "problem", "GPU 0 is lost"),
    ("answers", {"denied": ["processes"]}, "note", "may not read processes"),
    ("answers", {"denied": ["memory_used_bytes"]}, "note", "may not read memory used"),
    ("link_width", {"pcie_width": 4}, "problem", "x4, but card and slot allow x16: copies take 4 times"),
    ("link_generation", {"pcie_generation": 1}, "note", "generation 1 of 4: an idle GPU lowers it"),
    ("link_generation", {"pcie_generation": 1, "utilisation": 0.9}, "problem", "generation 1 while at work"),
    ("link_generation", {"pcie_generation": 1, "utilisation": None}, "note", "an idle GPU"),
    ("link_generation", {"pcie_generation_gpu_max": 5}, "note", "the slot allows; the card could do 5"),
    ("throttle", {"throttle": ["sw_power_cap"], "power_w": 350.0}, "ok", "normal at full load"),
    ("throttle", {"throttle": ["hw_slowdown", "hw_thermal_slowdown"]}, "problem", "too hot: the hardware"),
    ("throttle", {"throttle": ["hw_slowdown"]}, "problem", "heat, or too little power"),
    ("throttle", {"throttle": ["idle", "application_clocks"]}, "note", "application clocks"),
    ("throttle", {"throttle": ["reason_bit_14"]}, "note", "newer than this program"),
    ("power_limit", {"power_limit_w": 200.0}, "note", "200 W, lowered from the card's 350 W"),
    ("gpu_memory", {"memory_free_bytes": GIB}, "problem", "1.0 GiB of 48 GiB left"),
    ("gpu_memory", {"memory_free_bytes": 20 * GIB}, "note", "20 GiB of 48 GiB left"),
    (
        "processes",
        {"processes": [GpuProcess(pid=7, name="python\n3", memory_bytes=GIB)], "utilisation": 0.8},
        "note",
        "python 3 (pid 7, 1.0 GiB); the GPU is 80% busy",
    ),
    (
        "processes",
        {"processes": [GpuProcess(pid=7)]},
        "note",
        "a process not seen from here (pid 7); idle now",
    ),
    ("compute_mode", {"compute_mode": "prohibited"}, "problem", "no program may compute"),
    ("compute_mode", {"compute_mode": "exclusive_process"}, "note", "one program at a time"),
    (
        "compute_mode",
        {"compute_mode": "exclusive_process", "processes": [GpuProcess(pid=7)]},
        "problem",
        "another program has it",
    ),
    ("persistence", {"persistence": False}, "note", "off"),
    ("mig", {"mig_mode": True}, "problem", "no MIG device"),
    (
        "mig",
        {
            "mig_mode": True,
            "mig_devices": (Gpu(index=0, mig=0, uuid="MIG-1"), Gpu(index=0, mig=1, uuid="MIG-2")),
        },
        "note",
        "split into 2: MIG-1, MIG-2",
    ),
    ("driver_model", {"driver_model": "wddm"}, "note", "Windows schedules the GPU"),
    ("virtual", {"virtualisation": "vgpu"}, "note", "a virtual GPU"),
    ("memory_errors", {"ecc_uncorrected": 2}, "problem", "2 uncorrected memory error(s)"),
    ("memory_errors", {"ecc_corrected": 5}, "note", "5 memory error(s), all corrected"),
    ("memory_repairs", {"remapping_failed": True}, "problem", "no spare is left"),
    ("memory_repairs", {"remapping_pending": True}, "problem", "row of memory is to be replaced"),
    ("memory_repairs", {"retired_pages_pending": True}, "problem", "page of memory is to be retired"),
    ("memory_repairs", {"remapped_rows_corrected": 1}, "note", "1 row(s) of memory were replaced"),
    ("pcie_replays", {"pcie_replays": 12_000}, "note", "12,000 PCIe packet(s)"),
    ("xid", {"xid_errors": [79]}, "problem", "Xid error 79"),
    ("kernels", {"compute_capability": "12.0"}, None, ""),
]


@pytest.mark.parametrize(
    ("name", "facts", "verdict", "words"),
    [*HOST_CASES, *DRIVER_CASES, *PYTORCH_CASES],
    ids=lambda value: str(value)[:24],
)
def test_a_check_of_the_machine(name: str, facts: Facts, verdict: str, words: str) -> None:
    found = said(facts, name)

    assert found[0] == verdict
    assert words in found[1]
    assert (found[2] is not None) or verdict != "problem"


@pytest.mark.parametrize(("name", "values", "verdict", "words"), GPU_CASES, ids=lambda value: str(value)[:40])
def test_a_check_of_a_gpu(name: str, values: dict[str, Any], verdict: str | None, words: str) -> None:
    facts = with_gpu(**values)
    if verdict is None:
        assert name not in names(facts)
        return

    found = said(facts, name)

    assert found[0] == verdict
    assert words in found[1]
    assert (found[2] is not None) or verdict != "problem"


@pytest.mark.parametrize(
    ("cuda", "capability", "words"),
    [
        ("12.6", "12.0", "such cards need CUDA 12.8 or newer"),
        ("13.0", "6.1", "CUDA 12 was the last for such cards"),
        ("12.8", "3.5", "CUDA 11 was the last for such cards"),
        ("11.7", "8.9", "such cards need CUDA 11.8 or newer"),
    ],
)
def test_a_build_that_cannot_have_kernels_is_known_without_loading_it(
    cuda: str, capability: str, words: str
) -> None:
    facts = changed(torch={"cuda": cuda}, driver={"gpus": (gpu(compute_capability=capability),)})

    verdict, found, do = said(facts, "kernels")

    assert verdict == "problem"
    assert words in found
    assert do is not None and do.startswith("pip install")


def test_the_build_to_install_suits_driver_and_card() -> None:
    def wheel(cuda: tuple[int, int], capability: str) -> str:
        facts = changed(
            torch={"cuda": None}, driver={"cuda": cuda, "gpus": (gpu(compute_capability=capability),)}
        )
        return (said(facts, "pytorch_build")[2] or "").rpartition("/")[2]

    assert wheel((13, 0), "12.0") == "cu130"
    assert wheel((13, 0), "6.1") == "cu126"
    assert wheel((12, 8), "12.0") == "cu128"
    assert wheel((12, 4), "8.0") == "cu126"
    assert wheel((11, 8), "8.0") == "cu118"


def test_a_link_under_load_is_judged_by_the_busiest_sample() -> None:
    idle = gpu(pcie_generation=1)
    busy = replace(idle, busiest=gpu(pcie_generation=4, utilisation=0.9).gpu)

    assert said(changed(driver={"gpus": (idle,)}), "link_generation")[0] == "note"
    assert said(changed(driver={"gpus": (busy,)}), "link_generation")[0] == "ok"


def test_a_gpu_of_one_chip_with_the_cpu_has_no_link() -> None:
    facts = with_gpu(memory_source="host", pcie_width=1, pcie_width_max=16, pcie_generation=1)

    assert not {"link_width", "link_generation"} & names(facts)


def test_what_a_card_does_not_tell_is_one_note() -> None:
    facts = with_gpu(throttle=None, persistence=None, processes=None, pcie_width=None, power_limit_w=None)

    verdict, found, do = said(facts, "not_told")

    assert (verdict, do) == ("note", None)
    words, _, titles = found.partition(": ")
    assert words == "n/a, not told by this card or driver"
    assert titles == "link width, throttle, power limit, other processes, persistence"
    assert not {"throttle", "persistence", "processes", "link_width", "power_limit"} & names(facts)


def test_a_lost_gpu_has_one_problem_and_the_others_go_on() -> None:
    lost = gpu(
        trouble="GPU 0 is lost: it no longer answers on the bus.", lost=True, throttle=None, utilisation=None
    )
    found = examine(changed(driver={"gpus": (lost, gpu(1))}))

    assert [check.name for check in found.checks if check.device == "gpu:0"] == ["answers"]
    assert all(check.verdict == "ok" for check in found.checks if check.device == "gpu:1")


@pytest.mark.parametrize(
    ("visible", "verdict", "words"),
    [
        ("", "problem", "hides every GPU"),
        ("-1", "problem", "hides every GPU"),
        ("NoDevFiles", "problem", "hides every GPU"),
        ("0", "note", "1 of 2 GPUs can be seen: GPU 0"),
        ("1,0", "ok", "every GPU can be seen"),
        ("0,1,2", "note", "names no GPU"),
        ("0,0", "problem", "named twice"),
        ("1,5", "problem", "names no GPU"),
        ("GPU-00000001", "note", "1 of 2 GPUs can be seen: GPU 1"),
        ("GPU-0000000", "problem", "more than one"),
        ("GPU-ffff", "problem", "names no GPU"),
        ("MIG-ffff", "problem", "names no MIG device"),
    ],
)
def test_cuda_visible_devices(visible: str, verdict: str, words: str) -> None:
    around = {"environment": {"CUDA_VISIBLE_DEVICES": visible}}
    facts = changed(driver={"gpus": (gpu(0), gpu(1))}, surroundings=around)

    found = said(facts, "cuda_visible_devices")

    assert found[0] == verdict
    assert words in found[1]


def test_a_mig_device_chosen_by_its_id() -> None:
    uuid = "MIG-11111111-0000-4000-8000-000000000000"
    split = gpu(mig_mode=True, mig_devices=(Gpu(index=0, mig=0, uuid=uuid),))
    facts = changed(
        driver={"gpus": (split,)}, surroundings={"environment": {"CUDA_VISIBLE_DEVICES": "MIG-11111111"}}
    )

    assert said(facts, "cuda_visible_devices")[:2] == (
        "ok",
        f"CUDA_VISIBLE_DEVICES=MIG-11111111: a MIG device, {uuid}",
    )


def test_numbers_of_unlike_gpus_are_cudas_alone() -> None:
    around = {"environment": {"CUDA_VISIBLE_DEVICES": "0"}}
    unlike = (gpu(0), gpu(1, name="NVIDIA T4"))

    assert (
        "fastest first"
        in said(changed(driver={"gpus": unlike}, surroundings=around), "cuda_visible_devices")[1]
    )
    around["environment"]["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
    assert "GPU 0" in said(changed(driver={"gpus": unlike}, surroundings=around), "cuda_visible_devices")[1]


def test_remedies_suit_where_it_runs() -> None:
    def remedy(**around: Any) -> str:
        return said(no_driver(pci_gpus=(ON_BUS,), **around), "driver_library")[2] or ""

    assert "--gpus all" in remedy(container="docker")
    assert "of Windows" in remedy(wsl=True)
    assert "ubuntu-drivers" in remedy()
    nouveau = (replace(ON_BUS, kernel_driver="nouveau"),)
    assert "nouveau" in (said(no_driver(pci_gpus=nouveau), "driver_library")[2] or "")
    assert "restart the container" in (said(failing(999, container="docker"), "driver_library")[2] or "")


def test_a_check_that_fails_is_told_and_the_others_go_on() -> None:
    broken = with_gpu(power_limit_default_w="none")

    verdict, found, _ = said(broken, "power_limit")

    assert verdict == "note"
    assert found.startswith("this check failed, a mistake of this program: TypeError")
    assert "throttle" in names(broken)
