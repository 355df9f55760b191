"""Administration, blocking: confluent_kafka.admin's AdminClient as a thin facade over the asyncio client.

Must not hold any protocol logic: it starts coroutines on its loop thread and hands out futures.
Spec: names, arguments and results of confluent_kafka.admin.AdminClient.
"""

import queue
import threading
from collections.abc import Callable, Collection, Coroutine, Hashable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar, cast, overload

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
)
from kafka_core.admin_offsets import OffsetSpec
from kafka_core.admin_security import (
    AclBinding,
    AclBindingFilter,
    UserScramCredentialAlteration,
    UserScramCredentialsDescription,
)
from kafka_core.aio.administering.admin import AIOAdminClient
from kafka_core.aio.tasks.handover import weakly
from kafka_core.config import Role, joined, parse
from kafka_core.engine.administering import configs as admin_configs
from kafka_core.engine.administering.checks import (
    check_alterations,
    check_binding_filters,
    check_bindings,
    check_deletions,
    check_election,
    check_filter,
    check_filters,
    check_flag,
    check_group_offsets,
    check_isolation,
    check_names,
    check_new_partitions,
    check_new_topics,
    check_offset_specs,
    check_topics,
    check_users,
    checked_timeout,
)
from kafka_core.errors import KafkaException, StateError
from kafka_core.listings import (
    ClusterMetadata,
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    ConsumerGroupType,
    ElectionType,
    GroupMetadata,
    TopicCollection,
)
from kafka_core.model import IsolationLevel, TopicPartition, Uuid
from kafka_core.sync.insides_calls import InsidesCalls
from kafka_core.sync.loop_thread import LoopThread
from kafka_core.sync.partition_calls import PartitionCalls

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class AdminClient(InsidesCalls, PartitionCalls):
    """Administration of a cluster from blocking code; may be used by several threads.

    Methods that return futures return at once: `future.result()` waits, and raises `KafkaException` if it failed for
    that topic, resource or group. Time-outs are in seconds. Arguments that make no sense raise TypeError or ValueError
    at once.

    Args:
        conf: properties (docs/configuration.md); more may be given by name, `logger=...` too.
        make: makes the asyncio client; for tests.

    Raises:
        ConfigError: something in the configuration is wrong.
    """

    def __init__(
        self,
        conf: Mapping[str, object] | None = None,
        /,
        *,
        make: Callable[..., AIOAdminClient] = AIOAdminClient,
        **more: object,
    ) -> None:
        self._config = parse(joined(conf, more), Role.ADMIN)
        self._thread = LoopThread("kafka-core-admin")
        self._events: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._timeout_s = self._config.seconds("socket.timeout.ms")
        weak_config, self._own_callbacks = weakly(self._config)
        self._core = make(weak_config)
        report, events = weak_config.callback("error_cb"), self._events
        if report is not None:  # the listener does not know self, which may be dropped
            self._core.client.on_error(lambda error: events.put(partial(report, error)))
        cluster = self._core.client
        if cluster.needs_token or self._config.has_listeners():
            self._thread.begin(_begin(self._core), waits=cluster.awaits_token)

    # ---- topics

    def create_topics(
        self,
        new_topics: Sequence[NewTopic],
        *,
        operation_timeout: float | None = None,
        request_timeout: float | None = None,
        validate_only: bool = False,
    ) -> dict[str, Future[None]]:
        """Creates topics; a future per topic name."""
        keys = [topic.topic for topic in check_new_topics(new_topics)]
        call = self._core.create_topics(
            new_topics,
            operation_timeout=self._seconds(operation_timeout, "operation_timeout"),
            request_timeout=self._seconds(request_timeout),
            validate_only=check_flag(validate_only, "validate_only"),
        )
        return self._futures(keys, call)

    def delete_topics(
        self,
        topics: Sequence[str],
        *,
        operation_timeout: float | None = None,
        request_timeout: float | None = None,
    ) -> dict[str, Future[None]]:
        """Deletes topics; a future per topic name."""
        keys = check_names(topics, "topic names")
        call = self._core.delete_topics(
            topics,
            operation_timeout=self._seconds(operation_timeout, "operation_timeout"),
            request_timeout=self._seconds(request_timeout),
        )
        return self._futures(keys, call)

    def create_partitions(
        self,
        new_partitions: Sequence[NewPartitions],
        *,
        operation_timeout: float | None = None,
        request_timeout: float | None = None,
        validate_only: bool = False,
    ) -> dict[str, Future[None]]:
        """Adds partitions to topics; a future per topic name."""
        keys = [item.topic for item in check_new_partitions(new_partitions)]
        call = self._core.create_partitions(
            new_partitions,
            operation_timeout=self._seconds(operation_timeout, "operation_timeout"),
            request_timeout=self._seconds(request_timeout),
            validate_only=check_flag(validate_only, "validate_only"),
        )
        return self._futures(keys, call)

    def list_topics(self, topic: str | None = None, timeout: float = -1) -> ClusterMetadata:
        """Brokers and all topics (or one); waits up to `timeout` seconds, -1 is socket.timeout.ms.

        Raises:
            KafkaException: nobody answered in time.
        """
        return self._run(self._core.list_topics(topic, timeout), timeout)

    def describe_topics(
        self,
        topics: TopicCollection | Sequence[str],
        *,
        include_authorized_operations: bool = False,
        request_timeout: float | None = None,
    ) -> dict[str, Future[TopicDescription]]:
        """Topics with their partitions, and on request the caller's permissions; a future per topic name."""
        keys = check_topics(topics)
        call = self._core.describe_topics(
            topics,
            include_authorized_operations=check_flag(include_authorized_operations, "include_authorized_operations"),
            request_timeout=self._seconds(request_timeout),
        )
        return self._futures(keys, call)

    # ---- cluster

    def describe_cluster(
        self, *, include_authorized_operations: bool = False, request_timeout: float | None = None
    ) -> Future[DescribeClusterResult]:
        """Cluster id, controller and brokers."""
        call = self._core.describe_cluster(
            include_authorized_operations=check_flag(include_authorized_operations, "include_authorized_operations"),
            request_timeout=self._seconds(request_timeout),
        )
        return self._future(call)

    def cluster_id(self, timeout: float = -1) -> str | None:
        """The cluster's id; waits as `list_topics`."""
        return self._run(self._core.cluster_id(None if timeout < 0 else timeout), timeout)

    def client_instance_id(self, timeout: float = -1) -> Uuid:
        """The id that the cluster has given this client, by which its telemetry is known there (KIP-714); waits for it.

        Java's `clientInstanceId`; confluent_kafka has nothing like it.

        Args:
            timeout: Seconds; negative for socket.timeout.ms.

        Raises:
            StateError: `enable.metrics.push` is false, or the client is closed.
            UnsupportedVersionError: The cluster takes no telemetry.
            KafkaException: The cluster refuses to give an id, or nobody answered in time.
        """
        return self._run(self._core.client_instance_id(None if timeout < 0 else timeout), timeout)

    # ---- configurations

    def describe_configs(
        self, resources: Sequence[ConfigResource], *, request_timeout: float | None = None
    ) -> dict[ConfigResource, Future[dict[str, ConfigEntry]]]:
        """All configuration entries by name; a future per resource."""
        keys = admin_configs.check_resources(resources)
        return self._futures(keys, self._core.describe_configs(keys, request_timeout=self._seconds(request_timeout)))

    def alter_configs(
        self,
        resources: Sequence[ConfigResource],
        *,
        request_timeout: float | None = None,
        validate_only: bool = False,
    ) -> dict[ConfigResource, Future[None]]:
        """Replaces whole configurations (unset properties go back to their defaults); a future per resource."""
        keys = admin_configs.check_resources(resources)
        call = self._core.alter_configs(
            keys,
            request_timeout=self._seconds(request_timeout),
            validate_only=check_flag(validate_only, "validate_only"),
        )
        return self._futures(keys, call)

    def incremental_alter_configs(
        self,
        resources: Sequence[ConfigResource],
        *,
        request_timeout: float | None = None,
        validate_only: bool = False,
        broker: int | None = None,
    ) -> dict[ConfigResource, Future[None]]:
        """Changes single entries; a future per resource."""
        keys = admin_configs.check_resources(resources)
        admin_configs.check_increments(keys)
        call = self._core.incremental_alter_configs(
            keys,
            request_timeout=self._seconds(request_timeout),
            validate_only=check_flag(validate_only, "validate_only"),
            broker=broker,
        )
        return self._futures(keys, call)

    # ---- partitions

    def delete_records(
        self,
        topic_partition_offsets: Sequence[TopicPartition],
        *,
        operation_timeout: float | None = None,
        request_timeout: float | None = None,
    ) -> dict[TopicPartition, Future[DeletedRecords]]:
        """Deletes the records before each partition's `offset` (OFFSET_END: all of them); a future per partition."""
        keys = list(check_deletions(topic_partition_offsets))
        call = self._core.delete_records(
            topic_partition_offsets,
            operation_timeout=self._seconds(operation_timeout, "operation_timeout"),
            request_timeout=self._seconds(request_timeout),
        )
        return self._futures(keys, call)

    def elect_leaders(
        self,
        election_type: ElectionType,
        partitions: Sequence[TopicPartition] | None = None,
        *,
        operation_timeout: float | None = None,
        request_timeout: float | None = None,
    ) -> Future[dict[TopicPartition, KafkaException | None]]:
        """Elects leaders of partitions (None: of all in the cluster); None for each success, else the error."""
        check_election(election_type, partitions)
        call = self._core.elect_leaders(
            election_type,
            partitions,
            operation_timeout=self._seconds(operation_timeout, "operation_timeout"),
            request_timeout=self._seconds(request_timeout),
        )
        return self._future(call)

    # ---- ACLs and users

    def create_acls(
        self, acls: Sequence[AclBinding], *, request_timeout: float | None = None
    ) -> dict[AclBinding, Future[None]]:
        """Creates ACL bindings (an existing one is no error); a future per binding."""
        keys = check_bindings(acls)
        return self._futures(keys, self._core.create_acls(keys, request_timeout=self._seconds(request_timeout)))

    def describe_acls(
        self, acl_binding_filter: AclBindingFilter, *, request_timeout: float | None = None
    ) -> Future[list[AclBinding]]:
        """The ACL bindings that match a filter."""
        check_filter(acl_binding_filter)
        call = self._core.describe_acls(acl_binding_filter, request_timeout=self._seconds(request_timeout))
        return self._future(call)

    def delete_acls(
        self, acl_binding_filters: Sequence[AclBindingFilter], *, request_timeout: float | None = None
    ) -> dict[AclBindingFilter, Future[list[AclBinding]]]:
        """Deletes the ACL bindings that match filters; a future per filter, with the deleted bindings."""
        keys = check_binding_filters(acl_binding_filters)
        return self._futures(keys, self._core.delete_acls(keys, request_timeout=self._seconds(request_timeout)))

    @overload
    def describe_user_scram_credentials(
        self, users: None = None, *, request_timeout: float | None = None
    ) -> Future[dict[str, UserScramCredentialsDescription]]: ...

    @overload
    def describe_user_scram_credentials(
        self, users: Sequence[str], *, request_timeout: float | None = None
    ) -> dict[str, Future[UserScramCredentialsDescription]]: ...

    def describe_user_scram_credentials(
        self, users: Sequence[str] | None = None, *, request_timeout: float | None = None
    ) -> Future[dict[str, UserScramCredentialsDescription]] | dict[str, Future[UserScramCredentialsDescription]]:
        """SCRAM credentials: a future per user named, or one future for a dict of all users."""
        keys = check_users(users)
        call = self._core.describe_user_scram_credentials(keys, request_timeout=self._seconds(request_timeout))
        return self._future(every_value(call)) if keys is None else self._futures(keys, call)

    def alter_user_scram_credentials(
        self, alterations: Sequence[UserScramCredentialAlteration], *, request_timeout: float | None = None
    ) -> dict[str, Future[None]]:
        """Sets and removes SCRAM credentials; a future per user. Passwords are hashed here and not sent (KIP-554)."""
        keys = list(dict.fromkeys(item.user for item in check_alterations(alterations)))
        call = self._core.alter_user_scram_credentials(alterations, request_timeout=self._seconds(request_timeout))
        return self._futures(keys, call)

    # ---- groups

    def list_consumer_groups(
        self,
        *,
        request_timeout: float | None = None,
        states: Collection[ConsumerGroupState] | None = (),
        types: Collection[ConsumerGroupType] | None = (),
    ) -> Future[ListConsumerGroupsResult]:
        """Consumer groups of all brokers; errors of single brokers are in the result.

        Share groups are among them only if `types` names `ConsumerGroupType.SHARE`.
        """
        check_filters(states, types)
        call = self._core.list_consumer_groups(
            request_timeout=self._seconds(request_timeout), states=states, types=types
        )
        return self._future(call)

    def describe_consumer_groups(
        self,
        group_ids: Sequence[str],
        *,
        include_authorized_operations: bool = False,
        request_timeout: float | None = None,
    ) -> dict[str, Future[ConsumerGroupDescription]]:
        """Groups with their members; a future per group id."""
        keys = check_names(group_ids, "group ids")
        call = self._core.describe_consumer_groups(
            keys,
            include_authorized_operations=check_flag(include_authorized_operations, "include_authorized_operations"),
            request_timeout=self._seconds(request_timeout),
        )
        return self._futures(keys, call)

    def delete_consumer_groups(
        self, group_ids: Sequence[str], *, request_timeout: float | None = None
    ) -> dict[str, Future[None]]:
        """Deletes groups without members; a future per group id."""
        keys = check_names(group_ids, "group ids")
        call = self._core.delete_consumer_groups(keys, request_timeout=self._seconds(request_timeout))
        return self._futures(keys, call)

    def list_groups(self, group: str | None = None, timeout: float = -1) -> list[GroupMetadata]:
        """All groups of all kinds with their members (or one); waits as `list_topics`."""
        return self._run(self._core.list_groups(group, timeout), timeout)

    # ---- share groups

    def describe_share_groups(
        self,
        group_ids: Sequence[str],
        *,
        include_authorized_operations: bool = False,
        request_timeout: float | None = None,
    ) -> dict[str, Future[ShareGroupDescription]]:
        """Share groups (KIP-932) with their members; a future per group id."""
        keys = check_names(group_ids, "group ids")
        call = self._core.describe_share_groups(
            keys,
            include_authorized_operations=check_flag(include_authorized_operations, "include_authorized_operations"),
            request_timeout=self._seconds(request_timeout),
        )
        return self._futures(keys, call)

    def delete_share_groups(
        self, group_ids: Sequence[str], *, request_timeout: float | None = None
    ) -> dict[str, Future[None]]:
        """Deletes share groups without members; a future per group id. Groups of other kinds are not touched."""
        keys = check_names(group_ids, "group ids")
        call = self._core.delete_share_groups(keys, request_timeout=self._seconds(request_timeout))
        return self._futures(keys, call)

    def list_share_group_offsets(
        self,
        list_share_group_offsets_request: Sequence[ConsumerGroupTopicPartitions],
        *,
        request_timeout: float | None = None,
    ) -> dict[str, Future[dict[TopicPartition, SharePartitionOffsetInfo]]]:
        """The positions of share groups in the partitions named (None: in all they have read); a future per group id.

        What goes wrong with one partition is in its `error`.
        """
        keys = list(check_group_offsets(list_share_group_offsets_request, offsets_needed=False))
        call = self._core.list_share_group_offsets(
            list_share_group_offsets_request, request_timeout=self._seconds(request_timeout)
        )
        return self._futures(keys, call)

    def alter_share_group_offsets(
        self,
        alter_share_group_offsets_request: Sequence[ConsumerGroupTopicPartitions],
        *,
        request_timeout: float | None = None,
    ) -> dict[str, Future[ConsumerGroupTopicPartitions]]:
        """Sets the start offsets of share groups without members, errors in the partitions; a future per group id.

        A group that is not there is made.
        """
        keys = list(check_group_offsets(alter_share_group_offsets_request, offsets_needed=True))
        call = self._core.alter_share_group_offsets(
            alter_share_group_offsets_request, request_timeout=self._seconds(request_timeout)
        )
        return self._futures(keys, call)

    def delete_share_group_offsets(
        self, group_id: str, topics: Sequence[str], *, request_timeout: float | None = None
    ) -> dict[str, Future[None]]:
        """Deletes the positions of a share group without members in topics; a future per topic name.

        The group begins there anew, as its `share.auto.offset.reset` says.
        """
        check_names([group_id], "group ids")
        keys = check_names(topics, "topic names")
        call = self._core.delete_share_group_offsets(group_id, keys, request_timeout=self._seconds(request_timeout))
        return self._futures(keys, call)

    # ---- offsets

    def list_consumer_group_offsets(
        self,
        list_consumer_group_offsets_request: Sequence[ConsumerGroupTopicPartitions],
        *,
        require_stable: bool = False,
        request_timeout: float | None = None,
    ) -> dict[str, Future[ConsumerGroupTopicPartitions]]:
        """Committed offsets; a future per group id."""
        keys = list(check_group_offsets(list_consumer_group_offsets_request, offsets_needed=False))
        call = self._core.list_consumer_group_offsets(
            list_consumer_group_offsets_request,
            require_stable=check_flag(require_stable, "require_stable"),
            request_timeout=self._seconds(request_timeout),
        )
        return self._futures(keys, call)

    def alter_consumer_group_offsets(
        self,
        alter_consumer_group_offsets_request: Sequence[ConsumerGroupTopicPartitions],
        *,
        request_timeout: float | None = None,
    ) -> dict[str, Future[ConsumerGroupTopicPartitions]]:
        """Sets committed offsets of groups without members; a future per group id."""
        keys = list(check_group_offsets(alter_consumer_group_offsets_request, offsets_needed=True))
        call = self._core.alter_consumer_group_offsets(
            alter_consumer_group_offsets_request, request_timeout=self._seconds(request_timeout)
        )
        return self._futures(keys, call)

    def list_offsets(
        self,
        topic_partition_offsets: Mapping[TopicPartition, OffsetSpec],
        *,
        isolation_level: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
        request_timeout: float | None = None,
    ) -> dict[TopicPartition, Future[ListOffsetsResultInfo]]:
        """First, last or other offsets; a future per partition."""
        check_isolation(isolation_level)
        keys = list(check_offset_specs(topic_partition_offsets))
        call = self._core.list_offsets(
            topic_partition_offsets, isolation_level=isolation_level, request_timeout=self._seconds(request_timeout)
        )
        return self._futures(keys, call)

    # ---- life

    def poll(self, timeout: float = -1) -> int:
        """Calls error_cb for errors since the last call; waits up to `timeout` s for one (-1: for ever).

        Returns:
            How many callbacks were called.

        Raises:
            StateError: closed, or forked.
        """
        self._thread.check()
        served = 0
        while True:
            wait = timeout != 0 and served == 0
            try:
                event = self._events.get(wait, timeout if wait and 0 < timeout < threading.TIMEOUT_MAX else None)
            except queue.Empty:
                return served
            if event is None:  # closed by another thread while we waited
                return served
            event()
            served += 1

    def set_sasl_credentials(self, username: str, password: str) -> None:
        """Use these from the next authentication on (PLAIN, SCRAM); open connections stay as they are.

        Raises:
            StateError: closed, or forked.
        """
        self._thread.check()
        self._core.client.set_sasl_credentials(username, password)

    def __len__(self) -> int:
        """Events that wait for poll()."""
        return self._events.qsize()

    def __bool__(self) -> bool:
        """True: a client is not false because nothing waits."""
        return True

    def close(self, timeout: float = 5.0) -> None:
        """Closes connections and stops the thread, within about `timeout` seconds; futures that wait fail.

        May be called again. Without it, the interpreter's exit does the same.
        """
        if self._thread.running:
            try:
                self._thread.run(self._core.close(timeout), timeout)
            except StateError:
                return
        self._thread.stop(timeout)
        self._events.put(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # ---- inside

    def _seconds(self, value: float | None, name: str = "request_timeout") -> float:
        return checked_timeout(value, name, self._timeout_s)

    def _run(self, call: Coroutine[Any, Any, T], timeout: float) -> T:
        # The call ends by itself in time and then says why; the second is for a loop that is held up.
        return self._thread.run(call, (self._timeout_s if timeout < 0 else timeout) + 1.0)

    def _future(self, call: Coroutine[Any, Any, T]) -> Future[T]:
        """A future for a call with one result."""
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()
        self._submit(call, partial(settle_one, future))
        return future

    def _futures(self, keys: Sequence[K], call: Coroutine[Any, Any, dict[K, Outcome[T]]]) -> dict[K, Future[Any]]:
        """One future per key, all settled when the one call ends."""
        futures: dict[K, Future[Any]] = {key: Future() for key in keys}
        for future in futures.values():
            future.set_running_or_notify_cancel()  # from now on it can't be cancelled: others depend on the call
        self._submit(call, partial(settle, dict(futures)))  # the user may take futures out of the dict that is returned
        return futures

    def _submit(self, call: Coroutine[Any, Any, T], settle_with: Callable[[Future[T]], None]) -> None:
        """Starts a call; the client lives on until it ends, even if the user holds nothing but the future."""
        kept = [self]

        def done(ended: Future[T]) -> None:
            settle_with(ended)
            kept.clear()

        self._thread.submit(call).add_done_callback(done)


async def _begin(core: AIOAdminClient) -> None:
    """Begins a new client's work: a token, a first connection."""
    await core.start()
    await core.client.connect_early()


async def every_value(call: Coroutine[Any, Any, dict[K, Outcome[T]]]) -> dict[K, T]:
    """The values of a call that asked for everything there is; the first failure fails the whole."""
    return {key: cast(T, outcome.result()) for key, outcome in (await call).items()}


def settle(futures: Mapping[K, Future[Any]], call: "Future[dict[K, Outcome[Any]]]") -> None:
    """Hands the outcomes of a call to the futures of its keys; a call that failed as a whole fails for all of them."""
    error = failure(call)
    for key, future in futures.items():
        outcome_error = call.result()[key].error if error is None else error
        if outcome_error is not None:
            future.set_exception(outcome_error)
        else:
            future.set_result(call.result()[key].value)


def settle_one(future: "Future[T]", call: "Future[T]") -> None:
    """Hands the result of a call, or its failure, to the future that the user holds."""
    error = failure(call)
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(call.result())


def failure(call: "Future[Any]") -> BaseException | None:
    """Why a call failed; None if it did not."""
    if call.cancelled():
        return StateError("the client was closed while the call was waiting")
    return call.exception()
