"""serdes.rules.cel.values: there and back, Protobuf messages too."""

from __future__ import annotations

import datetime
import uuid
from decimal import Decimal
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, duration_pb2, struct_pb2, timestamp_pb2, type_pb2, wrappers_pb2

from serdes.rules import RuleError
from serdes.rules.bounds import Bounds
from serdes.rules.cel.executor import evaluate
from serdes.rules.cel.values import from_cel, to_cel

WHEN = datetime.datetime(2026, 1, 2, 3, 4, 5, 678_901, datetime.UTC)
SECOND = datetime.timedelta(seconds=1)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -(2**63),
        1.5,
        "žluť",
        b"\x00\xff",
        WHEN,
        datetime.timedelta(seconds=90),
        [1, [2, "x"], {"a": None}],
        {"a": {"b": [True]}},
        ("test.Person", {"a": 1}),
        Decimal("1.50"),
    ],
)
def test_values_come_back_as_they_were(value: Any) -> None:
    result = from_cel(to_cel(value), value)
    assert result == value
    assert type(result) is type(value)


def test_values_without_a_cel_type_become_near_ones() -> None:
    assert from_cel(to_cel(uuid.UUID(int=5)), None) == str(uuid.UUID(int=5))
    assert from_cel(to_cel(WHEN.replace(tzinfo=None)), None) == WHEN
    assert from_cel(to_cel(bytearray(b"x")), None) == b"x"


def field(**values: Any) -> descriptor_pb2.FieldDescriptorProto:
    return descriptor_pb2.FieldDescriptorProto(**values)


def test_a_message_is_a_map_of_its_fields() -> None:
    message = field(name="id", number=7, options=descriptor_pb2.FieldOptions(deprecated=True))
    names = {"m": to_cel(message)}
    for expression, expected in (
        ("m.name == 'id' && m.number == 7", True),
        ("m.options.deprecated", True),
        ("has(m.name) && has(m.options)", True),
        ("has(m.json_name)", False),
        ("m.json_name == ''", True),
        ("has(m.options.packed)", False),
        ("m.options.packed", False),
    ):
        assert bool(evaluate(expression, names, Bounds("r"))) is expected, expression


def test_fields_without_presence_are_set_if_they_are_not_the_default() -> None:
    names = {"m": to_cel(type_pb2.Field(number=0, name="x"))}
    assert bool(evaluate("has(m.name) && !has(m.number) && m.number == 0 && !has(m.options)", names, Bounds("r")))
    with pytest.raises(RuleError):
        evaluate("m.nope", names, Bounds("r"))


def test_well_known_types_are_their_values() -> None:
    stamp = timestamp_pb2.Timestamp()
    stamp.FromDatetime(WHEN)
    assert from_cel(evaluate("m + duration('1s')", {"m": to_cel(stamp)}, Bounds("r")), None) == WHEN + SECOND
    assert from_cel(to_cel(wrappers_pb2.UInt64Value(value=2**64 - 1)), None) == 2**64 - 1
    values = struct_pb2.Struct(fields={"a": struct_pb2.Value(string_value="x")})
    assert bool(evaluate("m.fields['a'].string_value == 'x'", {"m": to_cel(values)}, Bounds("r")))


def test_times_that_are_not_changed_keep_their_nanoseconds() -> None:
    stamp = timestamp_pb2.Timestamp(seconds=5, nanos=123456789)
    lasts = duration_pb2.Duration(seconds=5, nanos=123456789)
    for value in (stamp, lasts):
        assert from_cel(evaluate("m", {"m": to_cel(value)}, Bounds("r")), value) == value
    assert from_cel(evaluate("[m, m]", {"m": to_cel(stamp)}, Bounds("r")), None) == [stamp, stamp]


def test_a_map_becomes_a_message_where_one_was_given() -> None:
    message = field(name="id", number=7)
    expression = "{'name': m.name + '!', 'options': {'deprecated': true}, 'json_name': null}"
    made = from_cel(evaluate(expression, {"m": to_cel(message)}, Bounds("r")), message)
    assert made == field(name="id!", options=descriptor_pb2.FieldOptions(deprecated=True))
    assert not made.HasField("json_name")
    assert from_cel(to_cel(message), message) is message


def test_lists_and_maps_of_messages() -> None:
    file = descriptor_pb2.FileDescriptorProto(name="f", dependency=["a"])
    made = from_cel(to_cel({"dependency": ["b", "c"], "message_type": [{"name": "M"}]}), file)
    assert list(made.dependency) == ["b", "c"]
    assert made.message_type[0].name == "M"
    struct = from_cel(to_cel({"fields": {"a": {"string_value": "x"}}}), struct_pb2.Struct())
    assert struct.fields["a"].string_value == "x"


@pytest.mark.parametrize(
    ("values", "text"), [({"nope": 1}, "no field of"), ({"number": "x"}, "does not fit"), ({"name": 1}, "does not fit")]
)
def test_a_result_that_does_not_fit_is_refused(values: dict[str, Any], text: str) -> None:
    with pytest.raises(RuleError, match=text):
        from_cel(to_cel(values), field())
