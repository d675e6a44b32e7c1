"""`gputrain-tui upgrade`: what another card would give for this workload, and what would limit it there."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gputrain_presets import Preset
from gputrain_presets.user_models import UserModel
from gputrain_runner import cards
from gputrain_runner.cards import Card, CardError, Forecast, Host, advice, roofline
from gputrain_runner.settings import Value

from .. import format
from .failures import told_plainly
from .options import (
    add_data_option,
    add_setting_options,
    chosen_texts,
    chosen_values,
    preset_called,
    with_data,
)
from .parsing import Parser, RunError, UsageError, whole_number
from .table import table

EXAMPLES = """\
examples:
  gputrain-tui upgrade lasagne-mlp --from "GTX 750 Ti" --to "GTX 780 Ti"
  gputrain-tui upgrade resnet50 --to "RTX 4090,H100" --set precision=bf16
  gputrain-tui upgrade vgg --to "Titan X Pascal" --seconds 0

The workload is trained here for some seconds, for what the host needs of each
step; its operations are counted, and each is given the time that the other
card's published arithmetic and bandwidth allow. --seconds 0 counts only.
"""


NOISY = 0.10
"""A measured rate whose middle half is further apart than this share of it."""


@dataclass(frozen=True, slots=True)
class _Here:
    """The side that the other cards are compared with."""

    name: str
    step_ms: float
    forecast: Forecast | None
    """On the card of --from, or on this machine's where the file of cards has it."""
    measured: bool


def main(arguments: Sequence[str]) -> int:
    """Forecast the step on the cards asked for."""
    parser = _parser()
    options = parser.read(arguments)
    if options.preset is None:
        raise UsageError("the preset is missing; `gputrain-tui presets` lists them")
    if options.to is None:
        raise UsageError('--to is missing: the card or cards to compare with, as in --to "GTX 1080,H100"')
    preset = with_data(preset_called(options.preset), options.data)
    if isinstance(preset.model, UserModel):
        raise UsageError("a model of your own cannot be forecast: its steps are only known where it trains")
    chosen = chosen_values(chosen_texts(options), preset)
    wanted = [_card("--to", text) for text in options.to.split(",") if text.strip()]
    before = None if options.from_card is None else _card("--from", options.from_card)
    if before is None and not options.seconds:
        raise UsageError("--seconds 0 measures nothing here: name the card to compare with, --from CARD")
    _Upgrade(preset, chosen, wanted, before, options).tell()
    return 0


