from __future__ import annotations

import pytest

from registry import InvalidSchemaError, Schema
from registry.compat import check
from registry.schemas.protobuf.format import canonical, to_serialized, to_text
from registry.schemas.protobuf.reader import read
from registry.schemas.protobuf.types import LOCAL, Types

OWN = read(
    """syntax = "proto3"; package p.q; message A { message B {} enum E { V = 0; } repeated TEntry t = 1;
    message TEntry { option map_entry = true; string key = 1; int32 value = 2; } } message C { message A {} }
    extend google.protobuf.FieldOptions { string tag = 50000; }"""
)
OTHER = read('syntax = "proto3"; package o; message X {} message A {}')
TYPES = Types(OWN, [("o.proto", ("o", 2), OTHER), ("inner.proto", None, read("package i; message Y {}"))])


def test_names_are_looked_for_from_inside_out() -> None:
    assert TYPES.resolve("B", ("A",)) == "p.q.A.B"
    assert TYPES.resolve("A", ("C",)) == "p.q.C.A"
    assert TYPES.resolve("A", ("A",)) == "p.q.A"
    assert TYPES.resolve(".p.q.A", ("C",)) == "p.q.A"
    assert TYPES.resolve("A", (), "o") == "o.A"
    assert TYPES.resolve("o.X", ("A", "B")) == "o.X"
    assert TYPES.resolve("q.A", ()) is None
    assert TYPES.resolve("Nowhere", ()) is None


def test_where_types_come_from() -> None:
    places = {name: info.place for name in ("p.q.A", "o.X", "i.Y") if (info := TYPES.find(name))}
    assert places == {"p.q.A": LOCAL, "o.X": ("o", 2), "i.Y": None}
    found = TYPES.find("p.q.A.B")
    assert found is not None
    assert (found.local_name, found.scope, found.package) == ("A.B", ("A", "B"), "p.q")


def test_map_entries_are_known() -> None:
    entry = TYPES.find("p.q.A.TEntry")
    assert entry is not None
    assert entry.map_entry == ("string", "int32")


def test_built_in_types_need_no_import_and_give_way_to_references() -> None:
    assert TYPES.resolve("google.protobuf.Timestamp", ("A",)) == "google.protobuf.Timestamp"
    assert TYPES.resolve("confluent.type.Decimal", ()) is not None
    replaced = Types(OWN, [("google/protobuf/timestamp.proto", ("t", 1), read("message Other {}"))])
    assert replaced.resolve("google.protobuf.Timestamp", ()) is None


def test_extensions() -> None:
    assert TYPES.resolve_extension("tag", ("A",)) == "p.q.tag"
    assert TYPES.resolve_extension("confluent.field_meta", ()) == "confluent.field_meta"
    assert TYPES.resolve_extension("nothing", ()) is None


def test_types_called_like_scalars_are_noticed() -> None:
    assert not TYPES.shadows
    assert Types(read('syntax = "proto3"; enum int32 { V = 0; }'), []).shadows


# ---- format


def proto(text: str) -> Schema:
    return Schema(f'syntax = "proto3"; {text}', "PROTOBUF")


def test_canonical_and_serialized_forms() -> None:
    schema = proto(
        'import "google/protobuf/timestamp.proto"; message B { google.protobuf.Timestamp t = 2; int32 x = 1; }'
    )
    assert canonical(schema, [], normalize=True) == (
        'syntax = "proto3";\n\nimport "google/protobuf/timestamp.proto";\n\n'
        "message B {\n  int32 x = 1;\n  .google.protobuf.Timestamp t = 2;\n}\n"
    )
    encoded = Schema(to_serialized(schema), "PROTOBUF")
    assert canonical(encoded, [], normalize=True) == canonical(schema, [], normalize=True)
    assert to_text(encoded).startswith('syntax = "proto3";\n\nimport')
    assert check(encoded, [schema], "FULL").compatible


def test_registering_refuses_names_that_mean_nothing() -> None:
    with pytest.raises(InvalidSchemaError, match='type "Gone" is not defined'):
        canonical(proto("message A { Gone x = 1; }"), [], normalize=False)
