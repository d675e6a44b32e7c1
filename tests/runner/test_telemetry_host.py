"""What telemetry says of the host, the worker and this program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gputrain_runner.telemetry.cgroup import find_memory_limit
from simulated_driver.watched import WatchedTelemetry


def test_host_values(no_library: dict[str, str]) -> None:
    with WatchedTelemetry(no_library) as watched:
        watched.tell("start")
        host = watched.until(lambda reading: reading.host.screen_cpu_utilisation is not None).host
        host = watched.until(lambda reading: reading.host.cpu_utilisation is not None).host
    assert 0 <= host.cpu_utilisation <= 1
    assert 0 < host.memory_used_bytes < host.memory_total_bytes
    assert host.screen_cpu_utilisation >= 0
    assert host.worker_cpu_utilisation is host.worker_rss_bytes is None


def test_worker_with_its_children(no_library: dict[str, str]) -> None:
    """The worker itself sleeps; the child it started does not."""
    busy = "while True: pass"
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {busy!r}])"
    group = subprocess.Popen([sys.executable, "-c", script], process_group=0)
    try:
        with WatchedTelemetry(no_library) as watched:
            watched.tell("start")
            watched.tell("watch", group.pid)
            host = watched.until(lambda reading: (reading.host.worker_cpu_utilisation or 0) > 0.05).host
            assert host.worker_rss_bytes > 1_000_000
            subprocess.run(["kill", "-9", "--", f"-{group.pid}"], check=True)
            # Not yet waited for: there is an entry in the process table, and nothing in it.
            watched.until(lambda reading: reading.host.worker_rss_bytes is None)
            group.wait()
            reading = watched.until(lambda reading: reading.host.worker_cpu_utilisation is None)
            assert reading.host.memory_used_bytes is not None
    finally:
        if group.poll() is None:
            subprocess.run(["kill", "-9", "--", f"-{group.pid}"], check=False)
            group.wait()


def test_worker_that_never_was(no_library: dict[str, str]) -> None:
    with WatchedTelemetry(no_library) as watched:
        watched.tell("start")
        watched.tell("watch", 2**22 + 1)
        host = watched.until(lambda reading: reading.host.cpu_utilisation is not None).host
    assert host.worker_cpu_utilisation is host.worker_rss_bytes is None


def write(folder: Path, **texts: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name.replace("__", ".")).write_text(text)


@pytest.mark.parametrize("own", ["0::/job/step\n", "0::/\n", "0::/../elsewhere\n"])
def test_memory_limit_of_a_control_group(tmp_path: Path, own: str) -> None:
    root = tmp_path / "cgroup"
    limited = root / "job" if own == "0::/job/step\n" else root
    write(root, memory__max="max\n")
    write(root / "job" / "step", memory__max="9000000\n", memory__current="1\n")
    write(
        limited,
        memory__max="5000000\n",
        memory__current="3000000\n",
        memory__stat="anon 1\nactive_file 2\ninactive_file 1000000\n",
    )
    (tmp_path / "own").write_text(own)
    limit = find_memory_limit(root, tmp_path / "own")
    assert limit is not None
    assert limit.read() == (2_000_000, 5_000_000)


def test_memory_limit_of_an_older_control_group(tmp_path: Path) -> None:
    root = tmp_path / "cgroup"
    write(root / "memory", memory__limit_in_bytes=f"{2**63 - 4096}\n", memory__usage_in_bytes="7\n")
    write(
        root / "memory" / "box",
        memory__limit_in_bytes="4096000\n",
        memory__usage_in_bytes="2048000\n",
        memory__stat="cache 9\ntotal_inactive_file 48000\n",
    )
    (tmp_path / "own").write_text("5:cpu:/box\n4:memory:/box\n0::/\n")
    limit = find_memory_limit(root, tmp_path / "own")
    assert limit is not None
    assert limit.read() == (2_000_000, 4_096_000)
    (root / "memory" / "box" / "memory.usage_in_bytes").unlink()
    assert limit.read() is None


def test_no_memory_limit(tmp_path: Path) -> None:
    root = tmp_path / "cgroup"
    write(root, memory__max="max\n", memory__current="3\n")
    (tmp_path / "own").write_text("0::/\n")
    assert find_memory_limit(root, tmp_path / "own") is None
    assert find_memory_limit(root, tmp_path / "nowhere") is None
