"""Training speed under the app, all panels live, against a bare PyTorch loop doing the same work.

Pairs of runs in turn, so that the machine's drift hits both alike; the ratio is taken pair by pair.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from measuring import app, line, median, spread

SECONDS = 6.0


def bare(batch_size: int) -> float:
    """Samples/s of the bare loop; its first second is warm-up."""
    script = Path(__file__).with_name("bare_loop.py")
    command = [sys.executable, str(script), "lasagne-mlp", str(batch_size), str(SECONDS + 1)]
    rates: list[float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return sum(rates[1:]) / len(rates[1:])


def under_app(batch_size: int) -> float:
    """Samples/s under the app, over its steady samples (each counts every step of its window)."""
    arguments = ["--preset", "lasagne-mlp", "--device", "cpu", "--batch-size", str(batch_size)]
    with app(*arguments) as running:
        time.sleep(SECONDS)
        samples = [entry for entry in running.timeline() if entry["kind"] == "sample"]
    rates = [sample["samples_per_s"] for sample in samples if sample["steady"] and sample["samples_per_s"]]
    return float(sum(rates) / len(rates))


def measure(pairs: int = 5) -> list[dict[str, Any]]:
    """The ratio at both batch sizes."""
    lines = []
    for batch_size in (1024, 32):
        ratios, absolute = [], []
        for pair in range(pairs):
            if pair % 2:
                of_app, of_bare = under_app(batch_size), bare(batch_size)
            else:
                of_bare = bare(batch_size)
                of_app = under_app(batch_size)
            ratios.append(of_app / of_bare)
            absolute.append(of_app)
        ratio = median(ratios)
        detail = f"{spread(ratios)}; {median(absolute):,.0f} samples/s under the app"
        lines.append(
            line(
                f"app / bare loop, lasagne-mlp, batch {batch_size}",
                ratio,
                "",
                ">= 0.95",
                ratio >= 0.95,
                detail,
            )
        )
    return lines


if __name__ == "__main__":
    measure(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
