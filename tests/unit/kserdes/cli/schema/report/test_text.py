from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from kserdes.cli.schema.findings import FileResult, Finding, Report, Severity, Status
from kserdes.cli.schema.report.github import render
from kserdes.cli.schema.report.text import show, summary
from tests.unit.kserdes.cli.schema.helpers import write

BAD = FileResult(
    "a.avsc",
    Status.INCOMPATIBLE,
    (Finding("TYPE_MISMATCH", "int can't read [long] " * 8, "/x", 2, 3, "main:a.avsc"),),
    "orders",
    "FULL",
    ("v1", "main:a.avsc"),
    "old.avsc",
)


def text(report: Report, verbose: bool = False, colour: bool = False) -> str:
    file = io.StringIO()
    console = Console(
        file=file, width=80, force_terminal=colour, color_system="standard" if colour else None, markup=False
    )
    show(report, console, verbose)
    return file.getvalue()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path, {"a.avsc": '{\n  "type": \t"int"\n}'})


def test_a_finding_has_its_place_kind_sentence_and_line(folder: Path) -> None:
    lines = text(Report("check", [BAD])).splitlines()
    assert lines[0] == "INCOMPATIBLE a.avsc  orders, FULL, against main:a.avsc and 1 more (was old.avsc)"
    assert lines[1] == "  a.avsc:2:3 TYPE_MISMATCH"
    assert lines[2].startswith("    int can't read [long] int can't read")
    assert lines[-2] == '        2 | "type":  "int"'
    assert lines[-1] == "1 schema file: 1 incompatible"
    assert max(map(len, lines)) <= 84
    assert not any(line.endswith(" ") for line in lines)


def test_files_without_findings_are_only_counted_unless_asked_for(folder: Path) -> None:
    report = Report("check", [FileResult("b.avsc", Status.OK), FileResult("c.avsc", Status.NEW)])
    assert text(report) == "2 schema files: 1 new, 1 ok\n"
    assert [line.split() for line in text(report, verbose=True).splitlines()][:2] == [
        ["OK", "b.avsc"],
        ["NEW", "c.avsc"],
    ]


def test_terminals_get_colours_and_others_none(folder: Path) -> None:
    assert "\x1b[" in text(Report("check", [BAD]), colour=True)
    assert "\x1b[" not in text(Report("check", [BAD]))


def test_a_line_that_is_not_there_is_left_out(folder: Path) -> None:
    gone = FileResult("gone.avsc", Status.INCOMPATIBLE, (Finding("K", "m", line=3),))
    short = FileResult("a.avsc", Status.UNUSABLE, (Finding("K", "m", line=99),))
    assert " | " not in text(Report("check", [gone, short]))


def test_long_lines_are_cut(folder: Path) -> None:
    write(folder, {"a.avsc": "x" * 10_000})
    assert len(text(Report("check", [FileResult("a.avsc", Status.INCOMPATIBLE, (Finding("K", "m"),))]))) < 400


def test_the_summary_counts_every_status() -> None:
    note = Finding("DELETED", "m", severity=Severity.NOTE)
    results = [FileResult(status.value, status, (note,)) for status in Status]
    assert summary(Report("check", results)) == (
        "6 schema files: 1 incompatible, 1 with complaints, 1 unusable, 1 deleted, 1 new, 1 ok"
    )
    assert summary(Report("check", [])) == "0 schema files: nothing to do"


def test_files_that_nobody_judged_are_told() -> None:
    results = [FileResult("a", Status.OK, level="NONE", against=("x",)), FileResult("b", Status.NEW, level="NONE")]
    assert summary(Report("check", results)) == "2 schema files: 1 new, 1 ok, 1 not judged (level NONE)"


# ---- github


def test_every_finding_is_a_command_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    findings = (
        Finding("TYPE", "100 % odd:\nnext, line\r", line=3, column=7),
        Finding("DELETED", "gone", severity=Severity.NOTE),
        Finding("rule", "hm", severity=Severity.WARNING),
    )
    report = Report("check", [FileResult("a,b:c%.avsc", Status.INCOMPATIBLE, findings, "ord:ers")])
    assert render(report, tmp_path).splitlines() == [
        "::error file=sub/a%2Cb%3Ac%25.avsc,line=3,col=7,title=TYPE (ord%3Aers)::100 %25 odd:%0Anext, line%0D",
        "::notice file=sub/a%2Cb%3Ac%25.avsc,line=1,col=1,title=DELETED (ord%3Aers)::gone",
        "::warning file=sub/a%2Cb%3Ac%25.avsc,line=1,col=1,title=rule (ord%3Aers)::hm",
        "1 schema file: 1 incompatible",
    ]
