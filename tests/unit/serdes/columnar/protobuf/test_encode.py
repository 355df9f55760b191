"""Columns into Protobuf, by the kernel and by the reference: frames and errors have to be the same from both."""

from __future__ import annotations

import datetime
import uuid
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf.message_factory import GetMessageClass

from registry import Schema
from serdes.columnar.contract import EncodeResult
from serdes.columnar.encoder import ColumnarEncoder
from serdes.columnar.protobuf.encode import ProtobufFrames
from serdes.errors import SerializationError
from serdes.formats.protobuf.codec import load
from serdes.frames.framing import frame_prefix

ORDER = (Path(__file__).parents[5] / "schemas" / "order.proto").read_text()
MOMENT = datetime.datetime(2026, 3, 14, 15, 9, 26, 535000, tzinfo=datetime.UTC)
HEAD = 'syntax = "proto3"; '
SCALARS = """syntax = "proto2"; message M {
  optional double d = 1; optional float f = 2; optional int64 i64 = 3; optional uint64 u64 = 4; optional int32 i32 = 5;
  optional fixed64 x64 = 6; optional fixed32 x32 = 7; optional bool b = 8; optional string s = 9; optional bytes y = 10;
  optional uint32 u32 = 11; optional sfixed32 s32 = 12; optional sfixed64 s64 = 13; optional sint32 z32 = 14;
  optional sint64 z64 = 15; }"""
NESTED = """syntax = "proto3"; message M { In one = 1; repeated In many = 2; map<string, In> by_name = 3;
  oneof which { int32 n = 4; string s = 5; In held = 6; } repeated int32 packed = 7;
  repeated int32 apart = 8 [packed = false]; } message In { int32 a = 1; optional int32 b = 2; }"""
ENUMS = """syntax = "proto2"; enum C { option allow_alias = true; A = 0; B = 5; ALSO = 5; }
  message M { optional C one = 1; repeated C many = 2; }"""
OPEN = HEAD + "enum C { A = 0; B = 5; } message M { optional C one = 1; }"
REQUIRED = (
    'syntax = "proto2"; message M { required int32 id = 1; optional In in = 2; } message In { required int32 x = 1; }'
)
KNOWN = (
    HEAD
    + """import "google/protobuf/timestamp.proto"; import "google/protobuf/duration.proto";
  import "google/protobuf/wrappers.proto"; import "google/protobuf/struct.proto"; import "google/protobuf/any.proto";
  message M { google.protobuf.Timestamp t = 1; google.protobuf.Duration d = 2; google.protobuf.Int64Value i = 3;
  repeated google.protobuf.StringValue s = 4; google.protobuf.Struct st = 5; repeated google.protobuf.Value vs = 6;
  google.protobuf.Any any = 7; map<string, google.protobuf.Struct> by_name = 8; }"""
)
UTC = pa.timestamp("us", "UTC")


@pytest.fixture(params=["pure", "native"])
def impl(request: pytest.FixtureRequest) -> str:
    if request.param == "native":
        pytest.importorskip("serdes.kernels.native.protobuf_frames")
    return str(request.param)


def encode(impl: str, text: str, rows: pa.Array, prefix: bytes = b"", **more: Any) -> EncodeResult:
    made = ProtobufFrames(load(Schema(text, "PROTOBUF")), rows.type, prefix, impl=impl, **more).encode(rows)
    made.frames.validate(full=True)
    assert len(made.frames) == len(made.errors) == len(rows)
    return made


def one(impl: str, text: str, kind: pa.DataType, value: Any, name: str) -> bytes:
    """The payload of a row with one column."""
    made = encode(impl, text, pa.array([{name: value}], pa.struct([(name, kind)])))
    assert made.errors.to_pylist() == [None]
    found: bytes = made.frames[0].as_py()
    return found


def error(impl: str, text: str, kind: pa.DataType, value: Any, name: str, good: Any = None) -> str:
    """The error of a row between two that are fine."""
    made = encode(impl, text, pa.array([{name: good}, {name: value}, {name: good}], pa.struct([(name, kind)])))
    assert made.frames.is_null().to_pylist() == [False, True, False]
    assert made.errors.is_null().to_pylist() == [True, False, True]
    assert made.frames[0] == made.frames[2]
    return str(made.errors[1])


def parsed(text: str, payload: bytes) -> Any:
    file = load(Schema(text, "PROTOBUF")).file
    return GetMessageClass(next(iter(file.message_types_by_name.values()))).FromString(payload)


