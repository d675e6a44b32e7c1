"""What goes wrong in a worker that a command asked or had train, as that command's own error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .parsing import RunError, UsageError


@contextmanager
def told_plainly() -> Iterator[None]:
    """While inside, a worker's failure is a UsageError where the user can mend it, else a RunError."""
    from gputrain_runner.asking import AskError
    from gputrain_runner.measured_run import MeasureError

    try:
        yield
    except (AskError, MeasureError) as error:
        raise UsageError(str(error)) if error.usage else RunError(str(error)) from None
