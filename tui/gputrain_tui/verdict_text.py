"""Verdicts and remedies as the texts of the screens: what a remedy is, what it predicts, what limits."""

from __future__ import annotations

from collections.abc import Sequence

from gputrain_runner.diagnosis.ideas import title
from gputrain_runner.diagnosis.rules import names
from gputrain_runner.timeline import Finding, Remedy, Verdict

from . import format
from .widgets.text import Line, wrapped

CLOSE = 1.1
"""A ratio below is written with one digit more: the second would be lost."""
_SPEAK = {
    ("execution", "graph"): "CUDA graph",
    ("execution", "compiled"): "torch.compile",
    ("recurrence", "fused"): "fused recurrence",
    ("memory_format", "channels_last"): "channels last",
}


def remedy(remedy: Remedy) -> str:
    """`CUDA graph`, `32 models at once`, `batch 8,192`; advice is in its own words."""
    name, to = remedy.setting, remedy.to
    if name is None:
        return remedy.why
    if (name, str(to)) in _SPEAK:
        return _SPEAK[name, str(to)]
    if name == "models_at_once":
        return f"{to} models at once"
    if name == "batch_size" and isinstance(to, int):
        return f"batch {to:,}"
    if name == "threads":
        return f"{to} thread" if to == 1 else f"{to} threads"
    if name == "workers":
        return f"{to} loader workers" if to != 1 else "1 loader worker"
    if name == "device":
        return f"train on {to}"
    return f"{format.setting_label(name)} {format.setting(name, to)}"


def predicted(remedy: Remedy) -> str:
    """`predicts ×4.1 (3.4–4.6)`; "gain not known" where no figure can be given."""
    likely, low, high = remedy.predicted_ratio, remedy.predicted_low, remedy.predicted_high
    if likely is None:
        return "gain not known"
    ratio = format.ratio(likely, 3 if likely < CLOSE else 2)
    if low is None or high is None:
        return f"predicts {ratio}"
    return f"predicts {ratio} ({format.significant(low, 2)}–{format.significant(high, 2)})"


def limit(finding: Finding | Verdict) -> str | None:
    """`removing this entirely gives at most ×1.4` (Amdahl)."""
    if finding.limit_ratio is None:
        return None
    return f"removing this entirely gives at most {format.ratio(finding.limit_ratio, 2)}"


def name(bottleneck: str) -> str:
    """A bottleneck's name for people."""
    return title(bottleneck)


def sentence_lines(sentence: str, width: int, rows: int | None = None) -> list[Line]:
    """The sentence on so many lines at most, its first words, up to a full stop, strong."""
    lines = wrapped(sentence, width, rows)
    head = sentence.partition(". ")[0] + "."
    first = lines[0] if lines else ""
    if len(head) < len(first) and first.startswith(head):
        return [[(head, "strong"), first[len(head) :]], *lines[1:]]
    return [[(line, "strong" if index == 0 else "")] for index, line in enumerate(lines)]


def without_title(sentence: str, bottleneck: str) -> str:
    """The sentence as it stands below its title: a first word that only repeats that is left out."""
    head, stop, rest = sentence.partition(". ")
    return rest if stop and head.casefold() == name(bottleneck).casefold() else sentence


def applicable(remedies: Sequence[Remedy]) -> Remedy | None:
    """The first remedy that is a setting to turn."""
    return next((one for one in remedies if one.setting is not None), None)


def nothing_to_apply(verdict: Verdict | None) -> str:
    """Why the key that applies a remedy has none to apply."""
    if verdict is None:
        return "nothing to apply yet: there is no verdict"
    if verdict.bottleneck == names.CANNOT_SAY:
        return f"nothing to apply: {verdict.sentence[:1].lower()}{verdict.sentence[1:].rstrip('.')}"
    if verdict.remedies:
        return "no setting can do it, there is only advice: v shows it"
    return f"nothing to apply: {name(verdict.bottleneck).lower()}, and no setting here would help"
