"""Every benchmark, one table, and the figures as JSON: python tests/bench/run_all.py [OUT.json]."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import burst_cost
import first_frame
import key_latency
import report_size
import screen_cost
import training_speed

if __name__ == "__main__":
    lines = [
        *first_frame.measure(),
        *key_latency.measure(),
        *screen_cost.measure(),
        *training_speed.measure(),
        *burst_cost.measure(),
        *report_size.measure(),
    ]
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps(lines, indent=1) + "\n")
    sys.exit(any(not each["met"] for each in lines))
