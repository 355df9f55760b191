"""JSON read into columns: the kernel and the parser of the standard library agree, on documents and on damage."""

from __future__ import annotations

import json
import random
import re
from array import array
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.serdes import JSON_ORDER, text_of
from registry import Schema
from serdes.columnar import ColumnarEncoder, json_schema_of
from serdes.columnar.contract import ColumnOptions, DecodeResult
from serdes.columnar.frames import frames_of
from serdes.columnar.json.format import JsonColumns
from serdes.errors import SerializationError
from serdes.kernels import IMPL
from serdes.kernels.json_columns import exact_float
from tests.strategies.arrow import arrays as any_arrays
from tests.strategies.arrow import structs

pytestmark = pytest.mark.skipif(IMPL != "native", reason="the compiled kernels are not in use")

MOMENTS = [
    "1970-01-01",
    "2024-02-29",
    "2023-02-29",
    "0000-01-01",
    "2026-03-14T15:09:26.535Z",
    "2026-03-14t15:09:26+02:30",
]
MOMENTS += ["9999-12-31T23:59:59.999999Z", "2026-03-14T15:09:26.1234567Z", "2026-03-14T15:09:26.1234560Z", "15:09:26Z"]
MOMENTS += ["15:09:26", "15:09:26+01:00", "24:00:00Z", "2026-03-14 15:09:26", "2026-03-14T15:09:60Z", "x"]
NUMBERS = ["0", "-0", "1.0", "1e3", "1.5", "12e-1", "120e-1", "9223372036854775807", "9223372036854775808", "1e400"]
NUMBERS += [
    "-9223372036854775808",
    "-9223372036854775809",
    "1e-400",
    "0.1",
    "123456789012345678901234567890",
    "0e9999999",
]
NUMBERS += [
    "9007199254740993",
    "9007199254740992",
    "9007199254740993.0",
    "1e19",
    "1.00000000000000000000000",
    "01",
    "1.",
    "-",
]
NUMBERS += [
    "0.30000000000000004",
    "2.2250738585072011e-308",
    "1e22",
    "1e23",
    "8.5e22",
    "1e99999999999999999999",
    "5e-324",
]
BASE64 = st.sampled_from(['""', '"QUI="', '"QUJD"', '"QR=="', '"Q==="', '"QUJ"'])
DECIMALS = st.sampled_from(
    ['"1.5"', '"-999.99"', '"1000.00"', '"1.234"', '"1.230"', '".5"', '"5."', '"00001"', '"-"', '"-0"']
)
LEAVES: list[tuple[Any, st.SearchStrategy[str]]] = [
    ({"type": "boolean"}, st.sampled_from(["true", "false"])),
    ({"type": "integer"}, st.integers(-(2**66), 2**66).map(str) | st.sampled_from(NUMBERS)),
    ({"type": "integer", "arrowType": "uint64"}, st.integers(-9, 2**66).map(str) | st.sampled_from(NUMBERS)),
    ({"type": "number"}, st.floats(allow_nan=False, allow_infinity=False).map(repr) | st.sampled_from(NUMBERS)),
    ({"type": "string"}, st.text(max_size=12).map(json.dumps)),
    ({"type": "string"}, st.text(max_size=30).map(lambda text: json.dumps(text, ensure_ascii=False))),
    ({"enum": ["A", "B", None]}, st.sampled_from(['"A"', '"B"', "null"])),
    ({}, st.sampled_from(["null", '{"a": [1, NaN]}', '[1, {"a": "\\ud83d\\ude00"}]', '"\\ud83d"', "1.50", "[]", "{}"])),
    ({"type": "string", "format": "uuid"}, st.uuids().map(lambda one: json.dumps(str(one)))),
    ({"type": "string", "contentEncoding": "base64"}, BASE64),
    (
        {"type": "string", "format": "decimal", "arrowType": "decimal(5, 2)"},
        DECIMALS,
    ),
    *(
        ({"type": "string", "format": name}, st.sampled_from(MOMENTS).map(json.dumps))
        for name in ("date", "date-time", "date-time-local", "time", "time-local")
    ),
]  # fmt: skip
DEFAULTS = ColumnOptions()
SPACES = st.sampled_from(["", "", " ", "\n\t"])
NAMES = ["a", "b", "ü", "", "a\nb", "longer_name"]