class _Upgrade:
    """One run of the command."""

    def __init__(
        self,
        preset: Preset,
        chosen: dict[str, Value],
        wanted: list[Card],
        before: Card | None,
        options: argparse.Namespace,
    ) -> None:
        from gputrain_runner import settings

        self._preset = preset
        self._chosen = chosen
        self._wanted = wanted
        self._json = options.json
        self._settings = settings.initial(preset, "cpu")
        for name, value in chosen.items():
            self._settings = self._settings.with_value(name, value)
        self._measured = self._measure(options.seconds) if options.seconds else None
        self._operations, self._batch_bytes = self._count()
        self._host = Host(
            data_ms=self._measured.data_ms if self._measured else None,
            dispatch_ms=self._measured.dispatch_ms if self._measured else None,
            batch_bytes=self._batch_bytes,
        )
        self._correction, self._spread = self._calibrate()
        self._here = self._reference(before)

    def tell(self) -> None:
        """Print the table and the sentences, or the JSON."""
        forecasts = [self._forecast(card) for card in self._wanted]
        gains = [self._gain(each) for each in forecasts]
        if self._json:
            print(json.dumps(self._as_json(forecasts, gains), indent=2, ensure_ascii=False))
            return
        print(self._table(forecasts, gains))
        print()
        if told := self._assumed():
            print("\n  ".join([f"assumed in host ms{self._why_assumed()}:", *told]), end="\n\n")
        for each, gain in zip(forecasts, gains, strict=True):
            print(advice.sentence(each, gain, self._here.name))
        here = self._here.forecast
        graph = None if here is None or self._settings.execution == "graph" else advice.graph_gain(here)
        if graph is not None:
            print(
                f"On {self._here.name} itself a CUDA graph (execution=graph) would give about "
                f"×{graph:.2g}, without another card."
            )

    def _measure(self, seconds: int) -> Any:
        from gputrain_runner.measured_run import measure
        from gputrain_runner.options import SessionOptions

        print(f"training {self._preset.name} here for {seconds} s ...", file=sys.stderr)
        overrides = [(name, str(value)) for name, value in self._chosen.items()]
        with told_plainly():
            return measure(SessionOptions(preset=self._preset, overrides=overrides, seconds=float(seconds)))

    def _count(self) -> Any:
        from gputrain_runner.asking import ask
        from gputrain_runner.protocol import CountWork, WorkCounted

        now = self._settings
        question = CountWork(
            preset=self._preset, model_size=now.model_size, batch_size=now.batch_size, passes=now.passes
        )
        with told_plainly():
            _, (counted,) = ask([question], WorkCounted)
        return counted.operations, counted.batch_bytes

    def _calibrate(self) -> tuple[float, float]:
        """Measured over modelled device time, where the card here is in the file and was profiled."""
        measured = self._measured
        here = None if measured is None else cards.of_device(measured.name)
        if measured is None or here is None or measured.profile is None:
            return 1.0, roofline.SPREAD
        modelled = roofline.device_ms(self._operations, here, self._settings.precision)
        return measured.profile.work_ms / modelled, roofline.CALIBRATED_SPREAD

    def _forecast(self, card: Card) -> Forecast:
        now = self._settings
        return cards.forecast(
            self._operations,
            card,
            self._host,
            precision=now.precision,
            execution="graph" if now.execution == "graph" else "eager",
            data_path=now.data_path,
            correction=self._correction,
            spread=self._spread,
        )

    def _reference(self, before: Card | None) -> _Here:
        if before is not None:
            modelled = self._forecast(before)
            return _Here(before.name, modelled.step_ms[1], modelled, measured=False)
        measured = self._measured
        if measured is None or measured.step_ms is None:
            raise RunError("no steady step was measured here; train longer (--seconds) or name --from CARD")
        here = cards.of_device(measured.name)
        name = measured.name or measured.settings.device
        return _Here(name, measured.step_ms, None if here is None else self._forecast(here), measured=True)

    def _gain(self, after: Forecast) -> tuple[float, float, float]:
        here = self._here
        if here.forecast is not None and not here.measured:
            return advice.between(here.forecast, after)
        rate = None if self._measured is None else self._measured.rate
        spread = 0.0 if rate is None else (rate.q75 - rate.q25) / rate.samples_per_s
        return advice.ratio(here.step_ms, after, spread)

    def _assumed(self) -> list[str]:
        calls = sum(operation.count for operation in self._operations)
        now = self._settings
        return advice.assumed(calls, self._host, now.execution, now.data_path)

    def _why_assumed(self) -> str:
        if self._measured is None:
            return ", as --seconds 0 measures nothing here"
        if self._host.dispatch_ms is None:
            return f", as a run on {self._measured.settings.device} starts nothing on a GPU"
        return ""

    def _table(self, forecasts: Sequence[Forecast], gains: Sequence[tuple[float, float, float]]) -> str:
        now = self._settings
        kind = "measured" if self._here.measured else "modelled"
        rate = None if self._measured is None else self._measured.rate
        if self._here.measured and rate is not None and rate.q75 - rate.q25 > NOISY * rate.samples_per_s:
            kind = "measured, noisy"
        rows = [("card", "step ms", "(low–high)", "ratio", "host ms", "device ms", "limited by")]
        rows.append((self._here.name, _ms(self._here.step_ms), kind, "×1", *self._parts(self._here.forecast)))
        for each, gain in zip(forecasts, gains, strict=True):
            low, likely, high = each.step_ms
            between = f"{_ms(low)}–{_ms(high)}"
            rows.append((each.card.name, _ms(likely), between, f"×{gain[1]:.3g}", *self._parts(each)))
        head = (
            f"{self._preset.name} {now.model_size}, batch {now.batch_size:,}, {now.precision}, "
            f"{now.execution}, data path {now.data_path}, {now.passes}"
        )
        return "\n".join([head, "", *table(rows, left=(0, 6))])

    def _parts(self, each: Forecast | None) -> tuple[str, str, str]:
        if each is None:
            return (format.UNKNOWN,) * 3
        return _ms(each.host_ms), _ms(each.device_ms), each.limited_by

    def _as_json(
        self, forecasts: Sequence[Forecast], gains: Sequence[tuple[float, float, float]]
    ) -> dict[str, Any]:
        return {
            "preset": self._preset.name,
            "settings": {name: self._settings.value(name) for name in self._settings.__struct_fields__},
            "assumed": self._assumed(),
            "from": {"name": self._here.name, "step_ms": self._here.step_ms, "measured": self._here.measured},
            "cards": [
                {
                    "card": each.card.name,
                    "step_ms": dict(zip(("low", "likely", "high"), each.step_ms, strict=True)),
                    "ratio": dict(zip(("low", "likely", "high"), gain, strict=True)),
                    "host_ms": each.host_ms,
                    "device_ms": each.device_ms,
                    "copy_ms": each.copy_ms,
                    "limited_by": each.limited_by,
                    "graph_ms": each.graph_ms,
                    "advice": advice.sentence(each, gain, self._here.name),
                    "source": each.card.source,
                }
                for each, gain in zip(forecasts, gains, strict=True)
            ],
        }


def _ms(value: float) -> str:
    return f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"


def _card(option: str, text: str) -> Card:
    try:
        return cards.find(text)
    except CardError as error:
        raise UsageError(f"{option}: {error}") from None


def _parser() -> Parser:
    parser = Parser(
        "gputrain-tui upgrade",
        usage="gputrain-tui upgrade PRESET --to CARD[,CARD...] [options]",
        description="What another card would give for this workload, and what would limit it there.",
        examples=EXAMPLES,
    )
    parser.add_argument("preset", metavar="PRESET", nargs="?", help="a name from `gputrain-tui presets`")
    what = parser.add_argument_group("what to compare")
    what.add_argument("--to", metavar="CARDS", help="cards by name, separated by commas")
    what.add_argument(
        "--from", metavar="CARD", dest="from_card", help="compare with this card (default: this machine)"
    )
    what.add_argument(
        "--seconds",
        metavar="S",
        type=whole_number(0),
        default=6,
        help="train here for so long first; 0: count only (default: 6)",
    )
    add_data_option(what)
    what.add_argument("--json", action="store_true", help="print the figures as JSON")
    add_setting_options(parser)
    return parser
