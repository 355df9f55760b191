from __future__ import annotations

from pathlib import Path

import pytest

from kserdes.cli.schema.source.linking import Collection, parse_json, proto_imports
from kserdes.cli.shell.unusable import Unusable
from tests.unit.kserdes.cli.schema.helpers import collection, record, write


def targets(side: Collection, path: str) -> dict[str, str]:
    return {item.name: side.target(item) for item in side.schema(path).references}


# --- Avro


def test_avro_names_lead_to_the_files_that_define_them(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "order.avsc": record("Order", "a:Money", "b:other.Kind", "c:string", namespace="shop"),
            "common/money.avsc": record("Money", "amount:long", namespace="shop"),
            "kinds.avsc": {"type": "enum", "name": "other.Kind", "symbols": ["A"]},
        },
    )
    side = collection(tmp_path)
    assert targets(side, "order.avsc") == {"shop.Money": "common/money.avsc", "other.Kind": "kinds.avsc"}
    reference = side.schema("order.avsc").references[0]
    assert side.owns(reference)
    assert side.resolve(reference).schema_str == (tmp_path / side.target(reference)).read_text()


def test_a_files_own_type_wins_over_one_inside_another(tmp_path: Path) -> None:
    inner = record("Money", "amount:long", namespace="shop")
    write(
        tmp_path,
        {
            "a.avsc": record("Other", {"name": "m", "type": inner}, namespace="shop"),
            "money.avsc": inner,
            "order.avsc": record("Order", "a:Money", namespace="shop"),
        },
    )
    assert targets(collection(tmp_path), "order.avsc") == {"shop.Money": "money.avsc"}


def test_of_a_version_folder_the_newest_is_meant(tmp_path: Path) -> None:
    money = record("Money", "amount:long", namespace="shop")
    write(tmp_path, {f"money/v{number}.avsc": money for number in (1, 9, 10)})
    write(tmp_path, {"order.avsc": record("Order", "a:shop.Money")})
    assert targets(collection(tmp_path), "order.avsc") == {"shop.Money": "money/v10.avsc"}


def test_a_name_with_several_homes_is_ambiguous(tmp_path: Path) -> None:
    money = record("Money", "amount:long")
    write(tmp_path, {"a/x.avsc": money, "b/x.avsc": money, "order.avsc": record("Order", "m:Money")})
    with pytest.raises(Unusable, match=r"defined in several files: a/x\.avsc, b/x\.avsc") as caught:
        collection(tmp_path).schema("order.avsc")
    assert (caught.value.line, caught.value.column) == (7, 15)
    write(tmp_path, {"a/order.avsc": record("Order", "m:Money")})
    assert targets(collection(tmp_path), "a/order.avsc") == {"Money": "a/x.avsc"}


def test_a_name_without_a_home_is_an_error_at_its_place(tmp_path: Path) -> None:
    write(tmp_path, {"order.avsc": record("Order", "id:long", "m:shop.Money"), "broken.avsc": "{"})
    with pytest.raises(Unusable, match=r"shop\.Money is not defined") as caught:
        collection(tmp_path).schema("order.avsc")
    assert (caught.value.kind, caught.value.line, caught.value.column) == ("UNRESOLVED_REFERENCE", 11, 15)


# --- JSON Schema


def test_refs_lead_to_ids_and_to_siblings(tmp_path: Path) -> None:
    refs = [
        "money.json",
        "./sub/b.json#/$defs/x",
        "https://example.com/address",
        "#/$defs/own",
        "https://json-schema.org/draft/2020-12/schema",
    ]
    write(
        tmp_path,
        {
            "d/order.json": {
                "properties": {str(at): {"$ref": ref} for at, ref in enumerate(refs)},
                "$defs": {"own": {}},
            },
            "d/money.json": {},
            "d/sub/b.json": {},
            "far.json": {"$id": "https://example.com/address"},
            "broken.json": "{",
        },
    )
    assert targets(collection(tmp_path), "d/order.json") == {
        "money.json": "d/money.json",
        "./sub/b.json": "d/sub/b.json",
        "https://example.com/address": "far.json",
    }


def test_refs_are_relative_to_the_id(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "order.json": {
                "$id": "https://example.com/schemas/order",
                "$ref": "money",
                "allOf": [{"$ref": "https://example.com/schemas/order#/x"}, {"$ref": "inner"}],
                "$defs": {"i": {"$id": "inner"}},
            },
            "x.json": {"$id": "https://example.com/schemas/money"},
        },
    )
    assert targets(collection(tmp_path), "order.json") == {"money": "x.json"}


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("../secret.json", "leads out of the root"),
        ("a/../../secret.json", "leads out of the root"),
        ("nope.json", "there is no nope.json"),
        ("/etc/passwd", "there is no etc/passwd"),
        ("https://example.com/x", "networks are not asked"),
        ("file:///etc/passwd", "networks are not asked"),
        ("%2e%2e/secret.json", "leads out of the root"),
    ],
)
def test_refs_never_leave_the_folder(tmp_path: Path, reference: str, reason: str) -> None:
    write(tmp_path, {"secret.json": "{}", "root/order.json": {"type": "object", "items": {"$ref": reference}}})
    with pytest.raises(Unusable, match=reason) as caught:
        collection(tmp_path / "root").schema("order.json")
    assert caught.value.line == 4