def test_the_order_record(impl: str) -> None:
    row = {
        "weight_kg": 1.25,
        "id": "o-1",
        "customer_id": 5,
        "score": 0.5,
        "created_at": MOMENT,
        "status": "PAID",
        "coupon": "",
        "tags": ["a", ""],
        "total_cents": -300,
        "address": {"city": "Köln", "postcode": None},
        "quantity": -1,
        "gift": True,
    }
    kind = pa.struct(
        {
            "weight_kg": pa.float32(),
            "id": pa.string(),
            "customer_id": pa.int64(),
            "score": pa.float64(),
            "created_at": UTC,
            "status": pa.string(),
            "coupon": pa.string(),
            "tags": pa.list_(pa.string()),
            "total_cents": pa.int64(),
            "quantity": pa.int32(),
            "gift": pa.bool_(),
            "address": pa.struct({"city": pa.string(), "postcode": pa.string()}),
        }
    )
    made = encode(impl, ORDER, pa.array([row, None, row], kind), frame_prefix(9))
    frames = made.frames.to_pylist()
    assert frames[1] is None
    assert made.errors.null_count == 3
    assert frames[0] == frames[2]
    assert frames[0][:6] == frame_prefix(9) + b"\x00"
    message = parsed(ORDER, frames[0][6:])
    assert message.SerializeToString(deterministic=True) == frames[0][6:], "fields in the order of their numbers"
    assert (message.id, message.status, message.coupon, list(message.tags)) == ("o-1", 1, "", ["a", ""])
    assert message.HasField("coupon")
    assert message.created_at.ToDatetime(datetime.UTC) == MOMENT
    assert (message.total_cents, message.address.city, message.quantity) == (-300, "Köln", -1)


@pytest.mark.parametrize("kind", [pa.int8(), pa.int16(), pa.int32(), pa.int64()], ids=str)
@pytest.mark.parametrize("name", ["i32", "i64", "s32", "s64", "z32", "z64"])
def test_numbers_with_a_sign(impl: str, kind: pa.DataType, name: str) -> None:
    for value in (-128, -1, 0, 127):
        assert getattr(parsed(SCALARS, one(impl, SCALARS, kind, value, name)), name) == value


@pytest.mark.parametrize("kind", [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.int64()], ids=str)
@pytest.mark.parametrize("name", ["u32", "u64", "x32", "x64", "i64"])
def test_numbers_without_a_sign(impl: str, kind: pa.DataType, name: str) -> None:
    for value in (0, 127, 255):
        assert getattr(parsed(SCALARS, one(impl, SCALARS, kind, value, name)), name) == value


@pytest.mark.parametrize(
    ("name", "kind", "value"),
    [
        ("i32", pa.int64(), 2**31),
        ("z32", pa.int64(), -(2**31) - 1),
        ("s32", pa.uint32(), 2**31),
        ("u32", pa.int64(), -1),
        ("u32", pa.uint64(), 2**32),
        ("x64", pa.int8(), -1),
        ("i64", pa.uint64(), 2**63),
        ("i32", pa.uint64(), 2**64 - 1),
        ("f", pa.float64(), 3.5e38),
        ("f", pa.float64(), -1e300),
    ],
)
def test_numbers_that_do_not_fit(impl: str, name: str, kind: pa.DataType, value: Any) -> None:
    assert error(impl, SCALARS, kind, value, name) == f"at {name}: the number does not fit the field"


def test_the_ends_of_what_fits(impl: str) -> None:
    for name, kind, value in (
        ("u64", pa.uint64(), 2**64 - 1),
        ("x64", pa.uint64(), 2**64 - 1),
        ("i64", pa.int64(), -(2**63)),
        ("z64", pa.int64(), -(2**63)),
        ("z32", pa.int32(), -(2**31)),
        ("f", pa.float64(), float("inf")),
        ("d", pa.float32(), 1.5),
        ("f", pa.float64(), 3.4028234663852886e38),
    ):
        assert getattr(parsed(SCALARS, one(impl, SCALARS, kind, value, name)), name) == value


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())], ids=str
)
def test_text_of_any_layout(impl: str, kind: pa.DataType) -> None:
    rows = pa.array(
        [{"s": text} for text in ("before", "ä", None, "", "a text of more than twelve bytes")],
        pa.struct([("s", kind)]),
    )
    made = encode(impl, SCALARS, rows[1:])
    assert [parsed(SCALARS, one).s for one in made.frames.to_pylist()] == [
        "ä",
        "",
        "",
        "a text of more than twelve bytes",
    ]
    assert [parsed(SCALARS, one).HasField("s") for one in made.frames.to_pylist()] == [True, False, True, True]


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(3)], ids=str)
def test_bytes_of_any_layout(impl: str, kind: pa.DataType) -> None:
    assert parsed(SCALARS, one(impl, SCALARS, kind, b"\xff\x00a", "y")).y == b"\xff\x00a"


