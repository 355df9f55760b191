"""Starts a real schema registry (Apicurio Registry, with Confluent's API) from Maven Central: for tests, and to try.

It knows nothing of our client: a registry is an unpacked archive and a JVM. The archive is kept in `$KSERDES_CACHE`
(default `~/.cache/kserdes`), so only the first start needs the network.

    python -m tools.real_registry fetch              # only fill the cache
    python -m tools.real_registry run --port 18081   # one registry until Ctrl-C
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from tools.maven import alone, cache_dir
from tools.real_kafka import PATIENCE_S, KafkaUnavailableError, free_ports, java

DEFAULT_VERSION = "3.0.9"
API = "/apis/ccompat/v7"
ARTIFACT = "io.apicurio:apicurio-registry-app:{version}:tar.gz:all"


class RegistryUnavailableError(RuntimeError):
    """The real registry can't be had or started here; the text says why."""


def fetch(version: str = DEFAULT_VERSION) -> Path:
    """The runner jar of this version, fetched by Maven if it is not in the cache.

    Raises:
        RegistryUnavailableError: Maven is missing or fails; its last words are in the text.
    """
    folder = cache_dir() / f"apicurio-{version}"
    jar = folder / f"apicurio-registry-app-{version}-runner.jar"
    if jar.exists():
        return jar
    maven = shutil.which("mvn")
    if maven is None:
        raise RegistryUnavailableError(f"no Maven found, and {folder} does not hold Apicurio Registry {version}")
    with alone():
        if not jar.exists():
            _fetch(maven, version, folder)
    return jar


def _fetch(maven: str, version: str, folder: Path) -> None:
    partial = Path(tempfile.mkdtemp(prefix=f"apicurio-{version}-", dir=folder.parent))
    try:
        artifact = ARTIFACT.format(version=version)
        _maven(maven, "dependency:get", "-Dtransitive=false", f"-Dartifact={artifact}")
        _maven(maven, "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={partial}")
        (archive,) = partial.glob("*.tar.gz")
        with tarfile.open(archive) as packed:
            packed.extractall(partial, filter="data")
        archive.unlink()
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _maven(maven: str, *words: str) -> None:
    done = subprocess.run([maven, "-q", "-B", *words], capture_output=True, text=True, timeout=540, check=False)
    if done.returncode != 0:
        raise RegistryUnavailableError(f"Maven could not fetch the registry: {(done.stdout + done.stderr)[-800:]}")


class RealRegistry:
    """One JVM on 127.0.0.1 that keeps its schemas in memory; a context manager.

    Attributes:
        url: where Confluent's API is.
    """

    def __init__(self, *, version: str = DEFAULT_VERSION, port: int | None = None, heap: str = "512m") -> None:
        self.version = version
        self._heap = heap
        try:
            self._jar, self._java = fetch(version), java()
            self._port = port or free_ports(1)[0]
        except KafkaUnavailableError as error:
            raise RegistryUnavailableError(str(error)) from error
        self._home = Path(tempfile.mkdtemp(prefix="kserdes-registry-"))
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"http://127.0.0.1:{self._port}{API}"

    def start(self, timeout_s: float = PATIENCE_S) -> RealRegistry:
        """Starts the JVM; returns when it answers and has the level that Confluent's registry starts with.

        Raises:
            RegistryUnavailableError: it did not come up; the end of its log is in the text.
        """
        command = [
            self._java,
            f"-Xmx{self._heap}",
            "-XX:TieredStopAtLevel=1",
            "-Dquarkus.http.host=127.0.0.1",
            f"-Dquarkus.http.port={self._port}",
            "-Dquarkus.log.level=WARN",
            "-jar",
            str(self._jar),
        ]
        with (self._home / "registry.log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self._home)
        self._wait(timeout_s)
        self._put_level()
        return self

    def _wait(self, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline and self._process is not None and self._process.poll() is None:
            with contextlib.suppress(OSError, urllib.error.URLError):
                _ask("GET", f"http://127.0.0.1:{self._port}/health/ready")
                return
            time.sleep(0.1)
        tail = (self._home / "registry.log").read_text(errors="replace")[-1500:]
        raise RegistryUnavailableError(f"Apicurio Registry {self.version} did not come up: {tail}")

    def _put_level(self) -> None:
        _ask("PUT", f"{self.url}/config", {"compatibility": "BACKWARD"})

    def stop(self) -> None:
        """Stops the JVM and removes its data."""
        if self._process is not None:
            self._process.kill()  # the data is in memory: nothing to shut down cleanly
            self._process.wait()
        shutil.rmtree(self._home, ignore_errors=True)

    def __enter__(self) -> RealRegistry:
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(self, *_: object) -> None:
        self.stop()


def _ask(method: str, url: str, body: object = None) -> bytes:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback needs no proxy
    with opener.open(request, timeout=10) as reply:
        found: bytes = reply.read()
        return found


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="a real schema registry for trying things out")
    parser.add_argument("command", choices=["fetch", "run"])
    parser.add_argument("--registry-version", default=DEFAULT_VERSION)
    parser.add_argument("--port", type=int, default=18081)
    args = parser.parse_args(argv)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        if args.command == "fetch":
            print(fetch(args.registry_version))
            return 0
        with RealRegistry(version=args.registry_version, port=args.port) as registry:
            print(registry.url, flush=True)
            with contextlib.suppress(KeyboardInterrupt):
                signal.pause()
    except RegistryUnavailableError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
