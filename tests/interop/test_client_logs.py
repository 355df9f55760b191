"""`debug` and `logger` give lines with the same first words and levels as confluent_kafka's, context by context."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Final

import pytest

import kafka_core
import kafka_core.admin as our_admin
from kafka_core.broker import EmbeddedCluster
from tests.contract.clusters import unique

pytestmark = pytest.mark.interop
confluent = pytest.importorskip("confluent_kafka")
their_admin = pytest.importorskip("confluent_kafka.admin")

LIMIT_S: Final = 60.0


class Kept(logging.Handler):
    """Keeps the first word and the level of every line."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[tuple[str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append((record.getMessage().split()[0], record.levelname))

    def words(self) -> set[str]:
        return {word for word, _ in self.lines}


@pytest.fixture
def kept() -> Iterator[tuple[logging.Logger, Kept]]:
    logger, handler = logging.getLogger(unique("given")), Kept()  # clients of the test before may still write
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    logger.addHandler(handler)
    yield logger, handler
    logger.removeHandler(handler)


@pytest.fixture(scope="module")
def servers() -> Iterator[str]:
    with EmbeddedCluster() as cluster:
        yield cluster.bootstrap_servers


def wait_for(words: set[str], kept: Kept, client: Any) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    while not words <= kept.words():
        assert time.monotonic() < deadline_s, (words, kept.words())
        client.poll(0.05)


PRODUCER: Final = [
    ("msg", {"INIT", "PRODUCE", "MSGSET"}),
    ("topic", {"INIT", "PARTCNT"}),
    ("protocol", {"INIT", "SEND", "RECV", "CONNECTED"}),
    ("broker", {"INIT", "CONNECTED"}),
    ("metadata", {"INIT", "METADATA"}),
    ("feature", {"INIT", "APIVERSION"}),
    ("eos", {"INIT", "GETPID"}),
    ("conf", {"INIT", "CONF"}),
]
EVERY: Final = {word for _, words in PRODUCER for word in words}


@pytest.mark.parametrize(("context", "words"), PRODUCER)
def test_producers(context: str, words: set[str], kept: tuple[logging.Logger, Kept], servers: str) -> None:
    logger, handler = kept
    for core in (confluent, kafka_core):
        conf = {"bootstrap.servers": servers, "debug": context, "logger": logger, "enable.idempotence": True}
        producer = core.Producer(conf)
        producer.produce("t", b"x")
        assert producer.flush(LIMIT_S) == 0
        wait_for(words, handler, producer)
        assert {level for _, level in handler.lines} == {"DEBUG"}
        if core is kafka_core:
            assert handler.words() & EVERY == words
        producer.close()
        handler.lines.clear()


def test_consumers(kept: tuple[logging.Logger, Kept], servers: str) -> None:
    logger, handler = kept
    words = {"JOINGROUP", "SYNCGROUP", "OFFSETFETCH", "CGRPCOORD", "CONSUME", "FETCH"}
    for core in (confluent, kafka_core):
        conf = {"bootstrap.servers": servers, "debug": "cgrp,fetch", "group.id": core.__name__}
        conf["auto.offset.reset"] = "earliest"
        producer = core.Producer({"bootstrap.servers": servers})
        producer.produce("read", b"x")
        producer.flush()
        consumer = core.Consumer(conf, logger=logger)
        consumer.subscribe(["read"])
        wait_for(words, handler, consumer)
        consumer.close()
        assert {"REBALANCE"} <= handler.words()
        handler.lines.clear()


def test_administrators(kept: tuple[logging.Logger, Kept], servers: str) -> None:
    logger, handler = kept
    for core, admin in ((confluent, their_admin), (kafka_core, our_admin)):
        client = admin.AdminClient({"bootstrap.servers": servers, "debug": "admin", "logger": logger})
        client.create_topics([admin.NewTopic(core.__name__, 1)])[core.__name__].result(LIMIT_S)
        wait_for({"INIT", "CREATETOPICS"}, handler, client)
        handler.lines.clear()


@pytest.mark.parametrize("name", ["Producer", "Consumer", "AdminClient"])
def test_a_broker_that_is_not_there_is_an_error_without_debug(
    name: str, kept: tuple[logging.Logger, Kept], refused_port: int
) -> None:
    logger, handler = kept
    for core, admin in ((confluent, their_admin), (kafka_core, our_admin)):
        conf = {"bootstrap.servers": f"127.0.0.1:{refused_port}", "logger": logger}
        if name == "Consumer":
            conf["group.id"] = "g"
        client = getattr(admin if name == "AdminClient" else core, name)(conf)
        wait_for({"FAIL"}, handler, client)
        assert ("FAIL", "ERROR") in handler.lines
        handler.lines.clear()


@pytest.mark.parametrize("core", [confluent, kafka_core])
def test_a_client_without_brokers_has_lines_too(core: ModuleType, kept: tuple[logging.Logger, Kept]) -> None:
    logger, handler = kept
    producer = core.Producer({"debug": "msg", "logger": logger})
    producer.flush()
    wait_for({"INIT", "CONFWARN"}, handler, producer)
    assert handler.lines == [("INIT", "DEBUG"), ("CONFWARN", "INFO")]