@pytest.mark.parametrize(
    "of",
    [pa.list_, pa.large_list, lambda kind: pa.list_(kind, 3)],
    ids=["list", "large", "fixed"],
)
def test_lists_of_any_layout(impl: str, of: Any) -> None:
    rows = pa.array(
        [{"packed": [9, 9, 9]}, {"packed": [1, 2, 300]}, {"packed": None}], pa.struct([("packed", of(pa.int32()))])
    )
    made = encode(impl, NESTED, rows[1:])
    assert made.frames.to_pylist() == [bytes.fromhex("3a040102ac02"), b""]


def test_nested_columns(impl: str) -> None:
    inner = pa.struct([("a", pa.int32()), ("b", pa.int32())])
    numbers = pa.list_(pa.int64())
    by_name = pa.map_(pa.string(), inner)
    kind = pa.struct(
        {"one": inner, "many": pa.list_(inner), "by_name": by_name, "held": inner, "packed": numbers, "apart": numbers}
        | {"s": pa.null()}
    )
    row = {
        "one": {"a": 0, "b": 0},
        "many": [{"a": 1, "b": None}, {"a": None, "b": None}],
        "by_name": [("x", {"a": 1, "b": 2}), ("", {"a": None, "b": None})],
        "held": {"a": None, "b": None},
        "packed": [1, 2],
        "apart": [3, 4],
        "s": None,
    }
    nothing = dict.fromkeys(row)
    rows = pa.array([None, row, nothing, row], kind)
    made = encode(impl, NESTED, rows[1:])
    assert made.errors.null_count == 3
    first, second, _ = (parsed(NESTED, frame) for frame in made.frames.to_pylist())
    assert made.frames[0] == made.frames[2]
    assert first.one.HasField("b")
    assert [(item.a, item.HasField("b")) for item in first.many] == [(1, False), (0, False)]
    assert {key: (item.a, item.b) for key, item in first.by_name.items()} == {"x": (1, 2), "": (0, 0)}
    assert first.WhichOneof("which") == "held"
    assert (list(first.packed), list(first.apart)) == ([1, 2], [3, 4])
    assert not second.ByteSize()


def test_errors_say_where(impl: str) -> None:
    inner = pa.struct([("a", pa.int64())])
    assert error(impl, NESTED, pa.list_(inner), [{"a": 1}, {"a": 2**40}], "many") == (
        "at many[1].a: the number does not fit the field"
    )
    assert error(impl, NESTED, pa.list_(inner), [{"a": 1}, None], "many") == (
        "at many[1]: null among the items of a repeated field"
    )
    assert error(impl, NESTED, pa.list_(pa.int32()), [1, None], "packed").startswith("at packed[1]: null among")
    entries = pa.map_(pa.string(), inner)
    assert error(impl, NESTED, entries, [("a", {"a": 1}), ("b", None)], "by_name") == (
        "at by_name[1].value: null in a required field"
    )


def test_two_members_of_a_oneof(impl: str) -> None:
    kind = pa.struct([("n", pa.int32()), ("s", pa.string())])
    rows = pa.array([{"n": 0, "s": None}, {"n": 1, "s": ""}, {"n": None, "s": ""}], kind)
    made = encode(impl, NESTED, rows)
    assert made.frames.to_pylist() == [b"\x20\x00", None, b"\x2a\x00"]
    assert made.errors[1].as_py() == "at n: two fields of one oneof are set"


def test_enums_by_name_and_number(impl: str) -> None:
    assert one(impl, ENUMS, pa.string(), "B", "one") == b"\x08\x05"
    assert one(impl, ENUMS, pa.string(), "ALSO", "one") == b"\x08\x05"
    assert one(impl, ENUMS, pa.int16(), 5, "one") == b"\x08\x05"
    assert one(impl, ENUMS, pa.list_(pa.dictionary(pa.int8(), pa.string())), ["A", "B"], "many") == b"\x10\x00\x10\x05"
    for kind, value in ((pa.string(), "C"), (pa.string(), "5"), (pa.string(), ""), (pa.int64(), 6)):
        assert error(impl, ENUMS, kind, value, "one") == "at one: the enum has no such name or number"
    assert one(impl, OPEN, pa.string(), "9", "one") == b"\x08\x09"
    assert one(impl, OPEN, pa.int64(), -1, "one") == b"\x08" + b"\xff" * 9 + b"\x01"
    assert error(impl, OPEN, pa.string(), "09", "one").endswith("no such name or number")
    assert error(impl, OPEN, pa.string(), "2147483648", "one").endswith("no such name or number")
    assert error(impl, OPEN, pa.int64(), 2**31, "one").endswith("does not fit the field")


