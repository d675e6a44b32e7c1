"""Whether `compare`'s intervals hold on this machine: pairs of real runs at batch 64 and at batch 128.

python tests/bench/compare_coverage.py [PAIRS] [SECONDS] [FOLDER]. The runs of a pair follow one another, as a
user's do. The ratio that is known to a pair is the median of all other pairs'; the interval told for the pair
must cover it 18 times out of 20. Runs at the same batch size, one pair's against the next one's, must seldom
be called different. On one thread: where two share a virtual machine's cores, whole runs are at times half as
fast as others, by where the machine was put, which no recording can know. FOLDER keeps the recordings; those
that are there already are not made again.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from gputrain_runner.recordings import RecordingFile
from gputrain_runner.recordings.bootstrap import Ratio
from gputrain_runner.recordings.compare import compare, side
from measuring import line, median
from terminal import PROGRAM

PAIRS = 20
SECONDS = 10.0
BATCHES = (64, 128)
LEAST = 0.9
MOST_CALLED_DIFFERENT = 0.15


def measure(pairs: int = PAIRS, seconds: float = SECONDS, folder: Path | None = None) -> list[dict[str, Any]]:
    """How many intervals cover the known ratio, and how many equal runs are called different."""
    with tempfile.TemporaryDirectory() as made:
        kept = Path(made) if folder is None else folder
        runs = [tuple(_run(kept, number, batch, seconds) for batch in BATCHES) for number in range(pairs)]
        told = [_rate(a, b) for a, b in runs]
        again = [_rate(runs[n][at], runs[n + 1][at]) for n in range(pairs - 1) for at in (0, 1)]
    known = [median([each.ratio for m, each in enumerate(told) if m != n]) for n in range(pairs)]
    covered = sum(each.low <= ratio <= each.high for each, ratio in zip(told, known, strict=True)) / pairs
    different = sum(each.beyond_noise for each in again) / len(again)
    ratios = [each.ratio for each in told]
    widths = [each.high / each.low - 1 for each in told]
    detail = f"{pairs} pairs: {min(ratios):.3f}-{max(ratios):.3f}, known {median(ratios):.3f}"
    detail += f"; intervals {median(widths):.1%} wide, {min(widths):.1%}-{max(widths):.1%}"
    return [
        line("intervals that cover the known ratio", covered, "", f">= {LEAST}", covered >= LEAST, detail),
        line(
            "equal runs called different",
            different,
            "",
            f"<= {MOST_CALLED_DIFFERENT}",
            different <= MOST_CALLED_DIFFERENT,
            f"of {len(again)}",
        ),
    ]


def _run(folder: Path, number: int, batch: int, seconds: float) -> Path:
    """A recording of so many seconds at that batch size."""
    path = folder / f"{number:02d}-{batch}.json"
    if not path.exists():
        command = [
            PROGRAM,
            "run",
            "lasagne-mlp",
            "--device",
            "cpu",
            "--batch-size",
            str(batch),
            "--set",
            "threads=1",
        ]
        command += ["--seconds", str(seconds), "--record", str(path), "--json"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return path


def _rate(a: Path, b: Path) -> Ratio:
    """What `compare` tells of the samples/s of two recordings."""
    found = compare(side(RecordingFile(a)), side(RecordingFile(b)))
    told = next(row.ratio for row in found.rows if row.name == "samples/s")
    assert told is not None
    return told


if __name__ == "__main__":
    given = sys.argv[1:]
    measure(
        int(given[0]) if given else PAIRS,
        float(given[1]) if len(given) > 1 else SECONDS,
        Path(given[2]) if len(given) > 2 else None,
    )
