"""A report as GitHub's workflow commands: annotations on the lines of a pull request.

Must not know where reports come from. Source: GitHub's documentation, "Workflow commands for GitHub Actions".
"""

from __future__ import annotations

from pathlib import Path

from kserdes.cli.schema.findings import FileResult, Finding, Report, Severity
from kserdes.cli.schema.report.sarif import located
from kserdes.cli.schema.report.text import summary

MAX_USERS = 10  # users named in an annotation
COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(report: Report, base: Path) -> str:
    """One command per finding, then the summary.

    Args:
        report: what to write.
        base: the folder that paths are relative to: the repository's top.
    """
    lines = [_command(result, finding, base) for result in report.results for finding in result.findings]
    return "\n".join([*lines, summary(report)])


def _command(result: FileResult, finding: Finding, base: Path) -> str:
    properties = {
        "file": located(finding.path or result.path, base),
        "line": str(finding.line),
        "col": str(finding.column),
        "title": f"{finding.kind} ({result.subject or 'schema'})",
    }
    text = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    used = finding.used_by(MAX_USERS, result.path)
    message = f"{finding.message} ({used})" if used else finding.message
    return f"::{COMMANDS[finding.severity]} {text}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
