"""`gputrain-tui presets`: what there is to train, as a table or with its sizes as built."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gputrain_presets import Preset, PresetError, load, names
from gputrain_presets.starting_files import OWN, write
from gputrain_presets.user_data import FilesData

from .. import format, preset_text
from .parsing import Parser, UsageError

if TYPE_CHECKING:
    from rich.table import Table

EXAMPLES = """\
examples:
  gputrain-tui presets
  gputrain-tui presets --json | jq '.[] | {name, sizes: [.sizes[].parameters]}'
  gputrain-tui presets ./mine.toml --json
  gputrain-tui presets --copy lasagne-mlp mine.toml
  gputrain-tui presets --copy own mine.toml
"""


def main(arguments: Sequence[str]) -> int:
    """List the presets, or write a file to begin one of one's own with."""
    options = _parser().read(arguments)
    try:
        if options.copy is not None:
            _copy(options)
            return 0
        presets = [load(name) for name in options.presets or names()]
    except PresetError as error:
        raise UsageError(str(error)) from None
    if options.json:
        from .presets_json import print_json

        print_json(presets)
    else:
        _print_table(presets)
    return 0


def _parser() -> Parser:
    parser = Parser(
        "gputrain-tui presets",
        usage="gputrain-tui presets [PRESET...] [--json]\n       gputrain-tui presets --copy NAME PATH",
        description="List the presets: workloads that people asked in public why they train slowly.",
        examples=EXAMPLES,
    )
    parser.add_argument(
        "presets", metavar="PRESET", nargs="*", help="these alone: names, or the paths of preset files"
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="a JSON list with parameters, tensors and forward FLOPs of every size, counted on the models "
        "as built (this loads PyTorch: some seconds)",
    )
    parser.add_argument(
        "--copy",
        nargs=2,
        metavar=("NAME", "PATH"),
        help="write the preset of that name to a new file PATH, with what may be changed in comments; "
        f"{OWN} as NAME: a preset for a model of your own, and a Python file for the model beside it",
    )
    return parser


def _copy(options: Namespace) -> None:
    if options.json or options.presets:
        raise UsageError("--copy: writes a file and lists nothing; leave --json and other presets out")
    name, path = options.copy
    written = write(name, Path(path).expanduser())
    print(f"wrote {' and '.join(str(one) for one in written)}; to train it:")
    print(f"  gputrain-tui run {shlex.quote(_as_path(written[0]))}")


def _as_path(path: Path) -> str:
    """A path that the command does not take for a name: a file in this folder begins with `./`."""
    return str(path) if path.is_absolute() else f"./{path}"


def _print_table(presets: Sequence[Preset]) -> None:
    from rich.console import Console
    from rich.measure import Measurement

    console = Console(markup=False, highlight=False)
    table = _wide_table(presets)
    width = Measurement.get(console, console.options.update(width=10_000), table).maximum
    if not console.is_terminal:  # One line for each preset, however long, for those who filter lines.
        console.width = width
    console.print(table if width <= console.width else _narrow_table(presets))
    console.print("\n* the size it starts with, whose parameters are given")
    for preset in presets:
        if preset.other_sizes is not None:
            beside = f"sizes of {preset.name} may also be {preset.other_sizes}"
            console.print(beside, soft_wrap=not console.is_terminal)


def _wide_table(presets: Sequence[Preset]) -> Table:
    table = _table("name", "what it is", "sizes", "data")
    for preset in presets:
        table.add_row(preset.name, preset.title, _sizes(preset), _data(preset), *_numbers(preset))
    return table


def _narrow_table(presets: Sequence[Preset]) -> Table:
    table = _table("name", "what it is, data, sizes", parameters="params")
    for preset in presets:
        words = f"{preset_text.short_title(preset)}\n{_data(preset)}\n{_sizes(preset)}"
        table.add_row(preset.name, words, *_numbers(preset))
    return table


def _table(*words: str, parameters: str = "parameters") -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for word in words:
        table.add_column(word, no_wrap=word == "name", overflow="fold")
    for number in ("batch", parameters):
        table.add_column(number, justify="right", no_wrap=True)
    return table


def _numbers(preset: Preset) -> tuple[str, str]:
    parameters = preset.size(preset.model.default_size).parameters
    return format.count(preset.batch_size), format.short(parameters)


def _sizes(preset: Preset) -> str:
    default = preset.model.default_size
    return " ".join(f"{name}*" if name == default else name for name in preset.size_names)


def _data(preset: Preset) -> str:
    if isinstance(preset.data, FilesData):
        return f"{preset.data.inputs} and {preset.data.targets} in {preset.data.path}"
    samples = format.count(preset.data.training_samples)
    path = getattr(preset.data, "path", None)
    if path is not None:
        return f"{samples} samples from {path}"
    takes_files = hasattr(preset.data, "path")
    return f"{samples} samples, synthetic" + (" or your files (--data)" if takes_files else "")
