"""Dicts for Protobuf messages: nothing of a value is lost or changed on its way into the message."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import json_format

from registry import Schema
from serdes.errors import UnfitError
from serdes.formats.protobuf.codec import load
from serdes.formats.protobuf.dicts import message_of

KNOWN = ("any", "duration", "field_mask", "struct", "timestamp", "wrappers")
TEXT = (
    'syntax = "proto2"; package shop;'
    + "".join(f'import "google/protobuf/{name}.proto";' for name in KNOWN)
    + """
    message Order {
      map<int32, string> lines = 1;
      map<bool, int32> flags = 2;
      map<string, bytes> blobs = 3;
      optional int32 unit_price = 4;
      optional Colour colour = 5;
      oneof choice { int32 number = 6; google.protobuf.NullValue nothing = 7; google.protobuf.Value json = 8; }
      optional google.protobuf.Struct open = 9;
      optional google.protobuf.Duration wait = 10;
      optional google.protobuf.Timestamp at = 11;
      optional google.protobuf.FieldMask mask = 12;
      optional google.protobuf.Any any = 13;
      optional float single = 14;
      optional double double = 15;
      optional google.protobuf.ListValue list = 16;
      extensions 100 to 199;
    }
    extend Order { optional bytes seal = 100; optional int32 weight = 101; }
    message Other { extensions 100 to 199; }
    enum Colour { NONE = 0; RED = 1; }
    """
)
ORDER = load(Schema(TEXT, "PROTOBUF")).named("shop.Order")


def back(value: dict[str, Any]) -> Any:
    pool: Any = ORDER.DESCRIPTOR.file.pool
    return json_format.MessageToDict(message_of(ORDER, value), preserving_proto_field_name=True, descriptor_pool=pool)


def refusal(value: dict[str, Any]) -> str:
    with pytest.raises(UnfitError) as caught:
        message_of(ORDER, value)
    return str(caught.value)


@pytest.mark.parametrize("keys", [(1, "1"), ("01", "1"), ("1.0", 1), ("1e1", 10)])
def test_two_keys_of_one_entry_are_refused(keys: tuple[Any, Any]) -> None:
    assert "the key is there twice" in refusal({"lines": dict.fromkeys(keys, "a")})


def test_two_names_of_one_field_are_refused() -> None:
    assert "are one field" in refusal({"unitPrice": 1, "unit_price": 2})
    assert "are one field" in refusal({"unitPrice": 1, "unit_price": None})


@pytest.mark.parametrize("other", [{"nothing": None}, {"json": None}, {"json": 1}, {"nothing": "NULL_VALUE"}])
def test_two_members_of_a_oneof_are_refused(other: dict[str, Any]) -> None:
    assert "which has one of them" in refusal({"number": 1, **other})
    assert "which has one of them" in refusal({**other, "number": 1})


def test_the_absence_of_a_member_leaves_the_other() -> None:
    assert back({"json": 1, "number": None}) == {"json": 1.0}


@pytest.mark.parametrize("number", [2**31, -(2**31) - 1, 2**40, 2**32, str(2**32 + 1)])
def test_a_number_beyond_an_enum_is_refused(number: Any) -> None:
    assert "numbers of enums" in refusal({"colour": number})


def test_numbers_of_a_closed_enum() -> None:
    assert "at Order.colour: enum shop.Colour is closed" in refusal({"colour": 7})
    assert "is no symbol" in refusal({"colour": "1e0"})
    assert back({"colour": "1"}) == {"colour": "RED"}


@pytest.mark.parametrize("field", ["open", "json", "list"])
@pytest.mark.parametrize(
    ("part", "reason"),
    [
        (2**53 + 1, "no float holds"),
        (float("nan"), "not JSON"),
        (float("-inf"), "not JSON"),
        (b"x", "JSON is needed"),
        ("\ud800", "half of a surrogate pair"),
        ({"\udfff": 1}, "half of a surrogate pair"),
        ({1: 2}, "keys of a Struct are str"),
    ],
)
def test_what_any_json_does_not_hold_is_refused(field: str, part: Any, reason: str) -> None:
    value = {"open": {"a": [part]}, "json": part, "list": [part]}[field]
    assert reason in refusal({field: value})


def test_forms_of_open_content() -> None:
    assert "a dict is needed" in refusal({"open": [1]})
    assert "a list is needed" in refusal({"list": {"a": 1}})
    nested: Any = 1
    for _ in range(200):
        nested = [nested]
    assert "nested deeper" in refusal({"json": nested})
    whole = {"open": {"a": [1.0, None, True, "x", {"b": {}}]}, "list": [[], 2.0**53]}
    assert back(whole) == whole


@pytest.mark.parametrize("text", ["1.12345678901s", "1", "1e3s", "1_0s", "1.s", " 1s", "999999999999999s"])
def test_a_duration_that_would_be_cut_is_refused(text: str) -> None:
    assert "at Order.wait" in refusal({"wait": text})


def test_texts_of_known_types() -> None:
    whole = {"wait": "-0.000000001s", "at": "2020-01-01T00:00:00.000000001Z", "mask": "a,bC"}
    assert back(whole) == whole
    assert "at Order.at: the text is no google.protobuf.Timestamp" in refusal({"at": "yesterday"})
    assert "at Order.mask" in refusal({"mask": ["a"]})


@pytest.mark.parametrize("key", [True, "True", 1])
def test_keys_that_are_no_bools(key: Any) -> None:
    assert "'true', 'false'" in refusal({"flags": {key: 1}})


def test_keys_of_maps_have_their_type() -> None:
    assert "at Order.lines[b'1']" in refusal({"lines": {b"1": "a"}})
    assert "range" in refusal({"lines": {2**31: "a"}})
    assert "a str is needed" in refusal({"blobs": {1: "YQ=="}})
    whole = {"lines": {"1": "a", "-2": "b"}, "flags": {"true": 1, "false": 2}, "blobs": {"": "YQ=="}}
    assert back(whole) == whole


def test_numbers_that_a_float_changes_are_refused() -> None:
    assert "no float holds" in refusal({"single": 2**24 + 1})
    assert "too large for 64 bits" in refusal({"double": "1e400"})
    assert "too large for 32 bits" in refusal({"single": "1e39"})
    assert back({"single": 2**24, "double": 2**53}) == {"single": 2.0**24, "double": 2.0**53}


def test_a_message_in_an_any_is_of_the_schema_or_a_class() -> None:
    inner = {"@type": "type.googleapis.com/shop.Order", "unit_price": 3, "blobs": {"a": "YQ=="}}
    assert back({"any": inner}) == {"any": inner}
    moment = {"@type": "type.googleapis.com/google.protobuf.Timestamp", "value": "2020-01-01T00:00:00Z"}
    assert back({"any": moment}) == {"any": moment}
    assert back({"any": {}}) == {"any": {}}


def test_the_dict_of_an_any_stays_as_it_is() -> None:
    """Threads may write the same dict at once."""
    inner = {"@type": "type.googleapis.com/shop.Order", "unit_price": 3}
    back({"any": inner})
    assert list(inner) == ["@type", "unit_price"]


@pytest.mark.parametrize(
    ("inner", "reason"),
    [
        ({"@type": "x/shop.Order", "blobs": {"a": b"x"}}, "base64"),
        ({"@type": "x/shop.Order", "unit_price": 1, "unitPrice": 2}, "are one field"),
        ({"@type": "x/shop.Nothing"}, "has message type 'x/shop.Nothing'"),
        ({"unit_price": 1}, "'@type' names"),
        ({"@type": "x/google.protobuf.Value", "value": 2**53 + 1}, "no float holds"),
        ({"@type": "x/google.protobuf.Duration", "value": "1s", "more": 1}, "under 'value'"),
        ([], "a dict is needed"),
    ],
)
def test_what_an_any_does_not_take_is_refused(inner: Any, reason: str) -> None:
    assert reason in refusal({"any": inner})


def test_extensions_are_judged_as_fields() -> None:
    assert message_of(ORDER, {"[shop.seal]": "YQ==", "[shop.weight]": 5}).SerializeToString().hex() == "a2060161a80605"
    assert "base64" in refusal({"[shop.seal]": b"abc"})
    assert "base64" in refusal({"[shop.seal]": "!!!!"})
    assert "an integer is needed" in refusal({"[shop.weight]": 1.5})
    assert "has no field" in refusal({"[shop.nothing]": 1})
