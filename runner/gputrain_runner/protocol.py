"""What the session and its worker say to each other: one JSON line per struct, both ways.

All times are `time.monotonic()`, which parent and child share on one machine; the session turns
them into seconds since its start.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from gputrain_presets import Preset

from .ceilings import Ceilings
from .settings import Settings, Value
from .timeline import Device, Flags, Level, Memory, Phase, Profile, StepMs, Validation

# ------------------------------------------------------------- session to worker


class ScheduledChange(Struct, frozen=True, kw_only=True):
    """A change to make just before step number `step`, counted from 0."""

    step: int
    setting: str
    to: Value


class Start(Struct, frozen=True, kw_only=True, tag=True):
    """Build the preset and train. Sent once, first."""

    preset: Preset
    settings: Settings
    seed: int = 0
    report_every_s: float = 0.25
    steps: int | None = None
    """Stop after this many steps."""
    epochs: int | None = None
    """Stop after this many epochs, each with its validation."""
    seconds: float | None = None
    """Stop this long after the first step began, not counting what compiling and capturing take."""
    scheduled: list[ScheduledChange] = []
    profile_every_s: float | None = 30.0
    """From one burst of profiled steps to the next, at least; None or 0: there are none."""


class ChangeSetting(Struct, frozen=True, kw_only=True, tag=True):
    """Change one setting between two steps; answered by `Changed`."""

    setting: str
    to: Value
    asked_at: float


class Pause(Struct, frozen=True, kw_only=True, tag=True):
    """Stop stepping until `Resume`; answered by `Paused`."""


class Resume(Struct, frozen=True, kw_only=True, tag=True):
    """Go on stepping; answered by `Resumed`."""


class Describe(Struct, frozen=True, kw_only=True, tag=True):
    """Build every size of a preset without storage and count; answered by `Described`."""

    preset: Preset


class CountWork(Struct, frozen=True, kw_only=True, tag=True):
    """Count what one step is made of, without training; answered by `WorkCounted`."""

    preset: Preset
    model_size: str
    batch_size: int
    passes: str = "training"


class TimeSteps(Struct, frozen=True, kw_only=True, tag=True):
    """Build a preset, warm up and time a number of steps; answered by `StepsTimed`."""

    preset: Preset
    settings: Settings
    warmup: int
    runs: int
    seconds: float
    """Building, warming up and timing take no longer than about this; two steps are timed at least."""
    seed: int = 0


class Probe(Struct, frozen=True, kw_only=True, tag=True):
    """Measure the ceilings of these devices (all there are where the list is empty), one after another;
    each is answered by `Probed`. Training, where it runs, waits meanwhile."""

    devices: list[str] = []
    seconds_each: float = 10.0


class Stop(Struct, frozen=True, kw_only=True, tag=True):
    """End after the current step; answered by `Finished`, then the worker exits."""


Command = Start | ChangeSetting | Pause | Resume | Describe | CountWork | TimeSteps | Probe | Stop

# ------------------------------------------------------------- worker to session


class Hello(Struct, frozen=True, kw_only=True, tag=True):
    """PyTorch is loaded: what it is and which devices it can use, best first."""

    torch: str
    cuda: str | None
    cudnn: str | None
    devices: list[Device]
    threads: int
    """Intra-op threads PyTorch uses on the CPU."""
    cuda_absence: str | None = None
    """Why PyTorch can use no CUDA GPU and what to do, in one line; None where it can."""


class Started(Struct, frozen=True, kw_only=True, tag=True):
    """Model and data are built and the first step is about to run."""

    at: float
    settings: Settings
    data: str
    """What the data is, in words; begins with "synthetic" where it is."""
    synthetic: bool
    parameters: int
    training_samples: int
    validation_samples: int
    flags: Flags | None = None
    """PyTorch's switches."""


class Progress(Struct, frozen=True, kw_only=True, tag=True):
    """The worker's half of a sample: the steps since the last one. May be dropped when not read."""

    at: float
    step: int
    epoch: int
    samples: int
    """Training samples processed since the session began."""
    settings: Settings
    steady: bool
    samples_per_s: float | None
    steps_per_s: float | None
    step_ms: StepMs | None
    loss: float | None
    phases: dict[str, Phase] | None
    dispatch_ms: float | None
    flops_per_s: float | None
    memory: Memory | None
    trained_s: float | None = None
    """Since this worker's first step began, without compiling and capturing: what `seconds` limits."""
    busy: float | None = None
    profile: Profile | None = None
    """A burst that ended since the last report."""
    validation: Validation | None = None


