"""Values of both packages print, compare and refuse alike; calls on clients without brokers do, too."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Final

import pytest

import kafka_core
import kafka_core.admin as our_admin
from kafka_core.error_codes import FACTS

pytestmark = pytest.mark.interop
confluent = pytest.importorskip("confluent_kafka")
their_admin = pytest.importorskip("confluent_kafka.admin")

TOPIC: Final = "c.TopicPartition('t', 1, 5)"
BINDING: Final = "'topic', 't', 'literal', 'User:a', '*', 'read', 'allow'"
VALUES: Final = f"""
{TOPIC}
sorted([c.TopicPartition('t', 2), c.TopicPartition('a', 9), c.TopicPartition('t', 1)])
c.TopicPartition('t', 1, leader_epoch=-1).leader_epoch
c.TopicPartition('t', 1, leader_epoch=3)
c.TopicPartition('t', 2**40)
c.TopicPartition('t', 1, 2**70)
c.KafkaException(3).args
str(c.KafkaException(3))
str(c.KafkaException(c.KafkaError(3)))
str(c.KafkaException(c.KafkaError(3, 'why'), 'more'))
repr(c.KafkaException(c.KafkaError(3)))
c.IsolationLevel.READ_UNCOMMITTED < c.IsolationLevel.READ_COMMITTED
a.AclOperation.READ < a.AclOperation.WRITE
[a.NewTopic('t'), a.NewTopic('t', 3, 2), a.NewTopic('t', replica_assignment=[[1]])]
sorted([a.NewTopic('b', 1), a.NewTopic('a', 2), a.NewTopic('a', 1)])
[a.NewTopic('t', 1, 1) == a.NewTopic('t', 1, 2), a.NewTopic('t', 1) == a.NewTopic('t', 2)]
len({{a.NewTopic('t', 1), a.NewTopic('t', 2), a.NewTopic('t', 2, 3)}})
a.NewPartitions('t', 2)
[a.ConfigEntry('a', 'b'), a.ConfigEntry('a', 'b', is_sensitive=True).name]
a.ConfigEntry('a', 'b') == a.ConfigEntry('a', 'b')
len({{a.ConfigEntry('a', 'b'), a.ConfigEntry('a', 'b')}})
a.ConfigResource('nope', 'x')
a.ConfigResource('topic', None)
a.ConfigResource('topic', 'x', {{'a': 'b'}})
a.AclBinding({BINDING})
[a.BrokerMetadata(), a.TopicMetadata(), a.PartitionMetadata(), a.ClusterMetadata(), a.GroupMetadata()]
[str(a.BrokerMetadata()), str(a.TopicMetadata()), str(a.PartitionMetadata()), str(a.GroupMetadata())]
[type(s).__name__ for s in (a.OffsetSpec.latest(), a.OffsetSpec.earliest(), a.OffsetSpec.max_timestamp())]
[type(s).__name__ for s in (a.OffsetSpec.for_timestamp(5), a.OffsetSpec(-1), a.OffsetSpec(-2), a.OffsetSpec(7))]
a.OffsetSpec.latest() == a.OffsetSpec(-1)
a.OffsetSpec(-9)
a.OffsetSpec('x')
hashes(c.TopicPartition('t',1), c.TopicPartition('t',1,5))
c.TopicPartition('t',1)==c.TopicPartition('t',1,5)
c.TopicPartition('t',1)!=c.TopicPartition('t',2)
c.TopicPartition('t',1)<c.TopicPartition('t',2)
c.TopicPartition('t',1)>=c.TopicPartition('t',1,9)
c.TopicPartition('t',1)<c.TopicPartition('u',0)
len({{c.TopicPartition('t',1),c.TopicPartition('t',1,9)}})
bool(c.TopicPartition('t'))
str(c.TopicPartition('t',1,5,'m',3))
repr(c.TopicPartition('t',1,5,'m',3))
str(c.TopicPartition('t'))
str(c.Node(1,'h',9,'r'))
c.Node(1,'h',9)<c.Node(2,'h',9)
sorted([c.Node(2,'h',9),c.Node(1,'h',9)])
(c.Node(1,'h',9).id, c.Node(1,'h',9).id_string, c.Node(1,'h',9).rack)
c.Node()
c.KafkaError(3)
str(c.KafkaError(3))
repr(c.KafkaError(3,'why'))
c.KafkaError(3)==3
c.KafkaError(3)==c.KafkaError(3,'x')
c.KafkaError(3)!=4
hashes(c.KafkaError(3), c.KafkaError(3,'why'))
c.KafkaError(3)<c.KafkaError(4)
c.KafkaError(3)<4
(c.KafkaError(3,'why').str(), c.KafkaError(3).str(), c.KafkaError(-1).str(), c.KafkaError(-191).str())
c.KafkaError(3, fatal=True).fatal()
pickle.loads(pickle.dumps(c.KafkaError(3,'why')))
copy.copy(c.KafkaError(3,'why'))
copy.deepcopy(c.KafkaError(3,'why'))
copy.copy(c.KafkaException(c.KafkaError(3,'why'))).args
c.Message().error()
c.Message().topic()
c.Message().timestamp()
c.Message().offset()
c.Message().partition()
c.Message().latency()
c.Message().leader_epoch()
c.Message().headers()
len(c.Message())
len(c.Message(value='abc'))
c.Message().set_key(3)
c.Message().set_value({{}})
c.Message().set_topic('t')
c.Message().set_topic(3)
c.Message().set_error(3)
c.Message().set_error(c.KafkaError(3))
c.Message().set_headers({{'a':b'b'}})
c.Message('t',error='x').error()
copy.copy(c.Message('t',1)).topic()
c.Message('t')==c.Message('t')
c.Message('t') is c.Message('t')
str(a.ClusterMetadata())
c.Uuid(1,2)
str(c.Uuid(1,2))
hashes(c.Uuid(1,2), c.Uuid(1,2))
c.TopicCollection(['a']).topic_names
c.ConsumerGroupTopicPartitions('g',[c.TopicPartition('t',1)]).group_id
c.ConsumerGroupState('x')
c.ConsumerGroupState.STABLE<3
c.ElectionType.PREFERRED.value
str(c.ConsumerGroupState.STABLE)
c.OFFSET_END
c.TIMESTAMP_NOT_AVAILABLE
""".strip().splitlines()

CALLS: Final = f"""
assigned({TOPIC})
assigned({TOPIC}, c.TopicPartition('t', 2))
consumer.seek(3)
consumer.seek(None)
consumer.get_watermark_offsets(3)
consumer.set_sasl_credentials(3, 4)
producer.set_sasl_credentials('u', None)
producer.list_topics(3)
producer.produce_batch('t', [{{'value': 3}}])
producer.produce_batch('t', [{{'value': b'x', 'partition': 'x'}}])
producer.produce_batch('t', [{{'value': b'x'}}, {{'value': 'y', 'key': 'k'}}])
admin.set_sasl_credentials(None, 'p')
admin.describe_configs(['x'])
admin.delete_topics([None])
admin.delete_consumer_groups([3])
admin.describe_consumer_groups([None])
admin.incremental_alter_configs([a.ConfigResource('topic', 'x', incremental_configs=[a.ConfigEntry('a', 'b')])])
admin.alter_consumer_group_offsets([c.ConsumerGroupTopicPartitions('g')])
admin.alter_consumer_group_offsets([c.ConsumerGroupTopicPartitions('g', [None])])
admin.list_consumer_group_offsets([c.ConsumerGroupTopicPartitions('g', [c.TopicPartition('', 1)])])
admin.list_consumer_group_offsets([c.ConsumerGroupTopicPartitions('g', [{TOPIC}])])
admin.list_consumer_group_offsets([c.ConsumerGroupTopicPartitions(None)])
admin.list_consumer_groups(types={{c.ConsumerGroupType.UNKNOWN}})
admin.list_offsets({{c.TopicPartition('t', 1): a.OffsetSpec.for_timestamp('x')}})
admin.describe_topics(c.TopicCollection(['t']), include_authorized_operations='x')
sorted(admin.describe_topics(c.TopicCollection(['t']), include_authorized_operations=True))
""".strip().splitlines()
"""Calls of a producer, a consumer and an administrator without brokers, with all kinds of arguments."""


def hashes(one: object, other: object) -> int:
    """The number of hashes of two values that live at once (one after the other, they may share an address)."""
    return len({hash(one), hash(other)})


TOOLS: Final = {"copy": copy, "pickle": pickle, "hashes": hashes}
COMMON: Final = (TypeError, ValueError, RuntimeError, OverflowError, KeyError)


def outcome(expression: str, names: dict[str, Any]) -> tuple[str, ...]:
    """The printed result, or the common classes of the refusal, with its text where that is the interface."""
    try:
        found = repr(eval(expression, names))
    except Exception as error:
        kinds = [kind.__name__ for kind in COMMON if isinstance(error, kind)]
        return tuple(kinds or [type(error).__name__])
    return "value", re.sub(r"confluent_kafka\.[\w.]*", "", found)


def both(expression: str, ours: dict[str, Any], theirs: dict[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return outcome(expression, ours), outcome(expression, theirs)


@pytest.mark.parametrize("expression", VALUES)
def test_values_are_alike(expression: str) -> None:
    ours, theirs = both(
        expression, {**TOOLS, "c": kafka_core, "a": our_admin}, {**TOOLS, "c": confluent, "a": their_admin}
    )
    assert ours == theirs


def clients(core: ModuleType, admin: ModuleType) -> dict[str, Any]:
    consumer = core.Consumer({"group.id": "g"})

    def assigned(*partitions: Any) -> Any:
        consumer.assign(list(partitions))
        return sorted(consumer.assignment())

    return {
        "c": core,
        "a": admin,
        "consumer": consumer,
        "producer": core.Producer({"message.timeout.ms": 10}),
        "admin": admin.AdminClient({}),
        "assigned": assigned,
    }


@pytest.fixture(scope="module")
def made() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Ours and theirs, without brokers."""
    ours, theirs = clients(kafka_core, our_admin), clients(confluent, their_admin)
    yield ours, theirs
    ours["admin"].close()
    for names in (ours, theirs):
        names["consumer"].close()
        names["producer"].close()


