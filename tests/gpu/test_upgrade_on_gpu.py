"""`gputrain-tui upgrade` on a real GPU: asked for the very card at hand, it must say what is measured."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

import pytest
import torch

from gputrain_runner import cards

Note = Callable[[str, float, str], None]


@pytest.mark.parametrize("preset", ["lasagne-mlp", "resnet50"])
def test_the_forecast_of_this_very_card_is_what_it_does(preset: str, note: Note) -> None:
    name = torch.cuda.get_device_name(0)
    card = cards.of_device(name)
    if card is None:
        pytest.skip(f"the file of cards has no {name}")
    command = [sys.executable, "-P", "-m", "gputrain_tui", "upgrade", preset, "--to", card.name]
    done = subprocess.run(
        [*command, "--seconds", "5", "--json"], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    (there,) = told["cards"]
    measured, forecast = told["from"]["step_ms"], there["step_ms"]["likely"]
    note(f"{preset} on {card.name}, measured", measured, "ms/step")
    note("  forecast of the same card", forecast, "ms/step")
    note("  forecast / measured", forecast / measured, "")
    note("  of it the host", there["host_ms"], "ms")
    note("  and the device", there["device_ms"], "ms")
    assert told["from"]["measured"] and told["from"]["name"] == name
    assert 0.5 <= forecast / measured <= 2.0
    assert there["step_ms"]["low"] <= forecast <= there["step_ms"]["high"]
