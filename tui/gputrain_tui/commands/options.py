"""The options that say what a session starts with, shared by the app and `run`."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import structs

from gputrain_presets import Preset, PresetError, load
from gputrain_runner import settings
from gputrain_runner.options import canonical_device
from gputrain_runner.settings import Context, SettingError, Value

from .parsing import Parser, UsageError, assignment

DEFAULT_PLACE = object()
"""Stands for `--record` without a path."""


def add_setting_options(parser: Parser) -> None:
    """`--device`, `--batch-size`, `--model-size` and `--set`."""
    group = parser.add_argument_group("settings at the start")
    group.add_argument(
        "--device", metavar="D", help="cpu, cuda or cuda:NUMBER (default: the first GPU, else cpu)"
    )
    group.add_argument("--batch-size", metavar="N", help="samples in a mini-batch")
    group.add_argument(
        "--model-size",
        metavar="S",
        help="a name from the preset's size ladder; for lasagne-mlp also DEPTHxWIDTH as in 3x80, or the "
        "units layer by layer as in 40-113-76",
    )
    group.add_argument(
        "--set",
        metavar="NAME=VALUE",
        type=assignment,
        action="append",
        default=[],
        dest="assignments",
        help=f"any setting by its name; may be repeated. Names: {', '.join(settings.RULES)}",
    )
    for name in settings.RULES:
        parser.instead[f"--{name.replace('_', '-')}"] = f"--set {name}=VALUE"


def add_data_option(group: argparse._ArgumentGroup) -> None:
    """`--data`."""
    group.add_argument(
        "--data",
        metavar="PATH",
        help="real data for a preset that reads files: for keras-mnist-mlp a folder of MNIST IDX files "
        "(gzipped or not) or an .npz file",
    )


def add_record_option(group: argparse._ArgumentGroup, further: str = "") -> None:
    """`--record`, with or without a path; `further` ends its help."""
    group.add_argument(
        "--record",
        metavar="PATH",
        nargs="?",
        const=DEFAULT_PLACE,
        help=f"write the recording, a JSON file, to PATH (default: a new file among the sessions){further}",
    )


def chosen_texts(options: argparse.Namespace) -> dict[str, tuple[str, str]]:
    """For each setting that is named on the command line: the option that names it, and its text."""
    direct = {name: getattr(options, name) for name in ("device", "batch_size", "model_size")}
    chosen = {
        name: (f"--{name.replace('_', '-')}", text) for name, text in direct.items() if text is not None
    }
    for name, text in options.assignments:
        if name in chosen:
            raise UsageError(f"--set {name}={text}: {chosen[name][0]} has set {name} already")
        chosen[name] = (f"--set {name}", text)
    return chosen


def chosen_values(texts: Mapping[str, tuple[str, str]], preset: Preset) -> dict[str, Value]:
    """The settings named on the command line as values that `preset` allows."""
    return {name: setting_value(option, name, text, preset) for name, (option, text) in texts.items()}


def setting_value(option: str, name: str, text: str, preset: Preset) -> Value:
    """`text` as a value of the setting `name`, as far as it can be told before PyTorch is loaded."""
    try:
        return settings.parse(name, text, Context(preset, devices=()))
    except SettingError as error:
        raise UsageError(f"{option}: {str(error).removeprefix(f'{name}: ')}") from None


def device_called(option: str, text: str, also: str = "") -> str:
    """The device of that name, as far as it can be told before PyTorch is loaded.

    `also` ends what is allowed.
    """
    rule = settings.RULES["device"]
    assert isinstance(rule, settings.Choice)
    if not re.fullmatch(rule.free_form, text):
        raise UsageError(f"{option}: found {text!r}, allowed: {rule.free_form_words}{also}")
    return canonical_device(text)


def preset_called(name_or_path: str) -> Preset:
    """The preset of that name or in that file."""
    try:
        return load(name_or_path)
    except PresetError as error:
        raise UsageError(str(error)) from None


def with_data(preset: Preset, given: str | None) -> Preset:
    """`preset`, reading its data from the path `given` where there is one."""
    if given is None:
        return preset
    if not hasattr(preset.data, "path"):
        raise UsageError(f"--data: {preset.name} makes its own data and reads no files")
    return structs.replace(preset, data=structs.replace(preset.data, path=str(data_path(given))))


def data_path(given: str) -> Path:
    """The file or folder that `--data` names."""
    if not given:
        raise UsageError("--data: the path is empty, allowed: the path of a file or folder")
    path = Path(given).expanduser().absolute()
    if not path.exists():
        raise UsageError(f"--data: there is no file or folder {given!r}")
    return path


def record_path(options: argparse.Namespace) -> Path | None:
    """The file that `--record` names; None where it names none."""
    if options.record is None or options.record is DEFAULT_PLACE:
        return None
    from gputrain_runner.recorder import RecordingError, check_path

    path = Path(options.record).expanduser()
    if why := _no_place(options.record, path):
        raise UsageError(f"--record: {why}")
    try:
        check_path(path)
    except RecordingError as error:
        raise UsageError(f"--record: {error}") from None
    return path


def _no_place(given: str, path: Path) -> str | None:
    """Why nothing can be recorded there, where that is no question of permissions or names."""
    if not given:
        return "the path is empty, allowed: the path of a new file; without one it goes among the sessions"
    if given == "-":
        return "'-' would be stdout, allowed: the path of a new file; `run --json` prints the summary there"
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):  # noqa: PTH110, PTH112, PTH113
        return f"{path} is a device or a pipe, allowed: the path of a new file"
    return None
