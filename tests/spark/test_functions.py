"""Functions on a real session: decoded once, asked once, split in good and bad, written, named for SQL."""

from __future__ import annotations

import datetime
import json
import re
import uuid
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pipeline import (
    OptionError,
    PlanError,
    decode_frame,
    encode_frame,
    explain_schema,
    forget_plans,
    from_registry,
    infer_schema,
    register_functions,
    schema_id,
    split,
    to_registry,
)
from registry import Schema, SchemaRegistryClient
from registry.dev import serve
from serdes import MessageField, SerializationContext
from serdes.avro import AvroSerializer
from serdes.frames.schema_id import header_schema_id_serializer
from tests.spark.conftest import WITH_FUNCTIONS, finished, frame, register

pytestmark = [
    pytest.mark.spark,
    WITH_FUNCTIONS,
    # Spark's own Python side leaves sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

ORDER: dict[str, Any] = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "id", "type": "int"}, {"name": "note", "type": ["null", "string"], "default": None}],
}
HEADERS = "array<struct<key: string, value: binary>>"


def records(spark: Any, rows: list[tuple[Any, ...]]) -> Any:
    """Rows as the source has them: key, value, topic, partition, offset, timestamp, headers."""
    types = (
        f"key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, headers {HEADERS}"
    )
    at = datetime.datetime(2026, 11, 22, 1, 2, 3, tzinfo=datetime.UTC)
    made = [(b"k", value, "orders", 0, number, at, headers) for number, (value, headers) in enumerate(rows)]
    return spark.createDataFrame(made, types).coalesce(1)


def evaluations(made: Any) -> int:
    """The number of Python evaluations in the executed plan of a frame."""
    return str(made._jdf.queryExecution().executedPlan().toString()).count("ArrowEvalPython")


def test_decoded_once_under_a_filter_and_a_selection(spark: Any, registry: SchemaRegistryClient) -> None:
    subject = f"once-{uuid.uuid4()}"
    number = register(registry, subject, ORDER)
    frames = [frame(number, ORDER, {"id": n, "note": None}) for n in range(5)]
    raw = records(spark, [(one, None) for one in frames])
    decoded = raw.select("offset", from_registry("value", registry.config(), subject=subject).alias("v"))
    chosen = decoded.where("v.id > 2 and v.id < 100").select("v.id", "v.note", "offset")
    assert evaluations(chosen) == 1
    assert [row.id for row in chosen.collect()] == [3, 4]


def test_foreach_batch_asks_the_registry_once(
    spark: Any, registry: SchemaRegistryClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = f"batches-{uuid.uuid4()}"
    number = register(registry, subject, ORDER)
    raw = records(spark, [(frame(number, ORDER, {"id": n, "note": None}), None) for n in range(3)])
    for _ in range(3):
        raw.select("value").write.mode("append").parquet(str(tmp_path / "in"))
    conf = registry.config()
    sent: list[str] = []
    asked: list[int] = []
    found: list[int] = []
    send = SchemaRegistryClient._send

    def counted(self: SchemaRegistryClient, step: Any) -> Any:
        sent.append(step.url)
        return send(self, step)

    def batch(rows: Any, number: int) -> None:
        decoded = rows.select(from_registry("value", conf, subject=subject).alias("v"))
        asked.append(len(sent))
        found.append(decoded.where("v.id >= 0").count())

    forget_plans()
    monkeypatch.setattr(SchemaRegistryClient, "_send", counted)
    stream = spark.readStream.schema("value binary").option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "in"))
    finished(stream.writeStream.foreachBatch(batch).trigger(availableNow=True).start)
    assert found == [3, 3, 3]
    assert asked[0] > 0
    assert asked == [asked[0]] * 3


