"""In which order the GPU's tests run, so that the most telling come first, and how long they may take."""

from __future__ import annotations

from collections.abc import Iterable

BUDGET_S = 360.0
"""All of them together."""
LAST_START_S = 325.0
"""After so long none begins any more: what is left out is said, and the table comes in time."""

FIRST: tuple[tuple[str, str], ...] = (
    # They judge a GPU that nobody else uses: this process has not touched it before them.
    ("test_verdicts_on_gpu", ""),
    ("test_telemetry_on_gpu", ""),
    ("test_execution_on_gpu", "test_how_much_faster_a_graph_is"),
    ("test_probe_on_gpu", ""),
    ("test_training_on_gpu", "test_cpu_to_gpu_and_back_keeps_the_loss_curve"),
    ("test_training_on_gpu", "test_out_of_memory_by_batch_size_and_the_way_back"),
    ("test_execution_on_gpu", "test_statistics_are_the_same_before_and_after_a_capture"),
    ("test_execution_on_gpu", "test_a_graph_has_the_losses_of_eager_steps"),
    ("test_precision_on_gpu", "test_every_preset_learns"),
    ("test_data_paths_on_gpu", ""),
    ("test_sweep_on_gpu", ""),
    ("test_training_on_gpu", "test_a_run_on_the_gpu_has_device_times_and_telemetry"),
    ("test_upgrade_on_gpu", ""),
    ("test_crossover_on_gpu", ""),
)
"""Files, and tests of a file by the beginning of their names; "" is all that are not named otherwise."""

LAST: tuple[tuple[str, str], ...] = (
    # What takes long for what it tells: compilers, and what only a comparison of whole sessions shows.
    ("test_execution_on_gpu", "test_compiled_steps_on_the_gpu"),
    ("test_execution_on_gpu", "test_what_compiles_ends_with_the_worker"),
    ("test_precision_on_gpu", "test_tf32_goes_with_torch_compile"),
    ("test_bursts_on_gpu", "test_bursts_cost_little"),
)
"""The same for what comes after everything else."""


def place(file: str, test: str) -> tuple[int, int]:
    """Where a test belongs, to sort by.

    Args:
        file: its file's name without the ending.
        test: its name, with or without parameters.
    """
    for group, entries in ((0, FIRST), (2, LAST)):
        at = _position(entries, file, test)
        if at is not None and (group == 2 or _position(LAST, file, test) is None):
            return group, at
    return 1, 0


def too_late(elapsed_s: float) -> str | None:
    """Why no further test may begin after so many seconds; None where one may."""
    if elapsed_s < LAST_START_S:
        return None
    return f"left out: {elapsed_s:.0f} of {BUDGET_S:.0f} s are over"


def table(figures: Iterable[tuple[str, float, str]]) -> list[str]:
    """The lines of the table, of names, values and units."""
    return [f"{name:<66} {_number(value):>16} {unit}".rstrip() for name, value, unit in figures]


def _number(value: float) -> str:
    """Three digits after the point, or in powers of ten where those would show nothing."""
    return f"{value:,.3f}" if value == 0 or 1e-2 <= abs(value) < 1e12 else f"{value:.3g}"


def _position(entries: tuple[tuple[str, str], ...], file: str, test: str) -> int | None:
    """Of the entry for that very test, else of the one for its whole file."""
    named = [at for at, (of, name) in enumerate(entries) if of == file and name and test.startswith(name)]
    whole = [at for at, (of, name) in enumerate(entries) if of == file and not name]
    return next(iter([*named, *whole]), None)
