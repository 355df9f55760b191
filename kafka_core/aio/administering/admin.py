"""Administration on asyncio: who must be asked, what is tried again, one outcome per topic, resource or group.

Must not know how requests are filled (engine/admin_*.py) or how connections work. Results and names are those of
confluent_kafka.admin; where that returns a dict of futures, this returns a dict of `Outcome` after awaiting.
"""

import asyncio
import random
from collections.abc import Collection, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from kafka_core.admin_model import (
    ConfigEntry,
    ConfigResource,
    ConsumerGroupDescription,
    DeletedRecords,
    DescribeClusterResult,
    ListConsumerGroupsResult,
    ListOffsetsResultInfo,
    NewPartitions,
    NewTopic,
    Outcome,
    ShareGroupDescription,
    SharePartitionOffsetInfo,
    TopicDescription,
    check_text,
)
from kafka_core.admin_offsets import OffsetSpec
from kafka_core.admin_security import (
    AclBinding,
    AclBindingFilter,
    UserScramCredentialAlteration,
    UserScramCredentialsDescription,
)
from kafka_core.aio.administering import security, share_groups
from kafka_core.aio.administering.insides import InsidesCalls
from kafka_core.aio.administering.partitions import PartitionCalls
from kafka_core.aio.administering.routing import CONTROLLER, Deadline, Outcomes, Router
from kafka_core.aio.cluster.client import ClusterClient
from kafka_core.aio.cluster.unanswered import CLUSTER_ID, METADATA, answering
from kafka_core.aio.tasks.dropped import Leash
from kafka_core.aio.tasks.handover import weakly
from kafka_core.config import Config, Role, parse
from kafka_core.engine.administering import configs as admin_configs
from kafka_core.engine.administering import groups as admin_groups
from kafka_core.engine.administering import partitions as admin_partitions
from kafka_core.engine.administering import topics as admin_topics
from kafka_core.engine.administering.checks import (
    check_deletions,
    check_election,
    check_filters,
    check_flag,
    check_group_offsets,
    check_isolation,
    check_names,
    check_new_partitions,
    check_new_topics,
    check_offset_specs,
    check_topics,
)
from kafka_core.engine.cluster_metadata import cluster_metadata
from kafka_core.errors import BrokerError, KafkaError, KafkaException, UnsupportedVersionError
from kafka_core.listings import (
    BrokerMetadata,
    ClusterMetadata,
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    ConsumerGroupType,
    ElectionType,
    GroupMetadata,
    TopicCollection,
)
from kafka_core.model import IsolationLevel, TopicPartition, Uuid
from kafka_core.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from kafka_core.protocol.messages.delete_groups import DeleteGroupsRequest
from kafka_core.protocol.messages.delete_topics import DeleteTopicsRequest
from kafka_core.protocol.messages.describe_cluster import DescribeClusterRequest
from kafka_core.protocol.messages.describe_groups import DescribeGroupsRequest
from kafka_core.protocol.messages.list_groups import ListGroupsRequest
from kafka_core.protocol.messages.offset_commit import OffsetCommitRequest
from kafka_core.protocol.messages.offset_fetch import OffsetFetchRequest


