"""Lint rules for Avro schemas.

Must not parse or check validity: the engine has done that. Walks without recursion.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kserdes.cli.schema.lint.rules import Complaint, field_case_text, pascal, right_case, upper
from kserdes.cli.schema.outline.avro import full_name
from registry.schemas.avro.types import NAMED_TYPES, RECORDS

Steps = tuple[str, ...]


def complaints(document: Any, field_case: str) -> Iterator[Complaint]:
    """The complaints about a schema, in the order of its text."""
    stack: list[tuple[Any, Steps]] = [(document, ())]
    while stack:
        node, steps = stack.pop()
        if isinstance(node, list):
            stack += ((item, (*steps, str(at))) for at, item in reversed(list(enumerate(node))))
        elif isinstance(node, dict):
            kind = node.get("type")
            if kind in NAMED_TYPES:
                yield from _named(node, kind, steps)
            if kind in RECORDS:
                for at, item in enumerate(node.get("fields", [])):
                    yield from _field(item, (*steps, "fields", str(at)), field_case)
                    stack.append((item.get("type"), (*steps, "fields", str(at), "type")))
            elif kind == "array":
                stack.append((node.get("items"), (*steps, "items")))
            elif kind == "map":
                stack.append((node.get("values"), (*steps, "values")))
            elif not isinstance(kind, str):
                stack.append((kind, (*steps, "type")))


def _named(node: dict[str, Any], kind: str, steps: Steps) -> Iterator[Complaint]:
    name = str(node.get("name"))
    short = name.rpartition(".")[2]
    if not steps and "." not in (full_name(node, "") or ""):
        yield Complaint("avro-namespace", f"{kind} {name!r} has no namespace", ("name",))
    if not pascal(short):
        yield Complaint("avro-type-name", f"{kind} {short!r} is not in PascalCase", (*steps, "name"))
    if kind != "fixed" and not str(node.get("doc") or "").strip():
        yield Complaint("avro-doc", f"{kind} {name!r} has no doc", (*steps, "name"))
    if kind == "enum":
        for at, symbol in enumerate(node.get("symbols", [])):
            if not upper(symbol):
                text = f"symbol {symbol!r} of {name!r} is not in UPPER_CASE"
                yield Complaint("avro-enum-symbol", text, (*steps, "symbols", str(at)))
        if "default" not in node:
            text = f"enum {name!r} has no default: readers of today can't read symbols added later"
            yield Complaint("avro-enum-default", text, (*steps, "name"))


def _field(item: dict[str, Any], steps: Steps, case: str) -> Iterator[Complaint]:
    name = item.get("name", "")
    if not right_case(name, case):
        yield Complaint("avro-field-name", f"field {name!r} is not in {field_case_text(case)}", (*steps, "name"))
    if not str(item.get("doc") or "").strip():
        yield Complaint("avro-field-doc", f"field {name!r} has no doc", (*steps, "name"))
    kind = item.get("type")
    if isinstance(kind, list) and "null" in kind and "default" not in item:
        text = f"field {name!r} may be null but has no default: readers can't do without it"
        yield Complaint("avro-optional-default", text, (*steps, "type"))
