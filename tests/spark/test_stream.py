"""Streams of the data source `kserdes` inside a real Spark, on the embedded broker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_core.broker import EmbeddedCluster
from tests.spark.conftest import Produce, finished

pytestmark = pytest.mark.spark


def stream(spark: Any, cluster: EmbeddedCluster, topic: str, **options: str) -> Any:
    reader = spark.readStream.format("kserdes").option("kafka.bootstrap.servers", cluster.bootstrap_servers)
    return reader.option("subscribe", topic).options(**{"startingOffsets": "earliest", **options}).load()


def run(frame: Any, folder: Path) -> Any:
    """Runs the stream until what is there is done; the query, which has ended."""
    writer = (
        frame.selectExpr("partition", "offset", "cast(value as string) as value")
        .writeStream.format("json")
        .option("path", str(folder / "out"))
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
    )
    return finished(writer.start)


def rows(folder: Path) -> list[tuple[int, int]]:
    """Partition and offset of every row in the sink's view: what its log of batches names."""
    found = []
    for entry in sorted((folder / "out" / "_spark_metadata").glob("[0-9]*")):
        for line in entry.read_text().splitlines()[1:]:
            path = Path(json.loads(line)["path"].removeprefix("file:").replace("//", "/"))
            found += [json.loads(row) for row in path.read_text().splitlines()]
    return sorted((row["partition"], row["offset"]) for row in found)


def numbered(count: int, first: int = 0) -> list[dict[str, Any]]:
    return [{"value": b"%d" % at} for at in range(first, first + count)]


def test_a_stream_goes_on_from_its_checkpoint_in_small_batches(
    spark: Any, cluster: EmbeddedCluster, topic: str, produce: Produce, tmp_path: Path
) -> None:
    produce(topic, numbered(30))
    produce(topic, numbered(10), 1)
    options = {"maxOffsetsPerTrigger": "20", "commitProgressToGroup": f"{topic}-lag"}
    first = run(stream(spark, cluster, topic, **options), tmp_path)
    ends = [json.loads(progress["sources"][0]["endOffset"]) for progress in first.recentProgress]
    assert ends[:2] == [{topic: {"0": 15, "1": 5}}, {topic: {"0": 30, "1": 10}}]
    produce(topic, numbered(5, 30))
    again = run(stream(spark, cluster, topic, **options), tmp_path)
    assert rows(tmp_path) == [(0, at) for at in range(35)] + [(1, at) for at in range(10)]
    assert sum(progress["numInputRows"] for progress in again.recentProgress) == 5
    assert json.loads(again.lastProgress["sources"][0]["latestOffset"]) == {topic: {"0": 35, "1": 10}}


def test_wrong_options_of_a_stream_are_said(spark: Any, cluster: EmbeddedCluster, topic: str, tmp_path: Path) -> None:
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException, match="did you mean 'maxOffsetsPerTrigger'"):
        stream(spark, cluster, topic, maxOffsetPerTrigger="5")
    query = None
    with pytest.raises(PySparkException, match="a stream has no end"):
        query = run(stream(spark, cluster, topic, endingOffsets="latest"), tmp_path)
    assert query is None
