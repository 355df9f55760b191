"""Consumers of encrypted records whose keys can't be had: an outage is no fault of the records, a lost key is."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_core.broker import EmbeddedCluster
from kafka_core.model import TopicPartition
from registry import Rule, RuleKind, RuleMode, RuleSet, Schema, SchemaRegistryClient
from registry.client.dek import DekRegistryClient
from registry.errors import TransportError
from serdes import DeserializingConsumer, SerializingProducer
from serdes.avro import AvroDeserializer, AvroSerializer
from serdes.encryption.local import LocalKmsClient
from serdes.errors import FieldError, ValueDeserializationError
from serdes.rules import RuleError

WAIT_S = 60.0
PERSON = {
    "type": "record",
    "name": "Person",
    "fields": [{"name": "name", "type": "string", "confluent:tags": ["PII"]}],
}
KEYS = {"encrypt.kek.name": "people", "encrypt.kms.type": "local-kms", "encrypt.kms.key.id": "dev"}
SECRET = {"secret": "for tests"}


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster() as running:
        yield running


@pytest.fixture
def topic(cluster: EmbeddedCluster) -> str:
    """A topic with one encrypted record, {"name": "Ada"}."""
    name = f"people-{uuid.uuid4().hex}"
    cluster.create_topic(name, 1)
    rule = Rule(
        name="secret", kind=RuleKind.TRANSFORM, mode=RuleMode.WRITEREAD, type="ENCRYPT", tags=["PII"], params=KEYS
    )
    schema = Schema(json.dumps(PERSON), rule_set=RuleSet(domain_rules=[rule]))
    conf = {"auto.register.schemas": False, "use.latest.version": True}
    with SchemaRegistryClient({"url": f"mock://{name}"}) as registry:
        registry.register_schema(f"{name}-value", schema)
        write = AvroSerializer(registry, conf=conf, rule_conf=SECRET)
        producer: SerializingProducer[None, Any] = SerializingProducer(
            {"bootstrap.servers": cluster.bootstrap_servers, "value.serializer": write}
        )
        with producer:
            producer.produce(name, value={"name": "Ada"})
            assert producer.flush(WAIT_S) == 0
        write.close()
    return name


@pytest.fixture
def consumer(cluster: EmbeddedCluster, topic: str) -> Iterator[DeserializingConsumer[None, Any]]:
    """Skips what it can't read; nothing of the keys is known to it."""
    with SchemaRegistryClient({"url": f"mock://{topic}"}) as registry:
        read = AvroDeserializer(registry, rule_conf=SECRET)
        made: DeserializingConsumer[None, Any] = DeserializingConsumer(
            {
                "bootstrap.servers": cluster.bootstrap_servers,
                "group.id": topic,
                "poison.policy": "skip",
                "value.deserializer": read,
            }
        )
        with made:
            made.assign([TopicPartition(topic, 0, 0)])
            yield made
        read.close()


def unanswered(*_: Any, **__: Any) -> Any:
    raise TransportError(-1, -1, "no answer")


def refused(*_: Any) -> Any:
    raise ConnectionRefusedError("down")


def denied(*_: Any) -> Any:
    raise RuleError("permission denied", away=True)


def lost(*_: Any) -> Any:
    raise RuleError("there is no such key")


@pytest.mark.parametrize(
    ("part", "name", "outage"),
    [
        (LocalKmsClient, "decrypt", refused),
        (LocalKmsClient, "decrypt", denied),
        (LocalKmsClient, "__init__", lost),  # no client can be made: a log-in that fails, say
        (DekRegistryClient, "get_dek", unanswered),
        (DekRegistryClient, "get_kek", unanswered),
    ],
)
def test_while_keys_can_not_be_had_records_are_raised_not_skipped(
    consumer: DeserializingConsumer[None, Any], monkeypatch: pytest.MonkeyPatch, part: type, name: str, outage: Any
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(part, name, outage)
        for _ in range(2):
            with pytest.raises(ValueDeserializationError) as raised:
                consumer.poll(WAIT_S)
            assert (raised.value.retriable, raised.value.offset) == (True, 0)
    message = consumer.poll(WAIT_S)
    assert message is not None
    assert message.value() == {"name": "Ada"}


def test_a_record_whose_key_is_lost_is_skipped(
    consumer: DeserializingConsumer[None, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[FieldError] = []
    monkeypatch.setattr(LocalKmsClient, "decrypt", lost)
    monkeypatch.setattr(consumer, "_policy", type(consumer._policy)(skips=True, callback=told.append))
    while not told:
        assert consumer.poll(0.1) is None
    assert isinstance(told[0], ValueDeserializationError)
    assert not told[0].retriable
