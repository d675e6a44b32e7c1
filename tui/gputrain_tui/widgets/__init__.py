"""The parts the screens are drawn with, one per file."""
