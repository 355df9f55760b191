from __future__ import annotations

import pytest

from registry import InvalidSchemaError, Schema, SchemaReference
from registry.limits import MAX_DESCRIPTOR_BYTES, MAX_PROTO_MARKS
from registry.schemas.protobuf.sources import (
    BUILT_IN_NAMES,
    built_in,
    decoded,
    imports,
    is_path,
    refuse_extremes,
    texts_by_name,
)


@pytest.mark.parametrize("name", BUILT_IN_NAMES)
def test_every_built_in_file_is_there(name: str) -> None:
    assert "syntax" in (built_in(name) or "")


def test_other_names_are_not_built_in() -> None:
    assert built_in("google/protobuf/../../../setup.py") is None


def test_imports_are_found_outside_strings_and_comments() -> None:
    text = """// import "a.proto";
        /* import "b.proto"; */ import "c.proto"; import public 'd.proto'; import weak "e.proto";
        option x = "import \\"f.proto\\";"; important "g.proto"; import"h.proto";"""
    assert list(imports(text)) == ["c.proto", "d.proto", "e.proto", "h.proto"]


def test_base64() -> None:
    assert decoded("aGk=") == b"hi"
    assert decoded("aG\nk=\n") == b"hi"
    assert decoded("message A {}") is None
    assert decoded("abcde") is None


def test_a_comment_is_no_base64() -> None:
    assert decoded("// ab") is None
    assert decoded("\n//abcdef") is None


def test_blanks_in_what_looks_like_base64_cost_nothing() -> None:
    assert decoded("message A" + " " * 4_000_000 + "{}") is None


def test_a_large_descriptor_is_refused() -> None:
    assert decoded("A" * (MAX_DESCRIPTOR_BYTES // 3 * 4)) == bytes(MAX_DESCRIPTOR_BYTES)
    with pytest.raises(InvalidSchemaError, match="3,145,731 bytes; at most 3,145,728"):
        decoded("A" * (MAX_DESCRIPTOR_BYTES // 3 * 4 + 4))


@pytest.mark.parametrize("path", ["a.proto", "a/b.proto", "weird name.proto"])
def test_paths(path: str) -> None:
    assert is_path(path)


@pytest.mark.parametrize("path", ["", "/a", "a/", "../a", "a/./b", "a\0", "a\\b", "a:b", 'a"b', "a" * 2000])
def test_texts_that_are_no_paths_are_recognized(path: str) -> None:
    assert not is_path(path)


def test_the_first_reference_of_a_name_counts() -> None:
    pairs = [(SchemaReference("a.proto", "a", version), Schema(str(version), "PROTOBUF")) for version in (1, 2)]
    assert texts_by_name(Schema("", "PROTOBUF"), pairs) == {"a.proto": "1"}


@pytest.mark.parametrize("mark", [";", ",", ":", "[", "{"])
def test_too_many_declarations(mark: str) -> None:
    most = MAX_PROTO_MARKS // (4 if mark == "{" else 1)
    closed = {"[": "[]", "{": "{}"}.get(mark, mark)
    refuse_extremes(closed * most, "")
    with pytest.raises(InvalidSchemaError, match="x: more than 150,000 declarations"):
        refuse_extremes(closed * (most + 1), "x")


def test_references_too_large_together() -> None:
    def pairs(text: str) -> list[tuple[SchemaReference, Schema]]:
        return [(SchemaReference(f"{name}.proto", name, 1), Schema(text, "PROTOBUF")) for name in "abc"]

    assert len(texts_by_name(Schema("", "PROTOBUF"), pairs(";" * 50_000))) == 3
    for text in (";" * 50_001, " " * (3 << 20)):
        with pytest.raises(InvalidSchemaError, match="3 references of more than"):
            texts_by_name(Schema("", "PROTOBUF"), pairs(text))


def test_too_many_references() -> None:
    pairs = [(SchemaReference(f"{i}.proto", "a", i), Schema("", "PROTOBUF")) for i in range(1001)]
    assert len(texts_by_name(Schema("", "PROTOBUF"), pairs[:1000])) == 1000
    with pytest.raises(InvalidSchemaError, match="more than 1000 referenced schemas"):
        texts_by_name(Schema("", "PROTOBUF"), pairs)


def test_extremes_name_the_line() -> None:
    refuse_extremes("{}" * 1000, "x")
    refuse_extremes("({[<" * 25, "x")
    with pytest.raises(InvalidSchemaError, match="x: line 3: nested deeper"):
        refuse_extremes("\n\n" + "({[<" * 26, "x")
    with pytest.raises(InvalidSchemaError, match="x: line 1: nested deeper"):
        refuse_extremes("{]" * 101, "x")
