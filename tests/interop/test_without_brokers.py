"""Errors of calls that no broker answers: the error, code and words of confluent_kafka, then words of our own.

Nothing is listed or looked up anywhere: there is no broker, or one that takes connections and never says a word.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from concurrent.futures import Future
from types import ModuleType
from typing import Any, Final

import pytest

import kafka_core
import kafka_core.admin

pytestmark = pytest.mark.interop
confluent = pytest.importorskip("confluent_kafka")
confluent_admin = pytest.importorskip("confluent_kafka.admin")

LIMIT_S: Final = 30.0
PRODUCER: Final = """
x.list_topics(timeout=.02)
x.list_topics('t', .02)
x.list_topics(timeout=0)
x.cluster_id(.02)
x.init_transactions(.02)
x.begin_transaction()
x.commit_transaction(.02)
x.abort_transaction(.02)
x.send_offsets_to_transaction([P('t', 0, 1)], g, .02)
x.send_offsets_to_transaction([P('t', 0)], g, .02)
x.send_offsets_to_transaction([], g, .02)
x.produce('t', b'x')
x.flush(0)
len(x)
""".strip().splitlines()
CONSUMER: Final = """
x.list_topics(timeout=.02)
x.list_topics('t', timeout=.02)
x.committed([P('t', 0)], timeout=.02)
x.committed([], timeout=.02)
x.position([P('t', 0)])
x.get_watermark_offsets(P('t', 0), timeout=.02)
x.get_watermark_offsets(P('t', 0), cached=True)
x.offsets_for_times([P('t', 0)], timeout=.02)
x.offsets_for_times([], timeout=.02)
x.seek(P('t', 0, 5))
x.store_offsets(offsets=[P('t', 0, 5)])
x.commit(asynchronous=False)
x.subscribe([])
x.subscribe([''])
x.subscribe(['^['])
x.incremental_unassign([P('t', 0)])
x.incremental_assign([P('t', 0), P('t', 0)])
(x.assign([P('t', 0)]), x.incremental_assign([P('t', 0)]))
(x.assign([P('t', 0)]), x.incremental_unassign([P('t', 1)]))
(x.assign([P('t', 0)]), x.unassign(), x.assignment())
x.poll(0)
x.consume(1, 0)
x.consume(2.5)
x.consume(1000001)
x.memberid()
x.cluster_id(.02)
""".strip().splitlines()
ADMIN: Final = """
x.list_topics(timeout=.02)
x.list_groups(timeout=.02)
x.list_groups('g', timeout=0)
x.create_topics([a.NewTopic('t', 1, 1)], request_timeout=.02)
x.delete_topics(['t'], request_timeout=.02)
x.create_partitions([a.NewPartitions('t', 3)], request_timeout=.02)
x.describe_configs([a.ConfigResource('topic', 't')], request_timeout=.02)
x.describe_configs([a.ConfigResource('broker', '1')], request_timeout=.02)
x.alter_configs([a.ConfigResource('topic', 't')], request_timeout=.02)
x.describe_acls(a.AclBindingFilter(*ANY), request_timeout=.02)
x.delete_acls([a.AclBindingFilter(*ANY)], request_timeout=.02)
x.describe_consumer_groups(['g'], request_timeout=.02)
x.delete_consumer_groups(['g'], request_timeout=.02)
x.list_consumer_group_offsets([n.ConsumerGroupTopicPartitions('g')], request_timeout=.02)
x.alter_consumer_group_offsets([n.ConsumerGroupTopicPartitions('g', [P('t', 0, 5)])], request_timeout=.02)
x.describe_user_scram_credentials(['u'], request_timeout=.02)
x.describe_user_scram_credentials(request_timeout=.02)
x.alter_user_scram_credentials([a.UserScramCredentialDeletion('u', a.ScramMechanism(1))], request_timeout=.02)
x.cluster_id(.02)
x.describe_topics(n.TopicCollection(['t']), request_timeout=.02)
x.describe_cluster(request_timeout=.02)
x.list_offsets({P('t', 0): a.OffsetSpec.latest()}, request_timeout=.02)
x.delete_records([P('t', 0, 5)], request_timeout=.02)
x.create_topics([a.NewTopic('t', 1, -5)])
x.create_topics([a.NewTopic('t', 1, replica_assignment=[1])])
x.create_partitions([a.NewPartitions('t', 3, [[1], 5])])
x.describe_configs([a.ConfigResource('topic', '')])
x.incremental_alter_configs([a.ConfigResource('topic', 't', incremental_configs=[5])])
""".strip().splitlines()
"""`x` is the client, `n` its package, `a` the administrator's, `P` a partition, `g` metadata of a group."""

