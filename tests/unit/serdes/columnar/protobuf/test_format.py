"""Protobuf into columns, by the kernel and by the reference: every case has to come out the same from both."""

from __future__ import annotations

import datetime
import struct
import threading
from array import array
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from registry import Schema, SchemaRegistryError
from serdes.columnar import ColumnarDecoder
from serdes.columnar.contract import ColumnOptions, DecodeResult
from serdes.columnar.frames import frames_of
from serdes.columnar.protobuf.format import ProtobufColumns
from serdes.columnar.protobuf.plan import frame_paths
from serdes.errors import SerializationError
from serdes.formats.protobuf.codec import ProtobufSchema, load
from serdes.frames.framing import frame_prefix, pack_indexes

ORDER = (Path(__file__).parents[5] / "schemas" / "order.proto").read_text()
PREFIX = frame_prefix(7)
ORDER_ROW = {
    "id": "o-1",
    "customer_id": 5,
    "score": 0.5,
    "created_at": datetime.datetime(2026, 3, 14, 15, 9, 26, 535000, tzinfo=datetime.UTC),
    "status": "PAID",
    "coupon": None,
    "tags": ["a", ""],
    "total_cents": -300,
    "address": {"city": "Köln", "postcode": ""},
    "quantity": -1,
    "gift": True,
    "weight_kg": 0.0,
}


@pytest.fixture(params=["pure", "native"])
def impl(request: pytest.FixtureRequest) -> str:
    if request.param == "native":
        pytest.importorskip("serdes.kernels.native.protobuf_columns")
    return str(request.param)


def num(number: int, value: int) -> bytes:
    """A field that is a number."""
    out = bytearray()
    for left in (number << 3, value % 2**64):
        while left > 0x7F:
            out.append(left & 0x7F | 0x80)
            left >>= 7
        out.append(left)
    return bytes(out)


def sub(number: int, *parts: bytes) -> bytes:
    """A field that is text or a message, of at most 127 bytes."""
    inside = b"".join(parts)
    assert len(inside) < 128
    return bytes([number << 3 | 2, len(inside)]) + inside


def schema(text: str) -> ProtobufSchema:
    return load(Schema(text, "PROTOBUF"))


def read(
    impl: str, text: str, payloads: list[str | bytes | None], path: bytes = b"\x00", **options: Any
) -> DecodeResult:
    """Payloads (bytes, or hexadecimal digits) behind id 7 and a path, read with their own schema."""
    rows = [bytes.fromhex(one) if isinstance(one, str) else one for one in payloads]
    frames = [None if row is None else PREFIX + path + row for row in rows]
    return read_frames(impl, schema(text), frames, ColumnOptions(**options))


def read_frames(
    impl: str, reader: ProtobufSchema, rows: list[bytes | None], options: ColumnOptions, headers: Any = None
) -> DecodeResult:
    columns = ProtobufColumns(impl)
    frames = frames_of(pa.array(rows, pa.binary()), headers, impl)
    plan = columns.plan(reader, reader, options)
    made = columns.decode(frames, [plan], frames.plan_of_row([0] * len(frames.names())), options)
    made.struct.validate(full=True)
    assert made.struct.type == columns.arrow_type(reader, options)
    return made


def values(impl: str, text: str, *payloads: str | bytes | None, **options: Any) -> list[Any]:
    made = read(impl, text, list(payloads), **options)
    assert made.errors.null_count == len(payloads), made.errors
    return list(made.struct.to_pylist())


def error(impl: str, text: str, payload: str | bytes, **options: Any) -> str:
    """The error of a row between two that are fine: these must not notice."""
    good = values(impl, text, FILLED.get(text, ""), **options)[0]
    made = read(impl, text, [FILLED.get(text, ""), payload, FILLED.get(text, "")], **options)
    assert made.struct.to_pylist() == [good, None, good]
    assert [one is None for one in made.errors.to_pylist()] == [True, False, True]
    return str(made.errors[1])


