"""Starts a real Apache Kafka (KRaft) from Maven Central's jars: for tests, benchmarks and trying things out.

It knows nothing of our clients: a broker is a folder of jars, a properties file and a JVM.
Jars are kept in `$KSERDES_CACHE` (default `~/.cache/kserdes`), so only the first start needs the network.

    python -m tools.real_kafka fetch                 # only fill the cache
    python -m tools.real_kafka run --port 19092      # one broker until Ctrl-C
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tools.maven import JarsUnavailableError, jars

DEFAULT_VERSION = "4.3.1"
PATIENCE_S = 300.0
"""A JVM of ours has started, ended or answered by then, on a machine that is busy with others, too."""
CLUSTER_ID = "a3NlcmRlcy10ZXN0LWNsdQ"  # 16 bytes in URL-safe base64 without padding, as StorageTool wants it

SHARE_PROPERTIES = {
    "share.coordinator.state.topic.num.partitions": "4",
    "group.share.min.session.timeout.ms": "1000",
    "group.share.min.heartbeat.interval.ms": "100",
    "group.share.heartbeat.interval.ms": "200",
    "group.share.assignment.interval.ms": "0",
    "group.share.min.record.lock.duration.ms": "1000",
}


class KafkaUnavailableError(RuntimeError):
    """The real broker can't be had or started here; the text says why."""


def java() -> str:
    """The path of the `java` to use.

    Raises:
        KafkaUnavailableError: there is none.
    """
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if not found or not Path(found).exists():
        raise KafkaUnavailableError("no Java found: install Java 17 or set JAVA_HOME")
    return found


def fetch_jars(version: str = DEFAULT_VERSION) -> Path:
    """The folder with the jars of this Kafka version, fetched by Maven if they are not in the cache.

    Raises:
        KafkaUnavailableError: Maven is missing or fails; its last words are in the text.
    """
    try:
        return jars(f"kafka-{version}", "kafka", kafka_version=version)
    except JarsUnavailableError as error:
        raise KafkaUnavailableError(str(error)) from error


def shared_classes(version: str, folder: Path) -> list[str]:
    """Options of a JVM that takes Kafka's classes from an archive, beside their folder: a start costs 40 % less CPU.

    The first call makes the archive, with a broker of its own; it belongs to one JVM. None are given where the JVM
    can't make one.
    """
    real = Path(java()).resolve()
    of_jvm = zlib.crc32(f"{real} {real.stat().st_mtime_ns}".encode())
    archive = folder.with_name(f"{folder.name}-{of_jvm:08x}.jsa")
    if not archive.exists():
        partial = archive.with_name(f"{archive.name}.{os.getpid()}")
        with RealKafka(version=version, at_exit=(f"-XX:ArchiveClassesAtExit={partial}",)) as kafka:
            kafka.terminate_node(1)
        partial.touch()
        partial.replace(archive)
    return (
        ["-Xlog:disable", "-Xlog:all=error:stderr", f"-XX:SharedArchiveFile={archive}"]
        if archive.stat().st_size
        else []
    )


def free_ports(count: int) -> list[int]:
    """`count` TCP ports that nobody listens on, below the range from which outgoing connections take theirs."""
    ports: list[int] = []
    with contextlib.ExitStack() as held:
        for port in random.sample(range(20_000, 32_000), 2_000):
            if len(ports) == count:
                return ports
            sock = held.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                sock.bind(("127.0.0.1", port))
                ports.append(port)
    raise KafkaUnavailableError(f"no {count} free TCP ports between 20000 and 32000 on 127.0.0.1")


@dataclass(frozen=True, slots=True)
class Kerberos:
    """A broker's place in a realm.

    Attributes:
        config: krb5.conf.
        keytab: file with the broker's key.
        principal: the broker's, `kafka/<host>@<realm>`.
    """

    config: Path
    keytab: Path
    principal: str


@dataclass(frozen=True, slots=True)
class Security:
    """Settings of a broker's extra listeners.

    Attributes:
        users: user name → password, for PLAIN and SCRAM on the SASL listener (empty: no such listener).
        keystore_pem: private key and certificate chain of the TLS listener (None: no such listener).
        truststore_pem: CA of the client certificates, if the TLS listener asks for one.
        kerberos: what the SASL listener needs for GSSAPI, instead of `users`.
    """

    users: Mapping[str, str] = field(default_factory=dict)
    keystore_pem: Path | None = None
    truststore_pem: Path | None = None
    kerberos: Kerberos | None = None

    @property
    def sasl(self) -> bool:
        """Whether there is a SASL listener."""
        return bool(self.users) or self.kerberos is not None