@st.composite
def schemas(draw: st.DrawFn, depth: int = 2) -> tuple[Any, st.SearchStrategy[str]]:
    """A schema, and texts of documents that are about what it says."""
    kind = draw(st.integers(0, 4 if depth else 1))
    if kind <= 1:
        schema, texts = draw(st.sampled_from(LEAVES))
    else:
        schema, texts = draw([arrays, maps, objects][kind - 2](depth))
    return schema, st.one_of(texts, texts, texts, texts, st.sampled_from(["null", "1", '"x"', "[]", "{}"]))


def joined(parts: list[str], opening: str, closing: str, space: str) -> str:
    return opening + space + f"{space},{space}".join(parts) + space + closing


@st.composite
def arrays(draw: st.DrawFn, depth: int) -> tuple[Any, st.SearchStrategy[str]]:
    schema, texts = draw(schemas(depth - 1))
    items = st.lists(texts, max_size=3)
    return {"type": "array", "items": schema}, st.builds(joined, items, st.just("["), st.just("]"), SPACES)


@st.composite
def maps(draw: st.DrawFn, depth: int) -> tuple[Any, st.SearchStrategy[str]]:
    schema, texts = draw(schemas(depth - 1).filter(lambda found: found[0]))
    entry = st.builds(lambda name, text: f"{json.dumps(name)}:{text}", st.sampled_from(NAMES), texts)
    entries = st.lists(entry, max_size=4)
    made = {"type": "object", "additionalProperties": schema}
    return made, st.builds(joined, entries, st.just("{"), st.just("}"), SPACES)


def member(name: str, text: str) -> str:
    return f"{json.dumps(name, ensure_ascii=text != '1')}: {text}"


@st.composite
def objects(draw: st.DrawFn, depth: int) -> tuple[Any, st.SearchStrategy[str]]:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    parts = {name: draw(schemas(depth - 1)) for name in names}
    schema = {"type": "object", "properties": {name: part[0] for name, part in parts.items()}}
    if draw(st.booleans()):
        schema["additionalProperties"] = draw(st.sampled_from([False, True, {}]) | schemas(0).map(lambda one: one[0]))
    if draw(st.booleans()):
        schema["patternProperties"] = {"^u": draw(schemas(0))[0]}
    members = [st.builds(member, st.just(name), texts) for name, (_, texts) in parts.items()]
    more = [
        '"unknown": [{"x": [1, "y"]}]',
        '"unknown": tru',
        f"{json.dumps(names[0])}: null",
        '"u": "x"',
        '"\\u0075": 1',
    ]
    found = st.tuples(*members, *draw(st.integers(0, 2)) * [st.sampled_from(more)]).flatmap(st.permutations)
    kept = st.builds(lambda all, drop: list(all)[drop:], found, st.integers(0, 1))
    return schema, st.builds(joined, kept, st.just("{"), st.just("}"), SPACES)


def damaged(data: st.DataObject, payload: bytes) -> bytes:
    how = data.draw(st.integers(0, 7))
    at = data.draw(st.integers(0, len(payload)))
    if how == 0:
        return payload[:at]
    if how == 1:
        return payload + data.draw(st.sampled_from([b" ", b"}", b"\0", b" 1"]))
    if how == 2:
        return (
            payload[:at]
            + data.draw(st.sampled_from([b'"', b"\xff", b"\\", b",", b"\xed\xa0\x80", b"e", b"\x01"]))
            + payload[at:]
        )
    return payload


def both(schema: Schema, payloads: list[bytes | None], options: ColumnOptions = DEFAULTS) -> DecodeResult:
    """The kernel's result for payloads, which is that of the standard library's parser."""
    results = []
    for impl in ("native", "pure"):
        columns = JsonColumns(impl)
        parsed = columns.load(schema, None)
        frames = frames_of(
            pa.array([None if p is None else b"\0\0\0\0\1" + p for p in payloads], pa.binary()), None, impl
        )
        rows = array("i", [0] * len(payloads)).tobytes()
        results.append(columns.decode(frames, [columns.plan(parsed, parsed, options)], rows, options))
        results[-1].struct.validate(full=True)
    native, pure = results
    errors = zip(payloads, native.errors.to_pylist(), pure.errors.to_pylist(), strict=True)
    assert [row for row in errors if (row[1] is None) != (row[2] is None)] == []
    assert native.struct.equals(pure.struct)
    return native


