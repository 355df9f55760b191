"""Rows of a schema with a rule that changes nothing are written, and read, as those of the same schema without it.

And what Spark's types hold of what was read can be written, and is the same when it is read again.
"""

from __future__ import annotations

import itertools
import json
import random
from typing import Any, Final

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.columns.batch_encoder import shared_encoder
from pipeline.columns.decoding import shared_decoder
from pipeline.columns.encoding import EncodeArguments, encode_plan_for
from pipeline.columns.plan import DecodeArguments, plan_for
from pipeline.errors import PlanError
from registry import Rule, RuleKind, RuleMode, RuleSet, Schema, SchemaRegistryClient
from serdes import MessageField, SerializationContext, SerializationError
from serdes.avro import AvroSerializer
from serdes.columnar import avro_schema_of, json_schema_of
from tests.strategies.arrow import arrays, structs
from tests.strategies.avro_cases import pairs
from tests.strategies.columns import comparable
from tests.strategies.protobuf import message, parsed, schema_text

pytest.importorskip("pyspark")

HARMLESS: Final = RuleSet(
    domain_rules=[Rule("always", kind=RuleKind.CONDITION, mode=RuleMode.WRITEREAD, type="CEL", expr="true")]
)
CONTEXT = SerializationContext("t", MessageField.VALUE)
numbers = itertools.count()
SCHEMAS = 40


class Twins:
    """One schema under two subjects: without a rule, and with one that holds for every value."""

    def __init__(self, text: str, kind: str) -> None:
        self.conf = {"url": f"mock://rules-in-columns-{next(numbers)}"}
        self.registry = SchemaRegistryClient(self.conf)
        self.ids = {
            name: self.registry.register_schema(name, Schema(text, kind, rule_set=rules))
            for name, rules in (("bare", None), ("ruled", HARMLESS))
        }

    def written(self, name: str, values: pa.Array) -> tuple[list[bytes | None], list[tuple[int, str | None]]]:
        """Payloads, and the rows that are bad, with the places."""
        plan = encode_plan_for(self.conf, EncodeArguments(subject=name, mode="PERMISSIVE"))
        frames, faults = shared_encoder(plan).read(values)
        found = [None if frame is None else frame[5:] for frame in frames.to_pylist()]
        return found, [(fault.row, fault.path) for fault in faults]

    def read(self, name: str, payloads: list[bytes]) -> tuple[pa.Array, list[tuple[int, str]]] | str:
        """Rows, and those that are bad; or why none can be read."""
        frames = pa.array([b"\0" + self.ids[name].to_bytes(4, "big") + one for one in payloads], pa.binary())
        try:
            decoder = shared_decoder(plan_for(self.conf, DecodeArguments(subject=name, mode="PERMISSIVE")))
        except PlanError as error:
            return str(error).replace(name, "")
        found = decoder.read(frames)
        found.values.validate(full=True)
        return found.values, [(fault.row, fault.code.value) for fault in found.faults]

    def same_read(self, payloads: list[bytes]) -> pa.Array | None:
        """The rows, which are the same under both subjects; None if none can be read."""
        bare, ruled = (self.read(name, payloads) for name in self.ids)
        if isinstance(bare, str) or isinstance(ruled, str):
            assert bare == ruled
            return None
        assert bare[0].type == ruled[0].type
        assert comparable(bare[0].to_pylist()) == comparable(ruled[0].to_pylist())
        assert bare[1] == ruled[1]
        return bare[0]

    def same_written(self, values: pa.Array) -> list[bytes | None]:
        """The payloads, which are the same under both subjects."""
        bare, ruled = (self.written(name, values) for name in self.ids)
        assert bare == ruled
        return bare[0]

    def comes_back(self, values: pa.Array) -> None:
        """Checks rows that were read: all of them can be written, and are the same when they are read again."""
        payloads = [payload for payload in self.same_written(values) if payload is not None]
        again = self.read("bare", payloads)
        assert not isinstance(again, str)
        assert comparable(again[0].to_pylist()) == comparable([row for row in values.to_pylist() if row is not None])
        assert again[1] == []


@given(structs(2).flatmap(lambda kind: arrays(kind)), st.sampled_from(["AVRO", "JSON"]))
def test_columns_of_any_type(values: pa.Array, kind: str) -> None:
    try:
        text = avro_schema_of(values.type, name="T") if kind == "AVRO" else json_schema_of(values.type, title="T")
    except (SerializationError, ValueError):
        return  # this format has no such type
    Twins(text, kind).same_written(values)


@pytest.mark.parametrize("seed", range(SCHEMAS))
def test_avro_of_any_schema(seed: int) -> None:
    (pair,) = pairs(seed, 1, 4)
    text = json.dumps(pair.writer)
    twins = Twins(text, "AVRO")
    serializer = AvroSerializer(SchemaRegistryClient({"url": f"mock://rules-in-columns-{next(numbers)}"}), text)
    frames: list[Any] = [serializer(drawn.value, CONTEXT) for drawn in pair.values]
    values = twins.same_read([frame[5:] for frame in frames])
    if values is not None:
        twins.comes_back(values)


@pytest.mark.parametrize("seed", range(SCHEMAS))
def test_protobuf_of_any_schema(seed: int) -> None:
    chance = random.Random(seed)
    text = schema_text(chance)
    loaded = parsed(text)
    descriptor = loaded.named(str(loaded.name)).DESCRIPTOR
    payloads = [b"\0" + message(chance, descriptor).SerializeToString() for _ in range(4)]
    twins = Twins(text, "PROTOBUF")
    values = twins.same_read(payloads)
    assert values is not None
    twins.comes_back(values)


@pytest.mark.parametrize("text", ['{"b": 1.50, "a": 1e2, "c": ["\\u00e4", 1E+2]}', '{"a":1,"a":2}', " [1.0, -0] "])
def test_texts_of_json_are_kept(text: str) -> None:
    twins = Twins('{"type": "object", "properties": {"any": {}}}', "JSON")
    values = twins.same_read([b'{"any": %s}' % text.encode()])
    assert values is not None
    twins.same_written(values)


def test_lists_of_nothing_but_nulls_are_as_long_as_they_are() -> None:
    inner: dict[str, Any] = {"type": "record", "name": "In", "fields": [{"name": "n", "type": "null"}]}
    fields = [
        {"name": "list", "type": {"type": "array", "items": "null"}},
        {"name": "map", "type": {"type": "map", "values": ["null"]}},
        {"name": "records", "type": ["null", {"type": "array", "items": inner}]},
    ]
    twins = Twins(json.dumps({"type": "record", "name": "R", "fields": fields}), "AVRO")
    values = twins.same_read([b"\x06\x00\x02\x02a\x00\x00\x02\x04\x00", b"\x00\x00\x00", b"\x02\x00\x00\x02\x02\x00"])
    assert values is not None
    nothing = {"n": None}
    assert values.to_pylist() == [
        {"list": [None] * 3, "map": [("a", None)], "records": [nothing, nothing]},
        {"list": [], "map": [], "records": None},
        {"list": [None], "map": [], "records": [nothing]},
    ]
