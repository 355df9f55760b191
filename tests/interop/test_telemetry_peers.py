"""confluent-kafka pushes its metrics to the embedded cluster, which takes and reads them."""

from __future__ import annotations

import confluent_kafka as ck
import pytest

from kafka_core.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType
from kafka_core.broker import EmbeddedCluster, PushedTelemetry
from tests.interop.peers import LIMIT_S, wait_until

pytestmark = pytest.mark.interop

PREFIX = "org.apache.kafka."


def test_confluent_kafka_pushes_to_the_embedded_cluster() -> None:
    with EmbeddedCluster(properties={"metric.reporters": "any"}) as cluster:
        conf = {"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0}
        wanted = {"metrics": "*", "interval.ms": "100", "match": "client_software_version=.*rdkafka.*"}
        entries = [
            ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET) for key, value in wanted.items()
        ]
        resource = ConfigResource(ResourceType.CLIENT_METRICS, "librdkafka", incremental_configs=entries)
        with AdminClient({"bootstrap.servers": cluster.bootstrap_servers}) as admin:
            admin.incremental_alter_configs([resource])[resource].result(LIMIT_S)
        writer = ck.Producer({**conf, "client.id": "writer"})
        reader = ck.Consumer({**conf, "client.id": "reader", "group.id": "g", "auto.offset.reset": "earliest"})
        reader.subscribe(["t"])
        pushed: list[PushedTelemetry] = []

        def names(client_id: str) -> set[str]:
            pushed.extend(cluster.telemetry())
            return {metric.name for push in pushed if push.client_id == client_id for metric in push.metrics}

        def told() -> bool:
            writer.produce("t", b"value")
            writer.flush(LIMIT_S)
            reader.poll(0.05)
            return f"{PREFIX}producer.node.request.latency.avg" in names(
                "writer"
            ) and f"{PREFIX}consumer.coordinator.assigned.partitions" in names("reader")

        wait_until(told, "both have pushed")
        reader.close()
    assert {push.resource.get("group_id") for push in pushed if push.client_id == "reader"} == {"g"}
    assert {metric.kind for push in pushed for metric in push.metrics} == {"gauge", "delta"}
