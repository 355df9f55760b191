"""The check of programs: what a sound program is, and that each single change that could do harm is found."""

from __future__ import annotations

import json
import random
from typing import Any

import pyarrow as pa
import pytest

from registry import Schema
from serdes.columnar import ColumnarDecoder, DecodeResult
from serdes.columnar.avro import plan
from serdes.columnar.avro.program import Code, Op, Pass, Program, verify
from serdes.columnar.layout import layout_of
from serdes.errors import SerializationError
from serdes.formats.avro.codec import encoder, load_texts
from serdes.frames.framing import frame_prefix

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
    assert kernel.codes() == ([*Code], [*Pass])


TEXTS = [Pass.OPTIONAL, 0, Pass.TEXT, 0, Pass.LIST, 0, Pass.LONG, 0]


def with_run(**change: int) -> Program:
    """The sound program, which passes a run before its call; its jumps behind that are one further."""
    run = Op(Code.SKIP_RUN, a=16, b=2, c=4)._replace(**change)
    ops = [*SOUND[:12], Op(Code.JUMP, a=15), *SOUND[13:15], run, Op(Code.CALL, a=19), *SOUND[16:18]]
    ops += [Op(Code.SKIP_LIST, a=22), Op(Code.SKIP_TEXT), Op(Code.SKIP_LIST_END, a=20), Op(Code.RETURN)]
    made = program(ops)
    made.table += TEXTS
    return made


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"a": 15}, "a jump to 15"),
        ({"a": 18}, "reached with different columns filled"),
        ({"b": -1}, "outside of the table"),
        ({"c": 5}, "outside of the table"),
        ({"c": 3}, "a run of what there is not"),
        ({"c": -1}, "outside of the table"),
        ({"b": 3}, "outside of the table"),
        ({"b": 0, "c": 5}, "a run of what there is not"),
    ],
)
def test_runs_that_could_do_harm_are_found(change: dict[str, int], why: str) -> None:
    verify(with_run(), LAYOUT)
    with pytest.raises(SerializationError, match=why):
        verify(with_run(**change), LAYOUT)


@pytest.mark.parametrize(("at", "number"), [(2, 8), (3, -1), (4, Pass.LIST), (8, Pass.OPTIONAL)])
def test_runs_of_what_there_is_not_are_found(at: int, number: int) -> None:
    made = with_run()
    made.table[at] = number
    with pytest.raises(SerializationError, match="a run of what there is not"):
        verify(made, LAYOUT)


SKIPPED: list[tuple[Any, list[Any]]] = [
    ("int", [0, 63, -64, 2**20, 2**27, -(2**31)]),
    ("long", [0, 2**6, -(2**20), 2**48, 2**62]),
    ("double", [1.5]),
    ("string", ["", "x" * 63, "x" * 64, "x" * 8191, "x" * 8192]),
    ("boolean", [True, False]),
    ({"type": "enum", "name": "E", "symbols": [f"S{at}" for at in range(70)]}, ["S0", "S63", "S64", "S69"]),
    ({"type": "enum", "name": "Few", "symbols": ["A", "B", "C"]}, ["A", "C"]),
    ("bytes", [b"y" * 300, b""]),
    ({"type": "fixed", "name": "F", "size": 3}, [b"abc"]),
    (["null", "string"], [None, "a"]),
    (["long", "null"], [None, 5]),
    ({"type": "array", "items": "long"}, [[], [1], [2**40] * 63, [1] * 64]),
    ({"type": "array", "items": "boolean"}, [[True], []]),
    (
        {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": "bytes"}]},
        [{"a": 1, "b": b"x"}],
    ),
]


def decode(text: str, frames: list[bytes], impl: str) -> DecodeResult:
    schema = Schema(text)
    return ColumnarDecoder({1: schema}.__getitem__, schema, columns=("wanted",), impl=impl).decode(pa.array(frames))


def test_what_is_passed_in_one_step_is_what_the_operations_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values of all kinds before a column and behind it, whole and damaged: with runs and without the same comes."""
    pytest.importorskip("serdes.kernels.native.avro_columns")
    rng = random.Random(4)
    refused = 0
    for _ in range(200):
        chosen = rng.sample(SKIPPED, rng.randint(1, 7))
        fields = [{"name": f"f{at}", "type": kind} for at, (kind, _) in enumerate(chosen)]
        fields.insert(rng.randrange(len(chosen) + 1), {"name": "wanted", "type": "int"})
        text = json.dumps({"type": "record", "name": "Row", "fields": fields})
        encode = encoder(load_texts(text), frame_prefix(1))
        values = [{f"f{at}": rng.choice(some) for at, (_, some) in enumerate(chosen)} for _ in range(4)]
        frames = [encode({**value, "wanted": 7}) for value in values]
        for frame in frames[:4]:
            for at in rng.sample(range(5, len(frame)), min(len(frame) - 5, 12)):
                frames += [frame[:at]]
                for other in (rng.randrange(256), frame[at] + 2 & 255, frame[at] + 4 & 255):
                    frames.append(frame[:at] + bytes([other]) + frame[at + 1 :])
                frames += [frame[:at] + b"\xff" + frame[at:], frame[:at] + frame[at + 1 :]]
        quick = decode(text, frames, "native")
        with monkeypatch.context() as patch:
            patch.setattr(plan, "passes_of", lambda writer: None)
            slow = decode(text, frames, "native")
        assert quick.struct[:4].to_pylist() == decode(text, frames[:4], "pure").struct.to_pylist()
        assert quick.errors.to_pylist() == slow.errors.to_pylist()
        assert quick.struct.equals(slow.struct)
        refused += len(frames) - quick.errors.null_count
    assert refused > 10_000
