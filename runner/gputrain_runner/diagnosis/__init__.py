"""The diagnosis: which bottleneck a step has, why, what would help and by how much."""

from .engine import Diagnosis, diagnose, findings_of, judge, saved_ms, verdict
from .gather import Gather
from .inputs import Inputs
from .watch import DiagnosisWatch

__all__ = [
    "Diagnosis",
    "DiagnosisWatch",
    "Gather",
    "Inputs",
    "diagnose",
    "findings_of",
    "judge",
    "saved_ms",
    "verdict",
]