class Changed(Struct, frozen=True, kw_only=True, tag=True):
    """A change was made, or given up with everything as it was before."""

    asked_at: float
    done_at: float
    """End of the first step under the new setting, or of the way back."""
    step: int
    setting: str
    from_: Value
    to: Value
    ok: bool
    error: str | None
    settings: Settings
    """The settings in force now."""
    preparation_ms: float | None = None
    """Time until `done_at` that went into compiling or capturing the step."""
    flags: Flags | None = None
    """PyTorch's switches in force now, where the change altered any."""


class Paused(Struct, frozen=True, kw_only=True, tag=True):
    """No step runs."""

    at: float
    step: int


class Resumed(Struct, frozen=True, kw_only=True, tag=True):
    """Steps run again."""

    at: float


class Said(Struct, frozen=True, kw_only=True, tag=True):
    """A line for the user."""

    at: float
    level: Level
    text: str


class SizeFacts(Struct, frozen=True, kw_only=True):
    """One size of a preset as built."""

    name: str
    parameters: int
    tensors: int
    """Parameter tensors."""
    forward_flops_per_sample: int | None
    """A multiplication or an addition is one FLOP; None where a user's own model cannot be counted."""


class Described(Struct, frozen=True, kw_only=True, tag=True):
    """The sizes of a preset as built."""

    preset: str
    sizes: list[SizeFacts]


class Operation(Struct, frozen=True, kw_only=True):
    """An operation of a step, and how many times it comes like this."""

    name: str
    """PyTorch's, as "convolution"."""
    flops: int
    moved_bytes: int
    """Operands and results, once each."""
    kernels: int
    """Kernels that one of it starts on a GPU."""
    count: int


class WorkCounted(Struct, frozen=True, kw_only=True, tag=True):
    """The operations of one step in fp32."""

    operations: list[Operation]
    batch_bytes: int
    """Inputs and targets: what is copied to the device for a step."""


class StepsTimed(Struct, frozen=True, kw_only=True, tag=True):
    """What a number of steps took, each; lists are empty and figures null where it did not come to that."""

    at: float
    outcome: Literal["ok", "out_of_memory", "failed"]
    error: str | None
    settings: Settings
    """The settings in force."""
    began_at: float | None = None
    """When the timed steps began."""
    forward_ms: list[float] = []
    """Forward with the loss; empty where it is launched as one with backward and optimizer."""
    forward_backward_ms: list[float] = []
    """Forward and backward, with the optimizer where all is launched as one; empty for passes forward."""
    step_ms: list[float] = []
    """All of the step, data and optimizer too."""
    samples_per_s: float | None = None
    """Over the whole time of these steps."""
    peak_memory_bytes: int | None = None
    """Of the device's allocator; on a CPU the process's largest resident set."""
    flops_per_sample: int | None = None
    flags: Flags | None = None


class Probed(Struct, frozen=True, kw_only=True, tag=True):
    """The ceilings of one device."""

    at: float
    device: str
    ceilings: Ceilings | None
    """None where it could not be measured."""
    error: str | None = None
    """Why not, in one line."""
    more: bool
    """Whether other devices of the same `Probe` follow."""


class Finished(Struct, frozen=True, kw_only=True, tag=True):
    """Training ended as asked: a limit was reached or `Stop` came."""

    at: float
    step: int
    epoch: int
    samples: int
    loss_first: float | None
    loss_last: float | None
    stopped: bool
    """True where `Stop` ended it, false where a limit did."""


class Failed(Struct, frozen=True, kw_only=True, tag=True):
    """Training cannot go on; the worker exits."""

    at: float
    error: str
    """One line for the user; the traceback is in the worker's log."""
    usage: bool = False
    """Whether the command line or a file is wrong, rather than the run having failed."""


Report = (
    Hello
    | Started
    | Progress
    | Changed
    | Paused
    | Resumed
    | Said
    | Described
    | WorkCounted
    | StepsTimed
    | Probed
    | Finished
    | Failed
)

_encoder = msgspec.json.Encoder()
_commands: msgspec.json.Decoder[Command] = msgspec.json.Decoder(Command)
_reports: msgspec.json.Decoder[Report] = msgspec.json.Decoder(Report)


def encode(item: Command | Report) -> bytes:
    """One line, with its newline."""
    return _encoder.encode(item) + b"\n"


def decode_command(line: bytes) -> Command:
    """A command from one line."""
    return _commands.decode(line)


def decode_report(line: bytes) -> Report:
    """A report from one line."""
    return _reports.decode(line)
