from __future__ import annotations

from pathlib import Path

import pytest

from registry.cli.findings import FileResult, Finding, Report, Severity, Status
from registry.cli.report.github import render


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
