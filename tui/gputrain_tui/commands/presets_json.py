"""`gputrain-tui presets --json`: the presets with every size counted on the model as built."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import msgspec

from gputrain_presets import Preset
from gputrain_presets.spec import Published
from gputrain_presets.user_data import NO_LIMIT
from gputrain_runner.asking import ask
from gputrain_runner.protocol import Describe, Described, SizeFacts

from .failures import told_plainly


def print_json(presets: Sequence[Preset]) -> None:
    """Print the list; RunError where the worker that builds the models fails."""
    if sys.stderr.isatty():
        print("counting on the models as built; PyTorch is loading ...", file=sys.stderr)
    facts = _count(presets)
    print(
        json.dumps(
            [_described(preset, facts[preset.name]) for preset in presets], indent=2, ensure_ascii=False
        )
    )


def _count(presets: Sequence[Preset]) -> dict[str, list[SizeFacts]]:
    """The sizes of each preset, by its name, as a worker builds them."""
    with told_plainly():
        _, described = ask([Describe(preset=preset) for preset in presets], Described)
    return {each.preset: each.sizes for each in described}


def _described(preset: Preset, sizes: Sequence[SizeFacts]) -> dict[str, Any]:
    return {
        "name": preset.name,
        "title": preset.title,
        "origin": preset.origin,
        "batch_size": preset.batch_size,
        "data": {
            "kind": msgspec.to_builtins(preset.data)["kind"],
            "training_samples": _known(preset.data.training_samples),
            "validation_samples": _known(preset.data.validation_samples),
        },
        "sizes": [
            {
                "name": size.name,
                "default": size.name == preset.model.default_size,
                "parameters": size.parameters,
                "tensors": size.tensors,
                "forward_flops_per_sample": size.forward_flops_per_sample,
            }
            for size in sizes
        ],
        "other_sizes": preset.other_sizes,
        "published": [_published(figure, preset) for figure in preset.published],
    }


def _published(figure: Published, preset: Preset) -> dict[str, Any]:
    """A figure, the size it belongs to by name."""
    told: dict[str, Any] = msgspec.to_builtins(figure)
    return {**told, "size": figure.size or preset.model.default_size}


def _known(samples: int | None) -> int | None:
    """A number of samples; None where only the files know it."""
    return samples if samples is not None and samples < NO_LIMIT else None