@given(st.data())
def test_documents_and_damage(data: st.DataObject) -> None:
    schema, texts = data.draw(objects(2))
    payloads = [damaged(data, data.draw(texts).encode()) for _ in range(4)]
    both(
        Schema(json.dumps(schema), "JSON"),
        payloads,
        ColumnOptions(
            columns=(next(iter(schema["properties"])),) if data.draw(st.booleans()) else None,
            unnamed=data.draw(st.sampled_from(["skip", "refuse", "map"])),
            max_row_bytes=data.draw(st.sampled_from([40, 2**20])),
        ),
    )


@given(st.integers(0, 10**19 - 1), st.integers(-330, 310))
def test_numbers_are_the_nearest(digits: int, exponent: int) -> None:
    schema = Schema('{"properties": {"a": {"type": "number"}}}', "JSON")
    text = f"{digits}e{exponent}"
    found = both(schema, [f'{{"a": {text}}}'.encode()]).struct[0].as_py()
    nearest = exact_float(text.encode())
    assert found == (None if nearest.__class__ is not float else {"a": nearest})


def mutated(rounds: int, seed: int) -> None:
    """Orders with bytes changed here and there, in batches; whatever comes of them, the neighbours come out whole."""
    chance = random.Random(seed)
    order = json.dumps(JSON_ORDER).encode()
    schema = Schema(text_of("order.schema.json"), "JSON")
    columns = JsonColumns("native")
    parsed = columns.load(schema, None)
    options = ColumnOptions()
    plan = columns.plan(parsed, parsed, options)
    for _ in range(rounds):
        payloads = []
        for at in range(1000):
            made = bytearray(order)
            for _ in range(chance.randrange(4) if at % 2 else 0):
                place = chance.randrange(len(made))
                made[place : place + chance.randrange(3)] = chance.randbytes(chance.randrange(3))
            payloads.append(b"\0\0\0\0\1" + made)
        rows = array("i", [0] * 1000).tobytes()
        result = columns.decode(frames_of(pa.array(payloads, pa.binary())), [plan], rows, options)
        result.struct.validate(full=True)
        assert result.errors[0::2].null_count == 500
        assert result.struct[0::2].to_pylist() == [result.struct[0].as_py()] * 500
        for error, value in zip(result.errors.to_pylist(), result.struct.is_valid().to_pylist(), strict=True):
            assert (error is None) == value


EVERY_KIND = Schema(
    json.dumps(
        {
            "properties": {
                "b": {"type": "boolean"}, "i": {"type": "integer"}, "x": {"type": "number"}, "t": {"type": "string"},
                "u": {"type": "integer", "arrowType": "uint64"}, "o": {"type": "string", "contentEncoding": "base64"},
                "d": {"type": "string", "format": "date"}, "m": {"type": "string", "format": "date-time"},
                "l": {"type": "string", "format": "date-time-local"}, "c": {"type": "string", "format": "time"},
                "k": {"type": "string", "format": "time-local"}, "id": {"type": "string", "format": "uuid"},
                "p": {"type": "string", "format": "decimal", "arrowType": "decimal(40, 5)"}, "any": {},
                "list": {"type": "array", "items": {"properties": {"n": {"type": "integer"}, "s": {"type": "string"}}}},
                "map": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "number"}}},
                "rest": {"properties": {"n": {}}, "additionalProperties": {"properties": {"x": {"type": "number"}}}},
            },
            "patternProperties": {"^q": {"type": "integer"}},
        }
    ),
    "JSON",
)  # fmt: skip
PARTS = {
    "b": ["true", "false", "null"],
    "i": ["-9223372036854775808", "0", "12e3", "1.0"], "x": ["0.1", "-1e-7", "1e400", "5"],
    "t": ['"plain"', '"\\u00e9\\ud83d\\ude00 \\n"', '"\u6f22\u5b57 and more than eight"', '""'],
    "u": ["18446744073709551615", "0", "7"], "o": ['"QUI="', '""', '"QUJDREVGR0g="'],
    "d": ['"2026-02-28"', '"1969-12-31"'], "m": ['"2026-03-14T15:09:26.535Z"', '"0001-01-01T00:00:00+23:59"'],
    "l": ['"2026-03-14T15:09:26.5"'],
    "c": ['"15:09:26Z"'], "k": ['"23:59:59.999999"'], "id": ['"6ba7b810-9dad-11d1-80b4-00c04fd430c8"'],
    "p": ['"-12345678901234567890.12345"', '"1"'],
    "any": ['{"a": [1, {"b": null}], "c": "x"}', "[[[]]]", "1.50", "null"],
    "list": ["[]", '[{"n": 1, "s": "a"}, {"s": "b"}, {}]', "null"],
    "map": ["{}", '{"a": [1, 2.5], "b": [], "c": null}', '{"a": [1], "a": [2]}'],
    "rest": ['{"n": 1, "k": {"x": 2}, "l": {"y": {}}, "m": null}', '{"k": {}, "k": {}}', "{}"],
    "unnamed": ['{"q": [1, "\\u0041", {}]}', "true"],
    "q1": ["1", "null"],
}  # fmt: skip


