"""The permissions each request needs, and its answer where some or all of them are missing.

A table of APIs: handlers know nothing of ACLs. A request that names several resources is cut in two: the handler gets
what is allowed, and the rest is refused with the API's own `fail`. A few ask for themselves: Produce, which may have to
hang up instead of answering, Fetch, since the topics of a session are not in the request, Metadata, ListGroups and
DescribeTopicPartitions, which are asked for "all", and ElectLeaders, whose form depends on the version. Handlers of
share groups look at topics themselves, where a partition is refused by itself.

Must not know: how ACLs decide (`acls.py`), sockets. Spec: the table of operations and resources in Kafka's security
documentation, KIP-290, KIP-679 (idempotent writes).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api, Outcome
from kafka_core.broker.parking import Pending
from kafka_core.broker.security.acls import CLUSTER_NAME, Authorizer, Operation, Resource
from kafka_core.protocol import ZERO_UUID, ApiKey, ApiMessage

Allowed: TypeAlias = Callable[["_Asker", Any], bool]
"""Whether one item of a request (a topic, a group, a resource) is allowed; for `Whole`, the request itself."""

REFUSED = {
    Resource.TOPIC: Code.TOPIC_AUTHORIZATION_FAILED,
    Resource.GROUP: Code.GROUP_AUTHORIZATION_FAILED,
    Resource.CLUSTER: Code.CLUSTER_AUTHORIZATION_FAILED,
    Resource.TRANSACTIONAL_ID: Code.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}
_RESOURCE_TOPIC = 2
_RESOURCE_GROUP = 32
_OF_GROUPS = 0
_OF_TRANSACTIONS = 1
_OF_SHARES = 2


class _Asker:
    """One client with one request."""

    def __init__(self, cluster: ClusterState, context: Context) -> None:
        self._topics_by_id = cluster.topics_by_id
        self._authorizer: Authorizer = cluster.authorizer
        self._client = context.connection.client

    def topic(self, operation: Operation, item: Any) -> bool:
        """Whether it may do that with a topic, given by its name or as an item with a name or an id.

        An id that nobody has is allowed: the handler says that it is unknown.
        """
        names = ("name", "topic", "topic_name")
        name = item if isinstance(item, str) else next(filter(None, (getattr(item, key, "") for key in names)), "")
        if not name:
            found = self._topics_by_id.get(getattr(item, "topic_id", ZERO_UUID))
            if found is None:
                return True
            name = found.name
        return self._authorizer.allows(*self._client, operation, Resource.TOPIC, name)

    def group(self, operation: Operation, group_id: str) -> bool:
        """Whether it may do that with a group."""
        return self._authorizer.allows(*self._client, operation, Resource.GROUP, group_id)

    def transactional_id(self, operation: Operation, name: str) -> bool:
        """Whether it may do that with a transactional id."""
        return self._authorizer.allows(*self._client, operation, Resource.TRANSACTIONAL_ID, name)

    def on_cluster(self, operation: Operation) -> bool:
        """Whether it may do that with the cluster."""
        return self._authorizer.allows(*self._client, operation, Resource.CLUSTER, CLUSTER_NAME)

    def some_topic(self, operation: Operation) -> bool:
        """Whether it may do that with any topic at all."""
        return self._authorizer.allows_somewhere(*self._client, operation, Resource.TOPIC)


@dataclass(frozen=True, slots=True)
class Whole:
    """The whole request needs one permission."""

    resource: Resource
    allowed: Allowed


@dataclass(frozen=True, slots=True)
class Each:
    """Each item needs its own. `asked` and `answered` are the lists in request and response."""

    resource: Resource
    asked: str
    answered: str
    allowed: Allowed


def _topics(operation: Operation, asked: str = "topics", answered: str = "topics") -> Each:
    return Each(Resource.TOPIC, asked, answered, lambda asker, item: asker.topic(operation, item))


def _groups(operation: Operation, asked: str, answered: str, name: Callable[[Any], str]) -> Each:
    return Each(Resource.GROUP, asked, answered, lambda asker, item: asker.group(operation, name(item)))


def _transaction(operation: Operation) -> Whole:
    return Whole(
        Resource.TRANSACTIONAL_ID,
        lambda asker, request: asker.transactional_id(operation, request.transactional_id),
    )


def _group(operation: Operation) -> Whole:
    return Whole(Resource.GROUP, lambda asker, request: asker.group(operation, request.group_id))


def _cluster(operation: Operation) -> Whole:
    return Whole(Resource.CLUSTER, lambda asker, request: asker.on_cluster(operation))


def _config(operation: Operation, resource: Resource, answered: str) -> Each:
    """Configurations of topics and groups need a permission for these, those of brokers one for the cluster."""

    def allowed(asker: _Asker, item: Any) -> bool:
        kind = {_RESOURCE_TOPIC: Resource.TOPIC, _RESOURCE_GROUP: Resource.GROUP}.get(
            item.resource_type, Resource.CLUSTER
        )
        if kind is not resource:
            return True  # another rule of the table asks
        if kind is Resource.TOPIC:
            return asker.topic(operation, item.resource_name)
        if kind is Resource.GROUP:
            return asker.group(operation, item.resource_name)
        return asker.on_cluster(operation)

    return Each(resource, "resources", answered, allowed)


def _configs(operation: Operation, answered: str) -> tuple[Each, ...]:
    return tuple(_config(operation, kind, answered) for kind in (Resource.TOPIC, Resource.GROUP, Resource.CLUSTER))


def _itself(item: str) -> str:
    return item


def _group_id(item: Any) -> str:
    return str(item.group_id)


RULES: Mapping[int, tuple[Whole | Each, ...]] = {
    ApiKey.LIST_OFFSETS: (_topics(Operation.DESCRIBE),),
    ApiKey.OFFSET_COMMIT: (_group(Operation.READ), _topics(Operation.READ)),
    ApiKey.OFFSET_FETCH: (
        Whole(
            Resource.GROUP,
            lambda asker, request: bool(request.groups) or asker.group(Operation.DESCRIBE, request.group_id),
        ),
        _groups(Operation.DESCRIBE, "groups", "groups", _group_id),
    ),
    ApiKey.FIND_COORDINATOR: (
        Whole(
            Resource.GROUP,
            lambda asker, request: (
                request.key_type != _OF_GROUPS
                or all(asker.group(Operation.DESCRIBE, key) for key in request.coordinator_keys or [request.key])
            ),
        ),
        Whole(
            Resource.TRANSACTIONAL_ID,
            lambda asker, request: (
                request.key_type != _OF_TRANSACTIONS
                or all(
                    asker.transactional_id(Operation.DESCRIBE, key) for key in request.coordinator_keys or [request.key]
                )
            ),
        ),
        Whole(
            Resource.CLUSTER,
            lambda asker, request: request.key_type != _OF_SHARES or asker.on_cluster(Operation.CLUSTER_ACTION),
        ),
    ),
    ApiKey.JOIN_GROUP: (_group(Operation.READ),),
    ApiKey.HEARTBEAT: (_group(Operation.READ),),
    ApiKey.LEAVE_GROUP: (_group(Operation.READ),),
    ApiKey.SYNC_GROUP: (_group(Operation.READ),),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: (_group(Operation.READ),),
    ApiKey.CONSUMER_GROUP_DESCRIBE: (_groups(Operation.DESCRIBE, "group_ids", "groups", _itself),),
    ApiKey.SHARE_GROUP_HEARTBEAT: (
        _group(Operation.READ),
        Whole(
            Resource.TOPIC,
            lambda asker, request: all(
                asker.topic(Operation.DESCRIBE, name) for name in request.subscribed_topic_names or ()
            ),
        ),
    ),
    ApiKey.SHARE_GROUP_DESCRIBE: (_groups(Operation.DESCRIBE, "group_ids", "groups", _itself),),
    ApiKey.SHARE_FETCH: (_group(Operation.READ),),
    ApiKey.SHARE_ACKNOWLEDGE: (_group(Operation.READ),),
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: (_groups(Operation.DESCRIBE, "groups", "groups", _group_id),),
    ApiKey.ALTER_SHARE_GROUP_OFFSETS: (_group(Operation.READ), _topics(Operation.READ, "topics", "responses")),
    ApiKey.DELETE_SHARE_GROUP_OFFSETS: (_group(Operation.DELETE), _topics(Operation.READ, "topics", "responses")),
    ApiKey.DESCRIBE_GROUPS: (_groups(Operation.DESCRIBE, "groups", "groups", _itself),),
    ApiKey.CREATE_TOPICS: (
        Each(
            Resource.TOPIC,
            "topics",
            "topics",
            lambda asker, item: asker.on_cluster(Operation.CREATE) or asker.topic(Operation.CREATE, item.name),
        ),
    ),
    ApiKey.DELETE_TOPICS: (
        _topics(Operation.DELETE, "topics", "responses"),
        _topics(Operation.DELETE, "topic_names", "responses"),
    ),
    ApiKey.DELETE_RECORDS: (_topics(Operation.DELETE),),
    ApiKey.INIT_PRODUCER_ID: (
        Whole(
            Resource.TRANSACTIONAL_ID,
            lambda asker, request: (
                request.transactional_id is None or asker.transactional_id(Operation.WRITE, request.transactional_id)
            ),
        ),
        Whole(
            Resource.CLUSTER,
            lambda asker, request: (
                request.transactional_id is not None
                or asker.on_cluster(Operation.IDEMPOTENT_WRITE)
                or asker.some_topic(Operation.WRITE)
            ),
        ),
    ),
    ApiKey.ADD_PARTITIONS_TO_TXN: (
        Whole(
            Resource.TRANSACTIONAL_ID,
            lambda asker, request: asker.transactional_id(Operation.WRITE, request.v3_and_below_transactional_id),
        ),
        _topics(Operation.WRITE, "v3_and_below_topics", "results_by_topic_v3_and_below"),
    ),
    ApiKey.ADD_OFFSETS_TO_TXN: (_transaction(Operation.WRITE), _group(Operation.READ)),
    ApiKey.END_TXN: (_transaction(Operation.WRITE),),
    ApiKey.WRITE_TXN_MARKERS: (
        Whole(
            Resource.CLUSTER,
            lambda asker, request: asker.on_cluster(Operation.CLUSTER_ACTION) or asker.on_cluster(Operation.ALTER),
        ),
    ),
    ApiKey.TXN_OFFSET_COMMIT: (_transaction(Operation.WRITE), _group(Operation.READ), _topics(Operation.READ)),
    ApiKey.DESCRIBE_PRODUCERS: (_topics(Operation.READ),),
    ApiKey.DESCRIBE_TRANSACTIONS: (
        Each(
            Resource.TRANSACTIONAL_ID,
            "transactional_ids",
            "transaction_states",
            lambda asker, item: asker.transactional_id(Operation.DESCRIBE, item),
        ),
    ),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: (_topics(Operation.DESCRIBE),),
    ApiKey.DESCRIBE_ACLS: (_cluster(Operation.DESCRIBE),),
    ApiKey.CREATE_ACLS: (_cluster(Operation.ALTER),),
    ApiKey.DELETE_ACLS: (_cluster(Operation.ALTER),),
    ApiKey.DESCRIBE_CONFIGS: _configs(Operation.DESCRIBE_CONFIGS, "results"),
    ApiKey.ALTER_CONFIGS: _configs(Operation.ALTER_CONFIGS, "responses"),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: _configs(Operation.ALTER_CONFIGS, "responses"),
    ApiKey.CREATE_PARTITIONS: (_topics(Operation.ALTER, "topics", "results"),),
    ApiKey.DELETE_GROUPS: (_groups(Operation.DELETE, "groups_names", "results", _itself),),
    ApiKey.OFFSET_DELETE: (_group(Operation.DELETE), _topics(Operation.READ)),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: (_cluster(Operation.DESCRIBE),),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: (_cluster(Operation.ALTER),),
    ApiKey.DESCRIBE_LOG_DIRS: (_cluster(Operation.DESCRIBE),),
    ApiKey.ALTER_REPLICA_LOG_DIRS: (_cluster(Operation.ALTER),),
    ApiKey.DESCRIBE_QUORUM: (_cluster(Operation.DESCRIBE),),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: (_cluster(Operation.ALTER),),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: (_cluster(Operation.DESCRIBE),),
    ApiKey.UPDATE_FEATURES: (_cluster(Operation.ALTER),),
    ApiKey.LIST_CONFIG_RESOURCES: (_cluster(Operation.DESCRIBE_CONFIGS),),
}
"""API key → what must be allowed, asked in this order."""
UNRESTRICTED = frozenset(
    {
        *(ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE, ApiKey.DESCRIBE_CLUSTER),
        *(ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY),
    }
)
"""APIs that everybody may call."""
OWN_RULES = frozenset(
    {
        ApiKey.PRODUCE,
        ApiKey.FETCH,
        ApiKey.METADATA,
        ApiKey.LIST_GROUPS,
        ApiKey.ELECT_LEADERS,
        ApiKey.LIST_TRANSACTIONS,
        ApiKey.DESCRIBE_TOPIC_PARTITIONS,
    }
)
"""APIs whose handlers leave out or refuse what is not allowed."""


def handle(cluster: ClusterState, context: Context, api: Api[Any], request: Any) -> Outcome | Pending[Outcome]:
    """The handler's answer for what is allowed, together with the refusal of what is not."""
    if not cluster.authorizer.enabled:
        return api.handle(cluster, context, request)
    asker = _Asker(cluster, context)
    refusals: list[tuple[str, ApiMessage]] = []
    for rule in RULES.get(context.api_key, ()):
        if isinstance(rule, Whole):
            if not rule.allowed(asker, request):
                return api.fail(request, REFUSED[rule.resource])
            continue
        items = getattr(request, rule.asked) or []
        good = [item for item in items if rule.allowed(asker, item)]
        if len(good) == len(items):
            continue
        bad = [item for item in items if item not in good]
        refusals.append((rule.answered, api.fail(replace(request, **{rule.asked: bad}), REFUSED[rule.resource])))
        request = replace(request, **{rule.asked: good})
        if not good:
            return _merged(refusals[-1][1], refusals[:-1])
    answer = api.handle(cluster, context, request)
    return _merged(answer, refusals) if refusals and isinstance(answer, ApiMessage) else answer


def _merged(answer: ApiMessage, refusals: list[tuple[str, ApiMessage]]) -> ApiMessage:
    """One answer of several: what was refused stands behind the rest."""
    for name, refusal in refusals:
        getattr(answer, name).extend(getattr(refusal, name))
    return answer
