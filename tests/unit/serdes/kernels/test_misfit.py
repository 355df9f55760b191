from __future__ import annotations

import array
import collections
import enum
import types
from typing import Any

import numpy
import pytest

from serdes.errors import SerializationError, UnfitError
from serdes.formats.avro.codec import decoder, encoder, load_texts
from serdes.kernels import misfit as avro_misfit
from serdes.kernels.misfit import Misfit


class Text(str):
    def __str__(self) -> str:
        return "another"


class Number(int):
    def __int__(self) -> int:
        return 99


class Real(float):
    def __float__(self) -> float:
        return 99.0


class Level(enum.IntEnum):
    LOW = 1


class Name(enum.StrEnum):
    ADA = "ada"


class Pair(collections.namedtuple("Pair", "a b")):
    pass


def back(text: str, value: Any) -> Any:
    schema = load_texts(text)
    return decoder(schema)(encoder(schema)(value))


INTS, TEXTS = '{"type":"array","items":"int"}', '{"type":"map","values":"string"}'


@pytest.mark.parametrize(
    ("text", "value", "result"),
    [
        ('"string"', Text("x"), "x"),
        ('"string"', Name.ADA, "ada"),
        ('"string"', numpy.str_("x"), "x"),
        ('"long"', Number(5), 5),
        ('"int"', Level.LOW, 1),
        ('"int"', numpy.int64(5), 5),
        ('"long"', numpy.uint64(5), 5),
        ('"double"', Real(1.5), 1.5),
        ('"double"', 2**53, 2.0**53),
        ('"double"', 2**60, 2.0**60),
        ('"double"', numpy.float32(1.5), 1.5),
        ('"double"', numpy.float64(0.1), 0.1),
        ('"float"', 16777216, 16777216.0),
        ('"float"', 1.1, 1.100000023841858),
        ('"float"', float("-inf"), float("-inf")),
        ('"float"', 5e-46, 0.0),
        ('"boolean"', numpy.True_, True),
        ('"bytes"', bytearray(b"x"), b"x"),
        ('{"type":"fixed","name":"F","size":2}', memoryview(b"abcd")[::2], b"ac"),
        (INTS, (1, 2), [1, 2]),
        (INTS, Pair(1, 2), [1, 2]),
        (INTS, range(2), [0, 1]),
        (INTS, collections.deque([1]), [1]),
        (INTS, array.array("i", [1, 2]), [1, 2]),
        (INTS, numpy.array([1, 2]), [1, 2]),
        (TEXTS, collections.OrderedDict(a="b"), {"a": "b"}),
        (TEXTS, types.MappingProxyType({"a": "b"}), {"a": "b"}),
        (TEXTS, {Text("a"): "b"}, {"a": "b"}),
    ],
)
def test_exact_numbers_are_taken(text: str, value: Any, result: Any) -> None:
    found = back(text, value)
    assert found == result
    assert type(found) is type(result)


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        ('"int"', 1.0, "float does not fit int"),
        ('"int"', True, "bool does not fit int"),
        ('"int"', numpy.True_, "bool does not fit int"),
        ('"int"', numpy.int64(2**40), "out of the range of int"),
        ('"int"', "1", "str does not fit int"),
        ('"long"', 2**63, "out of the range of long"),
        ('"boolean"', 0, "int does not fit boolean"),
        ('"boolean"', None, "null does not fit boolean"),
        ('"null"', False, "bool does not fit null"),
        ('"double"', 2**53 + 1, "can't be written exactly as double"),
        ('"double"', 10**400, "can't be written exactly as double"),
        ('"double"', True, "bool does not fit double"),
        ('"double"', numpy.longdouble(1), "longdouble does not fit double"),
        ('"float"', 16777217, "can't be written exactly as float"),
        ('"float"', 3.5e38, "out of the range of float"),
        ('"float"', 2**127 * 2, "out of the range of float"),
        ('"string"', b"x", "bytes does not fit string"),
        ('"string"', "a\ud800", "surrogate"),
        ('"string"', Level.LOW, "Level does not fit string"),
        ('"bytes"', "x", "str does not fit bytes"),
        ('{"type":"fixed","name":"F","size":2}', b"abc", "out of the range of fixed F"),
        ('{"type":"enum","name":"E","symbols":["A"]}', "B", "out of the range of enum E"),
        (INTS, "12", "str does not fit array"),
        (INTS, {1, 2}, "set does not fit array"),
        (INTS, {1: 2}, "dict does not fit array"),
        (INTS, iter([1]), "does not fit array"),
        (INTS, numpy.int64(1), "does not fit array"),
        (TEXTS, [("a", "b")], "list does not fit map"),
        (TEXTS, {1: "b"}, "int does not fit a key of a map"),
        (TEXTS, {"\udfff": "b"}, "surrogate"),
        ('{"type":"record","name":"R","fields":[]}', "x", "str does not fit record R"),
        ('{"type":"record","name":"R","fields":[]}', int, "type does not fit record R"),
    ],
)
def test_inexact_numbers_are_refused(text: str, value: Any, reason: str) -> None:
    with pytest.raises(UnfitError, match=reason) as caught:
        back(text, value)
    assert isinstance(caught.value, ValueError)
    assert "99" not in str(caught.value)


def test_paths_name_no_keys() -> None:
    schema = load_texts('{"type":"map","values":{"type":"array","items":"int"}}')
    with pytest.raises(SerializationError) as caught:
        encoder(schema)({"x": [1], "secret": [1, "y"]})
    assert caught.value.path == "[entry 1][1]"


def test_a_value_whose_own_code_fails_is_an_error_too() -> None:
    class Broken(collections.UserDict[str, Any]):
        def __getitem__(self, key: str) -> Any:
            raise RuntimeError("secret")

    with pytest.raises(UnfitError, match=r"the value can't be read: RuntimeError$"):
        back(TEXTS, Broken(a="b"))


def test_a_path_from_the_inside_out() -> None:
    error = Misfit("no")
    error.parts += ["price", "[3]", "items"]
    assert error.path("Order") == "Order.items[3].price"
    assert error.path("") == "items[3].price"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 3.4028235677973362e38, -1.5, 0.0])
def test_singles_may_be_rounded_but_not_to_infinity(value: float) -> None:
    made = avro_misfit.single(value, "float")
    assert made == value or made != made
