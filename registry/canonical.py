"""Canonical texts, fingerprints and GUIDs of schemas, as a registry computes them."""

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
