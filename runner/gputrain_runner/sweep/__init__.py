"""A grid of presets and settings, each point measured for itself: what a published comparison is made of."""

from .engine import Sweep, SweepError
from .plan import Plan, Point, plan_points
from .result import PointResult, SweepFile, load, save

__all__ = ["Plan", "Point", "PointResult", "Sweep", "SweepError", "SweepFile", "load", "plan_points", "save"]