def test_an_enum_of_many_names(impl: str) -> None:
    names = {f"{'N' * (at % 7 + 1)}{at}": at for at in range(200)}
    text = (
        HEAD
        + "enum C { "
        + " ".join(f"{name} = {number};" for name, number in names.items())
        + " } message M { C c = 1; }"
    )
    rows = pa.array([{"c": name} for name in names], pa.struct([("c", pa.string())]))
    made = encode(impl, text, rows)
    assert [parsed(text, frame).c for frame in made.frames.to_pylist()] == list(names.values())


def test_required_fields(impl: str) -> None:
    assert error(impl, REQUIRED, pa.int32(), None, "id", good=1) == "at id: null in a required field"
    with pytest.raises(SerializationError, match="at id: the required field has no column"):
        encode(impl, REQUIRED, pa.array([{"in": None}], pa.struct([("in", pa.struct([("x", pa.int32())]))])))
    inner = pa.struct([("id", pa.int32()), ("in", pa.struct([("x", pa.int32())]))])
    made = encode(impl, REQUIRED, pa.array([{"id": 1, "in": None}, {"id": 1, "in": {"x": None}}], inner))
    assert made.frames.to_pylist() == [b"\x08\x01", None]
    assert made.errors[1].as_py() == "at in.x: null in a required field"


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times(impl: str, unit: str) -> None:
    per = {"s": 1, "ms": 1000, "us": 10**6, "ns": 10**9}[unit]
    for value in (0, 5 * per, -1, -3 * per - per // 2 if per > 1 else -3, 5 * per + 1):
        moment = parsed(KNOWN, one(impl, KNOWN, pa.timestamp(unit, "Europe/Berlin"), value, "t")).t
        assert (moment.seconds, moment.nanos) == (value // per, value % per * (10**9 // per))
        length = parsed(KNOWN, one(impl, KNOWN, pa.duration(unit), value, "d")).d
        assert length.seconds * 10**9 + length.nanos == value * (10**9 // per)
        assert length.seconds * length.nanos >= 0
    if unit == "s":
        for value in (253_402_300_800, -62_135_596_801):
            assert error(impl, KNOWN, pa.timestamp(unit, "UTC"), value, "t").startswith("at t: the time is out of")
        assert error(impl, KNOWN, pa.duration(unit), -315_576_000_001, "d").startswith("at d: the time is out of")


def test_wrappers_and_json(impl: str) -> None:
    assert one(impl, KNOWN, pa.int64(), 0, "i") == b"\x1a\x00"
    assert one(impl, KNOWN, pa.list_(pa.string()), ["", "a"], "s") == bytes.fromhex("2200" + "22030a0161")
    assert dict(parsed(KNOWN, one(impl, KNOWN, pa.string(), '{"a": [1, null]}', "st")).st)["a"][0] == 1
    assert len(parsed(KNOWN, one(impl, KNOWN, pa.list_(pa.string()), ["1", '"x"', "null"], "vs")).vs) == 3
    text = '{"@type":"x/y","value":"eg=="}'
    assert parsed(KNOWN, one(impl, KNOWN, pa.large_string(), text, "any")).any.value == b"z"
    for name, kind, value in (
        ("st", pa.string(), "[1]"),
        ("st", pa.string(), '{"a": 1'),
        ("any", pa.string(), '{"@type": "x/y", "value": 5}'),
    ):
        assert error(impl, KNOWN, kind, value, name) == f"at {name}: the text is not the JSON of such a message"
    entries = pa.map_(pa.string(), pa.string())
    rows = pa.array(
        [{"by_name": [("a", "{}")]}, {"by_name": None}, {"by_name": [("b", '{"x":1}'), ("c", "2")]}],
        pa.struct([("by_name", entries)]),
    )
    for given in (rows, rows[1:], rows[2:]):
        made = encode(impl, KNOWN, given)
        assert made.errors[-1].as_py() == "at by_name[1].value: the text is not the JSON of such a message"
        assert made.errors.null_count == len(given) - 1
    assert error(impl, KNOWN, pa.list_(pa.string()), ["1", "x"], "vs").startswith("at vs[1]: ")


def test_text_that_is_no_utf8() -> None:
    pytest.importorskip("serdes.kernels.native.protobuf_frames")
    bad = pa.StructArray.from_arrays([pa.array([b"a", b"\xff"]).view(pa.string())], ["s"])
    assert encode("native", SCALARS, bad).errors.to_pylist() == [None, "at s: text that is not UTF-8"]


def test_frames_that_are_too_long(impl: str) -> None:
    rows = pa.array([{"s": "x" * size} for size in (10, 200, 20_000)], pa.struct([("s", pa.string())]))
    made = encode(impl, SCALARS, rows, max_row_bytes=1000)
    assert [None if frame is None else len(frame) for frame in made.frames.to_pylist()] == [12, 203, None]
    assert "max_row_bytes" in made.errors[2].as_py()


def test_many_rows_and_long_ones(impl: str) -> None:
    rows = pa.array([{"s": "x" * (at * 37 % 5000)} for at in range(300)], pa.struct([("s", pa.string())]))
    made = encode(impl, SCALARS, rows)
    assert [parsed(SCALARS, frame).s for frame in made.frames.to_pylist()] == [row["s"] for row in rows.to_pylist()]


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (SCALARS, pa.struct([("nope", pa.int32())]), "column 'nope': M has no field"),
        (SCALARS, pa.struct([("s", pa.int32())]), "at s: int32 can't be written as string"),
        (SCALARS, pa.struct([("i32", pa.float64())]), "at i32: double can't be written as int32"),
        (SCALARS, pa.struct([("d", pa.int32())]), "at d: int32 can't"),
        (SCALARS, pa.struct([("i32", pa.list_(pa.int32()))]), "at i32: list"),
        (NESTED, pa.struct([("packed", pa.int32())]), "at packed: a list is needed"),
        (NESTED, pa.struct([("packed", pa.list_view(pa.string()))]), "at packed: string can't be written as int32"),
        (NESTED, pa.struct([("one", pa.int32())]), "at one: a struct is needed"),
        (NESTED, pa.struct([("by_name", pa.list_(pa.int32()))]), "at by_name: a map is needed"),
        (NESTED, pa.struct([("by_name", pa.map_(pa.int32(), pa.struct([])))]), "at by_name.key: int32 can't"),
        (NESTED, pa.struct([("one", pa.struct([("z", pa.int32())]))]), "column 'z': In has no field"),
        (KNOWN, pa.struct([("t", pa.timestamp("us"))]), "at t: .* has no time zone"),
        (KNOWN, pa.struct([("st", pa.struct([("a", pa.int32())]))]), "column 'st' is not a message"),
        (SCALARS, pa.struct([("s", pa.struct([]))]), "column 's' is not a message: no struct can be one"),
        (NESTED, pa.struct([("by_name", pa.struct([]))]), "column 'by_name': a map is needed, not a struct of nothing"),
        (NESTED, pa.struct([("by_name", pa.struct([("a", pa.int8())]))]), "a map is needed, not a struct of a"),
        (SCALARS, pa.int32(), "made of structs"),
        (SCALARS, pa.struct([pa.field("s", pa.string()), pa.field("s", pa.string())]), "the same name"),
    ],
)
def test_types_that_no_row_can_have(text: str, kind: pa.DataType, message: str) -> None:
    with pytest.raises(SerializationError, match=message):
        ProtobufFrames(load(Schema(text, "PROTOBUF")), kind)


def test_through_the_encoder() -> None:
    text = HEAD + "message A { int32 n = 1; message In { string s = 1; } }"
    encoder = ColumnarEncoder(Schema(text, "PROTOBUF"), 5, message_type="A.In")
    encoded = encoder.encode(pa.chunked_array([[{"s": "x"}], [{"s": "y"}]], pa.struct([("s", pa.string())])))
    assert encoded.frames.to_pylist() == [
        frame_prefix(5) + b"\x04\x00\x00\x0a\x01x",
        frame_prefix(5) + b"\x04\x00\x00\x0a\x01y",
    ]
    bare = ColumnarEncoder(Schema(text, "PROTOBUF")).encode(pa.array([{"n": 5}], pa.struct([("n", pa.int8())])))
    assert bare.frames.to_pylist() == [b"\x08\x05"]
    made = encoder.encoder(pa.struct([("s", pa.string())]))
    assert isinstance(made, ProtobufFrames)
    assert str(made.plan).startswith("protobuf A.In <- struct<s: string>")
    with pytest.raises(ValueError, match="message_type"):
        ColumnarEncoder(Schema('"string"'), message_type="A")


def test_rows_of_another_type_are_refused(impl: str) -> None:
    made = ProtobufFrames(load(Schema(SCALARS, "PROTOBUF")), pa.struct([("s", pa.string())]), impl=impl)
    with pytest.raises(TypeError, match="not struct<s: string>"):
        made.encode(pa.array([{"s": 1}]))
    assert len(made.encode(pa.chunked_array([], pa.struct([("s", pa.string())]))).frames) == 0
    assert len(made.encode(pa.array([], pa.struct([("s", pa.string())]))).frames) == 0


class Marked(pa.ExtensionType):
    """An extension type that Arrow does not know."""

    def __init__(self, storage: pa.DataType) -> None:
        super().__init__(storage, "tests.marked")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, serialized: bytes) -> Marked:
        return cls(storage)