def order() -> bytes:
    from google.protobuf.message_factory import GetMessageClass

    made: Any = GetMessageClass(schema(ORDER).file.message_types_by_name["Order"])()
    for name, value in ORDER_ROW.items():
        if name == "created_at":
            made.created_at.FromDatetime(value)
        elif name == "address":
            made.address.city = "Köln"
        elif name == "tags":
            made.tags.extend(value)
        elif name == "status":
            made.status = 1
        elif value is not None:
            setattr(made, name, value)
    return bytes(made.SerializeToString())


SCALARS = """syntax = "proto2"; message M {
  optional double d = 1; optional float f = 2; optional int64 i64 = 3; optional uint64 u64 = 4; optional int32 i32 = 5;
  optional fixed64 x64 = 6; optional fixed32 x32 = 7; optional bool b = 8; optional string s = 9; optional bytes y = 10;
  optional uint32 u32 = 11; optional sfixed32 s32 = 12; optional sfixed64 s64 = 13; optional sint32 z32 = 14;
  optional sint64 z64 = 15; }"""
REPEATED = """syntax = "proto2"; message M { repeated int32 n = 1; repeated int32 p = 2 [packed = true];
  repeated fixed32 x = 3; repeated string s = 4; repeated M2 m = 5; } message M2 { optional int32 a = 1;
  repeated int32 b = 2; }"""
NESTED = """syntax = "proto3"; message M { In one = 1; repeated In many = 2; map<string, In> by_name = 3;
  oneof which { int32 n = 4; string s = 5; In held = 6; } int32 last = 7; }
  message In { int32 a = 1; string t = 2; repeated string tags = 3; oneof c { int32 x = 4; string y = 5; } }"""
ENUMS = """syntax = "proto2"; enum C { A = 0; B = 5; } message M { optional C one = 1; repeated C many = 2;
  map<int32, C> by_id = 3; oneof o { C in = 4; int32 n = 5; } }"""
OPEN = 'syntax = "proto3"; enum C { A = 0; B = 5; ALSO = -2; } message M { C one = 1; repeated C many = 2; }'
REQUIRED = """syntax = "proto2"; message M { required int32 id = 1; optional In in = 2; repeated In many = 3; }
  message In { required string s = 1; optional int32 n = 2; }"""
GROUPS = """syntax = "proto2"; message M { optional group G = 1 { optional int32 a = 1; repeated string s = 2; }
  repeated group H = 2 { optional int32 a = 1; } }"""
KNOWN = """syntax = "proto3"; import "google/protobuf/timestamp.proto"; import "google/protobuf/duration.proto";
  import "google/protobuf/wrappers.proto"; import "google/protobuf/struct.proto"; import "google/protobuf/any.proto";
  message M { google.protobuf.Timestamp t = 1; google.protobuf.Duration d = 2; google.protobuf.Int64Value i = 3;
  google.protobuf.StringValue s = 4; repeated google.protobuf.BoolValue bs = 5; google.protobuf.Struct st = 6;
  google.protobuf.Any any = 7; repeated google.protobuf.Value vs = 8; repeated google.protobuf.Timestamp ts = 9; }"""
EDITION = """edition = "2023"; message M { int32 imp = 1 [features.field_presence = IMPLICIT]; int32 exp = 2;
  In g = 3 [features.message_encoding = DELIMITED]; repeated int32 r = 4; C c = 5; }
  message In { int32 a = 1 [features.field_presence = LEGACY_REQUIRED]; }
  enum C { option features.enum_type = CLOSED; NO = 0; YES = 1; }"""
FILLED = {REQUIRED: "0801"}
"""The message before and behind a bad row, where an empty one would not do."""


def test_the_order_record(impl: str) -> None:
    assert values(impl, ORDER, order(), None) == [ORDER_ROW, None]
    empty = values(impl, ORDER, b"")[0]
    assert empty == {
        **dict.fromkeys(("created_at", "coupon", "address", "weight_kg")),
        "id": "",
        "customer_id": 0,
        "score": 0.0,
        "status": "NEW",
        "tags": [],
        "total_cents": 0,
        "quantity": 0,
        "gift": False,
    }


