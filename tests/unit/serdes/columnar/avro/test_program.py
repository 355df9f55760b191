"""The check of programs: what a sound program is, and that each single change that could do harm is found."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from serdes.columnar.avro.program import Code, Op, Program, verify
from serdes.columnar.layout import layout_of
from serdes.errors import SerializationError

KIND = pa.struct(
    [
        ("n", pa.int32()),
        ("l", pa.list_(pa.string())),
        ("s", pa.struct([("d", pa.decimal128(5, 2))])),
        ("u", pa.dense_union([pa.field("member0", pa.null()), pa.field("member1", pa.int64())])),
    ]
)
LAYOUT = layout_of(KIND)
SOUND = [
    Op(Code.OPTIONAL, 1, a=0, b=2),  # 0
    Op(Code.INT, 1),
    Op(Code.LIST, 2, a=5, c=9),  # 2
    Op(Code.STRING, 3),
    Op(Code.LIST_END, 2, a=3, c=9),  # 4
    Op(Code.INPUT, c=0, d=2),
    Op(Code.DECIMAL, 5, a=-1, c=5),  # 6
    Op(Code.OUTPUT),
    Op(Code.STRUCT, 4),  # 8
    Op(Code.BRANCH, a=0, b=2),
    Op(Code.UNION, 6, a=0),  # 10
    Op(Code.NULL, 7),
    Op(Code.JUMP, a=15),  # 12
    Op(Code.UNION, 6, a=1),
    Op(Code.LONG, 8),  # 14
    Op(Code.CALL, a=18),
    Op(Code.STRUCT, 0),  # 16
    Op(Code.END),
    Op(Code.SKIP_LIST, a=21),  # 18
    Op(Code.SKIP_TEXT),
    Op(Code.SKIP_LIST_END, a=19),  # 20
    Op(Code.RETURN),
]


def program(ops: list[Op]) -> Program:
    return Program(ops, [10, 13], [1000, 1, -5, 5, 16], bytearray(b"ab"), ["no"])


def test_a_sound_program_passes() -> None:
    verify(program(SOUND), LAYOUT)


@pytest.mark.parametrize(
    ("at", "change", "why"),
    [
        (0, {"b": 99}, "a jump to 99"),
        (0, {"b": 0}, "a jump to 0"),
        (0, {"a": 2}, "branch 2 of two"),
        (0, {"column": 99}, "no column 99"),
        (1, {"column": 8}, "INT into a column of type int64"),
        (1, {"code": Code.LONG}, "LONG into a column of type int32"),
        (1, {"code": Code.SKIP_INT}, "reached with different columns"),
        (2, {"a": 6}, "a list without an end"),
        (2, {"column": 1}, "a list into a column of type int32"),
        (2, {"code": Code.MAP}, "the end of another kind of list"),
        (2, {"c": 1}, "the end of another kind of list"),
        (3, {"code": Code.SKIP_TEXT}, "an item with columns unfilled"),
        (3, {"code": Code.INT, "column": 1}, "is not to be filled here"),
        (4, {"a": 2}, "a list without an end"),
        (5, {"d": 3}, "outside of the pool"),
        (5, {"code": Code.OUTPUT}, "OUTPUT twice"),
        (6, {"column": 1}, "a decimal into a column of type int32"),
        (7, {"code": Code.SKIP_INT}, "the end with columns unfilled"),
        (8, {"column": 0}, "a struct with fields unfilled"),
        (9, {"b": 3}, "outside of the table"),
        (10, {"a": 2}, "no child 2"),
        (11, {"code": Code.SKIP_INT}, "reached with different columns"),
        (12, {"a": 13}, "reached with different columns"),
        (11, {"code": Code.UNION, "column": 6}, "a union twice"),
        (6, {"c": 39}, "a decimal into a column"),
        (12, {"a": 5}, "a jump to 5"),
        (13, {"a": 0}, "a child of a union that was not chosen"),
        (15, {"a": 16}, "STRUCT in a part that skips"),
        (15, {"a": 99}, "a call of 99"),
        (15, {"code": Code.REFUSE, "a": 1}, "no message 1"),
        (16, {"code": Code.NULL, "column": 4}, "column 4 is not to be filled here"),
        (16, {"code": Code.RETURN}, "a return from nowhere"),
        (17, {"code": Code.JUMP, "a": 16}, "a jump to 16"),
        (18, {"a": 20}, "a list without an end"),
        (19, {"code": Code.END}, "END in a part that skips"),
        (21, {"code": Code.SKIP_INT}, "a jump to 22"),
        (1, {"code": Code.SCALED, "a": 32, "b": 1}, "a number that is not scaled"),
        (1, {"code": Code.ENUM_NUMBER, "a": 1, "b": 2}, "outside of the table"),
        (19, {"code": Code.SKIP_BYTES, "a": -1}, "a size below zero"),
    ],
)
def test_each_change_that_could_do_harm_is_found(at: int, change: dict[str, Any], why: str) -> None:
    ops = list(SOUND)
    ops[at] = ops[at]._replace(**change)
    with pytest.raises(SerializationError, match=why):
        verify(program(ops), LAYOUT)


def test_numbers_that_may_not_fit_are_found() -> None:
    made = program([SOUND[0], Op(Code.SCALED, 1, a=32, b=0), *SOUND[2:]])
    verify(made, LAYOUT)
    made.numbers[3] = 2**31
    with pytest.raises(SerializationError, match="may not fit"):
        verify(made, LAYOUT)


def test_the_kernel_has_the_same_operations() -> None:
    kernel = pytest.importorskip("serdes.kernels.native.avro_columns")
    assert kernel.codes() == [code.value for code in Code]
