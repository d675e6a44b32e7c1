"""The worker process: `python -P -m gputrain_runner.worker --control-fd N --report-fd M`."""

import argparse
import os
import sys
import time
import traceback
from pathlib import Path

from . import lifeline
from .link import Link


def main() -> int:
    """Take commands until training has ended; the exit code."""
    parser = argparse.ArgumentParser(prog="gputrain_runner.worker")
    parser.add_argument("--control-fd", type=int, required=True)
    parser.add_argument("--report-fd", type=int, required=True)
    arguments = parser.parse_args()
    lifeline.die_with_parent()
    lifeline.keep_from_children(arguments.control_fd, arguments.report_fd)
    _add_user_modules()
    link = Link(arguments.control_fd, arguments.report_fd)
    link.start()
    # PyTorch takes seconds to import; the link is up before, so that the parent's end is noticed.
    from ..protocol import Failed
    from .service import UserError, serve

    try:
        serve(link)
        code = 0
    except UserError as error:
        link.send(Failed(at=time.monotonic(), error=str(error), usage=error.usage))
        code = 1
    except Exception as error:
        traceback.print_exc()
        from .changes import plain

        link.send(Failed(at=time.monotonic(), error=plain(error)))
        code = 1
    link.drain(timeout_s=2.0)
    return code


def _add_user_modules() -> None:
    """The session keeps PYTHONPATH from the interpreter's own start; a user's modules come last."""
    users = os.environ.get("GPUTRAIN_USER_PATH")
    if users is not None:
        sys.path.extend(str(Path(entry).absolute()) for entry in users.split(os.pathsep))


if __name__ == "__main__":
    sys.exit(main())
