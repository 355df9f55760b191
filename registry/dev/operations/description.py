"""Schemas and versions written for answers, in the output form that was asked for.

Must not know of requests. Source: Confluent's `Schema` and `SchemaString` entities, `ParsedSchema.formattedString`.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from registry.dev.names import Name
from registry.dev.operations.content import qualified, referenced
from registry.dev.operations.resolved import resolved_avro
from registry.dev.refusal import Refusal
from registry.dev.state.state import State, Version
from registry.models import Schema
from registry.schemas.canonical import schema_guid


def formatted(
    state: State, subject: str, schema: Schema, form: str | None, reference_form: str | None = None
) -> Schema:
    """The schema as `format` and `referenceFormat` ask for it.

    Raises:
        Refusal: 422, there is no such form for its type.
    """
    shown = qualified(Name.parse(subject), schema) if reference_form == "qualified" else schema
    if not form or form == "default":
        return shown
    if schema.schema_type == "AVRO" and form == "resolved":
        parts = [part.schema_str for _, part in referenced(state, subject, schema, deleted=True)]
        return dataclasses.replace(shown, schema_str=resolved_avro(schema.schema_str, parts))
    if schema.schema_type == "PROTOBUF" and form == "serialized":
        from registry.schemas.protobuf.format import to_serialized  # needs the extra `proto`

        text = to_serialized(schema, referenced(state, subject, schema, deleted=True))
        return dataclasses.replace(shown, schema_str=text)
    if schema.schema_type == "JSON" and form == "resolved":
        return shown
    raise Refusal(422, 422, f"Unsupported format {form} for {schema.schema_type}")


def described(
    state: State, subject: str, version: Version, form: str | None = None, reference_form: str | None = None
) -> dict[str, Any]:
    """A version with everything that is known of it."""
    schema = state.schema(subject, version)
    place = {"subject": subject, "version": version.number, "id": version.schema_id, "guid": schema_guid(schema)}
    return place | formatted(state, subject, schema, form, reference_form).to_dict()
