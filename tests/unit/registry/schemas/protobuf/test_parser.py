from __future__ import annotations

import base64
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto
from google.protobuf.message_factory import GetMessageClass

from registry import InvalidSchemaError, Schema, SchemaReference
from registry.schemas.protobuf.model import Option, OptionKind, map_types, option_value
from registry.schemas.protobuf.parser import compile, pool
from registry.schemas.protobuf.relaxed import relaxed


def proto(text: str, *references: SchemaReference) -> Schema:
    return Schema(text, "PROTOBUF", references)


def reference(name: str, text: str) -> tuple[SchemaReference, Schema]:
    return SchemaReference(name, name, 1), proto(text)


def names(schema: Schema, *referenced: tuple[SchemaReference, Schema]) -> list[str]:
    return [file.name for file in compile(schema, referenced).file]


def reason(text: str, *referenced: tuple[SchemaReference, Schema]) -> str:
    with pytest.raises(InvalidSchemaError) as caught:
        compile(proto(text), referenced, lenient=False)
    return caught.value.error_message


BASE = reference("base.proto", 'syntax = "proto3"; package b; message Base { int32 x = 1; }')
LEFT = reference("left.proto", 'syntax = "proto3"; import "base.proto"; message Left { b.Base base = 1; }')
RIGHT = reference(
    "dir/right.proto", 'syntax = "proto3"; import public "base.proto"; message Right { b.Base base = 1; }'
)


def test_a_message_can_be_made_from_text() -> None:
    found = pool(proto('syntax = "proto3"; package p; message A { int32 x = 1; map<string, int32> m = 2; }'))
    a = GetMessageClass(found.FindMessageTypeByName("p.A"))(x=3, m={"k": 1})
    assert GetMessageClass(found.FindMessageTypeByName("p.A")).FromString(a.SerializeToString()) == a


def test_dependencies_come_first() -> None:
    text = 'syntax = "proto3"; import "left.proto"; import "dir/right.proto"; message A { Left l = 1; Right r = 2; }'
    found = names(proto(text), BASE, LEFT, RIGHT)
    assert found == ["base.proto", "left.proto", "dir/right.proto", "default.proto"]


def test_references_nobody_imports_are_left_out() -> None:
    assert names(proto("message A {}"), BASE) == ["default.proto"]


def test_an_unused_import_is_no_error() -> None:
    assert names(proto('syntax = "proto3"; import "base.proto"; message A {}'), BASE) == ["base.proto", "default.proto"]


@pytest.mark.parametrize(
    "path",
    [
        "google/protobuf/timestamp.proto",
        "google/protobuf/descriptor.proto",
        "google/protobuf/cpp_features.proto",
        "google/type/money.proto",
        "confluent/meta.proto",
        "confluent/type/decimal.proto",
        "confluent/type/variant.proto",
    ],
)
def test_built_in_files(path: str) -> None:
    assert path in names(proto(f'syntax = "proto3"; import "{path}"; message A {{}}'))


def test_confluents_options_are_understood() -> None:
    text = """syntax = "proto3"; import "confluent/meta.proto"; import "confluent/type/decimal.proto";
        message A { confluent.type.Decimal d = 1 [(confluent.field_meta) = {tags: "PII"}]; }"""
    found = pool(proto(text))
    extension = found.FindExtensionByName("confluent.field_meta")
    field = found.FindMessageTypeByName("A").fields_by_name["d"]
    options_class = GetMessageClass(found.FindMessageTypeByName("google.protobuf.FieldOptions"))
    options = options_class.FromString(field.GetOptions().SerializeToString())
    assert list(options.Extensions[extension].tags) == ["PII"]  # type: ignore[index]


@pytest.mark.parametrize("syntax", ["", 'syntax = "proto2";', 'edition = "2023";', '// c\n/* c */ syntax = "proto2";'])
def test_syntaxes(syntax: str, capfd: pytest.CaptureFixture[str]) -> None:
    label = "" if "edition" in syntax else "optional"
    assert names(proto(f"{syntax} message A {{ {label} int32 x = 1; }}")) == ["default.proto"]
    assert capfd.readouterr() == ("", "")


