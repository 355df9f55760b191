"""Spark functions against the JVM's own: `from_registry`, `decode_frame`, `to_registry` beside from_avro, from_json.

`python -m benchmarks.spark [rows [rounds]]` prints, for each path, rows per second of wall time and of CPU time
(driver, JVM and Python workers together), medians of interleaved rounds, as ratios to the JVM's function in the same
run; at the end a row for each goal, which is one of wall time. local[2], the order record of 12 fields from parquet
to the sink `noop`. spark-avro's jar comes by tools/spark_jars; a spark-protobuf that fits this Spark is not on Maven
Central, so Protobuf has no peer here.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.goals import Row, heading
from benchmarks.serdes import JSON_ORDER, ORDER, text_of
from pipeline import decode_frame, encode_frame, from_registry, infer_schema, to_registry, tune
from registry import SchemaRegistryClient
from serdes import MessageField, SerializationContext
from serdes.avro import AvroSerializer
from serdes.json_schema import JSONSerializer
from tools.spark_jars import spark_jars

ROWS = 1_000_000
ROUNDS = 3
FILES = 8
INPUT_PATH = "spark.sql.execution.arrow.pythonUDF.columnarInput.enabled"
TUNED = (INPUT_PATH, "spark.sql.execution.arrow.maxBytesPerBatch", "spark.sql.execution.arrow.maxRecordsPerBatch")

Job = Callable[[], Any]
"""Makes the DataFrame that is then run; or does all itself, and gives None."""


@contextmanager
def session() -> Iterator[Any]:
    """A session of two cores whose workers run this Python."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[2]").appName("kserdes-bench").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR")
    spark = (
        builder.config("spark.driver.extraClassPath", ":".join(map(str, spark_jars())))
        .config("spark.driver.memory", "2g")
        .getOrCreate()
    )
    try:
        yield spark
    finally:
        spark.stop()


def cpu_s() -> float:
    """CPU seconds of this process and all below it, ended ones included where a parent has waited for them."""
    ticks = os.sysconf("SC_CLK_TCK")
    parents: dict[int, int] = {}
    spent: dict[int, float] = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        parents[int(folder.name)] = int(fields[1])
        spent[int(folder.name)] = sum(map(int, fields[11:15])) / ticks
    return sum(one for pid, one in spent.items() if _is_below(pid, parents))


def _is_below(pid: int, parents: dict[int, int]) -> bool:
    while pid > 1:
        if pid == os.getpid():
            return True
        pid = parents.get(pid, 0)
    return False


def run(frame: Any) -> None:
    if frame is not None:
        frame.write.format("noop").mode("overwrite").save()


