"""Parameters, defaults, values and errors of kafka-python are its dialect's; names are in test_peer_modules."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
import warnings
from enum import Enum
from typing import Any, Final

import pytest

from kserdes.compat.kafka import admin as our_admin
from kserdes.compat.kafka import errors as our_errors
from kserdes.compat.kafka.settings import ADMIN, CONSUMER, PRODUCER
from kserdes.compat.kafka.table import DIALECT
from tests.patience import PROCESS_S

pytestmark = pytest.mark.interop
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it reads its schemas by a deprecated function when imported
    peer = pytest.importorskip("kafka")
    import kafka.admin
    import kafka.errors

DEFAULTS: Final = {
    "client_id": "names this package",
    "partitioner": "an object of our class",
    "partition_assignment_strategy": "our classes",
    "default_offset_commit_callback": "a function that returns True is there; None here, which is the same",
    "kafka_client": "their network client",
}


def ours(module: str, name: str) -> Any:
    for home in DIALECT.homes[module]:
        found = getattr(importlib.import_module(home), name, None)
        if found is not None:
            return found
    return None


def parameters(call: Any) -> list[tuple[str, Any, Any]]:
    """Name, kind and default of each parameter; a default of a class of theirs or ours counts by its text."""
    return [
        (each.name, each.kind, repr(each.default) if isinstance(each.default, Enum) else each.default)
        for each in inspect.signature(call).parameters.values()
    ]


def test_every_module_of_the_table_is_theirs_or_was() -> None:
    gone = {
        "common",
        "admin.config_resource",
        "admin.new_partitions",
        "admin.new_topic",
        "oauth",
        "oauth.abstract",
        "sasl",
        "sasl.oauth",
    }
    for module in DIALECT.homes:
        if module not in gone:
            importlib.import_module(f"kafka.{module}" if module else "kafka")


@pytest.mark.parametrize("name", ["KafkaProducer", "KafkaConsumer", "KafkaAdminClient"])
def test_methods_have_the_same_parameters(name: str) -> None:
    theirs, mine = getattr(peer, name), ours("", name)
    different = []
    for method, call in inspect.getmembers(theirs, callable):
        if method.startswith("_") and method not in ("__iter__", "__next__", "__enter__", "__exit__"):
            continue
        if parameters(call) != parameters(getattr(mine, method)):
            different.append(method)
    assert different == []


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (module, name)
        for module, name in (
            ("structs", "TopicPartition"),
            ("structs", "OffsetAndMetadata"),
            ("structs", "OffsetAndTimestamp"),
            ("structs", "ConsumerGroupMetadata"),
            ("structs", "TopicPartitionReplica"),
            ("consumer.fetcher", "ConsumerRecord"),
            ("producer.future", "RecordMetadata"),
        )
    ],
)
def test_named_tuples(module: str, name: str) -> None:
    theirs, mine = getattr(importlib.import_module(f"kafka.{module}"), name), ours(module, name)
    assert (mine._fields, mine._field_defaults) == (theirs._fields, theirs._field_defaults)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("future", "Future"),
        ("producer.future", "FutureRecordMetadata"),
        ("consumer.subscription_state", "ConsumerRebalanceListener"),
        ("consumer.subscription_state", "AsyncConsumerRebalanceListener"),
        ("partitioner", "Partitioner"),
        ("partitioner", "DefaultPartitioner"),
        ("partitioner", "StickyPartitioner"),
        ("serializer", "Serializer"),
        ("serializer", "Deserializer"),
        ("serializer", "DefaultSerializer"),
        ("serializer", "JsonSerializer"),
        ("net.sasl.oauth", "AbstractTokenProvider"),
    ],
)
def test_small_classes(module: str, name: str) -> None:
    theirs, mine = getattr(importlib.import_module(f"kafka.{module}"), name), ours(module, name)
    for method, call in inspect.getmembers(theirs, callable):
        if method.startswith("_") or method == "rebind":
            continue  # rebind: how kafka-python splits a batch
        assert [each[0] for each in parameters(call)] == [each[0] for each in parameters(getattr(mine, method))], method


@pytest.mark.parametrize(
    ("name", "table"), [("KafkaProducer", PRODUCER), ("KafkaConsumer", CONSUMER), ("KafkaAdminClient", ADMIN)]
)
def test_keyword_arguments(name: str, table: Any) -> None:
    theirs = getattr(peer, name).DEFAULT_CONFIG
    mine = table.defaults()
    assert set(mine) == set(theirs)
    assert {each for each in theirs if theirs[each] != mine[each]} <= set(DEFAULTS)
    for row in table.rows.values():
        assert row.meaning


def test_errors() -> None:
    theirs: dict[str, Any] = {
        name: value
        for name, value in vars(kafka.errors).items()
        if inspect.isclass(value) and issubclass(value, kafka.errors.KafkaError)
    }
    for name, value in theirs.items():
        mine: Any = getattr(our_errors, name)
        assert [each.__name__ for each in mine.__bases__] == [each.__name__ for each in value.__bases__], name
        for fact in ("errno", "message", "retriable", "invalid_metadata"):
            assert getattr(mine, fact, None) == getattr(value, fact, None), (name, fact)
        if name not in ("LogTruncationError", "CommitFailedError"):
            assert (str(mine("x")), str(mine())) == (str(value("x")), str(value())), name
    for code in range(-2, 140):
        assert our_errors.for_code(code).__name__ == kafka.errors.for_code(code).__name__, code
    assert our_errors.for_code(999).errno == kafka.errors.for_code(999).errno == 999
    assert str(our_errors.CommitFailedError()) == str(kafka.errors.CommitFailedError())
    assert our_errors.KafkaError("a") == our_errors.KafkaError("a") != our_errors.KafkaError("b")


ENUMS: Final = [
    name
    for name in kafka.admin.__all__
    if inspect.isclass(kind := getattr(kafka.admin, name)) and issubclass(kind, Enum)
]


@pytest.mark.parametrize("name", ["IsolationLevel", *ENUMS])
def test_enums(name: str) -> None:
    theirs = getattr(kafka.admin, name, None) or getattr(peer, name)
    mine = getattr(our_admin, name)
    assert {each.name: each.value for each in mine} == {each.name: each.value for each in theirs}
    assert [(str(each), repr(each)) for each in mine] == [(str(each), repr(each)) for each in theirs]
    for given in ("topic", "TOPIC", "safe-downgrade", "Empty", "empty", 1, 2, "nope", None):
        for way in ("build_from", "value_for"):
            if hasattr(theirs, way):
                assert outcome(getattr(mine, way), given) == outcome(getattr(theirs, way), given), (way, given)


def outcome(call: Any, *arguments: Any) -> Any:
    """The result of a call, as text, or the class and text of its error."""
    try:
        return repr(call(*arguments))
    except Exception as error:
        return type(error).__name__, str(error)


def values(package: Any) -> dict[str, Any]:
    """Texts, equality, hashes and errors of the values of administration."""
    here = package
    kinds, patterns = here.ResourceType, here.ACLResourcePatternType
    operations, permissions = here.ACLOperation, here.ACLPermissionType

    def pattern(*given: Any) -> Any:
        return here.ResourcePattern(*given)

    def acl(cls: Any, *given: Any) -> Any:
        return cls(*given)

    topic = pattern(kinds.TOPIC, "t")
    any_topic = here.ResourcePatternFilter(kinds.TOPIC, "t", patterns.LITERAL)
    parts = ("User:me", "*", operations.READ, permissions.ALLOW)
    rule, same = here.ACL(*parts, topic), here.ACL(*parts, pattern(kinds.TOPIC, "t"))
    member = here.MemberToRemove("m", reason="r")
    seen = {
        "texts": (repr(rule), repr(topic), repr(here.ACLFilter(None, None, *parts[2:], any_topic)), repr(member)),
        "equal": (rule == same, hash(rule) == hash(same), topic == any_topic, rule == here.ACLFilter(*parts, topic)),
        "members": (member == here.MemberToRemove("m", None, "r"), member == here.MemberToRemove("m")),
        "any operation": outcome(acl, here.ACL, *parts[:2], operations.ANY, permissions.ALLOW, topic),
        "any permission": outcome(acl, here.ACL, *parts[:3], permissions.ANY, topic),
        "a filter in a rule": outcome(acl, here.ACL, *parts, any_topic),
        "no operation": outcome(acl, here.ACLFilter, *parts[:2], 3, permissions.ALLOW, topic),
        "no permission": outcome(acl, here.ACLFilter, *parts[:3], "x", topic),
        "no pattern": outcome(acl, here.ACLFilter, *parts, "x"),
        "any kind": outcome(pattern, kinds.ANY, "t"),
        "a match": outcome(pattern, kinds.TOPIC, "t", patterns.MATCH),
        "no kind": outcome(here.ResourcePatternFilter, 2, "t", patterns.ANY),
        "no way": outcome(here.ResourcePatternFilter, kinds.TOPIC, "t", 3),
        "resource": (repr(here.ConfigResource("topic", "t")), here.ConfigResource("topic", "t", {"a": 1}).configs),
        "no resource": (outcome(here.ConfigResource, "nope", "t"), outcome(here.ConfigResource, 2, "t")),
        "time": repr(here.OffsetTimestamp(5)),
        "abort": here.AbortTransactionSpec(("t", 0), 1, 2),
    }
    salted = here.UserScramCredentialUpsertion("u", "scram-sha-256", "secret", 5000, b"salt")
    seen["user"] = (repr(salted), salted.salted_password, salted.mechanism.name, salted.salt, salted.iterations)
    seen["default"] = here.UserScramCredentialUpsertion("u", 2, b"secret").iterations
    seen["deletion"] = repr(here.UserScramCredentialDeletion("u", here.ScramMechanism.SCRAM_SHA_512))
    seen["no mechanism"] = outcome(here.UserScramCredentialUpsertion, "u", 7, "secret")
    return seen


def test_values_of_administration() -> None:
    assert values(our_admin) == values(kafka.admin)


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PROCESS_S, check=False)


def test_unchanged_code_runs_on_ours() -> None:
    done = run(
        "from kserdes.compat import confluent; confluent.install(); confluent.install('kafka')\n"
        "import kafka, kafka.errors, kserdes.compat.kafka as ours\n"
        "from kafka import KafkaConsumer, KafkaProducer, TopicPartition\n"
        "from kafka.coordinator.assignors.range import RangePartitionAssignor\n"
        "from kafka.net.sasl.oauth import AbstractTokenProvider\n"
        "assert KafkaProducer is ours.KafkaProducer and kafka.TopicPartition is TopicPartition\n"
        "assert kafka.errors.for_code(3).__name__ == 'UnknownTopicOrPartitionError' and kafka.__version__\n"
        "try: import kafka.protocol.parser\n"
        "except ModuleNotFoundError as error: print(error)\n"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "kserdes has nothing for 'kafka.protocol.parser'; see docs/guide/migrating-kafka-python.md\n"


def test_it_is_refused_when_the_real_package_is_there() -> None:
    done = run(
        "import warnings; warnings.simplefilter('ignore'); import kafka\n"
        "from kserdes.compat import confluent; confluent.install('confluent_kafka')\n"
        "import confluent_kafka; confluent.install()"
    )
    assert done.returncode == 1
    assert "StateError: kafka has been imported from" in done.stderr


def test_releases_are_told_from_the_same_versions() -> None:
    from kafka.protocol.broker_version_data import BROKER_API_VERSIONS, infer_broker_version_from_api_versions

    from kserdes.compat.kafka.broker_versions import release_of

    for release, versions in BROKER_API_VERSIONS.items():
        if release < (2, 1):  # it tells older ones apart by other means
            continue
        numbers = {int(key): tuple(each) for key, each in versions.items()}
        assert release_of(numbers) == release == infer_broker_version_from_api_versions(versions)
