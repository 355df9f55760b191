"""The output form `resolved` of Avro: a schema with the referenced types written out.

Must not know of state. Source: Avro specification, "Names": a named type is written out once and named afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from registry.schemas.avro.types import NAMED_TYPES, PRIMITIVES, RECORDS


def resolved_avro(text: str, referenced: Sequence[str]) -> str:
    """The schema with every referenced type written out where it is first used.

    Args:
        text: a valid Avro schema.
        referenced: the texts of the schemas it uses, each after those it uses itself.
    """
    definitions: dict[str, tuple[Any, str]] = {}
    for part in referenced:
        _collect(json.loads(part), "", definitions)
    return json.dumps(_resolved(json.loads(text), "", definitions, set()), separators=(",", ":"), ensure_ascii=False)


def _full(name: str, namespace: str) -> str:
    return name if "." in name or not namespace else f"{namespace}.{name}"


def _space(node: dict[str, Any], namespace: str) -> tuple[str, str]:
    """Full name of a named type, and the namespace inside it."""
    full = _full(str(node["name"]), str(node.get("namespace", namespace)))
    return full, full.rpartition(".")[0]


def _children(node: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """The places of other types in a complex type: the objects and their keys."""
    if node.get("type") in RECORDS:
        return [(field, "type") for field in node.get("fields", ())]
    if node.get("type") == "array":
        return [(node, "items")]
    if node.get("type") == "map":
        return [(node, "values")]
    return [(node, "type")] if isinstance(node.get("type"), (dict, list)) else []


def _collect(node: Any, namespace: str, definitions: dict[str, tuple[Any, str]]) -> None:
    if isinstance(node, list):
        for branch in node:
            _collect(branch, namespace, definitions)
    elif isinstance(node, dict):
        if node.get("type") in NAMED_TYPES:
            full, inner = _space(node, namespace)
            definitions[full] = (node, namespace)
            namespace = inner
        for holder, key in _children(node):
            _collect(holder[key], namespace, definitions)


def _resolved(node: Any, namespace: str, definitions: dict[str, tuple[Any, str]], written: set[str]) -> Any:
    if isinstance(node, str):
        full = _full(node, namespace)
        if node in PRIMITIVES or full in written or full not in definitions:
            return node
        source, space = definitions[full]
        named = {**source, "name": full.rpartition(".")[2], "namespace": full.rpartition(".")[0]}
        return _resolved(named, space, definitions, written)
    if isinstance(node, list):
        return [_resolved(branch, namespace, definitions, written) for branch in node]
    if not isinstance(node, dict):
        return node
    if node.get("type") in NAMED_TYPES:
        full, namespace = _space(node, namespace)
        written.add(full)
    made = dict(node)
    if made.get("type") in RECORDS:
        made["fields"] = [dict(field) for field in made.get("fields", ())]
    for holder, key in _children(made):
        holder[key] = _resolved(holder[key], namespace, definitions, written)
    return made
