"""Why is it slow, on a real GPU: what is named, whether that is so, and what the remedy gives."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from msgspec import structs

import gputrain_presets
from diagnosed import Diagnosed, missed, named, of_burst, remedy_to, span_share
from gputrain_runner.ceilings import Ceilings
from gputrain_runner.diagnosis.rules import BY_NAME, names
from gputrain_runner.settings import Value
from gputrain_runner.timeline import Effect, Sample, Verdict
from training_presets import small

Note = Callable[[str, float, str], None]

TOLERANCE = 0.20
"""Of the predicted ratio, within which the measured one is to lie."""
ALIKE = 0.95
"""Two remedies that give as much, within this, may each be named."""
LARGE_BYTES = 40 << 30
"""Of device memory, for ResNet-50 with batches of 256."""


def tell_burst(sample: Sample, name: str, note: Note) -> None:
    """Note what a step was seen to do."""
    burst = of_burst(sample)
    note(f"{name}: step", burst.step_ms, "ms")
    note("  busy", (sample.busy or 0.0) * 100, "%")
    note("  span / step", span_share(sample) * 100, "%")
    note("  dispatch / step", (sample.dispatch_ms or 0.0) / burst.step_ms * 100, "%")
    note("  kernels and copies", burst.launches, "a step")
    note("  calls that launch them", burst.launch_calls or 0.0, "a step")
    note("  waits for the device", burst.sync_count or 0.0, "a step")
    note("  tensor cores / work", (burst.tensor_core_ms or 0.0) / burst.work_ms * 100, "%")
    for kind, work in burst.work.items():
        note(f"  {kind}", work.ms / burst.work_ms * 100, "% of work")


def tell_verdict(verdict: Verdict, name: str, note: Note) -> None:
    """Note what is named, with its slice; the sentence goes to the log that pytest shows on failure."""
    print(f"{name}: {verdict.sentence}", *verdict.evidence, sep="\n  ")
    for finding in verdict.others:
        print(f"  also {finding.bottleneck}: {finding.sentence}")
    step_ms = verdict.step_ms or 0.0
    note(f"{name}: {verdict.bottleneck}", (verdict.slice_ms or 0.0) / (step_ms or 1.0) * 100, "% of step")


def tell_effect(effect: Effect, verdict: Verdict, setting: str, to: str, note: Note) -> None:
    """Note predicted beside measured."""
    name, remedy = f"{setting}={to}", remedy_to(verdict, setting, to)
    if effect.predicted_ratio is not None:
        note(f"  {name}, predicted", effect.predicted_ratio, "x")
        note("    measured / predicted", effect.ratio / effect.predicted_ratio, "")
    if remedy is not None and remedy.predicted_low is not None and remedy.predicted_high is not None:
        note("    predicted at least", remedy.predicted_low, "x")
        note("    predicted at most", remedy.predicted_high, "x")
    note(f"  {name}, measured", effect.ratio, "x")


def test_a_tiny_network_is_launch_bound_and_a_graph_gives_what_was_predicted(
    ceilings: Ceilings, note: Note
) -> None:
    wrong: list[str] = []
    with Diagnosed(gputrain_presets.load("lasagne-mlp"), "cuda:0") as training:
        for path in ("host", "resident"):
            name = f"lasagne-mlp, {path}, eager"
            training.turn(execution="eager")
            training.turn(data_path=path)
            verdict = training.verdict()
            eager = training.profiled()
            tell_burst(eager, name, note)
            tell_verdict(verdict, name, note)
            if verdict.bottleneck != names.LAUNCH:
                wrong.append(f"{path}: named {named(verdict)}")
            elif (verdict.remedies[0].setting, verdict.remedies[0].to) != ("execution", "graph"):
                wrong.append(f"{path}: the first remedy is {verdict.remedies[0]}")
            effect = training.effect("execution", "graph")
            tell_effect(effect, verdict, "execution", "graph", note)
            off = missed(effect, TOLERANCE)
            wrong += [] if off is None else [f"{path}, graph: {off}"]
            wrong += _of_path(path, eager, training.profiled(), note)
    assert not wrong, wrong


def _of_path(path: str, eager: Sample, graph: Sample, note: Note) -> list[str]:
    """What the bursts of both executions must show; what they do not."""
    before, after = of_burst(eager), of_burst(graph)
    tell_burst(graph, f"lasagne-mlp, {path}, graph", note)
    calls, calls_then = before.launch_calls or 0.0, after.launch_calls or 0.0
    must = {
        "a small network spans the step": path == "host" or span_share(eager) > 0.8,
        "and is hardly busy": (eager.busy or 1.0) < 0.5,
        "every kernel is a call": before.launches >= 28 and calls > 0.8 * before.launches,
        "its kinds of work are told apart": {"matmul", "elementwise", "optimizer"} <= set(before.work),
        "nothing but copies waits for the device": (before.sync_count or 0.0) < 1,
        "as a graph the same work is one call": calls_then < 0.5 * calls,
        "which takes about as long": 0.5 < after.work_ms / before.work_ms < 1.6,
        "and the device is busier": (graph.busy or 0.0) > (eager.busy or 1.0),
    }
    if path == "host":
        copied, exposed = before.copy_ms or 0.0, before.copy_exposed_ms or 0.0
        must["a copy has the batch's bytes"] = before.copy_bytes == 1024 * (75 + 10) * 4
        must["and is exposed for as long as it takes at most"] = 0 < exposed <= copied * 1.001
    return [f"{path}: not so: {what}" for what, holds in must.items() if not holds]


def test_what_feeds_a_small_network_is_told_apart_from_what_starts_it(ceilings: Ceilings, note: Note) -> None:
    """Of two things that may limit it, the named one is that whose removal gives more."""
    preset = structs.replace(small("keras-mnist-mlp", 20_000, 0), batch_size=128)
    wrong: list[str] = []
    with Diagnosed(preset, "cuda:0", data_path="host") as training:
        verdict = training.verdict()
        tell_burst(training.profiled(), "keras-mnist-mlp, host", note)
        tell_verdict(verdict, "keras-mnist-mlp, host", note)
        if verdict.bottleneck not in (names.TRANSFER, names.LAUNCH):
            wrong.append(f"host: named {named(verdict)}")
        training.turn(data_path="loader")
        verdict = training.verdict()
        tell_burst(training.profiled(), "keras-mnist-mlp, loader", note)
        tell_verdict(verdict, "keras-mnist-mlp, loader", note)
        slow = training.samples_per_s()
        fed = training.effect("data_path", "resident").after.samples_per_s / slow
        training.turn(data_path="loader")
        started = training.effect("execution", "graph").after.samples_per_s / slow
        note("  data_path=resident instead", fed, "x")
        note("  execution=graph instead", started, "x")
        gains = {names.INPUT: fed, names.LAUNCH: started}
        if gains.get(verdict.bottleneck, 0.0) < ALIKE * max(gains.values()):
            gave = f"fed at once gave ×{fed:.2f}, a graph ×{started:.2f}"
            wrong.append(f"loader: named {named(verdict)}, but {gave}")
        # With nothing left to start, it can only be the loader.
        verdict = training.verdict()
        tell_verdict(verdict, "keras-mnist-mlp, loader, graph", note)
        if verdict.bottleneck != names.INPUT:
            wrong.append(f"loader, graph: named {named(verdict)}")
    assert not wrong, wrong


def test_a_large_network_is_healthy_or_limited_by_memory(ceilings: Ceilings, note: Note) -> None:
    if torch.cuda.get_device_capability(0) < (8, 0):
        pytest.skip("this GPU has no bfloat16")
    if torch.cuda.get_device_properties(0).total_memory < LARGE_BYTES:
        pytest.skip("ResNet-50 with batches of 256 needs a GPU of 40 GB")
    preset = small("resnet", 1024, 0)
    chosen: dict[str, Value] = {"batch_size": 256, "precision": "bf16", "data_path": "resident"}
    wrong: list[str] = []
    with Diagnosed(preset, "cuda:0", **chosen) as training:
        for layout in ("channels_first", "channels_last"):
            name = f"resnet-50, bf16, 256, {layout}"
            training.turn(memory_format=layout)
            verdict = training.verdict()
            burst = training.profiled()
            tell_burst(burst, name, note)
            tell_verdict(verdict, name, note)
            if names.LAUNCH in named(verdict):
                wrong.append(f"{layout}: named {named(verdict)}")
            work = of_burst(burst)
            if work.work_ms / work.step_ms < 0.8 or (work.tensor_core_ms or 0.0) < 0.2 * work.work_ms:
                wrong.append(f"{layout}: works {work.work_ms} ms, on tensor cores {work.tensor_core_ms}")
            if not {"convolution", "normalisation", "elementwise", "optimizer"} <= set(work.work):
                wrong.append(f"{layout}: works on {sorted(work.work)}")
        # The layout is a bottleneck of its own; with the right one nothing is left to be named but health.
        if not BY_NAME[verdict.bottleneck].healthy:
            wrong.append(f"{layout}: named {named(verdict)}")
    assert not wrong, wrong


def test_a_loop_over_time_is_an_unfused_recurrence(ceilings: Ceilings, note: Note) -> None:
    preset = structs.replace(small("hier-bilstm", 6400, 0), batch_size=32)
    with Diagnosed(preset, "cuda:0", recurrence="stepwise") as training:
        verdict = training.verdict()
        tell_burst(training.profiled(), "hier-bilstm, stepwise", note)
        tell_verdict(verdict, "hier-bilstm, stepwise", note)
        effect = training.effect("recurrence", "fused")
        tell_effect(effect, verdict, "recurrence", "fused", note)
    assert verdict.bottleneck == names.RECURRENCE, named(verdict)
    assert (verdict.remedies[0].setting, verdict.remedies[0].to) == ("recurrence", "fused")
    assert effect.predicted_ratio is not None
    assert effect.predicted_ratio > 1 and effect.ratio > 1
