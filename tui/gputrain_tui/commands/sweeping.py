"""A sweep on the command line: planned, run, told."""

from __future__ import annotations

import argparse

from msgspec import structs

from gputrain_runner.asking import AskError, hello
from gputrain_runner.ceilings import Probe
from gputrain_runner.machine import host_facts
from gputrain_runner.options import canonical_device
from gputrain_runner.probe_store import stored
from gputrain_runner.protocol import Hello
from gputrain_runner.sweep import Plan, PointResult, Sweep, SweepError, SweepFile, plan_points
from gputrain_runner.sweep.engine import Progress
from gputrain_runner.sweep.result import SweepFileError
from gputrain_runner.sweep.watching import Watching
from gputrain_runner.telemetry import Telemetry

from .. import sweep_text
from .interruption import Interruption
from .parsing import RunError, UsageError
from .sweep import about, grid_of, json_path, presets_of, rounds_of, say, write_csv


def run(options: argparse.Namespace, arguments: list[str], resumed: SweepFile | None) -> int:
    """Measure what the options ask for; the exit code."""
    presets = presets_of(options)
    over, fixed = grid_of(options, list(presets.values()))
    devices = [canonical_device(each) for each in options.device] or [_best_device()]
    points = plan_points(list(presets.values()), devices, options.passes, over, fixed)
    plan = Plan(
        points=points,
        runs=options.runs,
        warmup=options.warmup,
        rounds=rounds_of(options),
        point_seconds=options.point_seconds,
        seed=options.seed,
    )
    _check_same(plan, resumed)
    path = options.json if resumed is not None else json_path(options)
    telemetry = Telemetry()
    telemetry.start()
    watching = Watching(telemetry.latest)
    command = list(resumed.command) if resumed is not None else ["gputrain-tui", "sweep", *arguments]
    say(f"{len(points)} points, {plan.rounds} rounds; {path}")
    try:
        with Interruption() as interruption:
            sweep = Sweep(
                plan,
                {preset.name: preset for preset in presets.values()},
                path,
                command=command,
                resumed=resumed,
                shared=options.share_process,
                probe=_stored_probe,
                watching=watching,
                tell=_tell,
                interrupted=lambda: interruption.signal is not None,
            )
            try:
                done = sweep.run()
            except KeyboardInterrupt:
                say(f"interrupted; `gputrain-tui sweep --json {path} --resume` goes on")
                return interruption.exit_code if interruption.signal is not None else 130
    except (SweepError, SweepFileError) as error:
        raise RunError(str(error)) from None
    finally:
        watching.close()
        telemetry.stop()
    print(sweep_text.as_text(done))
    if options.csv is not None:
        write_csv(options.csv, list(sweep_text.csv_rows(done)))
    return 0 if any(each.outcome in ("ok", "out_of_memory") for each in done.points) else 1


def _best_device() -> str:
    """The first that PyTorch can use, best first."""
    try:
        return hello().devices[0].device
    except AskError as error:
        raise RunError(str(error)) from None


def _stored_probe(said: Hello) -> Probe:
    """The ceilings kept of this machine's devices."""
    return stored(said.devices, structs.replace(host_facts(), torch=said.torch, cuda=said.cuda))


def _check_same(plan: Plan, resumed: SweepFile | None) -> None:
    """A sweep is gone on with as it was begun."""
    if resumed is None:
        return
    for name in ("runs", "warmup", "rounds"):
        now, then = getattr(plan, name), getattr(resumed, name)
        if now != then:
            raise UsageError(f"--resume: the sweep was begun with --{name} {then}, not {now}")
    known = {point.key for point in plan.points}
    if any(point.key not in known for point in resumed.points):
        raise UsageError("--resume: the file holds points of another grid; --json names a new file")


def _tell(result: PointResult, progress: Progress) -> None:
    shown = f"{result.ms.median:.4g} ms" if result.ms is not None else sweep_text.MISSING[result.outcome]
    noisy = " noisy" if result.noisy else ""
    rounds = f", round {progress.round} of {progress.rounds}" if progress.rounds > 1 else ""
    say(
        f"[{progress.done}/{progress.of}{rounds}] {sweep_text.label(result)}: {shown}{noisy}"
        f"{about(progress.left_s)}"
    )
