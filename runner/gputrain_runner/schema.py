"""The JSON Schema of a recording, generated from the structs that recordings are written from."""

from __future__ import annotations

import ast
import inspect
import json
from typing import Any

import msgspec
from msgspec import Struct

from . import ceilings, hardware, settings, timeline
from .timeline import Recording

_ID = "urn:gputrain-tui:recording:1"


def recording_schema() -> dict[str, Any]:
    """The schema, as a JSON-compatible dict.

    Unknown fields are allowed: a reader of version 1 keeps what later writers add.
    """
    generated = msgspec.json.schema(Recording)
    definitions = generated.pop("$defs")
    for name, descriptions in _field_descriptions().items():
        properties = definitions.get(name, {}).get("properties", {})
        for field, text in descriptions.items():
            if field in properties:
                properties[field] = _described(properties[field], text)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": _ID,
        "title": "A gputrain-tui recording",
        "description": (
            "One training session: what was trained on which machine, and everything measured, changed "
            "and found meanwhile. null means not measured; 0 is a measured zero. Units are in the names."
        ),
        **generated,
        "$defs": definitions,
    }


def recording_schema_text() -> str:
    """The schema as text to print."""
    return json.dumps(recording_schema(), indent=2, ensure_ascii=False)


def _described(schema: dict[str, Any], text: str) -> dict[str, Any]:
    return {**schema, "description": text}


def _field_descriptions() -> dict[str, dict[str, str]]:
    """The docstring after each field, by struct and by the field's name in JSON.

    msgspec takes the structs' docstrings into the schema; the fields' are only in the source.
    """
    found: dict[str, dict[str, str]] = {}
    for module in (ceilings, hardware, settings, timeline):
        for node in ast.parse(inspect.getsource(module)).body:
            struct = getattr(module, node.name, None) if isinstance(node, ast.ClassDef) else None
            if isinstance(node, ast.ClassDef) and isinstance(struct, type) and issubclass(struct, Struct):
                in_json = dict(zip(struct.__struct_fields__, struct.__struct_encode_fields__, strict=True))
                found[node.name] = {in_json[field]: text for field, text in _docstrings(node)}
    return found


def _docstrings(node: ast.ClassDef) -> list[tuple[str, str]]:
    pairs = []
    for statement, after in zip(node.body, node.body[1:], strict=False):
        if not (isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)):
            continue
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            pairs.append((statement.target.id, " ".join(str(after.value.value).split())))
    return pairs
