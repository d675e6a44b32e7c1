"""What a diagnosis is made from: every figure of one steady window, None where it is not known.

It can be written as JSON and read back, so that a window once seen can be judged again.
"""

from __future__ import annotations

from msgspec import Struct

from gputrain_presets import Preset

from ..ceilings import Ceilings
from ..settings import Settings, Value
from ..timeline import Device, Flags, HostLoad, Memory, Profile


class StepTimes(Struct, frozen=True, kw_only=True):
    """The steps of the window: medians over its samples."""

    step_ms: float
    """S: wall time of a step, the mean over its instrumented steps."""
    p50_ms: float
    p95_ms: float
    spread: float | None = None
    """Interquartile range of the samples' rates over their median."""
    samples_per_s: float | None = None
    seconds: float = 0.0
    """How long the window is."""
    steps: int = 0
    """Steps in it, about."""
    host_ms: dict[str, float] = {}
    """Host time by phase; W is `data`."""
    device_ms: dict[str, float] = {}
    """The device's span by phase, gaps included; empty on a CPU."""
    dispatch_ms: float | None = None
    """D: host time from the start of forward to the return of the optimizer; None on a CPU."""
    flops_per_s: float | None = None


class Workload(Struct, frozen=True, kw_only=True):
    """What the preset says of the work, in the present size."""

    family: str
    """"mlp", "resnet", "hier_bilstm", "file" ..."""
    convolutional: bool = False
    recurrent: bool = False
    own_code: bool = False
    """Whether the user's own file builds it."""
    parameters: int | None = None
    tensors: int | None = None
    """Parameter tensors."""
    sample_bytes: int | None = None
    """Of one sample's inputs and targets on their way to the device."""
    sequence_steps: int | None = None
    """Steps in time that a recurrence makes one after another, forward."""
    optimizer: str = ""
    """Its class in torch.optim."""
    optimizer_way: str | None = None
    """"loop", "foreach" or "fused", where the preset says so; else PyTorch chooses."""
    in_memory: bool = True
    """Whether the data set lies in memory as arrays; False where each sample is read from a file."""
    training_samples: int | None = None


class GpuState(Struct, frozen=True, kw_only=True):
    """The GPU that trains, as its driver sees it: medians over the window. Fractions are 0..1."""

    name: str | None = None
    utilisation: float | None = None
    sm_active: float | None = None
    tensor_active: float | None = None
    dram_active: float | None = None
    sm_clock_mhz: float | None = None
    sm_clock_max_mhz: float | None = None
    throttle: list[str] = []
    """Reasons that held in at least half of the window's samples."""
    temperature_c: float | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    memory_used_bytes: float | None = None
    memory_total_bytes: float | None = None
    pcie_generation: int | None = None
    pcie_width: int | None = None
    pcie_generation_max: int | None = None
    pcie_width_max: int | None = None
    pcie_rx_bytes_per_s: float | None = None
    others_memory_bytes: float | None = None
    """Memory that other processes hold."""
    others: list[str] = []
    """Names of other processes that have something on it."""
    driver_model: str | None = None
    """On Windows "wddm", "tcc" or "mcdm"."""


class Measured(Struct, frozen=True, kw_only=True):
    """What was seen under other settings earlier in the session."""

    settings: Settings
    step_ms: float
    samples_per_s: float


class Inputs(Struct, frozen=True, kw_only=True):
    """All that is known of one window under unchanged settings."""

    settings: Settings
    step: StepTimes | None = None
    profile: Profile | None = None
    """The newest burst under these settings."""
    ceilings: Ceilings | None = None
    """Of the device that trains."""
    all_ceilings: dict[str, Ceilings] = {}
    """Of every device that was probed, by PyTorch's name."""
    workload: Workload | None = None
    preset: Preset | None = None
    devices: list[Device] = []
    gpu: GpuState | None = None
    host: HostLoad | None = None
    memory: Memory | None = None
    cores: int | None = None
    """Logical cores that training may use."""
    gpus_seen: int = 0
    """GPUs that the driver shows, whether PyTorch can use them or not."""
    torch: str | None = None
    cuda: str | None = None
    flags: Flags = {}
    settling: str | None = None
    """Why the samples do not count yet, in words; None where they do."""
    preparations: int = 0
    """Compilations or captures that fell into ordinary steps of the last minute."""
    preparation_ms: float = 0.0
    """What these took in all."""
    changed: str | None = None
    """The setting that the last change turned; a compilation right after one is no churn."""
    fastest_ms: float | None = None
    """The shortest step that a window under these very settings has shown so far."""
    measured: list[Measured] = []
    failed: list[tuple[str, Value]] = []
    """Changes that were given up in this session."""

    @property
    def on_cpu(self) -> bool:
        """Whether the device is a CPU."""
        return self.settings.device == "cpu"

    @property
    def step_ms(self) -> float:
        """S; only where there is a window."""
        assert self.step is not None, "there is no window"
        return self.step.step_ms

    @property
    def foreign_cores(self) -> float | None:
        """Cores' worth of CPU time that other programs use."""
        host = self.host
        if host is None:
            return None
        if host.others_cpu_utilisation is not None:
            return host.others_cpu_utilisation
        if host.cpu_utilisation is None or host.worker_cpu_utilisation is None or self.cores is None:
            return None
        ours = host.worker_cpu_utilisation + (host.screen_cpu_utilisation or 0.0)
        return max(0.0, host.cpu_utilisation * self.cores - ours)

    @property
    def device(self) -> Device | None:
        """What is known of the device that trains."""
        return next((one for one in self.devices if one.device == self.settings.device), None)

    @property
    def capability(self) -> tuple[int, int] | None:
        """Its CUDA compute capability; None on a CPU, or where it is not known."""
        text = None if self.device is None else self.device.compute_capability
        if text is None:
            return None
        major, _, minor = text.partition(".")
        return int(major), int(minor or 0)

    def host_ms(self, phase: str) -> float | None:
        """Host time of a phase."""
        return None if self.step is None else self.step.host_ms.get(phase)

    def with_setting(self, setting: str, value: Value) -> Measured | None:
        """What was measured earlier with this one setting different, if it was."""
        wanted = self.settings.with_value(setting, value)
        return next((one for one in self.measured if one.settings == wanted), None)