class AIOAdminClient(InsidesCalls, PartitionCalls):
    """Administration of a cluster from asyncio code, on one event loop; can be made on any thread.

    Time-outs are in seconds; `request_timeout` bounds the whole call (default socket.timeout.ms), `operation_timeout`
    is how long the broker may wait for the effect. What fails for good fails for one key only: the others go on.

    Args:
        conf: properties (docs/configuration.md).
        client: the cluster client to use instead of a new one; for tests.
        rng: for jitter.

    Raises:
        ConfigError: something in `conf` is wrong.
    """

    def __init__(
        self,
        conf: Mapping[str, object] | Config,
        *,
        client: ClusterClient | None = None,
        rng: random.Random | None = None,
    ) -> None:
        if isinstance(conf, Config):
            self.config = conf
        else:
            self.config, self._own_callbacks = weakly(parse(conf, Role.ADMIN), awaits=True)
        self.client = client or ClusterClient(self.config, hooks=self.config.hooks())
        self._leash: Leash | None = None
        if client is None and not isinstance(conf, Config):  # else somebody else ends the client
            self._leash = Leash(self, self.client.loop, self.client.close)
        self._router = Router(self.client, self.config, rng or random.SystemRandom())

    async def start(self) -> None:
        """Starts the background work; otherwise the first call does it."""
        await self._router.start()

    async def close(self, timeout_s: float = 5.0) -> None:
        """Closes all connections, within `timeout_s`; calls that wait fail."""
        if self._leash is not None:
            self._leash.closed()
        await self.client.close(timeout_s)

    async def set_sasl_credentials(self, username: str, password: str) -> None:
        """Use these from the next authentication on (PLAIN, SCRAM); open connections stay as they are."""
        self.client.set_sasl_credentials(username, password)

    async def __aenter__(self) -> Self:
        await self._router.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    # ---- topics

    async def create_topics(
        self,
        new_topics: Sequence[NewTopic],
        *,
        operation_timeout: float | None = None,
        request_timeout: float | None = None,
        validate_only: bool = False,
    ) -> Outcomes[str, None]:
        """Creates topics, or only checks whether that is possible.

        Raises:
            TypeError, ValueError: arguments that make no sense. Everything else is in the outcomes.
        """
        topics = {topic.topic: topic for topic in check_new_topics(new_topics)}
        timeout_ms = self._router.operation_ms(operation_timeout)

        async def attempt(names: Collection[str], deadline: Deadline) -> Outcomes[str, None]:
            request = admin_topics.create_topics_request(
                [topics[name] for name in names],
                timeout_ms=timeout_ms,
                validate_only=check_flag(validate_only, "validate_only"),
            )
            response = await self.client.send_controller(request, timeout_s=deadline.left_s())
            return admin_topics.topic_outcomes(response)

        return await self._router.keyed("create_topics", list(topics), attempt, request_timeout)

    async def delete_topics(
        self,
        topics: Sequence[str],
        *,
        operation_timeout: float | None = None,
        request_timeout: float | None = None,
    ) -> Outcomes[str, None]:
        """Deletes topics. Raises TypeError, ValueError as `create_topics`."""
        wanted = check_names(topics, "topic names")
        timeout_ms = self._router.operation_ms(operation_timeout)

        async def attempt(names: Collection[str], deadline: Deadline) -> Outcomes[str, None]:
            connection = await self._router.controller(deadline)
            version = connection.version_of(DeleteTopicsRequest)
            request = admin_topics.delete_topics_request(list(names), timeout_ms=timeout_ms, version=version)
            response = await connection.send(request, timeout_s=deadline.left_s(), version=version)
            return admin_topics.topic_outcomes(response)

        return await self._router.keyed("delete_topics", wanted, attempt, request_timeout)

    async def create_partitions(
        self,
        new_partitions: Sequence[NewPartitions],
        *,
        operation_timeout: float | None = None,
        request_timeout: float | None = None,
        validate_only: bool = False,
    ) -> Outcomes[str, None]:
        """Adds partitions to topics. Raises TypeError, ValueError as `create_topics`."""
        items = {item.topic: item for item in check_new_partitions(new_partitions)}
        timeout_ms = self._router.operation_ms(operation_timeout)

        async def attempt(names: Collection[str], deadline: Deadline) -> Outcomes[str, None]:
            request = admin_topics.create_partitions_request(
                [items[name] for name in names],
                timeout_ms=timeout_ms,
                validate_only=check_flag(validate_only, "validate_only"),
            )
            response = await self.client.send_controller(request, timeout_s=deadline.left_s())
            return admin_topics.topic_outcomes(response)

        return await self._router.keyed("create_partitions", list(items), attempt, request_timeout)

    async def list_topics(self, topic: str | None = None, timeout: float | None = None) -> ClusterMetadata:
        """Brokers and all topics, or the one topic (which is never created by asking).

        Raises:
            KafkaException: nobody answered.
        """
        if topic is not None:
            check_text(topic, "topic")
        await self._router.start()
        timeout_s = self._router.timeout_s if timeout is None or timeout < 0 else timeout
        wanted = None if topic is None else [topic]
        with answering(METADATA, KafkaError._TRANSPORT):
            view = await self.client.refresh_metadata(wanted, timeout_s=timeout_s, allow_auto_create=False)
        return cluster_metadata(view, topic)

    async def describe_topics(
        self,
        topics: TopicCollection | Sequence[str],
        *,
        include_authorized_operations: bool = False,
        request_timeout: float | None = None,
    ) -> Outcomes[str, TopicDescription]:
        """Topics with their partitions, replicas and ids, and on request the caller's permissions."""
        wanted = check_topics(topics)
        with_operations = check_flag(include_authorized_operations, "include_authorized_operations")

        async def attempt(names: Collection[str], deadline: Deadline) -> Outcomes[str, TopicDescription]:
            view = await self.client.refresh_metadata(names, timeout_s=deadline.left_s(), allow_auto_create=False)
            described = {name: admin_topics.describe_topic(view, name) for name in names}
            if with_operations:
                request = admin_topics.operations_request(names)
                answer = await self.client.send_any(request, timeout_s=deadline.left_s())
                admin_topics.add_operations(described, answer)
            return described

        return await self._router.keyed("describe_topics", wanted, attempt, request_timeout)

    # ---- cluster

    async def describe_cluster(
        self, *, include_authorized_operations: bool = False, request_timeout: float | None = None
    ) -> DescribeClusterResult:
        """Cluster id, controller and brokers.

        Raises:
            KafkaException: nobody answered, or not with that.
        """
        with answering(CONTROLLER):
            return await self._describe_cluster(
                check_flag(include_authorized_operations, "include_authorized_operations"), request_timeout
            )

    async def _describe_cluster(self, with_operations: bool, request_timeout: float | None) -> DescribeClusterResult:
        await self._router.start()
        timeout_s = self._router.call_s(request_timeout)
        try:
            response = await self.client.send_any(DescribeClusterRequest(with_operations), timeout_s=timeout_s)
        except UnsupportedVersionError:  # a broker before 2.8
            view = await self.client.refresh_metadata((), timeout_s=timeout_s)
            return admin_topics.cluster_description_of_view(view)
        if response.error_code:
            raise BrokerError(response.error_code, response.error_message)
        return admin_topics.cluster_description(response)

    async def cluster_id(self, timeout: float | None = None) -> str | None:
        """The cluster's id. Raises KafkaException if no broker answers."""
        with answering(CLUSTER_ID):
            return (await self._describe_cluster(False, timeout)).cluster_id

    async def client_instance_id(self, timeout: float | None = None) -> Uuid:
        """The id that the cluster has given this client, by which its telemetry is known there (KIP-714); waits for it.

        Java's `clientInstanceId`; confluent_kafka has nothing like it.

        Args:
            timeout: Seconds; None for socket.timeout.ms.

        Raises:
            StateError: `enable.metrics.push` is false, or the client is closed.
            UnsupportedVersionError: The cluster takes no telemetry.
            KafkaException: The cluster refuses to give an id, or nobody answered in time.
        """
        return await self.client.client_instance_id(timeout_s=timeout)

    # ---- configurations

    async def describe_configs(
        self, resources: Sequence[ConfigResource], *, request_timeout: float | None = None
    ) -> Outcomes[ConfigResource, dict[str, ConfigEntry]]:
        """All configuration entries of topics, brokers or groups, by name. Raises TypeError, ValueError."""
        wanted = admin_configs.check_resources(resources)

        async def one(node_id: int | None, part: Sequence[ConfigResource], deadline: Deadline) -> Any:
            request = admin_configs.describe_request(part)
            return admin_configs.described(await self._router.send_to(node_id, request, deadline))

        return await self._router.by_broker("describe_configs", wanted, one, request_timeout)

    async def alter_configs(
        self,
        resources: Sequence[ConfigResource],
        *,
        request_timeout: float | None = None,
        validate_only: bool = False,
    ) -> Outcomes[ConfigResource, None]:
        """Replaces whole configurations: unset properties go back to their defaults. Raises as above."""
        wanted = admin_configs.check_resources(resources)

        async def one(node_id: int | None, part: Sequence[ConfigResource], deadline: Deadline) -> Any:
            request = admin_configs.alter_request(part, validate_only=check_flag(validate_only, "validate_only"))
            return admin_configs.altered(await self._router.send_to(node_id, request, deadline, controller=True))

        return await self._router.by_broker("alter_configs", wanted, one, request_timeout)

    async def incremental_alter_configs(
        self,
        resources: Sequence[ConfigResource],
        *,
        request_timeout: float | None = None,
        validate_only: bool = False,
        broker: int | None = None,
    ) -> Outcomes[ConfigResource, None]:
        """Changes single entries; `broker` gets the request instead of the controller. Raises as above."""
        wanted = admin_configs.check_resources(resources)
        admin_configs.check_increments(wanted)

        async def one(node_id: int | None, part: Sequence[ConfigResource], deadline: Deadline) -> Any:
            request = admin_configs.incremental_alter_request(
                part, validate_only=check_flag(validate_only, "validate_only")
            )
            target = broker if node_id is None else node_id
            return admin_configs.altered(await self._router.send_to(target, request, deadline, controller=True))

        return await self._router.by_broker("incremental_alter_configs", wanted, one, request_timeout)

    # ---- partitions

    async def delete_records(
        self,
        topic_partition_offsets: Sequence[TopicPartition],
        *,
        operation_timeout: float | None = None,
        request_timeout: float | None = None,
    ) -> Outcomes[TopicPartition, DeletedRecords]:
        """Deletes the records before each partition's `offset`, all with OFFSET_END. Raises TypeError, ValueError."""
        offsets = check_deletions(topic_partition_offsets)
        timeout_ms = self._router.operation_ms(operation_timeout)

        async def one(
            node_id: int, part: Sequence[TopicPartition], deadline: Deadline
        ) -> Outcomes[TopicPartition, DeletedRecords]:
            request = admin_partitions.delete_records_request({item: offsets[item] for item in part}, timeout_ms)
            return admin_partitions.deleted_records(await self._router.send_to(node_id, request, deadline))

        return await self._router.by_leader("delete_records", list(offsets), one, request_timeout)

    async def elect_leaders(
        self,
        election_type: ElectionType,
        partitions: Sequence[TopicPartition] | None = None,
        *,
        operation_timeout: float | None = None,
        request_timeout: float | None = None,
    ) -> dict[TopicPartition, KafkaException | None]:
        """Elects leaders of partitions (None: of all in the cluster); None for each success, else the error.

        With None the brokers speak only of partitions that needed an election.

        Raises:
            TypeError, ValueError: arguments that make no sense.
            KafkaException: the request as a whole was refused.
        """
        wanted = check_election(election_type, partitions)
        timeout_ms = self._router.operation_ms(operation_timeout)
        request = admin_partitions.elect_leaders_request(election_type, wanted, timeout_ms)

        async def ask(deadline: Deadline) -> dict[TopicPartition, KafkaException | None]:
            return admin_partitions.elected(wanted, await self._router.ask_controller(request, deadline))

        return await self._router.whole("elect_leaders", ask, request_timeout)

    # ---- ACLs and users

    async def create_acls(
        self, acls: Sequence[AclBinding], *, request_timeout: float | None = None
    ) -> Outcomes[AclBinding, None]:
        """Creates ACL bindings; an existing one is no error. Raises TypeError, ValueError."""
        return await security.create_acls(self._router, acls, request_timeout)

    async def describe_acls(
        self, acl_binding_filter: AclBindingFilter, *, request_timeout: float | None = None
    ) -> list[AclBinding]:
        """The ACL bindings that match a filter.

        Raises:
            TypeError: not a filter. KafkaException: refused (SECURITY_DISABLED without an authorizer), or no answer.
        """
        return await security.describe_acls(self._router, acl_binding_filter, request_timeout)

    async def delete_acls(
        self, acl_binding_filters: Sequence[AclBindingFilter], *, request_timeout: float | None = None
    ) -> Outcomes[AclBindingFilter, list[AclBinding]]:
        """Deletes the ACL bindings that match filters, and returns them. Raises TypeError, ValueError."""
        return await security.delete_acls(self._router, acl_binding_filters, request_timeout)

    async def describe_user_scram_credentials(
        self, users: Sequence[str] | None = None, *, request_timeout: float | None = None
    ) -> Outcomes[str, UserScramCredentialsDescription]:
        """The SCRAM credentials of users (None: of all): mechanisms and iterations. Raises TypeError, ValueError.

        Raises:
            KafkaException: all users were asked for, and nobody answered with them.
        """
        return await security.describe_users(self._router, users, request_timeout)

    async def alter_user_scram_credentials(
        self, alterations: Sequence[UserScramCredentialAlteration], *, request_timeout: float | None = None
    ) -> Outcomes[str, None]:
        """Sets and removes SCRAM credentials; one outcome per user. Raises TypeError, ValueError.

        Passwords are hashed here and not sent (KIP-554).
        """
        return await security.alter_users(self._router, alterations, request_timeout)

    # ---- groups

    async def list_consumer_groups(
        self,
        *,
        request_timeout: float | None = None,
        states: Collection[ConsumerGroupState] | None = (),
        types: Collection[ConsumerGroupType] | None = (),
    ) -> ListConsumerGroupsResult:
        """Groups of all brokers; errors of single brokers are in the result.

        Share groups are among them only if `types` names `ConsumerGroupType.SHARE`.

        Raises:
            TypeError: filters that are not sets of the enums. KafkaException: no broker could be found.
        """
        check_filters(states, types)
        states, types = states or (), types or ()
        deadline = await self._router.begin("list_consumer_groups", request_timeout)
        request = admin_groups.list_groups_request(states, types)
        with answering(CONTROLLER):
            listed, errors = await self._router.list_everywhere(request, deadline)
        groups = [group for part in listed.values() for group in part]
        return ListConsumerGroupsResult(admin_groups.consumer_group_listings(groups, types), errors)

    async def describe_consumer_groups(
        self,
        group_ids: Sequence[str],
        *,
        include_authorized_operations: bool = False,
        request_timeout: float | None = None,
    ) -> Outcomes[str, ConsumerGroupDescription]:
        """Groups with their members and assignments. Raises TypeError, ValueError."""
        wanted = check_names(group_ids, "group ids")

        async def one(node_id: int, part: Sequence[str], deadline: Deadline) -> Outcomes[str, ConsumerGroupDescription]:
            coordinator = admin_topics.node(self.client.metadata.brokers, node_id)
            found = await self._describe_consumers(node_id, part, include_authorized_operations, deadline)
            if left := [name for name in part if name not in found]:
                request = DescribeGroupsRequest(left, include_authorized_operations)
                response = await self.client.send(node_id, request, timeout_s=deadline.left_s())
                found |= {item.group_id: admin_groups.describe_group(item, coordinator) for item in response.groups}
            return found

        return await self._router.by_coordinator("describe_consumer_groups", wanted, one, request_timeout)

    async def _describe_consumers(
        self, node_id: int, part: Sequence[str], operations: bool, deadline: Deadline
    ) -> Outcomes[str, ConsumerGroupDescription]:
        """Those of the groups that their coordinator assigns (KIP-848); the others are left out."""
        connection = await self._router.in_time(lambda: self.client.connection(node_id), deadline)
        try:
            connection.version_of(ConsumerGroupDescribeRequest)
        except UnsupportedVersionError:
            return {}
        request = ConsumerGroupDescribeRequest(list(part), operations)
        response = await self.client.send(node_id, request, timeout_s=deadline.left_s())
        coordinator = admin_topics.node(self.client.metadata.brokers, node_id)
        return {
            item.group_id: admin_groups.describe_consumer_group(item, coordinator)
            for item in response.groups
            if item.error_code not in admin_groups.NOT_ASSIGNED_BY_BROKER
        }

    async def delete_consumer_groups(
        self, group_ids: Sequence[str], *, request_timeout: float | None = None
    ) -> Outcomes[str, None]:
        """Deletes groups without members, with their offsets. Raises TypeError, ValueError."""
        wanted = check_names(group_ids, "group ids")

        async def one(node_id: int, part: Sequence[str], deadline: Deadline) -> Outcomes[str, None]:
            request = DeleteGroupsRequest(list(part))
            response = await self.client.send(node_id, request, timeout_s=deadline.left_s())
            return {item.group_id: Outcome.of(item.error_code, None) for item in response.results}

        return await self._router.by_coordinator("delete_consumer_groups", wanted, one, request_timeout)

    async def list_groups(self, group: str | None = None, timeout: float | None = None) -> list[GroupMetadata]:
        """All groups of all kinds with their members, or the one group.

        Raises:
            KafkaException: brokers could not be asked, and none answered.
        """
        if group is not None:
            check_text(group, "group")
        deadline = await self._router.begin("list_groups", None if timeout is None or timeout < 0 else timeout)
        with answering("Failed to list groups"):
            listed, errors = await self._router.list_everywhere(ListGroupsRequest(), deadline)
            if errors and not listed:
                raise errors[0]
        wanted = {
            node_id: [item.group_id for item in part if group in (None, item.group_id)]
            for node_id, part in listed.items()
        }
        parts = [self._describe_at(node_id, names, deadline) for node_id, names in wanted.items() if names]
        return [item for part in await asyncio.gather(*parts) for item in part]

    async def _describe_at(self, node_id: int, names: Sequence[str], deadline: Deadline) -> list[GroupMetadata]:
        response = await self.client.send(node_id, DescribeGroupsRequest(list(names)), timeout_s=deadline.left_s())
        told = {item.group_id: item for item in response.groups}
        return [self._group_metadata(admin_groups.group_metadata(name, told.get(name)), node_id) for name in names]

    def _group_metadata(self, metadata: GroupMetadata, node_id: int) -> GroupMetadata:
        broker = admin_topics.node(self.client.metadata.brokers, node_id)
        metadata.broker = BrokerMetadata(broker.id, broker.host, broker.port)
        return metadata

    # ---- share groups

    async def describe_share_groups(
        self,
        group_ids: Sequence[str],
        *,
        include_authorized_operations: bool = False,
        request_timeout: float | None = None,
    ) -> Outcomes[str, ShareGroupDescription]:
        """Share groups (KIP-932) with their members and assignments. Raises TypeError, ValueError."""
        return await share_groups.describe(self._router, group_ids, include_authorized_operations, request_timeout)

    async def delete_share_groups(
        self, group_ids: Sequence[str], *, request_timeout: float | None = None
    ) -> Outcomes[str, None]:
        """Deletes share groups without members, with their offsets; groups of other kinds are not touched.

        Raises:
            TypeError, ValueError: the ids make no sense.
        """
        return await share_groups.delete(self._router, group_ids, request_timeout)

    async def list_share_group_offsets(
        self,
        list_share_group_offsets_request: Sequence[ConsumerGroupTopicPartitions],
        *,
        request_timeout: float | None = None,
    ) -> Outcomes[str, dict[TopicPartition, SharePartitionOffsetInfo]]:
        """Positions of share groups in the named partitions (None: all they have read). Raises TypeError, ValueError.

        What goes wrong with one partition is in its `error`.
        """
        return await share_groups.list_offsets(self._router, list_share_group_offsets_request, request_timeout)

    async def alter_share_group_offsets(
        self,
        alter_share_group_offsets_request: Sequence[ConsumerGroupTopicPartitions],
        *,
        request_timeout: float | None = None,
    ) -> Outcomes[str, ConsumerGroupTopicPartitions]:
        """Sets the start offsets of share groups that have no members at the moment; errors are in the partitions.

        A group that is not there is made. Raises TypeError, ValueError.
        """
        return await share_groups.alter_offsets(self._router, alter_share_group_offsets_request, request_timeout)

    async def delete_share_group_offsets(
        self, group_id: str, topics: Sequence[str], *, request_timeout: float | None = None
    ) -> Outcomes[str, None]:
        """Deletes a memberless share group's positions in topics; an outcome per topic. Raises TypeError, ValueError.

        The group begins there anew, as its `share.auto.offset.reset` says.
        """
        return await share_groups.delete_offsets(self._router, group_id, topics, request_timeout)

    # ---- offsets

    async def list_consumer_group_offsets(
        self,
        list_consumer_group_offsets_request: Sequence[ConsumerGroupTopicPartitions],
        *,
        require_stable: bool = False,
        request_timeout: float | None = None,
    ) -> Outcomes[str, ConsumerGroupTopicPartitions]:
        """Committed offsets of groups. Raises TypeError, ValueError."""
        groups = check_group_offsets(list_consumer_group_offsets_request, offsets_needed=False)

        async def one(
            node_id: int, part: Sequence[str], deadline: Deadline
        ) -> Outcomes[str, ConsumerGroupTopicPartitions]:
            connection = await self._router.in_time(lambda: self.client.connection(node_id), deadline)
            version = min(connection.version_of(OffsetFetchRequest), admin_groups.MAX_OFFSET_API_VERSION)
            found = {}
            for name in part:
                request = admin_groups.fetch_offsets_request(
                    groups[name], require_stable=check_flag(require_stable, "require_stable"), version=version
                )
                response = await connection.send(request, timeout_s=deadline.left_s(), version=version)
                found[name] = admin_groups.fetched_offsets(groups[name], response)
            return found

        return await self._router.by_coordinator("list_consumer_group_offsets", list(groups), one, request_timeout)

    async def alter_consumer_group_offsets(
        self,
        alter_consumer_group_offsets_request: Sequence[ConsumerGroupTopicPartitions],
        *,
        request_timeout: float | None = None,
    ) -> Outcomes[str, ConsumerGroupTopicPartitions]:
        """Sets committed offsets of groups that have no members at the moment. Raises TypeError, ValueError."""
        groups = check_group_offsets(alter_consumer_group_offsets_request, offsets_needed=True)

        async def one(
            node_id: int, part: Sequence[str], deadline: Deadline
        ) -> Outcomes[str, ConsumerGroupTopicPartitions]:
            connection = await self._router.in_time(lambda: self.client.connection(node_id), deadline)
            version = min(connection.version_of(OffsetCommitRequest), admin_groups.MAX_OFFSET_API_VERSION)
            done = {}
            for name in part:
                request = admin_groups.commit_offsets_request(groups[name])
                response = await connection.send(request, timeout_s=deadline.left_s(), version=version)
                done[name] = admin_groups.committed_offsets(groups[name], response)
            return done

        return await self._router.by_coordinator("alter_consumer_group_offsets", list(groups), one, request_timeout)

    async def list_offsets(
        self,
        topic_partition_offsets: Mapping[TopicPartition, OffsetSpec],
        *,
        isolation_level: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
        request_timeout: float | None = None,
    ) -> Outcomes[TopicPartition, ListOffsetsResultInfo]:
        """First, last or other offsets of partitions. Raises TypeError, ValueError."""
        check_isolation(isolation_level)
        wanted = check_offset_specs(topic_partition_offsets)

        async def one(
            node_id: int, part: Sequence[TopicPartition], deadline: Deadline
        ) -> Outcomes[TopicPartition, ListOffsetsResultInfo]:
            specs = {item: wanted[item] for item in part}
            request = admin_groups.list_offsets_request(specs, isolation_level, int(deadline.left_s() * 1000))
            return admin_groups.listed_offsets(await self.client.send(node_id, request, timeout_s=deadline.left_s()))

        return await self._router.by_leader("list_offsets", list(wanted), one, request_timeout)
