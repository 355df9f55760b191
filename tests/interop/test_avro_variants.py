"""Avro's logical type `variant` beside confluent-kafka: the same bytes, and variants for them."""

from __future__ import annotations

import json
import warnings
from typing import Any, Final

import pytest

from registry import Rule, RuleKind, RuleMode, RuleSet, Schema, SchemaRegistryClient
from serdes import MessageField, SerializationContext, SerializationError
from serdes.avro import AvroDeserializer, AvroSerializer
from serdes.variants import Variant, parse_json

pytestmark = pytest.mark.interop
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # authlib warns of httpx when it is imported
    peer = pytest.importorskip("confluent_kafka.schema_registry", exc_type=ImportError)
    peer_avro = pytest.importorskip("confluent_kafka.schema_registry.avro", exc_type=ImportError)
    peer_serialization = pytest.importorskip("confluent_kafka.serialization", exc_type=ImportError)
    peer_variants = pytest.importorskip(
        "confluent_kafka.schema_registry.confluent.type.variant_utils", exc_type=ImportError
    )

VARIANT: Final = {
    "type": "record",
    "name": "V",
    "logicalType": "variant",
    "fields": [{"name": "metadata", "type": "bytes"}, {"name": "value", "type": "bytes"}],
}
RECORD: Final = json.dumps({"type": "record", "name": "R", "fields": [{"name": "v", "type": ["null", VARIANT]}]})
HERE: Final = SerializationContext("t", MessageField.VALUE)
TEXT: Final = '{"a":[1,{"b":"x"}]}'


def ours(schema: str, value: Any, **settings: Any) -> Any:
    with SchemaRegistryClient({"url": "mock://"}) as client:
        frame = AvroSerializer(client, schema)(value, HERE)
        return frame, AvroDeserializer(client, **settings)(frame, HERE)


def theirs(schema: str, value: Any) -> Any:
    client = peer.SchemaRegistryClient.new_client({"url": "mock://"})
    context = peer_serialization.SerializationContext("t", "value")
    frame = peer_avro.AvroSerializer(client, schema)(value, context)
    return frame, peer_avro.AvroDeserializer(client)(frame, context)


@pytest.mark.parametrize("key", [None, "a"])
def test_records_hold_variants(key: str | None) -> None:
    mine: Any = parse_json(TEXT)
    other = peer_variants.parse_json(TEXT)
    if key is not None:
        mine, other = mine.get_field_by_key(key), other.get_field_by_key(key)
    frame, read = ours(RECORD, {"v": mine})
    expected, seen = theirs(RECORD, {"v": other})
    assert frame == expected
    assert isinstance(read["v"], Variant)
    assert read["v"].to_json() == seen["v"].to_json() == mine.to_json()


def test_a_schema_may_be_a_variant_alone_or_have_many() -> None:
    schema = json.dumps({"type": "array", "items": VARIANT})
    frame, read = ours(schema, [parse_json("1"), parse_json('"x"')])
    assert [each.to_json() for each in read] == ["1", '"x"']
    assert ours(json.dumps(VARIANT), parse_json("[]"))[1].to_json() == "[]"
    given = {"metadata": parse_json("1").metadata, "value": parse_json("1").value}
    assert ours(json.dumps(VARIANT), given)[1].to_json() == "1"
    assert frame == theirs(schema, [peer_variants.parse_json("1"), peer_variants.parse_json('"x"')])[0]


@pytest.mark.parametrize("changes", [{"logicalType": "other"}, {"fields": [{"name": "value", "type": "bytes"}]}])
def test_other_records_are_dicts(changes: Any) -> None:
    fields = {each["name"]: b"\x01" for each in changes.get("fields", VARIANT["fields"])}
    assert ours(json.dumps({**VARIANT, **changes}), fields)[1] == fields


def test_bytes_that_are_no_variant_are_refused() -> None:
    with pytest.raises(SerializationError, match="not a variant"):
        ours(json.dumps(VARIANT), {"metadata": b"", "value": b""})


def test_rules_on_other_fields_leave_variants_alone() -> None:
    fields = [{"name": "n", "type": "string", "confluent:tags": ["PII"]}, {"name": "v", "type": VARIANT}]
    rule = Rule("r", None, RuleKind.TRANSFORM, RuleMode.WRITEREAD, "CEL_FIELD", ["PII"], None, "value + '!'")
    schema = Schema(
        json.dumps({"type": "record", "name": "R", "fields": fields}), rule_set=RuleSet(domain_rules=[rule])
    )
    _, read = ours(schema, {"n": "a", "v": parse_json(TEXT)})  # type: ignore[arg-type]
    assert read["n"] == "a!!"
    assert read["v"].to_json() == TEXT
