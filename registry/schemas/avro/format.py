"""Avro among the formats of schemas: a schema with those it refers to, parsed and in its canonical text.

Must not know of registries. Everything is done in `model` and `canonical`.
"""

from __future__ import annotations

from registry.models import Schema
from registry.schemas.avro import model
from registry.schemas.avro.canonical import avro_text
from registry.schemas.avro.types import AvroType
from registry.schemas.formats import Referenced


def parse(schema: Schema, referenced: Referenced) -> AvroType:
    """The schema with the types of those it refers to.

    Raises:
        InvalidSchemaError: it is not valid Avro.
    """
    return model.parse(schema.schema_str, [found.schema_str for _, found in referenced], strict=True)


def canonical(schema: Schema, referenced: Referenced, normalize: bool) -> str:
    """The text a registry stores and compares (see `canonical.avro_text`).

    Raises:
        InvalidSchemaError: it is not valid Avro.
    """
    return avro_text(schema.schema_str, [found.schema_str for _, found in referenced], normalize)
