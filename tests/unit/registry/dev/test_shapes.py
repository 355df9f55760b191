from __future__ import annotations

import contextlib
from typing import Any

import pytest

from registry.dev.refusal import Refusal
from registry.dev.shapes import metadata_of, rule_set_of, schema_request
from registry.models import Metadata, SchemaReference

WRONG: list[Any] = [5, 1.5, True, "text", [], [1], {}, {"x": 1}]


@pytest.mark.parametrize(
    "name", ["schema", "schemaType", "references", "metadata", "ruleSet", "id", "version", "nothing"]
)
@pytest.mark.parametrize("value", WRONG, ids=repr)
def test_every_field_of_every_type_is_read_or_refused(name: str, value: Any) -> None:
    with contextlib.suppress(Refusal):  # anything else would be a crash
        schema_request({"schema": "x", name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("schema", 5),
        ("schemaType", []),
        ("references", {}),
        ("references", ["x"]),
        ("references", [{"name": "a"}]),
        ("references", [{"name": "a", "subject": "s", "version": "1"}]),
        ("metadata", []),
        ("metadata", {"tags": []}),
        ("metadata", {"tags": {"a": "x"}}),
        ("metadata", {"properties": {"a": 1}}),
        ("metadata", {"sensitive": "a"}),
        ("ruleSet", {"domainRules": {}}),
        ("ruleSet", {"domainRules": [{"name": "a", "kind": "NO"}]}),
        ("ruleSet", {"domainRules": [{"name": "a", "disabled": "yes"}]}),
        ("id", "1"),
        ("id", 2**31),
        ("version", 1.5),
    ],
)
def test_wrong_shapes_are_400_and_name_the_field(name: str, value: Any) -> None:
    with pytest.raises(Refusal) as caught:
        schema_request({"schema": "x", name: value})
    assert caught.value.status == 400
    assert name.rstrip("s") in caught.value.message


def test_omitted_fields_have_defaults() -> None:
    request = schema_request({})
    assert (request.schema.schema_str, request.schema.schema_type) == ("", "AVRO")
    assert (request.schema_id, request.version) == (None, 0)
    assert schema_request({"id": -1, "version": None}).schema_id is None
    assert schema_request({"references": [{"name": "a", "subject": "s"}]}).schema.references == (
        SchemaReference("a", "s", -1),
    )


def test_metadata_has_one_order_and_nothing_is_none() -> None:
    one = metadata_of({"tags": {"b": ["2", "1"], "a": []}, "properties": {"y": "1", "x": "2"}, "sensitive": ["y", "x"]})
    other = metadata_of(
        {"sensitive": ["x", "y", "x"], "properties": {"x": "2", "y": "1"}, "tags": {"a": [], "b": ["1", "2"]}}
    )
    assert one == other
    assert list((one or Metadata()).properties or {}) == ["x", "y"]
    assert metadata_of({}) is None
    assert metadata_of({"tags": {}}) is None
    assert rule_set_of({"domainRules": []}) is None


@pytest.mark.parametrize(
    "rules",
    [
        {"domainRules": [{"name": "a"}, {"name": "a"}]},
        {"domainRules": [{"expr": "x"}]},
        {"domainRules": [{"name": "a", "mode": "UPGRADE"}]},
        {"migrationRules": [{"name": "a", "mode": "WRITE"}]},
        {"encodingRules": [{"name": "a", "mode": "UPDOWN"}]},
    ],
)
def test_rules_that_make_no_sense_are_42210(rules: Any) -> None:
    with pytest.raises(Refusal) as caught:
        rule_set_of(rules)
    assert caught.value.code == 42210