def test_data_in_a_schema_is_no_reference(tmp_path: Path) -> None:
    write(tmp_path, {"a.json": {"const": {"$ref": "x.json"}, "enum": [{"$ref": "y"}], "default": {"$ref": "z"}}})
    assert targets(collection(tmp_path), "a.json") == {}


def test_names_of_properties_are_no_keywords(tmp_path: Path) -> None:
    names = ["default", "enum", "properties", "$ref", "$id", "x"]
    schema = {"properties": {name: {"items": {"$ref": f"{at}.json"}} for at, name in enumerate(names)}}
    write(tmp_path, {"a.json": schema, **{f"{at}.json": "{}" for at in range(len(names))}})
    assert set(targets(collection(tmp_path), "a.json")) == {f"{at}.json" for at in range(len(names))}


# --- Protobuf

PROTO = """syntax = "proto3";
// import "not/this.proto";
/* import "nor/this.proto"; */
import "common/money.proto";
import public 'b.proto'; import weak "sub/c.proto";
import "google/protobuf/timestamp.proto";
option x = "import";
message A { string import = 1; }
"""


def test_imports_are_found_with_their_places() -> None:
    found = proto_imports(PROTO)
    names = ["common/money.proto", "b.proto", "sub/c.proto", "google/protobuf/timestamp.proto"]
    assert [name for name, _ in found] == names
    assert all(PROTO[offset:].startswith(name) for name, offset in found)


def test_imports_are_files_of_the_root_or_of_a_folder_on_the_way(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"d/a.proto": PROTO, "common/money.proto": "m", "d/b.proto": "b", "b.proto": "root", "d/sub/c.proto": "c"},
    )
    assert targets(collection(tmp_path), "d/a.proto") == {
        "common/money.proto": "common/money.proto",
        "b.proto": "b.proto",
        "sub/c.proto": "d/sub/c.proto",
    }


@pytest.mark.parametrize(
    ("name", "reason"),
    [("../secret.proto", "leads out of the root"), ("nope.proto", "no such file"), ("/a.proto", "leads out")],
)
def test_imports_never_leave_the_folder(tmp_path: Path, name: str, reason: str) -> None:
    write(tmp_path, {"secret.proto": "", "root/a.proto": f'syntax = "proto3";\nimport "{name}";'})
    with pytest.raises(Unusable, match=reason) as caught:
        collection(tmp_path / "root").schema("a.proto")
    assert (caught.value.line, caught.value.column) == (2, 9)


# --- all


def test_types_may_be_set_by_pattern(tmp_path: Path) -> None:
    write(tmp_path, {"legacy/order.json": record("Order", "m:Money"), "money.avsc": record("Money")})
    side = collection(tmp_path, {"legacy/*": "AVRO"})
    assert side.schema("legacy/order.json").schema_type == "AVRO"
    assert targets(side, "legacy/order.json") == {"Money": "money.avsc"}


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [('{"a": NaN}', 1, 1), ('{"a": 1, 2}', 1, 10), ('{\n  "a" 1}', 2, 7), ("[" * 200_000, 1, 1), ("1" * 5000, 1, 1)],
)
def test_json_errors_have_a_place(text: str, line: int, column: int) -> None:
    with pytest.raises(Unusable) as caught:
        parse_json(text)
    assert (caught.value.kind, caught.value.line, caught.value.column) == ("NOT_JSON", line, column)


def test_avro_may_have_comments_and_json_schema_may_not(tmp_path: Path) -> None:
    text = '{"type": "array", // of money\n "items": "Money" /* x */, "doc": "// no"}'
    write(tmp_path, {"a.avsc": text, "a.json": text, "money.avsc": record("Money"), "b.avsc": '"int" //\n,'})
    side = collection(tmp_path)
    assert targets(side, "a.avsc") == {"Money": "money.avsc"}
    assert side.document("a.avsc").value["doc"] == "// no"
    with pytest.raises(Unusable, match="not JSON"):
        side.document("a.json")
    with pytest.raises(Unusable) as caught:
        side.document("b.avsc")
    assert (caught.value.line, caught.value.column) == (2, 1)


def test_nesting_is_bounded_as_in_a_registry(tmp_path: Path) -> None:
    assert parse_json("[" * 1000 + "]" * 1000)
    with pytest.raises(Unusable, match="nested deeper than 1000"):
        parse_json("[" * 1001 + "]" * 1001)
