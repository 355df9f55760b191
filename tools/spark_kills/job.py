"""The program that is killed: a driver with two executors in processes of their own (`local-cluster`).

`python -m tools.spark_kills.job KIND BOOTSTRAP FOLDER`; started again with the same folder, it goes on. It ends
when all of the topic `in` is done. Must not know what is killed, or when.

- `stream`: `in` → `out`, exactly once, by the checkpoint;
- `batch`: a write for each range of offsets of `in`, exactly once by its `deliveryId`;
- `view`: a stream from `in` into files, a folder for each batch that replaces what an earlier try has left in it.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
PARTITIONS = 3
TRIGGER = 3_000
"""Offsets of a batch."""


def session() -> Any:
    """Two executors of one core; a task may be tried as often as executors are killed."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local-cluster[2,1,512]").appName("kserdes-kills")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.executor.memory": "512m",
        "spark.driver.memory": "512m",
        "spark.executorEnv.PYTHONPATH": str(ROOT),
        "spark.task.maxFailures": "100",
        "spark.stage.maxConsecutiveAttempts": "100",
        "spark.deploy.maxExecutorRetries": "-1",
        "spark.excludeOnFailure.enabled": "false",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def source(spark: Any, bootstrap: str) -> Any:
    """The stream of `in`, in small batches."""
    reader = spark.readStream.format("kserdes").option("kafka.bootstrap.servers", bootstrap)
    return reader.options(subscribe="in", startingOffsets="earliest", maxOffsetsPerTrigger=str(TRIGGER)).load()


def stream(spark: Any, bootstrap: str, folder: Path) -> None:
    """`in` to `out`, exactly once."""
    writer = source(spark, bootstrap).select("key", "value").writeStream.format("kserdes")
    writer = writer.option("kafka.bootstrap.servers", bootstrap).option("topic", "out")
    writer = writer.option("delivery", "exactly-once").option("checkpointLocation", str(folder / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()


def view(spark: Any, bootstrap: str, folder: Path) -> None:
    """`in` to a folder for each batch."""

    def replace(frame: Any, batch: int) -> None:
        frame.selectExpr("cast(value as string) as value").write.mode("overwrite").text(str(folder / f"view/{batch}"))

    writer = source(spark, bootstrap).writeStream.foreachBatch(replace)
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()


def batch(spark: Any, bootstrap: str, folder: Path) -> None:
    """A write for each range; a file says that it is done."""
    count = int((folder / "count").read_text())
    for first in range(0, count // PARTITIONS, TRIGGER // PARTITIONS):
        done = folder / f"done-{first}"
        if done.exists():
            continue
        last = min(first + TRIGGER // PARTITIONS, count // PARTITIONS)
        ranges = {"startingOffsets": first, "endingOffsets": last}
        offsets = {name: json.dumps({"in": dict.fromkeys(range(PARTITIONS), at)}) for name, at in ranges.items()}
        reader = spark.read.format("kserdes").option("kafka.bootstrap.servers", bootstrap)
        frame = reader.options(subscribe="in", minPartitions="6", **offsets).load().select("key", "value")
        writer = frame.write.format("kserdes").option("kafka.bootstrap.servers", bootstrap).option("topic", "out")
        writer.options(delivery="exactly-once", deliveryId=f"range {first}").mode("append").save()
        done.touch()


JOBS = {"stream": stream, "batch": batch, "view": view}

if __name__ == "__main__":
    started = session()
    print("READY", flush=True)
    JOBS[sys.argv[1]](started, sys.argv[2], Path(sys.argv[3]))
    print("DONE", flush=True)
    started.stop()
