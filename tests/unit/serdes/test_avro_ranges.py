from __future__ import annotations

import json
from typing import Any

import pytest

from registry.compat.avro_model import parse
from serdes.avro_codec import encoder, load_texts
from serdes.avro_ranges import first_out_of_range, range_check
from serdes.errors import SerializationError


def record(*fields: tuple[str, Any], name: str = "Order") -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": n, "type": t} for n, t in fields]}


INNER = record(("v", "int"), name="In")
LIST = record(("v", "int"), ("next", ["null", "L"]), name="L")
BIG, MAX, MIN = 2**31, 2**31 - 1, -(2**31)


@pytest.mark.parametrize(
    ("node", "good", "bad", "path"),
    [
        ("int", MAX, BIG, ""),
        ("int", MIN, MIN - 1, ""),
        (record(("s", "string"), ("n", "int")), {"s": "", "n": MIN}, {"s": "", "n": -BIG - 1}, "Order.n"),
        (record(("i", INNER)), {"i": {"v": 1}}, {"i": {"v": BIG}}, "Order.i.v"),
        (record(("i", ["null", INNER])), {"i": None}, {"i": {"v": BIG}}, "Order.i.v"),
        ({"type": "array", "items": "int"}, [1, MAX], [1, BIG], "[1]"),
        (record(("a", {"type": "array", "items": INNER})), {"a": []}, {"a": [{"v": 1}, {"v": BIG}]}, "Order.a[1].v"),
        (record(("m", {"type": "map", "values": "int"})), {"m": {"a": 1}}, {"m": {"a": 1, "b": BIG}}, "Order.m['b']"),
        (LIST, {"v": 1, "next": {"v": 2, "next": None}}, {"v": 1, "next": {"v": BIG, "next": None}}, "L.next.v"),
    ],
)
def test_numbers_out_of_range_are_refused_with_their_path(node: Any, good: Any, bad: Any, path: str) -> None:
    encode = encoder(load_texts(json.dumps(node)))
    encode(good)
    with pytest.raises(SerializationError, match="does not fit in an int of 32 bits") as caught:
        encode(bad)
    assert caught.value.path == path


@pytest.mark.parametrize(
    "node",
    [
        "long",
        ["null", "long"],
        {"type": "int", "logicalType": "date"},
        record(("a", "long"), ("b", ["null", "string"]), ("c", {"type": "array", "items": "string"})),
        record(("next", ["null", "Order"])),
        {"type": "map", "values": "double"},
    ],
)
def test_schemas_without_plain_ints_pay_nothing(node: Any) -> None:
    assert range_check(parse(json.dumps(node))) is None


@pytest.mark.parametrize("value", [5, None, "x", [], {"n": "text"}, {}, {"n": True}, {"n": 1.5}])
def test_values_of_another_shape_are_left_to_the_encoder(value: Any) -> None:
    avro = parse(json.dumps(record(("n", "int"))))
    check = range_check(avro)
    assert check is not None
    assert check(value)
    assert first_out_of_range(avro, value) is None


@pytest.mark.parametrize("value", [BIG, ("int", BIG)])
def test_ints_in_unions_fit_too(value: Any) -> None:
    encode = encoder(load_texts(json.dumps(record(("n", ["null", "int"])))))
    with pytest.raises(SerializationError) as caught:
        encode({"n": value})
    assert caught.value.path == "Order.n"
    assert encode({"n": ("int", 5)}) == encode({"n": 5})
    with pytest.raises(SerializationError, match="32 bits"):
        encoder(load_texts('["int", "long"]'))(("int", BIG))
