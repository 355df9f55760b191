"""Functions on Avro schemas by the names of confluent_kafka's `common.avro`: schemas are parsed JSON there.

Must not hold anything that serializers of ours need: they have `serdes.rules.walks.avro`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from registry.schemas.avro.model import AvroType, parse
from serdes.rules import FieldTransform, FieldType, RuleContext
from serdes.rules.walks import avro as walk_avro

__all__ = ["LocalSchemaRepository", "get_inline_tags", "get_type", "parse_schema_with_repo", "transform"]


class LocalSchemaRepository:
    """Schemas by name.

    Args:
        schemas: name to parsed JSON.
    """

    def __init__(self, schemas: Mapping[str, Any]) -> None:
        self.schemas = schemas

    def load(self, subject: str) -> Any:
        """The schema of that name; None if there is none."""
        return self.schemas.get(subject)


def parse_schema_with_repo(schema_str: str, named_schemas: Mapping[str, Any]) -> Any:
    """A schema with the named ones that it uses put in, each at its first use.

    Raises:
        InvalidSchemaError: it is not valid, or uses a name that is not there.
    """
    left = dict(named_schemas)
    document = _with_names(json.loads(schema_str), left)
    parse(json.dumps(document))
    return document


def _with_names(node: Any, left: dict[str, Any]) -> Any:
    if isinstance(node, str):
        return _with_names(left.pop(node), left) if node in left else node
    if isinstance(node, list):
        return [_with_names(each, left) for each in node]
    if not isinstance(node, dict):
        return node
    made = dict(node)
    if "fields" in node:
        made["fields"] = [{**each, "type": _with_names(each.get("type"), left)} for each in node["fields"]]
    for inner in ("items", "values", "type"):
        if inner in node:
            made[inner] = _with_names(node[inner], left)
    return made


def get_type(schema: Any) -> FieldType:
    """The kind of a schema; NULL for a name that is no type."""
    if isinstance(schema, list):
        return FieldType.COMBINED
    name = schema.get("type") if isinstance(schema, dict) else schema
    if name == "union":
        return FieldType.COMBINED
    word = name.upper() if isinstance(name, str) else ""
    return FieldType[word] if word in FieldType.__members__ else FieldType.NULL


def get_inline_tags(schema: Any) -> dict[str, set[str]]:
    """Full name of each field that has tags in the schema → its tags."""
    return {name: set(tags) for name, tags in walk_avro.inline_tags(_parsed(schema)).items()}


def transform(ctx: RuleContext, schema: Any, message: Any, field_transform: FieldTransform) -> Any:
    """A copy of a value with a transform applied to its tagged fields."""
    if schema is None:
        return message
    return walk_avro.field_transformer(_parsed(schema))(ctx, field_transform, message)


def _parsed(schema: Any) -> AvroType:
    return parse(json.dumps(schema))
