"""The commands of `gputrain-tui`: one module each, imported when its command is given."""
