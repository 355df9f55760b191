"""What a registry derives from a schema: the text it stores and compares, fingerprints, the GUID."""

from registry.schemas.canonical import (
    FINGERPRINTS,
    avro_text,
    canonical_schema,
    canonical_text,
    fingerprint,
    schema_guid,
    validate_new,
)

__all__ = [
    "FINGERPRINTS",
    "avro_text",
    "canonical_schema",
    "canonical_text",
    "fingerprint",
    "schema_guid",
    "validate_new",
]
