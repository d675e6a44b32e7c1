"""What is wrong with a key of a preset file, in words: where, what was found and what is allowed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import inspect

from .spec import Preset
from .user_models import IDENTIFIER

_PATTERNS = {r"^[\w.+-]+$": "letters, digits and _ . + - only", IDENTIFIER: "a name as in Python"}
"""The patterns of `spec` in words."""

NOT_KEYS = ("read_from",)
"""Fields of a preset that a file does not give."""

Bounded = inspect.IntType | inspect.FloatType


class WrongKeyError(ValueError):
    """A key that is wrong; the text names it, what was found and what is allowed."""

    def __init__(self, key: str, found: object, allowed: str) -> None:
        super().__init__(f"{key}: found {in_toml(found)}, allowed: {allowed}")


class MissingKeyError(WrongKeyError):
    """A key that has to be there; the text names it and what it must be."""

    def __init__(self, key: str, allowed: str) -> None:
        ValueError.__init__(self, f"{key}: missing; it must be {allowed}")


class UnknownKeyError(WrongKeyError):
    """A key that a file does not have."""

    def __init__(self, key: str) -> None:
        ValueError.__init__(self, f"{key}: unknown key")


def explain(error: msgspec.ValidationError, table: dict[str, Any]) -> str:
    """msgspec's complaint about the tables of a file, in the file's own terms."""
    _, known, path = str(error).rpartition("`$")
    path = path if known else ""
    node: inspect.Type = inspect.type_info(Preset)
    found: Any = table
    key = ""
    for name, index in re.findall(r"\.(\w+)|\[(\d+)\]", path):
        node = _inside(node, found, name, index)
        found = found[name] if name else found[int(index)]
        key = f"{key}.{name}" if key and name else f"{key}{name}" if name else f"{key}[{index}]"
    structs = _structs(node)
    if structs and isinstance(found, dict) and (tag := structs[0].tag_field) and tag not in found:
        return str(MissingKeyError(f"{key}.{tag}", choice(str(struct.tag) for struct in structs)))
    struct = _struct(node, found)
    if struct is not None and isinstance(found, dict) and (problem := _wrong_keys(struct, found, key)):
        return problem
    return str(WrongKeyError(key, found, allowed(node)))


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like this one; None where none is alike."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return near[0] if near else None


def choice(values: Iterable[str]) -> str:
    """Names to choose from, in words."""
    return _either([repr(value) for value in values])


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def in_toml(value: object) -> str:
    """A value as the file has it, short and on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return f"an array of {len(value)}" if value else "an empty array"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else f"{text[:50]}... ({len(text)} characters)"


# ---------------------------------------------------------- walking the preset's types


def _struct(node: inspect.Type, found: object) -> inspect.StructType | None:
    """The struct that a table stands for; of a union the one that its tag names."""
    structs = _structs(node)
    if len(structs) > 1:
        tag = found.get(structs[0].tag_field) if isinstance(found, dict) else None
        structs = [struct for struct in structs if struct.tag == tag]
    return structs[0] if structs else None


def _structs(node: inspect.Type) -> list[inspect.StructType]:
    options = node.types if isinstance(node, inspect.UnionType) else (node,)
    return [option for option in options if isinstance(option, inspect.StructType)]


def _inside(node: inspect.Type, found: object, name: str, index: str) -> inspect.Type:
    """The type of an item of `found`, which is of type `node`."""
    if index and isinstance(node, inspect.UnionType):
        node = next((option for option in node.types if isinstance(option, inspect.ListType)), node)
    if index and isinstance(node, inspect.ListType):
        return node.item_type
    if index and isinstance(node, inspect.TupleType):
        return node.item_types[int(index)]
    structs = _structs(node)
    if structs and name == structs[0].tag_field:
        return inspect.LiteralType(tuple(str(struct.tag) for struct in structs))
    struct = _struct(node, found)
    fields = {field.encode_name: field.type for field in struct.fields} if struct else {}
    return fields.get(name, inspect.AnyType())


def _wrong_keys(struct: inspect.StructType, found: dict[str, Any], key: str) -> str | None:
    """The first unknown or missing key of a table, in words; None where there is neither."""
    within = f"{key}." if key else ""
    known = [struct.tag_field] if struct.tag_field else []
    known += [field.encode_name for field in struct.fields if field.encode_name not in NOT_KEYS]
    for name in found:
        if name not in known:
            near = nearest(name, known)
            hint = f"did you mean {near!r}?" if near else f"known here: {', '.join(known)}"
            return f"{within}{name if name.isprintable() else repr(name)}: unknown key; {hint}"
    for field in struct.fields:
        if field.required and field.encode_name not in found:
            return str(MissingKeyError(f"{within}{field.encode_name}", allowed(field.type)))
    return None


# ------------------------------------------------------------------- types in words


def allowed(node: inspect.Type) -> str:
    """What a key of that type may hold, in words."""
    match node:
        case inspect.IntType():
            return f"a whole number{_bounds(node)}"
        case inspect.FloatType():
            return f"a number{_bounds(node)}"
        case inspect.BoolType():
            return "true or false"
        case inspect.StrType():
            return _text(node)
        case inspect.LiteralType():
            return _either([in_toml(value) for value in node.values])
        case inspect.DictType():
            keys, values = allowed(node.key_type), allowed(node.value_type)
            return f"a table whose keys are {keys} and whose values are {values}"
        case inspect.ListType():
            least = f"at least {node.min_length}, " if node.min_length else ""
            return f"an array of {least}each {allowed(node.item_type)}"
        case inspect.TupleType():
            return f"an array of {len(node.item_types)}: {', '.join(map(allowed, node.item_types))}"
        case inspect.UnionType() if not _structs(node):
            return " or ".join(
                allowed(option) for option in node.types if not isinstance(option, inspect.NoneType)
            )
    return _table(_structs(node))


def _table(structs: list[inspect.StructType]) -> str:
    tags = [str(struct.tag) for struct in structs if struct.tag is not None]
    return f"a table whose {structs[0].tag_field} is {choice(tags)}" if tags else "a table"


def _text(node: inspect.StrType) -> str:
    length = f" of at most {node.max_length} characters" if node.max_length else ""
    pattern = _PATTERNS.get(node.pattern, f"matching {node.pattern}") if node.pattern else ""
    return f"text{length}{', ' if pattern else ''}{pattern}"


def _bounds(node: Bounded) -> str:
    words = [
        f"{word} {bound:g}"
        for word, bound in (("from", node.ge), ("above", node.gt), ("to", node.le), ("below", node.lt))
        if bound is not None
    ]
    return f" {' '.join(words)}" if words else ""
