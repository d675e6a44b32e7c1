"""Rules of the machine: clocks, link, neighbours, build, memory, driver model."""

from __future__ import annotations

from ...ceilings import about
from ...timeline import Finding
from .. import words
from ..estimate import between, gain
from ..inputs import Inputs
from ..remedies import advise, turn
from ..step_model import StepModel
from .launch import STARTING_SHARE
from .names import DRIVER_MODEL, GPU_SHARED, LINK, MEMORY, THROTTLED, WRONG_BUILD
from .rule import finding

CLOCK_DEFICIT = 0.15
"""Below the card's highest clock while it works; gpuprof takes the same, from 82 °C on."""
HOLDS_BACK = {
    "sw_thermal_slowdown": "it is too hot",
    "hw_thermal_slowdown": "it is too hot",
    "hw_slowdown": "the hardware slows it down",
    "hw_power_brake": "the power supply holds it back",
    "sw_power_cap": "its power limit is reached",
    "application_clocks": "its clocks were set lower",
}
"""The driver's reasons that make a card slower than it is, in words."""
GENERATION_BYTES_PER_S = {1: 0.25e9, 2: 0.5e9, 3: 0.985e9, 4: 1.97e9, 5: 3.94e9, 6: 7.56e9}
"""Of one lane of PCIe, one way."""
OTHERS_MEMORY_SHARE = 0.05
MEMORY_SHARE, MEMORY_CRITICAL = 0.92, 0.97
"""TraceML takes 92 and 97 % of a card's memory."""
HOST_MEMORY_SHARE = 0.95


def throttled(inputs: Inputs, model: StepModel) -> Finding | None:
    """Holds where the driver says that clocks are held back, and they are."""
    gpu = inputs.gpu
    if gpu is None or not gpu.sm_clock_mhz or not gpu.sm_clock_max_mhz:
        return None
    reasons = [HOLDS_BACK[reason] for reason in gpu.throttle if reason in HOLDS_BACK]
    deficit = 1 - gpu.sm_clock_mhz / gpu.sm_clock_max_mhz
    if not reasons or deficit < CLOCK_DEFICIT:
        return None
    work_ms = model.work_ms if model.work_ms is not None else 0.5 * model.step_ms
    lost_ms = work_ms * deficit
    sentence = (
        f"Throttled. The GPU runs at {gpu.sm_clock_mhz:,.0f} of {gpu.sm_clock_max_mhz:,.0f} MHz because "
        f"{reasons[0]}."
    )
    evidence = [
        f"the clock is {words.percent(deficit)} below its highest",
        f"{gpu.temperature_c:.0f} °C" if gpu.temperature_c is not None else None,
        f"{gpu.power_w:.0f} of {gpu.power_limit_w:.0f} W"
        if gpu.power_w is not None and gpu.power_limit_w is not None
        else None,
    ]
    after = between(model.step_ms - lost_ms, model.step_ms - 0.6 * lost_ms, model.step_ms)
    remedies = [
        advise(
            "better cooling, a higher power limit, or clocks as the maker set them (nvidia-smi -q -d "
            "PERFORMANCE)",
            gain(model.step_ms, after),
        )
    ]
    return finding(THROTTLED, sentence, evidence, remedies, lost_ms, model.step_ms)


def link_degraded(inputs: Inputs, model: StepModel) -> Finding | None:
    """Holds where the link to the GPU is slower than card and slot allow, also while it is used."""
    gpu = inputs.gpu
    if (
        gpu is None
        or not gpu.pcie_width
        or not gpu.pcie_width_max
        or not gpu.pcie_generation
        or not gpu.pcie_generation_max
    ):
        return None
    used = (gpu.pcie_rx_bytes_per_s or 0.0) > 50e6 or (gpu.utilisation or 0.0) > 0.3
    narrower = gpu.pcie_width < gpu.pcie_width_max
    # An idle link lowers its generation to save power; its width it keeps.
    slower = gpu.pcie_generation < gpu.pcie_generation_max and used
    if not narrower and not slower:
        return None

    now = _link_rate(gpu.pcie_generation if slower else gpu.pcie_generation_max, gpu.pcie_width)
    best = _link_rate(gpu.pcie_generation_max, gpu.pcie_width_max)
    lost_ms = model.transfer_ms * (1 - now / best)
    sentence = (
        f"Link degraded. The GPU is connected by generation {gpu.pcie_generation} ×{gpu.pcie_width} where "
        "card and "
        f"slot allow generation {gpu.pcie_generation_max} ×{gpu.pcie_width_max}."
    )
    evidence = [
        f"{words.size(now)}/s instead of {words.size(best)}/s",
        f"copies that nothing overlaps take {words.ms(model.transfer_ms)} of the step",
    ]
    after = between(model.step_ms - lost_ms, model.step_ms - 0.8 * lost_ms, model.step_ms)
    remedies = [
        advise(
            "another slot, no riser, the slot's setting in the firmware, a firm seat",
            gain(model.step_ms, after),
        )
    ]
    return finding(LINK, sentence, evidence, remedies, lost_ms, model.step_ms)


def _link_rate(generation: int, width: int) -> float:
    """Bytes a second, one way."""
    return GENERATION_BYTES_PER_S.get(generation, GENERATION_BYTES_PER_S[6]) * width


