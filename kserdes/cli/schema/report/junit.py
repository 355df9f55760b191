"""A report as JUnit XML, which most CI servers show as test results.

Must not know where reports come from. One test case per file: incompatible files and complaints are failures, unusable
ones errors, deleted ones skipped.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as tree

from kserdes.cli.schema.findings import FileResult, Finding, Report, Status

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
ELEMENTS = {
    Status.INCOMPATIBLE: "failure",
    Status.FAULTY: "failure",
    Status.UNUSABLE: "error",
    Status.DELETED: "skipped",
}


def render(report: Report) -> str:
    """The whole report as an XML document."""
    counts = {
        "tests": str(len(report.results)),
        "failures": str(report.count(Status.INCOMPATIBLE, Status.FAULTY)),
        "errors": str(report.count(Status.UNUSABLE)),
        "skipped": str(report.count(Status.DELETED)),
    }
    root = tree.Element("testsuites", {"name": f"kserdes schema {report.command}", **counts})
    suite = tree.SubElement(root, "testsuite", {"name": f"kserdes.schema.{report.command}", **counts, "time": "0"})
    for result in report.results:
        _case(suite, result)
    tree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tree.tostring(root, encoding="unicode")


def _case(suite: tree.Element, result: FileResult) -> None:
    name = result.subject or result.path
    case = tree.SubElement(
        suite, "testcase", {"name": _clean(name), "classname": _clean(result.path), "file": _clean(result.path)}
    )
    if result.findings:
        case.set("line", str(result.findings[0].line))
    element = ELEMENTS.get(result.status)
    if element is None:
        return
    lines = [_line(result, item) for item in result.findings]
    lines += [
        f"{cause.path}: {cause.type} was changed, which this file uses: {cause.pointer}" for cause in result.causes
    ]
    first = result.findings[0] if result.findings else Finding("SHARED_TYPE", lines[0])
    more = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
    made = tree.SubElement(case, element, {"type": first.kind, "message": _clean(first.message + more)})
    made.text = _clean("\n".join(lines))


def _line(result: FileResult, item: Finding) -> str:
    used = item.used_by(own=result.path)
    text = f"{item.path or result.path}:{item.line}:{item.column}: {item.kind}: {item.message}"
    told = [f"  {user.path}: {user.kind}: {user.message}" for user in item.users if user.message]
    return "\n".join([f"{text} ({used})" if used else text, *told])


def _clean(text: str) -> str:
    """The text without the characters that XML can't hold."""
    return NOT_XML.sub("\ufffd", text)
