"""What `gputrain-tui run` is made of: its lines, its progress, its result, and how signals end it."""

import io
import subprocess
import sys

import pytest
from msgspec import structs

import gputrain_presets
from gputrain_runner import settings
from gputrain_runner.timeline import (
    Change,
    Effect,
    Entry,
    FinalValidation,
    Message,
    Rate,
    Sample,
    Summary,
    Validation,
)
from gputrain_tui.commands.narration import Narrator
from gputrain_tui.commands.progress import Forgiving, Limit, Position, Tracker, facts, fitting_facts
from gputrain_tui.commands.result import result_text

PRESET = gputrain_presets.load("lasagne-mlp")
SETTINGS = settings.initial(PRESET, "cpu")


def change(**fields: object) -> Change:
    made = Change(t=61.5, step=1000, setting="batch_size", from_=256, to=512, ok=True, applied_in_ms=12.34)
    return structs.replace(made, **fields)


def effect(change_at: int, **fields: object) -> Effect:
    before = Rate(samples_per_s=100_000.0, q25=99_000.0, q75=101_000.0, samples=8)
    after = structs.replace(before, samples_per_s=193_000.0)
    told = Effect(
        t=65.0, change=change_at, before=before, after=after, ratio=1.93, ratio_low=1.9, ratio_high=1.96
    )
    return structs.replace(told, **fields)


def sample(t: float, step: int, epoch: int = 0, **fields: object) -> Sample:
    made = Sample(t=t, step=step, epoch=epoch, settings=SETTINGS, steady=True, steps_per_s=100.0)
    return structs.replace(made, **fields)


def validation(epoch: int, accuracy: float | None = None) -> Validation:
    return Validation(epoch=epoch, host_ms=5.0, samples=100, loss=0.03124, accuracy=accuracy)


def lines(*entries: Entry, first: int = 0, told_last: str | None = None) -> list[str]:
    return list(Narrator().lines(first, entries, told_last))


def test_a_change_and_its_effect_are_a_line_each() -> None:
    told = lines(sample(1.0, 100), change(), sample(2.0, 200), effect(8), first=7)

    assert told == [
        "01:01 step 1,000: batch 256 → 512, in 12.3 ms",
        "01:05 effect of batch 256 → 512: ×1.93 (1.90–1.96), 100 k → 193 k samples/s",
    ]


def test_the_effect_of_a_quick_chain_names_all_of_it() -> None:
    narrator = Narrator()
    list(narrator.lines(0, [change(), change(from_=512, to=1024)]))

    (told,) = narrator.lines(2, [effect(1, since=0)])

    assert told.startswith("01:05 effect of batch 256 → 1024: ×1.93")


def test_the_effect_of_changes_of_several_settings_says_so() -> None:
    narrator = Narrator()
    list(narrator.lines(0, [change(), change(setting="model_size", from_="x1", to="x2", applied_in_ms=None)]))

    (told,) = narrator.lines(2, [effect(1, since=0)])

    assert told.startswith("01:05 effect of the changes up to size ×1 → ×2: ×1.93")


def test_a_change_that_failed_says_why_and_what_is_in_force() -> None:
    told = lines(change(ok=False, error="needs about 160 GB, 139 are free", to=65536, from_=8192))

    assert told == ["01:01 step 1,000: batch 65536 → back to 8192: needs about 160 GB, 139 are free"]


def test_messages_are_told_but_the_one_that_ends_the_program() -> None:
    told = lines(
        Message(t=1.0, level="info", text="paused"),
        Message(t=2.0, level="warning", text="hot"),
        Message(t=3.0, level="error", text="worker gone"),
        told_last="worker gone",
    )

    assert told == ["00:01 paused", "00:02 warning: hot"]


def test_validations_are_told_at_most_every_five_seconds() -> None:
    told = lines(
        sample(1.0, 10, 1, validation=validation(1)),
        sample(2.0, 20, 2, validation=validation(2)),
        sample(6.5, 60, 6, validation=validation(6, accuracy=0.971)),
    )

    assert told == [
        "00:01 epoch 1: validation loss 0.0312",
        "00:06 epoch 6: validation loss 0.0312, accuracy 97.1 %",
    ]


def test_progress_is_followed_through_epochs_and_changes_of_the_batch_size() -> None:
    tracker, of = Tracker(), 100 * 1024
    tracker.take(sample(1.0, 0, steps_per_s=None), of)
    tracker.take(sample(2.0, 50, samples_per_s=51_200.0, loss=0.5, trained_s=0.5), of)
    # Half of an epoch's samples by now; 25 steps more of twice the batch size are the other half.
    larger = structs.replace(SETTINGS, batch_size=2048)
    tracker.take(sample(2.5, 75, settings=larger, loss=None, trained_s=1.0), of)

    position = tracker.position
    assert (position.step, position.loss, position.samples_per_s) == (75, 0.5, 51_200.0)
    assert position.epochs == pytest.approx(1.0)
    assert position.trained_s == pytest.approx(1.0)

    tracker.take(sample(3.0, 100, 1), of)
    assert tracker.position.epochs == pytest.approx(1.25)


@pytest.mark.parametrize(("drop_last", "steps"), [(True, 2), (False, 3)])
def test_an_epoch_that_has_just_ended_is_the_one_that_is_told(drop_last: bool, steps: int) -> None:
    tracker, of = Tracker(drop_last), 2 * 1024 + 500
    tracker.take(sample(1.0, steps, epoch=1), of)

    assert tracker.position.epochs == 1.0
    assert facts(tracker.position, Limit(steps=steps)).startswith(f"step {steps} of {steps}  epoch 1  ")
    tracker.take(sample(1.0, steps + 1, epoch=1), of)
    assert facts(tracker.position, Limit()).startswith(f"step {steps + 1}  epoch 2  ")