def test_good_rows_and_dead_letters(spark: Any, registry: SchemaRegistryClient) -> None:
    subject = f"split-{uuid.uuid4()}"
    number = register(registry, subject, ORDER)
    good = frame(number, ORDER, {"id": 1, "note": "x"})
    raw = records(spark, [(good, None), (good[:-1], [("h", b"1")]), (b"\x05?", None), (None, None)])
    decoded = raw.withColumn("value", from_registry("value", registry.config(), subject=subject, mode="DEADLETTER"))
    kept, bad = split(decoded)
    assert kept.columns == raw.columns
    assert [(row.offset, row.value and row.value.id) for row in kept.orderBy("offset").collect()] == [(0, 1), (3, None)]
    first, second = bad.orderBy("origin.offset").collect()
    assert (bytes(first.key), bytes(first.value)) == (b"k", good[:-1])
    assert first.error.asDict() == {
        "code": "BAD_PAYLOAD",
        "reason": first.error.reason,
        "schema_id": number,
        "path": "Order.note",
    }
    assert first.origin.asDict() == {"topic": "orders", "partition": 0, "offset": 1}
    headers = {one.key: bytes(one.value).decode() for one in first.headers}
    assert headers == {
        "h": "1",
        "__dlq.topic": "orders",
        "__dlq.partition": "0",
        "__dlq.offset": "1",
        "__dlq.timestamp": "1795309323000",
        "__dlq.field": "value",
        "__dlq.error.class": "SerializationError",
        "__dlq.error.code": "BAD_PAYLOAD",
        "__dlq.error.message": first.error.reason,
        "__dlq.schema.id": str(number),
        "__dlq.path": "Order.note",
    }
    assert (bytes(second.value), second.error.code, second.error.schema_id) == (b"\x05?", "NOT_FRAMED", None)
    with pytest.raises(OptionError, match="decoded in mode DEADLETTER: the frame has none"):
        split(raw)


def test_whole_frames_both_ways(spark: Any, registry: SchemaRegistryClient) -> None:
    from pyspark.errors import PythonException

    subject = f"frames-{uuid.uuid4()}"
    number = register(registry, subject, ORDER)
    good = frame(number, ORDER, {"id": 1, "note": "x"})
    raw = records(spark, [(good, None), (None, None), (good[:-1], None)])
    conf = registry.config()
    told = decode_frame(raw, "value", conf, subject=subject, error_field="_error", into="order")
    assert told.columns == [*raw.columns, "order"]
    rows = told.orderBy("offset").collect()
    assert rows[0].order.asDict() == {"id": 1, "note": "x", "_error": None}
    assert (rows[1].order, rows[2].order.id) == (None, None)
    assert rows[0].timestamp == raw.collect()[0].timestamp
    strict = decode_frame(raw, "value", conf, subject=subject, mode="FAILFAST")
    with pytest.raises(
        PythonException, match=f"topic orders, partition 0, offset 2 can't be decoded: schema id {number}"
    ):
        strict.collect()
    values = (
        told.select("key", "order.id", "order.note").where("id is not null").selectExpr("key", "struct(id, note) v")
    )
    written = encode_frame(values, "v", conf, subject=subject, into="value")
    assert [bytes(row.value) for row in written.collect()] == [good]
    derived = encode_frame(values, "v", conf, topic=f"derived-{uuid.uuid4()}", schema="derived", name="Order")
    assert derived.schema["v"].dataType.simpleString() == "binary"
    (row,) = derived.select(schema_id("v").alias("id")).collect()
    assert row.id != number
    by_column = values.select(to_registry("v", conf, subject=subject).alias("value")).collect()
    assert [bytes(row.value) for row in by_column] == [good]
    with pytest.raises(OptionError, match="no column 'valeu'"):
        decode_frame(raw, "valeu", conf, subject=subject)
    with pytest.raises(OptionError, match="a column or its name is needed, not list"):
        from_registry(["value"], conf, subject=subject)  # type: ignore[arg-type]


