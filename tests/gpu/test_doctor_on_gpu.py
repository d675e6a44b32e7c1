"""The doctor on a real driver: it names the GPUs that `nvidia-smi` names, and PyTorch can use them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest


@pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="there is no nvidia-smi here")
def test_the_doctor_finds_a_gpu_that_trains() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gputrain_tui", "doctor", "--torch", "--json"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    listed = subprocess.run(
        ["nvidia-smi", "--query-gpu=uuid,name,driver_version", "--format=csv,noheader"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert done.stderr == ""
    found = json.loads(done.stdout)
    rows = [[word.strip() for word in line.split(",")] for line in listed.stdout.splitlines()]
    assert [[gpu["uuid"], gpu["name"], found["host"]["driver"]] for gpu in found["gpus"]] == rows
    told = {(check["device"], check["name"]): check for check in found["checks"]}
    for name in ("driver_library", "pytorch_build", "driver_for_cuda", "pytorch_loads"):
        assert told[None, name]["verdict"] in ("ok", "note"), told[None, name]
    for name in ("kernels", "first_kernel", "link_width", "gpu_memory"):
        assert told["gpu:0", name]["verdict"] in ("ok", "note"), told["gpu:0", name]
