"""Look-ups: what the application asks brokers about offsets and the cluster, without a change of what is read.

Must not know the fetch queue. Coroutines belong on the loop.
Spec: confluent_kafka.Consumer.committed, get_watermark_offsets, offsets_for_times, list_topics.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from kafka_core.aio.cluster.client import ClusterClient
from kafka_core.aio.consuming.rpc import ConsumerRpc
from kafka_core.aio.consuming.running import Running
from kafka_core.aio.consuming.settings import checked
from kafka_core.aio.tasks.timeouts import limit_s
from kafka_core.engine.administering.topics import cluster_metadata
from kafka_core.engine.consuming import offsets
from kafka_core.engine.consuming.subscription import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP, Assignment
from kafka_core.engine.groups.membership import GroupMembership
from kafka_core.errors import KafkaError, KafkaException
from kafka_core.model import OFFSET_END, OFFSET_INVALID, ClusterMetadata, TopicPartition


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
        """The given partitions with the group's committed offsets, -1001 where there is none."""
        items = checked(partitions)
        await self._running.start()
        keys = [(item.topic, item.partition) for item in items]
        found = await self._rpc.committed(self._membership.identity, keys, timeout_s)
        return offsets.to_partitions({key: found.get(key, offsets.Committed(OFFSET_INVALID)) for key in keys})

    async def watermarks(self, partition: TopicPartition, timeout_s: float | None) -> tuple[int, int]:
        """First offset and end of a partition, asked from its leader."""
        await self._running.start()
        key = (partition.topic, partition.partition)
        low, high = await asyncio.gather(
            *(
                self._rpc.list_offsets(
                    {key: timestamp}, read_committed=self._read_committed, timeout_s=timeout_s, missing_is_final=True
                )
                for timestamp in (EARLIEST_TIMESTAMP, LATEST_TIMESTAMP)
            )
        )
        for answer in (low, high):
            if code := answer[key].error_code:
                known = KafkaError.standard(code)  # the broker's, or our own for a partition that is not there
                text = f"{partition.topic}[{partition.partition}]: {known.str()}"
                raise KafkaException(KafkaError(known.code(), text))
        return low[key].offset, high[key].offset

    def cached_watermarks(self, partition: TopicPartition) -> tuple[int, int]:
        """The same as the last fetch told; -1001 where unknown. Any thread."""
        state = self._assignment.get((partition.topic, partition.partition))
        return (OFFSET_INVALID, OFFSET_INVALID) if state is None else (state.log_start_offset, state.high_watermark)

    async def offsets_for_times(
        self, partitions: Sequence[TopicPartition], timeout_s: float | None
    ) -> list[TopicPartition]:
        """The first offset at or after each partition's timestamp (in its `offset`, ms); -1 if there is none."""
        items = checked(partitions)
        await self._running.start()
        wanted = {(item.topic, item.partition): item.offset for item in items}
        found = await self._rpc.list_offsets(
            wanted, read_committed=self._read_committed, timeout_s=timeout_s, missing_is_final=True
        )
        answers = offsets.to_partitions({key: found[key] for key in wanted})
        for item in answers:
            item.offset = OFFSET_END if item.offset < 0 and item.error is None else item.offset
            item.metadata = None
        return answers

    async def list_topics(self, topic: str | None, timeout_s: float | None) -> ClusterMetadata:
        """The cluster, with all topics or one."""
        await self._running.start()
        wanted = None if topic is None else [topic]
        view = await self._client.refresh_metadata(wanted, timeout_s=limit_s(timeout_s))
        return cluster_metadata(view, topic)

    async def cluster_id(self, timeout_s: float | None) -> str | None:
        """The cluster's id."""
        await self._running.start()
        return (await self._client.refresh_metadata((), timeout_s=limit_s(timeout_s))).cluster_id
