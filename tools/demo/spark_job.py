"""The Spark side of the demo: both topics as DataFrames, decoded, joined, aggregated."""

from __future__ import annotations

import os
import sys
from typing import Any

from pipeline import from_registry, tune
from tools.demo.data import CarrierDelay


def session() -> Any:
    """A local Spark of two cores that says only what went wrong."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master("local[2]")
        .appName("kserdes-demo")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    tune(spark)
    return spark


def read_topic(spark: Any, bootstrap: str, registry_url: str, topic: str) -> Any:
    """A topic's decoded values, one column per field, and the raw value's schema id."""
    from pyspark.sql import functions

    raw = spark.read.format("kserdes").option("kafka.bootstrap.servers", bootstrap).option("subscribe", topic).load()
    schema_id = functions.conv(functions.hex(functions.substring("value", 2, 4)), 16, 10).cast("int")
    value = from_registry("value", {"url": registry_url}, topic=topic, mode="FAILFAST")
    return raw.select(schema_id.alias("schema_id"), value.alias("decoded")).select("schema_id", "decoded.*")


def delays(spark: Any, bootstrap: str, registry_url: str, flights: str, carriers: str) -> dict[str, Any]:
    """Runs the job: `rows`, `schema_ids` and `delays` (carrier name → CarrierDelay)."""
    from pyspark.sql import functions

    departures = read_topic(spark, bootstrap, registry_url, flights).cache()
    names = read_topic(spark, bootstrap, registry_url, carriers).select("carrier", "name")
    ids = departures.groupBy("schema_id").count().collect()
    joined = departures.where("arr_delay is not null").join(functions.broadcast(names), "carrier")
    rows = joined.groupBy("name").agg(functions.count("*").alias("n"), functions.sum("arr_delay").alias("total"))
    found = {row["name"]: CarrierDelay(row["name"], row["n"], row["total"]) for row in rows.collect()}
    return {
        "rows": sum(row["count"] for row in ids),
        "schema_ids": {row["schema_id"]: row["count"] for row in ids},
        "delays": found,
    }
