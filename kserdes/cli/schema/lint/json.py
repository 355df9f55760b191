"""Lint rules for JSON Schemas.

Must not parse or check validity: the engine has done that. Walks without recursion.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kserdes.cli.schema.lint.rules import Complaint, field_case_text, right_case

Steps = tuple[str, ...]
DATA = ("enum", "const", "default", "examples", "required")
TABLES = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")


def complaints(document: Any, field_case: str) -> Iterator[Complaint]:
    """The complaints about a schema, in the order of its text."""
    if isinstance(document, dict):
        yield from _top(document)
    stack: list[tuple[Any, Steps]] = [(document, ())]
    while stack:
        node, steps = stack.pop()
        if isinstance(node, list):
            stack += ((item, (*steps, str(at))) for at, item in reversed(list(enumerate(node))))
        elif isinstance(node, dict):
            yield from _schema(node, steps, field_case)
            stack += reversed(list(_below(node, steps)))


def _below(node: dict[str, Any], steps: Steps) -> Iterator[tuple[Any, Steps]]:
    """The schemas right below a schema."""
    for key, value in node.items():
        if key in TABLES and isinstance(value, dict):
            for name, item in value.items():
                if not isinstance(item, list):
                    yield item, (*steps, key, name)
        elif key not in DATA and isinstance(value, dict | list):
            yield value, (*steps, key)


def _top(document: dict[str, Any]) -> Iterator[Complaint]:
    wanted = (
        ("json-dialect", "$schema", "the schema does not say its dialect: add $schema"),
        ("json-id", "$id", "the schema has no $id"),
        ("json-title", "title", "the schema has no title"),
        ("json-description", "description", "the schema has no description"),
    )
    for rule, key, text in wanted:
        if not str(document.get(key) or "").strip():
            yield Complaint(rule, text)


def _schema(node: dict[str, Any], steps: Steps, case: str) -> Iterator[Complaint]:
    properties = node.get("properties")
    if not isinstance(properties, dict):
        properties = {}
    for name, item in properties.items():
        place = (*steps, "properties", name)
        if not right_case(name, case):
            yield Complaint("json-property-name", f"property {name!r} is not in {field_case_text(case)}", place)
        if isinstance(item, dict) and "$ref" not in item and not str(item.get("description") or "").strip():
            yield Complaint("json-property-description", f"property {name!r} has no description", place)
    required = node.get("required")
    if properties and isinstance(required, list):
        for at, name in enumerate(required):
            if isinstance(name, str) and name not in properties:
                text = f"{name!r} is required but not described in properties"
                yield Complaint("json-required", text, (*steps, "required", str(at)))
    if properties and "additionalProperties" not in node and "unevaluatedProperties" not in node:
        text = "additionalProperties is not said: anyone may add fields of any type"
        yield Complaint("json-open", text, (*steps, "properties"))
