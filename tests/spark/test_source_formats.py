"""Decoding inside the source: every format, ids in headers, newer schemas in a stream; the guide's examples."""

from __future__ import annotations

import functools
import json
import re
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_core.broker import EmbeddedCluster
from pipeline import from_registry, split
from registry import Schema, SchemaRegistryClient
from registry.dev import RegistryServer, serve
from serdes import MessageField, SerializationContext
from serdes.avro import AvroSerializer
from serdes.frames.schema_id import header_schema_id_serializer
from serdes.json_schema import JSONSerializer
from serdes.protobuf import ProtobufSerializer
from tests.patience import PROCESS_S
from tests.spark.conftest import SPARK, WITH_FUNCTIONS, WITH_STREAMS_OUT, Produce, frame, patiently, register
from tests.spark.test_formats import JSON_ORDER, PROTO
from tests.spark.test_sink import ORDER, common, letters

pytestmark = pytest.mark.spark


def written(
    kind: str, registry: SchemaRegistryClient, topic: str, *, in_headers: bool
) -> tuple[bytes, list[tuple[str, bytes]]]:
    """A payload of the field `id`, and its headers."""
    headers: list[Any] = []
    conf: Any = {"schema.id.serializer": header_schema_id_serializer} if in_headers else {}
    make: dict[str, Any] = {
        "avro": lambda: AvroSerializer(registry, json.dumps(ORDER), conf=conf),
        "json": lambda: JSONSerializer(json.dumps(JSON_ORDER), registry, conf=conf),
        "protobuf": lambda: ProtobufSerializer(PROTO, registry, conf=conf),
    }
    value: dict[str, Any] = {"id": 7, "name": "a"} if kind == "avro" else {"id": "7"}
    made = make[kind]()(value, SerializationContext(topic, MessageField.VALUE, headers))
    assert made is not None
    return made, headers


@pytest.mark.parametrize("in_headers", [False, True], ids=["prefix", "header"])
@pytest.mark.parametrize("kind", ["avro", "json", "protobuf"])
def test_every_format_is_decoded_inside(
    spark: Any,
    cluster: EmbeddedCluster,
    registry_server: RegistryServer,
    registry: SchemaRegistryClient,
    topic: str,
    produce: Produce,
    kind: str,
    in_headers: bool,
) -> None:
    value, headers = written(kind, registry, topic, in_headers=in_headers)
    assert bool(headers) is in_headers
    produce(topic, [{"value": value, "headers": headers}, {"value": b"junk"}])
    reader = spark.read.format("kserdes").options(**common(cluster, registry_server), subscribe=topic)
    reader = reader.options(**{"value.format": "auto", "value.columns": "id", "mode": "PERMISSIVE", "errorField": "e"})
    good, bad = reader.load().selectExpr("cast(value.id as string) as id", "e").collect()
    assert (good.id, good.e, bad.id, bad.e is None) == ("7", None, None, False)


def test_a_stream_stops_for_a_newer_schema_and_has_its_columns_after_a_restart(
    spark: Any,
    cluster: EmbeddedCluster,
    registry_server: RegistryServer,
    registry: SchemaRegistryClient,
    topic: str,
    produce: Produce,
    tmp_path: Path,
) -> None:
    from pyspark.errors import StreamingQueryException

    first = register(registry, f"{topic}-value", ORDER)
    fields = [*ORDER["fields"], {"name": "more", "type": "int", "default": 0}]  # type: ignore[misc]
    newer = {**ORDER, "fields": fields}
    options = {"subscribe": topic, "startingOffsets": "earliest", "value.format": "auto", "evolution": "restart"}

    def caught_up(number: int) -> Any:
        stream = spark.readStream.format("kserdes").options(**common(cluster, registry_server), **options).load()
        writer = stream.select("value.*").writeStream.format("json").option("path", str(tmp_path / f"out-{number}"))
        query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
        try:
            query.processAllAvailable()
        except BaseException:
            query.stop()
            raise
        return query

    produce(topic, [{"value": frame(first, ORDER, {"id": 1, "name": "a"})}])
    query = patiently(lambda: caught_up(1))
    try:
        second = register(registry, f"{topic}-value", newer)
        produce(topic, [{"value": frame(second, newer, {"id": 2, "name": "b", "more": 5})}])
        with pytest.raises(StreamingQueryException, match=rf"newer version \(2, schema id {second}\)"):
            query.awaitTermination(PROCESS_S)
    finally:
        query.stop()
    patiently(lambda: caught_up(2)).stop()
    rows = [
        [
            json.loads(line)
            for path in (tmp_path / f"out-{number}").glob("*.json")
            for line in path.read_text().splitlines()
        ]
        for number in (1, 2)
    ]
    assert rows == [[{"id": 1, "name": "a"}], [{"id": 2, "name": "b", "more": 5}]]


