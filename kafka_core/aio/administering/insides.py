"""Administration of a cluster's insides on asyncio: a part of AIOAdminClient.

Must not know how requests are filled (engine/administering/insides.py) or how connections work.
"""

from collections.abc import Awaitable, Callable, Collection, Hashable, Mapping, Sequence
from typing import Final, TypeVar

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
from kafka_core.aio.administering.routing import Deadline, Outcomes, Router, left_out
from kafka_core.aio.cluster.client import CoordinatorKind
from kafka_core.engine.administering import insides
from kafka_core.engine.administering.checks import (
    check_features,
    check_flag,
    check_members,
    check_names,
    check_partitions,
    check_reassignments,
)
from kafka_core.model import TopicPartition
from kafka_core.protocol.messages.api_versions import ApiVersionsRequest
from kafka_core.protocol.messages.list_config_resources import ListConfigResourcesRequest
from kafka_core.protocol.messages.transactions import DescribeTransactionsRequest
from kafka_core.protocol.messages.update_features import UpdateFeaturesRequest
from kserdes_base.version import VERSION

K = TypeVar("K", bound=Hashable)
CONFIG_TYPES: Final = {"topic": 2, "broker": 4, "broker_logger": 8, "client_metrics": 16, "group": 32}


class InsidesCalls:
    """Calls about members and offsets of groups, transactions, features, replicas and disks."""

    _router: Router

    # ---- groups

    async def delete_consumer_group_offsets(
        self, group_id: str, partitions: Sequence[TopicPartition], *, request_timeout: float | None = None
    ) -> Outcomes[TopicPartition, None]:
        """Deletes a group's offsets of partitions that no member subscribes to (KIP-496).

        Raises:
            TypeError, ValueError: arguments that make no sense.
        """
        (group,) = check_names([group_id], "group ids")
        wanted = check_partitions(partitions)

        async def ask(node_id: int, deadline: Deadline) -> Outcome[insides.Deleted]:
            request = insides.delete_offsets_request(group, wanted)
            return insides.deleted_offsets(await self._router.send_to(node_id, request, deadline))

        return await self._of_group("delete_consumer_group_offsets", group, wanted, ask, request_timeout)

    async def remove_consumer_group_members(
        self, group_id: str, members: Sequence[MemberToRemove], *, request_timeout: float | None = None
    ) -> Outcomes[MemberToRemove, None]:
        """Makes members leave a group with the classic protocol; the others rebalance (KIP-345).

        Raises:
            TypeError, ValueError: arguments that make no sense.
        """
        (group,) = check_names([group_id], "group ids")
        wanted = check_members(members)

        async def ask(node_id: int, deadline: Deadline) -> Outcome[insides.Removed]:
            request = insides.remove_members_request(group, wanted)
            return insides.removed_members(wanted, await self._router.send_to(node_id, request, deadline))

        return await self._of_group("remove_consumer_group_members", group, wanted, ask, request_timeout)

    async def _of_group(
        self,
        what: str,
        group: str,
        keys: Sequence[K],
        ask: Callable[[int, Deadline], Awaitable[Outcome[dict[K, Outcome[None]]]]],
        request_timeout: float | None,
    ) -> dict[K, Outcome[None]]:
        """Asks a group's coordinator; what fails for the group, fails for each key."""
        if not keys:
            return {}

        async def one(node_id: int, part: Sequence[str], deadline: Deadline) -> Outcomes[str, dict[K, Outcome[None]]]:
            return {group: await ask(node_id, deadline)}

        outcome = (await self._router.by_coordinator(what, [group], one, request_timeout))[group]
        if outcome.error is not None:
            return {key: Outcome(error=outcome.error) for key in keys}
        found = outcome.value or {}
        return {key: found.get(key) or left_out(what, key) for key in keys}

    # ---- transactions

    async def list_transactions(
        self,
        *,
        states: Collection[str] = (),
        producer_ids: Collection[int] = (),
        longer_than_ms: int = -1,
        transactional_id_pattern: str | None = None,
        brokers: Sequence[int] | None = None,
        request_timeout: float | None = None,
    ) -> Outcomes[int, list[TransactionListing]]:
        """Transactional ids that pass every filter, by the broker that coordinates them (KIP-664, KIP-994, KIP-1152).

        Args:
            states: `Ongoing`, `Empty`, `CompleteCommit`, …; none for all.
            producer_ids: only of these producers; none for all.
            longer_than_ms: only those that have been open so long; -1 for all.
            transactional_id_pattern: a regular expression of RE2J; None for all.
            brokers: whom to ask; None for all that are known.
            request_timeout: seconds.
        """
        request = insides.list_transactions_request(states, producer_ids, longer_than_ms, transactional_id_pattern)

        async def ask(node_id: int, deadline: Deadline) -> Outcome[list[TransactionListing]]:
            return insides.listed_transactions(await self._router.send_to(node_id, request, deadline))

        return await self._router.everywhere("list_transactions", brokers, ask, request_timeout)

    async def describe_transactions(
        self, transactional_ids: Sequence[str], *, request_timeout: float | None = None
    ) -> Outcomes[str, TransactionDescription]:
        """The coordinators' descriptions of transactional ids (KIP-664). Raises TypeError, ValueError."""
        wanted = check_names(transactional_ids, "transactional ids")

        async def one(node_id: int, part: Sequence[str], deadline: Deadline) -> Outcomes[str, TransactionDescription]:
            response = await self._router.send_to(node_id, DescribeTransactionsRequest(list(part)), deadline)
            return insides.described_transactions(node_id, response)

        return await self._router.by_coordinator(
            "describe_transactions", wanted, one, request_timeout, CoordinatorKind.TRANSACTION
        )

    async def describe_producers(
        self,
        partitions: Sequence[TopicPartition],
        *,
        broker_id: int | None = None,
        request_timeout: float | None = None,
    ) -> Outcomes[TopicPartition, list[ProducerState]]:
        """The producers of partitions, with their open transactions (KIP-664). Raises TypeError, ValueError.

        Args:
            partitions: the partitions.
            broker_id: the replica to ask; None for the leaders.
            request_timeout: seconds.
        """
        wanted = check_partitions(partitions)

        async def one(
            node_id: int, part: Sequence[TopicPartition], deadline: Deadline
        ) -> Outcomes[TopicPartition, list[ProducerState]]:
            request = insides.describe_producers_request(part)
            return insides.described_producers(await self._router.send_to(node_id, request, deadline))

        async def there(
            keys: Collection[TopicPartition], deadline: Deadline
        ) -> Outcomes[TopicPartition, list[ProducerState]]:
            return await self._router.gather({broker_id: list(keys)}, one, deadline)

        if broker_id is not None:
            return await self._router.keyed("describe_producers", wanted, there, request_timeout)
        return await self._router.by_leader("describe_producers", wanted, one, request_timeout)

    # ---- features

    async def describe_features(
        self, *, broker_id: int | None = None, request_timeout: float | None = None
    ) -> FeatureMetadata:
        """Features and versions of requests of a broker (None: any) (KIP-584).

        Raises:
            KafkaException: no such broker, or no answer.
        """

        async def ask(deadline: Deadline) -> FeatureMetadata:
            request = ApiVersionsRequest("kserdes", VERSION)
            return insides.feature_metadata(await self._router.send_to(broker_id, request, deadline))

        return await self._router.whole("describe_features", ask, request_timeout)

    async def update_features(
        self,
        updates: Mapping[str, FeatureUpdate],
        *,
        validate_only: bool = False,
        operation_timeout: float | None = None,
        request_timeout: float | None = None,
    ) -> Outcomes[str, None]:
        """Moves features to other levels for the whole cluster (KIP-584). Raises TypeError, ValueError.

        From Kafka 4.1 on all of them move, or none.
        """
        wanted = check_features(updates)
        checked = check_flag(validate_only, "validate_only")
        timeout_ms = self._router.operation_ms(operation_timeout)

        async def attempt(names: Collection[str], deadline: Deadline) -> Outcomes[str, None]:
            connection = await self._router.controller(deadline)
            version = connection.version_of(UpdateFeaturesRequest)
            request = insides.update_features_request(wanted, timeout_ms, checked, version)
            response = await connection.send(request, timeout_s=deadline.left_s(), version=version)
            return insides.updated_features(names, response)

        return await self._router.keyed("update_features", list(wanted), attempt, request_timeout)

    async def list_config_resources(
        self, types: Collection[str] = (), *, request_timeout: float | None = None
    ) -> list[tuple[str, str]]:
        """The resources with configurations: kind and name (KIP-1142).

        Args:
            types: `topic`, `broker`, `broker_logger`, `client_metrics`, `group`; none for all.
            request_timeout: seconds.

        Raises:
            ValueError: no such kind. KafkaException: the request was refused, or no answer.
        """
        if unknown := [each for each in types if each not in CONFIG_TYPES]:
            raise ValueError(f"unknown kind of resource {unknown[0]!r}: there are {', '.join(CONFIG_TYPES)}")
        names = {number: name for name, number in CONFIG_TYPES.items()}
        request = ListConfigResourcesRequest([CONFIG_TYPES[each] for each in types])

        async def ask(deadline: Deadline) -> list[tuple[str, str]]:
            response = await self._router.send_to(None, request, deadline)
            Outcome.of(response.error_code, None).result()
            return [
                (names.get(item.resource_type, str(item.resource_type)), item.resource_name)
                for item in response.config_resources
            ]

        return await self._router.whole("list_config_resources", ask, request_timeout)

    # ---- replicas

    async def describe_log_dirs(
        self,
        brokers: Sequence[int] | None = None,
        *,
        partitions: Sequence[TopicPartition] | None = None,
        request_timeout: float | None = None,
    ) -> Outcomes[int, list[LogDirDescription]]:
        """The log directories of brokers (None: of all) with some partitions or all (KIP-113, KIP-827)."""
        wanted = None if partitions is None else check_partitions(partitions)

        async def ask(node_id: int, deadline: Deadline) -> Outcome[list[LogDirDescription]]:
            request = insides.describe_log_dirs_request(wanted)
            return insides.described_log_dirs(await self._router.send_to(node_id, request, deadline))

        return await self._router.everywhere("describe_log_dirs", brokers, ask, request_timeout)

    async def list_partition_reassignments(
        self,
        partitions: Sequence[TopicPartition] | None = None,
        *,
        operation_timeout: float | None = None,
        request_timeout: float | None = None,
    ) -> dict[TopicPartition, PartitionReassignment]:
        """Moves of partitions (None: of all) under way (KIP-455).

        Raises:
            TypeError, ValueError: arguments that make no sense. KafkaException: the request was refused.
        """
        wanted = None if partitions is None else check_partitions(partitions)
        request = insides.list_reassignments_request(wanted, self._router.operation_ms(operation_timeout))

        async def ask(deadline: Deadline) -> dict[TopicPartition, PartitionReassignment]:
            return insides.listed_reassignments(await self._router.ask_controller(request, deadline))

        return await self._router.whole("list_partition_reassignments", ask, request_timeout)

    async def alter_partition_reassignments(
        self,
        reassignments: Mapping[TopicPartition, Sequence[int] | None],
        *,
        operation_timeout: float | None = None,
        request_timeout: float | None = None,
    ) -> Outcomes[TopicPartition, None]:
        """Gives partitions other replicas, or (None) ends a move under way (KIP-455).

        Raises:
            TypeError, ValueError: arguments that make no sense.
        """
        wanted = check_reassignments(reassignments)
        timeout_ms = self._router.operation_ms(operation_timeout)

        async def attempt(keys: Collection[TopicPartition], deadline: Deadline) -> Outcomes[TopicPartition, None]:
            request = insides.alter_reassignments_request({key: wanted[key] for key in keys}, timeout_ms)
            return insides.altered_reassignments(await self._router.ask_controller(request, deadline))

        return await self._router.keyed("alter_partition_reassignments", list(wanted), attempt, request_timeout)