def test_null_frames_are_null_rows_without_error(impl: str) -> None:
    made = read(impl, ORDER, [None, b"", None])
    assert made.struct.is_null().to_pylist() == [True, False, True]
    assert pc.struct_field(made.struct, "id").to_pylist() == [None, "", None]
    if impl == "native":  # what is in a null row is null itself
        assert made.struct.field("id").to_pylist() == [None, "", None]
    assert made.errors.null_count == 3


@pytest.mark.parametrize(
    ("field", "payload", "value"),
    [
        ("d", "09000000000000f03f", 1.0),
        ("f", "150000c03f", 1.5),
        ("i64", "18ffffffffffffffffff01", -1),
        ("u64", "20ffffffffffffffffff01", 2**64 - 1),
        ("i32", "28feffffffffffffffff01", -2),
        ("i32", "28ffffffff1f", -1),
        ("x64", "310100000000000080", 2**63 + 1),
        ("x32", "3d010000ff", 0xFF000001),
        ("b", "4080808001", True),
        ("s", "4a02c3a4", "ä"),
        ("y", "5202ff00", b"\xff\x00"),
        ("u32", "58ffffffff0f", 2**32 - 1),
        ("s32", "65feffffff", -2),
        ("s64", "69feffffffffffffff", -2),
        ("z32", "7003", -2),
        ("z32", "70ffffffff0f", -(2**31)),
        ("z64", "78ffffffffffffffffff01", -(2**63)),
        ("i32", "28012802", 2),
        ("s", "4a03616263" + "4a0178", "x"),
        ("s", "4a03616263" + "4a00", ""),
    ],
)
def test_every_scalar(impl: str, field: str, payload: str, value: Any) -> None:
    found = values(impl, SCALARS, payload)[0]
    assert found.pop(field) == value
    assert set(found.values()) == {None}


def test_repeated_fields_in_any_form(impl: str) -> None:
    found = values(impl, REPEATED, "0801" + "10020a020304" + "1203050607" + "1a04010000001d02000000" + "08ff01", "")
    assert found[0] == {"n": [1, 3, 4, 255], "p": [2, 5, 6, 7], "x": [1, 2], "s": [], "m": []}
    assert found[1] == {"n": [], "p": [], "x": [], "s": [], "m": []}
    assert values(impl, REPEATED, "2a0410011002" + "22012a" + "2a00")[0]["m"] == [
        {"a": None, "b": [1, 2]},
        {"a": None, "b": []},
    ]


def test_a_message_in_parts_is_merged(impl: str) -> None:
    first = sub(1, num(1, 1), sub(2, b"t"), sub(3, b"x"))
    second = sub(1, num(1, 2), sub(2, b""), sub(3, b""), sub(3, b"z"))
    merged = {"a": 2, "t": "", "tags": ["x", "", "z"], "x": None, "y": None}
    found = values(impl, NESTED, first + num(7, 1) + second)[0]
    assert (found["one"], found["last"]) == (merged, 1)
    cleared = values(impl, NESTED, sub(1, num(4, 9)) + sub(1, sub(5, b"a")))[0]["one"]
    assert (cleared["x"], cleared["y"]) == (None, "a")


def test_the_last_member_of_a_oneof_counts(impl: str) -> None:
    def which(*parts: bytes) -> tuple[Any, Any, Any]:
        found = values(impl, NESTED, b"".join(parts))[0]
        return found["n"], found["s"], found["held"]

    held = {"a": 0, "t": "", "tags": ["q"], "x": None, "y": None}
    one = sub(6, num(1, 1), sub(2, b"t"), sub(3, b"p"))
    other = sub(6, sub(3, b"q"))
    assert which(num(4, 5)) == (5, None, None)
    assert which(num(4, 5), sub(5, b"a")) == (None, "a", None)
    assert which(sub(5, b"a"), num(4, 0)) == (0, None, None)
    assert which(one, num(4, 5), other) == (None, None, held)
    assert which(sub(6, sub(3, b"p")), other)[2]["tags"] == ["p", "q"]
    assert which(one, sub(5, b"a"), num(4, 1), other) == (None, None, held)


