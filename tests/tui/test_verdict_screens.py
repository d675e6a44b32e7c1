"""The verdict's panel and screen: what they show, and that their keys act or say why they cannot."""

from __future__ import annotations

import pytest

import diagnosis_cpu_cases
from diagnosis_cpu_cases import recompiling_cpu, tiny_batch_cpu
from diagnosis_gpu_cases import busy_gpu, on_gpu, waiting_gpu
from diagnosis_parts import profile, work
from fake_feed import FakeSession
from gputrain_runner.diagnosis import Inputs, findings_of, judge, verdict
from gputrain_runner.timeline import Verdict
from gputrain_tui import verdict_text
from gputrain_tui.screens.verdict import VerdictScreen
from gputrain_tui.widgets.text import runs_of, text_of, width_of
from gputrain_tui.widgets.verdict_reasons import VerdictText
from screen_text import look, training

CASES = {
    "on_gpu": on_gpu,
    "busy_gpu": busy_gpu,
    "waiting_gpu": waiting_gpu,
    **{
        name: case
        for name, case in vars(diagnosis_cpu_cases).items()
        if name.endswith("_cpu") or name == "cpu_only_build"
    },
}


def told(inputs: Inputs, t: float = 12.0) -> Verdict:
    return verdict(judge(inputs), t)


def with_verdict(inputs: Inputs, *, gpu: bool = True) -> FakeSession:
    session = FakeSession(gpu=gpu)
    session.run(20)
    session.add(told(inputs))
    session.run(2)
    return session


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("size", [(160, 48), (120, 40)])
async def test_the_panel_names_the_bottleneck_and_the_first_remedies(size: tuple[int, int]) -> None:
    async with training(with_verdict(on_gpu()), size) as pilot:
        text = await look(pilot)
        assert "WHY SO SLOW?" in text
        assert "Launch-bound. The host needs" in text
        assert "CUDA graph" in text
        assert "predicts ×" in text
        assert "removing this entirely gives at most ×" in text
        assert "the whole reasoning" in text
        assert "CHANGES" in text


async def test_without_a_verdict_the_panel_says_so_and_the_key_says_why() -> None:
    session = FakeSession()
    session.run(3)
    async with training(session) as pilot:
        assert "no verdict yet" in await look(pilot)
        await pilot.press("a")
        assert "there is no verdict" in await look(pilot)
        assert session.calls == []


async def test_a_applies_the_first_remedy_and_u_undoes() -> None:
    session = with_verdict(on_gpu())
    async with training(session) as pilot:
        await look(pilot)
        await pilot.press("a")
        assert session.calls == [("change", "execution", "graph")]
        assert "applying: CUDA graph, predicts ×" in await look(pilot)
        session.make_change("execution", "graph")
        await look(pilot)
        await pilot.press("u")
        assert session.calls[-1] == ("undo",)


async def test_a_verdict_with_advice_alone_has_nothing_to_apply() -> None:
    advice = told(tiny_batch_cpu())
    session = FakeSession()
    session.run(2)
    session.add(Verdict(t=2.0, bottleneck="denormals", sentence="Small.", evidence=[], remedies=[]))
    async with training(session) as pilot:
        await look(pilot)
        await pilot.press("a")
        assert "nothing to apply: denormal numbers" in await look(pilot)
        assert session.calls == []
        assert advice.remedies


async def test_it_is_said_that_nothing_can_be_said_yet() -> None:
    session = FakeSession()
    session.run(2)
    text = "Cannot say yet: the steps are still settling."
    session.add(Verdict(t=2.0, bottleneck="cannot-say-yet", sentence=text, evidence=[], remedies=[]))
    async with training(session) as pilot:
        assert text in await look(pilot)
        await pilot.press("a")
        assert "nothing to apply: cannot say yet: the steps are still settling" in await look(pilot)


async def test_the_narrow_layout_has_it_in_its_third_view_above_the_changes() -> None:
    session = with_verdict(on_gpu())
    session.make_change("batch_size", 2048)
    async with training(session, (80, 24)) as pilot:
        assert "WHY SO SLOW?" not in await look(pilot)
        await pilot.press("3")
        text = await look(pilot)
        assert "[3 Why]" in text
        assert "Launch-bound. The host needs" in text
        assert "CUDA graph" in text
        assert "batch 1024 → 2048" in text
        assert text.index("WHY SO SLOW?") < text.index("batch 1024 → 2048")


