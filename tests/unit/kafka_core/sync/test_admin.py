"""kafka_core.sync.admin: futures, checks on the caller's thread, callbacks, closing."""

from __future__ import annotations

import asyncio
import gc
import inspect
import logging
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast

import pytest

import kafka_core.admin as public
from kafka_core.admin_model import AlterConfigOpType, ConfigEntry, ConfigResource, NewPartitions, NewTopic
from kafka_core.admin_offsets import OffsetSpec
from kafka_core.aio.administering.admin import AIOAdminClient
from kafka_core.aio.cluster.client import ClusterClient
from kafka_core.engine.metadata import ClusterView, PartitionView, TopicView
from kafka_core.errors import BrokerError, ConfigError, KafkaError, KafkaException, StateError
from kafka_core.listings import ConsumerGroupState, ConsumerGroupTopicPartitions
from kafka_core.model import TopicPartition
from kafka_core.protocol.messages.create_topics import CreatableTopicResult, CreateTopicsRequest, CreateTopicsResponse
from kafka_core.protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kafka_core.protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from kafka_core.sync.admin import AdminClient
from tests.unit.kafka_core.fake_cluster import BROKERS, FakeCluster

CONF: dict[str, object] = {"bootstrap.servers": "b", "retry.backoff.ms": 1}
VIEW = ClusterView(BROKERS, {"t": TopicView("t", partitions={0: PartitionView(0, 1)})}, 0, "cluster")
Make = Callable[..., AdminClient]


@pytest.fixture
def make() -> Iterator[Make]:
    """Makes clients on scripted clusters and closes them afterwards."""
    made: list[AdminClient] = []

    def build(cluster: FakeCluster, **conf: object) -> AdminClient:
        core = partial(AIOAdminClient, client=cast(ClusterClient, cluster))
        client = AdminClient({**CONF, **conf}, make=core)
        made.append(client)
        return client

    yield build
    for client in made:
        client.close()


def test_one_future_per_topic(make: Make) -> None:
    answer = CreateTopicsResponse(
        topics=[CreatableTopicResult("a"), CreatableTopicResult("b", error_code=36, error_message="exists")]
    )
    futures = make(FakeCluster({CreateTopicsRequest: lambda request, node_id: answer})).create_topics(
        [NewTopic("a", 1), NewTopic("b", 1)]
    )
    assert list(futures) == ["a", "b"]
    assert futures["a"].result(60) is None
    with pytest.raises(KafkaException) as caught:
        futures["b"].result(60)
    assert caught.value.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS
    assert isinstance(futures["b"].exception(5), BrokerError)
    assert not futures["a"].cancel()


def test_a_call_that_fails_as_a_whole_fails_for_every_key(make: Make) -> None:
    def broken(request: Any, node_id: int | None) -> Any:
        raise RuntimeError("a mistake of ours")

    futures = make(FakeCluster({CreateTopicsRequest: broken})).create_topics([NewTopic("a"), NewTopic("b")])
    for future in futures.values():
        with pytest.raises(RuntimeError, match="a mistake of ours"):
            future.result(60)


def test_calls_with_one_result(make: Make) -> None:
    answer = DescribeClusterResponse(cluster_id="c")
    listing = ListGroupsResponse(groups=[ListedGroup("g", "consumer")])
    client = make(
        FakeCluster(
            {
                DescribeClusterRequest: lambda request, node_id: answer,
                ListGroupsRequest: lambda request, node_id: listing,
            }
        )
    )
    assert client.describe_cluster().result(60).cluster_id == "c"
    assert client.cluster_id() == "c"
    assert [group.group_id for group in client.list_consumer_groups().result(60).valid] == ["g"] * 3


def test_failure_of_a_call_with_one_result(make: Make) -> None:
    answer = DescribeClusterResponse(error_code=31)
    client = make(FakeCluster({DescribeClusterRequest: lambda request, node_id: answer}))
    with pytest.raises(BrokerError):
        client.describe_cluster().result(60)


def test_list_topics_blocks_and_returns(make: Make) -> None:
    metadata = make(FakeCluster(view=VIEW)).list_topics(timeout=5)
    assert metadata.topics["t"].partitions[0].leader == 1


