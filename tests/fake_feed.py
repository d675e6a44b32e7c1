"""A session and its sessions' keeper for tests: the feed's entries come from the test, calls are noted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import structs, to_builtins

from gputrain_presets import Preset, load
from gputrain_runner.ceilings import Probe
from gputrain_runner.feed import Refused, State, Timeline
from gputrain_runner.settings import Context, Settings, Value, initial
from gputrain_runner.summary import Ended
from gputrain_runner.timeline import (
    Change,
    Device,
    Effect,
    Entry,
    Gpu,
    Header,
    Host,
    HostLoad,
    Memory,
    Message,
    Phase,
    Rate,
    Sample,
    SessionInfo,
    StepMs,
    Validation,
)
from gputrain_tui.sessions import SessionError

CPU = Device(device="cpu", name="a CPU", memory_bytes=24_000_000_000)
H200 = Device(device="cuda:0", name="NVIDIA H200", uuid="GPU-1", memory_bytes=141_000_000_000)
HOST = Host(os="Linux", cpu="a CPU", cores=2, memory_bytes=24_000_000_000, python="3.11.7", over_ssh=True)
NO_GPU = "No NVIDIA GPU: the driver library libnvidia-ml.so.1 was not found. Training runs on the CPU."


class FakeSession:
    """A feed and its control; the test moves it."""

    def __init__(self, preset: str | Preset = "lasagne-mlp", *, gpu: bool = False) -> None:
        self.preset = load(preset) if isinstance(preset, str) else preset
        self.devices = [H200, CPU] if gpu else [CPU]
        self.settings: Settings = initial(self.preset, self.devices[0].device)
        self.state: State = "running"
        self.reason: str | None = None
        self.log_tail: Sequence[str] = ()
        self.elapsed_s = 0.0
        self.recording: Path | None = None
        self.gpu_absence: str | None = None if gpu else NO_GPU
        self.refuses: str | None = None
        self.probes: Probe | None = None
        """The devices' ceilings, where they are known."""
        self.calls: list[tuple[object, ...]] = []
        self.undoes: tuple[str, Value] | None = None
        """What an undo will turn back."""
        self._timeline = Timeline()
        self._step = 0
        self.gpus: list[Gpu] | None = None
        """What the samples have of GPUs, where it is not the usual one."""
        self.busy: float | None = None
        self.memory: Memory | None = None
        self.nvml_ms_per_s: float | None = None
        self.skewed_step = 1.0
        """How much longer the mean step is than the median one."""

    # ---------------------------------------------------------------- the feed

    @property
    def header(self) -> Header:
        info = SessionInfo(
            id="1",
            started_at="2026-11-30T10:12:00Z",
            preset=to_builtins(self.preset),
            settings=self.settings,
            command=["gputrain-tui"],
            data="synthetic, 934,918 × 75",
        )
        return Header(session=info, host=HOST, devices=self.devices, probe=self.probes)

    @property
    def context(self) -> Context:
        return Context(self.preset, [device.device for device in self.devices])

    @property
    def training_gpu(self) -> str | None:
        return self.devices[0].uuid

    def read(self, position: int) -> tuple[Sequence[Entry], int]:
        return self._timeline.read(position)

    # ------------------------------------------------------------- the control

    def change(self, setting: str, to: Value) -> None:
        self._note("change", setting, to)

    def undo(self) -> tuple[str, Value] | None:
        self._note("undo")
        return self.undoes

    def pause(self) -> None:
        self._note("pause")

    def resume(self) -> None:
        self._note("resume")

    def restart(self) -> None:
        self._note("restart")

    def probe(self) -> None:
        self._note("probe")

    def start_recording(self) -> Path:
        self._note("start_recording")
        self.recording = Path("/recordings/2026-11-30T10-12-00-lasagne-mlp.json")
        return self.recording

    def stop_recording(self) -> None:
        self._note("stop_recording")
        self.recording = None

    def _note(self, *call: object) -> None:
        if self.refuses is not None:
            raise Refused(self.refuses)
        self.calls.append(call)

    # ---------------------------------------------------------------- the test

    def add(self, entry: Entry) -> int:
        """Append an entry; its position."""
        return self._timeline.append(entry)

    def run(self, seconds: float, samples_per_s: float = 1_843_210.0, *, steady: bool = True) -> None:
        """Train for so long: four samples a second."""
        for _ in range(round(seconds * 4)):
            self.elapsed_s += 0.25
            self._step += 450
            self.add(self.sample(samples_per_s, steady=steady))

    def idle(self, seconds: float) -> None:
        """So long without a step: one sample a second, of host and GPUs alone."""
        for _ in range(round(seconds)):
            self.elapsed_s += 1.0
            steps = ("samples_per_s", "steps_per_s", "step_ms", "loss", "phases", "busy")
            self.add(structs.replace(self.sample(1.0, steady=False), **dict.fromkeys(steps)))

    def sample(self, samples_per_s: float, *, steady: bool = True) -> Sample:
        """A sample of now."""
        step_ms = self.settings.batch_size / samples_per_s * 1e3
        shares = {"data": 4, "h2d": 2, "forward": 34, "backward": 38, "optimizer": 20, "other": 2}
        on_gpu = self.settings.device.startswith("cuda")
        return Sample(
            t=self.elapsed_s,
            step=self._step,
            epoch=self._step // 913,
            settings=self.settings,
            steady=steady,
            samples_per_s=samples_per_s,
            steps_per_s=1e3 / step_ms,
            step_ms=StepMs(p50=step_ms, p95=step_ms * 1.1, mean=step_ms * self.skewed_step),
            loss=0.5 / (1 + self.elapsed_s),
            phases={
                name: Phase(
                    host_ms=share / 100 * step_ms, device_ms=share / 120 * step_ms if on_gpu else None
                )
                for name, share in shares.items()
            },
            gpus=self.gpus if self.gpus is not None else [self.gpu_values()] if on_gpu else [],
            busy=self.busy,
            memory=self.memory,
            host=HostLoad(
                cpu_utilisation=0.52,
                memory_used_bytes=3_200_000_000,
                memory_total_bytes=24_000_000_000,
                worker_cpu_utilisation=1.0,
                worker_rss_bytes=612_000_000,
                screen_cpu_utilisation=0.02,
                nvml_ms_per_s=self.nvml_ms_per_s,
            ),
        )

    def gpu_values(self) -> Gpu:
        """What the driver says now."""
        wave = 0.05 * (self._step // 450 % 5)
        return Gpu(
            index=0,
            uuid="GPU-1",
            name="NVIDIA H200",
            utilisation=0.61 + wave,
            memory_used_bytes=1_200_000_000,
            memory_total_bytes=141_000_000_000,
            pcie_rx_bytes_per_s=412e6 * (1 + wave),
            pcie_tx_bytes_per_s=3e6 * (1 + wave),
            pcie_source="byte_counters",
            pcie_generation=5,
            pcie_width=16,
            pcie_generation_max=5,
            pcie_width_max=16,
            sm_clock_mhz=1980,
            sm_clock_max_mhz=1980,
            power_w=142.0,
            power_limit_w=700.0,
            temperature_c=38,
            throttle=[],
        )

    def make_change(self, setting: str, to: Value, *, error: str | None = None) -> int:
        """The answer to a change: made, or given up for `error`; its position."""
        before = self.settings.value(setting)
        if error is None:
            self.settings = self.settings.with_value(setting, to)
        change = Change(
            t=self.elapsed_s,
            step=self._step,
            setting=setting,
            from_=before,
            to=to,
            ok=error is None,
            error=error,
            applied_in_ms=21.0,
        )
        return self.add(change)

    def add_effect(self, change: int, ratio: float) -> None:
        """The effect of the change at that position."""
        rate = Rate(samples_per_s=1e6, q25=0.99e6, q75=1.01e6, samples=12)
        effect = Effect(
            t=self.elapsed_s,
            change=change,
            before=rate,
            after=rate,
            ratio=ratio,
            ratio_low=ratio - 0.03,
            ratio_high=ratio + 0.03,
        )
        self.add(effect)

    def add_validation(self, epoch: int, loss: float, accuracy: float | None) -> None:
        """The end of an epoch."""
        found = Validation(epoch=epoch, host_ms=80.0, samples=10_000, loss=loss, accuracy=accuracy)
        self.add(
            Sample(
                t=self.elapsed_s,
                step=self._step,
                epoch=epoch,
                settings=self.settings,
                steady=True,
                validation=found,
            )
        )

    def say(self, text: str, level: str = "info") -> None:
        """A line for the user."""
        self.add(Message(t=self.elapsed_s, level=level, text=text))  # type: ignore[arg-type]

    def die(self, reason: str, *said: str) -> None:
        """The worker has gone."""
        self.state = "died"
        self.reason = reason
        self.log_tail = said


class FakeSessions:
    """Opens fake sessions."""

    def __init__(self, *, gpu: bool = False, refuses: str | None = None) -> None:
        self.gpu = gpu
        self.refuses = refuses
        self.opened: list[FakeSession] = []
        self.closed = 0
        self.left: list[Ended] = []
        self.frames = 0
        self.host = HOST
        self.devices: Sequence[Device] = [H200, CPU] if gpu else [CPU]
        self.gpu_absence: str | None = None if gpu else NO_GPU
        self.awaits_worker = False
        self.telemetry = None

    def first_frame(self) -> None:
        self.frames += 1

    def open(self, preset: Preset) -> FakeSession:
        if self.refuses is not None:
            raise SessionError(self.refuses)
        self.opened.append(FakeSession(preset, gpu=self.gpu))
        return self.opened[-1]

    def close(self) -> None:
        self.closed += 1

    def leave(self, ended: Ended) -> None:
        self.left.append(ended)
