"""The Spark side of the demo: topics as decoded DataFrames, and a stream that is stopped and started again.

The job of a user who read docs/guide/spark-source.md: the source decodes, the sink encodes, bad records become letters.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline import explain_schema
from tools.demo.data import CarrierDelay

LATE_MIN = 120
"""Minutes of delay that make a flight late."""
TRIGGER = 50_000
WAIT_S = 300.0
"""Seconds that a stream may take; in this time it is also started again where its Python worker was late."""


@dataclass(frozen=True, slots=True)
class Servers:
    """The cluster and registry that the job reads from and writes to."""

    bootstrap: str
    registry_url: str

    def options(self, **more: str) -> dict[str, str]:
        """Options of the source and of the sink."""
        return {"kafka.bootstrap.servers": self.bootstrap, "schema.registry.url": self.registry_url, **more}


def session() -> Any:
    """A local Spark of two cores that says only what went wrong."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    return (
        SparkSession.builder.master("local[2]")
        .appName("kserdes-demo")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.log.level", "FATAL")  # a stream that is stopped and one that is started again tell so as errors
        .getOrCreate()
    )


def decoded(spark: Any, servers: Servers, topic: str, columns: str) -> Any:
    """A topic's values, one column per field, decoded by the source."""
    inside = {"value.format": "auto", "value.columns": columns}
    options = servers.options(subscribe=topic, **inside, **{"kafka.isolation.level": "read_committed"})
    return spark.read.format("kserdes").options(**options).load().select("value.*")


def schema_ids(spark: Any, servers: Servers, topic: str) -> dict[int, int]:
    """The schema ids in a topic, and the rows of each."""
    raw = spark.read.format("kserdes").options(**servers.options(subscribe=topic)).load()
    told = explain_schema(raw, "value", {"url": servers.registry_url}).collect()
    return {row["schema_id"]: row["rows"] for row in told}


def delays(spark: Any, servers: Servers, flights: str, carriers: str) -> dict[str, CarrierDelay]:
    """The job: carrier name → its arrivals and their delay."""
    from pyspark.sql import functions

    departures = decoded(spark, servers, flights, "carrier,arr_delay").where("arr_delay is not null")
    names = decoded(spark, servers, carriers, "carrier,name")
    joined = departures.join(functions.broadcast(names), "carrier")
    rows = joined.groupBy("name").agg(functions.count("*").alias("n"), functions.sum("arr_delay").alias("total"))
    return {row["name"]: CarrierDelay(row["name"], row["n"], row["total"]) for row in rows.collect()}


class LateFlights:
    """A stream of late flights into a topic of their own, exactly once; what can't be decoded goes to a third topic.

    Args:
        spark: the session.
        servers: where the topics are.
        flights: the topic that is read.
        late: the topic that is written.
        letters: the topic of what can't be decoded.
        checkpoint: a folder.
    """

    def __init__(self, spark: Any, servers: Servers, flights: str, late: str, letters: str, checkpoint: Path) -> None:
        self._spark, self._servers = spark, servers
        self._flights, self._late, self._letters, self._checkpoint = flights, late, letters, checkpoint

    def _start(self) -> Any:
        reading = {"value.format": "auto", "value.columns": "carrier,flight,time_hour,arr_delay"}
        reading |= {"mode": "DEADLETTER", "deadLetterTopic": self._letters, "maxOffsetsPerTrigger": str(TRIGGER)}
        options = self._servers.options(subscribe=self._flights, startingOffsets="earliest", **reading)
        stream = self._spark.readStream.format("kserdes").options(**options).load()
        writing = {"value.format": "avro", "autoRegister": "true", "delivery": "exactly-once"}
        options = self._servers.options(topic=self._late, checkpointLocation=str(self._checkpoint), **writing)
        rows = stream.where(f"value.arr_delay >= {LATE_MIN}").selectExpr("value.carrier as key", "value")
        return rows.writeStream.format("kserdes").options(**options).trigger(availableNow=True).start()

    def run(self, batches: int | None = None) -> int:
        """Runs it to the end of the topic, or stops it after some batches; how many it has done since its start."""
        from pyspark.errors import StreamingQueryException

        until_s = time.monotonic() + WAIT_S
        while True:
            query = self._start()
            try:
                return self._watch(query, batches)
            except StreamingQueryException as error:  # Spark gives the stream's Python worker ten seconds to be there
                if time.monotonic() > until_s or "Python worker" not in str(error):
                    raise

    @staticmethod
    def _watch(query: Any, batches: int | None) -> int:
        until_s = time.monotonic() + WAIT_S
        try:
            while not query.awaitTermination(1 if batches is None else 0.05):
                if batches is not None and len(query.recentProgress) >= batches:
                    break
                if time.monotonic() > until_s:
                    raise TimeoutError(f"the stream is not done after {WAIT_S:.0f} s")
            return sum(progress["numInputRows"] > 0 for progress in query.recentProgress)
        finally:
            query.stop()
