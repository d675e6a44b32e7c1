"""Where the doctor's facts come from: files of the system and of PyTorch, PyTorch itself, the driver."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from gputrain_runner.doctor.facts import PciGpu, TorchFacts
from gputrain_runner.doctor.registry import GPU_UNITS, UNITS
from gputrain_runner.doctor.surroundings import look_around, look_closer
from gputrain_runner.doctor.torch_build import read_build
from gputrain_runner.doctor.torch_loaded import load_torch
from simulated_driver.driver import SimulatedDriver
from simulated_driver.parts import card
from simulated_driver.scenarios import LAPTOP


def write(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def pci(address: str, vendor: str, kind: str, device: str) -> dict[str, str]:
    folder = f"sys/bus/pci/devices/{address}"
    return {f"{folder}/vendor": vendor, f"{folder}/class": kind, f"{folder}/device": device}


def test_every_check_has_a_name_of_its_own() -> None:
    names = [unit.name for _, units in UNITS for unit in units] + [unit.name for unit in GPU_UNITS]

    assert len(names) == len(set(names))


def test_an_empty_machine(tmp_path: Path) -> None:
    found = look_around(tmp_path, {})

    assert found.pci_gpus == ()
    assert (found.container, found.wsl, found.bus_known, found.kernel_module) == (None, False, False, None)
    assert (found.device_files, dict(found.closed_device_files)) == ((), {})


def test_gpus_are_found_on_the_bus_with_the_module_that_holds_them(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            **pci("0000:01:00.0", "0x10de\n", "0x030000\n", "0x2684\n"),
            **pci("0000:01:00.1", "0x10de\n", "0x040300\n", "0x22ba\n"),  # The sound of the same card.
            **pci("0000:02:00.0", "0x10de\n", "0x030200\n", "0x2330\n"),
            **pci("0000:03:00.0", "0x1002\n", "0x030000\n", "0x744c\n"),  # AMD's.
            "sys/bus/pci/drivers/nouveau/bind": "",
        },
    )
    (tmp_path / "sys/bus/pci/devices/0000:01:00.0/driver").symlink_to(
        tmp_path / "sys/bus/pci/drivers/nouveau"
    )

    found = look_around(tmp_path, {})

    assert found.pci_gpus == (
        PciGpu("0000:01:00.0", "10de:2684", "nouveau"),
        PciGpu("0000:02:00.0", "10de:2330", None),
    )
    assert found.bus_known


@pytest.mark.parametrize(
    "text",
    [
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  575.57.08  Tue May 27 06:31:32\nGCC 13",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  575.57.08  Release Build",
    ],
)
def test_the_kernel_modules_version(text: str, tmp_path: Path) -> None:
    write(tmp_path, {"proc/driver/nvidia/version": text})

    assert look_around(tmp_path, {}).kernel_module == "575.57.08"


def test_device_files(tmp_path: Path) -> None:
    names = ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "nvidia-modeset", "null", "nvidia-caps")
    write(tmp_path, {f"dev/{name}": "" for name in names})

    found = look_around(tmp_path, {})

    assert found.device_files == ("/dev/nvidia-uvm", "/dev/nvidia0", "/dev/nvidia1", "/dev/nvidiactl")
    assert found.closed_device_files == {}


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may open everything")
def test_a_device_file_that_may_not_be_opened(tmp_path: Path) -> None:
    write(tmp_path, {"dev/nvidiactl": ""})
    (tmp_path / "dev/nvidiactl").chmod(0o200)

    assert look_around(tmp_path, {}).closed_device_files["/dev/nvidiactl"].startswith("mode 200, owner ")


def test_a_device_file_that_rules_keep_closed(tmp_path: Path) -> None:
    control = tmp_path / "dev/nvidiactl"
    write(tmp_path, {"dev/nvidiactl": ""})
    around = look_around(tmp_path, {})
    assert look_closer(around, control) == around
    control.unlink()
    control.mkdir()  # Stands for what may not be opened, also by root.

    why = look_closer(around, control).closed_device_files["/dev/nvidiactl"]

    assert why == "Is a directory, though its mode allows it: the rules of the container or job"


@pytest.mark.parametrize(
    ("files", "environment", "kind"),
    [
        ({".dockerenv": ""}, {}, "docker"),
        ({"run/.containerenv": ""}, {}, "podman"),
        ({".dockerenv": ""}, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "kubernetes"),
        ({}, {"container": "lxc"}, "lxc"),
    ],
)
def test_containers(files: dict[str, str], environment: dict[str, str], kind: str, tmp_path: Path) -> None:
    write(tmp_path, files)

    assert look_around(tmp_path, environment).container == kind


def test_wsl(tmp_path: Path) -> None:
    write(tmp_path, {"proc/version": "Linux version 5.15.153.1-microsoft-standard-WSL2 (root@x) ..."})

    assert look_around(tmp_path, {}).wsl


@pytest.mark.parametrize(
    ("version_py", "found"),
    [
        (
            "__version__ = '2.8.0+cu128'\ncuda: Optional[str] = '12.8'\nhip = None\n",
            ("2.8.0+cu128", "12.8", None, True),
        ),
        ("__version__ = '2.8.0+cpu'\ncuda = None\n", ("2.8.0+cpu", None, None, True)),
        (
            "__version__ = '2.8.0+rocm6.3'\ncuda = None\nhip = '6.3.4'\n",
            ("2.8.0+rocm6.3", None, "6.3.4", True),
        ),
        ("from .elsewhere import *\n", (None, None, None, False)),
        ("this is no Python (", (None, None, None, False)),
    ],
)
def test_pytorchs_build_is_read_from_its_file(
    version_py: str,
    found: tuple[str | None, str | None, str | None, bool],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(tmp_path, {"torch/__init__.py": "raise SystemExit('loaded')", "torch/version.py": version_py})
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.syspath_prepend(tmp_path)

    build = read_build()

    assert (build.version, build.cuda, build.hip, build.build_known) == found
    assert build.installed and build.loaded is None


def test_pytorch_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(sys, "path", [])

    assert read_build() == TorchFacts(installed=False)


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-P", "-c", code)


@pytest.mark.parametrize(
    ("program", "error"),
    [
        (
            python("raise ImportError('libcudart.so.12: no such file')"),
            "ImportError: libcudart.so.12: no such file",
        ),
        (python("import sys; sys.exit(3)"), "its process exited with code 3"),
        (
            python("import os; os.kill(os.getpid(), 11)"),
            "its process ended by SIGSEGV (crashed in native code)",
        ),
        (python("print('no JSON')"), "its process ended without an answer"),
        (("/no/such/python",), "/no/such/python cannot be started: No such file or directory"),
    ],
)
def test_a_pytorch_that_cannot_be_loaded(program: tuple[str, ...], error: str) -> None:
    assert load_torch(program).error == error


def test_a_pytorch_that_hangs() -> None:
    assert (
        load_torch(python("import time; time.sleep(600)"), longest_s=0.2).error
        == "it did not load within 0 s"
    )


FOLLOW = """
import sys
from gputrain_runner.doctor.driver_watch import DriverWatch