def test_rows_name_their_subjects(spark: Any, registry: SchemaRegistryClient) -> None:
    from pyspark.errors import PythonException
    from pyspark.sql import functions

    mark = str(uuid.uuid4())
    payment = {"type": "record", "name": "Payment", "fields": [{"name": "sum", "type": "double"}]}
    ids = {
        (place, kind["name"]): register(registry, f"{place}-{mark}-{kind['name']}", kind)
        for place in "ab"
        for kind in (ORDER, payment)
    }
    rows = [
        ("a", (1, "x"), None),
        ("b", None, (0.5,)),
        ("a", None, (1.5,)),
        ("b", (2, None), None),
        ("a", None, None),
        ("?", (3, None), None),
    ]
    struct = "struct<Order: struct<id: int, note: string>, Payment: struct<sum: double>>"
    made = [
        (at, f"{place}-{mark}", None if order == paid else (order, paid))
        for at, (place, order, paid) in enumerate(rows)
    ]
    frame = spark.createDataFrame(made, f"n int, topic string, v {struct}").coalesce(1)
    conf = registry.config()
    given: dict[str, Any] = {"strategy": "topic_record", "types": ["Order", "Payment"]}
    expected = [ids["a", "Order"], ids["b", "Payment"], ids["a", "Payment"], ids["b", "Order"], None, None]
    by_column = to_registry("v", conf, topic=functions.col("topic"), mode="PERMISSIVE", **given).alias("v")
    whole = encode_frame(frame, "v", conf, topic=functions.col("topic"), mode="PERMISSIVE", **given)
    assert whole.columns == frame.columns
    for written in (frame.select("n", "topic", by_column), whole):
        found = written.select(schema_id("v").alias("id"), "n").orderBy("n").collect()
        assert [row.id for row in found] == expected
    a = whole.where(f"topic = 'a-{mark}'").orderBy("n")
    back = a.select(from_registry("v", conf, topic=f"a-{mark}", mode="FAILFAST", **given).alias("v"))
    assert [row.v for row in back.collect()] == [row.v for row in frame.where(f"topic = 'a-{mark}'").collect()]
    by_type = frame.where("n = 2").select(to_registry("v", conf, topic=f"b-{mark}", **given).alias("v"))
    assert [row.id for row in by_type.select(schema_id("v").alias("id")).collect()] == [ids["b", "Payment"]]
    strict = encode_frame(frame, "v", conf, topic=functions.col("topic"), **given)
    with pytest.raises(PythonException) as caught:
        strict.collect()
    assert f"row 5 of a batch can't be encoded: topic '?-{mark}': " in str(caught.value)
    assert "not found" in str(caught.value)
    with pytest.raises(OptionError, match="either topic=… or subject=…, not both"):
        to_registry("v", conf, topic=functions.col("topic"), subject="s")
    with pytest.raises(PythonException, match="the topic of each row has to be a text, not int32"):
        frame.select(to_registry("v", conf, topic=functions.col("n"), **given)).collect()


def test_ids_in_headers(spark: Any, registry: SchemaRegistryClient) -> None:
    topic = f"headed-{uuid.uuid4()}"
    headers: list[Any] = []
    context = SerializationContext(topic, MessageField.VALUE, headers)
    own = {"schema.id.serializer": header_schema_id_serializer}
    bare = AvroSerializer(registry, json.dumps(ORDER), conf=own)({"id": 7, "note": None}, context)
    number = registry.get_latest_version(f"{topic}-value").schema_id
    framed = frame(number, ORDER, {"id": 8, "note": None})
    raw = records(spark, [(bare, [("other", None), *headers]), (framed, None), (framed, [])])
    conf = registry.config()
    column = from_registry("value", conf, topic=topic, headers="headers", mode="FAILFAST").alias("v")
    assert [row.v.id for row in raw.select(column).collect()] == [7, 8, 8]
    whole = decode_frame(raw, "value", conf, topic=topic, headers="headers", mode="FAILFAST")
    assert whole.columns == raw.columns
    assert [row.value.id for row in whole.orderBy("offset").collect()] == [7, 8, 8]


