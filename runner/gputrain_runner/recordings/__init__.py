"""Recordings that are there: read, followed while they grow, listed and compared."""

from .reader import RecordingFile, UnreadableError

__all__ = ["RecordingFile", "UnreadableError"]