@dataclass(slots=True)
class Node:
    """One JVM of the cluster, combined broker and controller."""

    node_id: int
    folder: Path
    ports: Mapping[str, int]
    process: subprocess.Popen[bytes] | None = None

    @property
    def log_path(self) -> Path:
        return self.folder / "server.log"


class RealKafka:
    """A KRaft cluster of `nodes` JVMs on 127.0.0.1; a context manager.

    Attributes:
        bootstrap_servers: `host:port,…` of the PLAINTEXT listeners.
        proxied_bootstrap_servers: the same for the proxies of the PROXIED listeners (only with `proxy_ports`).
        sasl_bootstrap_servers: the same for the SASL_PLAINTEXT listeners (only with `security.users`).
        tls_bootstrap_servers: the same for the TLS listeners (only with `security.keystore_pem`).
    """

    def __init__(
        self,
        *,
        version: str = DEFAULT_VERSION,
        nodes: int = 1,
        port: int | None = None,
        heap: str = "512m",
        security: Security | None = None,
        extra: Mapping[str, str] | None = None,
        fast_boot: bool = False,
        proxy_ports: Sequence[int] = (),
        classes: Path | None = None,
        at_exit: Sequence[str] = (),
    ) -> None:
        """See the attributes; further:

        Args:
            fast_boot: brokers that live for seconds: cheap to start, slower later.
            classes: a folder of classes beside the jars, for plug-ins.
            at_exit: options of the brokers' JVMs (not of Kafka's tools) for what they do when they are terminated.
            proxy_ports: a port per node on which a proxy will listen. Each node gets one more plaintext listener,
                PROXIED, that advertises the proxy's port: who starts at the proxies stays behind them.
                `nodes[n].ports["PROXIED"]` is where the proxy must connect to.
        """
        self.version = version
        self._heap = heap
        self._quick = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"] if fast_boot or at_exit else []
        self._at_exit = list(at_exit)
        self._security = security or Security()
        self._extra = dict(extra or {})
        self._jars = fetch_jars(version)
        self._quick += shared_classes(version, self._jars) if fast_boot else []
        self._classes = [] if classes is None else [str(classes)]
        self._java = java()
        self._home = Path(tempfile.mkdtemp(prefix="kserdes-kafka-"))
        listeners = ["PLAINTEXT", "CONTROLLER"]
        listeners += ["SASL"] if self._security.sasl else []
        listeners += ["TLS"] if self._security.keystore_pem else []
        listeners += ["PROXIED"] if proxy_ports else []
        ports = iter(free_ports(nodes * len(listeners)))
        self.nodes = {
            node_id: Node(node_id, self._home / str(node_id), {name: next(ports) for name in listeners})
            for node_id in range(1, nodes + 1)
        }
        self._proxy_ports = dict(zip(self.nodes, proxy_ports, strict=True)) if proxy_ports else {}
        if port is not None:
            self.nodes[1].ports = {**self.nodes[1].ports, "PLAINTEXT": port}

    def _servers(self, listener: str) -> str:
        return ",".join(f"127.0.0.1:{node.ports[listener]}" for node in self.nodes.values())

    @property
    def bootstrap_servers(self) -> str:
        return self._servers("PLAINTEXT")

    @property
    def proxied_bootstrap_servers(self) -> str:
        return ",".join(f"127.0.0.1:{port}" for port in self._proxy_ports.values())

    @property
    def sasl_bootstrap_servers(self) -> str:
        return self._servers("SASL")

    @property
    def tls_bootstrap_servers(self) -> str:
        return self._servers("TLS")

    def _properties(self, node: Node) -> dict[str, str]:
        voters = ",".join(f"{n.node_id}@127.0.0.1:{n.ports['CONTROLLER']}" for n in self.nodes.values())
        replicas = str(min(3, len(self.nodes)))
        names = {name: f"{name}://127.0.0.1:{port}" for name, port in node.ports.items()}
        advertised = {name: url for name, url in names.items() if name != "CONTROLLER"}
        if self._proxy_ports:
            advertised["PROXIED"] = f"PROXIED://127.0.0.1:{self._proxy_ports[node.node_id]}"
        kinds = "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,PROXIED:PLAINTEXT,SASL:SASL_PLAINTEXT,TLS:SSL"
        properties = {
            "process.roles": "broker,controller",
            "node.id": str(node.node_id),
            "controller.quorum.voters": voters,
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "PLAINTEXT",
            "listener.security.protocol.map": kinds,
            "listeners": ",".join(names.values()),
            "advertised.listeners": ",".join(advertised.values()),
            "log.dirs": str(node.folder / "data"),
            "num.partitions": "1",
            "offsets.topic.replication.factor": replicas,
            "offsets.topic.num.partitions": "4",
            "transaction.state.log.replication.factor": replicas,
            "transaction.state.log.min.isr": "1",
            "transaction.state.log.num.partitions": "4",
            "share.coordinator.state.topic.replication.factor": replicas,
            "share.coordinator.state.topic.min.isr": "1",
            "group.initial.rebalance.delay.ms": "0",
            "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
            "group.min.session.timeout.ms": "1000",
            "group.consumer.min.session.timeout.ms": "1000",
            "group.consumer.min.heartbeat.interval.ms": "100",
            "group.consumer.heartbeat.interval.ms": "200",
            "group.consumer.assignment.interval.ms": "0",
            "log.message.timestamp.after.max.ms": str(2**62),
            # Records of tests may be of 1970: the first pass of retention, 30 s after the start, would take them away.
            "log.retention.ms": "-1",
        }
        if not self.version.startswith("3."):
            properties.update(SHARE_PROPERTIES)
        properties.update(self._security_properties())
        properties.update(self._extra)
        return properties

    def _security_properties(self) -> dict[str, str]:
        properties: dict[str, str] = {}
        if self._security.users:
            prefix = "org.apache.kafka.common.security"
            users = " ".join(f'user_{name}="{password}"' for name, password in self._security.users.items())
            properties["sasl.enabled.mechanisms"] = "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER"
            module = f"{prefix}.plain.PlainLoginModule"
            properties["listener.name.sasl.plain.sasl.jaas.config"] = f"{module} required {users};"
            for mechanism in ("scram-sha-256", "scram-sha-512"):
                name = f"listener.name.sasl.{mechanism}.sasl.jaas.config"
                properties[name] = f"{prefix}.scram.ScramLoginModule required;"
            bearer = "listener.name.sasl.oauthbearer.sasl"
            properties[f"{bearer}.jaas.config"] = f"{prefix}.oauthbearer.OAuthBearerLoginModule required;"
            package = f"{prefix}.oauthbearer.internals.unsecured"
            properties[f"{bearer}.server.callback.handler.class"] = (
                f"{package}.OAuthBearerUnsecuredValidatorCallbackHandler"
            )
        if self._security.kerberos:
            own = self._security.kerberos
            properties["sasl.enabled.mechanisms"] = "GSSAPI"
            properties["listener.name.sasl.sasl.kerberos.service.name"] = own.principal.partition("/")[0]
            properties["listener.name.sasl.gssapi.sasl.jaas.config"] = (
                "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true "
                f'keyTab="{own.keytab}" principal="{own.principal}";'
            )
        if self._security.keystore_pem:
            properties["ssl.keystore.type"] = "PEM"
            properties["ssl.keystore.location"] = str(self._security.keystore_pem)
        if self._security.truststore_pem:
            properties["ssl.truststore.type"] = "PEM"
            properties["ssl.truststore.location"] = str(self._security.truststore_pem)
            properties["listener.name.tls.ssl.client.auth"] = "required"
        return properties

    def _command(self, *words: str) -> list[str]:
        logging = ["-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dorg.slf4j.simpleLogger.showDateTime=true"]
        kerberos = self._security.kerberos
        realm = [f"-Djava.security.krb5.conf={kerberos.config}"] if kerberos else []
        return [
            self._java,
            f"-Xmx{self._heap}",
            *self._quick,
            *(self._at_exit if words[0] == "kafka.Kafka" else ()),
            *logging,
            *realm,
            "-cp",
            ":".join([f"{self._jars}/*", *self._classes]),
            *words,
        ]

    def _format(self, node: Node) -> None:
        node.folder.mkdir(parents=True)
        config = node.folder / "server.properties"
        config.write_text("".join(f"{k}={v}\n" for k, v in self._properties(node).items()))
        words = ["kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(config)]
        for name, password in self._security.users.items():
            for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
                words += ["--add-scram", f"{mechanism}=[name={name},password={password}]"]
        done = subprocess.run(self._command(*words), capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        if done.returncode != 0:
            raise KafkaUnavailableError(f"formatting the storage failed: {(done.stdout + done.stderr)[-800:]}")

    def start(self, timeout_s: float = PATIENCE_S) -> RealKafka:
        """Formats the storage and starts every node; returns when all accept connections.

        Raises:
            KafkaUnavailableError: a node did not come up; the end of its log is in the text.
        """
        for node in self.nodes.values():
            self._format(node)
        for node_id in self.nodes:
            self.start_node(node_id, wait=False)
        for node_id in self.nodes:
            self.wait_for_node(node_id, timeout_s)
        return self

    def start_node(self, node_id: int, *, wait: bool = True) -> None:
        """Starts (again) the JVM of one node, on the storage it has."""
        node = self.nodes[node_id]
        with node.log_path.open("ab") as log:
            command = self._command("kafka.Kafka", str(node.folder / "server.properties"))
            node.process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        if wait:
            self.wait_for_node(node_id)

    def wait_for_node(self, node_id: int, timeout_s: float = PATIENCE_S) -> None:
        """Returns when the node's PLAINTEXT listener accepts connections."""
        node = self.nodes[node_id]
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline and node.process is not None and node.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", node.ports["PLAINTEXT"]), timeout=1).close()
            except OSError:
                time.sleep(0.1)
            else:
                return
        tail = node.log_path.read_text(errors="replace")[-1500:]
        raise KafkaUnavailableError(f"Kafka {self.version} node {node_id} did not come up: {tail}")

    def kill_node(self, node_id: int) -> None:
        """`kill -9`: no clean shutdown, no leadership hand-over."""
        process = self.nodes[node_id].process
        if process is not None:
            process.kill()
            process.wait()

    def terminate_node(self, node_id: int, timeout_s: float = PATIENCE_S) -> None:
        """Shuts a node down in order: it hands its leaderships over first."""
        process = self.nodes[node_id].process
        if process is not None:
            process.terminate()
            process.wait(timeout_s)

    def suspend_node(self, node_id: int) -> None:
        """Stops a node in its tracks (SIGSTOP): its connections stay open, and nothing is answered."""
        self._signal(node_id, signal.SIGSTOP)

    def continue_node(self, node_id: int) -> None:
        """Lets a suspended node go on."""
        self._signal(node_id, signal.SIGCONT)

    def _signal(self, node_id: int, number: signal.Signals) -> None:
        process = self.nodes[node_id].process
        if process is not None:
            process.send_signal(number)

    def run_tool(self, *words: str, timeout_s: float = PATIENCE_S) -> str:
        """Runs a class of Kafka's own tools (`kafka-tools`) and returns what it says.

        Raises:
            KafkaUnavailableError: it failed; its last words are in the text.
        """
        done = subprocess.run(self._command(*words), capture_output=True, text=True, timeout=timeout_s, check=False)
        if done.returncode != 0:
            raise KafkaUnavailableError(f"{words[0]} failed: {(done.stdout + done.stderr)[-800:]}")
        return done.stdout

    def stop(self) -> None:
        """Stops all nodes and removes their data."""
        for node in self.nodes.values():
            if node.process is not None:
                node.process.kill()  # the data is thrown away: nothing to shut down cleanly
        for node in self.nodes.values():
            if node.process is not None:
                node.process.wait()
        shutil.rmtree(self._home, ignore_errors=True)

    def __enter__(self) -> RealKafka:
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(self, *_: object) -> None:
        self.stop()


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """Turns SIGTERM into KeyboardInterrupt, so that `with` blocks run their ends."""
    previous = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="a real Apache Kafka for trying things out")
    parser.add_argument("command", choices=["fetch", "run"])
    parser.add_argument("--kafka-version", default=DEFAULT_VERSION)
    parser.add_argument("--port", type=int, default=19092)
    parser.add_argument("--nodes", type=int, default=1)
    args = parser.parse_args(argv)
    try:
        if args.command == "fetch":
            print(fetch_jars(args.kafka_version))
            return 0
        with _terminable(), RealKafka(version=args.kafka_version, nodes=args.nodes, port=args.port) as kafka:
            print(kafka.bootstrap_servers, flush=True)
            with contextlib.suppress(KeyboardInterrupt):
                signal.pause()
    except KafkaUnavailableError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