@WITH_FUNCTIONS
def test_bad_rows_of_split_go_to_a_topic(
    spark: Any,
    cluster: EmbeddedCluster,
    registry_server: RegistryServer,
    registry: SchemaRegistryClient,
    topic: str,
    produce: Produce,
) -> None:
    number = register(registry, f"{topic}-value", ORDER)
    cluster.create_topic(f"{topic}-letters", 1)
    produce(topic, [{"value": frame(number, ORDER, {"id": 1, "name": "a"})}, {"value": b"junk", "key": b"k"}])
    reader = spark.read.format("kserdes").options(**common(cluster, registry_server), subscribe=topic)
    raw = reader.option("includeHeaders", "true").load()
    column = from_registry("value", registry.config(), topic=topic, mode="DEADLETTER")
    good, bad = split(raw.withColumn("value", column))
    assert [row.id for row in good.select("value.id").collect()] == [1]
    writer = bad.write.format("kserdes").options(**common(cluster, registry_server), topic=f"{topic}-letters")
    writer.mode("append").save()
    (letter,) = letters(cluster, f"{topic}-letters", 1)
    headers = dict(letter.headers())
    assert (letter.key(), letter.value()) == (b"k", b"junk")
    assert (headers["__dlq.topic"], headers["__dlq.offset"]) == (topic.encode(), b"1")


@pytest.fixture
def registry_of_its_own() -> Iterator[RegistryServer]:
    """Without the subjects of other tests."""
    with serve() as server:
        yield server


@WITH_STREAMS_OUT
def test_the_jobs_of_the_guide_run(
    spark: Any,
    cluster: EmbeddedCluster,
    registry_of_its_own: RegistryServer,
    produce: Produce,
    project_root: Path,
    tmp_path: Path,
) -> None:
    flight = {
        "type": "record",
        "name": "Flight",
        "fields": [{"name": "carrier", "type": "string"}, {"name": "dep_delay", "type": ["null", "int"]}],
    }
    names = {name: f"{name}-{uuid.uuid4()}" for name in ("flights-copy", "flights")}
    for name in names.values():
        cluster.create_topic(name, 1)
    with SchemaRegistryClient({"url": registry_of_its_own.url}) as client:
        number = client.register_schema(f"{names['flights']}-value", Schema(json.dumps(flight), "AVRO"))
    flights = [{"carrier": "AA", "dep_delay": 5}, {"carrier": "UA", "dep_delay": None}]
    produce(names["flights"], [{"value": frame(number, flight, one)} for one in flights])
    replaced = {
        '"flights-copy"': f'"{names["flights-copy"]}"',
        '"flights"': f'"{names["flights"]}"',
        "localhost:9092": cluster.bootstrap_servers,
        "http://localhost:8081": registry_of_its_own.url,
        '"/data/': f'"{tmp_path}/',
    }
    page = (project_root / "docs" / "guide" / "spark-source.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    found: dict[str, Any] = {"spark": spark}

    def run(block: str) -> None:
        found.pop("query", None)
        exec(compile(block, "spark-source.md", "exec"), found)
        if "query" in found:
            assert found["query"].awaitTermination(PROCESS_S)

    for block in blocks:
        for old, new in replaced.items():
            block = block.replace(old, new)
        patiently(functools.partial(run, block))
    assert len(blocks) == 5
    assert sorted((row.carrier, row.dep_delay) for row in found["frame"].collect()) == [("AA", 5), ("UA", None)]
    assert spark.read.parquet(str(tmp_path / "flights")).count() == 2
    copied = letters(cluster, names["flights-copy"], 4)
    assert {record.key() for record in copied} == {b"AA", b"UA", None}


@pytest.mark.skipif(SPARK < (4, 2), reason="AvailableNow of Python sources came with Spark 4.2")
def test_the_five_jobs_run(
    spark: Any, project_root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)  # the page sets them, too
    monkeypatch.setenv("PYSPARK_DRIVER_PYTHON", sys.executable)
    page = (project_root / "docs" / "guide" / "spark-jobs.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 6
    shown, found = [], dict[str, Any]()
    with EmbeddedCluster() as own, serve() as server:
        for block in blocks:
            cell = block.replace("localhost:9092", own.bootstrap_servers).replace("http://localhost:8081", server.url)
            patiently(functools.partial(exec, compile(cell, "spark-jobs.md", "exec"), found))
            shown.append(" ".join(capsys.readouterr().out.split()))
        dead = [letter.value for letter in found["letters"].collect()]
        good = found["good"].count()
    assert "| 19| 19|190.0|Oslo|" in shown[1]
    assert "magic byte 110" in shown[1]
    assert found["first"] >= 21
    assert found["second"] > found["first"]
    assert "|Oslo| 10|" in shown[3]
    assert "struct<id:bigint,total:double>" in shown[3]
    assert "| 1| 9.5|" in shown[4]
    assert "|9.5|" in shown[4]
    assert good == found["second"] - 1
    assert set(dead) == {"not an order"}
