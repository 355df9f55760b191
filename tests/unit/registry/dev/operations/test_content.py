from __future__ import annotations

import base64
import json

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from registry.dev.names import Name
from registry.dev.operations.comparison import LARGE, Comparison
from registry.dev.operations.content import canonical, is_empty, qualified
from registry.dev.operations.resolved import resolved_avro
from registry.dev.refusal import Refusal
from registry.dev.state.state import State, Version
from registry.models import Schema, SchemaReference
from tests.unit.registry.dev.asking import ONE, OTHER, TWO, Asking, record

USED = Schema('{"type":"record","name":"U","fields":[]}')
USING = '{"type": "record", "name": "R", "fields": [{"name": "u", "type": "U"}]}'


@pytest.fixture
def state() -> State:
    made = State()
    made.put(":.eu:u", Version(1, 1), USED)
    return made


def test_empty_is_what_has_no_text() -> None:
    assert is_empty(Schema(" \n"))
    assert not is_empty(USED)


def test_references_are_qualified_only_where_needed() -> None:
    schema = Schema(USING, references=[SchemaReference("U", "u", 1)])
    assert qualified(Name.parse("r"), schema) is schema
    assert qualified(Name.parse(":.eu:r"), schema).references == (SchemaReference("U", ":.eu:u", 1),)


def test_canonical_text_keeps_references_as_they_were_said(state: State) -> None:
    schema = canonical(state, ":.eu:r", Schema(USING, references=[SchemaReference("U", "u", -1)]), False)
    assert schema.schema_str == '{"type":"record","name":"R","fields":[{"name":"u","type":"U"}]}'
    assert schema.references == (SchemaReference("U", "u", 1),)


@pytest.mark.parametrize("reference", [SchemaReference("U", "u", 2), SchemaReference("U", "none", -1)])
def test_missing_references_are_42201(state: State, reference: SchemaReference) -> None:
    with pytest.raises(Refusal, match="No schema reference found") as caught:
        canonical(state, ":.eu:r", Schema(USING, references=[reference]), False)
    assert caught.value.code == 42201


def test_unknown_types_are_42201(state: State) -> None:
    with pytest.raises(Refusal, match="XML"):
        canonical(state, "r", Schema("<x/>", "XML"), False)


def test_deleted_schemas_serve_what_is_registered_only(state: State) -> None:
    state.mark_deleted(":.eu:u", Version(1, 1))
    with pytest.raises(Refusal, match="No schema reference found"):
        canonical(state, ":.eu:r", Schema(USING, references=[SchemaReference("U", "u", 1)]), False)


# ---- description


PROTO = {"schemaType": "PROTOBUF", "schema": 'syntax = "proto3";\npackage t;\n\nmessage M {\n  int32 a = 1;\n}\n'}


def test_avro_with_its_references_written_out(registry: Asking) -> None:
    registry.register("u", {"schema": '{"type":"record","name":"U","fields":[]}'})
    using = {"schema": '{"type":"record","name":"R","fields":[{"name":"u","type":"U"}]}'}
    schema_id = registry.register("r", using, references=[{"name": "U", "subject": "u", "version": 1}])
    for path in (f"/schemas/ids/{schema_id}", "/subjects/r/versions/1"):
        text = registry.get(f"{path}?format=resolved")["schema"]
        assert json.loads(text)["fields"][0]["type"]["name"] == "U"


def test_protobuf_as_bytes(registry: Asking) -> None:
    schema_id = registry.register("p", PROTO)
    text = registry.get(f"/schemas/ids/{schema_id}?format=serialized")["schema"]
    assert FileDescriptorProto.FromString(base64.b64decode(text)).message_type[0].name == "M"


@pytest.mark.parametrize("form", ["serialized", "nonsense"])
def test_forms_a_type_does_not_have(registry: Asking, form: str) -> None:
    registry.register("a", ONE)
    assert registry.refused("GET", f"/schemas/ids/1?format={form}") == 422
    assert registry.get("/schemas/ids/1?format=default")["schema"]


