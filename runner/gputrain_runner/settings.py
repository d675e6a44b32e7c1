"""What can be turned while it trains: the settings, their allowed values and their ladders.

A setting is added by adding a field to `Settings` and its rule to `RULES`; the screen, the command
line, the protocol and the recording take it from here. Applying it is the worker's part.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from msgspec import Struct, structs

from gputrain_presets import Preset, spec, text_models

Value = str | int | None
"""None: the setting has no meaning for the preset at hand."""


class SettingError(ValueError):
    """A setting that does not exist or a value it cannot take; the text is one line for the user."""


class Settings(Struct, frozen=True, kw_only=True):
    """The settings of a session at one moment."""

    device: str
    batch_size: int
    model_size: str
    precision: str = "fp32"
    execution: str = "eager"
    data_path: str = "host"
    workers: int = 2
    """Processes of the `loader` data path."""
    models_at_once: int = 1
    passes: str = "training"
    threads: int | None = None
    """PyTorch's intra-op threads on the CPU; None until PyTorch has said what it uses by itself."""
    memory_format: str | None = None
    recurrence: str | None = None

    def value(self, name: str) -> Value:
        """The value of the setting called `name`."""
        value: Value = getattr(self, name)
        return value

    def with_value(self, name: str, value: Value) -> Settings:
        """A copy with one setting changed."""
        return structs.replace(self, **{name: value})


@dataclass(frozen=True, slots=True)
class Context:
    """What the allowed values depend on."""

    preset: Preset
    devices: Sequence[str] = ()
    """The devices PyTorch can use, best first; empty while that is not known yet."""
    cores: int = 64
    """Logical cores that training may use."""
    loaded_samples: int | None = None
    """Training samples there are once the data is loaded; files hold what they hold."""
    cuda_absence: str | None = None
    """Why PyTorch can use no CUDA GPU and what to do, in one line; None where it can or it is not known."""

    @property
    def training_samples(self) -> int:
        """How many training samples there are, as far as is known."""
        return self.loaded_samples or self.preset.data.training_samples


@dataclass(frozen=True, slots=True)
class Choice:
    """A setting that takes one of a few names; stepping past the end goes round or stops."""

    label: str
    choices: Callable[[Context], Sequence[Value]]
    wraps: bool = True
    free_form: str = r"(?!)"
    """What is accepted while the choices are not known yet (a regular expression)."""
    free_form_words: str = "not known yet"
    """The same in words."""
    ladder: Callable[[Context, str], Sequence[Value]] | None = None
    """The choices and a value beside them, each in its place; KeyError where it cannot be one."""
    others: Callable[[Context], str | None] = lambda _context: None
    """What values there are beside the choices, in words."""
    hint: Callable[[Context, str], str | None] = lambda _context, _text: None
    """Why a value is not among the choices, where that can be said."""

    def parse(self, name: str, text: str, context: Context) -> Value:
        """`text` as a value of this setting."""
        allowed = self._around(text, context)
        for value in allowed:
            if text == str(value):
                return value
        if not allowed and re.fullmatch(self.free_form, text):
            return text
        why = self.hint(context, text)
        because = "" if why is None else f"; {why}"
        raise SettingError(f"{name}: found {text!r}, allowed: {self.allowed(context)}{because}")

    def allowed(self, context: Context) -> str:
        """In words, what the setting can be."""
        listed = ", ".join(str(value) for value in self.choices(context)) or self.free_form_words
        others = self.others(context)
        return listed if others is None else f"{listed}; or {others}"

    def _around(self, value: Value, context: Context) -> Sequence[Value]:
        """The choices, and `value` in its place where it is one beside them."""
        if self.ladder is not None:
            with suppress(KeyError):
                return self.ladder(context, str(value))
        return self.choices(context)

    def step(self, name: str, current: Value, up: bool, context: Context) -> Value:
        """The neighbour of `current` on the ladder."""
        allowed = list(self._around(current, context))
        if not allowed:
            raise SettingError(f"{self.label}: the choices are not known yet, the worker is starting")
        if allowed == [current]:
            raise SettingError(f"{self.label}: {current} is the only one here")
        at = allowed.index(current) + (1 if up else -1) if current in allowed else 0
        if self.wraps:
            return allowed[at % len(allowed)]
        if not 0 <= at < len(allowed):
            raise SettingError(f"{self.label}: {current} is the {'largest' if up else 'smallest'}")
        return allowed[at]


@dataclass(frozen=True, slots=True)
class Count:
    """A setting that takes a whole number; stepping doubles or halves it."""

    label: str
    largest: Callable[[Context], int]
    limit: str
    """What the largest value is, in words."""
    smallest: int = 1

    def parse(self, name: str, text: str, context: Context) -> Value:
        """`text` as a value of this setting."""
        largest = self.largest(context)
        if not re.fullmatch(r"[0-9]{1,18}", text) or not self.smallest <= int(text) <= largest:
            raise SettingError(f"{name}: found {text!r}, allowed: {self.allowed(context)}")
        return int(text)

    def allowed(self, context: Context) -> str:
        """In words, what the setting can be."""
        return f"a whole number from {self.smallest} to {self.largest(context):,} ({self.limit})"

    def step(self, name: str, current: Value, up: bool, context: Context) -> Value:
        """Twice or half of `current`."""
        value = int(current or 0)
        stepped = max(1, value * 2) if up else value // 2
        if stepped < self.smallest or stepped == value:
            raise SettingError(f"{self.label}: {value} is the smallest")
        if stepped > self.largest(context):
            raise SettingError(f"{self.label}: {stepped:,} is more than {self.limit}")
        return stepped


