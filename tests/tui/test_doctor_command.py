"""`gputrain-tui doctor`: on this machine and on simulated ones, as a list for people and as JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gputrain_runner import probing
from gputrain_runner.ceilings import Ceilings, Figure
from gputrain_runner.doctor import Examination, Verdict, consultation
from gputrain_runner.doctor.facts import LoadedDevice, LoadedTorch
from gputrain_tui.cli import main
from simulated_driver.driver import SimulatedDriver, uuid_of
from simulated_driver.scenarios import SCENARIOS
from terminal import Terminal

PROGRAM = Path(sys.executable).parent / "gputrain-tui"
GROUPS = ("host", "driver", "pytorch", "gpu")
VERDICTS = ("ok", "note", "problem")

Told = dict[tuple[str | None, str], tuple[Verdict, str]]
"""Verdict and what was found, by GPU and name of the check."""


@pytest.fixture
def cuda_build(tmp_path: Path) -> Path:
    """A folder with what a CUDA build of PyTorch looks like from outside."""
    torch = tmp_path / "site" / "torch"
    torch.mkdir(parents=True)
    (torch / "__init__.py").write_text("raise ImportError('it was not to be loaded')\n")
    (torch / "version.py").write_text(
        "from typing import Optional\n__version__ = '2.8.0+cu128'\ncuda: Optional[str] = '12.8'\nhip = None\n"
    )
    return torch.parent


def run(*options: str, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, as one that finds what PYTHONPATH names first."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "gputrain_tui", "doctor", *options],
        env=dict(os.environ if environment is None else environment),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def examined(
    driver: SimulatedDriver, scenario: str, cuda_build: Path, *options: str, **variables: str
) -> tuple[int, Told, Examination]:
    """Exit code and findings on a simulated machine."""
    SCENARIOS[scenario].play(driver)
    SCENARIOS[scenario].strike(driver)
    done = run(
        "--json", *options, environment={**driver.environment(), "PYTHONPATH": str(cuda_build), **variables}
    )
    assert done.stderr == ""
    found = msgspec.json.decode(done.stdout, type=Examination)
    told = {(check.device, check.name): (check.verdict, check.found) for check in found.checks}
    assert len(told) == len(found.checks)
    assert done.returncode == (1 if any(verdict == "problem" for verdict, _ in told.values()) else 0)
    return done.returncode, told, found


def faults(told: Told) -> dict[tuple[str | None, str], str]:
    """The problems that are the driver's, PyTorch's or a GPU's; the host's depend on where tests run."""
    host = {
        "container",
        "recordings",
        "cpu_threads",
        "memory_left",
        "shared_memory",
        "kernel_module",
        "device_files",
    }
    return {
        key: found for key, (verdict, found) in told.items() if verdict == "problem" and key[1] not in host
    }


GPU = "gpu:0"
NO_FAULT: tuple[str, ...] = ("healthy", "laptop", "at_its_cap", "vgpu", "garbage", "unified", "no_permission")


@pytest.mark.parametrize("scenario", NO_FAULT)
def test_machines_without_a_fault(scenario: str, simulated_driver: SimulatedDriver, cuda_build: Path) -> None:
    _, told, found = examined(simulated_driver, scenario, cuda_build)

    assert faults(told) == {}
    assert told[None, "driver_library"] == ("ok", "libnvidia-ml.so.1 answers, driver 575.57.08")
    assert [gpu.device for gpu in found.gpus] == [GPU]
    assert found.gpus[0].uuid == uuid_of(0)
    assert (found.host.driver, found.host.cuda) == ("575.57.08", "12.8")


FAULTS: list[tuple[str, str | None, str, str]] = [
    ("trained_down", GPU, "link_width", "x4, but card and slot allow x16: copies take 4 times as long"),
    ("hot", GPU, "throttle", "too hot: the hardware lowers the clocks (1110 of 1980 MHz, 91 °C, 418 W)"),
    (
        "old",
        None,
        "driver_for_cuda",
        "driver 390.157, which runs CUDA up to 9.1, is too old for PyTorch's CUDA 12.8",
    ),
    ("mismatch", None, "driver_library", "the NVIDIA driver's library and kernel module differ"),
    (
        "no_access",
        None,
        "driver_library",
        "the NVIDIA driver refuses access: this user may not open /dev/nvidia*",
    ),
    ("no_gpu", None, "gpus_listed", "the driver runs, but lists no GPU"),
    ("lost", GPU, "answers", "GPU 0 is lost: it no longer answers on the bus"),
]


@pytest.mark.parametrize(("scenario", "device", "name", "words"), FAULTS, ids=[case[0] for case in FAULTS])
def test_machines_with_one_fault(
    scenario: str,
    device: str | None,
    name: str,
    words: str,
    simulated_driver: SimulatedDriver,
    cuda_build: Path,
) -> None:
    code, told, _ = examined(simulated_driver, scenario, cuda_build)

    assert code == 1
    assert faults(told) == {(device, name): words}


def test_a_lost_gpu_leaves_the_other_one_examined(
    simulated_driver: SimulatedDriver, cuda_build: Path
) -> None:
    _, told, _ = examined(simulated_driver, "lost", cuda_build)

    assert [name for device, name in told if device == "gpu:0"] == ["answers"]
    assert told["gpu:1", "link_width"][0] == "ok"


@pytest.mark.parametrize(
    ("scenario", "device", "name", "call"),
    [
        ("init_hangs", None, "driver_library", "nvmlInit"),
        ("call_hangs", GPU, "answers", "nvmlDeviceGetFieldValues"),
    ],
)
def test_a_driver_that_hangs_is_named_and_the_rest_is_told(
    scenario: str,
    device: str | None,
    name: str,
    call: str,
    simulated_driver: SimulatedDriver,
    cuda_build: Path,
) -> None:
    # Asked to load PyTorch and to probe too, which would hang with it.
    code, told, found = examined(simulated_driver, scenario, cuda_build, "--probe")

    assert code == 1
    assert found.not_run != [] and found.probe is None
    assert told[None, "probe"] == ("problem", "nothing could be measured: the NVIDIA driver does not answer")
    verdict, words = told[device, name]
    assert verdict == "problem"
    assert words.startswith(f"driver silent: {call} has not answered for ")
    assert told[None, "memory_left"][1].endswith("left")


def test_notes_of_a_laptop_at_rest(simulated_driver: SimulatedDriver, cuda_build: Path) -> None:
    _, told, _ = examined(simulated_driver, "laptop", cuda_build)

    assert told[GPU, "link_generation"] == ("note", "generation 1 of 4: an idle GPU lowers it to save power")
    assert told[GPU, "throttle"] == ("ok", "idle (210 of 3105 MHz, 38 °C, 4 W)")
    assert told[GPU, "persistence"][0] == "note"
    assert told[GPU, "processes"] == ("note", "a process not seen from here (pid 4194001, 210 MiB); idle now")


def test_full_load_at_the_power_cap_is_normal(simulated_driver: SimulatedDriver, cuda_build: Path) -> None:
    _, told, _ = examined(simulated_driver, "at_its_cap", cuda_build)

    assert told[GPU, "throttle"] == (
        "ok",
        "at its power limit, which is normal at full load (1650 of 1980 MHz, 63 °C, 700 W)",
    )


def test_a_card_split_by_mig(simulated_driver: SimulatedDriver, cuda_build: Path) -> None:
    _, told, found = examined(simulated_driver, "mig", cuda_build)

    assert faults(told) == {}
    verdict, words = told[GPU, "mig"]
    assert verdict == "note"
    assert words.startswith(
        "MIG is on, split into 2: MIG-00000000-1111-4000-8000-000000000000, MIG-00000001-"
    )
    assert [gpu.device for gpu in found.gpus] == [GPU]


def test_hidden_gpus(simulated_driver: SimulatedDriver, cuda_build: Path) -> None:
    _, told, _ = examined(simulated_driver, "eight", cuda_build, CUDA_VISIBLE_DEVICES="GPU-00000003")
    assert told[None, "cuda_visible_devices"] == (
        "note",
        "CUDA_VISIBLE_DEVICES=GPU-00000003: 1 of 8 GPUs can be seen: GPU 3",
    )

    code, told, _ = examined(simulated_driver, "healthy", cuda_build, CUDA_VISIBLE_DEVICES="-1")
    assert code == 1
    assert list(faults(told)) == [(None, "cuda_visible_devices")]


def test_a_cpu_build_beside_a_gpu_is_a_problem(simulated_driver: SimulatedDriver, cuda_build: Path) -> None:
    (cuda_build / "torch/version.py").write_text("__version__ = '2.8.0+cpu'\ncuda = None\n")

    code, told, _ = examined(simulated_driver, "healthy", cuda_build)

    assert code == 1
    assert faults(told) == {
        (None, "pytorch_build"): "2.8.0+cpu, built for the CPU: it cannot use the NVIDIA GPU"
    }


def test_the_list_says_the_same_as_the_json(simulated_driver: SimulatedDriver, cuda_build: Path) -> None:
    _, _, found = examined(simulated_driver, "trained_down", cuda_build)
    done = run(environment={**simulated_driver.environment(), "PYTHONPATH": str(cuda_build)})

    lines = done.stdout.splitlines()
    text = " ".join(done.stdout.split())
    assert done.returncode == 1
    assert max(len(line) for line in lines) <= 80
    for check in found.checks:
        if check.name not in ("cpu_load", "memory_left", "recordings"):
            words = f"{check.verdict} {check.title} {check.found}"
            assert words + (f" do: {check.do}" if check.do else "") in text
    assert "\nGPU 0  NVIDIA GeForce RTX 4090  GPU-00000000-0000-4000-8000-000000000000\n" in done.stdout
    assert "(--torch loads it): PyTorch loads, kernels, first kernel" in text
    problems, notes = lines[-1].split(", ")
    assert problems.split()[0] == str(sum(" problem " in line[:11] for line in lines))
    assert notes.split()[1] in ("note", "notes")


def test_on_this_machine() -> None:
    listed, document = run(), run("--json")

    assert (listed.stderr, document.stderr) == ("", "")
    found = json.loads(document.stdout)
    assert (found["schema"], found["version"], found["probe"]) == ("gputrain-doctor", 1, None)
    assert {"os", "cpu", "cores", "memory_bytes", "python", "torch"} <= set(found["host"])
    assert {"cpu_cores", "memory_left", "pytorch_build"} <= {check["name"] for check in found["checks"]}
    for check in found["checks"]:
        assert {"name", "device", "verdict", "found", "do"} <= set(check)
        assert check["verdict"] in VERDICTS and check["group"] in GROUPS
        assert check["do"] or check["verdict"] != "problem"
    problems = sum(check["verdict"] == "problem" for check in found["checks"])
    assert document.returncode == (1 if problems else 0)
    assert listed.stdout.splitlines()[0] == "host"
    assert max(len(line) for line in listed.stdout.splitlines()) <= 80


def test_without_a_driver_library(no_library: dict[str, str]) -> None:
    found = json.loads(run("--json", environment=no_library).stdout)

    told = {check["name"]: check["verdict"] for check in found["checks"]}
    # Where the tests run on a machine that has a GPU, that its library is missing is the fault.
    assert told.get("nvidia_gpu") == "note" or told.get("driver_library") == "problem"


def test_torch_is_loaded_only_when_asked_for() -> None:
    found = json.loads(run("--torch", "--json").stdout)

    told = {check["name"]: check for check in found["checks"]}
    assert told["pytorch_loads"]["verdict"] == "ok"
    assert "pytorch_loads" not in {unit["name"] for unit in found["not_run"]}
    assert "pytorch_loads" in {unit["name"] for unit in json.loads(run("--json").stdout)["not_run"]}


def figure(median: float) -> Figure:
    return Figure(median=median, q25=0.98 * median, q75=1.02 * median, repeats=9)


PROBE = {
    "cpu": Ceilings(
        device="cpu",
        name="A CPU",
        measured_at="2026-01-01T00:00:00+00:00",
        matmul_flops_per_s={"fp32": figure(120e9)},
        matmul_threads_flops_per_s={"1": figure(60e9), "2": figure(120e9)},
        memory_bytes_per_s=figure(20e9),
        launch_us=figure(1.25),
        noisy=True,
    ),
    "cuda:0": Ceilings(
        device="cuda:0",
        name="A GPU",
        measured_at="2026-01-01T00:00:00+00:00",
        matmul_flops_per_s={"bf16": figure(790e12)},
        h2d_pinned_bytes_per_s=figure(1e9),
        graph_launch_us=figure(0.52),
    ),
}


def probe_instead(monkeypatch: pytest.MonkeyPatch, outcome: object) -> list[Any]:
    """Have the probe give this at once, or raise it; the devices it is asked for."""
    asked: list[Any] = []

    def measure(devices: object, **_: object) -> object:
        asked.append(devices)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    monkeypatch.setattr(probing, "measure", measure)
    loaded = LoadedTorch(devices=(LoadedDevice("A GPU"),))
    monkeypatch.setattr(consultation, "load", lambda: loaded)
    return asked


def test_the_probe_is_a_table_for_each_device(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = probe_instead(monkeypatch, PROBE)

    main(["doctor", "--probe"])

    out = capsys.readouterr().out
    assert asked == [None]
    rows = [" ".join(line.split()) for line in out.splitlines()]
    assert "probe of cpu A CPU" in rows and "probe of cuda:0 A GPU" in rows
    assert rows.count("median quartiles repeats") == 2
    # The probe of the CPU was noisy.
    assert "matrix product, fp32 about 120 GFLOP/s 118 – 122 GFLOP/s 9" in rows
    assert "product, fp32, 1 thread about 60.0 GFLOP/s 58.8 – 61.2 GFLOP/s 9" in rows
    assert "memory copy (read + written) about 20.0 GB/s 19.6 – 20.4 GB/s 9" in rows
    assert "one operation (dispatch) about 1.25 µs 1.23 – 1.27 µs 9" in rows
    assert "matrix product, bf16 790 TFLOP/s 774 – 806 TFLOP/s 9" in rows
    assert "host to device, pinned 1.00 GB/s 980 MB/s – 1.02 GB/s 9" in rows
    assert "one launch in a CUDA graph 0.520 µs 0.510 – 0.530 µs 9" in rows
    assert rows.count("note the spread is too wide to trust: something else used the machine; probe") == 1
    assert max(len(line) for line in out.splitlines()) <= 80


def test_the_probe_in_json_and_of_one_device(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = probe_instead(monkeypatch, PROBE)

    main(["doctor", "--probe", "--device", "cpu", "--device", "cuda:0", "--json"])

    found = json.loads(capsys.readouterr().out)
    assert asked == [["cpu", "cuda:0"]]
    assert found["probe"]["cuda:0"]["matmul_flops_per_s"]["bf16"]["median"] == 790e12
    assert found["probe"]["cpu"]["noisy"] is True
    assert found["not_run"] == []


@pytest.mark.parametrize("json_too", [[], ["--json"]])
def test_a_device_that_is_not_there_is_not_probed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], json_too: list[str]
) -> None:
    asked = probe_instead(monkeypatch, PROBE)
    there = LoadedTorch(devices=(LoadedDevice("A GPU"), LoadedDevice("A GPU")))
    monkeypatch.setattr(consultation, "load", lambda: there)

    assert main(["doctor", "--probe", "--device", "cpu", "--device", "cuda:7", *json_too]) == 2
    told = capsys.readouterr()
    assert told.err == "gputrain-tui doctor: --device: found 'cuda:7', allowed: cuda:0, cuda:1, cpu\n"
    assert (told.out, asked) == ("", [])

    none = LoadedTorch(absence="PyTorch is a build for the CPU")
    monkeypatch.setattr(consultation, "load", lambda: none)
    assert main(["doctor", "--probe", "--device", "cuda", *json_too]) == 2
    assert capsys.readouterr().err == (
        "gputrain-tui doctor: --device: found 'cuda:0', allowed: cpu; PyTorch is a build for the CPU\n"
    )

    main(["doctor", "--probe", "--device", "cpu", "--device", "cpu", *json_too])
    monkeypatch.setattr(consultation, "load", lambda: there)
    main(["doctor", "--probe", "--device", "cuda", "--device", "cuda:0", *json_too])
    assert asked == [["cpu"], ["cuda:0"]]


def test_a_probe_that_fails_is_a_problem_beside_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    probe_instead(monkeypatch, probing.ProbeError("cuda:7: there is no such device"))

    code = main(["doctor", "--probe", "--json"])

    found = json.loads(capsys.readouterr().out)
    assert (code, found["probe"]) == (1, None)
    (check,) = (check for check in found["checks"] if check["name"] == "probe")
    assert check["verdict"] == "problem"
    assert "cuda:7: there is no such device" in check["found"]


def test_wrong_command_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--device", "cpu"]) == 2
    assert capsys.readouterr().err == (
        "gputrain-tui doctor: --device: names what --probe measures; add --probe\n"
    )
    for wrong in ("foo", "cuda:", "cuda:-1", "gpu:0", "CPU", "cpu,cuda:0", ""):
        assert main(["doctor", "--probe", "--device", "cpu", "--device", wrong]) == 2
        assert capsys.readouterr().err == (
            f"gputrain-tui doctor: --device: found {wrong!r}, allowed: cpu, cuda or cuda:NUMBER\n"
        )
    assert main(["doctor", "--prob"]) == 2
    assert "did you mean '--probe'?" in capsys.readouterr().err


@pytest.mark.terminal
def test_on_a_terminal_verdicts_are_words_in_colour() -> None:
    with Terminal([str(PROGRAM), "doctor"], columns=80, rows=200) as terminal:
        code = terminal.wait_end()
        text = terminal.text

    assert code in (0, 1)
    assert " ok " in text and "CPU cores" in text
    last = [line for line in text.splitlines() if line.strip()][-1]
    assert " problem" in last and " note" in last
