from __future__ import annotations

import hashlib
import json
import uuid

import fastavro.schema
import pytest

from registry import InvalidSchemaError, Metadata, Rule, RuleKind, RuleMode, RuleSet, Schema, SchemaReference
from registry.schemas.canonical import (
    FINGERPRINTS,
    canonical_schema,
    canonical_text,
    fingerprint,
    schema_guid,
    validate_new,
)

USED = Schema('{"type":"record","name":"y.B","fields":[]}')
B1, B2, A1 = SchemaReference("y.B", "b", 1), SchemaReference("y.B2", "b", 2), SchemaReference("y.A", "a", 1)


def test_each_format_has_its_own_form() -> None:
    assert canonical_text(Schema(' { "type" : "string" } ')) == '"string"'


def test_names_of_references_stay_names() -> None:
    text = '{"type":"record","name":"A","fields":[{"name":"p","type":"y.B"}]}'
    assert canonical_text(Schema(text), [(B1, USED)]) == text


def test_unknown_types_are_invalid() -> None:
    with pytest.raises(InvalidSchemaError, match="'XML' is unknown"):
        canonical_text(Schema("<a/>", "XML"))


def test_a_normalized_schema_has_its_references_in_order_and_once() -> None:
    schema = Schema(' "string"', references=[B2, B1, A1, B2], metadata=Metadata(properties={"a": "b"}))
    assert canonical_schema(schema) == Schema('"string"', references=[B2, B1, A1, B2], metadata=schema.metadata)
    assert canonical_schema(schema, normalize=True).references == (A1, B1, B2)


def test_a_registry_asks_more_of_a_new_schema() -> None:
    schema = Schema('{"type":"record","name":"R","fields":[{"name":"a","type":"int","default":"x"}]}')
    assert canonical_text(schema) == schema.schema_str
    with pytest.raises(InvalidSchemaError, match="default of field 'a' of R is not a int"):
        validate_new(schema)
    with pytest.raises(InvalidSchemaError, match=r"illegal namespace of 'a-b\.R'"):
        validate_new(Schema('{"type":"record","name":"R","namespace":"a-b","fields":[]}'))
    validate_new(Schema('["y.B"]'), [(B1, USED)])
    with pytest.raises(InvalidSchemaError, match="undefined name"):
        validate_new(Schema('["y.B"]'))


# --- fingerprints


@pytest.mark.parametrize(
    "text",
    [
        '"int"',
        '{"type":"long","logicalType":"timestamp-millis"}',
        '{"type":"fixed","name":"x.F","size":16,"doc":"not counted"}',
        '{"type":"record","name":"R","namespace":"x","fields":[{"name":"a","type":["null","R"],"default":null}]}',
    ],
)
@pytest.mark.parametrize("algorithm", FINGERPRINTS)
def test_avro_fingerprints_are_those_of_fastavro(text: str, algorithm: str) -> None:
    form = fastavro.schema.to_parsing_canonical_form(fastavro.parse_schema(json.loads(text)))
    assert fingerprint(Schema(text), algorithm) == fastavro.schema.fingerprint(form, algorithm)


def test_fingerprints_of_the_specification() -> None:
    assert fingerprint(Schema('"int"')) == "8f5c393f1ad57572"
    assert fingerprint(Schema('"int"'), "MD5") == "ef524ea1b91e73173d938ade36c1db32"


def test_a_fingerprint_counts_what_references_say() -> None:
    schema = Schema('{"type":"array","items":"y.B"}')
    whole = Schema('{"type":"array","items":{"type":"record","name":"y.B","fields":[]}}')
    assert fingerprint(schema, referenced=[(B1, USED)]) == fingerprint(whole)


def test_fingerprints_of_other_formats_are_those_of_the_normalized_text() -> None:
    one, other = (Schema(text, "JSON") for text in ('{"type":"object","title":"a"}', '{"title":"a", "type":"object"}'))
    assert fingerprint(one) == fingerprint(other) != fingerprint(Schema('{"type":"object"}', "JSON"))
    validate_new(one)


def test_unknown_algorithms() -> None:
    with pytest.raises(ValueError, match="'CRC-32' is unknown: CRC-64-AVRO, MD5, SHA-256"):
        fingerprint(Schema('"int"'), "CRC-32")


# --- GUIDs: the expected bytes are written out by hand


def guid_of(*parts: str | bytes) -> str:
    joined = b"".join(part if isinstance(part, bytes) else part.encode() for part in parts)
    return str(uuid.UUID(bytes=hashlib.md5(joined, usedforsecurity=False).digest()))


def test_guid_of_a_bare_schema() -> None:
    assert schema_guid(Schema('"string"')) == guid_of('"string"') == "095d71cf-1255-6b9d-5e33-0ad575b3df5d"


def test_guid_with_references_in_their_order() -> None:
    schema = Schema('"x"', references=[B2, A1])
    assert schema_guid(schema) == guid_of('"x"', "y.B2", "b", b"\x00\x00\x00\x02", "y.A", "a", b"\x00\x00\x00\x01")


def test_guid_with_metadata_in_the_order_of_names() -> None:
    metadata = Metadata(
        tags={"z": ["t2", "t1", "t2"], "a": []}, properties={"p2": "v2", "p1": "v1"}, sensitive=["s2", "s1"]
    )
    expected = ["a", "z", "t1", "t2", "p1", "v1", "p2", "v2", "s1", "s2"]
    assert schema_guid(Schema('"x"', metadata=metadata)) == guid_of('"x"', b"\x01", *expected)
    assert schema_guid(Schema('"x"', metadata=Metadata())) == guid_of('"x"', b"\x01")


def test_guid_with_rules_and_their_defaults() -> None:
    whole = Rule(
        name="n", doc="d", kind=RuleKind.CONDITION, mode=RuleMode.READ, type="CEL", tags=["t2", "t1"],
        params={"b": "2", "a": "1"}, expr="e", on_success="NONE", on_failure="ERROR", disabled=True,
    )  # fmt: skip
    rules = RuleSet(migration_rules=[Rule("m", type="T")], domain_rules=[whole], encoding_rules=[Rule("q")])
    expected = "mTRANSFORMWRITEREADT", "ndCONDITIONREADCELt1t2a1b2eNONEERROR\x01", "qTRANSFORMWRITEREAD"
    assert schema_guid(Schema('"x"', rule_set=rules)) == guid_of('"x"', b"\x01", *expected)
    both = Schema('"x"', metadata=Metadata(), rule_set=RuleSet())
    assert schema_guid(both) == guid_of('"x"', b"\x01\x01")


def test_names_are_ordered_by_their_utf_16_units() -> None:
    metadata = Metadata(properties={"\uff5e": "1", "\U0001f600": "2"})
    assert schema_guid(Schema("", metadata=metadata)) == guid_of(b"\x01", "\U0001f600", "2", "\uff5e", "1")


def test_half_a_surrogate_pair_counts_as_a_question_mark() -> None:
    assert schema_guid(Schema('"\ud800"')) == guid_of('"?"')