watch = DriverWatch()
watch.start()
watch.wait()
with watch.following():
    print("waiting", flush=True)
    sys.stdin.readline()
(gpu,) = watch.facts().gpus
print(gpu.gpu.pcie_generation, gpu.gpu.utilisation, gpu.gpu.throttle)
print(gpu.busiest.pcie_generation, gpu.busiest.utilisation, gpu.busiest.throttle)
"""


def test_what_is_seen_under_load_is_kept_beside_what_was_before(simulated_driver: SimulatedDriver) -> None:
    """The load sets in while it is followed, and is over before the end."""
    question = "nvmlDeviceGetCurrPcieLinkGeneration"
    simulated_driver.cards(card(LAPTOP, samples_per_s=None))
    with subprocess.Popen(
        [sys.executable, "-P", "-c", FOLLOW],
        env={**simulated_driver.environment(), "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        simulated_driver.set(
            {"gpu0.pcie_generation": 4, "gpu0.utilisation_percent": 97, "gpu0.clock_event_reasons": 0x4}
        )
        _await_calls(simulated_driver, question, 2)
        simulated_driver.set({"gpu0.pcie_generation": 1, "gpu0.utilisation_percent": 0})
        _await_calls(simulated_driver, question, 2)
        out, _ = process.communicate("stop\n", timeout=30)

    assert out.splitlines() == ["1 0.0 ['idle']", "4 0.97 ['sw_power_cap']"]


def _await_calls(driver: SimulatedDriver, function: str, more: int) -> None:
    wanted = driver.calls(function) + more
    deadline = time.monotonic() + 30
    while driver.calls(function) < wanted:
        assert time.monotonic() < deadline
        time.sleep(0.05)
