"""A topic through the source `kserdes` and `from_registry` into a DataFrame."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import uuid
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from kafka_core import Producer
from kafka_core.broker import EmbeddedCluster
from pipeline import OptionError, PlanError, forget_plans, from_registry, tune
from registry import Rule, RuleKind, RuleMode, RuleSet, Schema, SchemaRegistryClient
from registry.dev import RegistryServer, serve
from serdes import SerializingProducer
from serdes.avro import AvroSerializer
from tests.patience import PROCESS_S
from tests.spark.conftest import WITH_FUNCTIONS

pytestmark = [
    pytest.mark.spark,
    # Spark's own Python side leaves sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

FLUSH_S = 60.0
ORDER = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "fields": [
            {"name": "id", "type": "string"},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {"name": "total", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
            {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW", "PAID"]}},
            {"name": "note", "type": ["null", "string"], "default": None},
            {"name": "tags", "type": {"type": "array", "items": "string"}},
            {"name": "counts", "type": {"type": "map", "values": "int"}},
            {
                "name": "customer",
                "type": {"type": "record", "name": "Customer", "fields": [{"name": "n", "type": "int"}]},
            },
        ],
    }
)
AT = datetime(2013, 1, 1, 10, 0, 0, 123_000, tzinfo=UTC)


def order(number: int) -> dict[str, Any]:
    return {
        "id": f"o{number}",
        "at": AT,
        "total": Decimal("12.34"),
        "state": "PAID",
        "note": None if number % 2 else "fragile",
        "tags": ["a", "b"],
        "counts": {"x": number},
        "customer": {"n": number},
    }


def new_topic(cluster: EmbeddedCluster, partitions: int = 2) -> str:
    name = f"t-{uuid.uuid4().hex[:8]}"
    cluster.create_topic(name, partitions)
    return name


def load(spark: Any, cluster: EmbeddedCluster, topic: str, **options: str) -> Any:
    reader = spark.read.format("kserdes").option("kafka.bootstrap.servers", cluster.bootstrap_servers)
    for name, value in options.items():
        reader = reader.option(name, value)
    return reader.option("subscribe", topic).load()


def produce_orders(cluster: EmbeddedCluster, url: str, topic: str, numbers: range, schema: str = ORDER) -> None:
    with SchemaRegistryClient({"url": url}) as client:
        config: dict[str, Any] = {
            "bootstrap.servers": cluster.bootstrap_servers,
            "value.serializer": AvroSerializer(client, schema),
        }
        with SerializingProducer[str, Any](config) as producer:
            for number in numbers:
                producer.produce(topic, key=f"k{number}", value=order(number), headers=[("h", b"1"), ("n", None)])
            assert producer.flush(FLUSH_S) == 0


@WITH_FUNCTIONS
def test_values_come_out_with_their_types(
    spark: Any, cluster: EmbeddedCluster, registry_server: RegistryServer
) -> None:
    topic = new_topic(cluster)
    produce_orders(cluster, registry_server.url, topic, range(500))
    decoded = from_registry("value", {"url": registry_server.url}, topic=topic, mode="FAILFAST")
    frame = load(spark, cluster, topic, includeHeaders="true").select("key", "partition", "headers", decoded.alias("o"))
    assert frame.selectExpr("o.*").dtypes == [
        ("id", "string"),
        ("at", "timestamp"),
        ("total", "decimal(12,2)"),
        ("state", "string"),
        ("note", "string"),
        ("tags", "array<string>"),
        ("counts", "map<string,int>"),
        ("customer", "struct<n:int>"),
    ]
    rows = {row["o"]["id"]: row for row in frame.collect()}
    assert len(rows) == 500
    row = rows["o7"]
    assert bytes(row["key"]) == b"k7"
    assert [(header["key"], header["value"]) for header in row["headers"]] == [("h", bytearray(b"1")), ("n", None)]
    value = row["o"].asDict(recursive=True)
    assert value.pop("at").timestamp() == AT.timestamp()
    assert value == {name: item for name, item in order(7).items() if name != "at"}


@WITH_FUNCTIONS
def test_two_schema_ids_in_one_frame(spark: Any, cluster: EmbeddedCluster, registry_server: RegistryServer) -> None:
    topic = new_topic(cluster, 1)
    wider = json.loads(ORDER)
    wider["fields"].append({"name": "gift", "type": "boolean", "default": True})
    produce_orders(cluster, registry_server.url, topic, range(10))
    with SchemaRegistryClient({"url": registry_server.url}) as client:
        config: dict[str, Any] = {
            "bootstrap.servers": cluster.bootstrap_servers,
            "value.serializer": AvroSerializer(client, json.dumps(wider)),
        }
        with SerializingProducer[str, Any](config) as producer:
            producer.produce(topic, value={**order(10), "gift": False})
            producer.flush(FLUSH_S)
    decoded = from_registry("value", {"url": registry_server.url}, topic=topic)
    rows = load(spark, cluster, topic).select("offset", decoded.alias("o")).orderBy("offset").collect()
    assert [row["o"]["gift"] for row in rows] == [True] * 10 + [False]


@WITH_FUNCTIONS
def test_refused_rules_are_no_plan_and_none_that_come_later_pass(
    spark: Any, cluster: EmbeddedCluster, registry_server: RegistryServer
) -> None:
    topic = new_topic(cluster, 1)
    produce_orders(cluster, registry_server.url, topic, range(3))
    conf = {"url": registry_server.url}
    planned = from_registry("value", conf, topic=topic, rules="refuse")
    rule = Rule("pii", kind=RuleKind.TRANSFORM, mode=RuleMode.WRITEREAD, type="ENCRYPT", tags=["PII"])
    with SchemaRegistryClient(conf) as client:
        ruled = Schema(ORDER, rule_set=RuleSet(domain_rules=[rule]))
        later = client.register_schema(f"{topic}-value", ruled)
    with pytest.raises(PlanError, match=f"subject '{topic}-value', version 2.*'pii'"):
        forget_plans()  # a plan is remembered for minutes
        from_registry("value", conf, topic=topic, rules="refuse")
    with Producer({"bootstrap.servers": cluster.bootstrap_servers}) as producer:
        producer.produce(topic, value=b"\x00" + later.to_bytes(4, "big") + b"ciphertext")
        assert producer.flush(FLUSH_S) == 0
    frame = load(spark, cluster, topic).select(planned.alias("o"))  # PERMISSIVE: a null would hide it
    with pytest.raises(Exception, match=r"registered after the job was planned can't be used.*'pii'"):
        frame.collect()


@WITH_FUNCTIONS
def test_bad_rows(spark: Any, cluster: EmbeddedCluster, registry_server: RegistryServer) -> None:
    topic = new_topic(cluster, 1)
    produce_orders(cluster, registry_server.url, topic, range(1))
    with Producer({"bootstrap.servers": cluster.bootstrap_servers}) as producer:
        for value in (b"\x09nonsense", b"\x00\x7f\xff\xff\xffunknown id", None, b""):
            producer.produce(topic, value)
        producer.flush(FLUSH_S)
    url = {"url": registry_server.url}
    raw = load(spark, cluster, topic).orderBy("offset")
    nulls = [row[0] for row in raw.select(from_registry("value", url, topic=topic).alias("o")).collect()]
    assert [value is None for value in nulls] == [False, True, True, True, True]
    told = raw.select(from_registry("value", url, topic=topic, error_field="_error").alias("o")).collect()
    assert told[0]["o"]["_error"] is None
    assert "magic" in told[1]["o"]["_error"]
    assert "id 2147483647" in told[2]["o"]["_error"]
    assert told[3]["o"] is None  # a tombstone is no error
    assert told[4]["o"]["_error"] is not None
    with pytest.raises(Exception, match="row 1 of a batch can't be decoded"):
        raw.coalesce(1).select(from_registry("value", url, topic=topic, mode="FAILFAST")).collect()


def test_offsets_choose_what_is_read(spark: Any, cluster: EmbeddedCluster) -> None:
    topic = new_topic(cluster, 2)
    with Producer({"bootstrap.servers": cluster.bootstrap_servers}) as producer:
        for number in range(100):
            producer.produce(topic, b"%d" % number, partition=number % 2, timestamp=1_000 + number)
        producer.flush(FLUSH_S)
    frame = load(
        spark, cluster, topic, startingOffsets=f'{{"{topic}": {{"0": 40}}}}', endingOffsets=f'{{"{topic}": {{"1": 3}}}}'
    )
    rows = sorted((row["partition"], row["offset"], bytes(row["value"])) for row in frame.collect())
    assert [row[:2] for row in rows] == [(0, n) for n in range(40, 50)] + [(1, n) for n in range(3)]
    assert rows[0][2] == b"80"
    stamps = {row["timestamp"].timestamp() for row in frame.where("partition = 1").collect()}
    assert stamps == {1.001, 1.003, 1.005}
    assert load(spark, cluster, topic, rowsPerBatch="7").count() == 100
    assert load(spark, cluster, new_topic(cluster)).count() == 0


def test_plans_that_can_not_be_made_say_why(spark: Any, cluster: EmbeddedCluster) -> None:
    with pytest.raises(Exception, match="did you mean 'startingOffsets'"):
        load(spark, cluster, new_topic(cluster), startingOffset="earliest").count()
    with pytest.raises(Exception, match="were asked for"):
        topic = new_topic(cluster, 1)
        load(spark, cluster, topic, endingOffsets=f'{{"{topic}": {{"0": 5}}}}').count()
    with pytest.raises(OptionError, match="either topic"):
        from_registry("value", {"url": "http://127.0.0.1:1"})
    with pytest.raises(PlanError, match="t-value"):
        from_registry("value", {"url": "http://127.0.0.1:1", "max.retries": 0}, topic="t")


def test_tune_sets_the_session(spark: Any, tmp_path: Path) -> None:
    tune(spark, rows_per_batch=123)
    assert spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch") == "123"
    tune(spark)
    assert spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch") == "10000"


@WITH_FUNCTIONS
def test_the_example_of_the_readme_runs_and_ends_its_session(spark: Any, tmp_path: Path, project_root: Path) -> None:
    """In a process of its own, since it stops the session; what it reads, the example before it has written."""
    blocks = re.findall(r"^```python\n(.*?)^```$", (project_root / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    (example,) = [block for block in blocks if "from pipeline import" in block]
    with EmbeddedCluster() as cluster, serve() as registry:
        addresses = {"localhost:9092": cluster.bootstrap_servers, "http://localhost:8081": registry.url}
        for old, new in addresses.items():
            blocks[0], example = blocks[0].replace(old, new), example.replace(old, new)
        exec(compile(blocks[0], "README.md", "exec", dont_inherit=True), {"__name__": "readme"})
        script = tmp_path / "example.py"
        script.write_text(f"{example}\nprint('active session:', SparkSession.getActiveSession())\n")
        ran = subprocess.run(
            [sys.executable, str(script)],
            capture_output=True,
            text=True,
            timeout=PROCESS_S,
            check=False,
            cwd=project_root,
            env={**os.environ, "PYTHONPATH": str(project_root)},
        )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert re.search(r"\|\s*UA\|\s*1545\|", ran.stdout)
    assert "active session: None" in ran.stdout
