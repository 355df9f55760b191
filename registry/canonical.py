"""The form of a schema that a registry stores, compares and derives ids from.

Must not know of stores or networks, nor of any format: the formats' modules do. Source: Confluent's registry
(`ParsedSchema.canonicalString`, `normalize`).
"""

from __future__ import annotations

from registry.compat.avro_canonical import avro_text
from registry.compat.formats import Referenced, format_of
from registry.models import Schema

__all__ = ["avro_text", "canonical_text"]


def canonical_text(schema: Schema, referenced: Referenced = (), normalize: bool = False) -> str:
    """The text of a schema that two schemas share if they are the same to a registry.

    Args:
        schema: the schema.
        referenced: all schemas it is made of (`references.resolve_all`).
        normalize: also bring to one order what may be ordered freely, as `normalize=true` of the REST API does.

    Raises:
        InvalidSchemaError: it is not a valid schema of its type.
    """
    return format_of(schema.schema_type).canonical(schema, referenced, normalize)
