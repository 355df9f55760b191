from __future__ import annotations

import xml.etree.ElementTree as tree

from registry.cli.findings import FileResult, Finding, Report, Severity, Status
from registry.cli.report.junit import render

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
    root = tree.fromstring(render(REPORT).encode())
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
    case = tree.fromstring(render(REPORT).encode())[0][1]
    assert case.get("line") == "4"
    assert case[0].get("type") == "TYPE<&>"
    assert case[0].get("message") == 'it\'s "odd" <&> \ufffd\ufffd\ufffd (and 1 more)'
    assert (case[0].text or "").startswith("bad.avsc:4:1: TYPE<&>: it's")
