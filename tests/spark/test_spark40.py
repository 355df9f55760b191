"""Functions that work without Arrow functions of columns, as on Spark 4.0, and the messages of the others."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_core.broker import EmbeddedCluster
from pipeline import PlanError, decode_frame, encode_frame, explain_schema, from_registry, to_registry
from registry import Schema, SchemaRegistryClient, SchemaRegistryError
from registry.dev import RegistryServer
from tests.spark.conftest import SPARK, Produce, finished, frame, register

pytestmark = pytest.mark.spark
ORDER: dict[str, Any] = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": ["null", "string"], "default": None}],
}


@pytest.fixture
def without_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """No Arrow functions of columns, whatever Spark this is."""
    if SPARK >= (4, 1):
        monkeypatch.delattr("pyspark.sql.pandas.functions.arrow_udf")


def refused(work: Callable[[], object]) -> None:
    with pytest.raises(PlanError, match=r"need Spark 4\.1 or later: use decode_frame and encode_frame"):
        work()


@pytest.mark.usefixtures("without_functions")
def test_whole_frames_are_decoded_and_encoded_and_columns_are_refused(
    spark: Any, registry: SchemaRegistryClient
) -> None:
    topic = f"frames-{uuid.uuid4()}"
    number = register(registry, f"{topic}-value", ORDER)
    values = [frame(number, ORDER, {"id": at, "note": None if at else "n"}) for at in range(3)]
    raw = spark.createDataFrame([*((value,) for value in values), (None,)], "value binary")
    conf = registry.config()
    decoded = decode_frame(raw, "value", conf, topic=topic, mode="FAILFAST")
    rows = decoded.collect()
    assert [row.value and tuple(row.value) for row in rows] == [(0, "n"), (1, None), (2, None), None]
    written = encode_frame(decoded, "value", conf, topic=topic)
    assert [row.value and bytes(row.value) for row in written.collect()] == [*values, None]
    assert {row.schema_id: row.rows for row in explain_schema(raw).collect()}[number] == 3
    refused(lambda: from_registry("value", conf, topic=topic))
    refused(lambda: to_registry("value", conf, topic=f"{topic}-out", schema=json.dumps(ORDER)))
    with pytest.raises(SchemaRegistryError, match="not found"):  # nothing was registered on the way
        registry.get_latest_version(f"{topic}-out-value")


@pytest.mark.skipif(SPARK >= (4, 1), reason="streams are written from Spark 4.1 on")
def test_streams_are_written_by_foreach_batch_alone(
    spark: Any,
    cluster: EmbeddedCluster,
    registry_server: RegistryServer,
    registry: SchemaRegistryClient,
    topic: str,
    produce: Produce,
    tmp_path: Path,
) -> None:
    from pyspark.errors import StreamingQueryException

    number = registry.register_schema(f"{topic}-value", Schema(json.dumps(ORDER), "AVRO"))
    produce(topic, [{"value": frame(number, ORDER, {"id": at, "note": None})} for at in range(4)])
    options = {"kafka.bootstrap.servers": cluster.bootstrap_servers, "schema.registry.url": registry_server.url}
    inside = {"subscribe": topic, "startingOffsets": "earliest", "value.format": "auto"}
    rows = spark.readStream.format("kserdes").options(**options, **inside).load().select("value")
    copy = f"{topic}-copy"
    cluster.create_topic(copy, 1)
    writer = rows.writeStream.format("kserdes").options(**options, topic=copy, checkpointLocation=str(tmp_path / "a"))
    with pytest.raises(
        StreamingQueryException, match=r"streams are written with Spark 4\.1 or later: use foreachBatch"
    ):
        finished(writer.trigger(availableNow=True).start)

    def batch(part: Any, at: int) -> None:
        out = part.write.format("kserdes").options(**options, topic=copy)
        out.options(**{"value.format": "avro", "autoRegister": "true"}).mode("append").save()

    writer = rows.writeStream.foreachBatch(batch).option("checkpointLocation", str(tmp_path / "b"))
    finished(writer.trigger(availableNow=True).start)
    reader = spark.read.format("kserdes").options(**options, subscribe=copy).option("value.format", "auto")
    assert sorted(row.id for row in reader.load().select("value.id").collect()) == [0, 1, 2, 3]
