"""Checks of a GPU's health: does it answer, has its memory faults, has the driver seen errors."""

from __future__ import annotations

from ...hardware_words import words
from ..facts import Facts, GpuFacts
from ..unit import NOT_TOLD, GpuUnit, Result, note, ok, problem
from ..words import phrase, plain

_USUAL = "see `dmesg` for its Xid error; start a container again, reboot a machine"
_FEW_REPLAYS = 1000


def _answers(_facts: Facts, gpu: GpuFacts) -> Result | None:
    trouble = gpu.gpu.trouble
    if gpu.lost:
        found, _, do = (trouble or "it does not answer").partition(". ")
        return problem(phrase(plain(found)), phrase(plain(do)) or _USUAL)
    if gpu.detail.denied:
        return note(
            f"this user may not read {words(gpu.detail.denied)}",
            "an administrator may allow it (NVreg_RestrictProfilingToAdminUsers=0 for counters)",
        )
    return None


def _ecc(_facts: Facts, gpu: GpuFacts) -> Result | None:
    detail = gpu.detail
    if gpu.lost:
        return None
    if detail.ecc_uncorrected:
        return problem(
            f"{detail.ecc_uncorrected} uncorrected memory error(s) since the driver was loaded",
            f"`sudo nvidia-smi --gpu-reset -i {gpu.gpu.index}` or reboot; replace the card if they return",
        )
    if detail.ecc_mode is None and detail.ecc_corrected is None:
        return NOT_TOLD
    if detail.ecc_mode is False:
        return ok("ECC is off")
    if detail.ecc_corrected:
        return note(f"{detail.ecc_corrected} memory error(s), all corrected, since the driver was loaded")
    return ok("no memory error since the driver was loaded")


def _rows(_facts: Facts, gpu: GpuFacts) -> Result | None:
    """Rows remapped (Ampere and newer) or pages retired (before)."""
    detail = gpu.detail
    if gpu.lost:
        return None
    if detail.remapping_failed:
        return problem("a faulty row of memory could not be replaced: no spare is left", "replace the card")
    if detail.remapping_pending or detail.retired_pages_pending:
        what = (
            "row of memory is to be replaced"
            if detail.remapping_pending
            else "page of memory is to be retired"
        )
        return problem(
            f"a faulty {what} at the next reset",
            f"end what uses the GPU, then `sudo nvidia-smi --gpu-reset -i {gpu.gpu.index}` or reboot",
        )
    replaced = (detail.remapped_rows_corrected or 0) + (detail.remapped_rows_uncorrected or 0)
    if replaced:
        return note(f"{replaced} row(s) of memory were replaced in the card's life")
    if detail.remapping_pending is None and detail.retired_pages_pending is None:
        return None
    return ok("no part of its memory had to be replaced")


def _replays(_facts: Facts, gpu: GpuFacts) -> Result | None:
    count = gpu.detail.pcie_replays
    if count is None:
        return None
    if count < _FEW_REPLAYS:
        return ok(f"{count or 'none'} since the driver was loaded")
    return note(
        f"{count:,} PCIe packet(s) had to be sent again since the driver was loaded",
        "if it grows while something trains: seat the card again, look for a riser or cable",
    )


def _xid(_facts: Facts, gpu: GpuFacts) -> Result | None:
    errors = gpu.detail.xid_errors
    if not errors:
        return None
    numbers = ", ".join(map(str, errors))
    return problem(f"the driver reported Xid error {numbers}", "see `dmesg` and NVIDIA's list of Xid errors")


UNITS = (
    GpuUnit("answers", "answers", _answers),
    GpuUnit("memory_errors", "memory errors", _ecc),
    GpuUnit("memory_repairs", "memory repairs", _rows),
    GpuUnit("pcie_replays", "PCIe replays", _replays),
    GpuUnit("xid", "Xid errors", _xid),
)
