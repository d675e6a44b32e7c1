"""What the machine is said to be, and the limits of containers and jobs."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from gputrain_runner.machine import host_facts


def root_with(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture
def many_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(16)))


@pytest.fixture
def large_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"SC_PHYS_PAGES": 1 << 24, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(os, "sysconf", sizes.__getitem__)


def test_this_machine() -> None:
    host = host_facts()
    assert platform.system() in host.os and host.python == platform.python_version()
    assert host.cores is not None and 1 <= host.cores <= (os.cpu_count() or 1)
    assert host.memory_bytes is not None and host.memory_bytes > 1 << 26
    assert (host.torch, host.cuda, host.cudnn, host.driver) == (None, None, None, None)


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({}, 16),
        ({"proc/self/cgroup": "0::/job\n", "sys/fs/cgroup/job/cpu.max": "max 100000\n"}, 16),
        ({"proc/self/cgroup": "0::/job\n", "sys/fs/cgroup/job/cpu.max": "250000 100000\n"}, 3),
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/cpu.max": "50000 100000\n"}, 1),
        # In a container whose group is mounted as the root.
        ({"proc/self/cgroup": "0::/docker/abc\n", "sys/fs/cgroup/cpu.max": "400000 100000"}, 4),
        (
            {
                "proc/self/cgroup": "3:memory:/job\n4:cpu,cpuacct:/job\n",
                "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us": "200000\n",
                "sys/fs/cgroup/cpu/job/cpu.cfs_period_us": "100000\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            2,
        ),
    ],
)
def test_cores_that_may_be_used(tmp_path: Path, many_cores: None, files: dict[str, str], cores: int) -> None:
    assert host_facts(root_with(tmp_path, files)).cores == cores


@pytest.mark.parametrize(
    ("files", "memory_bytes"),
    [
        ({}, 1 << 36),
        ({"proc/self/cgroup": "0::/job\n", "sys/fs/cgroup/job/memory.max": "max\n"}, 1 << 36),
        (
            {
                "proc/self/cgroup": "0::/job\n",
                "sys/fs/cgroup/job/memory.max": "8589934592\n",
                "sys/fs/cgroup/job/memory.current": "1\n",
            },
            1 << 33,
        ),
    ],
)
def test_memory_that_may_be_used(
    tmp_path: Path, large_memory: None, files: dict[str, str], memory_bytes: int
) -> None:
    assert host_facts(root_with(tmp_path, files)).memory_bytes == memory_bytes


def test_the_cpu_is_named_as_the_kernel_does(tmp_path: Path) -> None:
    files = {"proc/cpuinfo": "processor\t: 0\nmodel name\t: Intel(R)  Core(TM) i7-6700K CPU @ 4.00GHz\n"}
    assert host_facts(root_with(tmp_path, files)).cpu == "Intel(R) Core(TM) i7-6700K CPU @ 4.00GHz"


@pytest.mark.parametrize(
    ("name", "over_ssh"), [("SSH_CONNECTION", True), ("SSH_TTY", True), ("OTHER", False)]
)
def test_a_terminal_over_ssh(monkeypatch: pytest.MonkeyPatch, name: str, over_ssh: bool) -> None:
    for variable in ("SSH_CONNECTION", "SSH_TTY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv(name, "/dev/pts/3")
    assert host_facts().over_ssh is over_ssh
