"""Names and arguments of the registry client are confluent_kafka's."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import pytest

import registry

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # authlib warns of httpx when it is imported
    peer = pytest.importorskip("confluent_kafka.schema_registry", exc_type=ImportError)

pytestmark = pytest.mark.interop

IN_SERDES = {
    "dual_schema_id_deserializer",
    "header_schema_id_serializer",
    "prefix_schema_id_deserializer",
    "prefix_schema_id_serializer",
    "record_subject_name_strategy",
    "topic_record_subject_name_strategy",
    "topic_subject_name_strategy",
}
"""Names that are the serializers' business here."""


def parameters(function: Any) -> dict[str, Any]:
    found = inspect.signature(function).parameters.values()
    return {item.name: item.default for item in found if item.kind is not inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize("kind", ["SchemaRegistryClient", "AsyncSchemaRegistryClient"])
def test_every_operation_has_the_same_arguments_and_defaults(kind: str) -> None:
    theirs, ours = getattr(peer, kind), getattr(registry, kind)
    for name, function in inspect.getmembers(theirs, inspect.isfunction):
        if name.startswith("_"):
            continue
        name = "aclose" if (kind, name) == ("AsyncSchemaRegistryClient", "close") else name
        assert parameters(getattr(ours, name)) == parameters(function), name
    assert list(parameters(ours)) == list(parameters(theirs)) == ["conf"]


def test_every_name_is_here() -> None:
    missing = {name for name in peer.__all__ if not hasattr(registry, name)}
    assert missing == IN_SERDES
    import serdes

    assert {name for name in IN_SERDES if not hasattr(serdes, name)} == set()


VALUES = [
    "Association",
    "AssociationCreateOrUpdateInfo",
    "AssociationCreateOrUpdateRequest",
    "AssociationInfo",
    "AssociationResponse",
    "Metadata",
    "Rule",
    "RuleSet",
    "Schema",
    "SchemaReference",
]


@pytest.mark.parametrize("name", VALUES)
def test_values_have_the_same_fields_in_the_same_order(name: str) -> None:
    assert list(parameters(getattr(registry, name))) == list(parameters(getattr(peer, name)))


def test_a_server_s_configuration_has_more_fields() -> None:
    ours, theirs = list(parameters(registry.ServerConfig)), list(parameters(peer.ServerConfig))
    assert ours[: len(theirs)] == theirs


def test_wrapped_dicts_of_confluent_kafka_are_dicts_here() -> None:
    rule = registry.Rule("r", params={"a": "b"})
    assert isinstance(rule.params, registry.RuleParams)
    assert rule.params.params["a"] == rule.params["a"] == "b"
    made = registry.Metadata(registry.MetadataTags({"t": ["x"]}), {"p": "v"})
    assert isinstance(made.tags, registry.MetadataTags)
    assert made.tags.tags == {"t": ["x"]}
    assert isinstance(made.properties, registry.MetadataProperties)
    assert made.properties.properties == {"p": "v"}
    assert registry.RuleParams.from_dict({"a": "b"}).to_dict() == {"a": "b"}