def test_the_schema_itself_gives_way_to_a_reference_of_its_name() -> None:
    inner = reference("default.proto", 'syntax = "proto3"; message B {}')
    assert names(proto('syntax = "proto3"; import "default.proto"; message A { B b = 1; }'), inner) == [
        "default.proto",
        "_default.proto",
    ]


def test_base64_of_a_descriptor_is_a_schema() -> None:
    text = 'syntax = "proto3"; import "left.proto"; import "google/protobuf/any.proto"; message A { Left l = 1; }'
    files = compile(proto(text), [BASE, LEFT])
    encoded = base64.b64encode(files.file[-1].SerializeToString()).decode()
    assert sorted(names(proto(encoded), BASE, LEFT)) == sorted(file.name for file in files.file)
    assert compile(proto(encoded), [BASE, LEFT]).file[-1] == files.file[-1]
    assert "neither" in reason(base64.b64encode(b"nothing of the kind").decode())
    broken = files.file[-1]
    broken.message_type[0].field[0].type_name = ".Nowhere"
    assert "Nowhere" in reason(base64.b64encode(broken.SerializeToString()).decode(), BASE, LEFT)


# --- errors


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('syntax = "proto3";\nmessage A {\n  int32 x = 0;\n}', "line 3, column 13: Field numbers must be positive"),
        ("message A { int32 x = 1; }", "line 1, column 13: Expected"),
        ('syntax = "proto3"; message A { B b = 1; C c = 2; }', '"B" is not defined. (and 1 more)'),
        ("hello", "line 1, column 1: Expected top-level statement"),
        ('syntax = "proto3"; message A {} message A {}', "already defined"),
        ('import "nowhere.proto";', 'import "nowhere.proto": no reference has this name'),
        ("message A\0 {}", "control characters"),
        ("message A { \ud800 }", "not valid Unicode"),
    ],
)
def test_errors_say_where_and_what(text: str, expected: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert expected in reason(text)
    assert capfd.readouterr() == ("", "")


def test_an_error_in_a_reference_names_it() -> None:
    assert reason('import "bad.proto";', reference("bad.proto", "\nmessage {")).startswith(
        "bad.proto: line 2, column 9"
    )


def test_cyclic_imports() -> None:
    one = reference("one.proto", 'syntax = "proto3"; import "two.proto";')
    two = reference("two.proto", 'syntax = "proto3"; import "one.proto";')
    assert "recursively imports itself" in reason('syntax = "proto3"; import "one.proto";', one, two)


# --- what only protoc minds

ENTRY = """syntax = "proto3"; message A { repeated tagsEntry tags = 1;
    message tagsEntry { option map_entry = true; string key = 1; B value = 2; } } message B {}"""


@pytest.mark.parametrize(
    "text",
    [
        ENTRY,
        'syntax = "proto3"; import "nowhere.proto"; message A {}',
        'syntax = "proto3"; option (unknown.option) = {a: 1}; message A { int32 x = 1 [(other) = 1]; }',
        'syntax = "proto3"; import "entry.proto"; message C { A a = 1; }',
    ],
)
def test_schemas_that_a_registry_accepts_are_accepted(text: str) -> None:
    pool(proto(text), [reference("entry.proto", ENTRY)])
    with pytest.raises(InvalidSchemaError):
        compile(proto(text), [reference("entry.proto", ENTRY)], lenient=False)


def test_written_out_map_entries_are_maps() -> None:
    field = pool(proto(ENTRY)).FindMessageTypeByName("A").fields_by_name["tags"]
    assert field.message_type.GetOptions().map_entry
    assert field.message_type.fields_by_name["value"].message_type.full_name == "B"


def test_a_needed_import_is_missed_by_its_name() -> None:
    with pytest.raises(InvalidSchemaError, match=r'import "nowhere.proto": no reference'):
        compile(proto('syntax = "proto3"; import "nowhere.proto"; message A { Nowhere n = 1; }'))


def test_a_reference_may_be_serialized() -> None:
    encoded = base64.b64encode(compile(BASE[1]).file[-1].SerializeToString()).decode()
    text = 'syntax = "proto3"; import "base.proto"; message A { b.Base base = 1; }'
    assert names(proto(text), reference("base.proto", encoded)) == ["base.proto", "default.proto"]


# --- what must not happen


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../secret.proto", "a/../../secret.proto", "./x.proto", "a//b", "C:x", "\\x"]
)
def test_no_file_outside_is_read(path: str, tmp_path: Path) -> None:
    assert "passwd" not in (text := reason(f'syntax = "proto3"; import "{path}";')) or "import" in text
    with pytest.raises(InvalidSchemaError, match="not an import path"):
        compile(proto("message A {}"), [reference(path, "message B {}")])


