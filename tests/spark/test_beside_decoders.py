"""Rows decoded beside Spark's own from_avro and from_json: the same bytes, types and values compared row by row.

Every way of ours (`from_registry`, `decode_frame`, inside the source) against the JVM's, over values drawn from a seed.
Types and values are the same, so that a job can move from one to the other.
"""

from __future__ import annotations

import datetime
import decimal
import json
import random
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kafka_core.broker import EmbeddedCluster
from pipeline import decode_frame, from_registry, infer_schema
from registry import Schema, SchemaRegistryClient
from registry.dev import RegistryServer
from tests.spark.conftest import WITH_FUNCTIONS, Produce, frame, register

pytestmark = [
    pytest.mark.spark,
    WITH_FUNCTIONS,
    # Spark's own Python side leaves sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
ROWS = 400
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


@dataclass(frozen=True)
class Kind:
    """A type of Avro.

    Attributes:
        schema: as a field has it.
        draw: a value of fastavro's.
    """

    schema: Any
    draw: Callable[[random.Random], Any]


def logical(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": name, **more}


def integer(bits: int) -> Callable[[random.Random], int]:
    """Small, large and bordering numbers."""
    top = 2 ** (bits - 1)
    return lambda draw: draw.choice([0, -1, 1, 63, 64, -65, top - 1, -top, draw.randrange(-top, top)])


def moment(draw: random.Random, step_us: int) -> datetime.datetime:
    us = draw.randrange(-(10**15), 4 * 10**15) // step_us * step_us
    return EPOCH + datetime.timedelta(microseconds=us)


def naive(draw: random.Random, step_us: int) -> datetime.datetime:
    return moment(draw, step_us).replace(tzinfo=None)


def text(draw: random.Random) -> str:
    return "".join(draw.choice(["a", "ß", "€", "\U0001f600", "\n", '"', "\\", ""]) for _ in range(draw.randrange(9)))


def number(draw: random.Random) -> float:
    return draw.choice([0.0, -0.0, 1.5, 1e300, -1e-300, float("inf"), float("-inf"), draw.uniform(-1e6, 1e6)])


def money(digits: int, scale: int) -> Callable[[random.Random], decimal.Decimal]:
    return lambda draw: decimal.Decimal(draw.randrange(-(10**digits) + 1, 10**digits)).scaleb(
        -scale, decimal.Context(prec=40)
    )


INNER = {
    "type": "record",
    "name": "Inner",
    "fields": [
        {"name": "a", "type": ["null", "int"], "default": None},
        {"name": "b", "type": {"type": "array", "items": ["null", "string"]}},
    ],
}
KINDS = {
    "flag": Kind("boolean", lambda draw: draw.random() < 0.5),
    "int": Kind("int", integer(32)),
    "long": Kind("long", integer(64)),
    "float": Kind("float", lambda draw: draw.choice([0.0, -2.5, 3.0e38, float("inf"), float(draw.randrange(1000))])),
    "double": Kind("double", number),
    "text": Kind("string", text),
    "bytes": Kind("bytes", lambda draw: draw.randbytes(draw.randrange(5))),
    "fixed": Kind({"type": "fixed", "name": "Four", "size": 4}, lambda draw: draw.randbytes(4)),
    "enum": Kind({"type": "enum", "name": "Suit", "symbols": ["A", "B", "C"]}, lambda draw: draw.choice("ABC")),
    "date": Kind(
        logical("int", "date"), lambda draw: datetime.date(1, 1, 1) + datetime.timedelta(draw.randrange(3_000_000))
    ),
    "ms": Kind(logical("long", "timestamp-millis"), lambda draw: moment(draw, 1000)),
    "us": Kind(logical("long", "timestamp-micros"), lambda draw: moment(draw, 1)),
    "local_ms": Kind(logical("long", "local-timestamp-millis"), lambda draw: naive(draw, 1000)),
    "local_us": Kind(logical("long", "local-timestamp-micros"), lambda draw: naive(draw, 1)),
    "money": Kind(logical("bytes", "decimal", precision=9, scale=2), money(9, 2)),
    "large": Kind(logical("bytes", "decimal", precision=38, scale=10), money(38, 10)),
    "fixed_money": Kind(
        {"type": "fixed", "name": "Money", "size": 8, "logicalType": "decimal", "precision": 18, "scale": 4},
        money(18, 4),
    ),
    "uuid": Kind(logical("string", "uuid"), lambda draw: str(uuid.UUID(int=draw.getrandbits(128)))),
    "list": Kind(
        {"type": "array", "items": "long"}, lambda draw: [integer(64)(draw) for _ in range(draw.randrange(4))]
    ),
    "lists": Kind(
        {"type": "array", "items": {"type": "array", "items": "string"}},
        lambda draw: [[text(draw)] * draw.randrange(3) for _ in range(draw.randrange(3))],
    ),
    "map": Kind(
        {"type": "map", "values": ["null", "double"]},
        lambda draw: {str(at): draw.choice([None, 0.5]) for at in range(draw.randrange(4))},
    ),
    "inner": Kind(
        INNER,
        lambda draw: {"a": draw.choice([None, 7]), "b": [draw.choice([None, "x"]) for _ in range(draw.randrange(3))]},
    ),
    "inners": Kind(
        {"type": "array", "items": "Inner"},
        lambda draw: [{"a": at, "b": []} for at in range(draw.randrange(3))],
    ),
    "some": Kind(["null", "string"], lambda draw: draw.choice([None, text(draw)])),
    "other": Kind(["int", "null"], lambda draw: draw.choice([None, 5])),
    "union": Kind(["null", "string", "boolean"], lambda draw: draw.choice([None, "t", True])),
}
RECORD = {
    "type": "record",
    "name": "Everything",
    "fields": [{"name": name, "type": kind.schema} for name, kind in KINDS.items()],
}


def drawn(seed: int) -> list[dict[str, Any]]:
    draw = random.Random(seed)
    return [{name: kind.draw(draw) for name, kind in KINDS.items()} for _ in range(ROWS)]


def told(rows: Sequence[Any]) -> list[str]:
    """Rows as texts, for NaN is not equal to itself, and -0.0 is to 0.0."""
    return [repr(row) for row in rows]


def ways(
    spark: Any,
    registry: SchemaRegistryClient,
    server: RegistryServer,
    cluster: EmbeddedCluster,
    topic: str,
    **more: Any,
) -> dict[str, Any]:
    """The topic's values as each of our ways decodes them, with their offsets."""
    options = {"kafka.bootstrap.servers": cluster.bootstrap_servers, "subscribe": topic}
    raw = spark.read.format("kserdes").options(**options).load().select("partition", "offset", "value")
    conf = registry.config()
    inside = {"value.format": "auto", "schema.registry.url": server.url}
    if "reader_schema" in more:
        inside["value.readerSchema"] = more["reader_schema"]
    source = spark.read.format("kserdes").options(**options, **inside).load()
    return {
        "raw": raw,
        "from_registry": raw.select(
            "partition", "offset", from_registry("value", conf, topic=topic, mode="FAILFAST", **more).alias("v")
        ),
        "decode_frame": decode_frame(raw, "value", conf, topic=topic, mode="FAILFAST", **more).withColumnRenamed(
            "value", "v"
        ),
        "inside": source.selectExpr("partition", "offset", "value as v"),
    }


def same_rows(found: dict[str, Any], theirs: Any) -> None:
    """Types and rows of all ways are those of `theirs`."""
    expected = theirs.orderBy("partition", "offset")
    rows = told(expected.collect())
    assert len(rows) == ROWS
    for name, ours in found.items():
        kinds = dict(ours.select("v.*").dtypes), dict(expected.select("v.*").dtypes)
        assert kinds[0] == kinds[1], name
        for at, (mine, its) in enumerate(zip(told(ours.orderBy("partition", "offset").collect()), rows, strict=True)):
            assert mine == its, (name, at)


def test_avro_is_what_from_avro_makes_of_it(
    spark: Any,
    connectors: list[Path],
    registry: SchemaRegistryClient,
    registry_server: RegistryServer,
    cluster: EmbeddedCluster,
    topic: str,
    produce: Produce,
) -> None:
    from pyspark.sql import functions
    from pyspark.sql.avro.functions import from_avro

    number = register(registry, f"{topic}-value", RECORD)
    records = [{"value": frame(number, RECORD, value)} for value in drawn(1)]
    produce(topic, records[::2], 0)
    produce(topic, records[1::2], 1)
    found = ways(spark, registry, registry_server, cluster, topic)
    jvm = from_avro(functions.expr("substring(value, 6)"), json.dumps(RECORD), {"mode": "FAILFAST"}).alias("v")
    same_rows(found, found.pop("raw").select("partition", "offset", jvm))


OLD = {
    "type": "record",
    "name": "Grown",
    "fields": [
        {"name": "gone", "type": {"type": "array", "items": {"type": "map", "values": "string"}}},
        {"name": "id", "type": "int"},
        {"name": "ratio", "type": "float"},
        {"name": "note", "type": "string"},
        {"name": "inner", "type": {"type": "record", "name": "Part", "fields": [{"name": "x", "type": "int"}]}},
    ],
}
NEW = {
    "type": "record",
    "name": "Grown",
    "fields": [
        {"name": "note", "type": ["null", "string"], "default": None},
        {"name": "id", "type": "long"},
        {"name": "ratio", "type": "double"},
        {"name": "added", "type": "int", "default": 7},
        {
            "name": "inner",
            "type": {
                "type": "record",
                "name": "Part",
                "fields": [{"name": "y", "type": "string", "default": "?"}, {"name": "x", "type": "long"}],
            },
        },
    ],
}


def test_avro_of_an_older_schema_is_what_from_avro_makes_of_it(
    spark: Any,
    connectors: list[Path],
    registry: SchemaRegistryClient,
    registry_server: RegistryServer,
    cluster: EmbeddedCluster,
    topic: str,
    produce: Produce,
) -> None:
    from pyspark.sql import functions
    from pyspark.sql.avro.functions import from_avro

    number = register(registry, f"{topic}-value", OLD)
    register(registry, f"{topic}-value", NEW)
    draw = random.Random(3)
    values = [
        {
            "gone": [{"k": text(draw)}] * draw.randrange(3),
            "id": integer(32)(draw),
            "ratio": float(draw.randrange(1000)) / 8,
            "note": text(draw),
            "inner": {"x": integer(32)(draw)},
        }
        for _ in range(ROWS)
    ]
    produce(topic, [{"value": frame(number, OLD, value)} for value in values])
    found = ways(spark, registry, registry_server, cluster, topic)
    options = {"mode": "FAILFAST", "avroSchema": json.dumps(NEW)}
    jvm = from_avro(functions.expr("substring(value, 6)"), json.dumps(OLD), options).alias("v")
    same_rows(found, found.pop("raw").select("partition", "offset", jvm))


DOCUMENT = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "ratio": {"type": "number"},
        "flag": {"type": "boolean"},
        "text": {"type": "string"},
        "some": {"type": ["string", "null"]},
        "list": {"type": "array", "items": {"type": "integer"}},
        "lists": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
        "inner": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "string"}}},
        "inners": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "boolean"}}}},
        "map": {"type": "object", "additionalProperties": {"type": "integer"}},
    },
    "required": ["id"],
}
JSON_KINDS: dict[str, Callable[[random.Random], Any]] = {
    "id": integer(64),
    "ratio": lambda draw: draw.choice([0, 3, -0.0, 1e300, 5e-324, 0.1, 123456789.123456789, draw.uniform(-1, 1)]),
    "flag": lambda draw: draw.random() < 0.5,
    "text": text,
    "some": lambda draw: draw.choice([None, text(draw)]),
    "list": lambda draw: [integer(64)(draw) for _ in range(draw.randrange(3))],
    "lists": lambda draw: [[text(draw)] * draw.randrange(3) for _ in range(draw.randrange(3))],
    "inner": lambda draw: draw.choice([{}, {"a": 0.5}, {"b": "x", "a": 2}]),
    "inners": lambda draw: [draw.choice([{}, {"x": True}])] * draw.randrange(3),
    "map": lambda draw: {str(at): at for at in range(draw.randrange(4))},
}


