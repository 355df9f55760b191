"""Lists of hosts, and the old connection, which does not exist any more."""

from __future__ import annotations

import random
from collections.abc import Sequence

from kserdes.compat.simple.common import ProtocolError

DEFAULT_SOCKET_TIMEOUT_SECONDS = 120
DEFAULT_KAFKA_PORT = 9092


def collect_hosts(hosts: str | Sequence[str], randomize: bool = True) -> list[tuple[str, int]]:
    """(host, port) of each address in `host[:port],…` or a list of them, in random order if asked for."""
    addresses = hosts.split(",") if isinstance(hosts, str) else hosts
    found = []
    for address in addresses:
        host, _, port = address.strip().rpartition(":")
        found.append((host or port, int(port) if host else DEFAULT_KAFKA_PORT))
    if randomize:
        random.shuffle(found)
    return found


class KafkaConnection:
    """A socket for requests as bytes, which nobody could use: see `protocol.KafkaProtocol`."""

    def __init__(self, host: str, port: int, timeout: float | None = DEFAULT_SOCKET_TIMEOUT_SECONDS) -> None:
        raise ProtocolError(
            f"a connection for requests of version 0 to {host}:{port} would not be understood by brokers from Kafka "
            "4.0 on; use KafkaClient"
        )
