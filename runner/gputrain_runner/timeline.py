"""What a session is made of: the header and the timeline's entries.

These structs are at once what the screens are drawn from, what a recording holds (design contract:
`null` means not measured, units are in the names) and what its JSON Schema is generated from.
Times `t` are seconds since the session began.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from .ceilings import Probe
from .hardware import Gpu as Gpu
from .hardware import GpuDetail as GpuDetail
from .hardware import GpuProcess as GpuProcess
from .hardware import HostLoad as HostLoad
from .settings import Settings, Value

PHASES = ("data", "h2d", "forward", "backward", "optimizer", "other")
"""The phases of a step, in the order in which they run; their host times sum to the step's."""

Level = Literal["info", "warning", "error"]

Flags = dict[str, str | bool | int]
"""PyTorch's switches that decide arithmetic and speed, by their names there: `cuda.matmul.allow_tf32`,
`cudnn.benchmark`, `num_threads` and their like."""


class Phase(Struct, frozen=True, kw_only=True):
    """Mean time of one phase over the instrumented steps of a sample."""

    host_ms: float | None = None
    device_ms: float | None = None


class StepMs(Struct, frozen=True, kw_only=True):
    """Wall time of the instrumented steps of a sample."""

    p50: float
    p95: float
    mean: float


class Memory(Struct, frozen=True, kw_only=True):
    """What PyTorch's caching allocator holds on the training device; null on a CPU."""

    allocated_bytes: int | None = None
    reserved_bytes: int | None = None
    peak_allocated_bytes: int | None = None


class KindOfWork(Struct, frozen=True, kw_only=True):
    """One kind of operation within a step: what its kernels (on a CPU its operators) took together."""

    ms: float
    """Time per step."""
    count: float
    """Kernels (operators) per step."""


class Profile(Struct, frozen=True, kw_only=True):
    """What a burst of profiled steps showed, per step; the burst's own steps are in no rate.

    On a GPU the work is its kernels and copies; on a CPU it is the operators' own time (without what
    they call), and what is left of the step is Python and dispatch.
    """

    steps: int
    """How many steps were profiled."""
    step_ms: float
    """Wall time of a step without the profiler: the median of the steady ones before the burst."""
    work_ms: float
    """Time in which work was under way: the union of its intervals."""
    launches: float
    """Kernels and copies (on a CPU: operators)."""
    work: dict[str, KindOfWork]
    """By kind: "matmul", "convolution", "recurrence", "normalisation", "elementwise", "reduction",
    "optimizer", "copy", "other"; kinds that do not occur are absent."""
    copy_ms: float | None = None
    """Host-to-device copies on the device; null on a CPU."""
    copy_exposed_ms: float | None = None
    """The part of `copy_ms` during which no kernel ran."""
    copy_bytes: float | None = None
    sync_count: float | None = None
    """Times the host waited for the device or read a value back from it (`.item()` and its like)."""
    sync_ms: float | None = None
    """Host time spent in those waits."""
    tensor_core_ms: float | None = None
    """Of `work_ms`, kernels that use tensor cores, judged by their names; null on a CPU."""
    launch_calls: float | None = None
    """Calls with which the host launched them: a CUDA graph is one. Null on a CPU."""
    supply_ms: float | None = None
    """Of `work_ms`, operators that put the batch together, in the phases `data` and `h2d`; null on a GPU."""


class Validation(Struct, frozen=True, kw_only=True):
    """One pass over the validation set at an epoch's end; outside of every rate and step time.

    Where epochs are shorter than samples, a sample has the newest of them.
    """

    epoch: int
    """The epoch that had just ended, counted from 1."""
    host_ms: float
    device_ms: float | None = None
    samples: int
    loss: float | None
    accuracy: float | None = None
    """Share of samples whose highest score is the label's, 0..1; null for regression."""


class Sample(Struct, frozen=True, kw_only=True, tag_field="kind", tag="sample"):
    """A periodic record of everything: some steps together, and what host and GPUs did meanwhile."""

    t: float
    step: int
    """Steps finished since the session began."""
    epoch: int
    """Epochs finished since the session began."""
    settings: Settings
    steady: bool
    """False while settling after a start or a change: not to be quoted as a rate."""
    samples_per_s: float | None = None
    steps_per_s: float | None = None
    step_ms: StepMs | None = None
    loss: float | None = None
    phases: dict[str, Phase] | None = None
    dispatch_ms: float | None = None
    busy: float | None = None
    """Share of wall time in which the GPU ran kernels or copies of this process: the newest profile's
    under these settings. Null on a CPU, and before the first."""
    profile: Profile | None = None
    """A burst's result, in the first sample after it; in all others null."""
    flops_per_s: float | None = None
    memory: Memory | None = None
    validation: Validation | None = None
    trained_s: float | None = None
    """Seconds since the worker's first step began, without compiling and capturing."""
    gpus: list[Gpu] = []
    """Always the GPU that trains (on a CPU the first one); of the others those with something new."""
    host: HostLoad | None = None


class Change(Struct, frozen=True, kw_only=True, tag_field="kind", tag="change", rename={"from_": "from"}):
    """A setting that was changed, or could not be."""

    t: float
    """When it was asked for; where an entry of a later time came first, that time."""
    step: int
    """The first step under the new setting (or the step at which it was given up)."""
    setting: str
    from_: Value
    to: Value
    ok: bool
    error: str | None = None
    applied_in_ms: float | None = None
    """From being asked for to the end of the first step under it."""
    preparation_ms: float | None = None
    """How much of that went into compiling or capturing the step; null where nothing was."""
    flags: Flags | None = None
    """PyTorch's switches from now on, where the change altered any."""


