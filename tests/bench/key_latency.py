"""From a key pressed to the end of the first step under the new setting, small MLP on the CPU."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

from measuring import app, line, median, spread

PRESSES = "bBbBmMmMbB"


def measure() -> list[dict[str, Any]]:
    """The latency over some presses of batch and model size keys."""
    latencies = []
    with app("--preset", "lasagne-mlp", "--device", "cpu") as running:
        for key in PRESSES:
            known = sum(entry["kind"] == "change" for entry in running.timeline())
            pressed_at = time.time()
            running.terminal.send(key)
            changes: list[dict[str, Any]] = []
            while len(changes) <= known:
                time.sleep(0.02)
                changes = [entry for entry in running.timeline() if entry["kind"] == "change"]
            started = json_start(running.recording.read_text())
            change = changes[-1]
            assert change["ok"], change
            done_at = started + change["t"] + change["applied_in_ms"] / 1e3
            latencies.append((done_at - pressed_at) * 1e3)
            time.sleep(0.4)
    typical = median(latencies)
    detail = f"{spread(latencies)}; keys {PRESSES}"
    return [
        line(
            "key press to first step under the new setting",
            typical,
            "ms",
            "<= 150",
            typical <= 150,
            detail,
        )
    ]


def json_start(text: str) -> float:
    """When the recorded session began, in seconds since the epoch."""
    import json

    return datetime.fromisoformat(json.loads(text)["session"]["started_at"]).timestamp()


if __name__ == "__main__":
    measure()
