"""A report as SARIF 2.1.0, which GitHub and other code scanners show beside the lines.

Must not know where reports come from. Source: OASIS, "Static Analysis Results Interchange Format (SARIF)" 2.1.0.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kserdes.cli.schema.findings import FileResult, Finding, Report

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def located(path: str, base: Path) -> str:
    """A path of a report relative to a folder, as it is if it is outside."""
    full = Path.cwd() / path
    return full.relative_to(base).as_posix() if full.is_relative_to(base) else path


def render(report: Report, base: Path, version: str) -> str:
    """The whole report as a SARIF log.

    Args:
        report: what to write.
        base: the folder that paths are relative to: the repository's top.
        version: of this tool.
    """
    findings = [(result, finding) for result in report.results for finding in result.findings]
    kinds = list(dict.fromkeys(finding.kind for _, finding in findings))
    run = {
        "tool": {
            "driver": {
                "name": "kserdes",
                "semanticVersion": version,
                "rules": [_rule(kind, report.rules.get(kind)) for kind in kinds],
            }
        },
        "invocations": [{"executionSuccessful": report.exit_code != 2, "exitCode": report.exit_code}],
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"ROOT": {"uri": base.absolute().as_uri().rstrip("/") + "/"}},
        "results": [_result(result, finding, base, kinds) for result, finding in findings],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False)


def _rule(kind: str, text: str | None) -> dict[str, Any]:
    words = kind.replace("_", " ").replace("-", " ").lower()
    return {"id": kind, "shortDescription": {"text": text or words}, "defaultConfiguration": {"level": "error"}}


def _result(result: FileResult, finding: Finding, base: Path, kinds: list[str]) -> dict[str, Any]:
    uri = quote(located(finding.path or result.path, base))
    place: dict[str, Any] = {"uri": uri} if uri.startswith("/") else {"uri": uri, "uriBaseId": "ROOT"}
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": place,
            "region": {"startLine": finding.line, "startColumn": finding.column},
        }
    }
    if finding.pointer:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.pointer, "kind": "member"}]
    identity = "\0".join((uri, finding.kind, finding.pointer, finding.against or ""))
    properties: dict[str, Any] = {"subject": result.subject, "level": result.level, "against": finding.against}
    if finding.users:
        properties["users"] = [asdict(user) for user in finding.users]
    used = finding.used_by(own=result.path)
    return {
        "ruleId": finding.kind,
        "ruleIndex": kinds.index(finding.kind),
        "level": finding.severity.value,
        "message": {"text": f"{finding.message} ({used})" if used else finding.message},
        "locations": [location],
        "partialFingerprints": {"kserdes/v1": hashlib.sha256(identity.encode()).hexdigest()},
        "properties": {name: value for name, value in properties.items() if value is not None},
    }
