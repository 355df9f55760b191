"""JSON Schema among the formats of schemas: a schema with those it refers to, as nodes and in its canonical text.

Must not know of registries. Source: Confluent's `JsonSchema`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from registry.errors import InvalidSchemaError
from registry.models import Schema
from registry.schemas.documents import loads
from registry.schemas.formats import Referenced
from registry.schemas.json.canonical import json_text
from registry.schemas.json.classic import ClassicReader
from registry.schemas.json.model import Node
from registry.schemas.json.modern import ModernReader
from registry.schemas.json.refs import Draft, References, draft_of


@dataclass(frozen=True, slots=True, eq=False)
class JsonSchema:
    """A parsed schema.

    Attributes:
        root: the node of the whole document.
        draft: its dialect.
    """

    root: Node
    draft: Draft


def parse(schema: Schema, referenced: Referenced) -> JsonSchema:
    """The schema with what it refers to.

    Cost: linear in the documents; nothing in it depends on Python's stack.

    Raises:
        InvalidSchemaError: not JSON, not a schema the registry takes, or a reference leads nowhere.
    """
    document = _bridged(_document(schema.schema_str, "the schema"))
    draft = draft_of(document)
    others = {reference.name: _bridged(_document(found.schema_str, reference.name)) for reference, found in referenced}
    references = References(document, draft, others)
    reader = (ModernReader if draft.modern else ClassicReader)(references, draft)
    return JsonSchema(reader.document(document), draft)


def canonical(schema: Schema, referenced: Referenced, normalize: bool) -> str:
    """The text a registry stores and compares.

    Raises:
        InvalidSchemaError: see `parse`.
    """
    parse(schema, referenced)
    return json_text(_document(schema.schema_str, "the schema"), normalize)


def _bridged(document: Any) -> Any:
    """The document with its `definitions` under `$defs` too: the registry finds them there, whatever the draft."""
    if not isinstance(document, dict):
        return document
    old, new = document.get("definitions"), document.get("$defs", {})
    if not isinstance(old, dict) or not isinstance(new, dict) or not old:
        return document
    return {**document, "$defs": {**new, **{name: item for name, item in old.items() if name not in new}}}


def _document(text: str, name: str) -> Any:
    try:
        return loads(text, exact=True)
    except ValueError as error:
        raise InvalidSchemaError.local(f"{name} is not JSON: {error}") from error
