"""The cost of a cached look-up, beside confluent_kafka's client, both against one embedded registry.

`python -m benchmarks.registry_client` prints µs per call as the best of several rounds, and the ratio.
"""

from __future__ import annotations

import sys
import timeit
import warnings
from collections.abc import Callable
from typing import Any

from registry import Schema, SchemaRegistryClient
from registry.dev import serve

CALLS = 100_000
ROUNDS = 5


def cost_us(call: Callable[[], Any]) -> float:
    """The cost of one call."""
    call()
    return min(timeit.repeat(call, number=CALLS, repeat=ROUNDS)) / CALLS * 1e6


def main() -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # authlib warns of httpx when it is imported
        from confluent_kafka.schema_registry import Schema as PeerSchema
        from confluent_kafka.schema_registry import SchemaRegistryClient as PeerClient
    with serve() as server, SchemaRegistryClient({"url": server.url}) as ours:
        theirs = PeerClient({"url": server.url})
        schema_id = ours.register_schema("s", Schema('"string"'))
        peer_schema, schema = PeerSchema('"string"', "AVRO"), Schema('"string"')
        pairs: list[tuple[str, Callable[[], Any], Callable[[], Any]]] = [
            ("get_schema", lambda: ours.get_schema(schema_id), lambda: theirs.get_schema(schema_id)),
            ("get_latest_version", lambda: ours.get_latest_version("s"), lambda: theirs.get_latest_version("s")),
            ("lookup_schema", lambda: ours.lookup_schema("s", schema), lambda: theirs.lookup_schema("s", peer_schema)),
            (
                "register_schema",
                lambda: ours.register_schema("s", schema),
                lambda: theirs.register_schema("s", peer_schema),
            ),
        ]
        print(f"{'cached call':<22}{'kserdes us':>12}{'confluent us':>14}{'ratio':>8}")
        for name, our_call, peer_call in pairs:
            our_us, peer_us = cost_us(our_call), cost_us(peer_call)
            print(f"{name:<22}{our_us:>12.2f}{peer_us:>14.2f}{peer_us / our_us:>7.1f}x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