def test_text_of_proto2_is_judged_when_it_counts(impl: str) -> None:
    assert values(impl, SCALARS, sub(9, b"\xff") + sub(9, b"a"))[0]["s"] == "a"
    assert "not UTF-8" in error(impl, SCALARS, sub(9, b"a") + sub(9, b"\xff"))
    assert "not UTF-8" in error(impl, REPEATED, sub(4, b"\xff"))
    assert error(impl, NESTED, sub(5, b"\xff") + sub(5, b"a")).startswith("schema id 7")


def test_maps_keep_the_last_value_of_a_key(impl: str) -> None:
    def by_name(*parts: bytes) -> Any:
        return sorted(values(impl, NESTED, b"".join(parts))[0]["by_name"])

    plain = {"t": "", "tags": [], "x": None, "y": None}
    entries = [sub(3, sub(1, b"a"), sub(2, num(1, 1))), sub(3, sub(1, b"b"), sub(2, num(1, 2)))]
    entries.append(sub(3, sub(1, b"a"), sub(2, num(1, 3))))
    assert by_name(*entries) == [("a", {"a": 3, **plain}), ("b", {"a": 2, **plain})]
    assert by_name(sub(3)) == [("", {"a": 0, **plain})]
    value_first = sub(3, sub(2, num(1, 1)), sub(1, b"z"), sub(1, b"a"), sub(2, sub(2, b"t")))
    assert by_name(value_first) == [("a", {"a": 1, **plain, "t": "t"})]


def test_overwritten_fields_are_not_judged(impl: str) -> None:
    text = """syntax = "proto2"; message M { optional Z z = 1; }
      message In { required int32 a = 1; repeated In2 many = 2; }
      message In2 { required int32 b = 1; }
      message Z { map<int32, In> by_id = 1; oneof o { In held = 2; int32 n = 3; } }"""
    bad = sub(1, num(1, 5), sub(2))
    fine = sub(1, num(1, 5), sub(2, num(1, 7)))
    assert values(impl, text, sub(1, bad, fine))[0]["z"]["by_id"] == [(5, {"a": 7, "many": []})]
    assert "required" in error(impl, text, sub(1, fine, bad))
    cleared = sub(1, sub(2, num(1, 1), sub(2)), num(3, 9))
    assert values(impl, text, cleared)[0]["z"]["n"] == 9


def test_a_map_with_many_equal_keys(impl: str) -> None:
    entry = "1a050a0161" + "1200"
    assert len(values(impl, NESTED, entry * 2000)[0]["by_name"]) == 1
    different = b"".join(b"\x1a\x07\x0a\x05" + b"%05d" % at for at in range(3000))
    assert len(values(impl, NESTED, different)[0]["by_name"]) == 3000


def test_entries_with_unknown_fields_are_unknown_fields(impl: str) -> None:
    assert values(impl, NESTED, "1a050a01611801")[0]["by_name"] == []
    assert values(impl, ENUMS, "1a0408011007" + "1a0408021005")[0]["by_id"] == [(2, "B")]


def test_closed_enums_take_no_other_numbers(impl: str) -> None:
    assert values(impl, ENUMS, "0805" + "0807")[0]["one"] == "B"
    found = values(impl, ENUMS, "0807" + "1000100710051203000705")[0]
    assert (found["one"], found["many"]) == (None, ["A", "B", "A", "B"])
    assert values(impl, ENUMS, "2801" + "2007")[0]["n"] == 1, "an unknown number does not take the oneof"
    assert values(impl, ENUMS, "2801" + "2005")[0]["in"] == "B"


def test_open_enums_keep_numbers_without_a_name(impl: str) -> None:
    assert values(impl, OPEN, "0809" + "12040005fe01", "", enums="name") == [
        {"one": "9", "many": ["A", "B", "254"]},
        {"one": "A", "many": []},
    ]
    assert values(impl, OPEN, "08feffffffffffffffff01")[0]["one"] == "ALSO"
    assert values(impl, OPEN, "0809", enums="number")[0]["one"] == 9


def test_groups(impl: str) -> None:
    found = values(impl, GROUPS, "0b" + "0805" + "120161" + "0c" + "13" + "14" + "13" + "0801" + "14" + "0b1201620c")[0]
    assert found == {"g": {"a": 5, "s": ["a", "b"]}, "h": [{"a": None}, {"a": 1}]}
    assert "group" in error(impl, GROUPS, "0b080514") or impl == "pure"
    assert values(impl, GROUPS, "0a020805")[0]["g"] is None, "a group with a length is an unknown field"


