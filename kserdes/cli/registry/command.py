"""`kserdes registry serve`: the embedded registry as a server of its own, without a broker.

Must not know how it works; it starts it, says how to reach it, and stops it.
"""

from __future__ import annotations

import ipaddress
from pathlib import Path

import click

from kserdes.cli.shell.commands import ExampleCommand, Failure
from kserdes.cli.shell.serving import advertised, registry_server, wait_for_end

PORT = 8081
MAX_PORT = 65535
EXAMPLES = """
# for this machine, everything in memory
kserdes registry serve
# for others: schemas kept in a file, users with passwords, TLS
kserdes registry serve --host 0.0.0.0 --data registry.db --users users.txt --certificate chain.pem --key key.pem
"""
FILE = click.Path(path_type=Path, dir_okay=False, exists=True)


@click.command(cls=ExampleCommand, examples=EXAMPLES)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--advertised-host",
    metavar="NAME",
    help="Name or address that is shown; else --host, or this machine's address if that is 0.0.0.0 or ::.",
)
@click.option("--port", type=click.IntRange(0, MAX_PORT), default=PORT, show_default=True, help="0: a free one.")
@click.option("--data", type=click.Path(path_type=Path, dir_okay=False), help="SQLite file; else in memory.")
@click.option("--users", type=FILE, help="File with a line USER:PASSWORD for each user; without it everybody may come.")
@click.option("--certificate", type=FILE, help="Certificate chain (PEM) for TLS; needs --key.")
@click.option("--key", type=FILE, help="Private key (PEM) of the certificate.")
def serve(
    host: str,
    advertised_host: str | None,
    port: int,
    data: Path | None,
    users: Path | None,
    certificate: Path | None,
    key: Path | None,
) -> None:
    """Serve a schema registry until Ctrl-C.

    The whole REST API, for Avro, JSON Schema and Protobuf. A change is in the file before its request is answered.
    """
    if (certificate is None) != (key is None):
        raise click.UsageError("--certificate and --key belong together")
    tls = None if certificate is None or key is None else (certificate, key)
    auth = None if users is None else _users(users)
    if not _local(host) and (auth is None or tls is None):
        missing = " and ".join(name for name, given in (("--users", auth), ("--certificate", tls)) if given is None)
        click.echo(f"Warning: others than this machine can reach the registry, without {missing}.", err=True)
    with registry_server(host, port, data, option="--port", auth=auth, tls=tls) as server:
        click.echo(f"The registry listens on {advertised(server.url, host, advertised_host)}")
        wait_for_end("Ctrl-C stops it.")
        click.echo("stopped")


def _local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _users(path: Path) -> dict[str, str]:
    """User → password.

    Raises:
        Failure: the file can't be read, or a line of it has no user and password; passwords are not repeated.
    """
    found: dict[str, str] = {}
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"{path} can't be read: {error}") from error
    for number, line in enumerate(lines, 1):
        user, _, password = line.strip().partition(":")
        if not line.strip() or line.startswith("#"):
            continue
        if not user or not password:
            raise Failure(f"{path}, line {number}, is not USER:PASSWORD")
        if user in found:
            raise Failure(f"{path}, line {number}: there is a user {user!r} already")
        found[user] = password
    if not found:
        raise Failure(f"{path} names no user: nobody could log in")
    return found
