from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from kafka_core.errors import KafkaError
from kafka_core.kernels import Message
from kafka_core.sync.consumer import Consumer
from kafka_core.sync.producer import Producer
from kserdes.compat.legacy import (
    AvroConsumer,
    AvroProducer,
    ClientError,
    KeySerializerError,
    SerializerError,
    ValueSerializerError,
    load,
    loads,
)
from registry import Schema, SchemaRegistryClient

SCHEMA = '{"type":"record","name":"Order","fields":[{"name":"n","type":"int"}]}'
CONF = {"bootstrap.servers": "127.0.0.1:1"}
pytestmark = pytest.mark.filterwarnings("ignore:Avro.* has been deprecated:DeprecationWarning")


def url(request: pytest.FixtureRequest) -> dict[str, str]:
    return {"schema.registry.url": f"mock://{request.node.nodeid}"}


def produced(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    sent: list[Any] = []
    monkeypatch.setattr(Producer, "produce", lambda self, *arguments, **more: sent.append((*arguments, more)))
    return sent


def test_a_record_out_and_back(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    sent = produced(monkeypatch)
    with AvroProducer({**CONF, **url(request)}, Schema('"string"'), SCHEMA) as producer:
        producer.produce(topic="orders", key="k", value={"n": 5}, partition=1)
        producer.produce(topic="orders", key="k", value=None)
    topic, value, key, more = sent[0]
    assert (topic, value[5:], key[5:], more) == ("orders", b"\x0a", b"\x02k", {"partition": 1})
    assert sent[1][1] is None
    message = Message(topic="orders", partition=0, offset=3, key=key, value=value)
    broken = Message(topic="orders", partition=0, offset=4, value=b"bad")
    event = Message(topic="orders", partition=0, offset=5, error=KafkaError(KafkaError._PARTITION_EOF))
    waiting = [message, broken, event, None]
    monkeypatch.setattr(Consumer, "poll", lambda self, timeout: waiting.pop(0))
    with AvroConsumer({**CONF, "group.id": "g", **url(request)}) as consumer:
        found = consumer.poll()
        assert found is not None
        assert (found.key(), found.value()) == ("k", {"n": 5})
        with pytest.raises(SerializerError, match=r"failed for message at topic orders, partition 0, offset 4, value"):
            consumer.poll(1)
        assert consumer.poll(1) is event
        assert consumer.poll(1) is None


def test_missing_topics_and_schemas_are_named(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    produced(monkeypatch)
    with AvroProducer({**CONF, **url(request)}) as producer:
        with pytest.raises(ClientError, match="Topic name not specified"):
            producer.produce(value=5)
        with pytest.raises(ValueSerializerError, match="required for values"):
            producer.produce(topic="t", value=5)
        with pytest.raises(KeySerializerError, match="required for key"):
            producer.produce(topic="t", key=5)
        with pytest.raises(SerializerError, match=r"topic t, value, .*at Order\.n"):
            producer.produce(topic="t", value={"n": "x"}, value_schema=SCHEMA)


def test_one_registry_only(request: pytest.FixtureRequest) -> None:
    with SchemaRegistryClient({"url": f"mock://{request.node.nodeid}"}) as client:
        with pytest.raises(ValueError, match="Cannot pass schema_registry along with"):
            AvroProducer({**CONF, **url(request)}, schema_registry=client)
        with pytest.warns(DeprecationWarning, match="AvroConsumer has been deprecated"):
            AvroConsumer({**CONF, "group.id": "g"}, client).close()


def test_credentials_of_the_broker(request: pytest.FixtureRequest) -> None:
    conf = {**CONF, **url(request), "schema.registry.basic.auth.credentials.source": "SASL_INHERIT"}
    with AvroProducer({**conf, "sasl.username": "me", "sasl.password": "secret"}) as producer:
        assert producer._registry.config()["sasl.username"] == "me"


def test_schemas_are_loaded(tmp_path: Path) -> None:
    path = tmp_path / "order.avsc"
    path.write_text(SCHEMA)
    assert load(path) == load(str(path)) == load(io.StringIO(SCHEMA)) == loads(SCHEMA) == Schema(SCHEMA)
    with pytest.raises(ClientError, match="Schema parse failed"):
        loads("{")
