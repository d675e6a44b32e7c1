"""What the GPUs and the host do meanwhile: sampled by threads of the program, never by the worker."""

from __future__ import annotations

from .absence import ASKING
from .reading import Reading
from .sampler import Telemetry

__all__ = ["ASKING", "Reading", "Telemetry"]
