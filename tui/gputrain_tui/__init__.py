"""The screens, and the `gputrain-tui` command."""
