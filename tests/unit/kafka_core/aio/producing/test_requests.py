"""kafka_core.aio.producing.requests: names or ids, versions, sizes, encoded bytes that are kept, codecs."""

from typing import Any
from uuid import UUID

import pytest

from kafka_core.aio.producing.requests import OneBatch, ProduceRequests
from kafka_core.config import Role, parse
from kafka_core.engine.metadata import ClusterView, TopicView
from kafka_core.protocol.frames import encode_request
from kafka_core.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.unit.kafka_core.aio.fake_cluster import as_message
from tests.unit.kafka_core.engine.producer_parts import TOPIC, Driver, FakeBatch

KNOWN = ClusterView(topics={TOPIC: TopicView(TOPIC, UUID(int=5))})


def requests(**conf: Any) -> ProduceRequests:
    names = {name.replace("_", "."): value for name, value in conf.items()}
    return ProduceRequests(parse({"bootstrap.servers": "x", **names}, Role.PRODUCER))


@pytest.mark.parametrize(
    "conf", [{}, {"acks": 1, "request_timeout_ms": 77, "client_id": "x"}, {"transactional_id": "t"}]
)
@pytest.mark.parametrize("size_bytes", [0, 1, 126, 127, 128, 20_000])
def test_the_request_for_one_batch_is_encoded_as_any_other(conf: dict[str, Any], size_bytes: int) -> None:
    made, shipments = requests(**conf), []
    for name in ("a", "b"):  # the second takes the first one's beginning
        one = Driver()
        one.add(name, partition=1)
        shipments.append(one.take())
        shipments[-1].items[0][1].encoded = name.encode() * size_bytes
    for shipment in shipments:
        request, version = made.build(shipment, 13, KNOWN)
        assert isinstance(request, OneBatch)
        records = shipment.items[0][1].encoded
        data = TopicProduceData("", UUID(int=5), [PartitionProduceData(1, records)])
        general = ProduceRequest(conf.get("transactional_id"), request_acks(conf), request_timeout_ms(conf), [data])
        for client_id in ("rdkafka", "", None):
            assert b"".join(encode_request(request, version, 3, client_id)) == b"".join(
                encode_request(general, version, 3, client_id)
            )
        assert shipment.topic_ids == {UUID(int=5): TOPIC}


def request_acks(conf: dict[str, Any]) -> int:
    return int(conf.get("acks", -1))


def request_timeout_ms(conf: dict[str, Any]) -> int:
    return int(conf.get("request_timeout_ms", 30_000))


def test_a_topic_made_anew_has_another_beginning() -> None:
    made, shipment = requests(), Driver()
    shipment.add("a")
    taken = shipment.take()
    made.build(taken, 13, KNOWN)
    request, version = made.build(taken, 13, ClusterView(topics={TOPIC: TopicView(TOPIC, UUID(int=6))}))
    assert as_message(request, version).topic_data[0].topic_id == UUID(int=6)


def driver() -> Driver:
    made = Driver()
    made.add("a")
    made.add("b", partition=1)
    return made


def test_partitions_of_a_topic_stand_together_with_their_batches() -> None:
    request, version = requests(acks="all", request_timeout_ms=1234).build(driver().take(), 12, KNOWN)
    message = as_message(request, version)
    [topic] = message.topic_data
    assert (version, message.acks, message.timeout_ms, topic.name, topic.topic_id) == (12, -1, 1234, TOPIC, UUID(int=0))
    assert [(item.index, item.records) for item in topic.partition_data] == [(0, b"a/7/0/0"), (1, b"b/7/0/0")]


def test_ids_are_used_from_version_13_on_when_they_are_known() -> None:
    shipment = driver().take()
    request, version = requests().build(shipment, 13, KNOWN)
    [topic] = as_message(request, version).topic_data
    assert (version, topic.name, topic.topic_id) == (13, "", UUID(int=5))
    assert shipment.topic_ids == {UUID(int=5): TOPIC}
    _, version = requests().build(driver().take(), 13, ClusterView())
    assert version == 12


def test_a_retry_sends_the_bytes_that_were_made_before() -> None:
    shipment = driver().take()
    shipment.items[0][1].encoded = b"kept"
    request, version = requests().build(shipment, 12, KNOWN)
    assert as_message(request, version).topic_data[0].partition_data[0].records == b"kept"


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
