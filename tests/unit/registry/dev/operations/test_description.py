from __future__ import annotations

import base64
import json

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from tests.unit.registry.dev.asking import ONE, Asking

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