def test_time_that_was_no_training_is_not_counted() -> None:
    tracker = Tracker()
    tracker.take(sample(41.0, 3, trained_s=0.5), 10_000)
    tracker.take(sample(42.0, 3, trained_s=None), 10_000)  # Of host and GPUs alone, in a pause.

    assert Limit(seconds=2.0).done(tracker.position) == 0.25


@pytest.mark.parametrize(
    ("limit", "width", "shown"),
    [
        (Limit(), 80, "step 12,345  epoch 3  1.84 M samples/s  loss 0.0312  02:01"),
        (Limit(steps=99_000), 60, "step 12,345 of 99,000  1.84 M samples/s  loss 0.0312  02:01"),
        (Limit(steps=99_000), 53, "step 12,345 of 99,000  1.84 M/s  loss 0.0312  02:01"),
        (Limit(epochs=9), 53, "epoch 3 of 9  1.84 M samples/s  loss 0.0312  02:01"),
        (Limit(steps=99_000), 45, "step 12,345 of 99,000  1.84 M/s  loss 0.0312"),
        (Limit(steps=99_000), 20, "step 12,345 of 99,000  1.84 M/s"),
    ],
)
def test_what_tells_least_goes_first_where_room_is_short(limit: Limit, width: int, shown: str) -> None:
    position = Position(step=12_345, epochs=2.5, samples_per_s=1_843_210.0, loss=0.03124)

    assert fitting_facts(position, limit, elapsed_s=121.0, width=width) == shown


@pytest.mark.parametrize(
    ("limit", "done"),
    [
        (Limit(), None),
        (Limit(steps=200), 0.25),
        (Limit(steps=40), 1.0),
        (Limit(seconds=8.0), 0.5),
        (Limit(epochs=5), 0.3),
    ],
)
def test_how_much_is_done_depends_on_the_limit(limit: Limit, done: float | None) -> None:
    assert limit.done(Position(step=50, epochs=1.5, trained_s=4.0)) == done


def test_facts_name_the_limit() -> None:
    position = Position(step=1234, epochs=2.5, samples_per_s=1_843_210.0, loss=0.03124)

    assert facts(position, Limit()) == "step 1,234  epoch 3  1.84 M samples/s  loss 0.0312"
    assert facts(position, Limit(steps=2000)).startswith("step 1,234 of 2,000  epoch 3  ")
    assert facts(Position(step=9, epochs=3.0), Limit(epochs=3)).startswith("step 9  epoch 3 of 3  ")
    assert facts(Position(step=9, trained_s=4.2), Limit(seconds=30.0)).startswith(
        "4 of 30 s  step 9  epoch 1"
    )
    assert facts(Position(step=1), Limit()) == "step 1  epoch 1  n/a samples/s  loss n/a"


def test_a_stream_that_fails_is_forgiven() -> None:
    stream = io.StringIO()
    forgiving = Forgiving(stream)
    forgiving.write("seen")
    assert stream.getvalue() == "seen"
    stream.close()

    forgiving.write("unseen")
    forgiving.flush()


def test_a_result_leaves_out_what_there_is_not() -> None:
    summary = Summary(
        ended="interrupted",
        error=None,
        seconds=75.0,
        steps=12_402,
        epochs=0,
        samples=12_699_648,
        samples_per_s=None,
        loss_first=0.6,
        loss_last=0.0312,
        validation=None,
        changes=0,
        effects=0,
    )

    assert result_text(summary, PRESET, None).splitlines() == [
        "lasagne-mlp  interrupted after 00:01:15",
        "steps        12,402, epochs 0, samples 12,699,648",
        "samples/s    n/a (it ended before the rate was steady)",
        "loss         0.600 → 0.0312",
    ]
    more = structs.replace(
        summary, changes=2, effects=1, validation=FinalValidation(loss=0.1, accuracy=0.971)
    )
    text = result_text(more, PRESET, None)
    assert "accuracy         97.1 %" in text
    assert "changes          2, effects measured 1" in text


INTERRUPTED = """
import os, signal, sys
from gputrain_tui.commands.interruption import Interruption
{before}
with Interruption() as interruption:
    interruption.on_kill(lambda: print("killed", flush=True))
    for name in sys.argv[1:]:
        os.kill(os.getpid(), getattr(signal, name))
        print(name, interruption.signal, flush=True)
sys.exit(interruption.exit_code if interruption.signal else 0)
"""


def interrupted(*signals: str, before: str = "") -> tuple[int, list[str]]:
    """Exit code and output of a program that sends itself these signals."""
    code = INTERRUPTED.format(before=before)
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, *signals], capture_output=True, text=True, timeout=30, check=False
    )
    assert not done.stderr
    return done.returncode, done.stdout.splitlines()


def test_the_first_signal_is_noted() -> None:
    assert interrupted("SIGINT") == (130, ["SIGINT 2"])
    assert interrupted("SIGTERM") == (143, ["SIGTERM 15"])


def test_the_second_signal_lets_it_end_well_all_the_same() -> None:
    assert interrupted("SIGINT", "SIGINT") == (130, ["SIGINT 2", "SIGINT 2"])
    assert interrupted("SIGTERM", "SIGINT") == (143, ["SIGTERM 15", "SIGINT 15"])


def test_the_third_signal_ends_the_program_at_once() -> None:
    assert interrupted("SIGTERM", "SIGINT", "SIGINT") == (130, ["SIGTERM 15", "SIGINT 15", "killed"])


def test_a_signal_that_was_ignored_stays_so() -> None:
    before = "signal.signal(signal.SIGHUP, signal.SIG_IGN)"

    assert interrupted("SIGHUP", before=before) == (0, ["SIGHUP None"])