RESOURCE = ConfigResource("topic", "t")
WRONG: list[tuple[str, tuple[Any, ...], type[Exception], str]] = [
    ("create_topics", ([],), ValueError, "non-empty list of NewTopic"),
    ("create_topics", ("t",), TypeError, "expected a list of NewTopic objects, not str"),
    ("create_topics", (["t"],), TypeError, "holds str"),
    ("create_topics", ([NewTopic("t"), NewTopic("t")],), ValueError, "same topic is there twice"),
    ("create_topics", ([NewTopic("t", 0)],), ValueError, "num_partitions must be at least 1"),
    ("create_topics", ([NewTopic("t", 3, replica_assignment=[[1]])],), ValueError, "1 are assigned"),
    ("create_topics", ([NewTopic("t", -1, 2, [[1]])],), ValueError, "not both"),
    ("delete_topics", ("t",), TypeError, "expected a list of topic names"),
    ("delete_topics", ([""],), ValueError, "one is empty"),
    ("delete_topics", (["a", "a"],), ValueError, "same topic name is there twice"),
    ("create_partitions", ([NewPartitions("t", 0)],), ValueError, "new_total_count"),
    ("describe_topics", ([""],), ValueError, "one is empty"),
    ("describe_configs", ([RESOURCE, RESOURCE],), ValueError, "same resource"),
    ("describe_configs", ([ConfigResource("any", "t")],), ValueError, "only topics, brokers, groups"),
    ("describe_configs", ([ConfigResource("broker", "one")],), ValueError, "named by its id"),
    ("incremental_alter_configs", ([RESOURCE],), ValueError, "no incremental_configs"),
    (
        "incremental_alter_configs",
        ([ConfigResource("topic", "t", incremental_configs=[ConfigEntry("a", "1")])],),
        ValueError,
        "has no incremental_operation",
    ),
    (
        "incremental_alter_configs",
        (
            [
                ConfigResource(
                    "topic",
                    "t",
                    incremental_configs=[ConfigEntry("a", None, incremental_operation=AlterConfigOpType.SET)],
                )
            ],
        ),
        ValueError,
        "has no value",
    ),
    ("describe_consumer_groups", ([],), ValueError, "non-empty list of group ids"),
    ("delete_consumer_groups", ([1],), TypeError, "holds int"),
    ("list_consumer_group_offsets", ([ConsumerGroupTopicPartitions("")],), ValueError, "group id is empty"),
    ("list_consumer_group_offsets", ([ConsumerGroupTopicPartitions("g", [])],), ValueError, "non-empty"),
    ("alter_consumer_group_offsets", ([ConsumerGroupTopicPartitions("g")],), TypeError, "TopicPartition"),
    (
        "alter_consumer_group_offsets",
        ([ConsumerGroupTopicPartitions("g", [TopicPartition("t", 0)])],),
        ValueError,
        "must not be negative",
    ),
    ("describe_share_groups", ("g",), TypeError, "expected a list of group ids"),
    ("delete_share_groups", (["g", "g"],), ValueError, "same group id is there twice"),
    ("list_share_group_offsets", ([ConsumerGroupTopicPartitions("g", [])],), ValueError, "non-empty"),
    ("alter_share_group_offsets", ([ConsumerGroupTopicPartitions("g")],), TypeError, "TopicPartition"),
    (
        "alter_share_group_offsets",
        ([ConsumerGroupTopicPartitions("g", [TopicPartition("t", 0, -2)])],),
        ValueError,
        "must not be negative",
    ),
    ("delete_share_group_offsets", ("", ["t"]), ValueError, "one is empty"),
    ("delete_share_group_offsets", ("g", "t"), TypeError, "expected a list of topic names"),
    ("delete_share_group_offsets", ("g", []), ValueError, "non-empty list of topic names"),
    ("list_offsets", ([],), TypeError, "dict of TopicPartition"),
    ("list_offsets", ({TopicPartition("t", 0): 5},), TypeError, "dict of TopicPartition and OffsetSpec"),
    ("list_offsets", ({TopicPartition("t"): OffsetSpec.latest()},), ValueError, "must be given"),
]


@pytest.mark.parametrize(("method", "arguments", "kind", "text"), WRONG)
def test_wrong_arguments_raise_at_once(
    make: Make, method: str, arguments: tuple[Any, ...], kind: type[Exception], text: str
) -> None:
    cluster = FakeCluster()
    with pytest.raises(kind, match=text):
        getattr(make(cluster), method)(*arguments)
    assert cluster.log == []


