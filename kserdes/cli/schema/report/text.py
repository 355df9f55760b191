"""A report for people: coloured where the output is a terminal, plain elsewhere.

Must not know where reports come from. Colour follows rich: off without a terminal and with `NO_COLOR`.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from kserdes.cli.schema.findings import FileResult, Finding, Report, Severity, Status

if TYPE_CHECKING:
    from rich.console import Console

STYLES = {
    Status.OK: "green",
    Status.NEW: "cyan",
    Status.INCOMPATIBLE: "bold red",
    Status.FAULTY: "bold yellow",
    Status.UNUSABLE: "bold magenta",
    Status.DELETED: "yellow",
}
WORDS = {
    Status.INCOMPATIBLE: "incompatible",
    Status.FAULTY: "with complaints",
    Status.UNUSABLE: "unusable",
    Status.DELETED: "deleted",
    Status.NEW: "new",
    Status.OK: "ok",
}
MAX_EXCERPT = 160
MAX_USERS = 10  # named users


def summary(report: Report) -> str:
    """One line: how many files, and what became of them."""
    parts = [f"{report.count(status)} {word}" for status, word in WORDS.items() if report.count(status)]
    unjudged = sum(result.level == "NONE" and bool(result.against) for result in report.results)
    if unjudged:
        parts.append(f"{unjudged} not judged (level NONE)")
    count = len(report.results)
    return f"{count} schema file{'' if count == 1 else 's'}: {', '.join(parts) or 'nothing to do'}"


def show(report: Report, console: Console, verbose: bool = False) -> None:
    """Prints a report: files with findings (all files if `verbose`), then the summary."""
    for result in report.results:
        if verbose or result.findings or result.causes or result.renamed_from is not None:
            _file(result, console)
    style = {0: "green", 1: "bold red", 2: "bold magenta"}[report.exit_code]
    console.print(summary(report), style=style, markup=False, highlight=False)


def _file(result: FileResult, console: Console) -> None:
    from rich.text import Text

    head = Text(f"{WORDS[result.status].upper():<12} ", style=STYLES[result.status])
    head.append(result.path, style="bold")
    if result.subject is not None and result.level is not None:
        head.append(f"  {result.subject}, {result.level}", style="dim")
    if result.against:
        more = f" and {len(result.against) - 1} more" if len(result.against) > 1 else ""
        head.append(f", against {result.against[-1]}{more}", style="dim")
    if result.renamed_from is not None:
        head.append(f" (was {result.renamed_from})", style="dim")
    console.print(head, soft_wrap=True)
    for finding in result.findings:
        _finding(result, finding, console)
    for cause in result.causes:
        text = f"  uses {cause.type}, whose change at {cause.pointer} is told with {cause.path}"
        console.print(Text(text), soft_wrap=True)


def _finding(result: FileResult, finding: Finding, console: Console) -> None:
    from rich.text import Text

    style = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}[finding.severity]
    line = Text("  ")
    line.append(f"{finding.path or result.path}:{finding.line}:{finding.column}", style="cyan")
    line.append(f" {finding.kind}", style=style)
    console.print(line, soft_wrap=True)
    for text in textwrap.wrap(finding.message, max(console.width - 4, 40), break_on_hyphens=False):
        console.print(Text(f"    {text}"), soft_wrap=True)
    used = finding.used_by(MAX_USERS, result.path)
    for text in textwrap.wrap(used, max(console.width - 4, 40), break_on_hyphens=False):
        console.print(Text(f"    {text}"), soft_wrap=True)
    excerpt = _excerpt(result, finding)
    if excerpt:
        console.print(Text(f"    {finding.line:>5} | {excerpt}", style="dim"), soft_wrap=True)


def _excerpt(result: FileResult, finding: Finding) -> str:
    """The line of the file, where it can still be read."""
    if result.status not in (Status.INCOMPATIBLE, Status.FAULTY) and finding.line == 1:
        return ""
    try:
        lines = Path(finding.path or result.path).read_text("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError):
        return ""
    if finding.line > len(lines):
        return ""
    text = lines[finding.line - 1].strip()
    printable = "".join(char if char.isprintable() else " " for char in text)
    return printable if len(printable) <= MAX_EXCERPT else printable[: MAX_EXCERPT - 3] + "..."