def gpu_shared(inputs: Inputs, model: StepModel) -> Finding | None:
    """Holds where other processes hold a part of the GPU, or keep it busy."""
    gpu = inputs.gpu
    if gpu is None or inputs.on_cpu:
        return None
    held = (gpu.others_memory_bytes or 0.0) / gpu.memory_total_bytes if gpu.memory_total_bytes else 0.0
    busy_beside = _busy_beside(inputs, model)
    if held < OTHERS_MEMORY_SHARE and not (gpu.others and busy_beside is not None):
        return None
    who = ", ".join(gpu.others[:3]) or "other processes"
    sentence = (
        f"The GPU is shared with others ({who}), which hold {words.size(gpu.others_memory_bytes or 0.0)} of "
        "its memory."
    )
    evidence = [
        f"{words.percent(held)} of its memory is theirs" if held else None,
        f"the driver reports it {words.percent(busy_beside)} busier than this training makes it"
        if busy_beside is not None
        else None,
    ]
    slice_ms = None if busy_beside is None else busy_beside * (model.work_ms or 0.0)
    remedies = [advise("another GPU, or when they are done; what it gives depends on what they do")]
    return finding(GPU_SHARED, sentence, evidence, remedies, slice_ms, model.step_ms)


def _busy_beside(inputs: Inputs, model: StepModel) -> float | None:
    """By how much utilisation exceeds what our own kernels and their gaps can explain."""
    gpu = inputs.gpu
    if gpu is None or gpu.utilisation is None or model.work_ms is None or not model.launches:
        return None
    if model.work_ms / model.launches < 0.05:
        return None  # With small kernels the driver counts the gaps between them too.
    beyond = gpu.utilisation - (model.work_ms + model.transfer_ms) / model.step_ms
    return beyond if beyond > 0.25 else None


def wrong_build(inputs: Inputs, model: StepModel) -> Finding | None:
    """Holds where there is a GPU and this PyTorch was built without CUDA."""
    if not inputs.on_cpu or not inputs.gpus_seen or inputs.torch is None or inputs.cuda is not None:
        return None
    if any(device.device != "cpu" for device in inputs.devices):
        return None
    sentence = (
        f"Wrong build. The driver shows a GPU, but this PyTorch ({inputs.torch}) is a build without CUDA: it "
        "trains on the CPU."
    )
    evidence = [
        f"{inputs.gpus_seen} GPU{'s' if inputs.gpus_seen > 1 else ''} seen by the driver, none by PyTorch"
    ]
    remedies = [advise("install PyTorch with CUDA; gputrain-tui doctor says which")]
    return finding(WRONG_BUILD, sentence, evidence, remedies, None, model.step_ms)


def memory_pressure(inputs: Inputs, model: StepModel) -> Finding | None:
    """Holds where memory is nearly full: the next larger thing fails, and a full host begins to swap."""
    held, total, where = _memory(inputs)
    if held is None or total is None or not total:
        return None
    share = held / total
    if share < (HOST_MEMORY_SHARE if inputs.on_cpu else MEMORY_SHARE):
        return None
    nearly = "full" if share >= MEMORY_CRITICAL else "nearly full"
    sentence = f"Memory pressure. The {where} memory is {nearly}: {words.size(held)} of {words.size(total)}."
    evidence = [f"{words.percent(share)} in use"]
    half = inputs.settings.batch_size // 2
    remedies = (
        [turn(inputs, "batch_size", half, None, "half the activations; it changes the training")]
        if half
        else []
    )
    return finding(MEMORY, sentence, evidence, remedies, None, model.step_ms)


def _memory(inputs: Inputs) -> tuple[float | None, float | None, str]:
    if inputs.on_cpu:
        host = inputs.host
        return (
            (None, None, "") if host is None else (host.memory_used_bytes, host.memory_total_bytes, "host's")
        )
    gpu = inputs.gpu
    return (None, None, "") if gpu is None else (gpu.memory_used_bytes, gpu.memory_total_bytes, "GPU's")


def driver_model(inputs: Inputs, model: StepModel) -> Finding | None:
    """Holds where launches go through Windows' display driver model, or WSL's, and launches are what costs.

    That each launch costs more there is widely reported and not proven: the probe's own figure decides.
    """
    kind = None if inputs.gpu is None else inputs.gpu.driver_model
    if kind != "wddm" or model.starting is None or model.starting.likely < STARTING_SHARE * model.step_ms:
        return None
    lost_ms = 0.3 * model.starting.likely
    sentence = (
        "The GPU runs under Windows' display driver model (WDDM), where starting a kernel costs more than "
        "elsewhere."
    )
    evidence = [
        f"one launch costs {about(inputs.ceilings)}{model.launch_us:.1f} µs"
        + ("" if model.launch_measured else " (assumed)"),
        f"starting kernels takes {words.ms(model.starting.likely)} a step",
    ]
    after = between(model.step_ms - 2 * lost_ms, model.step_ms - lost_ms, model.step_ms)
    remedies = [
        turn(inputs, "execution", "graph", None, "one launch a step, whatever it costs"),
        advise("Linux, or the TCC or MCDM model where the card allows", gain(model.step_ms, after)),
    ]
    return finding(DRIVER_MODEL, sentence, evidence, remedies, lost_ms, model.step_ms)
