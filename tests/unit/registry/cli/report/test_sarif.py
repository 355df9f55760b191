from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from registry.cli.findings import FileResult, Finding, Report, Severity, Status
from registry.cli.report.sarif import located, render

FINDINGS = (
    Finding("TYPE_MISMATCH", "a sentence", "/fields/0", 3, 7, "main:a.avsc"),
    Finding("TYPE_MISMATCH", "another", "/fields/1", 4, 7, "main:a.avsc"),
    Finding("avro-doc", "no doc", severity=Severity.WARNING),
)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    results = [FileResult("s/ä b.avsc", Status.INCOMPATIBLE, FINDINGS, "orders", "FULL"), FileResult("ok", Status.OK)]
    return json.loads(render(Report("check", results, {"avro-doc": "types have a doc"}), tmp_path, "1.2.3"))


def test_the_log_has_what_the_standard_asks_for(log: Any) -> None:
    """The properties that sections 3.13 to 3.30 of SARIF 2.1.0 require, and their types."""
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "kserdes"
    assert re.fullmatch(r"\d+\.\d+\.\d+", driver["semanticVersion"])
    assert len({rule["id"] for rule in driver["rules"]}) == len(driver["rules"]) == 2
    assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    assert all(
        uri["uri"].startswith("file:///") and uri["uri"].endswith("/") for uri in run["originalUriBaseIds"].values()
    )
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error")
        assert result["message"]["text"]
        (location,) = result["locations"]
        region = location["physicalLocation"]["region"]
        assert region["startLine"] >= 1
        assert region["startColumn"] >= 1
        assert location["physicalLocation"]["artifactLocation"]["uriBaseId"] in run["originalUriBaseIds"]


def test_places_names_and_rules(log: Any) -> None:
    first, second, third = log["runs"][0]["results"]
    place = first["locations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "s/%C3%A4%20b.avsc"
    assert place["physicalLocation"]["region"] == {"startLine": 3, "startColumn": 7}
    assert place["logicalLocations"][0]["fullyQualifiedName"] == "/fields/0"
    assert first["properties"] == {"subject": "orders", "level": "FULL", "against": "main:a.avsc"}
    assert first["partialFingerprints"] != second["partialFingerprints"]
    assert third["level"] == "warning"
    texts = [rule["shortDescription"]["text"] for rule in log["runs"][0]["tool"]["driver"]["rules"]]
    assert texts == ["type mismatch", "types have a doc"]


def test_a_run_that_could_not_judge_all_was_not_successful(tmp_path: Path) -> None:
    bad = Report("check", [FileResult("a", Status.UNUSABLE, (FINDINGS[0],))])
    (invocation,) = json.loads(render(bad, tmp_path, "1.0.0"))["runs"][0]["invocations"]
    assert invocation == {"executionSuccessful": False, "exitCode": 2}


def test_paths_are_relative_to_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    assert located("a.avsc", tmp_path) == "sub/a.avsc"
    assert located("/elsewhere/a.avsc", tmp_path) == "/elsewhere/a.avsc"
