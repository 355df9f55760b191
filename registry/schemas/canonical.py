"""Canonical texts, fingerprints and GUIDs of schemas, as a registry computes them.

Must not know of stores or networks, nor of any format: the formats' modules do. Source: Confluent's registry
(`ParsedSchema.canonicalString`, `normalize`, `Schema.getGuid`); Avro specification 1.12, "Schema Fingerprints".
"""

from __future__ import annotations

import dataclasses
import hashlib
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from registry.models import Metadata, Rule, RuleKind, RuleMode, RuleSet, Schema, SchemaReference
from registry.schemas.avro.canonical import avro_text, parsing_form
from registry.schemas.avro.defaults import refuse_illegal_namespaces, refuse_invalid_defaults
from registry.schemas.avro.writer import java_order
from registry.schemas.formats import Referenced, format_of

__all__ = [
    "FINGERPRINTS",
    "avro_text",
    "canonical_schema",
    "canonical_text",
    "fingerprint",
    "schema_guid",
    "validate_new",
]


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


def canonical_schema(schema: Schema, referenced: Referenced = (), normalize: bool = False) -> Schema:
    """The schema as a registry stores it: with its canonical text and, normalized, its references in order, each once.

    Raises:
        InvalidSchemaError: it is not a valid schema of its type.
    """
    references = tuple(schema.references)
    if normalize:
        references = tuple(sorted(dict.fromkeys(references), key=lambda item: (java_order(item.subject), item.version)))
    return dataclasses.replace(schema, schema_str=canonical_text(schema, referenced, normalize), references=references)


def validate_new(schema: Schema, referenced: Referenced = ()) -> None:
    """Checks that a schema may be registered: a registry refuses some new schemas that it reads in old versions.

    Avro's defaults and namespaces have to be valid.

    Raises:
        InvalidSchemaError: it is not a valid schema of its type, or not valid as a new one.
    """
    parsed = format_of(schema.schema_type).parse(schema, referenced)
    if schema.schema_type == "AVRO":
        refuse_illegal_namespaces(parsed)
        refuse_invalid_defaults(parsed)


# --- fingerprints

RABIN_EMPTY: Final = 0xC15D213AA4D7A795


def _rabin_table() -> Iterator[int]:
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ (RABIN_EMPTY & -(value & 1))
        yield value


RABIN_TABLE: Final = tuple(_rabin_table())


def _rabin(data: bytes) -> bytes:
    value = RABIN_EMPTY
    for byte in data:
        value = (value >> 8) ^ RABIN_TABLE[(value ^ byte) & 0xFF]
    return value.to_bytes(8, "little")


FINGERPRINTS: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "CRC-64-AVRO": _rabin,
    "MD5": lambda data: hashlib.md5(data, usedforsecurity=False).digest(),
    "SHA-256": lambda data: hashlib.sha256(data).digest(),
}


def fingerprint(schema: Schema, algorithm: str = "CRC-64-AVRO", referenced: Referenced = ()) -> str:
    """A short name for what a schema says about bytes.

    Of Avro, it is taken from the parsing canonical form, with the referenced schemas in it: docs, defaults and the
    like do not count. Of other formats, from the normalized text.

    Args:
        schema: the schema.
        algorithm: a name in `FINGERPRINTS`.
        referenced: all schemas it is made of.

    Returns:
        Hexadecimal digits of the bytes as they are sent (`CRC-64-AVRO`: little-endian, as in Avro's single-object
        encoding).

    Raises:
        ValueError: unknown algorithm.
        InvalidSchemaError: it is not a valid schema of its type.
    """
    if algorithm not in FINGERPRINTS:
        raise ValueError(f"fingerprint algorithm {algorithm!r} is unknown: {', '.join(FINGERPRINTS)}")
    if schema.schema_type == "AVRO":
        text = parsing_form(schema.schema_str, [found.schema_str for _, found in referenced])
    else:
        text = canonical_text(schema, referenced, normalize=True)
    return FINGERPRINTS[algorithm](_utf8(text)).hex()


# --- GUID


def schema_guid(schema: Schema) -> str:
    """The GUID a registry gives a schema: the MD5 of its text, references, metadata and rules.

    Args:
        schema: as it is stored; bring it to that form with `canonical_schema` first.
    """
    digest = hashlib.md5(usedforsecurity=False)
    for part in _guid_parts(schema):
        digest.update(part if isinstance(part, bytes) else _utf8(part))
    return str(uuid.UUID(bytes=digest.digest()))


def _guid_parts(schema: Schema) -> Iterator[str | bytes]:
    yield schema.schema_str
    for reference in schema.references:
        yield from _reference_parts(reference)
    if schema.metadata is not None:
        yield b"\x01"
        yield from _metadata_parts(schema.metadata)
    if schema.rule_set is not None:
        yield b"\x01"
        yield from _rule_set_parts(schema.rule_set)


def _reference_parts(reference: SchemaReference) -> Iterator[str | bytes]:
    yield reference.name
    yield reference.subject
    yield reference.version.to_bytes(4, "big", signed=True)


def _metadata_parts(metadata: Metadata) -> Iterator[str]:
    for path in _ordered(metadata.tags or {}):
        yield path
        yield from _ordered(set((metadata.tags or {})[path]))
    yield from _pairs(metadata.properties or {})
    yield from _ordered(set(metadata.sensitive or ()))


def _rule_set_parts(rules: RuleSet) -> Iterator[str | bytes]:
    for phase in (rules.migration_rules, rules.domain_rules, rules.encoding_rules):
        for rule in phase or ():
            yield from _rule_parts(rule)


def _rule_parts(rule: Rule) -> Iterator[str | bytes]:
    yield rule.name or ""
    yield rule.doc or ""
    yield str(rule.kind or RuleKind.TRANSFORM)
    yield str(rule.mode or RuleMode.WRITEREAD)
    yield rule.type or ""
    yield from _ordered(set(rule.tags or ()))
    yield from _pairs(rule.params or {})
    yield rule.expr or ""
    yield rule.on_success or ""
    yield rule.on_failure or ""
    yield b"\x01" if rule.disabled else b""


def _pairs(values: Mapping[str, str]) -> Iterator[str]:
    for name in _ordered(values):
        yield name
        yield values[name]


def _ordered(names: Iterable[str]) -> list[str]:
    return sorted(names, key=java_order)


def _utf8(text: str) -> bytes:
    """As Java encodes: half a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace")
