"""What the screen must say of each fault, in words."""

from __future__ import annotations

import re

_SILENT = re.compile(r"driver silent for \d+ s|no answer for \d+ s")

WORDS = {
    "mismatch": re.compile("library and kernel\\s+module differ"),
    "not_loaded": re.compile("not loaded"),
    "no_access": re.compile("refuses access"),
    "no_gpu": re.compile("lists no GPU"),
    "init_hangs": re.compile(r"no answer for \d+ s"),
    "lost": re.compile("GPU 0 is lost"),
    "other_lost": re.compile("GPU 1 is lost"),
    "access_lost": re.compile("unknown error"),
    "call_hangs": _SILENT,
    "all_hangs": _SILENT,
    "slow": re.compile("GPU"),
    "denied_later": re.compile("no permission"),
}
"""By scenario. A slow driver is no fault: its values are there, if seldom."""
