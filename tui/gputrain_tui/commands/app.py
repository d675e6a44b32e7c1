"""`gputrain-tui` alone: the app, and what it starts with."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence

from gputrain_runner import settings
from gputrain_runner.settings import Choice, Count, SettingError

from ..cli import COMMANDS
from ..sessions import AppOptions
from .options import (
    DEFAULT_PLACE,
    add_data_option,
    add_record_option,
    add_setting_options,
    chosen_texts,
    chosen_values,
    data_path,
    preset_called,
    record_path,
    with_data,
)
from .parsing import Parser, UsageError, one_of

DESCRIPTION = """\
Why is my GPU not faster? Train a workload shaped like yours, watch where each
step's time goes, and turn one thing at a time: device, batch size, model size.

Without a command this is the app; the preset is picked on its first screen.
"""

EXAMPLES = """\
commands:
{commands}
  gputrain-tui COMMAND --help explains each.

examples:
  gputrain-tui
  gputrain-tui --preset lasagne-mlp --device cpu --batch-size 32 --record
  gputrain-tui run lasagne-mlp --steps 2000 --json
"""


def _parser() -> Parser:
    parser = Parser(
        "gputrain-tui",
        usage="gputrain-tui [options]\n       gputrain-tui COMMAND ...",
        description=DESCRIPTION,
        examples=EXAMPLES.format(
            commands="\n".join(f"  {name:<10}{what}" for name, what in COMMANDS.items())
        ),
    )
    parser.add_argument("--version", action="store_true", help="show the version")
    parser.add_argument(
        "--preset", metavar="PRESET", help="start with this preset: a name, or a TOML file's path"
    )
    add_setting_options(parser)
    what = parser.add_argument_group("what else")
    add_data_option(what)
    add_record_option(what, "; each further session goes beside PATH, to a name with -2, -3")
    what.add_argument(
        "--glyphs",
        metavar="SET",
        type=one_of("braille", "block", "ascii"),
        help="braille, block or ascii: what charts are drawn with, where the terminal's font lacks "
        "characters (default: braille where the terminal takes UTF-8)",
    )
    return parser


def main(arguments: Sequence[str]) -> int:
    """Start the app."""
    options = _parser().read(arguments)
    if options.version:
        from importlib.metadata import version

        print(f"gputrain-tui {version('gputrain-tui')}")
        return 0
    start = app_options(options, ("gputrain-tui", *arguments))
    from ..launch import run_app

    return run_app(start)


def app_options(options: argparse.Namespace, command: tuple[str, ...]) -> AppOptions:
    """What the app starts with; UsageError where it can be told already that it cannot."""
    texts = chosen_texts(options)
    if options.preset is not None:
        chosen_values(texts, with_data(preset_called(options.preset), options.data))
    else:
        _check_without_preset(texts)
    record = record_path(options)
    batch_size = options.batch_size
    return AppOptions(
        preset=options.preset,
        device=options.device,
        batch_size=None if batch_size is None else int(batch_size),
        model_size=options.model_size,
        overrides=tuple(options.assignments),
        record=True if options.record is DEFAULT_PLACE else record,
        data=None if options.data is None else str(data_path(options.data)),
        glyphs=options.glyphs,
        command=command,
    )


def _check_without_preset(texts: Mapping[str, tuple[str, str]]) -> None:
    """Check what does not depend on the preset; the rest is checked when one is picked."""
    for name, (option, text) in texts.items():
        try:
            rule = settings.rule(name)
        except SettingError as error:
            raise UsageError(f"{option}: {error}") from None
        if isinstance(rule, Count) and not re.fullmatch("0*[1-9][0-9]{0,17}", text):
            raise UsageError(f"{option}: found {text!r}, allowed: a whole number from 1 on")
        if isinstance(rule, Choice) and name == "device" and not re.fullmatch(rule.free_form, text):
            raise UsageError(f"{option}: found {text!r}, allowed: {rule.free_form_words}")
