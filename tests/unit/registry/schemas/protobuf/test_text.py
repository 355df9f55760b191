from __future__ import annotations

import pytest

from registry import InvalidSchemaError
from registry.schemas.protobuf.reader import read
from registry.schemas.protobuf.sources import BUILT_IN_NAMES, built_in
from registry.schemas.protobuf.text import text_of
from registry.schemas.protobuf.types import Types

CANONICAL = """\
syntax = "proto2";
package p;

import "b.proto";
import public "a.proto";

option java_package = "j";

message A {
  reserved 9, 11 to 12, "old";

  option deprecated = true;

  required int32 x = 2 [default = 5];
  optional bytes b = 4 [
    deprecated = true,
    default = "b",
    json_name = "B"
  ];
  map<string, A.B> m = 1;

  oneof o {
    string y = 3;
  }

  optional group G = 5 {
    optional int32 z = 1;
  }

  extensions 100 to max;

  extend A {
    optional A e = 100;
  }

  message B {
    optional E e = 1;
  \n    message C {}
  }
  enum E {
    reserved 7;
    W = 1;
    V = 0;
  }
}

extend A {
  optional bool f = 101;
}

service S {
  rpc R (A) returns (stream A);
  rpc Q (A) returns (A) {
    option deprecated = true;
  };
}
"""

NORMAL = """\
package p;

import "b.proto";
import public "a.proto";

option java_package = "j";

message A {
  reserved 9;
  reserved 11 to 12;
  reserved "old";

  option deprecated = true;

  map<string, .p.A.B> m = 1;
  required int32 x = 2 [default = 5];
  optional bytes b = 4 [
    default = "b",
    deprecated = true,
    json_name = "B"
  ];

  oneof o {
    string y = 3;
  }

  optional group G = 5 {
    optional int32 z = 1;
  }

  extensions 100 to max;

  extend .p.A {
    optional .p.A e = 100;
  }

  message B {
    optional .p.A.E e = 1;
  \n    message C {}
  }
  enum E {
    reserved 7;
    V = 0;
    W = 1;
  }
}

extend .p.A {
  optional bool f = 101;
}

service S {
  rpc R (.p.A) returns (stream .p.A);
  rpc Q (.p.A) returns (.p.A) {
    option deprecated = true;
  };
}
"""


def normal(text: str) -> str:
    file = read(text)
    return text_of(file, Types(file, []))


def test_the_text_that_is_stored() -> None:
    assert text_of(read(CANONICAL)) == CANONICAL


def test_the_normalized_text() -> None:
    assert normal(CANONICAL) == NORMAL
    assert normal(NORMAL) == NORMAL


def test_schemas_that_are_equal_to_a_registry() -> None:
    one = """syntax = "proto3"; import "z.proto"; import "a.proto"; import "a.proto"; option b = 1; option a = 2;
        message A { string y = 2; // comment
        A x = 1; reserved 5, 4; oneof o { int32 q = 9; int32 p = 8; } } enum E { W = 1; V = 0; }"""
    other = """syntax = "proto3"; import "a.proto"; import "z.proto"; option a = 2; option b = 1;
        enum E { V = 0; W = 1; } message A { .A x = 1; string y = 2; oneof o { int32 p = 8; int32 q = 9; }
        reserved 4; reserved 5; }"""
    assert normal(one) == normal(other)


def test_the_order_of_messages_is_not_the_same() -> None:
    assert normal("message A {} message B {}") != normal("message B {} message A {}")


def test_written_out_map_entries_are_maps() -> None:
    entry = """syntax = "proto3"; message A { repeated TEntry t = 1;
        message TEntry { option map_entry = true; string key = 1; A value = 2; } }"""
    assert normal(entry) == normal('syntax = "proto3"; message A { map<string, A> t = 1; }')
    assert "map_entry" in text_of(read(entry))


def test_editions_and_files_without_syntax() -> None:
    assert normal('edition = "2023"; message A {}') == 'edition = "2023";\n\nmessage A {}\n'
    assert text_of(read("message A {}")) == "\nmessage A {}\n"


def test_names_that_mean_nothing() -> None:
    with pytest.raises(InvalidSchemaError, match='type "Gone" is not defined'):
        normal('syntax = "proto3"; message A { Gone g = 1; }')


@pytest.mark.parametrize("path", BUILT_IN_NAMES)
def test_a_text_is_read_back_as_itself(path: str) -> None:
    once = text_of(read(built_in(path) or ""))
    assert text_of(read(once)) == once
    assert normal(normal(once)) == normal(once)
