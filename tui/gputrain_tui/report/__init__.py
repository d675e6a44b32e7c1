"""Recordings and sweeps as pages and texts for people."""
