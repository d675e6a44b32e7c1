"""Remedies: what is offered, what it predicts, and what another card would give."""

from __future__ import annotations

import pytest
from msgspec import structs

from diagnosis_cases import CASES
from diagnosis_cpu_cases import on_cpu, slow_loader_cpu, tiny_batch_cpu
from diagnosis_gpu_cases import busy_gpu, on_gpu
from diagnosis_parts import profile, times, work
from gputrain_runner.diagnosis import Inputs, diagnose, judge, verdict
from gputrain_runner.diagnosis.inputs import Measured
from gputrain_runner.diagnosis.rules import names
from gputrain_runner.settings import Value
from gputrain_runner.timeline import Finding, Remedy


def finding(inputs: Inputs, name: str) -> Finding:
    return next(one for one in diagnose(inputs) if one.bottleneck == name)


def remedy(inputs: Inputs, name: str, setting: str) -> Remedy | None:
    return next((one for one in finding(inputs, name).remedies if one.setting == setting), None)


def offered(inputs: Inputs) -> list[tuple[str | None, Value]]:
    return [(one.setting, one.to) for each in diagnose(inputs) for one in each.remedies]


def test_only_what_works_on_the_device_is_offered() -> None:
    for inputs in (tiny_batch_cpu(), slow_loader_cpu(), on_cpu()):
        settings = [setting for setting, _ in offered(inputs)]
        values = [to for _, to in offered(inputs)]
        assert "graph" not in values
        assert "pinned" not in values
        assert "tf32" not in values
        assert settings
    old = structs.replace(on_gpu().devices[0], compute_capability="6.1")
    pascal = structs.replace(on_gpu(), devices=[old])
    assert not {("precision", "tf32"), ("precision", "bf16")} & set(offered(pascal))


def test_what_is_so_already_is_not_offered() -> None:
    base = on_gpu()
    graph = structs.replace(base, settings=structs.replace(base.settings, execution="graph"))
    assert ("execution", "graph") not in offered(graph)


def test_what_failed_in_this_session_is_not_offered_again() -> None:
    failed = structs.replace(on_gpu(), failed=[("execution", "graph")])
    assert ("execution", "graph") in offered(on_gpu())
    assert ("execution", "graph") not in offered(failed)


def test_what_was_measured_before_takes_the_prediction_s_place() -> None:
    base = on_gpu()
    assert base.step is not None and base.step.samples_per_s is not None
    graph = structs.replace(base.settings, execution="graph")

    def having_seen(ratio: float) -> Inputs:
        assert base.step is not None and base.step.samples_per_s is not None
        seen = Measured(settings=graph, step_ms=0.5, samples_per_s=ratio * base.step.samples_per_s)
        return structs.replace(base, measured=[seen])

    told = remedy(having_seen(2.0), names.LAUNCH, "execution")
    assert told is not None and told.predicted_ratio == pytest.approx(2.0)
    assert "measured earlier" in told.why
    assert ("execution", "graph") not in offered(having_seen(0.9))


def test_a_batch_that_would_not_fit_in_memory_is_not_offered() -> None:
    base = on_gpu()
    assert base.memory is not None
    full = structs.replace(base, memory=structs.replace(base.memory, peak_allocated_bytes=100 * 10**9))
    assert "batch_size" in [setting for setting, _ in offered(base)]
    assert "batch_size" not in [setting for setting, _ in offered(full)]


def test_what_changes_the_training_comes_after_what_does_not() -> None:
    remedies = finding(on_gpu(), names.LAUNCH).remedies
    meaning = [one.keeps_meaning for one in remedies if one.setting is not None]
    assert meaning == sorted(meaning, reverse=True)
    assert {one.setting: one.keeps_meaning for one in remedies}["models_at_once"]


def test_data_read_file_by_file_are_not_offered_to_lie_in_memory() -> None:
    base = slow_loader_cpu()
    assert base.workload is not None
    files = structs.replace(base, workload=structs.replace(base.workload, in_memory=False))
    paths = {to for setting, to in offered(files) if setting == "data_path"}
    assert not paths & {"host", "resident"}


def test_the_crossing_with_the_cpu_is_told_from_lines_through_what_was_tried() -> None:
    inputs, _ = CASES["slower than the CPU"]
    evidence = finding(inputs, names.SLOWER_THAN_CPU).evidence
    # CPU: 0.390 ms + 1.865 us a sample; GPU: 0.538 ms + 0.012 us.
    assert any("overtakes at a batch of about 79" in text for text in evidence)


def test_a_larger_batch_is_predicted_from_the_sizes_tried_where_there_are_others() -> None:
    inputs = tiny_batch_cpu()
    # 0.3 ms and 1 us for each sample: another line than the one that the profile alone suggests.
    tried = [
        Measured(
            settings=structs.replace(inputs.settings, batch_size=size),
            step_ms=0.3 + 0.001 * size,
            samples_per_s=size / (0.3 + 0.001 * size) * 1e3,
        )
        for size in (64, 256)
    ]
    line = structs.replace(inputs, measured=tried)
    step = times({"forward": 0.332}, flops_per_s=8e9, samples_per_s=32 / 0.332e-3)
    line = structs.replace(line, step=step, profile=profile(0.332, 0.15, work(matmul=(0.15, 84))))
    told = remedy(line, names.LAUNCH, "batch_size")
    assert told is not None and isinstance(told.to, int)
    expected = (told.to / (0.3 + 0.001 * told.to)) / (32 / 0.332)
    assert told.predicted_ratio == pytest.approx(expected, rel=0.02)
    assert not told.keeps_meaning


def test_another_card_gives_nothing_where_the_host_cannot_feed_it() -> None:
    told = verdict(judge(on_gpu()), 9.0).cards
    assert told
    for card in told:
        assert card.setting is None
        assert card.predicted_ratio is not None and card.predicted_ratio < 1.1
        assert "no gain to speak of, the host cannot feed it" in card.why


def test_another_card_gives_what_its_peaks_promise_where_the_work_limits() -> None:
    base = busy_gpu()
    assert base.gpu is not None
    name = "A100 SXM4 80 GB"
    a100 = structs.replace(base, gpu=structs.replace(base.gpu, name=name))
    told = verdict(judge(a100), 9.0).cards
    assert told
    assert all(1.5 < (card.predicted_ratio or 0) < 6 for card in told)
    assert all("its own work would still limit" in card.why for card in told)


def test_a_card_that_is_not_known_is_compared_with_none() -> None:
    base = on_gpu()
    assert base.gpu is not None
    unknown = structs.replace(base, gpu=structs.replace(base.gpu, name="NVIDIA Unheard Of"))
    assert verdict(judge(unknown), 9.0).cards == []
    assert verdict(judge(on_cpu()), 9.0).cards == []
