from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kserdes.cli.schema.findings import FileResult, Status
from kserdes.cli.schema.lint.linting import Linter
from kserdes.cli.schema.lint.rules import RULES
from tests.unit.kserdes.cli.schema.helpers import collection, record, write


def lint(tmp_path: Path, files: Mapping[str, object], *rules: str) -> dict[str, FileResult]:
    write(tmp_path, files)
    linter = Linter(collection(tmp_path), frozenset(rules or RULES), "snake", str)
    return {result.path: result for result in linter.run(sorted(files))}


def test_complaints_are_in_the_files_order_with_their_lines(tmp_path: Path) -> None:
    (result,) = lint(tmp_path, {"a.avsc": record("order", "badName:int", "ok:int")}).values()
    assert result.status is Status.FAULTY
    assert [(finding.line, finding.column, finding.kind) for finding in result.findings] == [
        (3, 3, "avro-doc"),
        (3, 3, "avro-namespace"),
        (3, 3, "avro-type-name"),
        (6, 7, "avro-field-doc"),
        (6, 7, "avro-field-name"),
        (10, 7, "avro-field-doc"),
    ]
    assert result.findings[-1].pointer == "/fields/1/name"


def test_only_rules_that_are_on_count(tmp_path: Path) -> None:
    (result,) = lint(tmp_path, {"a.avsc": record("order", "badName:int")}, "avro-field-name").values()
    assert [finding.kind for finding in result.findings] == ["avro-field-name"]
    assert lint(tmp_path, {"b.avsc": '"int"'}, "avro-doc")["b.avsc"].status is Status.OK


def test_a_key_that_comes_again_is_a_complaint_where_it_comes_again(tmp_path: Path) -> None:
    twice = '{"type": "object", "properties": {"a": {"type": "string"}, "b": {},\n "\\u0061": {"a": 1}}}'
    found = lint(
        tmp_path,
        {
            "a.json": twice,
            "b.avsc": '{"type": "record", "name": "B",\n"fields": [{"name": "x", "type": "int", "type": "long"}]}',
            "c.avsc": '[{"type": "string"}, {"type": "int"}]',
        },
        "repeated-key",
    )
    places = {path: [(one.line, one.column, one.message) for one in result.findings] for path, result in found.items()}
    text = "the object has the key {!r} before already, and only this one counts"
    assert places == {
        "a.json": [(2, 2, text.format("a"))],
        "b.avsc": [(2, 41, text.format("type"))],
        "c.avsc": [],
    }


def test_unparseable_files_are_reported_whatever_the_rules_are(tmp_path: Path) -> None:
    found = lint(
        tmp_path,
        {
            "a.avsc": "{",
            "b.avsc": record("B", "x:Nope"),
            "c.avsc": {"type": "record", "name": "C"},
            "d.avsc": record("D", "x:Broken"),
            "broken.avsc": {"type": "record", "name": "Broken", "fields": [{"name": "1", "type": "int"}]},
            "e.avsc": b"\xff\xfe",
        },
        "avro-doc",
    )
    assert {path: result.findings[0].kind for path, result in found.items()} == {
        "a.avsc": "NOT_JSON",
        "b.avsc": "UNRESOLVED_REFERENCE",
        "broken.avsc": "INVALID_SCHEMA",
        "c.avsc": "INVALID_SCHEMA",
        "d.avsc": "INVALID_SCHEMA",
        "e.avsc": "NOT_UTF8",
    }
    assert {result.status for result in found.values()} == {Status.UNUSABLE}


def test_a_missing_member_is_at_the_value_around_it(tmp_path: Path) -> None:
    bad = {"type": "record", "name": "O", "doc": "d", "fields": [{"name": "x", "type": ["null", "int"]}]}
    (result,) = lint(tmp_path, {"a.avsc": bad}, "avro-optional-default").values()
    assert [(finding.line, finding.pointer) for finding in result.findings] == [(8, "/fields/0/type")]


def test_misspelled_types_of_protobuf_are_found_where_they_stand(tmp_path: Path) -> None:
    text = 'syntax = "proto3";\nimport "b.proto";\nmessage A {\n  Bee b = 1;\n}\n'
    files = {"a.proto": text, "b.proto": 'syntax = "proto3"; message Be {}'}
    found = lint(tmp_path, files, "proto-valid")
    assert [(item.line, item.column, item.kind) for item in found["a.proto"].findings] == [(4, 3, "proto-valid")]
    assert found["b.proto"].status is Status.OK
    assert lint(tmp_path, files, "proto-package", "proto-enum-zero")["a.proto"].findings[0].kind == "proto-package"
