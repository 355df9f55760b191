"""`kserdes dev`: an embedded Kafka broker and a schema registry, until Ctrl-C or as long as a command runs.

Must not know how either works; it starts them, says how to reach them, and stops them.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click

from kserdes.cli.shell.commands import ExampleCommand, Failure
from kserdes.cli.shell.serving import advertised, busy, registry_server, wait_for_end
from kserdes_base.waiting import SLICE_S

if TYPE_CHECKING:
    from kafka_core.broker import EmbeddedCluster

KAFKA_PORT = 9092
REGISTRY_PORT = 8081
MAX_PORT = 65535
STOP_S = 10.0
EXAMPLES = """
# broker on 9092, registry on 8081, everything in memory
kserdes dev
# free ports, two topics, schemas kept in a file
kserdes dev --kafka-port 0 --registry-port 0 --topic orders:3 --topic clicks --data registry.db
# for other machines and containers, which know this one as dev.example
kserdes dev --host 0.0.0.0 --advertised-host dev.example
# run the tests of a service against them
kserdes dev --kafka-port 0 --registry-port 0 -- pytest -q
"""
PASTE = """\
Kafka            {bootstrap}
Schema Registry  {url}

Python
    conf = {{"bootstrap.servers": "{bootstrap}"}}
    registry = SchemaRegistryClient({{"url": "{url}"}})

Environment
    export KAFKA_BOOTSTRAP={bootstrap}
    export SCHEMA_REGISTRY_URL={url}
"""


@click.command(cls=ExampleCommand, examples=EXAMPLES)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--advertised-host",
    metavar="NAME",
    help="Name or address given to clients; else --host, or this machine's address if that is 0.0.0.0 or ::.",
)
@click.option(
    "--kafka-port", type=click.IntRange(0, MAX_PORT), default=KAFKA_PORT, show_default=True, help="0: a free one."
)
@click.option(
    "--registry-port", type=click.IntRange(0, MAX_PORT), default=REGISTRY_PORT, show_default=True, help="0: a free one."
)
@click.option("--brokers", type=click.IntRange(1, 9), default=1, show_default=True, help="Virtual brokers.")
@click.option("--topic", "topics", multiple=True, metavar="NAME[:PARTITIONS]", help="Topic to create.")
@click.option(
    "--data", type=click.Path(path_type=Path, dir_okay=False), help="SQLite file for the registry; else in memory."
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
@click.pass_context
def dev(
    ctx: click.Context,
    host: str,
    advertised_host: str | None,
    kafka_port: int,
    registry_port: int,
    brokers: int,
    topics: tuple[str, ...],
    data: Path | None,
    command: tuple[str, ...],
) -> None:
    """Run an embedded Kafka broker and schema registry.

    Topics are in memory and gone afterwards; they are also made when a client asks for them. With a command after --,
    it runs with KAFKA_BOOTSTRAP and SCHEMA_REGISTRY_URL set, and its exit status is the result. Ctrl-C stops all.
    """
    wanted = [_topic(text) for text in topics]
    with (
        _cluster(host, advertised_host, kafka_port, brokers) as cluster,
        registry_server(host, registry_port, data) as server,
    ):
        url = advertised(server.url, host, cluster.advertised_host)
        for name, partitions in wanted:
            _create(cluster, name, partitions)
        if command:
            ctx.exit(_run(command, cluster.bootstrap_servers, url))
        click.echo(PASTE.format(bootstrap=cluster.bootstrap_servers, url=url))
        wait_for_end("Ctrl-C stops both.")
        click.echo("stopped")


def _topic(text: str) -> tuple[str, int]:
    name, colon, number = text.rpartition(":")
    if not colon:
        return text, 1
    if not name or not number.isdecimal() or int(number) < 1:
        raise click.BadParameter(f"{text!r} is not NAME:PARTITIONS", param_hint="--topic")
    return name, int(number)


@contextlib.contextmanager
def _cluster(host: str, advertised_host: str | None, port: int, brokers: int) -> Iterator[EmbeddedCluster]:
    from kafka_core.broker import EmbeddedCluster

    ports = [port + number for number in range(brokers)] if port else []
    if ports and ports[-1] > MAX_PORT:
        raise click.BadParameter(f"{brokers} brokers need ports {port} to {ports[-1]}", param_hint="--kafka-port")
    cluster = EmbeddedCluster(brokers, host=host, advertised_host=advertised_host, ports=ports)
    try:
        cluster.start()
    except OSError as error:
        raise busy("the broker", "--kafka-port", host, port, error) from error
    try:
        yield cluster
    finally:
        cluster.close()


def _create(cluster: EmbeddedCluster, name: str, partitions: int) -> None:
    from kafka_core.broker import Refused

    try:
        cluster.create_topic(name, partitions)
    except Refused as error:
        raise Failure(f"topic {name!r} can't be created: {error}") from error


def _run(command: tuple[str, ...], bootstrap: str, url: str) -> int:
    """The command's exit status; while it runs, Ctrl-C is its own to handle, and SIGTERM goes on to it."""
    environment = {**os.environ, "KAFKA_BOOTSTRAP": bootstrap, "SCHEMA_REGISTRY_URL": url}
    child: subprocess.Popen[bytes] | None = None
    asked = False

    def end(*_: object) -> None:
        nonlocal asked
        asked = True
        if child is not None:
            child.terminate()

    with _sigterm(end):  # from before it runs: nothing may leave it behind
        try:
            child = subprocess.Popen(command, env=environment)
        except OSError as error:
            raise Failure(f"{command[0]} can't be run: {error.strerror}") from error
        if asked:
            child.terminate()
        while True:
            try:
                status = child.wait(SLICE_S)
            except (KeyboardInterrupt, subprocess.TimeoutExpired):
                continue  # Ctrl-C: the terminal sent it to the command too, which decides
            return status if status >= 0 else 128 - status


@contextlib.contextmanager
def _sigterm(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Handles SIGTERM (of a container, a service manager) while servers run."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
