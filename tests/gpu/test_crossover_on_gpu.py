"""Where a GPU overtakes the CPU, on both: the question of whether a small network belongs on one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from gputrain_runner.crossover import Contender, Crossover, Finder, batch_ladder
from gputrain_runner.options import SessionOptions
from gputrain_runner.steering import Steering
from training_presets import small

Note = Callable[[str, float, str], None]

NAMES = ("cpu", "cuda:0")


def found_over_batches() -> Crossover:
    """Every fourth batch size of the ladder, up to some thousands."""
    preset = small("keras-mnist-mlp", 20_000, 0)
    ladder = batch_ladder(preset)[::2]
    overrides = [("device", NAMES[0]), ("batch_size", str(ladder[0].value))]
    options = SessionOptions(preset=preset, overrides=overrides, report_every_s=0.1, profile_every_s=None)
    with Steering(options) as steering:
        steering.wait_until_training()
        pair = Contender(NAMES[0]), Contender(NAMES[1])
        return Finder(steering, "batch_size", ladder, pair).find()


def test_the_crossing_of_cpu_and_gpu_is_found_or_who_is_faster_everywhere(note: Note) -> None:
    found = found_over_batches()
    faster: dict[int, int] = {}
    for rung in sorted(found.curves[0].ms):
        one, other = (curve.ms[rung] for curve in found.curves)
        assert one is not None and other is not None, [curve.errors for curve in found.curves]
        faster[rung] = 0 if one <= other else 1
        note(f"keras-mnist-mlp, batch {found.ladder[rung].value}: cpu", one, "ms/step")
        note("  cuda:0", other, "ms/step")
    assert len(faster) >= 3
    changes = [(low, high) for low, high in pairwise(faster) if faster[low] != faster[high]]
    assert found.faster_small == faster[min(faster)]
    if found.between is None:
        assert changes == []
        note(f"  {NAMES[faster[0]]} is faster at every batch size", 1, "")
        return
    low, high = found.between
    assert high == low + 1 and found.between in changes
    assert found.at is not None
    assert found.ladder[low].x <= found.at <= found.ladder[high].x
    note("  they cross at a batch of", found.at, "samples")
    if found.fitted is not None:
        note("  their lines meet at", found.fitted, "samples")
