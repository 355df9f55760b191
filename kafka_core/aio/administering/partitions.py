"""Administration of partitions and of who keeps the metadata, on asyncio: a part of AIOAdminClient.

Must not know how requests are filled (engine/administering/partitions.py) or how connections work.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from kafka_core.admin_cluster import PartitionCursor, QuorumInfo, TopicPartitionReplica, TopicPartitionsPage
from kafka_core.aio.administering.routing import Deadline, Outcomes, Router
from kafka_core.engine.administering import partitions as parts
from kafka_core.engine.administering.checks import check_names, check_partitions, check_replica_dirs
from kafka_core.model import TopicPartition

LARGEST_PAGE: Final = 2_000
"""Partitions in one answer: brokers give no more (`max.request.partition.size.limit`)."""


class PartitionCalls:
    """Calls about partitions, their replicas and their open transactions, and about the log of metadata."""

    _router: Router

    async def describe_metadata_quorum(self, *, request_timeout: float | None = None) -> QuorumInfo:
        """The quorum that keeps the cluster's metadata (KIP-836).

        Raises:
            KafkaException: the cluster has none (ZooKeeper), the request was refused, or no answer.
        """

        async def ask(deadline: Deadline) -> QuorumInfo:
            response = await self._router.send_to(None, parts.describe_quorum_request(), deadline)
            return parts.described_quorum(response)

        return await self._router.whole("describe_metadata_quorum", ask, request_timeout)

    async def alter_replica_log_dirs(
        self, replicas: Mapping[TopicPartitionReplica, str], *, request_timeout: float | None = None
    ) -> Outcomes[TopicPartitionReplica, None]:
        """Moves replicas to other log directories of their brokers (KIP-113); the move goes on after the answer.

        Raises:
            TypeError, ValueError: arguments that make no sense.
        """
        wanted = check_replica_dirs(replicas)

        async def one(
            node_id: int, part: Sequence[TopicPartitionReplica], deadline: Deadline
        ) -> Outcomes[TopicPartitionReplica, None]:
            request = parts.alter_replica_log_dirs_request({each: wanted[each] for each in part})
            return parts.altered_replica_log_dirs(node_id, await self._router.send_to(node_id, request, deadline))

        async def attempt(
            keys: Collection[TopicPartitionReplica], deadline: Deadline
        ) -> Outcomes[TopicPartitionReplica, None]:
            brokers: dict[int, list[TopicPartitionReplica]] = {}
            for key in keys:
                brokers.setdefault(key.broker_id, []).append(key)
            return await self._router.gather(brokers, one, deadline)

        return await self._router.keyed("alter_replica_log_dirs", list(wanted), attempt, request_timeout)

    async def describe_topic_partitions(
        self,
        topics: Sequence[str] = (),
        *,
        limit: int = LARGEST_PAGE,
        cursor: PartitionCursor | None = None,
        request_timeout: float | None = None,
    ) -> TopicPartitionsPage:
        """One page of partitions, with the replicas that may become leaders without a loss (KIP-966).

        Args:
            topics: their names; none for all.
            limit: how many partitions a page has at most; brokers give no more than 2,000.
            cursor: the `next_cursor` of the page before; None for the first one.
            request_timeout: seconds.

        Raises:
            TypeError: arguments that make no sense. KafkaException: no answer. What is wrong with a topic stands in it.
        """
        request = parts.describe_topic_partitions_request(
            check_names(topics, "topics") if topics else (), limit, None if cursor is None else PartitionCursor(*cursor)
        )

        async def ask(deadline: Deadline) -> TopicPartitionsPage:
            return parts.described_topic_partitions(await self._router.send_to(None, request, deadline))

        return await self._router.whole("describe_topic_partitions", ask, request_timeout)

    async def abort_transaction(
        self,
        partition: TopicPartition,
        producer_id: int,
        producer_epoch: int,
        *,
        coordinator_epoch: int = -1,
        request_timeout: float | None = None,
    ) -> None:
        """Ends a hanging transaction in one partition: its leader writes a marker that aborts it (KIP-664).

        `describe_producers` tells the numbers. The transaction's coordinator is not asked: where it still has the
        transaction open, the application's own abort is the way.

        Args:
            partition: where.
            producer_id: of the producer whose transaction it is.
            producer_epoch: of the same producer.
            coordinator_epoch: as `describe_producers` tells it; -1 if it tells None.
            request_timeout: seconds.

        Raises:
            TypeError, ValueError: no partition.
            KafkaException: INVALID_PRODUCER_EPOCH or TRANSACTION_COORDINATOR_FENCED (a newer epoch has written there),
                no such partition, or no answer.
        """
        wanted = check_partitions([partition])
        request = parts.abort_transaction_request(wanted[0], producer_id, producer_epoch, coordinator_epoch)

        async def one(
            node_id: int, part: Sequence[TopicPartition], deadline: Deadline
        ) -> Outcomes[TopicPartition, None]:
            return parts.aborted_transactions(await self._router.send_to(node_id, request, deadline))

        outcomes = await self._router.by_leader("abort_transaction", wanted, one, request_timeout)
        outcomes[wanted[0]].result()
