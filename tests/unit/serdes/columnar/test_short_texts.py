"""Texts of all short lengths, between bytes that are none: kernels look at and copy several bytes in one step."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from registry import Schema
from serdes.columnar import ColumnarDecoder, ColumnarEncoder
from serdes.kernels import IMPL

pytestmark = pytest.mark.skipif(IMPL != "native", reason="the compiled kernels are not in use")

AVRO = Schema(
    json.dumps(
        {
            "type": "record",
            "name": "R",
            "fields": [
                {"name": name, "type": kind} for name, kind in (("b", "bytes"), ("t", "string"), ("e", "bytes"))
            ],
        }
    )
)
PROTOBUF = Schema('syntax = "proto3"; message R { bytes b = 1; string t = 2; bytes e = 3; }', "PROTOBUF")
HEAD = {"AVRO": b"\0\0\0\0\7", "PROTOBUF": b"\0\0\0\0\7\0"}
AROUND = [0, 1, 15, 16, 17, 40]


def texts() -> list[bytes]:
    """Of each length up to 34 one of ASCII, and with a character of two bytes or a byte that is none at each place."""
    made = []
    for size in range(35):
        plain = bytes(97 + at % 26 for at in range(size))
        made.append(plain)
        made += [plain[:at] + "é".encode() + plain[at + 2 :] for at in range(size - 1)]
        made += [plain[:at] + b"\xff" + plain[at + 1 :] for at in range(size)]
    return made


def is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def framed(schema: Schema, before: bytes, text: bytes, behind: bytes) -> bytes:
    if schema is AVRO:
        return HEAD["AVRO"] + b"".join(bytes([len(part) << 1]) + part for part in (before, text, behind))
    parts = [bytes([10 + 8 * at, len(part)]) + part for at, part in enumerate((before, text, behind)) if part]
    return HEAD["PROTOBUF"] + b"".join(parts)


@pytest.mark.parametrize("schema", [AVRO, PROTOBUF], ids=["avro", "protobuf"])
@pytest.mark.parametrize("behind", AROUND)
def test_texts_that_are_read(schema: Schema, behind: int) -> None:
    rows = [(b"\xfe" * (at % 5), text, b"\xfd" * behind) for at, text in enumerate(texts())]
    result = ColumnarDecoder({7: schema}.__getitem__, schema).decode(pa.array([framed(schema, *row) for row in rows]))
    result.struct.validate(full=True)
    assert result.struct.to_pylist() == [
        {"b": before, "t": text.decode(), "e": after} if is_text(text) else None for before, text, after in rows
    ]
    assert result.errors.is_valid().to_pylist() == [not is_text(text) for _, text, _ in rows]


@pytest.mark.parametrize("schema", [AVRO, PROTOBUF], ids=["avro", "protobuf"])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
@pytest.mark.parametrize("start", [0, 1, 20])
def test_texts_that_are_written(schema: Schema, kind: pa.DataType, start: int) -> None:
    """From the first byte of a column's buffer on, and from the middle of it."""
    found = texts()
    octets = pa.large_binary() if pa.types.is_large_string(kind) else pa.binary()
    column = pa.array([b"\xfe" * start, *found], octets).view(kind)[1:]
    around = [bytes([0xF0 + at % 16]) * (at % 7) for at in range(len(found))]
    struct = pa.StructArray.from_arrays([pa.array(around), column, pa.array(around)], ["b", "t", "e"])
    result = ColumnarEncoder(schema, 7).encode(struct)
    assert result.frames.to_pylist() == [
        framed(schema, beside, text, beside) if is_text(text) else None
        for beside, text in zip(around, found, strict=True)
    ]


def test_names_of_enums_of_all_lengths() -> None:
    names = ["N" * size for size in range(1, 36)]
    avro = Schema(json.dumps({"type": "record", "name": "R", "fields": [
        {"name": "e", "type": {"type": "enum", "name": "E", "symbols": names}}]}))  # fmt: skip
    listed = " ".join(f"{name} = {at};" for at, name in enumerate(names))
    protobuf = Schema(f'syntax = "proto3"; enum E {{ {listed} }} message R {{ E e = 1; }}', "PROTOBUF")
    order = [*range(len(names)), *reversed(range(len(names)))]
    for schema, payloads in (
        (avro, [HEAD["AVRO"] + bytes([at << 1]) if at < 64 else b"" for at in order]),
        (protobuf, [HEAD["PROTOBUF"] + (bytes([8, at]) if at else b"") for at in order]),
    ):
        result = ColumnarDecoder({7: schema}.__getitem__, schema).decode(pa.array(payloads))
        assert result.struct.field("e").to_pylist() == [names[at] for at in order]
        assert result.errors.null_count == len(order)


@pytest.mark.parametrize("named", [[1, 1, 2, 2, 1, None, 1], [3, 2, 3, 2], [1]])
def test_ids_that_change_and_come_again(named: list[int | None]) -> None:
    schemas = {
        at: Schema(json.dumps({"type": "record", "name": "R", "fields": [{"name": "x", "type": "long"}] * (at < 3)
                               or [{"name": "x", "type": "int"}]}))
        for at in (1, 2, 3)
    }  # fmt: skip
    frames = [None if at is None else b"\0\0\0\0" + bytes([at, 2 * at]) for at in named]
    result = ColumnarDecoder(schemas.__getitem__, schemas[1]).decode(pa.array(frames, pa.binary()))
    assert result.struct.to_pylist() == [None if at is None else {"x": at} for at in named]