CLOSED: Final = [
    "x.init_transactions(.02)",
    "x.begin_transaction()",
    "x.commit_transaction(.02)",
    "x.abort_transaction(.02)",
    "x.list_topics(timeout=.02)",
    "x.produce('t')",
]


@pytest.fixture(scope="module", params=["none", "silent"])
def servers(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """A client's configuration."""
    if request.param == "none":
        yield {}
        return
    with socket.create_server(("127.0.0.1", 0), backlog=100) as listener:
        yield {"bootstrap.servers": f"127.0.0.1:{listener.getsockname()[1]}"}


@contextlib.contextmanager
def made(kind: str, core: ModuleType, admin: ModuleType, conf: dict[str, str]) -> Iterator[dict[str, Any]]:
    """The names for a call, with a new client of that kind."""
    settings = {**conf, "log_level": 0}
    automatic = {"enable.auto.commit": False, "enable.auto.offset.store": False}
    reader = core.Consumer({**settings, **automatic, "group.id": "g"})
    group = reader.consumer_group_metadata()
    if kind == "consumer":
        yield names(core, admin, reader, group)
    elif kind == "admin":
        yield names(core, admin, admin.AdminClient(settings), group)
    else:
        producer = core.Producer({**settings, "transactional.id": "t"})
        yield names(core, admin, producer, group)
        if core is kafka_core:  # confluent_kafka's close() fails after an init_transactions() that ran out of time
            producer.close(0)
    reader.close()


def names(core: ModuleType, admin: ModuleType, client: Any, group: Any) -> dict[str, Any]:
    known, pattern = (admin.ResourceType.TOPIC, None, admin.ResourcePatternType.ANY), (None, None)
    anything = (*known, *pattern, admin.AclOperation.ANY, admin.AclPermissionType.ANY)
    return {"n": core, "a": admin, "x": client, "g": group, "P": core.TopicPartition, "ANY": anything}


def said(call: str, known: dict[str, Any]) -> Any:
    """The result of a call: kinds of errors with code and text, partitions as tuples, other values as they are."""
    core = known["n"]

    def shown(value: Any) -> Any:
        if isinstance(value, dict):
            return [shown(item) for item in value.values()]
        if isinstance(value, list | tuple):
            return [shown(item) for item in value]
        if isinstance(value, Future):
            try:
                return shown(value.result(LIMIT_S))
            except core.KafkaException as error:
                return shown(error)
        if isinstance(value, core.KafkaException):
            first = value.args[0]
            return ("KafkaException", first.code(), first.fatal(), first.txn_requires_abort(), first.str())
        if isinstance(value, core.TopicPartition):
            return (value.topic, value.partition, value.offset, shown(value.error))
        return value

    try:
        return shown(eval(call, known))
    except (TypeError, ValueError, core.KafkaException) as error:
        return shown(error) if isinstance(error, core.KafkaException) else type(error).__name__


def same(ours: Any, theirs: Any) -> bool:
    """Whether they are the same, but for what we add to a text."""
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return all(same(mine, other) for mine, other in zip(ours, theirs, strict=True))
    if isinstance(ours, tuple) and isinstance(theirs, tuple) and theirs[:1] == ("KafkaException",):
        text = theirs[-1].partition(". The broker must")[0]  # cluster_id() blames the broker's age
        return ours[:-1] == theirs[:-1] and ours[-1].startswith(text)
    return bool(ours == theirs)


CASES = [
    (kind, call) for kind, calls in (("producer", PRODUCER), ("consumer", CONSUMER), ("admin", ADMIN)) for call in calls
]


@pytest.mark.parametrize(("kind", "call"), CASES)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_same_is_said(servers: dict[str, str], kind: str, call: str) -> None:
    with made(kind, confluent, confluent_admin, servers) as known:
        theirs = said(call, known)
    with made(kind, kafka_core, kafka_core.admin, servers) as known:
        ours = said(call, known)
    assert same(ours, theirs), (ours, theirs)


@pytest.mark.parametrize("call", CLOSED)
@pytest.mark.parametrize("conf", [{}, {"transactional.id": "t"}])
def test_closed_producers_say_so_first(call: str, conf: dict[str, str]) -> None:
    told = []
    for core in (confluent, kafka_core):
        producer = core.Producer({**conf, "log_level": 0})
        producer.close()
        with pytest.raises(RuntimeError) as caught:
            eval(call, {"x": producer})
        told.append(str(caught.value))
    assert told[0] == told[1]