def test_editions(impl: str) -> None:
    assert values(impl, EDITION, "", "1b08011c2202070828022801") == [
        {"imp": 0, "exp": None, "g": None, "r": [], "c": None},
        {"imp": 0, "exp": None, "g": {"a": 1}, "r": [7, 8], "c": "YES"},
    ]
    assert "required" in error(impl, EDITION, "1b1c")


def test_well_known_types(impl: str) -> None:
    text = sub(1, num(1, 100_000), num(2, 31)) + sub(3) + sub(4, sub(1)) + sub(5, num(1, 1)) + sub(5) + sub(6)
    first, second = values(impl, KNOWN, text, sub(1))
    assert first["t"] == datetime.datetime(1970, 1, 2, 3, 46, 40, tzinfo=datetime.UTC)
    assert (first["i"], first["s"], first["bs"], first["st"]) == (0, "", [True, False], "{}")
    assert second["t"] == datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    assert second["s"] is None
    parts = sub(2, num(1, 5)) + sub(2, num(2, 7))
    assert values(impl, KNOWN, parts)[0]["d"] == datetime.timedelta(seconds=5)
    merged = read(impl, KNOWN, [parts], time_unit="ns").struct.field("d").cast(pa.int64())
    assert merged.to_pylist() == [5_000_000_007]
    below = read(impl, KNOWN, [sub(2, num(1, -1), num(2, -1500))]).struct.field("d").cast(pa.int64())
    assert below.to_pylist() == [-1_000_001]


def test_messages_of_any_content_are_json_text(impl: str) -> None:
    one = sub(6, sub(1, sub(1, b"a"), sub(2, b"\x11" + struct.pack("<d", 1.5))))
    other = sub(6, sub(1, sub(1, b"b"), sub(2, num(4, 1))))
    assert values(impl, KNOWN, one + other)[0]["st"] == '{"a":1.5,"b":true}'
    assert values(impl, KNOWN, sub(8, sub(3)) + sub(8, num(1, 0)) + sub(8))[0]["vs"] == ['""', "null", "null"]
    assert values(impl, KNOWN, sub(7, sub(1, b"x/y"), sub(2, b"z")))[0]["any"] == '{"@type":"x/y","value":"eg=="}'
    for parts in (one + sub(6, b"\x0a\x7f") + other, sub(6, b"\x0a\x05") + one, sub(8, sub(3, b"\xff"))):
        assert error(impl, KNOWN, parts).startswith("schema id 7")
    not_finite = sub(8) + sub(8, b"\x11" + struct.pack("<d", float("nan")))
    assert "the google.protobuf.Value can't be JSON text" in error(impl, KNOWN, not_finite)
    assert error(impl, KNOWN, sub(8, b"\xff\xff")).startswith("schema id 7")


@pytest.mark.parametrize(
    ("payload", "unit"),
    [
        (sub(1, num(1, 253_402_300_800)), "us"),
        (sub(1, num(1, -62_135_596_801)), "us"),
        (sub(1, num(2, 1_000_000_000)), "us"),
        (sub(1, num(2, -1)), "us"),
        (sub(2, num(1, 1), num(2, -1)), "us"),
        (sub(2, num(1, 315_576_000_001)), "us"),
        (sub(1, num(1, 9_223_372_036)), "ns"),
        (sub(9) + sub(9, num(2, 1_000_000_000)), "us"),
    ],
)
def test_times_that_are_none(impl: str, payload: bytes, unit: str) -> None:
    assert "out of range" in error(impl, KNOWN, payload, time_unit=unit)


def test_a_time_is_judged_when_all_of_it_is_there(impl: str) -> None:
    found = values(impl, KNOWN, sub(1, num(2, 1_000_000_000)) + sub(1, num(2, 1000)))[0]["t"]
    assert found == datetime.datetime(1970, 1, 1, microsecond=1, tzinfo=datetime.UTC)


