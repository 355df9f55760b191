"""kafka_core.aio.producing.requests: names or ids, versions, sizes, encoded bytes that are kept, codecs."""

from typing import Any
from uuid import UUID

import pytest

from kafka_core.aio.producing.requests import ProduceRequests
from kafka_core.config import Role, parse
from kafka_core.engine.metadata import ClusterView, TopicView
from tests.unit.kafka_core.engine.producer_parts import TOPIC, Driver, FakeBatch

KNOWN = ClusterView(topics={TOPIC: TopicView(TOPIC, UUID(int=5))})


def requests(**conf: Any) -> ProduceRequests:
    names = {name.replace("_", "."): value for name, value in conf.items()}
    return ProduceRequests(parse({"bootstrap.servers": "x", **names}, Role.PRODUCER))


def driver() -> Driver:
    made = Driver()
    made.add("a")
    made.add("b", partition=1)
    return made


def test_partitions_of_a_topic_stand_together_with_their_batches() -> None:
    request, version, size_bytes = requests(acks="all", request_timeout_ms=1234).build(driver().take(), 12, KNOWN)
    [topic] = request.topic_data
    assert (version, request.acks, request.timeout_ms, topic.name, topic.topic_id) == (12, -1, 1234, TOPIC, UUID(int=0))
    assert [(item.index, item.records) for item in topic.partition_data] == [(0, b"a/7/0/0"), (1, b"b/7/0/0")]
    assert size_bytes == 14


def test_ids_are_used_from_version_13_on_when_they_are_known() -> None:
    shipment = driver().take()
    request, version, _ = requests().build(shipment, 13, KNOWN)
    assert (version, request.topic_data[0].name, request.topic_data[0].topic_id) == (13, "", UUID(int=5))
    assert shipment.topic_ids == {UUID(int=5): TOPIC}
    _, version, _ = requests().build(driver().take(), 13, ClusterView())
    assert version == 12


def test_a_retry_sends_the_bytes_that_were_made_before() -> None:
    shipment = driver().take()
    shipment.items[0][1].encoded = b"kept"
    request, _, _ = requests().build(shipment, 12, KNOWN)
    assert request.topic_data[0].partition_data[0].records == b"kept"


@pytest.mark.parametrize(("level", "chosen"), [(-1, 1), (5, 5)])
def test_the_codec_gets_its_number_and_a_fast_level_unless_one_is_set(
    monkeypatch: pytest.MonkeyPatch, level: int, chosen: int
) -> None:
    seen: list[Any] = []

    class Compressing(FakeBatch):
        def encode(self, **arguments: Any) -> bytes:
            seen.append((arguments["codec_id"], arguments["compress"].keywords))
            return b""

    made = Driver()
    made.batcher.add([Compressing("a")])
    requests(compression_type="zstd", compression_level=level).build(made.take(), 12, KNOWN)
    assert seen == [(4, {"level": chosen})]