def test_a_version_says_all_that_is_known(registry: Asking) -> None:
    registry.register("a", ONE)
    assert set(registry.get("/subjects/a/versions/1")) == {"subject", "version", "id", "guid", "schema"}


# ---- comparison


def test_messages_name_the_version_and_the_level(registry: Asking) -> None:
    registry.register("a", ONE)
    registry.register("a", TWO)
    registry.put("/config/a", {"compatibility": "BACKWARD_TRANSITIVE"})
    answer = registry.post("/compatibility/subjects/a/versions?verbose=true", OTHER)
    assert not answer["is_compatible"]
    assert "{oldSchemaVersion: 1}" in answer["messages"]
    assert "{oldSchemaVersion: 2}" in answer["messages"]
    assert answer["messages"][-1] == "{validateFields: 'false', compatibility: 'BACKWARD_TRANSITIVE'}"


@pytest.mark.parametrize(("spare", "large"), [(0, False), (1, True)])
def test_a_comparison_is_large_by_all_its_texts_together(spare: int, large: bool) -> None:
    quarter = LARGE // 4
    candidate, registered = Schema(" " * quarter), (Schema(" " * quarter), Schema(" " * quarter))
    references = (("used", 1, Schema(" " * (quarter + spare))),)
    assert Comparison(candidate, registered, "BACKWARD", "STRICT", references).is_large is large


def test_groups_are_not_compared_with_each_other(registry: Asking) -> None:
    registry.put("/config/a", {"compatibilityGroup": "major"})
    registry.register("a", ONE, metadata={"properties": {"major": "1"}})
    registry.register("a", OTHER, metadata={"properties": {"major": "2"}})
    assert (
        registry.refused(
            "POST", "/subjects/a/versions", {**record(a="boolean"), "metadata": {"properties": {"major": "2"}}}
        )
        == 409
    )
    registry.register("a", TWO, metadata={"properties": {"major": "1"}})


def test_non_transitive_levels_look_at_the_newest_live_version(registry: Asking) -> None:
    registry.register("a", ONE)
    registry.put("/config/a", {"compatibility": "NONE"})
    registry.register("a", OTHER)
    registry.put("/config/a", {"compatibility": "BACKWARD"})
    assert registry.post("/compatibility/subjects/a/versions", TWO) == {"is_compatible": False}
    registry.delete("/subjects/a/versions/2")
    assert registry.post("/compatibility/subjects/a/versions", TWO) == {"is_compatible": True}


# ---- references written out (resolved)

NESTED = '{"type":"record","name":"Used","namespace":"a","fields":[{"name":"k","type":"Kind"}]}'
KIND = '{"type":"enum","name":"a.Kind","symbols":["X"]}'


def test_referenced_types_are_written_out_once() -> None:
    text = json.dumps(
        {
            "type": "record",
            "name": "R",
            "namespace": "b",
            "fields": [
                {"name": "one", "type": ["null", "a.Used"]},
                {"name": "two", "type": {"type": "array", "items": "a.Used"}},
                {"name": "kind", "type": {"type": "map", "values": "a.Kind"}},
            ],
        }
    )
    found = json.loads(resolved_avro(text, [KIND, NESTED]))
    one, two, kind = (field["type"] for field in found["fields"])
    assert one[1]["name"] == "Used"
    assert one[1]["fields"][0]["type"] == {"type": "enum", "name": "Kind", "namespace": "a", "symbols": ["X"]}
    assert two == {"type": "array", "items": "a.Used"}
    assert kind == {"type": "map", "values": "a.Kind"}


def test_a_schema_without_references_stays_as_it_is() -> None:
    for text in (
        '"int"',
        '["null","string"]',
        '{"type":"record","name":"R","fields":[{"name":"r","type":["null","R"]}]}',
    ):
        assert resolved_avro(text, []) == text