def test_absolute_paths_to_real_files_are_not_found(tmp_path: Path) -> None:
    (tmp_path / "real.proto").write_text('syntax = "proto3"; message Real {}')
    assert "import" in reason(f'syntax = "proto3"; import "{tmp_path}/real.proto"; message A {{ Real r = 1; }}').lower()


@pytest.mark.parametrize(
    "text",
    [
        'syntax = "proto3";' + "message A {" * 10_000 + "}" * 10_000,
        'syntax = "proto2";' + "".join(f"message A {{ optional group G{i} = {i + 1} {{" for i in range(10_000)),
        "option (a) = {" + "a {" * 20_000 + "}" * 20_000 + "};",
        "option (a) = {" + "a: [{" * 20_000 + "}]" * 20_000 + "};",
    ],
)
def test_deep_nesting_is_refused(text: str) -> None:
    assert "nested deeper than 100 levels" in reason(text)


def test_brackets_in_strings_and_comments_do_not_nest() -> None:
    text = f'syntax = "proto3"; // {"{" * 200}\n/* {"[" * 200} */ option java_package = "{"<" * 200}"; message A {{}}'
    assert names(proto(text)) == ["default.proto"]


def test_long_texts() -> None:
    fields = "".join(f"int32 f{i} = {i + 1};" for i in range(1000))
    text = 'syntax = "proto3";' + "".join(f"message M{i} {{ {fields} }}" for i in range(20))
    assert len(compile(proto(text)).file[0].message_type) == 20
    assert "characters; at most" in reason("//" + "x" * (9 << 20))


def test_a_descriptor_of_too_much_is_refused() -> None:
    data = FileDescriptorProto(message_type=[DescriptorProto()] * 40_000).SerializeToString()
    assert "more than 150,000 declarations" in reason(base64.b64encode(data).decode())


def test_threads_get_what_they_asked_for() -> None:
    def own(number: int) -> str:
        files = compile(proto(f'syntax = "proto3"; import "base.proto"; message A{number} {{ b.Base b = 1; }}'), [BASE])
        return files.file[-1].message_type[0].name

    def bad(number: int) -> str:
        return reason(f'syntax = "proto3"; message A {{ B{number} b = 1; }}')

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(own, range(200))) == [f"A{number}" for number in range(200)]
        assert all(f'"B{number}"' in found for number, found in enumerate(threads.map(bad, range(200))))


def test_nothing_is_left_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    names(proto('syntax = "proto3"; message Unseen {}'))
    reason('syntax = "proto3"; message Unseen {')
    assert os.listdir(tmp_path) == []


def test_the_result_is_the_callers() -> None:
    schema = proto('syntax = "proto3"; message Mine {}')
    compile(schema).file[0].message_type[0].name = "Changed"
    assert compile(schema).file[0].message_type[0].name == "Mine"


# ---- model


def test_the_types_of_a_map() -> None:
    assert map_types("map<string, a.B>") == ("string", "a.B")
    assert map_types("mapped") is None


def test_the_last_option_of_a_name_counts() -> None:
    options = [
        Option("a", OptionKind.NUMBER, "1"),
        Option(".a", OptionKind.NUMBER, "2"),
        Option("b", OptionKind.NUMBER, "3"),
    ]
    assert option_value(options, "a") == "2"
    assert option_value(options, "c") is None


# ---- relaxed


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