def test_explain_schema_and_names_for_sql(spark: Any, registry: SchemaRegistryClient) -> None:
    subject = f"holds-{uuid.uuid4()}"
    number = register(registry, subject, ORDER)
    good = frame(number, ORDER, {"id": 1, "note": "x"})
    raw = records(spark, [(good, None), (good, None), (b"\0\x7f\xff\xff\xfex", None), (b"\1junk", None), (None, None)])
    counted = {row.schema_id: row.rows for row in explain_schema(raw).collect()}
    assert counted == {number: 2, 0x7FFFFFFE: 1, None: 1}
    told = {row.schema_id: row for row in explain_schema(raw, "value", registry.config()).collect()}
    assert (told[number].format, told[number].name) == ("AVRO", "Order")
    assert f"{subject} version 1" in told[number].subjects
    assert told[0x7FFFFFFE].subjects is None
    conf = registry.config()
    inferred = infer_schema(conf, subject)
    assert inferred.simpleString() == "struct<id:int,note:string>"
    register_functions(spark, conf, order_of={"subject": subject})
    raw.createOrReplaceTempView("raw_records")
    rows = spark.sql(
        "select kserdes_schema_id(value) i, order_of(value).note n from raw_records order by offset"
    ).collect()
    assert [(row.i, row.n) for row in rows] == [
        (number, "x"),
        (number, "x"),
        (0x7FFFFFFE, None),
        (None, None),
        (None, None),
    ]
    with pytest.raises(OptionError, match="needs the registry"):
        register_functions(spark, order_of={"subject": subject})


def test_no_secret_is_in_the_plan_that_spark_shows(spark: Any, registry: SchemaRegistryClient) -> None:
    subject = f"secret-{uuid.uuid4()}"
    register(registry, subject, ORDER)
    conf = {**registry.config(), "basic.auth.user.info": "user:hunter2"}
    decoded = records(spark, []).select(from_registry("value", conf, subject=subject))
    shown = str(decoded._jdf.queryExecution().toString())
    assert "value" in shown
    assert "hunter2" not in shown
    udf = decoded._jdf.queryExecution().analyzed().expressions()
    command = bytes(udf.head().child().func().command().toArray(spark._jvm.scala.reflect.ClassTag.Byte()))
    assert subject.encode() in command
    assert b"hunter2" not in command


@pytest.fixture
def registry_of_its_own() -> Iterator[SchemaRegistryClient]:
    """Without the subjects of other tests."""
    with serve() as server, SchemaRegistryClient({"url": server.url}) as client:
        yield client


def test_the_jobs_of_the_guide_run(spark: Any, registry_of_its_own: SchemaRegistryClient, project_root: Path) -> None:
    registry = registry_of_its_own
    order = {**ORDER, "fields": [{"name": "id", "type": "int"}, {"name": "total", "type": "double"}]}
    payment = {"type": "record", "name": "Payment", "fields": [{"name": "sum", "type": "double"}]}
    first = register(registry, "orders-value", order)
    register(registry, "events-Order", order)
    other = register(registry, "events-Payment", payment)
    cheap, dear = (frame(first, order, {"id": n, "total": 99.0 * n}) for n in (1, 2))
    rows = [(cheap, None), (dear, None), (frame(other, payment, {"sum": 0.5}), None), (b"?", None)]
    page = (project_root / "docs" / "guide" / "spark-functions.md").read_text()
    found: dict[str, Any] = {"spark": spark, "raw": records(spark, rows)}
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    for block in blocks:
        exec(
            compile(block.replace("http://localhost:8081", registry.config()["url"]), "spark-functions.md", "exec"),
            found,
        )
    assert len(blocks) == 7
    assert [(row.id, row.total) for row in found["paid"].collect()] == [(2, 198.0)]
    assert [row.order and row.order.id for row in found["pinned"].collect()] == [1, 2, None, None]
    assert [row.sum for row in found["payments"].collect()] == [0.5]
    assert sorted(row.error.code for row in found["bad"].collect()) == ["BAD_PAYLOAD", "NOT_FRAMED"]
    assert found["good"].count() == 2
    assert [bytes(row.value)[5:] for row in found["written"].collect()] == [
        bytes(row.value)[5:] for row in found["whole"].collect()
    ]
    named = found["mixed"].select(schema_id("e").alias("id")).collect()
    assert [row.id for row in named] == [first, first, other, None]
    assert [bytes(row.value) for row in found["routed"].collect()] == [
        bytes(row.value) for row in found["written"].collect()
    ]
    assert {row.id: row.total for row in found["by_sql"].collect()}[first] in (99.0, 198.0)


