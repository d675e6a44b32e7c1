"""`gputrain-tui schema`: the JSON Schema of a recording."""

from __future__ import annotations

from collections.abc import Sequence

from .parsing import Parser

EXAMPLES = """\
examples:
  gputrain-tui schema > recording.schema.json
  gputrain-tui schema | jq '.["$defs"] | keys'
"""


def main(arguments: Sequence[str]) -> int:
    """Print the schema."""
    parser = Parser(
        "gputrain-tui schema",
        usage="gputrain-tui schema",
        description="Print the JSON Schema that every recording follows.",
        examples=EXAMPLES,
    )
    parser.read(arguments)
    from gputrain_runner.schema import recording_schema_text

    print(recording_schema_text())
    return 0