def pieces(chance: random.Random) -> bytes:
    """A document of some members, in any order."""
    names = chance.sample([*PARTS], chance.randrange(1, len(PARTS)))
    space = chance.choice(["", "", " ", "\n"])
    return ("{" + ",".join(f'{space}"{name}":{chance.choice(PARTS[name])}' for name in names) + "}").encode()


def damaged_of_every_kind(rounds: int, seed: int, beside: int) -> int:
    """Documents with everything in them, damaged: how many there were.

    Args:
        rounds: batches of 1000.
        seed: decides everything.
        beside: of so many batches one is read with the parser of the standard library, too.
    """
    chance = random.Random(seed)
    columns = JsonColumns("native")
    parsed = columns.load(EVERY_KIND, None)
    for at in range(rounds):
        options = ColumnOptions(
            columns=chance.choice([None, None, ("i", "list.s", "map"), ("t", "any")]),
            unnamed=chance.choice(["skip", "refuse", "map"]),
            max_row_bytes=chance.choice([60, 2**20]),
        )
        documents = [pieces(chance) for _ in range(40)]
        payloads: list[bytes | None] = []
        for _ in range(1000):
            made = bytearray(chance.choice(documents))
            for _ in range(chance.choice([0, 1, 1, 1, 2, 3])):
                place = chance.randrange(len(made))
                other = chance.choice(documents)
                start = chance.randrange(len(other))
                with_what = chance.choice([b"", bytes([chance.randrange(256)]), b'"', b"\\", other[start : start + 9]])
                made[place : place + chance.randrange(4)] = with_what
            payloads.append(bytes(made))
        if at % beside == 0:
            both(EVERY_KIND, payloads, options)
            continue
        frames = frames_of(pa.array([b"\0\0\0\0\1" + payload for payload in payloads if payload is not None]))
        rows = array("i", [0] * 1000).tobytes()
        result = columns.decode(frames, [columns.plan(parsed, parsed, options)], rows, options)
        result.struct.validate(full=True)
        assert result.errors.is_null().equals(result.struct.is_valid())
    return rounds * 1000


def test_mutated_orders() -> None:
    mutated(50, 11)


def test_damaged_documents_of_every_kind() -> None:
    assert damaged_of_every_kind(20, 13, 4) == 20_000


@pytest.mark.slow
def test_millions_of_mutated_orders() -> None:
    mutated(3400, 12)


@pytest.mark.slow
def test_millions_of_damaged_documents_of_every_kind() -> None:
    assert damaged_of_every_kind(3400, 14, 100) == 3_400_000


@given(st.data())
def test_columns_come_back_from_json(data: st.DataObject) -> None:
    """Written values are read back, and written again they are the same, byte for byte but for zeros: times are read
    into columns of microseconds, whatever they were written from."""
    kind = data.draw(structs(1))
    try:
        schema = json_schema_of(kind)
    except SerializationError:  # JSON has no intervals
        return
    written = ColumnarEncoder(Schema(schema, "JSON"), 1).encode(data.draw(any_arrays(kind)))
    payloads = [None if frame is None else frame[5:] for frame in written.frames.to_pylist()]
    found = both(Schema(schema, "JSON"), payloads)
    for error in found.errors.to_pylist():  # nanoseconds
        assert error is None or "finer than its column" in error
    again = ColumnarEncoder(Schema(json_schema_of(found.struct.type), "JSON"), 1).encode(found.struct)
    expected = [
        frame if row.is_valid else None for frame, row in zip(written.frames.to_pylist(), found.struct, strict=True)
    ]
    assert in_millis(again.frames.to_pylist()) == in_millis(expected)


def in_millis(frames: list[bytes | None]) -> list[bytes | None]:
    """Times whose microseconds are whole milliseconds with three digits behind the point."""
    return [None if frame is None else re.sub(rb"(:\d\d\.\d{3})000(?!\d)", rb"\1", frame) for frame in frames]