# ---- types, both ways


UTC = datetime.UTC
KINDS: dict[str, tuple[str, Any]] = {
    "boolean": ("boolean", True),
    "int": ("int", -5),
    "long": ("bigint", 2**40),
    "float": ("float", 0.5),
    "double": ("double", -1e300),
    "text": ("string", "é"),
    "bytes": ("binary", bytearray(b"\0\xff")),
    "date": ("date", datetime.date(1969, 12, 31)),
    "instant": ("timestamp", datetime.datetime(2026, 3, 8, 7, 30, 0, 1, UTC)),
    "local": ("timestamp_ntz", datetime.datetime(2026, 3, 8, 2, 30, 0, 1)),
    "time": ("time(6)", datetime.time(23, 59, 59, 999_999)),
    "money": ("decimal(38,10)", Decimal("-1234567890123456789012345678.0123456789")),
    "span": ("interval day to second", datetime.timedelta(days=-1, microseconds=1)),
    "list": ("array<int>", [1, None]),
    "map": ("map<string,bigint>", {"a": 1, "b": None}),
    "inner": ("struct<a:int,b:array<string>>", (1, ["x"])),
}


def test_spark_types_through_avro_and_json_and_back(spark: Any, registry: SchemaRegistryClient) -> None:
    fields = ", ".join(f"{name}: {kind}" for name, (kind, _) in KINDS.items())
    row = tuple(value for _, value in KINDS.values())
    frames = spark.createDataFrame([(row,), (None,)], f"v struct<{fields}>")
    expected = frames.collect()[0].v.asDict(recursive=True)
    conf = registry.config()
    for kind in ("avro", "json"):
        subject = f"types-{kind}-{uuid.uuid4()}"
        derived = frames.schema["v"].dataType
        written = frames.select(to_registry("v", conf, subject=subject, schema=derived, format=kind).alias("value"))
        column = from_registry("value", conf, subject=subject, times="time", mode="FAILFAST").alias("v")
        back = written.select(column)
        found = dict(back.select("v.*").dtypes)
        first, second = back.collect()
        assert second.v is None
        value = first.v.asDict(recursive=True)
        lost = {name: (found[name], value[name]) for name in expected if value[name] != expected[name]}
        widened = {name: found[name] for name, (wanted, _) in KINDS.items() if found[name] != wanted}
        assert (kind, lost, widened) == (kind, *EXPECTED[kind])


SPAN: Any = {"span": ("bigint", -86_399_999_999)}
EXPECTED: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    # neither has time spans: they are written as a whole number with a property, and read as the number
    "avro": (SPAN, {"span": "bigint"}),
    # JSON has one kind of whole numbers, and one of others
    "json": (
        SPAN,
        {
            "int": "bigint",
            "float": "double",
            "span": "bigint",
            "list": "array<bigint>",
            "inner": "struct<a:bigint,b:array<string>>",
        },
    ),
}
"""Format → what comes back as another type and value."""


