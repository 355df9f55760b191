"""Look-ups: what the application asks brokers about offsets and the cluster, without a change of what is read.

Must not know the fetch queue. Coroutines belong on the loop.
Spec: confluent_kafka.Consumer.committed, get_watermark_offsets, offsets_for_times, list_topics.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final

from kafka_core.aio.cluster.client import ClusterClient
from kafka_core.aio.cluster.unanswered import CLUSTER_ID, METADATA, answering
from kafka_core.aio.consuming.rpc import ConsumerRpc
from kafka_core.aio.consuming.running import Running
from kafka_core.aio.consuming.settings import check_partition, checked
from kafka_core.aio.tasks.timeouts import limit_s
from kafka_core.engine.consuming import offsets
from kafka_core.engine.consuming.subscription import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP, Assignment
from kafka_core.engine.groups.membership import GroupMembership
from kafka_core.errors import ConfigError, KafkaError, KafkaException
from kafka_core.model import OFFSET_END, OFFSET_INVALID, TopicPartition, Uuid

if TYPE_CHECKING:
    from kafka_core.admin_model import ListOffsetsResultInfo
    from kafka_core.admin_offsets import OffsetSpec
    from kafka_core.listings import ClusterMetadata

NO_WATERMARKS: Final = "Failed to get watermark offsets"


class Lookups:
    """The questions of one consumer; time-outs in seconds, None or negative for socket.timeout.ms."""

    def __init__(
        self,
        client: ClusterClient,
        rpc: ConsumerRpc,
        running: Running,
        assignment: Assignment,
        membership: GroupMembership,
        *,
        read_committed: bool,
    ) -> None:
        self._client = client
        self._rpc = rpc
        self._running = running
        self._assignment = assignment
        self._membership = membership
        self._read_committed = read_committed

    async def committed(self, partitions: Sequence[TopicPartition], timeout_s: float | None) -> list[TopicPartition]:
        """The given partitions with the group's committed offsets, asked from its coordinator.

        Args:
            timeout_s: None: `socket.timeout.ms`.

        Returns:
            New objects, in order; `offset` is OFFSET_INVALID (-1001) where nothing is committed.
        """
        items = checked(partitions)
        await self._running.start()
        keys = [(item.topic, item.partition) for item in items]
        with answering("Failed to get committed offsets"):
            found = await self._rpc.committed(self._membership.identity, keys, timeout_s)
        return offsets.to_partitions({key: found.get(key, offsets.Committed(OFFSET_INVALID)) for key in keys})

    async def watermarks(self, partition: TopicPartition, timeout_s: float | None) -> tuple[int, int]:
        """First offset of a partition and the one behind its last, asked from its leader (ListOffsets).

        With `isolation.level=read_committed` the end is the last stable offset.

        Raises:
            KafkaException: the leader refused, or there is no such partition.
        """
        check_partition(partition)
        await self._running.start()
        key = (partition.topic, partition.partition)
        with self._answering(NO_WATERMARKS):
            low, high = await asyncio.gather(
                *(
                    self._rpc.list_offsets(
                        {key: timestamp},
                        read_committed=self._read_committed,
                        timeout_s=timeout_s,
                        missing_is_final=True,
                    )
                    for timestamp in (EARLIEST_TIMESTAMP, LATEST_TIMESTAMP)
                )
            )
        for answer in (low, high):
            if code := answer[key].error_code:
                known = KafkaError.standard(code)  # the broker's, or our own for a partition that is not there
                text = f"{NO_WATERMARKS}: {known.str()}: {partition.topic}[{partition.partition}]"
                raise KafkaException(KafkaError(known.code(), text))
        return low[key].offset, high[key].offset

    def cached_watermarks(self, partition: TopicPartition) -> tuple[int, int]:
        """First offset and high watermark of the last fetch; OFFSET_INVALID (-1001) where unknown. Any thread."""
        check_partition(partition)
        state = self._assignment.get((partition.topic, partition.partition))
        return (OFFSET_INVALID, OFFSET_INVALID) if state is None else (state.log_start_offset, state.high_watermark)

    async def offsets_for_times(
        self, partitions: Sequence[TopicPartition], timeout_s: float | None
    ) -> list[TopicPartition]:
        """The first offset at or after each partition's timestamp (in its `offset`, ms); -1 if there is none."""
        items = checked(partitions)
        if not items:
            raise ConfigError("Failed to get offsets: Local: Invalid argument or configuration: no partition is given")
        await self._running.start()
        wanted = {(item.topic, item.partition): item.offset for item in items}
        with self._answering("Failed to get offsets"):
            found = await self._rpc.list_offsets(
                wanted, read_committed=self._read_committed, timeout_s=timeout_s, missing_is_final=True
            )
        answers = offsets.to_partitions({key: found[key] for key in wanted})
        for item in answers:
            item.offset = OFFSET_END if item.offset < 0 and item.error is None else item.offset
            item.metadata = None
        return answers

    async def list_offsets(
        self, specs: Mapping[TopicPartition, OffsetSpec], timeout_s: float | None
    ) -> dict[TopicPartition, ListOffsetsResultInfo | KafkaException]:
        """First, last or other offsets of partitions by their OffsetSpec, with their times (KIP-396).

        Returns:
            Partition → offset, timestamp in ms and leader epoch; a KafkaException for one that failed.
        """
        # An administrator's call, which few consumers make.
        from kafka_core.admin_model import ListOffsetsResultInfo
        from kafka_core.engine.administering.checks import check_offset_specs

        keys = {(item.topic, item.partition): item for item in check_offset_specs(specs)}
        await self._running.start()
        found = await self._rpc.list_offsets(
            {key: specs[item].timestamp for key, item in keys.items()},
            read_committed=self._read_committed,
            timeout_s=timeout_s,
            missing_is_final=True,
        )
        answers: dict[TopicPartition, ListOffsetsResultInfo | KafkaException] = {}
        for key, item in keys.items():
            answer = found[key]
            if answer.error_code:
                known = KafkaError.standard(answer.error_code)
                text = f"{item.topic}[{item.partition}]: {known.str()}"
                answers[item] = KafkaException(KafkaError(known.code(), text))
            else:
                epoch = answer.leader_epoch if answer.leader_epoch >= 0 else None
                answers[item] = ListOffsetsResultInfo(answer.offset, answer.timestamp, epoch)
        return answers

    async def list_topics(self, topic: str | None, timeout_s: float | None) -> ClusterMetadata:
        """Brokers, controller and topics (all, or the one named), asked anew (Metadata)."""
        await self._running.start()
        wanted = None if topic is None else [topic]
        from kafka_core.engine.cluster_metadata import cluster_metadata  # few consumers list topics

        with answering(METADATA, KafkaError._TRANSPORT):
            view = await self._client.refresh_metadata(wanted, timeout_s=limit_s(timeout_s))
        return cluster_metadata(view, topic)

    async def cluster_id(self, timeout_s: float | None) -> str | None:
        """The cluster's id, asked anew (Metadata); None if the broker tells none."""
        await self._running.start()
        with answering(CLUSTER_ID):
            return (await self._client.refresh_metadata((), timeout_s=limit_s(timeout_s))).cluster_id

    async def client_instance_id(self, timeout_s: float | None) -> Uuid:
        """See `ClusterClient.client_instance_id`."""
        await self._running.start()
        return await self._client.client_instance_id(timeout_s=limit_s(timeout_s))

    def _answering(self, words: str) -> AbstractContextManager[None]:
        """As `answering`; a time-out with no connection to any broker is _ALL_BROKERS_DOWN, as in librdkafka."""
        return answering(
            words, lambda: KafkaError._TIMED_OUT if self._client.connected else KafkaError._ALL_BROKERS_DOWN
        )
