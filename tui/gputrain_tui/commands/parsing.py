"""How command lines are read: argparse, with every error one line and a suggestion in it."""

from __future__ import annotations

import argparse
import difflib
import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn


class UsageError(Exception):
    """The command line or a file is wrong (exit code 2); the text is one line for the user."""


class RunError(Exception):
    """What was asked for failed (exit code 1); the text is one line for the user."""


class Parser(argparse.ArgumentParser):
    """A parser that raises `UsageError` where argparse prints a usage text and exits."""

    def __init__(self, prog: str, *, usage: str, description: str, examples: str) -> None:
        super().__init__(
            prog=prog,
            usage=usage,
            description=description,
            epilog=examples,
            allow_abbrev=False,
            formatter_class=_HelpFormatter,
            add_help=False,
        )
        self.add_argument("-h", "--help", action="help", help="show this text")
        self.instead: dict[str, str] = {}
        """What to suggest for options that do not exist but that people may well try."""

    def read(self, arguments: Sequence[str]) -> argparse.Namespace:
        """The arguments by their names; UsageError where they make no sense."""
        known, unknown = self.parse_known_args(self._joined(arguments))
        for word in unknown:
            if word.startswith("-") and word != "--":
                self.error(self._unknown_option(word.partition("=")[0]))
        if unknown:
            self.error(f"unexpected word {unknown[0]!r}; {self.prog} --help explains")
        return known

    def _joined(self, arguments: Sequence[str]) -> list[str]:
        """Values that begin with a minus and a digit joined to their options: no option begins so."""
        joined: list[str] = []
        for word in arguments:
            action = self._option_string_actions.get(joined[-1]) if joined else None
            takes_one = action is not None and action.nargs is None
            if takes_one and re.match(r"-\d", word):
                joined[-1] += f"={word}"
            else:
                joined.append(word)
        return joined

    def _unknown_option(self, option: str) -> str:
        instead = self.instead.get(option)
        hint = (
            f"; did you mean {instead!r}?" if instead else did_you_mean(option, self._option_string_actions)
        )
        return f"unknown option {option!r}{hint}"

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one line; `cli.main` puts the command's name before it."""
        message = re.sub(r"^argument (\S+?)(?:/\S+)?: ", r"\1: ", message)
        message = message.replace(": expected one argument", ": a value is missing")
        message = message.replace("not allowed with argument", "not allowed with")
        raise UsageError(" ".join(message.split()))


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Help with the text beside the options as far as 80 columns allow."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` with the known word nearest to `word`, or nothing where none is near."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else ""


def whole_number(smallest: int, largest: int = 2**63 - 1) -> Callable[[str], int]:
    """A converter for options that take a whole number from `smallest` to `largest`."""

    def convert(text: str) -> int:
        digits = text.lstrip("0") or "0" if re.fullmatch("[0-9]+", text) else ""
        too_large = len(digits) > len(str(largest)) or int(digits or 0) > largest
        if not digits or too_large or int(digits) < smallest:
            to = f"to {largest:,}" if too_large else "on"
            found = repr(text) if len(text) <= 40 else f"a number of {len(text)} digits"
            raise argparse.ArgumentTypeError(f"found {found}, allowed: a whole number from {smallest} {to}")
        return int(digits)

    return convert


def duration_s(text: str) -> float:
    """A converter for options that take a number of seconds."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"found {text!r}, allowed: a number of seconds above 0")
    return seconds


def number_above_zero(text: str) -> float:
    """A converter for options that take a number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"found {text!r}, allowed: a number above 0")
    return number


def one_of(*allowed: str) -> Callable[[str], str]:
    """A converter for options that take one of a few words."""

    def convert(text: str) -> str:
        if text not in allowed:
            raise argparse.ArgumentTypeError(f"found {text!r}, allowed: {', '.join(allowed)}")
        return text

    return convert


def assignment(text: str) -> tuple[str, str]:
    """A converter for NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"found {text!r}, allowed: NAME=VALUE, as in batch_size=512")
    return name.strip(), value.strip()


def scheduled_assignment(text: str) -> tuple[int, str, str]:
    """A converter for STEP:NAME=VALUE."""
    step, colon, change = text.partition(":")
    name, equals, value = change.partition("=")
    if not (colon and name and equals and value):
        raise argparse.ArgumentTypeError(
            f"found {text!r}, allowed: STEP:NAME=VALUE, as in 1000:batch_size=512"
        )
    if not re.fullmatch(r"[0-9]{1,18}", step):
        raise argparse.ArgumentTypeError(
            f"found {text!r}, allowed: a step that is a whole number from 0 on, as in 1000:batch_size=512"
        )
    return int(step), name.strip(), value.strip()