def test_required_fields(impl: str) -> None:
    parts = num(1, 1) + sub(2, num(2, 1)) + sub(2, sub(1, b"a"))
    assert values(impl, REQUIRED, parts)[0]["in"] == {"s": "a", "n": 1}
    assert error(impl, REQUIRED, b"").startswith("schema id 7, at id: the required field is missing")
    assert error(impl, REQUIRED, num(1, 1) + sub(2, num(2, 1))).startswith("schema id 7, at in.s: ")
    listed = num(1, 1) + sub(3, sub(1, b"a")) + sub(3)
    assert error(impl, REQUIRED, listed).startswith("schema id 7, at many[1].s: ")


def test_a_value_of_another_wire_type_is_an_unknown_field(impl: str) -> None:
    assert values(impl, SCALARS, "2d01000000" + "4805" + "0801")[0] == dict.fromkeys(
        schema(SCALARS).file.message_types_by_name["M"].fields_by_name
    )


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (b"\x08", "the payload ends inside a value, at byte 0"),
        (b"\x12\x05\x08\x01", "at many: the payload ends inside a value, at byte 0"),
        (sub(2) + sub(2, b"\x1a\x05"), "at many[1].tags: the payload ends inside a value, at byte 4"),
        (sub(2) + sub(2, sub(2, b"\xc3\x28")), "at many[1].t: text that is not UTF-8, at byte 6"),
        (sub(1, sub(2, b"\xed\xa0\x80")), "at one.t: text that is not UTF-8"),
        (sub(3, sub(1, b"a"), sub(2, b"\x08")), "at by_name[0].value.a: the payload ends inside a value"),
        (b"\x20" + b"\xff" * 10 + b"\x01", "at n: a number of more than ten bytes"),
        (b"\x00", "no field has such a tag, at byte 0"),
        (b"\x07", "no field has such a tag"),
        (b"\x3c", "the end of a group that was not open"),
        (b"\xfb\x01" * 101 + b"\xfc\x01" * 101, "nested deeper than 100 levels"),
        (b"\xfb\x01\x0c", "the end of a group that was not open"),
    ],
)
def test_damage_costs_its_row_and_says_where(impl: str, payload: bytes, message: str) -> None:
    found = error(impl, NESTED, payload)
    assert found.startswith("schema id 7")
    if impl == "native":
        assert message in found
    else:
        assert "is not a message of type M" in found


def test_groups_of_a_hundred_levels_are_skipped(impl: str) -> None:
    assert values(impl, NESTED, "fb01" * 100 + "fc01" * 100 + "3805")[0]["last"] == 5


# --- plans


def test_columns_that_are_wanted(impl: str) -> None:
    payload = sub(1, num(1, 1), sub(2, b"t")) + num(7, 5) + sub(2, num(1, 1))
    assert values(impl, NESTED, payload, columns=("one.t", "last")) == [{"one": {"t": "t"}, "last": 5}]
    other = sub(5, b"a") + num(4, 5)
    assert values(impl, NESTED, other, columns=("s",)) == [{"s": None}], "the oneof has another member"
    entry = sub(3, sub(1, b"a"), sub(2, num(1, 1), sub(2, b"t")))
    assert values(impl, NESTED, entry, columns=("by_name.a",)) == [{"by_name": [("a", {"a": 1})]}]
    assert values(impl, NESTED, payload, columns=("many.a", "many"))[0]["many"][0]["tags"] == []
    with pytest.raises(SerializationError, match="no field of this name"):
        values(impl, NESTED, "", columns=("one.z",))
    with pytest.raises(SerializationError, match="'last' is not a message"):
        values(impl, NESTED, "", columns=("last.z",))


RECURSIVE = 'syntax = "proto3"; message M { int32 n = 1; M next = 2; repeated M many = 3; map<int32, M> by_id = 4; }'


def test_types_that_hold_themselves(impl: str) -> None:
    with pytest.raises(SerializationError, match="recursive_max_depth"):
        values(impl, RECURSIVE, "")
    assert values(impl, RECURSIVE, "0801120208021a020803", recursive_max_depth=1) == [{"n": 1}]
    assert values(impl, RECURSIVE, "08011206080212020803", recursive_max_depth=2)[0] == {
        "n": 1,
        "next": {"n": 2},
        "many": [],
        "by_id": [],
    }


