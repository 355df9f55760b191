"""Decimals and `confluent.type.Decimal`: sizes, scales, refusals, and the same answers as confluent_kafka's."""

from __future__ import annotations

import decimal
from decimal import Decimal as Number

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serdes.decimals import (
    Decimal,
    decimal_to_protobuf,
    from_proto_decimal,
    protobuf_to_decimal,
    to_proto_decimal,
    unscaled_to_bytes,
)

FINITE = st.decimals(allow_nan=False, allow_infinity=False)


@given(FINITE)
def test_a_number_comes_back_with_its_scale(number: Number) -> None:
    back = from_proto_decimal(to_proto_decimal(number))
    assert back == number
    assert back.as_tuple().exponent == number.as_tuple().exponent


@given(st.integers(-(10**40), 10**40), st.integers(0, 30), st.integers(0, 30))
def test_a_number_can_be_written_with_more_digits(unscaled: int, scale: int, more: int) -> None:
    number = Number(unscaled).scaleb(-scale, decimal.Context(prec=100))
    message = decimal_to_protobuf(number, scale + more)
    assert message.scale == scale + more
    assert protobuf_to_decimal(message) == number


@given(st.integers())
def test_bytes_are_as_few_as_hold_the_number(unscaled: int) -> None:
    data = unscaled_to_bytes(unscaled)
    assert int.from_bytes(data, "big", signed=True) == unscaled
    assert len(data) == 1 or int.from_bytes(data[1:], "big", signed=True) != unscaled


@pytest.mark.parametrize(("text", "scale"), [("1.23", 1), ("NaN", 0), ("-Infinity", 2), ("1E+999999999", 0)])
def test_numbers_that_do_not_fit_a_decimal_are_refused(text: str, scale: int) -> None:
    with pytest.raises(ValueError, match=r"Scale provided|non-finite|more than 100000 digits"):
        decimal_to_protobuf(Number(text), scale)


def test_an_empty_message_is_zero() -> None:
    assert protobuf_to_decimal(Decimal()) == 0


@pytest.mark.parametrize("text", ["1.23", "0", "0.00", "-128", "1E5", "128", "-0", "255", "1.20", "1E-20", "-1.5E+7"])
def test_messages_are_those_of_confluent_kafka(text: str) -> None:
    theirs = pytest.importorskip("confluent_kafka.schema_registry.confluent.type.decimal_utils")
    number = Number(text)
    assert to_proto_decimal(number).SerializeToString() == theirs.to_proto_decimal(number).SerializeToString()
