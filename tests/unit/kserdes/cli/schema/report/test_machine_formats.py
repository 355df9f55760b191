from __future__ import annotations

import json
import re
import xml.etree.ElementTree as tree
from pathlib import Path
from typing import Any

import pytest

from kserdes.cli.schema.findings import FileResult, Finding, Report, Severity, Status
from kserdes.cli.schema.report import json as json_report
from kserdes.cli.schema.report import junit
from kserdes.cli.schema.report.sarif import located, render

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


# ---- JUnit

FINDING = Finding("TYPE<&>", 'it\'s "odd" <&> \x00\x1b\ud800', line=4)
REPORT = Report(
    "check",
    [
        FileResult("ok.avsc", Status.OK, subject="orders"),
        FileResult("bad.avsc", Status.INCOMPATIBLE, (FINDING, FINDING)),
        FileResult("worse.avsc", Status.UNUSABLE, (FINDING,)),
        FileResult("gone.avsc", Status.DELETED, (Finding("DELETED", "gone", severity=Severity.NOTE),)),
        FileResult("lint.avsc", Status.FAULTY, (FINDING,)),
    ],
)


def test_a_parser_of_xml_reads_it() -> None:
    root = tree.fromstring(junit.render(REPORT).encode())
    assert root.tag == "testsuites"
    (suite,) = root
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "5",
        "failures": "2",
        "errors": "1",
        "skipped": "1",
    }
    assert [(case.get("name"), case.get("classname"), [child.tag for child in case]) for case in suite] == [
        ("orders", "ok.avsc", []),
        ("bad.avsc", "bad.avsc", ["failure"]),
        ("worse.avsc", "worse.avsc", ["error"]),
        ("gone.avsc", "gone.avsc", ["skipped"]),
        ("lint.avsc", "lint.avsc", ["failure"]),
    ]


def test_texts_are_escaped_and_what_xml_can_not_hold_is_replaced() -> None:
    case = tree.fromstring(junit.render(REPORT).encode())[0][1]
    assert case.get("line") == "4"
    assert case[0].get("type") == "TYPE<&>"
    assert case[0].get("message") == 'it\'s "odd" <&> \ufffd\ufffd\ufffd (and 1 more)'
    assert (case[0].text or "").startswith("bad.avsc:4:1: TYPE<&>: it's")


# ---- JSON


def test_everything_is_in_it() -> None:
    finding = Finding("K", "ä sentence", "/a", 2, 3, "main:a")
    report = Report("check", [FileResult("a", Status.INCOMPATIBLE, (finding,), "s", "FULL", ("main:a",), "b")])
    assert json.loads(json_report.render(report)) == {
        "command": "check",
        "exit_code": 1,
        "files": [
            {
                "path": "a",
                "status": "incompatible",
                "subject": "s",
                "level": "FULL",
                "against": ["main:a"],
                "renamed_from": "b",
                "causes": [],
                "findings": [
                    {
                        "kind": "K",
                        "severity": "error",
                        "message": "ä sentence",
                        "pointer": "/a",
                        "line": 2,
                        "column": 3,
                        "against": "main:a",
                        "path": None,
                        "cause": None,
                        "users": [],
                    }
                ],
            }
        ],
    }
