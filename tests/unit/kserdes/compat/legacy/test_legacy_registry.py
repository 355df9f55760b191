"""CachedSchemaRegistryClient and MessageSerializer, as those of confluent_kafka.avro 2.16 were seen to behave."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kserdes.compat.legacy import (
    AvroProducer,
    CachedSchemaRegistryClient,
    ClientError,
    KeySerializerError,
    MessageSerializer,
    SerializerError,
    ValueSerializerError,
    loads,
)
from registry import TransportError

ORDER = loads('{"type":"record","name":"Order","fields":[{"name":"n","type":"int"}]}')
TEXT = loads('"string"')


@pytest.fixture
def client() -> Iterator[CachedSchemaRegistryClient]:
    with CachedSchemaRegistryClient({"url": "mock://"}) as made:
        yield made


@pytest.mark.parametrize(
    ("conf", "kind", "text"),
    [
        ({}, ValueError, "Invalid URL provided"),
        ({"url": "somewhere"}, ValueError, "Invalid URL provided"),
        ({"url": 3}, TypeError, "URL must be of type str"),
        (None, TypeError, "URL must be of type str"),
        ({"url": "http://h", "nope": 1}, ValueError, "nope"),
        ({"url": "http://h", "basic.auth.credentials.source": "VAULT"}, ValueError, "must be one of"),
        ({"url": "http://h", "ssl.key.location": "x"}, ValueError, "certificate"),
        (
            {"url": "http://h", "basic.auth.credentials.source": "sasl_inherit", "sasl.mechanism": "GSSAPI"},
            ValueError,
            "does not support SASL mechanism GSSAPI",
        ),
    ],
)
def test_wrong_configurations_are_refused(conf: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        CachedSchemaRegistryClient(conf)


@pytest.mark.parametrize(
    ("conf", "user"),
    [
        ("http://h/", None),
        ({"url": "http://a:b@h"}, ("a", "b")),
        ({"url": "http://h", "basic.auth.credentials.source": "USER_INFO", "basic.auth.user.info": "a:b"}, ("a", "b")),
        ({"url": "http://h", "basic.auth.user.info": "a:b"}, None),
        (
            {
                "url": "http://h",
                "basic.auth.credentials.source": "SASL_INHERIT",
                "sasl.username": "u",
                "sasl.password": "p",
                "auto.register.schemas": False,
            },
            ("u", "p"),
        ),
    ],
)
def test_credentials_come_from_where_they_should(conf: Any, user: tuple[str, str] | None) -> None:
    with CachedSchemaRegistryClient(conf) as made:
        assert made.url == "http://h"
        assert made.client._config.basic_user_info == user


def test_schemas_are_registered_and_found(client: CachedSchemaRegistryClient) -> None:
    assert client.register("s-value", ORDER) == client.register("s-value", ORDER.schema_str) == 1
    assert client.check_registration("s-value", ORDER) == client.get_version("s-value", ORDER) == 1
    assert client.get_by_id(1) == ORDER
    assert client.get_latest_schema("s-value") == client.get_by_version("s-value", 1) == (1, ORDER, 1)
    assert client.delete_subject("s-value") == [1]


def test_missing_schemas_are_none_or_an_error(client: CachedSchemaRegistryClient) -> None:
    client.register("s-value", ORDER)
    assert client.get_by_id(99) is None
    assert client.get_latest_schema("no") == client.get_by_version("s-value", 9) == (None, None, None)
    assert client.get_version("no", ORDER) is client.get_version("s-value", TEXT) is None
    with pytest.raises(ClientError, match="Schema or subject not found") as caught:
        client.check_registration("no", ORDER)
    assert caught.value.http_code == 404
    with pytest.raises(ClientError, match="Unable to delete subject"):
        client.delete_subject("no")
    with pytest.raises(ClientError, match="a schema is needed"):
        client.register("s-value", None)


def test_compatibility(client: CachedSchemaRegistryClient) -> None:
    client.update_compatibility("BACKWARD")  # a registry of its own compares nothing at first
    client.register("s-value", ORDER)
    assert client.test_compatibility("s-value", ORDER)
    assert client.test_compatibility("new", ORDER)
    assert not client.test_compatibility("s-value", TEXT)
    with pytest.raises(ClientError, match="Error code: 409"):
        client.register("s-value", TEXT)
    assert client.get_compatibility() == "BACKWARD"
    assert client.update_compatibility("FULL", "s-value") == client.get_compatibility("s-value") == "FULL"
    with pytest.raises(ClientError, match="Invalid level specified: FULLER"):
        client.update_compatibility("FULLER")
    with pytest.raises(ClientError, match="Unable to fetch compatibility level"):
        client.get_compatibility("no")


def test_a_closed_client_has_no_answer() -> None:
    client = CachedSchemaRegistryClient("mock://")
    client.close()
    for call in (client.get_latest_schema, client.get_compatibility, client.delete_subject):
        with pytest.raises(TransportError):
            call("s")
    with pytest.raises(TransportError):
        client.test_compatibility("s", ORDER)


def test_frames_by_schema_and_by_id(client: CachedSchemaRegistryClient) -> None:
    serializer = MessageSerializer(client)
    frame = serializer.encode_record_with_schema("s", ORDER, {"n": 3})
    assert frame == b"\0\0\0\0\x01\x06"
    assert client.get_version("s-value", ORDER) == 1
    assert serializer.encode_record_with_schema("s", TEXT, "k", is_key=True) == b"\0\0\0\0\x02\x02k"
    assert client.get_version("s-key", TEXT) == 1
    for _ in range(2):
        assert serializer.encode_record_with_schema_id(1, {"n": 4}) == b"\0\0\0\0\x01\x08"
    assert serializer.decode_message(frame) == {"n": 3}
    assert serializer.decode_message(b"\0\0\0\0\x02\x02k", is_key=True) == "k"
    assert serializer.decode_message(None) is None
    assert MessageSerializer(client.client).decode_message(frame) == {"n": 3}


def test_reader_schemas_decide_what_is_read(client: CachedSchemaRegistryClient) -> None:
    wider = loads(
        '{"type":"record","name":"Order","fields":[{"name":"n","type":"long"},{"name":"m","type":"int","default":7}]}'
    )
    frame = MessageSerializer(client).encode_record_with_schema("s", ORDER, {"n": 3})
    assert MessageSerializer(client, reader_value_schema=wider).decode_message(frame) == {"n": 3, "m": 7}


def test_bytes_that_are_no_frame_are_refused(client: CachedSchemaRegistryClient) -> None:
    serializer = MessageSerializer(client)
    for payload, text in (
        (b"", "message is too small to decode"),
        (b"\0\0\0\0\x01", "message is too small to decode"),
        (b"\x01\0\0\0\x01\x06", "message does not start with magic byte"),
        (b"\0\0\0\0\x63\x06", "unable to fetch schema with id 99"),
    ):
        with pytest.raises(SerializerError, match=text) as caught:
            serializer.decode_message(payload)
        assert caught.value.message == str(caught.value)
    frame = serializer.encode_record_with_schema("s", ORDER, {"n": 3})
    with pytest.raises(SerializerError):
        serializer.decode_message(frame + b"more")


def test_values_that_do_not_fit_the_schema_are_refused(client: CachedSchemaRegistryClient) -> None:
    serializer = MessageSerializer(client)
    for is_key, kind in ((False, ValueSerializerError), (True, KeySerializerError)):
        with pytest.raises(kind, match="does not fit int"):
            serializer.encode_record_with_schema("s", ORDER, {"n": "x"}, is_key)
        with pytest.raises(kind, match="Schema does not exist"):
            serializer.encode_record_with_schema_id(99, {"n": 3}, is_key)
        with pytest.raises(kind, match="no schema for the"):
            serializer.encode_record_with_schema("s", None, {"n": 3}, is_key)
        with pytest.raises(kind, match="None has no frame"):
            serializer.encode_record_with_schema("s", ORDER, None, is_key)


@pytest.mark.filterwarnings("ignore:Avro.* has been deprecated:DeprecationWarning")
def test_the_producer_takes_such_a_client(client: CachedSchemaRegistryClient) -> None:
    with AvroProducer({"message.timeout.ms": 10}, default_value_schema=ORDER, schema_registry=client) as producer:
        producer.produce(topic="s", value={"n": 3})
        assert client.get_version("s-value", ORDER) == 1
    assert client.get_by_id(1) == ORDER, "the client is not the producer's to close"