async def test_the_whole_reasoning_shows_every_finding_with_its_slice_evidence_and_remedies() -> None:
    kinds = work(matmul=(0.05, 11), elementwise=(0.04, 14), optimizer=(0.09, 5))
    inputs = on_gpu(profile=profile(0.538, 0.18, kinds, copy_ms=0.0, copy_exposed_ms=0.0, tensor_core_ms=0.0))
    shown = told(inputs)
    async with training(with_verdict(inputs), (120, 60)) as pilot:
        await look(pilot)
        await pilot.press("v")
        await pilot.pause()
        assert isinstance(pilot.app.screen, VerdictScreen)
        pilot.app.screen.draw()
        text = flat(await look(pilot))
        assert "1 Launch-bound" in text
        assert "2 Optimizer-heavy" in text
        assert flat(shown.evidence[0]) in text
        assert "▸ CUDA graph" in text
        for remedy in shown.remedies:
            assert verdict_text.remedy(remedy) in text
        assert "changes the training" in text
        assert "Would another card help?" in text
        assert "the rest" in text
        await pilot.press("escape")
        await pilot.pause()
        assert "SETTINGS" in await look(pilot)


async def test_another_remedy_is_marked_and_applied_there() -> None:
    session = with_verdict(on_gpu())
    remedies = told(on_gpu()).remedies
    async with training(session, (120, 60)) as pilot:
        await look(pilot)
        await pilot.press("v", "down")
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert session.calls == [("change", remedies[1].setting, remedies[1].to)]
        assert "applying: " in await look(pilot)


async def test_advice_cannot_be_applied_and_says_so() -> None:
    session = with_verdict(recompiling_cpu(), gpu=False)
    async with training(session, (120, 60)) as pilot:
        await look(pilot)
        await pilot.press("v")
        await pilot.press(*["down"] * 20)
        await pilot.press("enter")
        await pilot.pause()
        assert "this is advice, no setting can do it" in await look(pilot)
        assert session.calls == []


async def test_the_idea_is_explained_in_a_paragraph() -> None:
    async with training(with_verdict(on_gpu()), (120, 60)) as pilot:
        await look(pilot)
        await pilot.press("v")
        await pilot.pause()
        assert "each telling costs some microseconds" not in flat(await look(pilot))
        await pilot.press("question_mark")
        await pilot.pause()
        assert "each telling costs some microseconds" in flat(await look(pilot))
        await pilot.press("question_mark")
        await pilot.pause()
        assert "each telling costs some microseconds" not in flat(await look(pilot))


async def test_a_new_verdict_replaces_the_one_shown() -> None:
    session = with_verdict(on_gpu())
    async with training(session, (120, 60)) as pilot:
        await look(pilot)
        await pilot.press("v")
        await pilot.pause()
        session.add(told(recompiling_cpu(), 30.0))
        screen = pilot.app.screen
        assert isinstance(screen, VerdictScreen)
        pilot.app.screen_stack[-2].pull()  # type: ignore[attr-defined]
        screen.draw()
        await pilot.pause()
        assert "1 Recompiling" in flat(await look(pilot))


async def test_a_recording_shows_it_but_cannot_be_turned() -> None:
    session = with_verdict(on_gpu())
    session.refuses = "this is a recording: nothing in it can be turned"
    async with training(session) as pilot:
        await look(pilot)
        await pilot.press("a")
        assert "this is a recording" in await look(pilot)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("width", [77, 60, 110])
def test_nothing_of_the_whole_reasoning_is_cut(name: str, width: int) -> None:
    inputs: Inputs = CASES[name]()
    shown = told(inputs)
    text = VerdictText(id="whole")
    text.show_verdict(shown, 0, shown.bottleneck)
    lines = text.build(width, 0)
    said = flat(" ".join(text_of(runs_of(line)) for line in lines))
    assert max(map(width_of, lines)) <= width
    assert "…" not in said
    for finding in findings_of(shown):
        assert finding.limit_ratio is None or flat(str(verdict_text.limit(finding))) in said
        for remedy in finding.remedies:
            assert flat(remedy.why).removeprefix("advice: ") in said
            assert remedy.predicted_ratio is None or verdict_text.predicted(remedy) in said


async def test_on_80_columns_the_whole_reasoning_can_be_read_to_its_end() -> None:
    session = with_verdict(on_gpu())
    async with training(session, (80, 24)) as pilot:
        await look(pilot)
        await pilot.press("v")
        await pilot.pause()
        rows: list[str] = []
        for _ in range(12):
            shown = (await look(pilot)).splitlines()
            assert shown[0].startswith(" WHY SO SLOW?  lasagne-mlp ×1 · cuda:0")
            assert "…" not in "\n".join(shown)
            rows += [row for row in shown[2:-3] if row not in rows]
            await pilot.press("pagedown")
        said = flat(" ".join(rows))
        for finding in findings_of(told(on_gpu())):
            assert verdict_text.name(finding.bottleneck) in said
            for text in finding.evidence:
                assert flat(text) in said