Rule = Choice | Count


def _always(*values: Value) -> Callable[[Context], Sequence[Value]]:
    return lambda _context: values


def _no_cuda(context: Context, text: str) -> str | None:
    return context.cuda_absence if text.startswith("cuda") else None


def _for_images(context: Context) -> Sequence[Value]:
    return ("channels_first", "channels_last") if isinstance(context.preset.data, spec.ImagesData) else ()


def _for_recurrent(context: Context) -> Sequence[Value]:
    return ("fused", "stepwise") if isinstance(context.preset.model, text_models.HierBiLstmModel) else ()


RULES: dict[str, Rule] = {
    "device": Choice(
        "device",
        lambda context: context.devices,
        free_form=r"cpu|cuda(:\d+)?",
        free_form_words="cpu, cuda or cuda:NUMBER",
        hint=_no_cuda,
    ),
    "batch_size": Count(
        "batch size",
        lambda context: context.training_samples,
        "the training samples there are",
    ),
    "model_size": Choice(
        "model size",
        lambda context: context.preset.size_names,
        wraps=False,
        ladder=lambda context, size: context.preset.ladder_with(size),
        others=lambda context: context.preset.other_sizes,
    ),
    "precision": Choice("precision", _always("fp32", "tf32", "bf16", "fp16")),
    "execution": Choice("execution", _always("eager", "compiled", "graph")),
    "data_path": Choice("data path", _always("loader", "host", "pinned", "prefetch", "resident")),
    "workers": Count("loader workers", lambda _context: 64, "more would not help", smallest=0),
    "models_at_once": Count("models at once", lambda _context: 4096, "4,096"),
    "passes": Choice("passes", _always("training", "forward")),
    "threads": Count("CPU threads", lambda context: 4 * context.cores, "four times the cores"),
    "memory_format": Choice(
        "memory format", _for_images, free_form_words="nothing here, it is for image networks"
    ),
    "recurrence": Choice(
        "recurrence", _for_recurrent, free_form_words="nothing here, it is for recurrent networks"
    ),
}
"""Every setting by its name, in the order in which it is shown."""


def rule(name: str) -> Rule:
    """The rule of the setting called `name`; SettingError with a suggestion where there is none."""
    if name in RULES:
        return RULES[name]
    near = difflib.get_close_matches(name, RULES, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else f"; settings are {', '.join(RULES)}"
    raise SettingError(f"no setting is called {name!r}{hint}")


def parse(name: str, text: str, context: Context) -> Value:
    """The value that `text` means for the setting called `name`."""
    return rule(name).parse(name, text, context)


def step(name: str, current: Value, up: bool, context: Context) -> Value:
    """The next value up or down the ladder; SettingError says why there is none."""
    return rule(name).step(name, current, up, context)


def applies(name: str, context: Context) -> bool:
    """Whether the setting has a meaning for the preset at hand."""
    of = RULES[name]
    return name == "device" or not isinstance(of, Choice) or bool(of.choices(context))


def initial(preset: Preset, device: str) -> Settings:
    """The settings a preset starts with."""
    context = Context(preset)
    return Settings(
        device=device,
        batch_size=preset.batch_size,
        model_size=preset.model.default_size,
        memory_format="channels_first" if applies("memory_format", context) else None,
        recurrence="fused" if applies("recurrence", context) else None,
    )


def without_effect(name: str, in_force: Settings) -> str | None:
    """Why turning that setting alters nothing under the others in force; None where it does."""
    if name == "workers" and in_force.data_path != "loader":
        return f"only the data path loader has them, and {in_force.data_path} is in force"
    return None


_TF32_AND_BF16_SINCE = (8, 0)


def refusal(wanted: Settings, capability: str | None) -> str | None:
    """Why such settings cannot work together on their device, where that can be said without trying.

    Args:
        wanted: the settings.
        capability: the device's CUDA compute capability as "8.0"; None on a CPU.
    """
    on_cpu = wanted.device == "cpu"
    if wanted.execution == "graph" and on_cpu:
        return "execution graph needs a CUDA GPU: a graph replays kernels without the host, a CPU has none"
    if wanted.execution == "graph" and wanted.precision == "fp16" and wanted.passes == "training":
        return "execution graph with fp16: its loss scale is decided on the host at every step; use bf16"
    if wanted.data_path == "pinned" and on_cpu:
        return "data path pinned needs a CUDA GPU: pinned memory is for copies to one"
    if wanted.precision == "tf32" and on_cpu:
        return "precision tf32 needs an NVIDIA GPU of compute capability 8.0 (Ampere) or newer"
    if wanted.precision in ("tf32", "bf16") and capability is not None:
        found = tuple(int(part) for part in capability.split("."))
        if found < _TF32_AND_BF16_SINCE:
            return (
                f"precision {wanted.precision} needs compute capability 8.0 (Ampere) or newer, "
                f"this GPU has {capability}"
            )
    return None
