"""Members of share groups as bytes: one connection, one request after the other, nothing that a client would decide."""

from __future__ import annotations

import base64
import socket
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar
from uuid import UUID

from kafka_core.protocol import ApiMessage, ApiRequest, decode_response, encode_request
from kafka_core.protocol.messages import share_acknowledge, share_fetch
from kafka_core.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_core.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
)
from kafka_core.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_core.protocol.messages.share_group_describe import ShareGroupDescribeRequest
from kafka_core.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from tests.contract.clusters import LIMIT_S, Cluster, wait_for

ResponseT = TypeVar("ResponseT", bound=ApiMessage)
Ack = tuple[int, int, list[int]]
Parts = Mapping[int, Sequence[Ack]]
Ranges = list[tuple[int, int, int]]
NO_PARTS: Parts = {}
GROUP_RESOURCE = 32


class Wire:
    """A connection to the first broker of a cluster."""

    def __init__(self, cluster: Cluster, client_id: str = "wire") -> None:
        host, _, port = cluster.servers.partition(",")[0].rpartition(":")
        self._socket = socket.create_connection((host, int(port)), LIMIT_S)
        self._count = 0
        self._client_id = client_id

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, request: ApiRequest[ResponseT], version: int | None = None) -> ResponseT:
        """The answer in the newest version, or in the one given."""
        chosen = type(request).VALID_VERSIONS[1] if version is None else version
        self._count += 1
        self._socket.sendall(b"".join(encode_request(request, chosen, self._count, self._client_id)))
        frame = self._read(int.from_bytes(self._read(4), "big"))
        return decode_response(type(request), chosen, frame)[1]  # type: ignore[return-value]  # the generated pair matches

    def _read(self, size: int) -> bytearray:
        found = bytearray()
        while len(found) < size:
            part = self._socket.recv(size - len(found))
            assert part, "the broker hung up"
            found += part
        return found

    def topic_id(self, name: str) -> UUID:
        """The id of a topic, once the broker knows it."""

        def look() -> UUID | None:
            (topic,) = self.ask(MetadataRequest([MetadataRequestTopic(name=name)])).topics
            return None if topic.error_code else topic.topic_id

        found = wait_for(look, "the broker knows the topic")
        assert found is not None
        return found

    def settle(self, group: str) -> None:
        """Waits until the coordinator of the group answers for it."""

        def look() -> bool:
            (found,) = self.ask(FindCoordinatorRequest(key_type=0, coordinator_keys=[group])).coordinators
            (described,) = self.ask(ShareGroupDescribeRequest([group])).groups
            return not found.error_code and described.error_code not in (14, 15, 16)

        wait_for(look, "the group has its coordinator")

    def configure(self, group: str, **properties: str | None) -> AlterConfigsResourceResponse:
        """Sets properties of a group; in their names `_` stands for a dot."""
        configs = [AlterableConfig(name.replace("_", "."), 0, value) for name, value in properties.items()]
        resource = AlterConfigsResource(GROUP_RESOURCE, group, configs)
        (answer,) = self.ask(IncrementalAlterConfigsRequest([resource])).responses
        return answer

    def heartbeat(
        self, group: str, member: str, epoch: int, topics: Sequence[str] | None = None, rack: str | None = None
    ) -> Any:
        names = None if topics is None else list(topics)
        return self.ask(ShareGroupHeartbeatRequest(group, member, epoch, rack, names))


def new_id() -> str:
    """A member id as Java makes them."""
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")


class WireMember:
    """One member with its session. `topic` is the only topic that it reads."""

    def __init__(self, wire: Wire, group: str, topic: str, topic_id: UUID) -> None:
        self.wire, self.group, self.topic, self.topic_id = wire, group, topic, topic_id
        self.member_id = new_id()
        self.epoch = 0
        self.member_epoch = 0

    def join(self, partitions: int) -> None:
        """Joins and waits until so many partitions are its own: a new group needs a moment to write its start down."""
        found: list[int] = []

        def look() -> bool:
            answer = self.wire.heartbeat(self.group, self.member_id, self.member_epoch, [self.topic])
            assert answer.error_code == 0, answer
            self.member_epoch = answer.member_epoch
            found[:] = [number for item in answer.assignment.topic_partitions for number in item.partitions]
            return len(found) == partitions

        wait_for(look, f"the member has {partitions} partitions")

    def fetch(
        self,
        parts: Parts = NO_PARTS,
        *,
        epoch: int | None = None,
        version: int | None = None,
        wait_ms: int = 5_000,
        max_records: int = 500,
        max_bytes: int = 1 << 24,
        min_bytes: int = 1,
        batch_size: int = 500,
        mode: int = 0,
        renew: bool = False,
    ) -> Any:
        """ShareFetch with the next epoch of the session, unless told otherwise."""
        items = [
            share_fetch.FetchPartition(number, 0, [share_fetch.AcknowledgementBatch(*ack) for ack in acks])
            for number, acks in parts.items()
        ]
        topics = [share_fetch.FetchTopic(self.topic_id, items)] if items else []
        sent = self.epoch if epoch is None else epoch
        limits = (wait_ms, min_bytes, max_bytes, max_records, batch_size, mode, renew)
        answer = self.wire.ask(
            share_fetch.ShareFetchRequest(self.group, self.member_id, sent, *limits, topics), version
        )
        if answer.error_code == 0 and epoch is None:
            self.epoch += 1
        return answer

    def acquire(self, parts: Parts = NO_PARTS, **options: Any) -> Ranges:
        """The ranges acquired by a fetch from one partition: (first, last, delivery count)."""
        answer = self.fetch(parts, **options)
        assert answer.error_code == 0, answer
        found = [part for topic in answer.responses for part in topic.partitions]
        assert all(part.error_code == part.acknowledge_error_code == 0 for part in found), found
        return [
            (item.first_offset, item.last_offset, item.delivery_count) for p in found for item in p.acquired_records
        ]

    def acknowledge(self, *acks: Ack, partition: int = 0, **options: Any) -> tuple[int, str | None]:
        """ShareAcknowledge for one partition: its error code and text."""
        answer = self.acknowledge_all({partition: acks}, **options)
        assert answer.error_code == 0, answer
        (topic,) = answer.responses
        (part,) = topic.partitions
        return part.error_code, part.error_message

    def acknowledge_all(
        self, parts: Parts, *, epoch: int | None = None, renew: bool = False, topic_id: UUID | None = None
    ) -> Any:
        items = [
            share_acknowledge.AcknowledgePartition(
                number, [share_acknowledge.AcknowledgementBatch(*ack) for ack in acks]
            )
            for number, acks in parts.items()
        ]
        topics = [share_acknowledge.AcknowledgeTopic(topic_id or self.topic_id, items)] if items else []
        sent = self.epoch if epoch is None else epoch
        answer = self.wire.ask(
            share_acknowledge.ShareAcknowledgeRequest(self.group, self.member_id, sent, renew, topics)
        )
        if answer.error_code == 0 and epoch is None:
            self.epoch += 1
        return answer