def test_types_without_end_are_refused(impl: str) -> None:
    wide = " ".join(f"M f{at} = {at + 1};" for at in range(30))
    with pytest.raises(SerializationError, match="10,000 fields"):
        values(impl, f'syntax = "proto3"; message M {{ {wide} }}', "", recursive_max_depth=5)


SEVERAL = """syntax = "proto3"; package p; message A { message Entry { int32 e = 1; } map<int32, int32> m = 1;
  message In { int32 n = 1; } } message B { string s = 1; }"""


def test_the_frame_names_the_message_type(impl: str) -> None:
    reader = schema(SEVERAL)
    rows: list[bytes | None] = [PREFIX + pack_indexes([1]) + b"\x0a\x01x", PREFIX + b"\x00", PREFIX + b"\x04", PREFIX]
    rows += [PREFIX + pack_indexes([5]), PREFIX + b"\x02\x02\x0a\x00"]
    found = read_frames(impl, reader, rows, ColumnOptions(message_type="B"))
    assert found.struct.to_pylist() == [{"s": "x"}, None, None, None, None, {"s": ""}]
    errors = found.errors.to_pylist()
    assert errors[1] == "schema id 7: the frame has a message of type p.A, not p.B"
    assert "path of" in errors[2]
    assert "path of" in errors[3]
    assert "message type [5] is not there" in errors[4]


@pytest.mark.parametrize("path", [[0, 1], [0, 2]])
def test_paths_of_python_and_of_java(impl: str, path: list[int]) -> None:
    """Java does not count the type that protoc makes of a map."""
    frame = PREFIX + pack_indexes(path) + b"\x08\x05"
    names = [one.name for one in schema(SEVERAL).file.message_types_by_name["A"].nested_types]
    assert sorted(names) == ["Entry", "In", "MEntry"]
    found = read_frames(impl, schema(SEVERAL), [frame], ColumnOptions(message_type="p.A.In"))
    wanted = {names.index("In"), [name for name in names if name != "MEntry"].index("In")}
    assert (found.errors.null_count == 1) == (path[1] in wanted)


def test_delimited_fields_of_editions_move_no_path(impl: str) -> None:
    """A row of the type that such a field has is not one of the type behind it."""
    text = """edition = "2023"; message O {
      message A { int32 a = 1; }
      A a = 1 [features.message_encoding = DELIMITED];
      message B { int32 b = 1; }
    }"""
    rows: list[bytes | None] = [PREFIX + pack_indexes(path) + b"\x08\x05" for path in ([0, 0], [0, 1])]
    found = read_frames(impl, schema(text), rows, ColumnOptions(message_type="O.B"))
    assert found.struct.to_pylist() == [None, {"b": 5}]


def test_ids_and_paths_in_headers(impl: str) -> None:
    headers = pa.array([PREFIX + b"\x02\x02", None, b"\x01" + bytes(16) + b"\x00"], pa.binary())
    rows: list[bytes | None] = [b"\x0a\x01x", PREFIX + b"\x02\x02\x0a\x01y", b"\x0a\x01z"]
    found = read_frames(impl, schema(SEVERAL), rows, ColumnOptions(message_type="B"), headers)
    assert found.struct.to_pylist() == [{"s": "x"}, {"s": "y"}, None]
    assert found.errors[2].as_py() == f"schema GUID {'00' * 16}: the frame has a message of type p.A, not p.B"


def test_schemas_without_the_message_type_have_no_plan(impl: str) -> None:
    columns = ProtobufColumns(impl)
    with pytest.raises(SerializationError, match=r"no message type M, which is read; it has p\.A, p\.B"):
        columns.plan(schema(SEVERAL), schema(SCALARS), ColumnOptions())
    with pytest.raises(SerializationError, match="no message type"):
        columns.arrow_type(schema('syntax = "proto3";'), ColumnOptions())


