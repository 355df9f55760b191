"""pipeline.source.formats: keys and values of raw batches decoded, without Spark and without a broker."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from pipeline.source.decoding import newer_version
from pipeline.source.formats import ReadPlan, plan_read
from pipeline.source.options import ReadOptions
from pipeline.source.raw import HEADERS, RAW_SCHEMA
from registry import Schema, SchemaRegistryClient
from serdes import MessageField, SerializationContext
from serdes.avro import AvroSerializer
from serdes.frames.schema_id import header_schema_id_serializer

ORDER = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}'
Headers = list[tuple[str, bytes | None]]


@pytest.fixture
def conf() -> Iterator[dict[str, Any]]:
    """A registry that has the schema of keys and values of the topic `t`."""
    found = {"url": f"mock://{uuid.uuid4()}"}
    with SchemaRegistryClient(found) as client:
        for field in MessageField.VALUE, MessageField.KEY:
            AvroSerializer(client, ORDER)({"id": 0}, SerializationContext("t", field))
        yield found


def written(conf: dict[str, Any], number: int, field: MessageField = MessageField.VALUE) -> tuple[bytes, Headers]:
    """A payload whose schema stands in a header."""
    headers: Headers = []
    with SchemaRegistryClient(conf) as client:
        serialize = AvroSerializer(client, ORDER, conf={"schema.id.serializer": header_schema_id_serializer})
        payload = serialize({"id": number}, SerializationContext("t", field, headers))
    assert payload is not None
    return payload, headers


def batch(*records: tuple[bytes | None, bytes | None, Headers | None]) -> pa.RecordBatch:
    """Raw records of t[0]: key, value, headers."""
    now = datetime(2026, 11, 22, tzinfo=UTC)
    rows = [
        {
            "key": key,
            "value": value,
            "topic": "t",
            "partition": 0,
            "offset": at,
            "timestamp": now,
            "timestampType": 0,
            "headers": None if headers is None else [{"key": name, "value": told} for name, told in headers],
        }
        for at, (key, value, headers) in enumerate(records)
    ]
    return pa.RecordBatch.from_pylist(rows, RAW_SCHEMA.append(HEADERS))


def planned(conf: dict[str, Any], **options: str) -> ReadPlan:
    given = {"kafka.bootstrap.servers": "nowhere:1", "subscribe": "t", "schema.registry.url": conf["url"]}
    return plan_read(ReadOptions.parse({**given, "value.format": "avro", **options}))


class Box:
    """Keeps the letters that are posted."""

    def __init__(self) -> None:
        self.letters: list[dict[str, Any]] = []

    def post(self, letters: pa.RecordBatch) -> None:
        self.letters += letters.to_pylist()


def rows(plan: ReadPlan, raw: pa.RecordBatch, box: Any = None) -> list[dict[str, Any]]:
    return [row for made in plan.columns(iter([raw]), box) for row in made.to_pylist()]


def test_schemas_that_headers_name(conf: dict[str, Any]) -> None:
    first, named = written(conf, 7)
    second, _ = written(conf, 8)
    key, key_named = written(conf, 9, MessageField.KEY)
    with SchemaRegistryClient(conf) as client:
        framed = AvroSerializer(client, ORDER)({"id": 6}, SerializationContext("t", MessageField.VALUE))
    name, guid = named[0]
    raw = batch(
        (None, framed, None),
        (None, first, [("trace", b"x"), *named]),
        (key, framed, key_named),
        (None, second, [(name, None), (name, guid), (name, b"another")]),
        (None, framed, []),
    )
    plan = planned(conf, **{"key.format": "avro"})
    found = [(row["key"], row["value"]) for row in rows(plan, raw)]
    assert found == [
        (None, {"id": 6}),
        (None, {"id": 7}),
        ({"id": 9}, {"id": 6}),
        (None, {"id": 8}),
        (None, {"id": 6}),
    ]
    assert [row["value"] for row in rows(plan, raw.slice(1, 3))] == [{"id": 7}, {"id": 6}, {"id": 8}]
    assert "headers" not in plan.arrow_schema.names
    assert rows(planned(conf, includeHeaders="true"), raw)[1]["headers"][0] == {"key": "trace", "value": b"x"}


def test_dead_letters_take_their_headers_along(conf: dict[str, Any]) -> None:
    box = Box()
    plan = planned(conf, mode="DEADLETTER", deadLetterTopic="letters")
    assert rows(plan, batch((None, b"junk", [("trace", b"x")])), box) == []
    (letter,) = box.letters
    assert (letter["value"], letter["headers"][0]) == (b"junk", {"key": "trace", "value": b"x"})


def test_a_stream_that_is_started_again_has_the_newer_columns(conf: dict[str, Any]) -> None:
    first = planned(conf, evolution="restart")
    newer = ORDER.replace("]}", ', {"name": "more", "type": "int", "default": 0}]}')
    with SchemaRegistryClient(conf) as client:
        client.register_schema("t-value", Schema(newer, "AVRO"))
    assert "newer version (2" in str(newer_version(first.fields, first.options))
    again = planned(conf, evolution="restart")  # in the same process, at once
    assert newer_version(again.fields, again.options) is None
    assert [field.name for field in again.arrow_schema.field("value").type] == ["id", "more"]


OPEN = '{"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": {"type": "string"}}'


@pytest.mark.parametrize(
    ("unnamed", "found"),
    [
        ({}, {"n": 1}),
        ({"value.unnamed": "skip"}, {"n": 1}),
        ({"value.unnamed": "refuse"}, None),
        ({"value.unnamed": "MAP"}, {"n": 1, "additionalProperties": [("a", "x")]}),
    ],
)
def test_members_that_the_schema_does_not_name(conf: dict[str, Any], unnamed: dict[str, str], found: Any) -> None:
    with SchemaRegistryClient(conf) as client:
        number = client.register_schema("open", Schema(OPEN, "JSON"))
    raw = batch((None, b"\0" + number.to_bytes(4, "big") + b'{"n": 1, "a": "x"}', None))
    plan = planned(conf, **{"value.format": "json", "value.subject": "open", "mode": "PERMISSIVE", **unnamed})
    (row,) = rows(plan, raw)
    assert row["value"] == found