def test_documents_of_unknown_shape_are_variants_and_go_back(spark: Any, registry: SchemaRegistryClient) -> None:
    """JSON that has no type of its own is text, of which Spark's JVM makes a variant, and text of the variant again."""
    shapes = ['{"a":[1,null,"x"],"b":2.5}', '"text"', "[]", "true"]
    document = {"type": "object", "properties": {"id": {"type": "integer"}, "any": {}}}
    subject, copy = f"variant-{uuid.uuid4()}", f"variant-copy-{uuid.uuid4()}"
    number = registry.register_schema(subject, Schema(json.dumps(document), "JSON"))
    head = b"\0" + number.to_bytes(4, "big")
    frames = [(head + b'{"id":%d,"any":%b}' % (at, text.encode()),) for at, text in enumerate(shapes)]
    conf = registry.config()
    decoded = spark.createDataFrame([*frames, (head + b'{"id":9}',)], "value binary").coalesce(1)
    decoded = decoded.select(from_registry("value", conf, subject=subject, mode="FAILFAST").alias("v"))
    variants = decoded.selectExpr("v.id", "parse_json(v.any) as any")
    assert dict(variants.dtypes) == {"id": "bigint", "any": "variant"}
    with pytest.raises(PlanError, match=r"type variant can't be written: .*to_json\(column\)"):
        to_registry("v", conf, subject=copy, schema=variants.schema)
    texts = variants.selectExpr("struct(id, to_json(any) as any) as v")
    for kind in ("avro", "json"):
        written = texts.select(
            to_registry("v", conf, subject=f"{copy}-{kind}", schema=texts.schema["v"].dataType, format=kind).alias(
                "value"
            )
        )
        back = written.select(from_registry("value", conf, subject=f"{copy}-{kind}", mode="FAILFAST").alias("v"))
        found = back.selectExpr("v.id", "parse_json(v.any) as any").collect()
        assert [row.any and row.any.toPython() for row in found] == [*map(json.loads, shapes), None]
        assert [row.any and row.any.toJson() for row in found] == [*shapes, None]
    same = decoded.select(
        to_registry("v", conf, subject=subject, schema=json.dumps(document), format="json").alias("value")
    ).collect()
    assert [json.loads(row.value[5:]) for row in same[:-1]] == [
        {"id": at, "any": json.loads(text)} for at, text in enumerate(shapes)
    ]
    assert json.loads(same[-1].value[5:])["any"] is None


def test_protobuf_types(spark: Any, registry: SchemaRegistryClient) -> None:
    text = """syntax = "proto3";
    import "google/protobuf/timestamp.proto";
    import "google/protobuf/duration.proto";
    message M {
      google.protobuf.Timestamp at = 1; google.protobuf.Duration span = 2; uint64 big = 3; bytes raw = 4;
      map<string, double> map = 5; repeated int32 list = 6; optional string text = 7; M inner = 8;
    }"""
    subject = f"proto-{uuid.uuid4()}"
    registry.register_schema(subject, Schema(text, "PROTOBUF"))
    conf = registry.config()
    at = datetime.datetime(2026, 3, 8, 7, 30, 0, 1, UTC)
    values = {
        "at": at,
        "span": datetime.timedelta(seconds=90, microseconds=5),
        "big": 2**40,
        "raw": bytearray(b"\xff"),
        "map": {"a": 0.5},
        "list": [1, 2],
        "text": None,
    }
    kind = (
        "at: timestamp, span: interval day to second, big: bigint, raw: binary, map: map<string, double>,"
        " list: array<int>, text: string"
    )
    frames = spark.createDataFrame([(tuple(values.values()),)], f"v struct<{kind}>")
    written = frames.select(to_registry("v", conf, subject=subject).alias("value"))
    column = from_registry("value", conf, subject=subject, recursive_max_depth=1, mode="FAILFAST").alias("v")
    back = written.select(column).select("v.*").drop("inner")
    assert dict(back.dtypes) == {
        "at": "timestamp",
        "span": "interval day to second",
        "big": "decimal(20,0)",
        "raw": "binary",
        "map": "map<string,double>",
        "list": "array<int>",
        "text": "string",
    }
    (row,) = back.collect()
    expected = frames.select("v.*").collect()[0].asDict(recursive=True)
    assert row.asDict(recursive=True) == {**expected, "big": Decimal(2**40)}
    with pytest.raises(PlanError, match=r"recursive|itself"):
        from_registry("value", conf, subject=subject)