def marked(array: pa.Array) -> pa.Array:
    return pa.ExtensionArray.from_storage(Marked(array.type), array)


MARKS = """syntax = "proto3"; message M { bytes key = 1; string text = 2; repeated int32 few = 3; In in = 4;
  map<string, In> by_name = 5; repeated In many = 6; optional int32 n = 7; }
  message In { bytes key = 1; string text = 2; }"""
KEYS = [bytes(range(at, at + 16)) for at in range(4)]
AS_TEXTS = [str(uuid.UUID(bytes=key)) for key in KEYS]


def ins(keys: pa.Array, texts: pa.Array, nulls: bool = True) -> pa.Array:
    mask = pa.array([False, False, True, False]) if nulls else None
    return pa.StructArray.from_arrays([keys, texts], ["key", "text"], mask=mask)


def out_of_order(of: Any, items: pa.Array) -> pa.Array:
    """Lists of the last two items, of none, null, and of the first three."""
    kind = pa.int32() if of is pa.ListViewArray else pa.int64()
    mask = pa.array([False, False, True, False])
    return of.from_arrays(pa.array([2, 0, 0, 0], kind), pa.array([2, 0, 1, 3], kind), items, mask=mask)


@pytest.mark.parametrize("start", [0, 1, 3])
@pytest.mark.parametrize("views", [pa.ListViewArray, pa.LargeListViewArray])
def test_views_of_lists_and_extension_types_are_what_they_hold(impl: str, start: int, views: Any) -> None:
    keys, texts = pa.array([KEYS[0], None, *KEYS[2:]], pa.binary(16)), pa.array([AS_TEXTS[0], None, *AS_TEXTS[2:]])
    numbers = pa.array(range(4), pa.int32())
    lists = pa.array([[2, 3], [], None, [0, 1, 2]], pa.list_(pa.int32()))
    plain_in = ins(keys, texts)
    many = pa.ListArray.from_arrays(
        pa.array([0, 2, 2, 2, 5], pa.int32()),
        ins(keys, texts, False).take(pa.array([2, 3, 0, 1, 2])),
        mask=lists.is_null(),
    )
    names, offsets = pa.array(list("abcd")), pa.array([0, 2, 2, 3, 4], pa.int32())
    columns = ["key", "text", "few", "in", "by_name", "many", "n"]
    by_name = pa.MapArray.from_arrays(offsets, names, plain_in.take(pa.array([0, 1, 3, 0])))
    plain = pa.StructArray.from_arrays([keys, texts, lists, plain_in, by_name, many, numbers], columns)
    uuids = keys.cast(pa.uuid())
    strange_in = marked(ins(uuids, uuids))
    strange_map = pa.MapArray.from_arrays(offsets, names, ins(uuids, uuids).take(pa.array([0, 1, 3, 0])))
    strange = pa.StructArray.from_arrays(
        [
            uuids, uuids, out_of_order(views, marked(numbers)), strange_in, strange_map,
            out_of_order(views, ins(uuids, uuids, False)),
            marked(pa.DictionaryArray.from_arrays(numbers.cast(pa.int8()), numbers)),
        ],
        columns,
    )  # fmt: skip
    wanted = encode(impl, MARKS, plain[start:])
    found = encode(impl, MARKS, marked(strange)[start:] if start == 3 else strange[start:])
    assert found.frames.to_pylist() == wanted.frames.to_pylist()
    assert found.errors.null_count == wanted.errors.null_count == 4 - start
