from __future__ import annotations

import pickle

import pytest

from registry import (
    ConfigCompatibilityLevel,
    Metadata,
    RegisteredSchema,
    Rule,
    RuleKind,
    RuleMode,
    RuleSet,
    Schema,
    SchemaReference,
    SchemaVersion,
    ServerConfig,
)

RULES = RuleSet(
    migration_rules=[Rule("m", kind=RuleKind.TRANSFORM, mode=RuleMode.UPGRADE, type="JSONATA", expr="$")],
    domain_rules=[Rule("d", doc="why", tags=["PII"], params={"a": "b"}, on_success="NONE", disabled=False)],
)
FULL = Schema(
    '"string"',
    "JSON",
    [SchemaReference("n", "s", 3)],
    Metadata({"**.ssn": ["PII"]}, {"owner": "team"}, ["owner"]),
    RULES,
)


def test_schema_json_round_trip() -> None:
    assert Schema.from_dict(FULL.to_dict()).to_dict() == FULL.to_dict()
    assert FULL.to_dict()["schemaType"] == "JSON"


def test_avro_is_the_default_type_and_not_written() -> None:
    assert Schema('"int"').to_dict() == {"schema": '"int"'}
    assert Schema.from_dict({"schema": '"int"'}) == Schema('"int"', "AVRO")


def test_schemas_are_cache_keys_whatever_sequence_holds_the_references() -> None:
    reference = SchemaReference("n", "s", 1)
    assert {Schema("a", references=[reference]): 1}[Schema("a", references=(reference,))] == 1
    assert hash(FULL) == hash(Schema.from_dict(FULL.to_dict()))


def test_schemas_of_different_metadata_differ() -> None:
    assert Schema("a") != Schema("a", metadata=Metadata(properties={"x": "y"}))


def test_schema_without_text_is_refused() -> None:
    with pytest.raises(KeyError):
        Schema.from_dict({"schemaType": "AVRO"})


def test_registered_schema_json_round_trip() -> None:
    registered = RegisteredSchema("s", 2, 7, "guid", Schema('"int"'))
    assert registered.to_dict() == {"id": 7, "schema": '"int"', "subject": "s", "version": 2, "guid": "guid"}
    assert RegisteredSchema.from_dict(registered.to_dict()) == registered


def test_server_config_json_round_trip() -> None:
    config = ServerConfig(
        compatibility=ConfigCompatibilityLevel.FULL,
        alias="other",
        normalize=True,
        compatibility_policy="LENIENT",
        default_metadata=Metadata(properties={"a": "b"}),
        override_rule_set=RULES,
    )
    assert ServerConfig.from_dict(config.to_dict()).to_dict() == config.to_dict()
    assert config.to_dict()["compatibility"] == "FULL"
    assert ServerConfig.from_dict({"compatibilityLevel": "NONE"}).compatibility_level is ConfigCompatibilityLevel.NONE


def test_schema_version() -> None:
    assert SchemaVersion.from_dict({"subject": "s", "version": 1}) == SchemaVersion("s", 1)


def test_values_pickle() -> None:
    assert pickle.loads(pickle.dumps(FULL)) == FULL
