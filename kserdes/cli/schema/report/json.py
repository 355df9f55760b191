"""A report as JSON, for scripts.

Must not know where reports come from. The shape is described in docs/guide/schema-ci.md and only grows.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from kserdes.cli.schema.findings import FileResult, Finding, Report


def render(report: Report) -> str:
    """The whole report as a JSON text."""
    found = {
        "command": report.command,
        "exit_code": report.exit_code,
        "files": [_file(result) for result in report.results],
    }
    return json.dumps(found, indent=2, ensure_ascii=False)


def _file(result: FileResult) -> dict[str, Any]:
    return {
        "path": result.path,
        "status": result.status.value,
        "subject": result.subject,
        "level": result.level,
        "against": list(result.against),
        "renamed_from": result.renamed_from,
        "findings": [_finding(finding) for finding in result.findings],
        "causes": [asdict(cause) for cause in result.causes],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "kind": finding.kind,
        "severity": finding.severity.value,
        "message": finding.message,
        "pointer": finding.pointer,
        "line": finding.line,
        "column": finding.column,
        "against": finding.against,
        "path": finding.path,
        "cause": None if finding.cause is None else asdict(finding.cause),
        "users": [asdict(user) for user in finding.users],
    }
