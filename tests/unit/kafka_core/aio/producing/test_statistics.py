"""Statistics of a producer: times of batches, the producer id and the transaction."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from kafka_core import Producer
from kafka_core.aio.producing.statistics import IDENTITY_STATES
from kafka_core.broker import EmbeddedCluster
from kafka_core.engine.producing.sequences import IdentityPhase

LINGER_MS: Final = 20


@pytest.fixture
def servers() -> Iterator[str]:
    with EmbeddedCluster() as cluster:
        cluster.create_topic("records")
        yield cluster.bootstrap_servers


def shown(producer: Producer) -> dict[str, Any]:
    """The statistics of now."""
    text = producer._core.statistics()
    told: dict[str, Any] = json.loads(text)
    return told


def unheard(text: str) -> None:
    """A stats_cb: there are statistics only with one."""


def test_every_state_of_a_producer_id_has_a_word() -> None:
    assert set(IDENTITY_STATES) == set(IdentityPhase)


def test_times_of_batches_and_requests(servers: str) -> None:
    conf = {"bootstrap.servers": servers, "linger.ms": LINGER_MS, "stats_cb": unheard}
    producer = Producer(conf)
    reports: list[object] = []
    for _ in range(3):
        producer.produce("records", b"x", partition=0, on_delivery=lambda *report: reports.append(report))
    while len(reports) < 3:
        producer.poll(1.0)
    (broker,) = shown(producer)["brokers"].values()
    assert broker["int_latency"]["cnt"] == 1  # one batch
    assert broker["int_latency"]["min"] >= LINGER_MS * 1000
    assert broker["outbuf_latency"]["cnt"] == 1
    assert broker["outbuf_latency"]["max"] > 0
    (again,) = shown(producer)["brokers"].values()
    assert (again["int_latency"]["cnt"], again["outbuf_latency"]["cnt"]) == (0, 0)  # the next windows
    producer.close()


def test_nothing_is_timed_without_a_listener(servers: str) -> None:
    producer = Producer({"bootstrap.servers": servers})
    producer.produce("records", b"x", partition=0)
    producer.flush()
    (broker,) = shown(producer)["brokers"].values()
    assert (broker["int_latency"]["cnt"], broker["outbuf_latency"]["cnt"]) == (0, 0)
    producer.close()


def test_a_record_sent_by_produce_itself_counts_as_written_at_once(servers: str) -> None:
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 0, "stats_cb": unheard})
    for _ in range(5):
        producer.produce("records", b"x", partition=0)
        producer.flush()
    (broker,) = shown(producer)["brokers"].values()
    assert broker["int_latency"]["cnt"] == broker["outbuf_latency"]["cnt"] == 5
    producer.close()


def test_words_of_ids_and_transactions(servers: str) -> None:
    producer = Producer({"bootstrap.servers": servers, "transactional.id": "t"})
    assert shown(producer)["eos"] == {
        "idemp_state": "Init",
        "txn_state": "Init",
        "txn_may_enq": False,
        "epoch_cnt": 0,
        "producer_id": -1,
        "producer_epoch": -1,
    }
    producer.init_transactions()
    producer.begin_transaction()
    told = shown(producer)["eos"]
    assert (told["idemp_state"], told["txn_state"], told["txn_may_enq"]) == ("Assigned", "InTransaction", True)
    assert (told["epoch_cnt"], told["producer_id"] >= 0) == (1, True)
    producer.abort_transaction()
    assert shown(producer)["eos"]["txn_may_enq"] is False
    producer.close()
