"""Every Avro type through `from_registry`: Spark's type, and the value fastavro reads."""

from __future__ import annotations

import datetime
import io
import uuid
from decimal import Decimal
from typing import Any

import fastavro
import pytest

from pipeline import from_registry
from registry import SchemaRegistryClient
from tests.spark.conftest import WITH_FUNCTIONS, frame, register

pytestmark = [pytest.mark.spark, WITH_FUNCTIONS]


def logical(kind: str, name: str) -> dict[str, str]:
    return {"type": kind, "logicalType": name}


def record(name: str, *fields: tuple[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": field, "type": kind} for field, kind in fields]}


ADDRESS = record("Address", ("street", "string"), ("zip", ["null", "int"]))
SCHEMA = record(
    "Everything",
    ("boolean", "boolean"),
    ("int", "int"),
    ("long", "long"),
    ("float", "float"),
    ("double", "double"),
    ("bytes", "bytes"),
    ("string", "string"),
    ("fixed", {"type": "fixed", "name": "Four", "size": 4}),
    ("enum", {"type": "enum", "name": "State", "symbols": ["NEW", "PAID"]}),
    ("decimal", {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 3}),
    ("money", {"type": "fixed", "name": "Money", "size": 16, "logicalType": "decimal", "precision": 38, "scale": 2}),
    ("uuid", logical("string", "uuid")),
    ("date", logical("int", "date")),
    ("millis", logical("long", "timestamp-millis")),
    ("micros", logical("long", "timestamp-micros")),
    ("local", logical("long", "local-timestamp-millis")),
    ("time_millis", logical("int", "time-millis")),
    ("time_micros", logical("long", "time-micros")),
    ("maybe", ["null", logical("long", "timestamp-millis")]),
    ("number", ["null", "int", "long"]),
    ("either", ["null", "string", "boolean"]),
    ("address", ADDRESS),
    ("former", {"type": "array", "items": "Address"}),
    ("tags", {"type": "map", "values": {"type": "array", "items": "string"}}),
)
TYPES = {
    "boolean": "boolean",
    "int": "int",
    "long": "bigint",
    "float": "float",
    "double": "double",
    "bytes": "binary",
    "string": "string",
    "fixed": "binary",
    "enum": "string",
    "decimal": "decimal(12,3)",
    "money": "decimal(38,2)",
    "uuid": "string",
    "date": "date",
    "millis": "timestamp",
    "micros": "timestamp",
    "local": "timestamp_ntz",
    "time_millis": "int",
    "time_micros": "bigint",
    "maybe": "timestamp",
    "number": "bigint",
    "either": "struct<member0:string,member1:boolean>",
    "address": "struct<street:string,zip:int>",
    "former": "array<struct<street:string,zip:int>>",
    "tags": "map<string,array<string>>",
}
UTC = datetime.UTC
FULL: dict[str, Any] = {
    "boolean": True,
    "int": -(2**31),
    "long": 2**63 - 1,
    "float": 0.5,
    "double": -1e300,
    "bytes": b"\x00\xff",
    "string": "žluťoučký 🐴",
    "fixed": b"abcd",
    "enum": "PAID",
    "decimal": Decimal("-123456789.012"),
    "money": Decimal("999999999999999999999999999999999999.99"),
    "uuid": uuid.UUID(int=5),
    "date": datetime.date(1969, 12, 31),
    "millis": datetime.datetime(2026, 3, 29, 1, 30, 0, 123_000, UTC),
    "micros": datetime.datetime(1960, 2, 29, 23, 59, 59, 999_999, UTC),
    "local": datetime.datetime(2026, 3, 8, 2, 30, 0, 1_000),
    "time_millis": datetime.time(23, 59, 59, 999_000),
    "time_micros": datetime.time(0, 0, 1, 1),
    "maybe": datetime.datetime(1970, 1, 1, tzinfo=UTC),
    "number": 2**40,
    "either": True,
    "address": {"street": "Main", "zip": 12345},
    "former": [{"street": "Old", "zip": None}, {"street": "Older", "zip": 1}],
    "tags": {"a": ["x", "y"], "b": []},
}
EMPTY = {**FULL, "maybe": None, "number": None, "either": None, "former": [], "tags": {}, "string": "", "bytes": b""}


def as_spark_shows(value: dict[str, Any]) -> dict[str, Any]:
    """The decoded record as a DataFrame has it, by the rules of the documentation."""
    either = value["either"]
    time, micros = value["time_millis"], value["time_micros"]
    return {
        **value,
        "uuid": str(value["uuid"]),
        "time_millis": ((time.hour * 60 + time.minute) * 60 + time.second) * 1_000 + time.microsecond // 1_000,
        "time_micros": ((micros.hour * 60 + micros.minute) * 60 + micros.second) * 1_000_000 + micros.microsecond,
        "either": None if either is None else {"member0": None, "member1": either},
    }


def plain(value: Any) -> Any:
    """Spark's naive local times as moments, its bytearrays as bytes."""
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return bytes(value) if isinstance(value, bytearray) else value


def test_every_type(spark: Any, registry: SchemaRegistryClient) -> None:
    schema_id = register(registry, "types-value", SCHEMA)
    frames = [frame(schema_id, SCHEMA, FULL), None, frame(schema_id, SCHEMA, EMPTY)]
    raw = spark.createDataFrame(list(enumerate(frames)), "n int, value binary").coalesce(1)
    decoded = raw.select(
        "n", from_registry("value", registry.config(), subject="types-value", mode="FAILFAST").alias("v")
    )
    assert dict(decoded.select("v.*").dtypes) == TYPES
    moments = [f"unix_micros(v.{name}) as {name}" for name in ("millis", "micros", "maybe")]
    rows = sorted(decoded.selectExpr("n", "v", *moments).collect())
    assert rows[1].v is None
    for row, payload in ((rows[0], frames[0]), (rows[2], frames[2])):
        assert payload is not None
        read = fastavro.schemaless_reader(io.BytesIO(payload[5:]), fastavro.parse_schema(SCHEMA), None)
        assert isinstance(read, dict)
        expected = as_spark_shows(read)
        found = plain(row.v.asDict(recursive=True))
        for name in ("millis", "micros", "maybe"):
            moment, shown = expected.pop(name), found.pop(name)
            assert (moment is None) == (shown is None)
            epoch = datetime.datetime(1970, 1, 1, tzinfo=UTC)
            micro = datetime.timedelta(microseconds=1)
            assert row[name] == (None if moment is None else (moment - epoch) // micro)
        assert found == expected


V1 = record("Order", ("id", "int"), ("kept", "string"))
V2 = {
    **V1,
    "fields": [{"name": "id", "type": "long"}, *V1["fields"][1:], {"name": "note", "type": "string", "default": "-"}],
}
V3 = {**V2, "fields": [*V2["fields"], {"name": "total", "type": ["null", "double"], "default": None}]}


def test_many_ids_and_bad_rows_in_one_batch(spark: Any, registry: SchemaRegistryClient) -> None:
    first, second, third = (register(registry, "orders-value", schema) for schema in (V1, V2, V3))
    other = register(registry, "other-value", record("Other", ("x", "boolean")))
    good = {
        0: (frame(first, V1, {"id": 1, "kept": "a"}), (1, "a", "-", None)),
        1: (frame(third, V3, {"id": 2**40, "kept": "b", "note": "n", "total": 0.5}), (2**40, "b", "n", 0.5)),
        2: (frame(second, V2, {"id": 3, "kept": "c", "note": ""}), (3, "c", "", None)),
        3: (frame(first, V1, {"id": 4, "kept": ""}), (4, "", "-", None)),
    }
    bad = {
        4: (b"\x01\0\0\0\1xx", "magic"),
        5: (b"", "empty"),
        6: (b"\0\0\1\xe2\x40x", "id 123456"),
        7: (frame(first, V1, {"id": 4, "kept": "long"})[:-1], f"id {first}"),
        8: (frame(other, record("Other", ("x", "boolean")), {"x": True}), f"id {other}"),
    }
    payloads = {at: payload for at, (payload, _) in (good | bad).items()} | {9: None}
    raw = spark.createDataFrame(sorted(payloads.items()), "n int, value binary").coalesce(1).orderBy("n")
    conf, subject = registry.config(), "orders-value"
    told = from_registry("value", conf, subject=subject, error_field="_error")
    nulls = from_registry("value", conf, subject=subject)
    rows = raw.select(told.alias("t"), nulls.alias("v")).collect()
    assert raw.select(told.alias("t")).select("t.*").columns == ["id", "kept", "note", "total", "_error"]
    for at, (_, values) in good.items():
        assert tuple(rows[at].v) == values
        assert tuple(rows[at].t) == (*values, None)
    for at, (_, reason) in bad.items():
        assert rows[at].v is None
        assert tuple(rows[at].t)[:-1] == (None,) * 4
        assert reason in rows[at].t["_error"]
    assert (rows[9].t, rows[9].v) == (None, None)


def test_failfast_says_which_row_and_why(spark: Any, registry: SchemaRegistryClient) -> None:
    from pyspark.errors import PythonException

    schema_id = register(registry, "fast-value", V1)
    frames = [frame(schema_id, V1, {"id": 1, "kept": "a"}), None, b"\x05nonsense"]
    raw = spark.createDataFrame([(value,) for value in frames], "value binary").coalesce(1)
    strict = from_registry("value", registry.config(), subject="fast-value", mode="FAILFAST")
    with pytest.raises(PythonException) as caught:
        raw.select(strict).collect()
    assert "pipeline.errors.RowError: row 2 of a batch can't be decoded" in str(caught.value)
    assert "mode PERMISSIVE would make it null" in str(caught.value)


def test_a_reader_schema_of_few_fields(spark: Any, registry: SchemaRegistryClient) -> None:
    import json

    schema_id = register(registry, "few-value", V1)
    reader = {**V1, "fields": [V1["fields"][1], {"name": "more", "type": "int", "default": 7}]}
    raw = spark.createDataFrame([(frame(schema_id, V1, {"id": 1, "kept": "a"}),)], "value binary")
    chosen = from_registry("value", registry.config(), topic="few", reader_schema=json.dumps(reader))
    found = raw.select(chosen.alias("v")).select("v.*")
    assert (found.dtypes, [tuple(row) for row in found.collect()]) == (
        [("kept", "string"), ("more", "int")],
        [("a", 7)],
    )


def test_an_empty_frame_and_empty_partitions(spark: Any, registry: SchemaRegistryClient) -> None:
    schema_id = register(registry, "empty-value", V1)
    decoded = from_registry("value", registry.config(), topic="empty", mode="FAILFAST").alias("v")
    one = spark.createDataFrame([(frame(schema_id, V1, {"id": 1, "kept": "a"}),)], "value binary")
    assert [row.v.id for row in one.repartition(3).select(decoded).collect()] == [1]
    assert one.where("false").select(decoded).collect() == []


def test_schemas_travel_with_the_job(spark: Any) -> None:
    """The registry lives in the driver's memory only: workers could not ask it."""
    conf = {"url": f"mock://{uuid.uuid4()}"}
    with SchemaRegistryClient(conf) as client:
        schema_id = register(client, "near-value", V1)
        decoded = from_registry("value", conf, topic="near", mode="FAILFAST").alias("v")
    raw = spark.createDataFrame([(frame(schema_id, V1, {"id": 1, "kept": "a"}),)], "value binary")
    assert [row.v.kept for row in raw.select(decoded).collect()] == ["a"]
