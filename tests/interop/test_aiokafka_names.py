"""aiokafka's public names, class by class and method by method, beside ours: the same parameters and defaults, and
coroutine functions where it has some. Every difference is in a table here, with its reason."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from typing import Any

import pytest

from kserdes.compat.aiokafka import arguments, errors
from kserdes.compat.aiokafka.table import HOMES, MISSING
from tests.patience import PROCESS_S

aiokafka = pytest.importorskip("aiokafka")

pytestmark = pytest.mark.interop

CLASSES = {
    "AIOKafkaProducer": "aiokafka.producer.producer",
    "AIOKafkaConsumer": "aiokafka.consumer.consumer",
    "AIOKafkaAdminClient": "aiokafka.admin.client",
    "BatchBuilder": "aiokafka.producer.message_accumulator",
    "TransactionContext": "aiokafka.producer.producer",
    "ConsumerRebalanceListener": "aiokafka.abc",
    "AbstractTokenProvider": "aiokafka.abc",
    "NewTopic": "aiokafka.admin.new_topic",
    "NewPartitions": "aiokafka.admin.new_partitions",
    "RecordsToDelete": "aiokafka.admin.records_to_delete",
    "ConfigResource": "aiokafka.admin.config_resource",
    "DefaultPartitioner": "aiokafka.partitioner",
    "TopicPartition": "aiokafka.structs",
    "OffsetAndMetadata": "aiokafka.structs",
    "OffsetAndTimestamp": "aiokafka.structs",
    "RecordMetadata": "aiokafka.structs",
    "BrokerMetadata": "aiokafka.structs",
    "PartitionMetadata": "aiokafka.structs",
    "ConsumerRecord": "aiokafka.structs",
}
"""Class -> aiokafka's module of it."""

DIFFERENT = {
    ("AIOKafkaProducer", "__init__", "acks"): "an object that stands for `not set`, ours and theirs",
    ("AIOKafkaProducer", "__init__", "partitioner"): "an object of a class of one's own",
    ("AIOKafkaConsumer", "__init__", "partition_assignment_strategy"): "a class of one's own",
    ("BatchBuilder", "__init__", "is_transactional"): "False for 0",
    ("BatchBuilder", "append", "headers"): "an empty tuple for an empty list",
}
"""(class, method, parameter) whose default is another one: why."""

OLDER = {("AIOKafkaProducer", "__init__", "send_backoff_ms")}
"""(class, method, parameter) of aiokafka 0.8, which today's has no more."""


def ours(module: str, name: str) -> Any:
    """Our object behind a name of aiokafka."""
    for home in HOMES[module.partition(".")[2]]:
        found = getattr(importlib.import_module(home), name, None)
        if found is not None:
            return found
    raise AssertionError(f"{module}.{name} is not there")


def methods(kind: type) -> dict[str, Any]:
    """Methods that an application calls or implements."""
    special = ("__init__", "__aiter__", "__anext__", "__aenter__", "__aexit__", "__call__")
    return {
        name: value
        for name, value in inspect.getmembers(kind, inspect.isroutine)
        if (not name.startswith("_") or name in special)
        and name in {n for base in kind.__mro__[:-1] for n in vars(base)}
    }


@pytest.mark.parametrize("name", CLASSES)
def test_methods_take_the_same(name: str) -> None:
    theirs = getattr(importlib.import_module(CLASSES[name]), name)
    mine = ours(CLASSES[name], name)
    found = methods(mine)
    for method, theirs_is in methods(theirs).items():
        assert method in found, f"{name}.{method} is missing"
        mine_is = found[method]
        assert inspect.iscoroutinefunction(inspect.unwrap(mine_is)) == inspect.iscoroutinefunction(
            inspect.unwrap(theirs_is)
        ), f"{name}.{method}: one of both is a coroutine function"
        expected, given = inspect.signature(theirs_is).parameters, inspect.signature(mine_is).parameters
        wanted = [(each.name, each.kind) for each in expected.values() if each.name not in ("args", "kwargs")]
        kept = [(each.name, each.kind) for each in given.values() if (name, method, each.name) not in OLDER]
        assert kept == wanted or method == "__call__", f"{name}.{method}"
        for parameter in expected.values():
            if (name, method, parameter.name) not in DIFFERENT and parameter.name in given:
                assert given[parameter.name].default == parameter.default, f"{name}.{method}({parameter.name})"