def test_filters_and_time_outs_are_checked_at_once(make: Make) -> None:
    client = make(FakeCluster())
    with pytest.raises(TypeError, match="'states' must be a set of ConsumerGroupState"):
        client.list_consumer_groups(states="Stable")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="'types' must be a set"):
        client.list_consumer_groups(types={ConsumerGroupState.STABLE})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="operation_timeout must be from 0 to 3600"):
        client.create_topics([NewTopic("t")], operation_timeout=-1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        client.create_topics([NewTopic("t")], foo=1)  # type: ignore[call-arg]


def test_configuration_by_name_and_wrong_configuration() -> None:
    mine = logging.getLogger("mine")
    with AdminClient({"bootstrap.servers": "b"}, logger=mine) as client:
        assert client._config["logger"] is mine
    with pytest.raises(ConfigError, match="No such configuration property"):
        AdminClient({"linger.msec": 1})
    with pytest.raises(TypeError, match="expected configuration dict"):
        AdminClient()
    with pytest.raises(TypeError, match="expected configuration dict, not str"):
        AdminClient("bootstrap.servers=b")  # type: ignore[arg-type]


# ---- callbacks, closing


def test_errors_reach_error_cb_in_poll_on_the_callers_thread(make: Make) -> None:
    told: list[tuple[KafkaError, threading.Thread]] = []
    cluster = FakeCluster()
    client = make(cluster, error_cb=lambda error: told.append((error, threading.current_thread())))
    assert client.poll(0) == 0
    for listener in cluster.error_listeners:
        listener(KafkaError(KafkaError._TRANSPORT))
        listener(KafkaError(KafkaError._ALL_BROKERS_DOWN))
    assert told == []
    assert client.poll(60) == 2
    assert [error.code() for error, _ in told] == [KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN]
    assert told[0][1] is threading.current_thread()
    assert client.poll(0.01) == 0


def test_nobody_listens_without_error_cb(make: Make) -> None:
    cluster = FakeCluster()
    make(cluster)
    assert cluster.error_listeners == []


def test_a_closed_client_says_so(make: Make) -> None:
    cluster = FakeCluster(view=VIEW)
    client = make(cluster)
    client.list_topics()
    client.close()
    client.close()
    assert cluster.closed == 1
    calls: list[Callable[[], object]] = [
        client.list_topics,
        lambda: client.create_topics([NewTopic("t")]),
        lambda: client.poll(0),
    ]
    for call in calls:
        with pytest.raises(StateError, match="closed"):
            call()


def test_closing_an_unused_client_starts_nothing(make: Make) -> None:
    cluster = FakeCluster()
    before = set(threading.enumerate())  # those of other tests may start and end meanwhile
    make(cluster).close()
    assert {"kafka-core-admin"}.isdisjoint(thread.name for thread in set(threading.enumerate()) - before)
    assert cluster.closed == 0


def test_closing_ends_calls_that_wait_and_polls(make: Make) -> None:
    entered = threading.Event()

    class Stuck(FakeCluster):
        async def send_controller(self, *arguments: Any, **more: Any) -> Any:
            entered.set()
            await asyncio.Event().wait()

    client = make(Stuck())
    future = client.create_topics([NewTopic("t")])["t"]
    polled: list[int] = []
    poller = threading.Thread(target=lambda: polled.append(client.poll()), daemon=True)
    poller.start()
    assert entered.wait(60)
    client.close()
    with pytest.raises(StateError, match="closed while the call was waiting"):
        future.result(60)
    poller.join(60)
    assert polled == [0]


def test_leaving_the_block_closes() -> None:
    with AdminClient({"bootstrap.servers": "b"}) as client:
        assert client.poll(0) == 0
    with pytest.raises(StateError):
        client.poll(0)


# ---- both faces, and the public names


def test_both_faces_have_the_same_calls() -> None:
    shared = [name for name in vars(AIOAdminClient) if not name.startswith("_") and name not in ("start", "close")]
    for name in shared:
        ours = inspect.signature(getattr(AdminClient, name)).parameters
        theirs = inspect.signature(getattr(AIOAdminClient, name)).parameters
        assert list(ours) == list(theirs), name
        assert [item.kind for item in ours.values()] == [item.kind for item in theirs.values()], name


def test_public_names_exist() -> None:
    for name in public.__all__:
        assert getattr(public, name) is not None
    assert public.RESOURCE_TOPIC == 2
    assert public.CONFIG_SOURCE_GROUP_CONFIG == 8


def test_a_client_that_nobody_holds_ends_its_calls_first() -> None:
    answered = threading.Event()

    def answer(request: object, node_id: int | None) -> CreateTopicsResponse:
        answered.wait(60)
        return CreateTopicsResponse(topics=[CreatableTopicResult("a")])

    cluster = FakeCluster({CreateTopicsRequest: answer})
    core = partial(AIOAdminClient, client=cast(ClusterClient, cluster))
    future = AdminClient(CONF, make=core).create_topics([NewTopic("a", 1)])["a"]
    gc.collect()
    answered.set()
    assert future.result(60) is None
