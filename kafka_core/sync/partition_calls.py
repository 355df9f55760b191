"""Administration of partitions and of who keeps the metadata, blocking: a part of AdminClient.

Must not hold any protocol logic: it starts coroutines on the client's loop thread and hands out futures.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future

from kafka_core.admin_cluster import PartitionCursor, QuorumInfo, TopicPartitionReplica, TopicPartitionsPage
from kafka_core.aio.administering.partitions import LARGEST_PAGE
from kafka_core.engine.administering.checks import check_names, check_partitions, check_replica_dirs
from kafka_core.model import TopicPartition
from kafka_core.sync.admin_calls import AdminCalls


class PartitionCalls(AdminCalls):
    """Calls about partitions, their replicas and their open transactions, and about the log of metadata."""

    def describe_metadata_quorum(self, *, request_timeout: float | None = None) -> Future[QuorumInfo]:
        """The quorum that keeps the cluster's metadata (KIP-836)."""
        return self._future(self._core.describe_metadata_quorum(request_timeout=self._seconds(request_timeout)))

    def alter_replica_log_dirs(
        self, replicas: Mapping[TopicPartitionReplica, str], *, request_timeout: float | None = None
    ) -> dict[TopicPartitionReplica, Future[None]]:
        """Moves replicas to other log directories of their brokers (KIP-113); a future for each."""
        wanted = check_replica_dirs(replicas)
        call = self._core.alter_replica_log_dirs(wanted, request_timeout=self._seconds(request_timeout))
        return self._futures(list(wanted), call)

    def describe_topic_partitions(
        self,
        topics: Sequence[str] = (),
        *,
        limit: int = LARGEST_PAGE,
        cursor: PartitionCursor | None = None,
        request_timeout: float | None = None,
    ) -> Future[TopicPartitionsPage]:
        """One page of partitions (KIP-966); arguments as AIOAdminClient's."""
        names = check_names(topics, "topics") if topics else ()
        return self._future(
            self._core.describe_topic_partitions(
                names, limit=limit, cursor=cursor, request_timeout=self._seconds(request_timeout)
            )
        )

    def abort_transaction(
        self,
        partition: TopicPartition,
        producer_id: int,
        producer_epoch: int,
        *,
        coordinator_epoch: int = -1,
        request_timeout: float | None = None,
    ) -> Future[None]:
        """Ends a hanging transaction in one partition (KIP-664); arguments and errors as AIOAdminClient's."""
        check_partitions([partition])
        return self._future(
            self._core.abort_transaction(
                partition,
                producer_id,
                producer_epoch,
                coordinator_epoch=coordinator_epoch,
                request_timeout=self._seconds(request_timeout),
            )
        )
