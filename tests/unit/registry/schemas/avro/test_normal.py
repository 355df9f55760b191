from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from registry import InvalidSchemaError
from registry.schemas.avro.canonical import avro_text


def normal(node: Any) -> str:
    return avro_text(json.dumps(node), normalize=True)


def with_default(kind: Any, default: Any) -> Any:
    return {"type": "record", "name": "R", "fields": [{"name": "a", "type": kind, "default": default}]}


@pytest.mark.parametrize(
    ("node", "text"),
    [
        ({"type": "int", "z": 1, "a": {"y": [{"q": 1, "b": None}], "x": 2}},
         '{"type":"int","a":{"x":2,"y":[{"b":null,"q":1}]},"z":1}'),
        (["int", {"type": "fixed", "name": "x.F", "size": 1, "doc": "d"}, {"type": "array", "items": "x.F"}],
         '["int",{"type":"fixed","name":"F","namespace":"x","doc":"d","size":1},{"type":"array","items":"x.F"}]'),
        ({"type": "int", "a": 1, "precision": 4, "logicalType": "decimal"},
         '{"type":"int","a":1,"logicalType":"decimal","precision":4}'),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, '{"type":"enum","name":"E","symbols":["A"]}'),
        ({"type": "array", "items": "int", "z": 1, "a": 2}, '{"type":"array","items":"int","a":2,"z":1}'),
        ({"type": "int", "a": 1, "logicalType": "date"}, '{"type":"int","logicalType":"date","a":1}'),
        ({"type": "long", "a": 1, "logicalType": "date"}, '{"type":"long","a":1,"logicalType":"date"}'),
        ({"type": "int", "a": 1, "logicalType": 5}, '{"type":"int","a":1,"logicalType":5}'),
        ({"type": "bytes", "a": 1, "precision": 4, "scale": 2, "logicalType": "decimal"},
         '{"type":"bytes","logicalType":"decimal","precision":4,"scale":2,"a":1}'),
        ({"type": "bytes", "a": 1, "scale": 0, "precision": 4, "logicalType": "decimal"},
         '{"type":"bytes","logicalType":"decimal","precision":4,"a":1,"scale":0}'),
        ({"type": "bytes", "a": 1, "scale": 5, "precision": 4, "logicalType": "decimal"},
         '{"type":"bytes","a":1,"logicalType":"decimal","precision":4,"scale":5}'),
        ({"type": "fixed", "name": "F", "size": 16, "a": 1, "logicalType": "uuid", "doc": ""},
         '{"type":"fixed","name":"F","size":16,"logicalType":"uuid","a":1}'),
        ({"type": "fixed", "name": "F", "size": 2, "a": 1, "logicalType": "decimal", "precision": 4},
         '{"type":"fixed","name":"F","size":2,"logicalType":"decimal","precision":4,"a":1}'),
        ({"type": "fixed", "name": "F", "size": 2, "a": 1, "logicalType": "decimal", "precision": 5},
         '{"type":"fixed","name":"F","size":2,"a":1,"logicalType":"decimal","precision":5}'),
        ({"type": "enum", "name": "E", "symbols": ["B", "A"], "default": "A", "aliases": ["z", "y.b", "a"], "doc": ""},
         '{"type":"enum","name":"E","symbols":["B","A"],"default":"A","aliases":["a","y.b","z"]}'),
        ({"type": "error", "name": "R", "fields": [{"name": "a", "type": "int", "order": "DESCENDING", "doc": "",
                                                    "aliases": ["z", "b"], "q": 1, "c": 2}]},
         '{"type":"record","name":"R","fields":[{"name":"a","type":"int","doc":"","order":"descending",'
         '"aliases":["b","z"],"c":2,"q":1}]}'),
    ],
)  # fmt: skip
def test_freely_ordered_parts_get_one_order(node: Any, text: str) -> None:
    assert normal(node) == text
    assert avro_text(text, normalize=True) == text


@pytest.mark.parametrize(
    ("kind", "default", "written"),
    [
        ("double", 1, "1.0"),
        ("double", "1.5", "1.5"),
        ("double", "NaN", '"NaN"'),
        ("double", 2**40, "1.099511627776E12"),
        ("float", 16777217, "1.6777216E7"),
        ("float", 0.1, "0.1"),
        ("float", 1e300, '"Infinity"'),
        ("float", "Infinity", '"Infinity"'),
        ("long", 2**40, str(2**40)),
        ("int", 7, "7"),
        ("boolean", True, "true"),
        ("string", "é", '"é"'),
        ("bytes", "ÿĀ", '"ÿ?"'),
        (["null", "int"], None, "null"),
        (["double", "null"], 1, "1.0"),
        ({"type": "map", "values": "double"}, {"z": 1, "a": 2.5}, '{"a":2.5,"z":1.0}'),
        ({"type": "array", "items": "float"}, [1, 2.5], "[1.0,2.5]"),
        ({"type": "record", "name": "I", "fields": [{"name": "x", "type": "double"}]}, {"x": 1}, '{"x":1.0}'),
    ],
)
def test_defaults_are_written_in_one_way(kind: Any, default: Any, written: str) -> None:
    text = normal(with_default(kind, default))
    assert text.endswith(f',"default":{written}}}]}}')


@pytest.mark.parametrize(
    ("kind", "default"),
    [
        ("int", 1.0),
        ("long", 2**70),
        ("string", 5),
        ("int", "x"),
        (["null", "int"], 3),
        ({"type": "array", "items": "int"}, ["x"]),
        ({"type": "map", "values": "int"}, {"a": "x"}),
        ({"type": "map", "values": "int"}, [1]),
        ("string", {"a": 1, "b": [1.5]}),
        ({"type": "record", "name": "I", "fields": []}, {"y": 1}),
    ],
)
def test_defaults_of_another_type_are_dropped_or_kept_as_java_does(kind: Any, default: Any) -> None:
    kept = isinstance(default, dict) and kind == "string"
    assert ('"default"' in normal(with_default(kind, default))) is kept


def test_a_default_that_is_too_deep_is_an_error() -> None:
    kind, default = '{"type":"array","items":' * 480 + '"int"' + "}" * 480, "[" * 480 + "]" * 480
    text = f'{{"type":"record","name":"R","fields":[{{"name":"a","type":{kind},"default":{default}}}]}}'
    assert avro_text(text)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)  # other packages raise it when they are imported
    try:
        with pytest.raises(InvalidSchemaError, match="default of field 'a' is nested too deep"):
            avro_text(text, normalize=True)
    finally:
        sys.setrecursionlimit(limit)
