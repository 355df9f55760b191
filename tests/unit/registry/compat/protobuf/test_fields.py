from __future__ import annotations

from registry.compat.protobuf.fields import Pair, Side, compare_fields
from registry.compat.protobuf.kinds import Change
from registry.schemas.protobuf.model import Field
from registry.schemas.protobuf.reader import read
from registry.schemas.protobuf.types import Types


def side(text: str, place: int = 1) -> Side:
    return Side(Types(read('syntax = "proto3";'), [("o.proto", ("o", place), read(text))]), "", ())


def test_pairs_of_messages_are_handed_back() -> None:
    field = Field(None, "o.A", "x", 1)
    (found,) = compare_fields(
        field, field, side("package o; message A {}", 2), side("package o; message A {}"), ("M", "1")
    )
    assert isinstance(found, Pair)
    assert (found.reader.place, found.writer.place) == (("o", 2), ("o", 1))
    same = side("package o; message A {}")
    assert list(compare_fields(field, field, same, same, ())) == []


def test_an_enum_called_like_a_scalar_is_a_number() -> None:
    odd = side("enum string { V = 0; }")
    text, number = Field(None, "string", "x", 1), Field(None, "int32", "x", 1)
    assert list(compare_fields(text, number, odd, side(""), ())) == []
    (found,) = compare_fields(text, number, side(""), side(""), ())
    assert isinstance(found, Change)
    assert found.kind == "FIELD_SCALAR_KIND_CHANGED"


def test_map_entries_of_descriptors_are_maps() -> None:
    entry = "message E { option map_entry = true; optional string key = 1; optional %s value = 2; }"
    one, other = Field("repeated", "E", "x", 1), Field(None, "map<string, int32>", "x", 1)
    assert list(compare_fields(one, other, side(entry % "int32"), side(""), ())) == []
    (found,) = compare_fields(one, other, side(entry % "string"), side(""), ())
    assert isinstance(found, Change)
    assert found.kind == "FIELD_SCALAR_KIND_CHANGED"
