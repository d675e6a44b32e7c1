"""`gputrain-tui run --diagnose`: the rounds of the diagnosis without a screen, and the report of them."""

from __future__ import annotations

import math
import sys
import textwrap
from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from gputrain_runner.measured_run import MeasureError
from gputrain_runner.options import SessionOptions
from gputrain_runner.paths import default_path
from gputrain_runner.recorder import RecordingError
from gputrain_runner.rounds import Diagnosing, Rounds, Trial
from gputrain_runner.settings import Value
from gputrain_runner.steering import Steering
from gputrain_runner.telemetry import Telemetry
from gputrain_runner.timeline import Rate, Summary

from .. import format
from .interruption import Interruption
from .parsing import RunError, UsageError
from .run import Plan
from .table import table

SECONDS = 150.0
"""No new trial begins after so long, where --seconds does not say otherwise: it all ends within 3 minutes."""
WIDTH = 79
DRIFTED = 0.2
"""How far first against last may lie from the product of the trials, as a logarithm, without a word."""


def run(plan: Plan) -> int:
    """Diagnose, try, keep what helps, report; the exit code."""
    telemetry = Telemetry()
    rounds = Diagnosing(plan.allow, seconds=plan.seconds or SECONDS, tell=_say, told=_tell_trial)
    with Interruption() as interruption:
        try:
            steering = Steering(
                _options(plan), telemetry, rounds.take, lambda: interruption.signal is not None
            )
            telemetry.start()
            with steering:
                _say(f"training {plan.preset.name} to see what limits it")
                done = rounds.run(steering)
        except MeasureError as error:
            raise UsageError(str(error)) if error.usage else RunError(str(error)) from None
        except KeyboardInterrupt:
            _say("interrupted before the diagnosis had ended")
            return interruption.exit_code if interruption.signal is not None else 130
        finally:
            telemetry.stop()
    if plan.json:
        print(_as_json(done, steering.summary))
    else:
        print(report(done, plan.preset.name, plan.chosen))
    return 0


def _options(plan: Plan) -> SessionOptions:
    record = plan.record_path
    if plan.record and record is None:
        try:
            record = default_path(datetime.now(UTC), plan.preset.name)
        except RecordingError as error:
            raise UsageError(f"--record: {error}") from None
    if record is not None:
        _say(f"recording to {record}")
    return SessionOptions(
        preset=plan.preset,
        overrides=[(name, str(value)) for name, value in plan.chosen.items()],
        seed=plan.seed,
        command=plan.command,
        probe=plan.probe,
        record=record,
    )


def report(done: Rounds, name: str, chosen: Mapping[str, Value] | None = None) -> str:
    """The report for people; `chosen` are the settings that the command line named."""
    first, last = (format.count(_rounded(rate)) for rate in (done.first, done.last))
    kept = [trial for trial in done.trials if trial.outcome == "kept"]
    lines = [f"{name}: from {first} to {last} samples/s, ×{done.ratio:.2f}", ""]
    if not done.trials:
        lines[0] = f"{name}: {first} samples/s; nothing was found that a setting would help"
    by_trials = math.prod(trial.ratio or 1.0 for trial in kept)
    if kept and abs(math.log(by_trials / done.ratio)) > DRIFTED:
        told = f"The trials by themselves say ×{by_trials:.2f}: the machine's speed has changed meanwhile."
        lines[1:1] = _wrapped(told)
    if kept:
        lines += ["by, in this order:", *table([_row(trial) for trial in kept], left=(0, 1, 2, 3)), ""]
    models = done.settings_last.models_at_once
    if models > 1 and done.settings_first.models_at_once != models:
        lines += [*_wrapped(f"samples/s counts all {models} models that are now trained side by side."), ""]
    rejected = [trial for trial in done.trials if trial.outcome != "kept"]
    if rejected:
        lines += ["tried and taken back:", *table([_row(trial) for trial in rejected], left=(0, 1, 2, 3)), ""]
    if done.limits_now:
        limit = (
            ""
            if done.limit_ratio is None
            else f" Removing that entirely gives at most ×{done.limit_ratio:.2f}."
        )
        lines += [*_wrapped(f"What limits it now: {done.limits_now}{limit}"), ""]
    for advice in done.advice:
        lines += _wrapped(f"- {advice}", "  ")
    for remedy in done.left_alone:
        assert remedy.setting is not None
        change = format.setting_change(remedy.setting, done.settings_last.value(remedy.setting), remedy.to)
        told = f"- {change} predicts ×{remedy.predicted_ratio:.2f} but changes the training"
        told += f"; --allow {remedy.setting} tries it"
        lines += _wrapped(told, "  ")
    settings = [
        f"--set {name}={done.settings_last.value(name)}"
        for name in (done.settings_last.__struct_fields__ if kept else ())
        if name in (chosen or {}) or done.settings_last.value(name) != done.settings_first.value(name)
    ]
    if settings:
        lines += ["", "to train so from the beginning:", f"  gputrain-tui run {name} {' '.join(settings)}"]
    return "\n".join(lines).rstrip()


def _row(trial: Trial) -> tuple[str, ...]:
    change = format.setting_change(trial.setting, trial.from_, trial.to)
    predicted = f"predicted ×{trial.predicted_ratio:.2f}"
    if trial.predicted_low is not None and trial.predicted_high is not None:
        predicted += f" ({trial.predicted_low:.2f}–{trial.predicted_high:.2f})"
    measured = trial.error or ("not measured" if trial.ratio is None else f"measured ×{trial.ratio:.2f}")
    return f"  {change}", predicted, measured, f"[{trial.bottleneck}]"


def _wrapped(text: str, further: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent=further)


def _rounded(rate: Rate) -> float:
    """Three digits: a rate is known no better."""
    return float(f"{rate.samples_per_s:.3g}")


def _tell_trial(trial: Trial) -> None:
    _say("  ".join(part.strip() for part in (*_row(trial), trial.outcome)))


def _as_json(done: Rounds, summary: Summary | None) -> str:
    told = {"diagnosis": msgspec.to_builtins(done), "summary": msgspec.to_builtins(summary)}
    return msgspec.json.format(msgspec.json.encode(told), indent=2).decode()


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