def test_no_reason_is_out_of_date() -> None:
    for name, method, parameter in DIFFERENT:
        kind = getattr(importlib.import_module(CLASSES[name]), name)
        theirs = inspect.signature(getattr(kind, method)).parameters[parameter].default
        mine = inspect.signature(getattr(ours(CLASSES[name], name), method)).parameters[parameter].default
        assert repr(theirs) != repr(mine), (name, method, parameter)


@pytest.mark.parametrize(
    ("name", "table"),
    [("AIOKafkaProducer", "PRODUCER"), ("AIOKafkaConsumer", "CONSUMER"), ("AIOKafkaAdminClient", "ADMIN")],
)
def test_every_argument_has_a_row(name: str, table: str) -> None:
    """And the row says the default that the class has."""
    mine = inspect.signature(ours(CLASSES[name], name)).parameters
    defaults = getattr(arguments, table).defaults()
    kept = [each for each in mine.values() if (name, "__init__", each.name) not in OLDER and each.name != "topics"]
    assert {each.name: each.default for each in kept} == defaults


def test_public_names_of_the_root() -> None:
    missing = {name for name in aiokafka.__all__ if not hasattr(importlib.import_module(HOMES[""][0]), name)}
    assert missing == set(MISSING)


def test_errors_have_the_same_tree() -> None:
    theirs = importlib.import_module("aiokafka.errors")
    for name, kind in vars(theirs).items():
        if not inspect.isclass(kind) or not issubclass(kind, Exception):
            continue
        mine = getattr(errors, name)
        assert mine.__name__ == kind.__name__
        assert [base.__name__ for base in mine.__mro__] == [base.__name__ for base in kind.__mro__], name
        for fact in ("errno", "message", "retriable", "invalid_metadata"):
            assert getattr(mine, fact, None) == getattr(kind, fact, None), (name, fact)
    assert {code: kind.__name__ for code, kind in errors.kafka_errors.items()} == {
        code: kind.__name__ for code, kind in theirs.kafka_errors.items()
    }
    for code in (-1, 0, 7, 16, 99):
        assert errors.for_code(code).__name__ == theirs.for_code(code).__name__
    for made in (
        lambda tree: tree.KafkaError(),
        lambda tree: tree.KafkaError("a", 1),
        lambda tree: tree.for_code(7)("x"),
    ):
        assert str(made(errors)) == str(made(theirs))


PROGRAM = """
import aiokafka, aiokafka.errors, aiokafka.helpers, aiokafka.structs, aiokafka.abc
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.producer.message_accumulator import BatchBuilder
for kind in (AIOKafkaProducer, aiokafka.helpers.create_ssl_context, aiokafka.errors.KafkaError):
    print(kind.__module__)
print(aiokafka.AIOKafkaClient.__module__)
try:
    aiokafka.AIOKafkaConnection
except AttributeError as error:
    print(error)
try:
    import aiokafka.conn
except ModuleNotFoundError as error:
    print(error)
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=PROCESS_S, check=False)


def test_an_import_of_aiokafka_gives_ours() -> None:
    done = run("-c", f"from kserdes.compat import confluent; confluent.install()\n{PROGRAM}")
    assert done.returncode == 0, done.stderr
    *homes, name, module = done.stdout.splitlines()
    assert homes == [f"kserdes.compat.aiokafka.{name}" for name in ("producer", "helpers", "errors", "client")]
    assert "has no attribute 'AIOKafkaConnection' in kserdes" in name
    assert "kserdes has nothing for 'aiokafka.conn'" in module


def test_it_is_refused_behind_the_real_one() -> None:
    done = run("-c", "import aiokafka; from kserdes.compat import confluent; confluent.install()")
    assert done.returncode != 0
    assert "aiokafka has been imported from" in done.stderr
