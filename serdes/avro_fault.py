"""Where a value does not fit its Avro schema: the first offending place, found after encoding failed.

Must not be on the hot path. The encoder itself is the judge: parts of the value are encoded alone, and the walk goes
down into the part that fails. Values never appear in the reason, only their types.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import fastavro

__all__ = ["Fault", "find_fault", "hinted"]

MAX_DEPTH = 200
PRIMITIVES = frozenset(("null", "boolean", "int", "long", "float", "double", "bytes", "string"))


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong, and where.

    Attributes:
        path: e.g. `order.items[3].price`; the first part is the record's short name.
        reason: a sentence without values.
    """

    path: str
    reason: str


def hinted(schema: Any, named: Mapping[str, Any]) -> Any:
    """A parsed schema with fastavro's notes that it is parsed, and the names it uses.

    fastavro makes them for records only: an array or a union that uses names of referenced schemas would be parsed
    at every call, and in vain.
    """
    if isinstance(schema, list):
        return [hinted(branch, named) for branch in schema]
    if isinstance(schema, str):
        return schema if schema in PRIMITIVES else hinted(named[schema], named)
    return {**schema, "__fastavro_parsed": True, "__named_schemas": dict(named)}


def find_fault(schema: Any, named: Mapping[str, Any], value: Any, options: Mapping[str, bool]) -> Fault | None:
    """The first place where `value` does not fit.

    Args:
        schema: fastavro's parsed schema.
        named: fastavro's table of named types.
        value: what could not be encoded.
        options: what the encoder was called with.

    Returns:
        None if the value fits after all (it changed meanwhile, or fits only part by part).
    """
    finder = _Finder(named, options)
    node = finder.node(schema)
    if finder.fits(node, value):
        return None
    return finder.descend(node, value, _root_name(node), 0)


class _Finder:
    def __init__(self, named: Mapping[str, Any], options: Mapping[str, bool]) -> None:
        self._named = named
        self._options = options

    def node(self, schema: Any) -> Any:
        """The definition behind a name."""
        if isinstance(schema, str) and schema not in PRIMITIVES:
            return self._named.get(schema, schema)
        return schema

    def fits(self, schema: Any, value: Any) -> bool:
        try:
            fastavro.schemaless_writer(BytesIO(), hinted(schema, self._named), value, **self._options)
        except Exception:
            return False
        return True

    def descend(self, schema: Any, value: Any, path: str, depth: int) -> Fault:
        if depth < MAX_DEPTH:
            for part_schema, part, part_path in self._parts(schema, value, path):
                node = self.node(part_schema)
                if not self.fits(node, part):
                    return self.descend(node, part, part_path, depth + 1)
        return Fault(path, self._reason(schema, value))

    def _parts(self, schema: Any, value: Any, path: str) -> Iterator[tuple[Any, Any, str]]:
        """The parts of a value with their schemas; nothing for a leaf."""
        if isinstance(schema, list):
            yield from self._union_part(schema, value, path)
            return
        if not _is_dict(schema):
            return
        kind = schema["type"]
        if kind in ("record", "error") and isinstance(value, Mapping):
            for field in schema["fields"]:
                name = field["name"]
                if name in value:
                    yield field["type"], value[name], f"{path}.{name}" if path else name
                elif "default" not in field and not self.fits(self.node(field["type"]), None):
                    yield _MISSING, None, f"{path}.{name}" if path else name
        elif kind == "array" and isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
            for at, item in enumerate(value):
                yield schema["items"], item, f"{path}[{at}]"
        elif kind == "map" and isinstance(value, Mapping):
            for key, item in value.items():
                yield schema["values"], item, f"{path}[{key!r}]"

    def _union_part(self, schema: list[Any], value: Any, path: str) -> Iterator[tuple[Any, Any, str]]:
        """The branch that is meant, if it has parts and no other can be meant."""
        nodes = [self.node(branch) for branch in schema]
        if isinstance(value, tuple) and len(value) == 2:
            named = [node for node in nodes if _name(node) == value[0]]
            yield from ((node, value[1], path) for node in named)
            return
        meant = [node for node in nodes if _may_hold(node, value)]
        if len(meant) == 1 and isinstance(value, (Mapping, list, tuple)):
            yield meant[0], value, path

    def _reason(self, schema: Any, value: Any) -> str:
        if schema is _MISSING:
            return "the field is missing and has no default"
        found = "null" if value is None else f"a value of type {type(value).__name__}"
        if _is_dict(schema) and schema["type"] in ("record", "error") and isinstance(value, Mapping):
            return f"{found} does not have exactly the fields of record {schema['name']}"
        kind = _describe(schema)
        if _right_type(schema, value):
            return f"{found} is out of the range of {kind}"
        return f"{found} does not fit {kind}"


_MISSING: dict[str, str] = {"type": "missing"}


def _is_dict(schema: Any) -> bool:
    return isinstance(schema, dict)


def _root_name(node: Any) -> str:
    return str(node["name"]).rpartition(".")[2] if _is_dict(node) and "name" in node else ""


def _kind(node: Any) -> str:
    return str(node["type"]) if _is_dict(node) else str(node)


def _name(node: Any) -> str:
    """What names a branch of a union."""
    return str(node["name"]) if _is_dict(node) and "name" in node else _kind(node)


def _may_hold(node: Any, value: Any) -> bool:
    """Whether a branch of a union may be meant for a value, judging by its outermost type."""
    kind = _kind(node)
    if kind in ("record", "error", "map"):
        return isinstance(value, Mapping)
    if kind == "array":
        return isinstance(value, Sequence) and not isinstance(value, (str, bytes))
    return kind != "null" and not isinstance(value, (Mapping, list, tuple))


def _right_type(node: Any, value: Any) -> bool:
    """Whether the Python type is right, so that it must be the value that is not."""
    kind = _kind(node)
    logical = node.get("logicalType") if _is_dict(node) else None
    if kind in ("int", "long"):
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "enum":
        return isinstance(value, str)
    if logical == "decimal":
        return type(value).__name__ == "Decimal"
    return kind == "fixed" and isinstance(value, (bytes, bytearray))


def _describe(node: Any) -> str:
    if isinstance(node, list):
        return f"any branch of the union [{', '.join(_describe(branch) for branch in node)}]"
    if not _is_dict(node):
        return str(node)
    kind = _kind(node)
    if kind in ("record", "error", "enum", "fixed"):
        kind = f"{kind} {node['name']}"
    logical = node.get("logicalType")
    if logical == "decimal":
        return f"decimal({node.get('precision')}, {node.get('scale', 0)})"
    return f"{kind} ({logical})" if logical else kind
