"""Protobuf ↔ columns: the kernels against `google.protobuf`, over generated schemas, messages and damage."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from serdes.columnar.contract import ColumnOptions, DecodeResult
from serdes.columnar.frames import frames_of
from serdes.columnar.protobuf.encode import ProtobufFrames
from serdes.columnar.protobuf.format import ProtobufColumns
from serdes.formats.protobuf.codec import ProtobufSchema
from serdes.frames.framing import frame_prefix
from tests.strategies.columns import comparable
from tests.strategies.protobuf import damaged, parsed, payload, schema_text

pytest.importorskip("serdes.kernels.native.protobuf_columns")

PREFIX = frame_prefix(7)
SCHEMAS = 50
DAMAGED = 1000
"""Damaged payloads of each schema: 50,000 in all."""
MANY = 10_000_000


def options_of(seed: random.Random) -> ColumnOptions:
    enums, unit = seed.choice(["name", "number"]), seed.choice(["us", "ns"])
    return ColumnOptions(enums=enums, time_unit=unit)  # type: ignore[arg-type]


def read(impl: str, schema: ProtobufSchema, payloads: list[bytes], options: ColumnOptions) -> DecodeResult:
    columns = ProtobufColumns(impl)
    frames = frames_of(pa.array([PREFIX + b"\x00" + one for one in payloads], pa.binary()), impl=impl)
    plan = columns.plan(schema, schema, options)
    return columns.decode(frames, [plan], frames.plan_of_row([0]), options)


def counted(array: pa.Array) -> list[Any]:
    """Rows with times as whole numbers, for Python has no nanoseconds."""

    class Counted:
        def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
            return whole(array.type).__arrow_c_schema__(), array.__arrow_c_array__()[1]

    rows: list[Any] = pa.array(Counted()).to_pylist()
    return [comparable(row) for row in rows]


def whole(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return pa.int64()
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, whole(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(kind.key_type, whole(kind.item_type))
    return pa.list_(whole(kind.value_type)) if pa.types.is_list(kind) else kind


def same(schema: ProtobufSchema, payloads: list[bytes], options: ColumnOptions) -> DecodeResult:
    """The kernel's result, which is that of `google.protobuf`."""
    native, pure = (read(impl, schema, payloads, options) for impl in ("native", "pure"))
    native.struct.validate(full=True)
    for one, ours, theirs in zip(payloads, native.errors.to_pylist(), pure.errors.to_pylist(), strict=True):
        assert (ours is None) == (theirs is None), (one.hex(), ours, theirs)
    assert native.struct.is_null().equals(native.errors.is_valid())
    for one, found, wanted in zip(payloads, counted(native.struct), counted(pure.struct), strict=True):
        assert found == wanted, one.hex()
    return native


@pytest.mark.parametrize("number", range(SCHEMAS))
def test_protobuf_columns_equal_what_google_protobuf_reads(number: int) -> None:
    seed = random.Random(number)
    text = schema_text(seed)
    schema, options = parsed(text), options_of(seed)
    root = schema.file.message_types_by_name["Root"]
    whole_ones = [payload(seed, root) for _ in range(30)]
    same(schema, whole_ones, options)
    bad = same(schema, [damaged(seed, seed.choice(whole_ones)) for _ in range(DAMAGED)], options)
    assert 0 < bad.errors.null_count <= DAMAGED


@pytest.mark.parametrize("number", range(SCHEMAS))
def test_protobuf_payloads_equal_what_google_protobuf_writes(number: int) -> None:
    seed = random.Random(number + 1_000_000)
    schema, options = parsed(schema_text(seed)), options_of(seed)
    root = schema.file.message_types_by_name["Root"]
    struct = read("native", schema, [payload(seed, root) for _ in range(40)], options).struct
    struct = pa.concat_arrays([struct, struct])[seed.randint(0, 40) :]
    native, pure = (
        ProtobufFrames(schema, struct.type, PREFIX, impl=impl).encode(struct) for impl in ("native", "pure")
    )
    native.frames.validate(full=True)
    assert native.errors.equals(pure.errors)
    message = ProtobufSchema(schema.file).at([0])
    for ours, theirs in zip(native.frames.to_pylist(), pure.frames.to_pylist(), strict=True):
        assert (ours is None) == (theirs is None)
        if ours != theirs:  # the order of a map's entries is free
            assert ours[:6] == theirs[:6] == PREFIX + b"\x00"
            again = [message.FromString(one[6:]).SerializePartialToString(deterministic=True) for one in (ours, theirs)]
            assert again[0] == again[1]
    if native.errors.null_count == len(struct):
        back = read("native", schema, [frame[6:] for frame in native.frames.to_pylist()], options)
        assert counted(back.struct) == counted(struct)


@pytest.mark.slow
def test_ten_million_damaged_payloads() -> None:
    """The kernel alone, on what is always another damage; every thousandth batch against `google.protobuf` too."""
    seed = random.Random(20_261_122)
    done = 0
    while done < MANY:
        schema, options = parsed(schema_text(seed)), options_of(seed)
        root = schema.file.message_types_by_name["Root"]
        payloads = [damaged(seed, payload(seed, root)) for _ in range(500)]
        same(schema, payloads, options)
        for _ in range(100):
            mixed = [one[: seed.randint(0, len(one))] + payloads[at - 1] for at, one in enumerate(payloads)]
            read("native", schema, mixed, options).struct.validate()
            done += len(mixed)
