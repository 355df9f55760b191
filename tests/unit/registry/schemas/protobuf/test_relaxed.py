from __future__ import annotations

from registry.schemas.protobuf.relaxed import relaxed


def test_only_what_protoc_minds_is_left_out() -> None:
    text = """syntax = "proto3"; import "there.proto"; import "gone.proto";
        option (gone) = 1; option java_package = "j";
        message A { repeated TEntry t = 1 [(gone) = 2, deprecated = true];
        message TEntry { option map_entry = true; string key = 1; p.B value = 2; }
        oneof o { int32 x = 2 [(p.known) = "k"]; } enum E { V = 0 [(gone) = 1]; } extensions 1 to 2 [(gone) = 1]; }
        service S { rpc R (A) returns (A) { option (gone) = 1; } }"""
    there = (
        """syntax = "proto3"; package p; message B {} extend google.protobuf.FieldOptions { string known = 50000; }"""
    )
    own, others = relaxed(text, {"there.proto": there})
    assert own == (
        'syntax = "proto3";\n\nimport "there.proto";\n\noption java_package = "j";\n\n'
        "message A {\n  map<string, p.B> t = 1 [deprecated = true];\n\n"
        '  oneof o {\n    int32 x = 2 [(p.known) = "k"];\n  }\n\n  extensions 1 to 2;\n\n'
        "  enum E {\n    V = 0;\n  }\n}\n\nservice S {\n  rpc R (A) returns (A);\n}\n"
    )
    assert others.keys() == {"there.proto"}
    assert "string known = 50000" in others["there.proto"]
