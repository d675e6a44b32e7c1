"""`gputrain-tui run --diagnose`: its command line, and the report that it ends with."""

from __future__ import annotations

import subprocess
import sys

import pytest

import gputrain_presets
from gputrain_runner.rounds import Rounds, Trial
from gputrain_runner.settings import initial
from gputrain_runner.timeline import Rate
from gputrain_tui.commands.diagnose import report


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gputrain_tui", "run", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def rate(samples_per_s: float) -> Rate:
    return Rate(samples_per_s=samples_per_s, q25=samples_per_s, q75=samples_per_s, samples=8)


def trial(setting: str, to: object, outcome: str, ratio: float) -> Trial:
    return Trial(
        bottleneck="launch-bound",
        sentence="Starting takes longest.",
        setting=setting,
        from_=1,
        to=to,  # type: ignore[arg-type]
        predicted_ratio=2.3,
        predicted_low=1.9,
        predicted_high=3.0,
        before=rate(1.0),
        after=rate(ratio),
        ratio=ratio,
        drift=1.0,
        outcome=outcome,  # type: ignore[arg-type]
    )


def test_the_report_says_by_what_and_in_which_order() -> None:
    first = initial(gputrain_presets.load("lasagne-mlp"), "cpu")
    last = first.with_value("threads", 1).with_value("models_at_once", 32)
    trials = [
        trial("threads", 1, "kept", 1.2),
        trial("execution", "compiled", "no gain", 0.9),
        trial("models_at_once", 32, "kept", 6.4),
    ]
    told = report(
        Rounds(
            first=rate(11_043.0),
            last=rate(84_120.0),
            ratio=7.62,
            settings_first=first,
            settings_last=last,
            trials=trials,
            limits_now="The network computes all the time.",
            limit_ratio=1.4,
            advice=["a faster device"],
            seconds=100.0,
        ),
        "lasagne-mlp",
    )
    assert told.startswith("lasagne-mlp: from 11,000 to 84,100 samples/s, ×7.62")
    assert told.index("threads") < told.index("models 1 → 32") < told.index("tried and taken back")
    assert told.index("tried and taken back") < told.index("compiled")
    assert "predicted ×2.30 (1.90–3.00)" in told and "measured ×6.40" in told
    assert "samples/s counts all 32 models" in told
    assert "gives at most ×1.40" in told and "a faster device" in told
    assert "gputrain-tui run lasagne-mlp --set models_at_once=32 --set threads=1" in told
    assert all(len(line) <= 100 for line in told.splitlines())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--diagnose", "--steps", "5"], "--steps: --diagnose ends by itself"),
        (["--diagnose", "--epochs", "5"], "--epochs: --diagnose ends by itself"),
        (["--diagnose", "--at", "5:batch_size=8"], "--at: --diagnose chooses itself"),
        (["--allow", "batch_size"], "without --diagnose nothing is turned"),
        (["--diagnose", "--allow", "device"], "allowed: batch_size, precision"),
    ],
)
def test_wrong_command_lines_are_one_line(arguments: list[str], said: str) -> None:
    done = run("lasagne-mlp", *arguments)
    assert done.returncode == 2
    assert said in done.stderr and done.stderr.count("\n") == 1 and done.stdout == ""
