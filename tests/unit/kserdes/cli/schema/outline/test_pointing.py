from __future__ import annotations

import json

import pytest

from kserdes.cli.schema.outline.pointing import carried, find_name, json_place, proto_place
from tests.unit.kserdes.cli.schema.helpers import record

OLD = record("R", "id:int", "email:string", {"name": "u", "type": ["null", "int", "string"]})
NEW = record("R", {"name": "u", "type": ["int", "null"]}, "id:long")


@pytest.mark.parametrize(
    ("pointer", "steps"),
    [
        (["fields", "0", "type"], ["fields", "1", "type"]),
        (["fields", "1", "type"], ["fields"]),
        (["fields", "2", "type", "0"], ["fields", "0", "type", "1"]),
        (["fields", "2", "type", "2"], ["fields", "0", "type"]),
        (["fields", "7"], ["fields"]),
        (["nope"], []),
        ([], []),
    ],
)
def test_paths_are_carried_over_by_names(pointer: list[str], steps: list[str]) -> None:
    assert carried(pointer, OLD, NEW) == steps


def test_a_path_into_the_file_is_taken_as_it_is() -> None:
    text = json.dumps(NEW, indent=2)
    assert json_place(text, NEW, "/fields/1/type") == (14, 7)
    assert json_place(text, NEW, "#/fields/9/type") == (4, 3)


def test_a_path_into_the_old_schema_is_carried_over() -> None:
    assert json_place(json.dumps(NEW, indent=2), NEW, "/fields/0/type", OLD) == (14, 7)


def test_a_text_in_a_list_is_found_by_itself() -> None:
    schema = {"required": ["id", "0", "note"], "enum": [{"a": ["x"]}]}
    text = json.dumps(schema, indent=1)
    assert json_place(text, schema, "#/required/note") == (5, 3)
    assert json_place(text, schema, "#/required/0") == (4, 3)
    assert json_place(text, schema, "#/enum/0/a/x") == (10, 5)
    assert json_place(text, schema, "#/required/gone") == (2, 2)
    new = {"title": "x", "required": ["note"]}
    assert json_place(json.dumps(new, indent=1), new, "#/required/note", schema) == (4, 3)


PROTO = """syntax = "proto3";
package shop.v1;

message Order {
  // string email = 9;
  string id = 1;
  oneof how {
    int64 card = 2;
  }
  message Line {
    string id = 1;
  }
  enum Kind {
    KIND_A = 0;
  }
}
"""


@pytest.mark.parametrize(
    ("pointer", "line"),
    [
        ("#/Order", 4),
        ("#/Order/1", 6),
        ("#/Order/card", 8),
        ("#/Order/how", 7),
        ("#/shop.v1.Order/2", 8),
        ("#/Order/Line/1", 11),
        ("#/Order.Line/id", 11),
        ("#/Order.Kind/0", 14),
        ("#/Order/99", 4),
        ("#/", 1),
        ("/package", 2),
    ],
)
def test_paths_of_protobuf_are_names_and_numbers(pointer: str, line: int) -> None:
    assert proto_place(PROTO, pointer)[0] == line


def test_a_type_of_another_file_is_where_it_is_used() -> None:
    assert proto_place("message A {\n  shop.v1.Money m = 1;\n}", "#/Money/1") == (2, 11)


def test_without_a_path_the_quoted_name_is_searched() -> None:
    assert proto_place(PROTO, "#/Gone", "field 'card' was removed") == (8, 11)
    assert find_name(PROTO, "nothing quoted") == (1, 1)
    assert find_name(PROTO, "field 'nope' of \"Line\"") == (10, 11)
    assert find_name(PROTO, "'ar'") == (1, 1)
