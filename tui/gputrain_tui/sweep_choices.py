"""What a user chooses for a sweep on the screen, as the command line that does the same."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .commands.parsing import UsageError
from .commands.sweep import parser
from .commands.sweep_grid import Grid, grid_of


@dataclass(frozen=True, slots=True)
class Choices:
    """One sweep as chosen; empty texts leave things as they start."""

    presets: tuple[str, ...]
    """Names, or paths of files."""
    model_sizes: str = ""
    batch_sizes: str = ""
    devices: tuple[str, ...] = ()
    """None: the best there is."""
    passes: tuple[str, ...] = ("forward", "training")
    over: str = ""
    """Further settings, as `precision=fp32,bf16 execution=eager,graph`."""
    runs: str = ""
    warmup: str = ""
    share_process: bool = False

    def with_value(self, name: str, value: object) -> Choices:
        """A copy with one of them changed."""
        return replace(self, **{name: value})  # type: ignore[arg-type]

    def arguments(self) -> list[str]:
        """The words after `gputrain-tui sweep`."""
        words = list(self.presets)
        if self.devices:
            words += ["--device", ",".join(self.devices)]
        words += ["--passes", ",".join(self.passes)]
        over = [("model_size", self.model_sizes), ("batch_size", self.batch_sizes)]
        for name, values in over:
            if values.strip():
                words += ["--over", f"{name}={_listed(values)}"]
        for word in self.over.split():
            words += ["--over", word]
        for name, text in (("runs", self.runs), ("warmup", self.warmup)):
            if text.strip():
                words += [f"--{name}", text.strip()]
        return [*words, "--share-process"] if self.share_process else words

    def grid(self) -> Grid:
        """What that measures.

        Raises:
            UsageError: it makes no sense.
        """
        if not self.presets:
            raise UsageError("choose a preset")
        if not self.passes:
            raise UsageError("choose what to measure: forward, training, or both")
        return grid_of(parser().read(self.arguments()))


def _listed(text: str) -> str:
    """Values with commas, however they were typed."""
    return ",".join(part for part in text.replace(",", " ").split() if part)
