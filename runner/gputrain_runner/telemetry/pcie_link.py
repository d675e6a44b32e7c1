"""What a GPU's PCIe link can really carry: an idle GPU slows it down on purpose, a bad slot for good."""

from __future__ import annotations

from typing import Any

from .pcie import link_bytes_per_s
from .question import Question, Values

FIELDS = ("pcie_link_bytes_per_s",)
PLACEHOLDERS = (
    "pcie_generation",
    "pcie_width",
    "pcie_generation_max",
    "pcie_width_max",
    "pcie_generation_gpu_max",
    "pcie_link_bytes_per_s",
)
"""What means nothing for a GPU that is one chip with the CPU: it answers as if it had a link."""

_BUSY = 0.1
"""From this utilisation on the link runs as fast as it can."""


def top(question: Question) -> Values:
    """Bytes per second one way: of the best link seen while the GPU was busy.

    Until it was seen busy, of what card and slot allow. Asks the driver nothing: the generation and
    width now were asked just before.
    """
    known, notes = question.known, question.notes
    if (known.get("utilisation") or 0.0) >= _BUSY:
        _keep_best(notes, "generation", known.get("pcie_generation"))
        _keep_best(notes, "width", known.get("pcie_width"))
    generation = notes.get("generation") or known.get("pcie_generation_max") or known.get("pcie_generation")
    width = notes.get("width") or known.get("pcie_width_max") or known.get("pcie_width")
    return {"pcie_link_bytes_per_s": link_bytes_per_s(generation, width)}


def _keep_best(notes: dict[str, Any], name: str, value: int | None) -> None:
    if value is not None:
        notes[name] = max(value, notes.get(name, 0))
