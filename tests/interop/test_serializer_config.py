"""The configuration of serializers and deserializers, property by property: what confluent_kafka takes is taken, what
it refuses is refused, and only the rules inside of schemas can't be switched on."""

from __future__ import annotations

import functools
import warnings
from typing import Any, Final

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

import registry
import serdes.avro
import serdes.json_schema
import serdes.protobuf

pytestmark = pytest.mark.interop
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # authlib warns of httpx when it is imported
    pytest.importorskip("confluent_kafka")
    import confluent_kafka.schema_registry
    import confluent_kafka.schema_registry.avro
    import confluent_kafka.schema_registry.json_schema
    import confluent_kafka.schema_registry.protobuf

AVRO: Final = '{"type": "record", "name": "Fruit", "fields": [{"name": "name", "type": "string"}]}'
JSON: Final = '{"title": "Fruit", "type": "object"}'
FORMATS: Final = ("avro", "json_schema", "protobuf")
CLASSES: Final = {"avro": "Avro", "json_schema": "JSON", "protobuf": "Protobuf"}
DIFFERENT: Final = {
    ("use.schema.id", "True"): "True is no id: refused here",
    ("subject.name.strategy.conf", "'a'"): "is not looked at there while nothing needs it",
    ("schema.id.serializer", "None"): "None is what is not set, here",
    ("schema.id.deserializer", "None"): "None is what is not set, here",
    ("reference.subject.name.strategy", "None"): "None is what is not set, here",
    ("use.deprecated.format", "True"): "the format of before 2021 is still written here",
}
"""Property and value that only one of both takes: why."""
OTHERS: Final[dict[str, tuple[Any, ...]]] = {
    "auto.register.schemas": (False, "yes", 1, None),
    "normalize.schemas": (True, "yes", None),
    "use.schema.id": (7, "7", True),
    "use.latest.version": ("yes", 1, None),
    "use.latest.with.metadata": ({"a": "b"}, "a", 1),
    "skip.known.types": (False, "yes", None),
    "subject.name.strategy": ("TOPIC", 1),
    "subject.name.strategy.type": ("TOPIC", "RECORD", "nope", 1),
    "subject.name.strategy.conf": ({}, "a"),
    "reference.subject.name.strategy": ("a", None),
    "schema.id.serializer": ("a", None),
    "schema.id.deserializer": ("a", None),
    "use.deprecated.format": (True, "yes"),
    "validate": (False, "yes", None),
    "validate.strict": (True, "yes", None),
    "validate.strict.allow.default": (True, "yes", None),
    "validation.rules.execution": ("DISABLED", "BEFORE_DOMAIN_RULES", "AFTER_DOMAIN_RULES", "nope", 1, None),
    "validation.rules.fail.fast": (False, True, "yes"),
    "validation.rules.executor": (None, "a"),
    "no.such.property": (1,),
}
"""Values that are worth a look, good ones and bad ones."""


@functools.cache
def client_of(package: Any) -> Any:
    return package.SchemaRegistryClient({"url": "http://127.0.0.1:1"})


def make(package: Any, kind: Any, direction: str, name: str, conf: dict[str, Any]) -> None:
    """Makes one; the registry is never asked."""
    client = client_of(package)
    if direction == "Serializer" and conf.get("use.schema.id") is not None:
        conf = {"auto.register.schemas": False, **conf}
    if name == "avro":
        kind(client, AVRO, conf=conf)
    elif name == "json_schema":
        kind(*((JSON, client) if direction == "Serializer" else (JSON,)), conf=conf)
    else:
        own = {"use.deprecated.format": False, **conf}
        kind(*((Timestamp, client) if direction == "Serializer" else (Timestamp,)), conf=own)


def verdict(package: Any, kind: Any, direction: str, name: str, conf: dict[str, Any]) -> str:
    try:
        make(package, kind, direction, name, conf)
    except Exception as error:
        return "refused" if isinstance(error, (ValueError, TypeError)) else type(error).__name__
    return "taken"


def kinds(name: str, direction: str) -> tuple[Any, Any]:
    called = f"{CLASSES[name]}{direction}"
    return (
        getattr(getattr(confluent_kafka.schema_registry, name), called),
        getattr({"avro": serdes.avro, "json_schema": serdes.json_schema, "protobuf": serdes.protobuf}[name], called),
    )


CASES: Final = [(name, direction) for name in FORMATS for direction in ("Serializer", "Deserializer")]


@pytest.mark.parametrize(("name", "direction"), CASES)
def test_every_property_is_known_with_its_default(name: str, direction: str) -> None:
    theirs, ours = kinds(name, direction)
    defaults = {key: value for key, value in theirs._default_conf.items() if not callable(value)}
    refused = {
        key: value
        for key, value in defaults.items()
        if verdict(registry, ours, direction, name, {key: getattr(value, "value", value)}) != "taken"
    }
    assert refused == {}
    assert set(theirs._default_conf) <= set(OTHERS)


@pytest.mark.parametrize(("name", "direction"), CASES)
def test_values_are_taken_and_refused_alike(name: str, direction: str) -> None:
    theirs, ours = kinds(name, direction)
    different = {}
    for key, values in OTHERS.items():
        for value in values:
            conf = {key: value}
            both = (
                verdict(confluent_kafka.schema_registry, theirs, direction, name, conf),
                verdict(registry, ours, direction, name, conf),
            )
            if both == ("taken", "refused") and key not in theirs._default_conf:
                continue  # ProtobufDeserializer there looks at no name that it does not know
            if direction == "Deserializer" and key.startswith("validation.rules."):
                continue  # rules inside schemas run there when writing only
            if both[0] != both[1] and (key, repr(value)) not in DIFFERENT:
                different[key, repr(value)] = both
    assert different == {}
