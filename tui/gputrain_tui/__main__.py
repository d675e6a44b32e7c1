"""`python -P -m gputrain_tui`: the command where its script is not at hand."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
