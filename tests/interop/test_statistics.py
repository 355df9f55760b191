"""Members of the JSON that stats_cb is given: each of librdkafka's is here, or `NOT_HERE` says why not."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Final

import pytest

import kafka_core
from kafka_core.broker import EmbeddedCluster

pytestmark = pytest.mark.interop
confluent = pytest.importorskip("confluent_kafka")

LIMIT_S: Final = 60.0
TOPIC: Final = "statistics"
KEYED: Final = re.compile(r"^/(brokers|topics|topics/\*/partitions|brokers/\*/toppars)$")
INSIDE: Final = "how librdkafka works inside"
COMMON: Final = {
    r"^/brokers/\*/(outbuf_|waitresp_msg|int_latency|req|toppars|wakeups|zbuf_grow|buf_grow|source)": INSIDE,
    r"^/brokers/\*/(stateage|txidle|rxidle|connects|disconnects|req_timeouts|txretries)": "hooks and telemetry tell it",
    r"^/brokers/\*/(rxbytes|rxerrs|rxcorriderrs|rxpartial|throttle)": "bytes and faults of answers are not counted",
    r"^/topics/\*/(age|metadata_age|batchsize|batchcnt)": "no histograms; telemetry has batches",
    r"/partitions/\*/(xmit_msgq|msgs$|rx_ver_drops|next_err_seq|acked_msgid|query_offset)": INSIDE,
    r"^/(rx_bytes|rxmsg|simple_cnt)": "bytes of answers, and records of a consumer, are not counted",
}
NOT_HERE: Final = {
    "producer": {
        **COMMON,
        r"^/brokers/\*/rtt/(stddev|p\d|outofrange|hdrsize)": "minimum, average, maximum, sum and count; no histogram",
        r"/partitions/\*/(fetch|app_|next_offset|stored_|commit|eof_|lo_|hi_|ls_|consumer_lag)": "of a consumer",
        r"/partitions/\*/(leader_epoch|desired|unknown|rxmsgs|rxbytes)": "of a consumer",
        r"^/replyq": "reports are not counted until they are served",
    },
    "consumer": {
        **COMMON,
        r"/partitions/\*/committed_leader_epoch": "is sent with a commit, and not kept",
        r"/partitions/\*/(rxmsgs|rxbytes)": "records are not counted",
        r"/partitions/\*/(txmsgs|txbytes|msgs_inflight|next_ack_seq|msgq_)": "of a producer",
        r"^/(msg_|tx)": "of a producer, or requests, which are not counted",
        r"^/rx$": "answers are not counted",
        r"^/brokers/\*/(tx|rx|rtt|waitresp)": "a consumer's requests are not counted",
        r"^/cgrp/(stateage|rebalance_age|rebalance_reason)": "health() tells ages and problems",
    },
}
"""Members, as regular expressions of their paths: why they are missing."""
PARTITION: Final = "/topics/*/partitions/*"
WANTED: Final = {
    "producer": {"/msg_cnt", "/tx", "/txmsgs", "/brokers/*/state", "/brokers/*/rtt/avg", f"{PARTITION}/msgq_cnt"},
    "consumer": {
        *("/brokers/*/state", "/cgrp/state", "/cgrp/rebalance_cnt", "/cgrp/assignment_size"),
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
        client = core.Producer(conf)
        client.produce(TOPIC, b"x", partition=0)
        client.flush()
    else:
        client = core.Consumer({**conf, "group.id": core.__name__, "auto.offset.reset": "earliest"})
        client.subscribe([TOPIC])
    deadline_s = time.monotonic() + LIMIT_S
    while not heard or not WANTED[role] <= set(members(heard[-1])):
        assert time.monotonic() < deadline_s, WANTED[role] - set(members(heard[-1] if heard else {}))
        client.poll(0.1)
    client.close()
    return members(heard[-1])


@pytest.mark.parametrize("role", ["producer", "consumer"])
def test_members_are_those_of_librdkafka(role: str, servers: str) -> None:
    theirs, ours = told(confluent, role, servers), told(kafka_core, role, servers)
    missing = [
        path for path in theirs if path not in ours and not any(re.search(each, path) for each in NOT_HERE[role])
    ]
    assert missing == []
    assert {path: (ours[path], kind) for path, kind in theirs.items() if path in ours and ours[path] != kind} == {}
