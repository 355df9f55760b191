"""Findings of a command with their places; one result per file, one report per run.

Must not know how anything is found or shown. The exit status of a run is decided here.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field

from kserdes.cli.shell.unusable import Unusable


class Severity(enum.StrEnum):
    """The severity of a finding."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Status(enum.StrEnum):
    """The result for a file."""

    OK = "ok"
    """Compatible, or without complaints."""
    NEW = "new"
    """There is nothing to compare it with."""
    INCOMPATIBLE = "incompatible"
    FAULTY = "faulty"
    """Lint has complaints."""
    UNUSABLE = "unusable"
    """It, or its baseline, can't be read or parsed."""
    DELETED = "deleted"
    """It is in the baseline only."""


@dataclass(frozen=True, slots=True)
class User:
    """A place that a finding concerns because it uses the type that was changed.

    Attributes:
        path: the file.
        pointer: where in its schema.
        name: what to call it, e.g. `Order.customer`; empty for a difference.
        line: where in the file, from 1; 0 if that is not known.
        column: where in the line.
        subject: the registry's subject of the file.
        kind: of the difference that the cause explains; None if the place only uses the type.
        message: of that difference.
        against: the compared version.
    """

    path: str
    pointer: str
    name: str
    line: int = 0
    column: int = 0
    subject: str | None = None
    kind: str | None = None
    message: str | None = None
    against: str | None = None


@dataclass(frozen=True, slots=True)
class Cause:
    """The place of the change that led to a finding.

    Attributes:
        path: the file that defines the type.
        pointer: where in it.
        type: the type's name.
        forward: whether it keeps the old schema from reading.
        direct: whether the finding is of this very place; else of a place that uses the type.
    """

    path: str
    pointer: str
    type: str
    forward: bool = False
    direct: bool = True


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to tell about a file.

    Attributes:
        kind: e.g. `READER_FIELD_MISSING_DEFAULT_VALUE` or a lint rule's id.
        message: a sentence for people.
        pointer: where in the schema (JSON pointer, or names in a .proto file).
        line: where in the file, from 1.
        column: where in the line, from 1.
        against: the compared version.
        severity: how bad it is.
        cause: the change in a type that led to it.
        users: the places that use the type, and the differences there.
        path: the file that line and column are in, if that is not the result's own.
    """

    kind: str
    message: str
    pointer: str = ""
    line: int = 1
    column: int = 1
    against: str | None = None
    severity: Severity = Severity.ERROR
    cause: Cause | None = None
    users: tuple[User, ...] = ()
    path: str | None = None

    def used_by(self, most: int | None = None, own: str = "") -> str:
        """The users in words, e.g. `used by Order.customer, Order.payer and 3 more`; empty if there are less than two.

        Args:
            most: how many to name at most.
            own: the file whose name need not be said.
        """
        names: dict[str, None] = {}
        for user in self.users:
            subject = f" ({user.subject})" if user.subject and user.path != own else ""
            place = user.name or user.pointer
            names[place if user.path == own else f"{user.path}: {place}{subject}"] = None
        if len(self.users) < 2 and all(user.path == own for user in self.users):
            return ""
        named = list(names)
        if most is None or len(named) <= most:
            return "used by " + ", ".join(named)
        return f"used by {', '.join(named[:most])} and {len(named) - most} more"


@dataclass(frozen=True, slots=True)
class FileResult:
    """The result for one file.

    Attributes:
        path: how the user would name the file: relative to the working folder if it is in it.
        status: what became of it.
        findings: what there is to tell.
        subject: the registry's subject it belongs to.
        level: the compatibility level it was judged by.
        against: the compared versions, oldest first.
        renamed_from: its path in the baseline, if that is another one.
        causes: of differences that are told with other files.
    """

    path: str
    status: Status
    findings: tuple[Finding, ...] = ()
    subject: str | None = None
    level: str | None = None
    against: tuple[str, ...] = ()
    renamed_from: str | None = None
    causes: tuple[Cause, ...] = ()

    @classmethod
    def unusable(cls, path: str, error: Unusable, subject: str | None = None) -> FileResult:
        """The result of a file that can't be used."""
        found = Finding(error.kind, error.message, line=error.line, column=error.column)
        return cls(path, Status.UNUSABLE, (found,), subject)


@dataclass(frozen=True, slots=True)
class Report:
    """All results of a run.

    Attributes:
        command: `check` or `lint`.
        results: one per file, ordered by path.
        rules: kind → one sentence, for the formats that describe rules.
    """

    command: str
    results: Sequence[FileResult]
    rules: dict[str, str] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """0 nothing is wrong, 1 incompatible or complaints, 2 something could not be judged."""
        if any(result.status is Status.UNUSABLE for result in self.results):
            return 2
        errors = (finding for result in self.results for finding in result.findings)
        return int(any(finding.severity is Severity.ERROR for finding in errors))

    def count(self, *statuses: Status) -> int:
        """The number of files with one of these statuses."""
        return sum(result.status in statuses for result in self.results)
