"""The probe: what this machine's devices can do at most, measured in some seconds each."""

from __future__ import annotations

from .answer import answer
from .device import measure

__all__ = ["answer", "measure"]
