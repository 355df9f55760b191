"""Counters of a producer, and the statistics as librdkafka's JSON (the fields that make sense here).

Must not know how any of it is done: it reads the batcher, the accumulator's counters and its own.
Spec: librdkafka's STATISTICS.md for names and units (times in microseconds, sizes in bytes).
"""

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from kafka_core.aio.cluster.traffic import Traffic, led_by
from kafka_core.clock import Clock
from kafka_core.engine.metadata import BrokerAddress, ClusterView
from kafka_core.engine.producing.batcher import Batcher
from kafka_core.engine.producing.lane import Lane


@dataclass(slots=True)
class PartitionCounters:
    """Records and bytes (before compression) of one partition that were delivered, and that failed."""

    records: int = 0
    record_bytes: int = 0
    errors: int = 0


@dataclass(slots=True)
class ProducerCounters:
    """All counters of a producer beside its `Traffic`; they only grow."""

    partitions: dict[tuple[str, int], PartitionCounters] = field(default_factory=dict)

    def partition(self, topic: str, partition: int) -> PartitionCounters:
        """The counters of a partition."""
        found = self.partitions.get((topic, partition))
        if found is None:
            found = self.partitions[topic, partition] = PartitionCounters()
        return found


@dataclass(frozen=True, slots=True)
class StatsFacts:
    """Facts for statistics beside the counters."""

    name: str
    client_id: str
    clock: Clock
    started_at_s: float
    queued_records: int
    queued_bytes: int
    max_queue_records: int
    max_queue_bytes: int
    connected_to: Collection[int] = ()


def statistics_json(
    facts: StatsFacts, counters: ProducerCounters, traffic: Traffic, batcher: Batcher, view: ClusterView
) -> str:
    """The statistics as JSON text, as stats_cb gets it."""
    now_s = facts.clock.monotonic()
    lanes = [(lane.topic, lane.partition) for lane in batcher.lanes()]
    brokers = {
        str(item): _broker(item, batcher, facts.connected_to)
        | traffic.broker(item)
        | {"toppars": led_by(item.node_id, lanes, view)}
        for item in view.brokers.values()
    }
    partitions = counters.partitions.values()
    document: dict[str, Any] = {
        "name": facts.name,
        "client_id": facts.client_id,
        "type": "producer",
        "ts": round(now_s * 1e6),
        "time": facts.clock.time_ms() // 1000,
        "age": round((now_s - facts.started_at_s) * 1e6),
        "msg_cnt": facts.queued_records,
        "msg_size": facts.queued_bytes,
        "msg_max": facts.max_queue_records,
        "msg_size_max": facts.max_queue_bytes,
        **traffic.totals(),
        "txmsgs": sum(item.records for item in partitions),
        "txmsg_bytes": sum(item.record_bytes for item in partitions),
        "metadata_cache_cnt": len(view.topics),
        "brokers": brokers,
        "topics": _topics(counters, traffic, batcher),
        "eos": _identity(batcher),
    }
    return json.dumps(document)


def _broker(broker: BrokerAddress, batcher: Batcher, connected_to: Collection[int]) -> dict[str, Any]:
    return {
        "name": str(broker),
        "nodeid": broker.node_id,
        "nodename": f"{broker.host}:{broker.port}",
        "state": "UP" if broker.node_id in connected_to else "INIT",
        "waitresp_cnt": batcher.requests_in_flight(broker.node_id),
    }


def _topics(counters: ProducerCounters, traffic: Traffic, batcher: Batcher) -> dict[str, Any]:
    topics: dict[str, Any] = {}
    for lane in batcher.lanes():
        topic = topics.get(lane.topic)
        if topic is None:
            topic = topics[lane.topic] = {"topic": lane.topic, **traffic.batches(lane.topic), "partitions": {}}
        topic["partitions"][str(lane.partition)] = _partition(lane, counters.partition(lane.topic, lane.partition))
    return topics


def _partition(lane: Lane, counted: PartitionCounters) -> dict[str, Any]:
    sequence = lane.sequence
    return {
        "partition": lane.partition,
        "broker": -1 if lane.leader is None else lane.leader,
        "leader": -1 if lane.leader is None else lane.leader,
        "msgq_cnt": sum(item.batch.count for item in lane.queue),
        "msgq_bytes": sum(item.batch.size_bytes for item in lane.queue),
        "msgs_inflight": sum(item.batch.count for item in lane.in_flight),
        "next_ack_seq": sequence.expected if sequence is not None else 0,
        "txmsgs": counted.records,
        "txbytes": counted.record_bytes,
        "txerrs": counted.errors,
    }


def _identity(batcher: Batcher) -> dict[str, Any]:
    identity = batcher.ids.identity
    return {
        "idemp_state": batcher.ids.phase.value if batcher.rules.idempotent else "off",
        "producer_id": identity.producer_id if identity is not None else -1,
        "producer_epoch": identity.epoch if identity is not None else -1,
    }