def write_frames(folder: Path, frames: list[bytes], rows: int) -> None:
    folder.mkdir()
    table = pa.table({"value": pa.array([frames[n % len(frames)] for n in range(rows // FILES)], pa.binary())})
    for number in range(FILES):
        pq.write_table(table, folder / f"{number}.parquet", use_dictionary=False)


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurements of one comparison.

    Attributes:
        walls: name → median seconds of wall time.
        cpus: name → median seconds of CPU time.
    """

    walls: dict[str, float]
    cpus: dict[str, float]

    def goal(self, path: str, name: str, peer: str, wanted: float) -> Row:
        """The goal that `name` is so many times as fast as `peer`."""
        return Row(path, self.walls[peer] / self.walls[name], wanted, "×", beside=self._by_cpu(name, peer))

    def limit(self, path: str, name: str, peer: str, wanted: float) -> Row:
        """The goal that `name` takes so many times the time of `peer` at the most."""
        return Row(path, self.walls[name] / self.walls[peer], wanted, "×", False, self._by_cpu(peer, name))

    def _by_cpu(self, name: str, peer: str) -> str:
        return f"CPU {self.cpus[peer] / self.cpus[name]:.2f}×"


def measure(
    spark: Any, contestants: dict[str, tuple[bool, Job]], rows: int, peer: str, rounds: int = ROUNDS
) -> Measured:
    """Runs all in turn and prints rates, and ratios to the peer.

    Args:
        spark: the session.
        contestants: name → whether the session is tuned, and what is run.
        rows: of each run.
        peer: the name to compare with.
        rounds: that are counted; one more warms up.
    """
    walls: dict[str, list[float]] = {name: [] for name in contestants}
    cpus: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(rounds + 1):
        for name, (tuned, job) in contestants.items():
            for option in TUNED:
                spark.conf.unset(option)
            if tuned:
                tune(spark)
            wall, cpu = time.perf_counter(), cpu_s()
            run(job())
            if number:
                walls[name].append(time.perf_counter() - wall)
                cpus[name].append(cpu_s() - cpu)
    found = Measured(*({name: statistics.median(them) for name, them in all_of.items()} for all_of in (walls, cpus)))
    for name in contestants:
        wall, cpu = found.walls[name], found.cpus[name]
        print(
            f"  {name:<44} {rows / wall / 1e6:6.2f} M rows/s {found.walls[peer] / wall:6.2f}x"
            f"   {cpu * 1e6 / rows:6.2f} us CPU {found.cpus[peer] / cpu:6.2f}x",
            flush=True,
        )
    return found


def main(rows: int, rounds: int) -> None:
    """Prints the tables, and the one of goals."""
    from pyspark.sql import functions
    from pyspark.sql.avro.functions import from_avro, to_avro

    conf = {"url": f"mock://bench-{uuid.uuid4()}"}
    order = text_of("order.avsc")
    with tempfile.TemporaryDirectory() as name, SchemaRegistryClient(conf) as client, session() as spark:
        folder = Path(name)
        avro = AvroSerializer(client, order)(ORDER, SerializationContext("orders", MessageField.VALUE))
        assert avro is not None
        write_frames(folder / "avro", [avro], rows)
        raw = spark.read.parquet(str(folder / "avro"))
        schema = json.dumps(json.loads(order))
        jvm = from_avro(functions.expr("substring(value, 6)"), schema).alias("v")

        def ours(**more: Any) -> Any:
            return from_registry("value", conf, topic="orders", **more).alias("v")

        def framed(**more: Any) -> Any:
            return decode_frame(raw, "value", conf, topic="orders", **more)

        print(f"Avro, order of 12 fields, {rows} rows, parquet to noop, local[2]; peer: from_avro")
        decoding: dict[str, tuple[bool, Job]] = {
            "from_avro (JVM)": (False, lambda: raw.select(jvm)),
            "from_registry, default": (False, lambda: raw.select(ours())),
            "from_registry, tuned": (True, lambda: raw.select(ours())),
            "decode_frame, default": (False, framed),
            "decode_frame, tuned": (True, framed),
            "from_registry, tuned, 2 of 12 columns": (True, lambda: raw.select(ours(columns=["id", "total"]))),
            "decode_frame, tuned, 2 of 12 columns": (True, lambda: framed(columns=["id", "total"])),
        }
        found = measure(spark, decoding, rows, jvm_reads := "from_avro (JVM)", rounds)
        goals = [
            found.goal(f"{path}, to from_avro", path, jvm_reads, wanted)
            for path, wanted in (
                ("from_registry, tuned", 0.65),
                ("from_registry, default", 0.4),
                ("decode_frame, tuned", 0.75),
            )
        ]
        print("A filter on a decoded field; peer: the same without it")
        filtering: dict[str, tuple[bool, Job]] = {
            "without": (True, lambda: raw.select(ours()).select("v.*")),
            "where v.quantity >= 0": (True, lambda: raw.select(ours()).where("v.quantity >= 0").select("v.*")),
        }
        found = measure(spark, filtering, rows, "without", rounds)
        goals.append(found.limit("a filter on a decoded field, to none", "where v.quantity >= 0", "without", 1.15))
        raw.limit(rows).select(jvm).write.parquet(str(folder / "values"))
        values = spark.read.parquet(str(folder / "values"))
        print("Encoding; peer: to_avro")
        encoding: dict[str, tuple[bool, Job]] = {
            "to_avro (JVM)": (False, lambda: values.select(to_avro("v"))),
            "to_registry, default": (False, lambda: values.select(to_registry("v", conf, topic="out", schema=order))),
            "to_registry, tuned": (True, lambda: values.select(to_registry("v", conf, topic="out", schema=order))),
            "encode_frame, tuned": (True, lambda: encode_frame(values, "v", conf, topic="out", schema=order)),
        }
        found = measure(spark, encoding, rows, jvm_writes := "to_avro (JVM)", rounds)
        goals.append(found.goal("to_registry, tuned, to to_avro", "to_registry, tuned", jvm_writes, 0.6))
        json_rows(spark, client, conf, folder, rows // 2, rounds)
    print_goals(goals)


def print_goals(goals: Sequence[Row]) -> None:
    """The table of goals."""
    print(heading("wall time, in one run"))
    for row in goals:
        print(row)


def json_rows(
    spark: Any, client: SchemaRegistryClient, conf: dict[str, str], folder: Path, rows: int, rounds: int
) -> None:
    """JSON against from_json."""
    from pyspark.sql import functions

    schema = text_of("order.schema.json")
    value: Any = JSON_ORDER
    frame = JSONSerializer(schema, client)(value, SerializationContext("json", MessageField.VALUE))
    assert frame is not None
    write_frames(folder / "json", [frame], rows)
    raw = spark.read.parquet(str(folder / "json"))
    ours = from_registry("value", conf, topic="json").alias("v")
    told = infer_schema(conf, topic="json")
    jvm = functions.from_json(functions.expr("cast(substring(value, 6) as string)"), told).alias("v")
    print(f"JSON, order of 12 fields, {rows} rows; peer: from_json")
    contestants: dict[str, tuple[bool, Job]] = {
        "from_json (JVM)": (False, lambda: raw.select(jvm)),
        "from_registry, default": (False, lambda: raw.select(ours)),
        "from_registry, tuned": (True, lambda: raw.select(ours)),
        "decode_frame, tuned": (True, lambda: decode_frame(raw, "value", conf, topic="json")),
    }
    measure(spark, contestants, rows, "from_json (JVM)", rounds)


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    main(*given, *(ROWS, ROUNDS)[len(given) :])
