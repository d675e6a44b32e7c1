"""What this machine has, and what is wrong with it for training: facts are gathered, then judged."""

from __future__ import annotations

from .examination import Check, Examination, ExaminedGpu, NotRun, Verdict

__all__ = ["Check", "Examination", "ExaminedGpu", "NotRun", "Verdict"]
