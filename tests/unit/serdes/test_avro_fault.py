from __future__ import annotations

import json
from typing import Any

import pytest

from serdes.avro_codec import load_texts
from serdes.avro_fault import Fault, find_fault

INNER = {"type": "record", "name": "x.In", "fields": [{"name": "v", "type": ["null", "int"]}]}


def fault(kind: Any, value: Any, **options: bool) -> Fault | None:
    text = json.dumps({"type": "record", "name": "x.Out", "fields": [{"name": "f", "type": kind}]})
    made = load_texts(text)
    return find_fault(made.parsed, made.named, {"f": value}, options)


@pytest.mark.parametrize(
    ("kind", "value", "path", "reason"),
    [
        ("int", "x", "Out.f", "a value of type str does not fit int"),
        ("int", None, "Out.f", "null does not fit int"),
        ("long", 2**70, "Out.f", "a value of type int is out of the range of long"),
        ({"type": "map", "values": "int"}, {"a": 1, "b": "x"}, "Out.f['b']", "does not fit int"),
        (
            {"type": "array", "items": INNER},
            [{"v": 1}, {"v": "x"}],
            "Out.f[1].v",
            "does not fit any branch of the union [null, int]",
        ),
        (["null", INNER], {"v": "x"}, "Out.f.v", "any branch"),
        (["null", INNER, "string"], {"v": "x"}, "Out.f.v", "any branch"),
        (["null", "string"], 5, "Out.f", "any branch of the union [null, string]"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, "B", "Out.f", "is out of the range of enum x.E"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, 5, "Out.f", "does not fit enum x.E"),
        ({"type": "fixed", "name": "F", "size": 2}, b"abc", "Out.f", "is out of the range of fixed x.F"),
        ({"type": "string", "logicalType": "uuid"}, 5, "Out.f", "does not fit string (uuid)"),
        ({"type": "array", "items": "int"}, 5, "Out.f", "does not fit array"),
    ],
)
def test_path_and_reason(kind: Any, value: Any, path: str, reason: str) -> None:
    found = fault(kind, value)
    assert found is not None
    assert found.path == path
    assert reason in found.reason


def test_values_are_never_in_the_reason() -> None:
    found = fault("int", "geheim")
    assert found is not None
    assert "geheim" not in found.reason


def test_named_types_are_followed() -> None:
    fields = [{"name": "a", "type": INNER}, {"name": "b", "type": "x.In"}]
    made = load_texts(json.dumps({"type": "record", "name": "x.Out", "fields": fields}))
    found = find_fault(made.parsed, made.named, {"a": {"v": 1}, "b": {"v": "x"}}, {})
    assert found is not None
    assert found.path == "Out.b.v"


def test_what_fits_has_no_fault() -> None:
    assert fault("int", 5) is None


def test_recursive_values() -> None:
    fields = [{"name": "v", "type": "int"}, {"name": "next", "type": ["null", "L"]}]
    made = load_texts(json.dumps({"type": "record", "name": "L", "fields": fields}))
    value: dict[str, Any] = {"v": "bad", "next": None}
    for at in range(5):
        value = {"v": at, "next": value}
    found = find_fault(made.parsed, made.named, value, {})
    assert found is not None
    assert found.path == "L" + ".next" * 5 + ".v"


def test_top_level_primitive() -> None:
    made = load_texts('"int"')
    found = find_fault(made.parsed, made.named, "x", {})
    assert found == Fault("", "a value of type str does not fit int")
