"""A grid of presets and settings, each point measured for itself: what a published comparison is made of."""

from .engine import Listener, Progress, Surroundings, Sweep, SweepError
from .plan import Chosen, Plan, Point, plan_points
from .result import PointResult, SweepFile, SweepFileError, load, save

__all__ = [
    "Chosen",
    "Listener",
    "Plan",
    "Point",
    "PointResult",
    "Progress",
    "Surroundings",
    "Sweep",
    "SweepError",
    "SweepFile",
    "SweepFileError",
    "load",
    "plan_points",
    "save",
]
