"""One short run on a machine with a GPU: figures are collected, printed as one table last, kept as JSON.

pytest -m gpu tests/gpu; the figures go to gpu-figures.json, or where GPU_FIGURES says.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Note = Callable[[str, float, str], None]

_figures: list[dict[str, Any]] = []


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    mine = [item for item in items if here in Path(item.path).parents]
    why = _absence() if mine else None
    for item in mine:
        item.add_marker(pytest.mark.gpu)
        if why:
            item.add_marker(pytest.mark.skip(reason=why))


def _absence() -> str | None:
    """Why no GPU test can run; None where they can."""
    import torch

    if torch.version.cuda is None:
        return "this PyTorch is a CPU build"
    if not torch.cuda.is_available():
        return "PyTorch finds no CUDA GPU"
    return None


@pytest.fixture
def note() -> Note:
    """Keep a figure for the table: name, value, unit."""

    def keep(name: str, value: float, unit: str) -> None:
        _figures.append({"name": name, "value": value, "unit": unit})

    return keep


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if not _figures:
        return
    terminalreporter.section("figures of this GPU")
    for figure in _figures:
        terminalreporter.write_line(f"{figure['name']:<64} {figure['value']:>14,.3f} {figure['unit']}")
    out = Path(os.environ.get("GPU_FIGURES", "gpu-figures.json"))
    out.write_text(json.dumps(_figures, indent=1) + "\n")
    terminalreporter.write_line(f"as JSON: {out}")
