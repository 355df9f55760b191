"""Each public class and function of kafka-python and aiokafka has the same methods and parameters in its dialect."""

from __future__ import annotations

import enum
import importlib
import inspect
import warnings
from collections.abc import Iterator
from typing import Any, Final

import pytest

from kserdes.compat.aiokafka import table as aiokafka
from kserdes.compat.aliases import Dialect
from kserdes.compat.kafka import table as kafka

pytestmark = pytest.mark.interop
SIDES = [
    pytest.param(kafka.DIALECT, kafka.METHODS_NOT_HERE, id="kafka"),
    pytest.param(aiokafka.DIALECT, aiokafka.METHODS_NOT_HERE, id="aiokafka"),
]
OTHERWISE: Final = {
    "kafka.codec.zstd_encode": "takes a level, too",
    "kafka.coordinator.assignors.sticky.user_data.StickyAssignorUserData": "any arguments there",
    "kafka.producer.future.FutureRecordMetadata": "made by the producer",
    "kafka.protocol.consumer.metadata.ConsumerProtocolAssignment": "any arguments there",
    "kafka.protocol.consumer.metadata.ConsumerProtocolSubscription": "any arguments there",
    "kafka.record.default_records.DefaultRecordBatchBuilder.append": "functions in defaults, for speed, there",
    "kafka.record.default_records.DefaultRecordBatchBuilder.set_producer_state": "may be given less",
    "kafka.record.memory_records.MemoryRecords.next_batch": "numbers in defaults, for speed, there",
    "kafka.record.util.calc_crc32c": "a function in a default, for speed, there",
    "aiokafka.consumer.consumer.AIOKafkaConsumer": "a class of ours is the default of the assignment strategy",
    "aiokafka.coordinator.protocol.ConsumerProtocolMemberAssignment": "any arguments there",
    "aiokafka.coordinator.protocol.ConsumerProtocolMemberMetadata": "any arguments there",
    "aiokafka.producer.message_accumulator.BatchBuilder": "False is 0 there",
    "aiokafka.producer.message_accumulator.BatchBuilder.append": "an empty list is the default there",
    "aiokafka.producer.producer.AIOKafkaProducer": "an older argument is taken, too",
}
"""Objects with other parameters or defaults, and the reasons."""


def things(dialect: Dialect) -> Iterator[tuple[str, Any, Any]]:
    """Dotted name (without the root) of what a module of theirs defines, with theirs and ours."""
    for module, homes in dialect.homes.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs = importlib.import_module(f"{dialect.root}.{module}".rstrip("."))
        except ModuleNotFoundError:
            continue  # of an older version
        ours = [importlib.import_module(home) for home in homes]
        for name, value in vars(theirs).items():
            if name.startswith("_") or getattr(value, "__module__", None) != theirs.__name__ or not callable(value):
                continue
            mine = next((getattr(home, name) for home in ours if hasattr(home, name)), None)
            if mine is not None:
                yield f"{module}.{name}", value, mine


def methods(kind: type) -> list[str]:
    return [
        name
        for name in dir(kind)
        if not name.startswith("_") and callable(found := getattr(kind, name)) and not inspect.isclass(found)
    ]


def parameters(call: Any) -> list[tuple[str, Any, Any]] | None:
    """None where a compiled function does not say; a default that can be called counts as such."""
    try:
        found = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):
        return None
    return [(each.name, each.kind, "…" if callable(each.default) else repr(each.default)) for each in found]


@pytest.mark.parametrize(("dialect", "table"), SIDES)
def test_each_method_is_there_or_has_its_reason(dialect: Dialect, table: dict[str, str]) -> None:
    pytest.importorskip(dialect.root)
    missing = {
        f"{name}.{method}"
        for name, theirs, mine in things(dialect)
        if inspect.isclass(theirs)
        for method in methods(theirs)
        if not hasattr(mine, method)
    }
    assert missing == set(table)


@pytest.mark.parametrize(("dialect", "table"), SIDES)
def test_parameters_and_defaults_are_the_same(dialect: Dialect, table: dict[str, str]) -> None:
    pytest.importorskip(dialect.root)
    different, compared = set(), 0
    for name, theirs, mine in things(dialect):
        pairs = [(name, theirs, mine)]
        if inspect.isclass(theirs):
            if issubclass(theirs, BaseException | enum.Enum):
                pairs = []
            for method in methods(theirs):
                if hasattr(mine, method):
                    pairs.append((f"{name}.{method}", getattr(theirs, method), getattr(mine, method)))
        for dotted, their_call, our_call in pairs:
            wanted, given = parameters(their_call), parameters(our_call)
            if wanted is not None and given is not None:
                compared += 1
                if wanted != given:
                    different.add(f"{dialect.root}.{dotted}")
    assert compared > 100
    expected = {name for name in OTHERWISE if name.startswith(f"{dialect.root}.")}
    assert different ^ expected == set()


def test_addresses_are_read_alike() -> None:
    theirs = pytest.importorskip("kafka.cluster")
    from kserdes.compat.kafka import cluster as mine

    assert mine.DEFAULT_KAFKA_PORT == theirs.DEFAULT_KAFKA_PORT
    for text in ("a", "a:1", "::1", "[::1]", "[::1]:9", "1.2.3.4:80", "1.2.3.4", "", "PLAINTEXT://a:5", "fe80::1"):
        assert mine.get_ip_port_afi(text) == theirs.get_ip_port_afi(text), text
    for hosts in ("a:1,b", " a:1 , b ", ["a", "[::1]:9"], [], "", "SSL://a:5,b:6", ["a:1,b:2"]):
        assert mine.collect_hosts(hosts, randomize=False) == theirs.collect_hosts(hosts, randomize=False), hosts
    for text in ("a:x", "[fe80::1]:x"):
        for module in (mine, theirs):
            with pytest.raises(ValueError, match="invalid literal"):
                module.get_ip_port_afi(text)
