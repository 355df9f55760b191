from __future__ import annotations

import json

from registry.cli.findings import FileResult, Finding, Report, Status
from registry.cli.report.json import render


def test_everything_is_in_it() -> None:
    finding = Finding("K", "ä sentence", "/a", 2, 3, "main:a")
    report = Report("check", [FileResult("a", Status.INCOMPATIBLE, (finding,), "s", "FULL", ("main:a",), "b")])
    assert json.loads(render(report)) == {
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
