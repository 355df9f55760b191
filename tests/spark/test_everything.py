"""Everything in each kind of session: classic, Spark Connect, a cluster whose executors are processes of their own."""

from __future__ import annotations

import ast
import contextlib
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_core.broker import EmbeddedCluster
from registry.dev import RegistryServer
from tests.parts import missing
from tests.spark.everything import CHECKS, World
from tools.spark_connect import ConnectUnavailableError, client_path

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    # Spark's own Python side leaves sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
ROOT = Path(__file__).resolve().parent.parent.parent
NAMES = [check.__name__ for check in CHECKS]


class Session:
    """A process that does everything in a session of its own, of which a process may have one only.

    Args:
        folder: it works there, and what it says is in `out` and `err`.
        arguments: of `tests.spark.everything`.
        path: folders that its Python gets beside this checkout.
    """

    def __init__(self, folder: Path, arguments: list[str], path: list[str]) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
        own = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
        self._folder = folder
        with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
            self._process = subprocess.Popen(
                [sys.executable, "-u", "-m", "tests.spark.everything", *arguments, str(folder)],
                cwd=folder,
                env={**kept, **own, "PYTHONPATH": os.pathsep.join([str(ROOT), *path])},
                stdout=out,
                stderr=err,
                stdin=subprocess.DEVNULL,
            )

    def result(self, name: str) -> str:
        """The result of a check, once it is done."""
        while True:
            ended = self._process.poll() is not None
            for line in (self._folder / "out").read_text().splitlines():
                if line.startswith(f"{name}: "):
                    return str(ast.literal_eval(line.removeprefix(f"{name}: ")))
            if ended:
                return f"the process has ended: {(self._folder / 'err').read_text()[-4000:]}"
            time.sleep(0.1)

    def end(self) -> None:
        """Ends it, if it has not ended."""
        self._process.terminate()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextlib.contextmanager
def session(
    kind: str,
    at: str,
    cluster: EmbeddedCluster,
    registry_server: RegistryServer,
    make: pytest.TempPathFactory,
    *path: str,
) -> Iterator[Session]:
    started = Session(make.mktemp(kind), [kind, at, cluster.bootstrap_servers, registry_server.url], list(path))
    try:
        yield started
    finally:
        started.end()


@pytest.fixture(scope="module")
def connect(
    cluster: EmbeddedCluster, registry_server: RegistryServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Session]:
    try:
        path = client_path()
    except ConnectUnavailableError as error:
        missing("spark", str(error))
    with session("remote", "local[2]", cluster, registry_server, tmp_path_factory, *path) as started:
        yield started


@pytest.fixture(scope="module")
def on_a_cluster(
    cluster: EmbeddedCluster, registry_server: RegistryServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Session]:
    with session("master", "local-cluster[2,1,1024]", cluster, registry_server, tmp_path_factory) as started:
        yield started


@pytest.mark.parametrize("check", CHECKS, ids=NAMES)
def test_in_a_classic_session(
    check: Callable[[World], None],
    spark: Any,
    cluster: EmbeddedCluster,
    registry_server: RegistryServer,
    tmp_path: Path,
) -> None:
    check(World(spark, cluster.bootstrap_servers, registry_server.url, tmp_path, f"e-{uuid.uuid4().hex[:8]}"))


@pytest.mark.parametrize("name", NAMES)
def test_over_spark_connect(name: str, connect: Session) -> None:
    assert connect.result(name) == ""


@pytest.mark.parametrize("name", NAMES)
def test_on_a_cluster(name: str, on_a_cluster: Session) -> None:
    assert on_a_cluster.result(name) == ""
