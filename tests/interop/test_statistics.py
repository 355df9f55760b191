"""Members of the JSON that stats_cb is given: each of librdkafka's is here, or `NOT_HERE` says why not."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, Final

import pytest

import kafka_core
from kafka_core.broker import EmbeddedCluster

pytestmark = pytest.mark.interop
confluent = pytest.importorskip("confluent_kafka")

LIMIT_S: Final = 60.0
TOPIC: Final = "statistics"
KEYED: Final = re.compile(r"^/(brokers|topics|topics/\*/partitions|brokers/\*/(toppars|req))$")
INSIDE: Final = "how librdkafka works inside"
COMMON: Final = {
    r"^/brokers/\*/(wakeups|zbuf_grow|buf_grow)": INSIDE,
    r"^/brokers/\*/outbuf_msg_cnt": "batches wait in their partitions' queues: msgq_cnt",
    r"^/brokers/\*/txretries": "retries are of batches, not of requests",
    r"/hdrsize$": "the memory of a histogram in C",
    r"^/brokers/\*/(rxerrs|rxcorriderrs|rxpartial)": "such an answer ends its connection: disconnects",
    r"^/topics/\*/(age|metadata_age)": INSIDE,
    r"/partitions/\*/(xmit_msgq|rx_ver_drops|next_err_seq|acked_msgid|query_offset)": INSIDE,
    r"^/simple_cnt": INSIDE,
}
NOT_HERE: Final = {
    "producer": {
        **COMMON,
        r"/partitions/\*/(fetch|app_|next_offset|stored_|commit|eof_|lo_|hi_|ls_|consumer_lag)": "of a consumer",
        r"/partitions/\*/(desired|rxmsgs|rxbytes|msgs$)|^/rxmsg": "of a consumer",
        r"/partitions/\*/committed_leader_epoch": "of a consumer",
        r"^/replyq": "reports are not counted until they are served",
        r"^/eos/.*age$": "states of producer ids and transactions are noted without times",
    },
    "consumer": {
        **COMMON,
        r"^/brokers/\*/waitresp_msg_cnt": "of a producer",
        r"^/brokers/\*/int_latency": "of a producer: zeros in librdkafka",
        r"^/brokers/\*/outbuf_latency": "a request is written by the call that makes it: there is no queue to measure",
        r"/partitions/\*/(txmsgs|txbytes|msgs_inflight|next_ack_seq|msgq_)": "of a producer",
        r"^/(msg_|txmsg)|^/topics/\*/batch": "of a producer",
    },
}
"""Members, as regular expressions of their paths: why they are missing."""
PARTITION: Final = "/topics/*/partitions/*"
WANTED: Final = {
    "producer": {
        *("/msg_cnt", "/tx", "/txmsgs", "/brokers/*/state", f"{PARTITION}/msgq_cnt", "/topics/*/batchsize/avg"),
        *("/brokers/*/rtt/avg", "/brokers/*/rtt/p99", "/brokers/*/req/*", "/brokers/*/toppars/*/topic"),
        *("/brokers/*/int_latency/p99", "/brokers/*/outbuf_latency/avg", "/brokers/*/waitresp_cnt"),
        *("/eos/idemp_state", "/eos/producer_id", "/eos/epoch_cnt", "/eos/txn_state"),
    },
    "consumer": {
        *("/brokers/*/state", "/cgrp/state", "/cgrp/rebalance_cnt", "/cgrp/assignment_size"),
        *("/cgrp/join_state", "/cgrp/stateage", "/cgrp/rebalance_age", "/cgrp/rebalance_reason"),
        *("/tx", "/rx_bytes", "/rxmsgs", "/brokers/*/req/*", "/brokers/*/rtt/p99", f"{PARTITION}/rxmsgs"),
        *(f"{PARTITION}/{name}" for name in ("consumer_lag", "consumer_lag_stored", "committed_offset")),
        *(f"{PARTITION}/{name}" for name in ("hi_offset", "ls_offset", "fetchq_cnt", "broker", "leader_epoch")),
    },
}
"""Values that dashboards show, and which must be there."""


@pytest.fixture(scope="module")
def servers() -> Iterator[str]:
    with EmbeddedCluster() as cluster:
        cluster.create_topic(TOPIC)
        yield cluster.bootstrap_servers


def members(value: Any, path: str = "") -> dict[str, str]:
    """Path to kind of value, whatever brokers, topics and partitions are called."""
    if not isinstance(value, dict):
        return {path: type(value).__name__}
    found = {}
    for name, each in value.items():
        found.update(members(each, f"{path}/{'*' if KEYED.match(path) else name}"))
    return found


def told(core: ModuleType, role: str, servers: str) -> dict[str, str]:
    """The members of the statistics of a client that has worked."""
    heard: list[dict[str, Any]] = []
    conf: dict[str, Any] = {
        "bootstrap.servers": servers,
        "statistics.interval.ms": 100,
        "stats_cb": lambda text: heard.append(json.loads(text)),
    }
    if role == "producer":
        client = core.Producer({**conf, "enable.idempotence": True})
        client.produce(TOPIC, b"x", partition=0)
        client.flush()
    else:
        client = core.Consumer({**conf, "group.id": core.__name__, "auto.offset.reset": "earliest"})
        client.subscribe([TOPIC])
    deadline_s = time.monotonic() + LIMIT_S
    while not heard or not WANTED[role] <= set(members(heard[-1])):
        assert time.monotonic() < deadline_s, WANTED[role] - set(members(heard[-1] if heard else {}))
        client.poll(0.1)
    found = members(heard[-1])  # closing may tell once more, when members of a group are gone
    client.close()
    return found


@pytest.mark.parametrize("role", ["producer", "consumer"])
def test_members_are_those_of_librdkafka(role: str, servers: str) -> None:
    theirs, ours = told(confluent, role, servers), told(kafka_core, role, servers)
    missing = [
        path for path in theirs if path not in ours and not any(re.search(each, path) for each in NOT_HERE[role])
    ]
    assert missing == []
    assert {path: (ours[path], kind) for path, kind in theirs.items() if path in ours and ours[path] != kind} == {}


@pytest.mark.parametrize("core", [confluent, kafka_core], ids=["theirs", "ours"])
def test_records_and_requests_are_counted(core: ModuleType, servers: str) -> None:
    topic, heard = f"counted-{core.__name__}", list[dict[str, Any]]()
    conf = {
        "bootstrap.servers": servers,
        "statistics.interval.ms": 100,
        "stats_cb": lambda text: heard.append(json.loads(text)),
    }

    def until(client: Any, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        deadline_s = time.monotonic() + LIMIT_S
        while not heard or not wanted(heard[-1]):
            assert time.monotonic() < deadline_s, heard[-1:]
            client.poll(0.1)
        return heard[-1]

    def waiting(told: dict[str, Any]) -> int:
        counters = ("waitresp_cnt", "waitresp_msg_cnt", "outbuf_cnt")
        return sum(each[name] for each in told["brokers"].values() for name in counters)

    writer = core.Producer(conf)
    for _ in range(40):
        writer.produce(topic, b"x" * 100, partition=0)
    writer.flush()
    # One that was made between the request and its answer has all records, too.
    told = until(writer, lambda told: told["txmsgs"] == 40 and waiting(told) == 0)
    (broker,) = (each for each in told["brokers"].values() if each["req"].get("Produce"))
    assert broker["tx"] >= broker["rx"] >= broker["req"]["Produce"] >= 1
    assert broker["txbytes"] > 40 * 100
    assert broker["rxbytes"] > 0
    assert list(broker["toppars"].values()) == [{"topic": topic, "partition": 0}]
    for window in ("int_latency", "outbuf_latency"):
        assert sum(each[window]["cnt"] for text in heard for each in text["brokers"].values()) >= 1
    heard.clear()
    reader = core.Consumer({**conf, "group.id": topic, "auto.offset.reset": "earliest"})
    reader.assign([core.TopicPartition(topic, 0)])
    told = until(reader, lambda told: bool(told["rxmsgs"] == 40))
    assert told["rxmsg_bytes"] >= 40 * 100
    assert told["topics"][topic]["partitions"]["0"]["rxmsgs"] == 40
    assert told["rx_bytes"] > 40 * 100
    reader.close()
    if core is kafka_core:
        writer.close()


@pytest.mark.parametrize("core", [confluent, kafka_core], ids=["theirs", "ours"])
def test_words_of_a_member_that_reads_and_commits(core: ModuleType, servers: str) -> None:
    topic, heard = f"member-{core.__name__}", list[dict[str, Any]]()
    writer = core.Producer({"bootstrap.servers": servers})
    for _ in range(3):
        writer.produce(topic, b"x", partition=0)
    writer.flush()
    reader = core.Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": topic,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "statistics.interval.ms": 100,
            "stats_cb": lambda text: heard.append(json.loads(text)),
        }
    )
    reader.subscribe([topic])
    deadline_s = time.monotonic() + LIMIT_S
    for _ in range(3):
        while reader.poll(0.1) is None:
            assert time.monotonic() < deadline_s
    reader.commit(asynchronous=False)
    heard.clear()
    # The first one may have been made before the commit's answer, and only waited for a poll.
    while not heard or heard[-1]["topics"][topic]["partitions"]["0"]["committed_offset"] != 3:
        assert time.monotonic() < deadline_s, heard[-1:]
        reader.poll(0.1)
    group, partition = heard[-1]["cgrp"], heard[-1]["topics"][topic]["partitions"]["0"]
    assert (group["state"], group["join_state"]) == ("up", "steady")
    assert group["rebalance_cnt"] >= 1
    assert core is confluent or group["rebalance_reason"]  # librdkafka's is empty if it knew the topic before it joined
    assert 0 <= group["rebalance_age"] <= group["stateage"] <= LIMIT_S * 1000  # ms: the coordinator came first
    assert partition["fetch_state"] == "active"
    assert partition["committed_leader_epoch"] == partition["leader_epoch"] == 0
    assert heard[-1]["name"].startswith(f"{heard[-1]['client_id']}#consumer-")
    reader.close()
