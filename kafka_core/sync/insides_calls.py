"""Administration of a cluster's insides, blocking: a part of AdminClient.

Must not hold any protocol logic: it starts coroutines on the client's loop thread and hands out futures.
"""

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future

from kafka_core.admin_cluster import (
    FeatureMetadata,
    FeatureUpdate,
    LogDirDescription,
    MemberToRemove,
    PartitionReassignment,
    ProducerState,
    TransactionDescription,
    TransactionListing,
)
from kafka_core.admin_model import Outcome
from kafka_core.engine.administering.checks import (
    check_features,
    check_flag,
    check_members,
    check_names,
    check_partitions,
    check_reassignments,
)
from kafka_core.model import TopicPartition
from kafka_core.sync.admin_calls import AdminCalls


class InsidesCalls(AdminCalls):
    """Calls about members and offsets of groups, transactions, features, replicas and disks."""

    # ---- groups

    def delete_consumer_group_offsets(
        self, group_id: str, partitions: Sequence[TopicPartition], *, request_timeout: float | None = None
    ) -> dict[TopicPartition, Future[None]]:
        """Deletes a group's offsets of partitions that no member subscribes to (KIP-496); a future for each."""
        check_names([group_id], "group ids")
        keys = check_partitions(partitions)
        call = self._core.delete_consumer_group_offsets(group_id, keys, request_timeout=self._seconds(request_timeout))
        return self._futures(keys, call)

    def remove_consumer_group_members(
        self, group_id: str, members: Sequence[MemberToRemove], *, request_timeout: float | None = None
    ) -> dict[MemberToRemove, Future[None]]:
        """Makes members leave a group with the classic protocol (KIP-345); a future for each."""
        check_names([group_id], "group ids")
        keys = check_members(members)
        call = self._core.remove_consumer_group_members(group_id, keys, request_timeout=self._seconds(request_timeout))
        return self._futures(keys, call)

    # ---- transactions

    def list_transactions(
        self,
        *,
        states: Collection[str] = (),
        producer_ids: Collection[int] = (),
        longer_than_ms: int = -1,
        transactional_id_pattern: str | None = None,
        brokers: Sequence[int] | None = None,
        request_timeout: float | None = None,
    ) -> Future[dict[int, Outcome[list[TransactionListing]]]]:
        """Transactional ids that pass every filter, by broker; arguments as AIOAdminClient's (KIP-664)."""
        return self._future(
            self._core.list_transactions(
                states=states,
                producer_ids=producer_ids,
                longer_than_ms=longer_than_ms,
                transactional_id_pattern=transactional_id_pattern,
                brokers=brokers,
                request_timeout=self._seconds(request_timeout),
            )
        )

    def describe_transactions(
        self, transactional_ids: Sequence[str], *, request_timeout: float | None = None
    ) -> dict[str, Future[TransactionDescription]]:
        """The coordinators' descriptions of transactional ids (KIP-664); a future for each."""
        keys = check_names(transactional_ids, "transactional ids")
        return self._futures(
            keys, self._core.describe_transactions(keys, request_timeout=self._seconds(request_timeout))
        )

    def describe_producers(
        self,
        partitions: Sequence[TopicPartition],
        *,
        broker_id: int | None = None,
        request_timeout: float | None = None,
    ) -> dict[TopicPartition, Future[list[ProducerState]]]:
        """The producers of partitions (KIP-664), as the leaders or one replica know them; a future for each."""
        keys = check_partitions(partitions)
        call = self._core.describe_producers(keys, broker_id=broker_id, request_timeout=self._seconds(request_timeout))
        return self._futures(keys, call)

    # ---- features

    def describe_features(
        self, *, broker_id: int | None = None, request_timeout: float | None = None
    ) -> Future[FeatureMetadata]:
        """Features and versions of requests of a broker (None: any) (KIP-584)."""
        return self._future(
            self._core.describe_features(broker_id=broker_id, request_timeout=self._seconds(request_timeout))
        )

    def update_features(
        self,
        updates: Mapping[str, FeatureUpdate],
        *,
        validate_only: bool = False,
        operation_timeout: float | None = None,
        request_timeout: float | None = None,
    ) -> dict[str, Future[None]]:
        """Moves features to other levels for the whole cluster (KIP-584); a future for each.

        From Kafka 4.1 on all of them move, or none.
        """
        keys = list(check_features(updates))
        call = self._core.update_features(
            updates,
            validate_only=check_flag(validate_only, "validate_only"),
            operation_timeout=self._seconds(operation_timeout, "operation_timeout"),
            request_timeout=self._seconds(request_timeout),
        )
        return self._futures(keys, call)

    def list_config_resources(
        self, types: Collection[str] = (), *, request_timeout: float | None = None
    ) -> Future[list[tuple[str, str]]]:
        """The resources with configurations: kind and name (KIP-1142); arguments as AIOAdminClient's."""
        return self._future(self._core.list_config_resources(types, request_timeout=self._seconds(request_timeout)))

    # ---- replicas

    def describe_log_dirs(
        self,
        brokers: Sequence[int] | None = None,
        *,
        partitions: Sequence[TopicPartition] | None = None,
        request_timeout: float | None = None,
    ) -> Future[dict[int, Outcome[list[LogDirDescription]]]]:
        """The log directories of brokers (None: of all) with some partitions or all (KIP-113, KIP-827)."""
        wanted = None if partitions is None else check_partitions(partitions)
        return self._future(
            self._core.describe_log_dirs(brokers, partitions=wanted, request_timeout=self._seconds(request_timeout))
        )

    def list_partition_reassignments(
        self,
        partitions: Sequence[TopicPartition] | None = None,
        *,
        operation_timeout: float | None = None,
        request_timeout: float | None = None,
    ) -> Future[dict[TopicPartition, PartitionReassignment]]:
        """Moves of partitions (None: of all) under way (KIP-455)."""
        wanted = None if partitions is None else check_partitions(partitions)
        return self._future(
            self._core.list_partition_reassignments(
                wanted,
                operation_timeout=self._seconds(operation_timeout, "operation_timeout"),
                request_timeout=self._seconds(request_timeout),
            )
        )

    def alter_partition_reassignments(
        self,
        reassignments: Mapping[TopicPartition, Sequence[int] | None],
        *,
        operation_timeout: float | None = None,
        request_timeout: float | None = None,
    ) -> dict[TopicPartition, Future[None]]:
        """Gives partitions other replicas, or (None) ends a move under way (KIP-455); a future for each."""
        wanted = check_reassignments(reassignments)
        call = self._core.alter_partition_reassignments(
            wanted,
            operation_timeout=self._seconds(operation_timeout, "operation_timeout"),
            request_timeout=self._seconds(request_timeout),
        )
        return self._futures(list(wanted), call)
