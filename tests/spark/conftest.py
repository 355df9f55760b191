"""One Spark of two cores, one embedded cluster and one registry for all tests of this folder."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import fastavro
import pytest

from kafka_core import Producer
from kafka_core.broker import EmbeddedCluster
from registry import Schema, SchemaRegistryClient
from registry.dev import RegistryServer, serve
from tests.parts import missing
from tests.patience import PROCESS_S
from tools.spark_jars import SparkJarsUnavailableError, spark_jars

PATIENT = {
    "spark.python.authenticate.socketTimeout": "300s",  # Python and the JVM wait 15 s for each other otherwise
    "spark.network.timeout": "600s",
    "spark.executor.heartbeatInterval": "60s",
    "spark.rpc.askTimeout": "600s",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # half the CPU time of a short life
}
"""Settings of a session on a machine that may stand still."""
SPARK = tuple(int(part) for part in importlib.metadata.version("pyspark").split(".")[:2])
"""`make test-spark40` and `make test-spark41` run these tests on another one than the rest has."""
WITH_FUNCTIONS = pytest.mark.skipif(SPARK < (4, 1), reason="Arrow functions of columns came with Spark 4.1")
WITH_STREAMS_OUT = pytest.mark.skipif(SPARK < (4, 1), reason="Arrow writers of streams came with Spark 4.1")
LATE = "waiting for the Python worker to connect back", "Python worker failed to connect back"
T = TypeVar("T")


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Spark 4.1 leaves the sockets on which results come to the garbage collector."""
    left = "ignore:Exception ignored in. <socket.socket:pytest.PytestUnraisableExceptionWarning"
    for item in items:
        if SPARK < (4, 2) and Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings(left))


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A local session whose workers run this Python; missing PySpark or Java is said loudly."""
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        missing("spark", f"PySpark is not installed: {error}")
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and os.access(os.path.join(home, "bin", "java"), os.X_OK)):
        missing("spark", "there is no java, neither in PATH nor in JAVA_HOME")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYSPARK_DRIVER_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            session = (
                SparkSession.builder.master("local[2]")
                .appName("kserdes-tests")
                .config("spark.ui.enabled", "false")
                .config("spark.ui.showConsoleProgress", "false")
                .config("spark.sql.shuffle.partitions", "2")
                .config("spark.sql.session.timeZone", "America/New_York")
                .config("spark.driver.memory", "1g")
                .config("spark.log.level", "OFF")
                .config("spark.driver.extraClassPath", ":".join(map(str, _connectors())))
                .config(map=PATIENT)
                .getOrCreate()
            )
        yield session
        session.stop()


def patiently(work: Callable[[], T]) -> T:
    """The result of `work`, which starts a stream; it is done again where Spark was not patient enough.

    Spark gives the Python worker of a stream's source ten seconds to start, which no setting changes, and the query has
    failed then; over Connect the same holds for the worker of `foreachBatch`, and it is `start()` that fails. The guide
    says to start it again.
    """
    from pyspark.errors import PySparkException

    until_s = time.monotonic() + PROCESS_S
    while True:
        try:
            return work()
        except PySparkException as error:
            if time.monotonic() > until_s or not any(told in str(error) for told in LATE):
                raise


def finished(start: Callable[[], Any]) -> Any:
    """The query that `start` gives, when it has ended."""

    def ended() -> Any:
        query = start()
        assert query.awaitTermination(PROCESS_S)
        return query

    return patiently(ended)


def _connectors() -> list[Path]:
    """Spark's own connectors; without them, `connectors` says what is missing."""
    try:
        return spark_jars()
    except SparkJarsUnavailableError:
        return []


@pytest.fixture(scope="session")
def connectors() -> list[Path]:
    """For tests that compare with Spark's own Kafka source."""
    try:
        return spark_jars()
    except SparkJarsUnavailableError as error:
        missing("spark", str(error))


@pytest.fixture(scope="session")
def cluster() -> Iterator[EmbeddedCluster]:
    """A broker that makes no topic unasked."""
    with EmbeddedCluster(auto_create_topics=False) as started:
        yield started


@pytest.fixture(scope="session")
def registry_server() -> Iterator[RegistryServer]:
    with serve() as server:
        yield server


@pytest.fixture
def registry(registry_server: RegistryServer) -> Iterator[SchemaRegistryClient]:
    """A client of the registry that Spark's workers reach, too."""
    with SchemaRegistryClient({"url": registry_server.url}) as client:
        yield client


@pytest.fixture
def topic(cluster: EmbeddedCluster, request: pytest.FixtureRequest) -> Iterator[str]:
    """A topic of two partitions with a name of its own."""
    name = request.node.name.replace("[", "-").replace("]", "").replace(" ", "-")[:200]
    cluster.create_topic(name, 2)
    yield name
    cluster.delete_topic(name)


Produce = Callable[..., None]


@pytest.fixture
def produce(cluster: EmbeddedCluster) -> Produce:
    """`produce(topic, records, partition)`: each record is a dict of `Producer.produce`'s arguments."""

    def send(topic: str, records: Sequence[Mapping[str, Any]], partition: int = 0) -> None:
        with Producer({"bootstrap.servers": cluster.bootstrap_servers, "max.block.ms": 60_000}) as producer:
            for record in records:
                producer.produce(topic, partition=partition, **record)
            assert producer.flush(60) == 0

    return send


def frame(schema_id: int, schema: Any, value: Any) -> bytes:
    """A payload in the registry's wire format, written by fastavro alone."""
    import io

    out = io.BytesIO()
    out.write(b"\0" + schema_id.to_bytes(4, "big"))
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), value)
    return out.getvalue()


def register(client: SchemaRegistryClient, subject: str, schema: Any) -> int:
    """Registers a schema given as Python data; its id."""
    import json

    return client.register_schema(subject, Schema(json.dumps(schema), "AVRO"))
