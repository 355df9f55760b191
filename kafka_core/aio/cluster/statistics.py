"""The part of the statistics (stats_cb) that all clients have: brokers.

Must not know producers or consumers: it is told which partitions they have.
Spec: librdkafka's STATISTICS.md for names, words and units.
"""

from __future__ import annotations

from typing import Any, Final

from kafka_core.aio.cluster.client import ClusterClient
from kafka_core.aio.cluster.traffic import Traffic, led_by

UNANSWERED_NOTHING: Final = (0, 0)


def brokers(client: ClusterClient, traffic: Traffic, partitions: list[tuple[str, int]]) -> dict[str, dict[str, Any]]:
    """The known brokers, by `host:port/id`; begins the next windows.

    `state` is librdkafka's word for a broker with a connection, or for one without.

    Args:
        partitions: of the client; each is shown under its leader.
    """
    view, up, unanswered = client.metadata, client.connected_to(), client.unanswered()
    found = {}
    for item in view.brokers.values():
        held, waiting = unanswered.get(item.node_id, UNANSWERED_NOTHING)
        found[str(item)] = {
            "name": str(item),
            "nodeid": item.node_id,
            "nodename": f"{item.host}:{item.port}",
            "source": "learned",
            "state": "UP" if item.node_id in up else "INIT",
            "outbuf_cnt": held,
            "waitresp_cnt": waiting,
            **traffic.broker(item),
            "toppars": led_by(item.node_id, partitions, view),
        }
    return found