def test_json_is_what_from_json_makes_of_it(
    spark: Any,
    registry: SchemaRegistryClient,
    registry_server: RegistryServer,
    cluster: EmbeddedCluster,
    topic: str,
    produce: Produce,
) -> None:
    """Absent and null fields, escapes, numbers of every size, and documents with spaces between."""
    from pyspark.sql import functions

    number = registry.register_schema(f"{topic}-value", Schema(json.dumps(DOCUMENT), "JSON"))
    draw = random.Random(4)
    values = [
        {name: kind(draw) for name, kind in JSON_KINDS.items() if name == "id" or draw.random() < 0.8}
        for _ in range(ROWS)
    ]
    head = b"\0" + number.to_bytes(4, "big")
    texts = [
        json.dumps(value, ensure_ascii=draw.random() < 0.5, indent=draw.choice([None, 1])).encode() for value in values
    ]
    produce(topic, [{"value": head + one} for one in texts])
    found = ways(spark, registry, registry_server, cluster, topic)
    told_type = infer_schema(registry.config(), topic=topic)
    as_text = functions.expr("cast(substring(value, 6) as string)")
    jvm = functions.from_json(as_text, told_type, {"mode": "FAILFAST"}).alias("v")
    same_rows(found, found.pop("raw").select("partition", "offset", jvm))
