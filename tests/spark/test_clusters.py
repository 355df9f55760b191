"""A packed environment that travels to executors of a cluster and to a server of Spark Connect."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from kafka_core import Producer
from kafka_core.broker import EmbeddedCluster
from tests.parts import missing
from tools.spark_connect import ConnectUnavailableError, client_path, connect_server

pytestmark = [pytest.mark.spark, pytest.mark.slow]
ROOT = Path(__file__).resolve().parent.parent.parent
LIMIT_S = 3000.0
QUIET = {"spark.ui.enabled": "false", "spark.log.level": "OFF", "spark.sql.shuffle.partitions": "2"}


def environment_of() -> dict[str, str]:
    """The variables of a job: its workers run this Python, and import from this checkout."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    paths = {"PYTHONPATH": str(ROOT), "SPARK_LOCAL_IP": "127.0.0.1"}
    return {**kept, **paths, "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}


WHERE = """
import sys

from pyspark.sql import SparkSession

kind, at, archive, bootstrap = sys.argv[1:]
builder = getattr(SparkSession.builder, kind)(at)
if kind == "master":  # a server has its own settings
    builder = builder.config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
    builder = builder.config("spark.archives", f"{archive}#env")
spark = builder.getOrCreate()
if kind == "remote":
    spark.addArtifacts(f"{archive}#env", archive=True)
    spark.conf.set("spark.sql.execution.pyspark.python", "./env/bin/python")


def where(batches):
    import os

    import pyarrow

    import pipeline

    for _ in batches:
        place = os.path.relpath(os.path.realpath(pipeline.__file__), os.path.realpath("env"))
        yield pyarrow.RecordBatch.from_pydict({"place": [place]})


print("place:", spark.range(1).mapInArrow(where, "place string").collect()[0].place, flush=True)
if kind == "master":
    reader = spark.read.format("kserdes").option("kafka.bootstrap.servers", bootstrap)
    print("rows:", reader.option("subscribe", "shipped").load().count(), flush=True)
spark.stop()
"""
PYTHON = """#!/bin/sh
PYTHONPATH="$(dirname "$0")/../lib" exec "{python}" "$@"
"""


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A folder with a packed environment: `bin/python` and kserdes, as `venv-pack` makes one, but without the rest."""
    folder = tmp_path / "env"
    for package in ("kserdes_base", "kafka_core", "registry", "serdes", "pipeline", "pyspark_kserdes"):
        shutil.copytree(ROOT / package, folder / "lib" / package, ignore=shutil.ignore_patterns("*.c", "*.pyx"))
    python = folder / "bin" / "python"
    python.parent.mkdir()
    python.write_text(PYTHON.format(python=sys.executable))
    python.chmod(0o755)
    with tarfile.open(tmp_path / "env.tar.gz", "w:gz", compresslevel=1) as archive:
        for one in "bin", "lib":
            archive.add(folder / one, one)
    return tmp_path


def where(folder: Path, kind: str, at: str, bootstrap: str, *more: str) -> list[str]:
    """The output of a driver whose package comes from the archive."""
    kept = environment_of()
    if kind == "master":
        kept["PYSPARK_PYTHON"] = kept["PYSPARK_DRIVER_PYTHON"] = "./env/bin/python"
    (folder / "job.py").write_text(WHERE)
    done = subprocess.run(
        [sys.executable, "-P", "job.py", kind, at, str(folder / "env.tar.gz"), bootstrap],
        cwd=folder,
        env={**kept, "PYTHONPATH": os.pathsep.join(more)},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-8000:]
    return [line for line in done.stdout.splitlines() if line.startswith(("place: ", "rows: "))]


def test_the_package_travels_to_executors_in_an_archive(environment: Path) -> None:
    with EmbeddedCluster(auto_create_topics=False) as cluster:
        cluster.create_topic("shipped", 2)
        with Producer({"bootstrap.servers": cluster.bootstrap_servers}) as producer:
            for number in range(10):
                producer.produce("shipped", b"x", partition=number % 2)
            assert producer.flush(60) == 0
        told = where(environment, "master", "local-cluster[2,1,1024]", cluster.bootstrap_servers)
    assert told == ["place: lib/pipeline/__init__.py", "rows: 10"]


def test_the_package_travels_to_a_connect_server_in_an_archive(environment: Path) -> None:
    settings = {**QUIET, "spark.master": "local[1]"}
    try:
        client = client_path()
        with connect_server(environment, settings, {**environment_of(), "PYTHONPATH": ""}) as url:
            told = where(environment, "remote", url, "", *client)
    except ConnectUnavailableError as error:
        missing("spark", str(error))
    assert told == ["place: lib/pipeline/__init__.py"]
