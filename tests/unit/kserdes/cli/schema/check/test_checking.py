from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from kserdes.cli.schema.check.checking import Checker, Levels, invalid
from kserdes.cli.schema.findings import FileResult, Severity, Status
from kserdes.cli.schema.source.baseline import TreeBaseline
from kserdes.cli.schema.source.linking import Document
from kserdes.cli.schema.source.registry_baseline import RegistryBaseline
from kserdes.cli.schema.source.subjects import Namer
from registry.client.blocking import SchemaRegistryClient
from registry.errors import InvalidSchemaError
from tests.unit.kserdes.cli.schema.helpers import collection, record, write

BASE = record("Order", "id:long", "note:string")
DEFAULT = Levels()


def check(
    tmp_path: Path,
    old: Mapping[str, object],
    new: Mapping[str, object],
    levels: Levels = DEFAULT,
    rule: str = "{stem}",
    fail_on_deleted: bool = False,
) -> dict[str, FileResult]:
    write(tmp_path / "new", new)
    write(tmp_path / "old", old)
    before = collection(tmp_path / "old")
    before.label = "old"
    after = collection(tmp_path / "new")
    baseline = TreeBaseline(after, before, lambda path: f"old/{path}")
    checker = Checker(after, baseline, Namer(rule), levels, str)
    ticks: list[int] = []
    results = checker.run(sorted(new), lambda: ticks.append(1)) + checker.deleted([""], fail_on_deleted)
    assert len(ticks) == len(new)
    return {result.path: result for result in results}


def test_every_file_is_judged_whatever_the_others_are(tmp_path: Path) -> None:
    found = check(
        tmp_path,
        {"a.avsc": BASE, "b.avsc": BASE, "c.avsc": BASE, "gone.avsc": '"string"', "d.avsc": "{"},
        {
            "a.avsc": record("Order", "id:long", "note:string", {"name": "x", "type": "int", "default": 0}),
            "b.avsc": record("Order", "id:int", "note:string", "x:int"),
            "c.avsc": "{",
            "d.avsc": BASE,
            "e.avsc": record("New", "id:Nope"),
            "f.avsc": '"int"',
            "g.avsc": {"type": "record", "name": "G"},
        },
    )
    assert {path: result.status.value for path, result in found.items()} == {
        "a.avsc": "ok",
        "b.avsc": "incompatible",
        "c.avsc": "unusable",
        "d.avsc": "unusable",
        "e.avsc": "unusable",
        "f.avsc": "new",
        "g.avsc": "unusable",
        "gone.avsc": "deleted",
    }
    kinds = {path: [finding.kind for finding in result.findings] for path, result in found.items() if result.findings}
    assert kinds == {
        "b.avsc": ["TYPE_MISMATCH", "READER_FIELD_MISSING_DEFAULT_VALUE"],
        "c.avsc": ["NOT_JSON"],
        "d.avsc": ["UNUSABLE_BASELINE"],
        "e.avsc": ["UNRESOLVED_REFERENCE"],
        "g.avsc": ["INVALID_SCHEMA"],
        "gone.avsc": ["DELETED"],
    }


def test_findings_are_on_the_changed_line_with_the_old_versions_name(tmp_path: Path) -> None:
    new = record("Order", "id:int", "note:string", "x:int")
    (result,) = check(tmp_path, {"o.avsc": BASE}, {"o.avsc": new}).values()
    text = json.dumps(new, indent=2).splitlines()
    changed, added = result.findings
    assert text[changed.line - 1].strip() == '"type": "int"'
    assert changed.line == 7
    assert text[added.line :][0].strip() == '"name": "x",'
    assert changed.against == "old/o.avsc"
    assert "old/o.avsc" in changed.message
    assert "registered schema" not in changed.message
    assert (result.level, result.against) == ("BACKWARD", ("old/o.avsc",))


def test_forward_differences_are_carried_to_the_file(tmp_path: Path) -> None:
    new = record("Order", "note:string", "id:double")
    (result,) = check(tmp_path, {"o.avsc": BASE}, {"o.avsc": new}, Levels(forced="FULL")).values()
    (finding,) = result.findings
    assert finding.pointer == "/fields/0/type"
    assert json.dumps(new, indent=2).splitlines()[finding.line - 1].strip() == '"type": "double"'
    (result,) = check(tmp_path, {"o.avsc": BASE}, {"o.avsc": record("Order", "id:long")}, Levels("FORWARD")).values()
    assert result.findings[0].line == 4  # a field that is gone: where the fields are


def test_a_changed_reference_is_found_in_the_file_that_uses_it(tmp_path: Path) -> None:
    order = record("Order", "m:Money")
    found = check(
        tmp_path,
        {"order.avsc": order, "money.avsc": record("Money", "x:long")},
        {"order.avsc": order, "money.avsc": record("Money", "x:int")},
    )
    assert {path: result.status for path, result in found.items()} == {
        "order.avsc": Status.INCOMPATIBLE,
        "money.avsc": Status.INCOMPATIBLE,
    }
    (finding,) = found["money.avsc"].findings
    assert (finding.kind, found["order.avsc"].findings) == ("TYPE_MISMATCH", ())
    assert ("order.avsc", 7) in {(Path(user.path).name, user.line) for user in finding.users}


