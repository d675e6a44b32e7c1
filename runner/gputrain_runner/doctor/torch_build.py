"""What PyTorch is, read from its files: importing it would take seconds."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

from .facts import TorchFacts


def read_build() -> TorchFacts:
    """The version, and the CUDA version it was built for."""
    try:
        found = importlib.util.find_spec("torch")
    except (ImportError, ValueError):
        found = None
    folders = list(found.submodule_search_locations or ()) if found is not None else []
    if not folders:
        return TorchFacts(installed=False)
    values = _constants(Path(folders[0]) / "version.py")
    return TorchFacts(
        installed=True,
        version=values.get("__version__"),
        cuda=values.get("cuda"),
        hip=values.get("hip"),
        build_known="cuda" in values,
    )


def _constants(path: Path) -> dict[str, str | None]:
    """The module's names that are set to a text or to None."""
    try:
        statements = ast.parse(path.read_text(encoding="utf-8")).body
    except (OSError, SyntaxError, ValueError):
        return {}
    found: dict[str, str | None] = {}
    for statement in statements:
        if isinstance(statement, ast.Assign):
            target, value = statement.targets[0], statement.value
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            target, value = statement.target, statement.value
        else:
            continue
        constant = value.value if isinstance(value, ast.Constant) else False
        if isinstance(target, ast.Name) and (constant is None or isinstance(constant, str)):
            found[target.id] = constant
    return found