def test_fields_are_found_by_number(impl: str) -> None:
    """A newer writer: a field renamed, one added, one dropped, int32 as int64."""
    old = schema('syntax = "proto3"; message M { int32 a = 1; string b = 2; int32 c = 3; }')
    columns = ProtobufColumns(impl)
    plan = columns.plan(
        schema('syntax = "proto3"; message M { int64 z = 1; int32 c = 3; bytes d = 4; }'), old, ColumnOptions()
    )
    frames = frames_of(pa.array([PREFIX + bytes.fromhex("000805180922027979")], pa.binary()), impl=impl)
    found = columns.decode(frames, [plan], frames.plan_of_row([0]), ColumnOptions())
    assert found.struct.to_pylist() == [{"a": 5, "b": "", "c": 9}]


def test_a_plan_can_be_read() -> None:
    text = str(ProtobufColumns().plan(schema(NESTED), schema(NESTED), ColumnOptions(columns=("one.t", "many"))))
    assert text.splitlines()[0] == "protobuf M, message type [0] of the writer's schema"
    assert "    1 one message In -> struct<t: string>" in text
    assert "    4 n int32 oneof which -> skipped" in text


def test_through_the_decoder(impl: str) -> None:
    """Two writers, one of them without the message type; what no schema is known of; a projection."""
    known = {1: Schema(SEVERAL, "PROTOBUF"), 2: Schema(SCALARS, "PROTOBUF")}

    def resolve(schema_id: int) -> Schema:
        if schema_id not in known:
            raise SchemaRegistryError(404, 40403, "Schema not found")
        return known[schema_id]

    options = ColumnOptions(message_type="p.B")
    decoder = ColumnarDecoder(resolve, known[1], columns=("s",), options=options, impl=impl)
    rows = [frame_prefix(1) + b"\x02\x02\x0a\x01x", frame_prefix(2) + b"\x00", frame_prefix(3) + b"\x00", b"junk", None]
    made = decoder.decode(pa.array(rows, pa.binary()))
    assert made.struct.to_pylist() == [{"s": "x"}, None, None, None, None]
    errors = made.errors.to_pylist()
    assert (errors[0], errors[4]) == (None, None)
    assert "schema id 2: the schema has no message type p.B" in errors[1]
    assert "not found" in errors[2]
    assert "magic byte" in errors[3]


# --- bounds


def test_a_row_may_not_take_more_than_it_is_allowed() -> None:
    pytest.importorskip("serdes.kernels.native.protobuf_columns")
    assert "max_row_bytes" in error("native", REPEATED, "2a00" * 1000, max_row_bytes=8_000)
    assert "max_row_bytes" in error("native", REPEATED, b"\x22\x90\x4e" + b"x" * 10_000, max_row_bytes=9_000)
    assert values("native", REPEATED, "2a00" * 1000, max_row_bytes=9_000)[0]["n"] == []


@pytest.mark.parametrize("wide", [0, 1])
def test_numbers_of_another_width_are_refused_by_the_kernel(monkeypatch: pytest.MonkeyPatch, wide: int) -> None:
    pytest.importorskip("serdes.kernels.native.protobuf_columns")

    def paths_of(plans: Any) -> list[Any]:
        return [array("q", each) if at == wide else each for at, each in enumerate(frame_paths(plans))]

    monkeypatch.setattr("serdes.columnar.protobuf.format.frame_paths", paths_of)
    with pytest.raises(ValueError, match="native ints of 32 bits"):
        values("native", REPEATED, "2a00")


def test_nor_without_kernels() -> None:
    for payload in ("2a00" * 1000, b"\x22\x90\x4e" + b"x" * 10_000):
        assert "max_row_bytes" in error("pure", REPEATED, payload, max_row_bytes=5_000)
        assert len(values("pure", REPEATED, payload, max_row_bytes=100_000)) == 1


def test_threads_share_a_plan(impl: str) -> None:
    reader = schema(ORDER)
    rows: list[bytes | None] = [PREFIX + b"\x00" + order()] * 200
    found: list[Any] = []

    def run() -> None:
        found.append(read_frames(impl, reader, rows, ColumnOptions()).struct)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(one.equals(found[0]) for one in found)
