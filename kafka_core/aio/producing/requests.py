"""Makes ProduceRequests out of shipments: encodes batches (and compresses them), names topics, picks the version.

Must not know connections or retries. Runs on the loop; codecs release the GIL while they work.
Spec: ProduceRequest v3-13 of the protocol; KIP-516 for topic ids.
"""

import functools
from collections.abc import Callable
from typing import ClassVar, Final, NamedTuple
from uuid import UUID

from kafka_core.config import Config
from kafka_core.engine.metadata import ClusterView
from kafka_core.engine.producing.batcher import Shipment
from kafka_core.engine.producing.lane import Delivery, Lane
from kafka_core.engine.producing.sequences import ProducerIdentity
from kafka_core.protocol import ZERO_UUID, ApiKey, ApiRequest, Buffer, encode_bytes, usual_writes
from kafka_core.protocol.frames import EncodedRequest
from kafka_core.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from kafka_core.protocol.primitives import write_uvarint
from kafka_core.records.codecs import Codec

TOPIC_IDS_SINCE: Final = 13

FAST_LEVELS: Final = {Codec.GZIP: 1, Codec.LZ4: 1, Codec.ZSTD: 1}
"""Levels for compression.level=-1: the libraries' own defaults are several times slower and gain little (DESIGN §8)."""


_ENDS: Final = bytes(3)
"""No tagged fields of the partition, the topic and the request: the bytes behind the records."""


class OneBatch(EncodedRequest[ProduceResponse]):
    """A ProduceRequest v13 for one batch; its first bytes are the same for all batches of a partition."""

    __slots__ = ()
    API_KEY: ClassVar[int] = ApiKey.PRODUCE
    RESPONSE = ProduceResponse


class RequestStart(NamedTuple):
    """A ProduceRequest for one batch without it.

    Attributes:
        version: that it is written in.
        topic_id: by which it names the topic.
        body: up to the length of the records, without the header.
        tail: the bytes behind the records.
    """

    version: int
    topic_id: UUID
    body: bytes
    tail: bytes


class ProduceRequests:
    """The requests of one producer.

    Args:
        config: acks, request.timeout.ms, compression.type and compression.level.
    """

    def __init__(self, config: Config) -> None:
        self._acks = config.integer("acks")
        self._timeout_ms = config.integer("request.timeout.ms")
        self._transactional_id = config.optional_text("transactional.id")
        usual_writes.use_for_writing()
        self._starts: dict[Lane, tuple[UUID, bytes]] = {}
        self._codec = Codec[config.text("compression.type").upper()]
        self._compress: Callable[[memoryview], Buffer] | None = None
        if self._codec is not Codec.NONE:
            from kafka_core.records.compression import compress  # with a library that few producers need

            level = config.integer("compression.level")
            chosen = level if level >= 0 else FAST_LEVELS.get(self._codec)
            self._compress = functools.partial(compress, self._codec, level=chosen)
        self._codec_id: int = self._codec.value

    def build(self, shipment: Shipment, newest: int, view: ClusterView) -> tuple[ApiRequest[ProduceResponse], int]:
        """A request for the shipment; remembers in it by which ids the answer will name topics.

        Args:
            newest: The newest version that the broker and we have in common.
            view: Knows topic ids.

        Returns:
            The request and the version to send it in (an older one than `newest` if we don't know the ids of all
            topics). The batches are not copied: they must stay as they are until the answer is there.
        """
        if newest == TOPIC_IDS_SINCE and self._acks and len(shipment.items) == 1:
            lane, delivery = shipment.items[0]
            topic_id = view.topic_id(lane.topic)
            if topic_id.int:
                shipment.topic_ids = {topic_id: lane.topic}
                return self._one_batch(lane, delivery, topic_id)
        version = self._name_topics(shipment, newest, view)
        topics: dict[str, TopicProduceData] = {}
        for lane, delivery in shipment.items:
            data = topics.get(lane.topic)
            if data is None:
                if version >= TOPIC_IDS_SINCE:
                    data = TopicProduceData("", view.topic_id(lane.topic))
                else:
                    data = TopicProduceData(lane.topic)
                topics[lane.topic] = data
            data.partition_data.append(PartitionProduceData(lane.partition, self.encode(delivery)))
        return ProduceRequest(self._transactional_id, self._acks, self._timeout_ms, list(topics.values())), version

    def start(self, lane: Lane, newest: int, view: ClusterView) -> RequestStart | None:
        """The bytes that `build` would write around this lane's only batch; None where they depend on the batch."""
        topic_id = view.topic_id(lane.topic)
        if newest != TOPIC_IDS_SINCE or not self._acks or self._compress is not None or not topic_id.int:
            return None
        return RequestStart(TOPIC_IDS_SINCE, topic_id, self._known_start(lane, topic_id), _ENDS)

    def _known_start(self, lane: Lane, topic_id: UUID) -> bytes:
        known = self._starts.get(lane)
        if known is None or known[0] is not topic_id:
            known = self._starts[lane] = topic_id, self._start(lane.partition, topic_id)
        return known[1]

    def _one_batch(self, lane: Lane, delivery: Delivery, topic_id: UUID) -> tuple[OneBatch, int]:
        records = self.encode(delivery)
        start = bytearray(self._known_start(lane, topic_id))
        write_uvarint(start, len(records) + 1)
        return OneBatch(start, records, _ENDS), TOPIC_IDS_SINCE

    def _start(self, partition: int, topic_id: UUID) -> bytes:
        """The body up to the length of the records."""
        data = TopicProduceData("", topic_id, [PartitionProduceData(partition, b"")])
        request = ProduceRequest(self._transactional_id, self._acks, self._timeout_ms, [data])
        return encode_bytes(request, TOPIC_IDS_SINCE)[: -1 - len(_ENDS)]

    def _name_topics(self, shipment: Shipment, newest: int, view: ClusterView) -> int:
        if newest < TOPIC_IDS_SINCE:
            return newest
        ids = {view.topic_id(lane.topic): lane.topic for lane, _ in shipment.items}
        if ZERO_UUID in ids:
            return TOPIC_IDS_SINCE - 1
        shipment.topic_ids = ids
        return newest

    def encode(self, delivery: Delivery) -> Buffer:
        """The bytes of its batch, with its numbers; made once as long as these stay the same."""
        if delivery.encoded is None:
            identity = delivery.identity or ProducerIdentity()
            delivery.encoded = delivery.batch.encode(
                codec_id=self._codec_id,
                compress=self._compress,
                producer_id=identity.producer_id,
                producer_epoch=identity.epoch,
                base_sequence=delivery.sequence,
                transactional=self._transactional_id is not None,
            )
        return delivery.encoded