def test_all_versions_are_judged_when_the_level_asks_for_it(tmp_path: Path) -> None:
    old = {
        "o/v1.avsc": record("O", "a:string"),
        "o/v2.avsc": record("O", {"name": "a", "type": "string", "default": ""}),
        "o/v3.avsc": record("O"),
    }
    new = {"o.avsc": record("O", "a:string")}
    (newest, every) = (
        check(tmp_path / name, old, new, Levels(all_versions=transitive))["o.avsc"]
        for name, transitive in (("n", False), ("t", True))
    )
    assert [finding.against for finding in newest.findings] == ["old/o/v3.avsc"]
    assert [finding.against for finding in every.findings] == ["old/o/v3.avsc"]
    assert every.level == "BACKWARD_TRANSITIVE"
    again = {"o.avsc": record("O", "a:int")}
    found = check(tmp_path / "x", old, again, Levels(all_versions=True))["o.avsc"]
    assert [finding.against for finding in found.findings] == ["old/o/v1.avsc", "old/o/v2.avsc", "old/o/v3.avsc"]


def test_files_of_one_subject_are_refused_together_by_a_registry(tmp_path: Path) -> None:
    files = {
        "a/o.avsc": '"int"',
        "b/o.avsc": '"int"',
        "c.avsc": '"int"',
        "d.avsc": "{",
        "v/v1.avsc": "1",
        "v/v2.avsc": "1",
    }
    assert check(tmp_path, {}, files)["a/o.avsc"].status is Status.NEW
    side = collection(tmp_path / "new")
    with SchemaRegistryClient({"url": "mock://test_checking"}) as client:
        checker = Checker(side, RegistryBaseline(side, client), Namer(), DEFAULT, str)
        found = {result.path: result for result in checker.run(sorted(files))}
    assert [found[path].findings[0].kind for path in ("a/o.avsc", "b/o.avsc")] == ["DUPLICATE_SUBJECT"] * 2
    assert "too: b/o.avsc;" in found["a/o.avsc"].findings[0].message
    assert "too: a/o.avsc;" in found["b/o.avsc"].findings[0].message
    assert found["c.avsc"].status is Status.NEW
    assert {kind for path in ("v/v1.avsc", "v/v2.avsc") for kind in [item.kind for item in found[path].findings]} == {
        "INVALID_SCHEMA"
    }


def test_deleted_files_may_fail_the_run(tmp_path: Path) -> None:
    note = check(tmp_path, {"a.avsc": '"int"'}, {})["a.avsc"].findings[0]
    assert note.severity is Severity.NOTE
    error = check(tmp_path, {"a.avsc": '"int"'}, {}, fail_on_deleted=True)["a.avsc"].findings[0]
    assert error.severity is Severity.ERROR


def test_another_type_of_schema_is_incompatible(tmp_path: Path) -> None:
    write(tmp_path / "old", {"o/v1.avsc": '"int"'})
    found = check(tmp_path, {"o.avsc": BASE}, {"o.avsc": BASE})
    assert found["o.avsc"].status is Status.OK


def test_an_unchanged_invalid_schema_is_still_unusable(tmp_path: Path) -> None:
    broken = {"type": "record", "name": "1x", "fields": []}
    assert check(tmp_path, {"a.avsc": broken}, {"a.avsc": broken})["a.avsc"].status is Status.UNUSABLE


@pytest.mark.parametrize(
    ("levels", "subject", "theirs", "expected"),
    [
        (Levels(), "s", None, "BACKWARD"),
        (Levels(), "s", "FORWARD", "FORWARD"),
        (Levels(general="FULL"), "s", "FORWARD", "FULL"),
        (Levels(general="FULL", table={"s*": "NONE"}), "s", None, "NONE"),
        (Levels(general="FULL", table={"t*": "NONE"}), "s", None, "FULL"),
        (Levels(forced="FORWARD", table={"s*": "NONE"}), "s", None, "FORWARD"),
        (Levels(forced="forward", all_versions=True), "s", None, "FORWARD_TRANSITIVE"),
        (Levels(forced="NONE", all_versions=True), "s", None, "NONE"),
        (Levels(forced="FULL_TRANSITIVE", all_versions=True), "s", None, "FULL_TRANSITIVE"),
    ],
)
def test_the_level_of_the_check_is_chosen(levels: Levels, subject: str, theirs: str | None, expected: str) -> None:
    assert levels.level(subject, theirs).value == expected


@pytest.mark.parametrize(
    ("message", "place"),
    [
        ("the new schema: line 3, column 7: Expected ';'.", (3, 7)),
        ("total.proto: line 2, column 5: oops", (2, 11)),
        ("line 2, column 5: oops", (2, 5)),
        ("field 'total' is odd", (2, 11)),
        ("no idea", (1, 1)),
    ],
)
def test_invalid_schemas_have_a_place(message: str, place: tuple[int, int]) -> None:
    document = Document("a", '{\n "name": "total.proto"}', "AVRO", None)
    found = invalid(document, InvalidSchemaError.local(message))
    assert (found.line, found.column) == place
    assert not found.message.startswith("the new schema")
