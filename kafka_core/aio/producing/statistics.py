"""The statistics of a producer as librdkafka's JSON (the fields that make sense here).

Must not know how any of it is done: it reads the batcher, the accumulator's counters and the producer's own.
Spec: librdkafka's STATISTICS.md for names and units (times in microseconds, sizes in bytes).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from kafka_core.aio.cluster.client import ClusterClient
from kafka_core.aio.cluster.statistics import brokers
from kafka_core.aio.cluster.traffic import Traffic
from kafka_core.aio.producing.counters import PartitionCounters, ProducerCounters
from kafka_core.clock import Clock
from kafka_core.engine.metadata import ClusterView
from kafka_core.engine.producing.batcher import Batcher
from kafka_core.engine.producing.lane import Lane
from kafka_core.engine.producing.sequences import IdentityPhase
from kafka_core.engine.producing.transactions import TransactionState

IDENTITY_STATES: Final[Mapping[IdentityPhase, str]] = {
    IdentityPhase.MISSING: "Init",
    IdentityPhase.REQUESTED: "WaitPID",
    IdentityPhase.KNOWN: "Assigned",
    IdentityPhase.FAILED: "FatalError",
}
"""librdkafka's words (`idemp_state`)."""


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


def statistics_json(
    facts: StatsFacts, counters: ProducerCounters, traffic: Traffic, batcher: Batcher, client: ClusterClient
) -> str:
    """The statistics as JSON text, as stats_cb gets it."""
    now_s = facts.clock.monotonic()
    view = client.metadata
    shown = brokers(client, traffic, [(lane.topic, lane.partition) for lane in batcher.lanes()])
    for each in shown.values():
        node_id = each["nodeid"]
        in_flight = [lane.in_flight for lane in batcher.lanes() if lane.flight_node == node_id]
        each["waitresp_msg_cnt"] = sum(item.batch.count for items in in_flight for item in items)
        each |= traffic.produced_to(node_id)
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
        "brokers": shown,
        "topics": _topics(counters, traffic, batcher, view),
        "eos": _identity(batcher),
    }
    return json.dumps(document)


def _topics(counters: ProducerCounters, traffic: Traffic, batcher: Batcher, view: ClusterView) -> dict[str, Any]:
    topics: dict[str, Any] = {}
    for lane in batcher.lanes():
        topic = topics.get(lane.topic)
        if topic is None:
            topic = topics[lane.topic] = {"topic": lane.topic, **traffic.batches(lane.topic), "partitions": {}}
        counted = counters.partition(lane.topic, lane.partition)
        topic["partitions"][str(lane.partition)] = _partition(lane, counted, view)
    return topics


def _partition(lane: Lane, counted: PartitionCounters, view: ClusterView) -> dict[str, Any]:
    sequence, known = lane.sequence, view.partition(lane.topic, lane.partition)
    return {
        "partition": lane.partition,
        "broker": -1 if lane.leader is None else lane.leader,
        "leader": -1 if lane.leader is None else lane.leader,
        "leader_epoch": -1 if known is None else known.leader_epoch,
        "unknown": known is None,
        "msgq_cnt": sum(item.batch.count for item in lane.queue),
        "msgq_bytes": sum(item.batch.size_bytes for item in lane.queue),
        "msgs_inflight": sum(item.batch.count for item in lane.in_flight),
        "next_ack_seq": sequence.expected if sequence is not None else 0,
        "txmsgs": counted.records,
        "txbytes": counted.record_bytes,
        "txerrs": counted.errors,
    }


def _identity(batcher: Batcher) -> dict[str, Any]:
    identity, transactions = batcher.ids.identity, batcher.transactions
    return {
        "idemp_state": IDENTITY_STATES[batcher.ids.phase],
        "txn_state": (TransactionState.INIT if transactions is None else transactions.state).value,
        "txn_may_enq": transactions is not None and transactions.takes_records,
        "epoch_cnt": batcher.ids.granted_count,
        "producer_id": identity.producer_id if identity is not None else -1,
        "producer_epoch": identity.epoch if identity is not None else -1,
    }