class Rate(Struct, frozen=True, kw_only=True):
    """The throughput on one side of a change: median and quartiles over its steady samples."""

    samples_per_s: float
    q25: float
    q75: float
    samples: int
    """How many timeline samples it was taken over."""


class Effect(Struct, frozen=True, kw_only=True, tag_field="kind", tag="effect"):
    """What a change did to the throughput: after / before, with a spread."""

    t: float
    change: int
    """Index of the change in the timeline."""
    since: int | None = None
    """Index of the first change of a quick chain that ended with `change`; `before` was before it. Null
    where the change stands alone."""
    before: Rate
    after: Rate
    ratio: float
    ratio_low: float
    ratio_high: float
    predicted_ratio: float | None = None
    learnt: str | None = None
    """Where the prediction missed, why, in words."""


class Remedy(Struct, frozen=True, kw_only=True):
    """Something that would help, and by how much: a setting to turn, or advice where no setting can."""

    setting: str | None
    """Null where it is advice."""
    to: Value
    predicted_ratio: float | None
    """Predicted samples/s over the present ones; null where no figure can be given."""
    why: str
    predicted_low: float | None = None
    predicted_high: float | None = None
    keeps_meaning: bool = True
    """Whether training computes the same with it, up to rounding: false for batch size, precision below
    fp32 and model size."""


class Finding(Struct, frozen=True, kw_only=True):
    """One rule that holds."""

    bottleneck: str
    """The rule's name, as in `Verdict.bottleneck`."""
    sentence: str
    """What is the matter, in one plain sentence."""
    evidence: list[str]
    """With figures, in words."""
    remedies: list[Remedy]
    """The most promising first."""
    slice_ms: float | None = None
    """How much of the step it accounts for."""
    limit_ratio: float | None = None
    """Amdahl: what removing that slice entirely would give at most."""


class Verdict(Struct, frozen=True, kw_only=True, tag_field="kind", tag="verdict"):
    """The named bottleneck, and what else holds, ranked by predicted milliseconds saved."""

    t: float
    bottleneck: str
    evidence: list[str]
    remedies: list[Remedy]
    sentence: str = ""
    slice_ms: float | None = None
    limit_ratio: float | None = None
    step_ms: float | None = None
    """The step's wall time that it was reached from."""
    others: list[Finding] = []
    cards: list[Remedy] = []
    """On a GPU: what the cards that would help most would give, as advice."""


class Message(Struct, frozen=True, kw_only=True, tag_field="kind", tag="message"):
    """A line for the user."""

    t: float
    level: Level
    text: str
    change: int | None = None
    """Index in the timeline of the change it is about; null where it is about none."""


Entry = Sample | Change | Effect | Verdict | Message


class SessionInfo(Struct, frozen=True, kw_only=True):
    """What was started, when and how."""

    id: str
    started_at: str
    """UTC, ISO 8601."""
    preset: dict[str, Any]
    """The preset as resolved: every key, defaults filled in."""
    settings: Settings
    command: list[str]
    parameters: int | None = None
    """Trainable numbers of the model in the size it starts with; null until it is built."""
    data: str | None = None
    """What the data is in words, "synthetic ..." where it is; null until it is loaded."""
    flags: Flags | None = None
    """PyTorch's switches at the first step; a change that alters them has the new ones."""


class Host(Struct, frozen=True, kw_only=True):
    """The machine and its software."""

    os: str
    cpu: str | None
    cores: int | None
    """Logical cores this process may use."""
    memory_bytes: int | None
    python: str
    over_ssh: bool
    torch: str | None = None
    cuda: str | None = None
    cudnn: str | None = None
    driver: str | None = None


class PcieMax(Struct, frozen=True, kw_only=True):
    """The best link that card and slot together allow."""

    generation_max: int | None = None
    width_max: int | None = None


class Device(Struct, frozen=True, kw_only=True):
    """A device that PyTorch can train on."""

    device: str
    name: str | None = None
    uuid: str | None = None
    memory_bytes: int | None = None
    compute_capability: str | None = None
    pcie: PcieMax | None = None


class Header(Struct, frozen=True, kw_only=True):
    """What does not change during a session."""

    session: SessionInfo
    host: Host
    devices: list[Device] = []
    probe: Probe | None = None


class FinalValidation(Struct, frozen=True, kw_only=True):
    """The last pass over the validation set."""

    loss: float | None
    accuracy: float | None = None


class Summary(Struct, frozen=True, kw_only=True):
    """How a session ended."""

    ended: Literal["finished", "interrupted", "failed"]
    error: str | None
    seconds: float
    steps: int
    epochs: int
    samples: int
    """Training samples processed."""
    samples_per_s: float | None
    """Median over the steady samples of the last settings."""
    loss_first: float | None
    loss_last: float | None
    validation: FinalValidation | None
    changes: int
    effects: int


class Recording(Struct, frozen=True, kw_only=True):
    """A whole recording, as it lies in its file."""

    schema: Literal["gputrain-session"]
    version: Literal[1]
    session: SessionInfo
    host: Host
    devices: list[Device]
    probe: Probe | None
    timeline: list[Entry]
    summary: Summary | None = None
