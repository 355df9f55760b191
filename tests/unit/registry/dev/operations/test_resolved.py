from __future__ import annotations

import json

from registry.dev.operations.resolved import resolved_avro

USED = '{"type":"record","name":"Used","namespace":"a","fields":[{"name":"k","type":"Kind"}]}'
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
    found = json.loads(resolved_avro(text, [KIND, USED]))
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
