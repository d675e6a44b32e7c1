"""The check of CUDA_VISIBLE_DEVICES: which GPUs it hides, and entries that name none."""

from __future__ import annotations

from ...telemetry.visible import ORDER, VISIBLE, ListedGpu, MigDevice, cuda_order
from ..facts import Facts, GpuFacts
from ..unit import Result, Unit, note, ok, problem
from ..words import some

_REPAIR = f"unset {VISIBLE}, or name GPUs by the UUIDs that `nvidia-smi -L` shows"


def _visible(facts: Facts) -> Result | None:
    gpus, environment = facts.driver.gpus, facts.surroundings.environment
    given = environment.get(VISIBLE)
    if given is None or not gpus:
        return None
    order = cuda_order([_listed(gpu) for gpu in gpus], environment)
    if order.problem is not None and (order.hidden or not order.uuids):
        return problem(order.problem, _REPAIR)
    if order.problem is not None:
        return note(order.problem, _REPAIR)
    said = f"{VISIBLE}={given}"
    if any(uuid.startswith("MIG-") for uuid in order.uuids):
        return ok(f"{said}: a MIG device, {order.uuids[0]}")
    if not order.hidden:
        return ok(f"{said}: every GPU can be seen")
    shown = f"{len(order.uuids)} of {len(gpus)} GPUs can be seen"
    if not order.certain:
        return note(
            f"{said}: {shown}; CUDA counts the fastest first, which is not nvidia-smi's order",
            f"unset {VISIBLE} to use all; {ORDER}=PCI_BUS_ID makes the orders the same",
        )
    seen = [str(gpu.gpu.index) for gpu in gpus if gpu.gpu.uuid in order.uuids]
    return note(f"{said}: {shown}: GPU {some(seen, 8)}", f"unset {VISIBLE} to use all")


def _listed(gpu: GpuFacts) -> ListedGpu:
    return ListedGpu(
        index=gpu.gpu.index,
        uuid=gpu.gpu.uuid,
        name=gpu.gpu.name,
        pci_bus_id=gpu.detail.pci_bus_id,
        mig=tuple(MigDevice(device.uuid or "") for device in gpu.mig_devices)
        if gpu.detail.mig_mode
        else None,
    )


UNITS = (Unit("cuda_visible_devices", "GPUs hidden", _visible),)