@pytest.mark.parametrize("expression", CALLS)
def test_calls_are_answered_alike(expression: str, made: tuple[dict[str, Any], dict[str, Any]]) -> None:
    ours, theirs = both(expression, *made)
    # Ours may be more: a ValueError that is a TypeError, too.
    assert ours == theirs or (theirs[0] != "value" and set(theirs) <= set(ours))


def test_the_texts_of_codes_are_the_same() -> None:
    """Ours are made from the code's name where confluent_kafka has a whole sentence."""
    theirs = {code: confluent.KafkaError(code).str() for code in FACTS}
    long = {code for code, text in theirs.items() if len(text.split()) > 9}
    unknown = {code for code, text in theirs.items() if text.startswith("Err-")}
    different = {code for code in FACTS if kafka_core.KafkaError(code).str() != theirs[code]}
    assert different == long | unknown
    assert kafka_core.KafkaError._TRANSPORT not in different


def test_an_unknown_property_is_named_in_the_same_words() -> None:
    for core in (kafka_core, confluent):
        with pytest.raises(core.KafkaException, match='No such configuration property: "nope"') as caught:
            core.Producer({"nope": 1})
        assert caught.value.args[0].code() == core.KafkaError._INVALID_ARG


@pytest.mark.parametrize("call", ["delete_consumer_groups", "describe_consumer_groups", "delete_topics"])
def test_the_same_name_twice_is_an_invalid_argument(call: str) -> None:
    """There the futures say so, or the broker does; here the call."""
    with our_admin.AdminClient({}) as client, pytest.raises(kafka_core.KafkaException, match="twice") as caught:
        getattr(client, call)(["x", "x"])
    assert caught.value.args[0].code() == kafka_core.KafkaError._INVALID_ARG


def test_nodes_are_equal_where_their_values_are() -> None:
    """There a node is equal to itself alone."""
    assert len({kafka_core.Node(1, "h", 9), kafka_core.Node(1, "h", 9)}) == 1
    assert len({confluent.Node(1, "h", 9), confluent.Node(1, "h", 9)}) == 2


def test_specifications_of_offsets_pickle_and_hash() -> None:
    for spec in (our_admin.OffsetSpec.latest(), our_admin.OffsetSpec.for_timestamp(7)):
        again = pickle.loads(pickle.dumps(spec))
        assert (again, type(again), hash(again)) == (spec, type(spec), hash(spec))


def test_an_unknown_property_of_a_registry_client_is_named_in_the_same_words() -> None:
    import registry

    peer = pytest.importorskip("confluent_kafka.schema_registry", exc_type=ImportError)
    for package in (registry, peer):
        with pytest.raises(ValueError, match="Unrecognized properties: nope"):
            package.SchemaRegistryClient({"url": "http://registry", "nope": 1})
        with pytest.raises(ValueError, match=r"ssl\.certificate\.location"):
            package.SchemaRegistryClient({"url": "http://registry", "ssl.key.password": "x"})
