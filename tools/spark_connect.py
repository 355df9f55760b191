"""A Spark Connect server in a process of its own, and the Python package that its clients need: for tests.

Knows nothing of kserdes. Everything but `zstandard`, which pyspark's client insists on, comes with pyspark; that one
is fetched by pip into `$KSERDES_CACHE`, so only the first call needs the network.
"""

from __future__ import annotations

import contextlib
import importlib.util
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from tools.maven import cache_dir
from tools.real_kafka import free_ports

ZSTANDARD = "zstandard==0.25.0"
START_S = 300.0
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


class ConnectUnavailableError(RuntimeError):
    """The server or what its clients need can't be had here; the text says why."""


def client_path() -> list[str]:
    """Folders to add to a client's `PYTHONPATH`: none if the client's packages are installed.

    Raises:
        ConnectUnavailableError: `zstandard` is not installed and pip can't fetch it, or there is no grpc.
    """
    if importlib.util.find_spec("grpc_status") is None:
        raise ConnectUnavailableError("grpcio-status is not installed: pip install 'pyspark[connect]'")
    if importlib.util.find_spec("zstandard") is not None:
        return []
    folder = cache_dir() / ZSTANDARD.replace("==", "-")
    if not (folder / "zstandard").exists():
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(folder), ZSTANDARD]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            raise ConnectUnavailableError(f"pip could not fetch {ZSTANDARD}: {done.stderr[-500:]}")
    return [str(folder)]


@contextlib.contextmanager
def connect_server(folder: Path, settings: Mapping[str, str], environment: Mapping[str, str]) -> Iterator[str]:
    """The URL of a server that runs as long as the body does.

    Args:
        folder: it works there and writes `server.log`.
        settings: of Spark, beside those of its address.
        environment: all of the process's variables.

    Raises:
        ConnectUnavailableError: it did not start; the end of its log is in the text.
    """
    import pyspark

    home = Path(pyspark.__file__).parent
    (port,) = free_ports(1)
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false",
        **settings,
    }
    command = [str(home / "bin" / "spark-submit"), "--class", SERVER]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    log = folder / "server.log"
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*command, "spark-internal"],
            cwd=folder,
            env={**environment, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"},
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
        )
    try:
        _wait(port, process, log)
        yield f"sc://127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    until_s = time.monotonic() + START_S
    while process.poll() is None and time.monotonic() < until_s:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    told = log.read_text(errors="replace")[-800:]
    raise ConnectUnavailableError(f"the server is not there (exit status {process.poll()}): {told}")
