"""Checks schema files against their earlier versions with the engine, and says where in the files the trouble is.

Must not know where earlier versions come from (`baseline`) nor how results are shown (`report`). One file's trouble
never keeps another from being checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kserdes.cli.schema.check.causes import FindingCauses, Tracer, gathered
from kserdes.cli.schema.findings import FileResult, Finding, Severity, Status
from kserdes.cli.schema.outline.pointing import find_name, json_place, proto_place
from kserdes.cli.schema.source.baseline import Baseline, History, TreeBaseline
from kserdes.cli.schema.source.files import matches
from kserdes.cli.schema.source.git_baseline import IGNORED
from kserdes.cli.schema.source.linking import Collection, Document, parse_json
from kserdes.cli.schema.source.registry_baseline import SILENT, RegistryBaseline, no_answer
from kserdes.cli.schema.source.subjects import Namer
from kserdes.cli.schema.source.versions import numbered
from kserdes.cli.shell.parallel import each
from kserdes.cli.shell.unusable import Unusable
from registry import InvalidSchemaError, Schema
from registry.compat import Difference, Level, check
from registry.schemas.formats import format_of
from registry.schemas.references import Resolver, resolve_all

NUMBERED = re.compile(r"registered schema (\d+)")
PLACE = re.compile(r"(?<![\w.])(?:line )?(\d+)(?::|, column |,? col(?:umn)? )(\d+)")
OTHER_FILE = re.compile(r"(\S+\.proto): ")


@dataclass(frozen=True, slots=True)
class Levels:
    """The level and policy for subjects: forced, of the table, general, the baseline's, BACKWARD.

    Attributes:
        forced: level for all, from the command line.
        table: pattern of subjects → level.
        general: level of the configuration.
        policy: from the command line or the configuration.
        all_versions: whether levels are made transitive.
    """

    forced: str | None = None
    table: Mapping[str, str] = field(default_factory=dict)
    general: str | None = None
    policy: str | None = None
    all_versions: bool = False

    def level(self, subject: str, theirs: str | None) -> Level:
        """The level of a subject."""
        found = self.forced or self._of_table(subject) or self.general or theirs or "BACKWARD"
        level = Level.of(found)
        if self.all_versions and level is not Level.NONE and not level.transitive:
            return Level.of(f"{level.value}_TRANSITIVE")
        return level

    def _of_table(self, subject: str) -> str | None:
        return next((level for pattern, level in self.table.items() if matches(subject, (pattern,))), None)


def invalid(document: Document, error: InvalidSchemaError) -> Unusable:
    """The parser's error with its place: as the parser says it, or where the name stands that it quotes."""
    text = error.error_message.removeprefix("the new schema: ")
    other, match = OTHER_FILE.match(text), PLACE.search(text)
    if other is not None:  # the error is in a file that this one imports
        line, column = find_name(document.text, f"'{other[1]}'")
    elif match is not None:
        line, column = int(match[1]), int(match[2])
    else:
        line, column = find_name(document.text, text)
    return Unusable(text, line, column, "INVALID_SCHEMA")


def validate(document: Document, schema: Schema, resolve: Resolver) -> None:
    """Parses a schema.

    Raises:
        Unusable: it is invalid.
    """
    try:
        format_of(schema.schema_type).parse(schema, resolve_all(schema, resolve))
    except InvalidSchemaError as error:
        raise invalid(document, error) from error


class Checker:
    """Checks files of one root.

    Args:
        new: the files.
        baseline: their earlier versions.
        namer: their subjects.
        levels: what they are judged by.
        shown: path within the root → path for people.
    """

    def __init__(
        self, new: Collection, baseline: Baseline, namer: Namer, levels: Levels, shown: Callable[[str], str]
    ) -> None:
        self._new = new
        self._baseline = baseline
        self._namer = namer
        self._levels = levels
        self._shown = shown

    def run(self, paths: Sequence[str], progress: Callable[[], None] = lambda: None) -> list[FileResult]:
        """One result per path, in their order.

        Raises:
            Unusable: the registry does not answer.
        """
        subjects = self._subjects(paths)

        def one(path: str) -> FileResult:
            result = self._one(path, subjects[path])
            progress()
            return result

        if not isinstance(self._baseline, RegistryBaseline):
            return gathered(_all_ignored([one(path) for path in paths]))
        try:
            return gathered(list(each(one, paths)))
        except SILENT as error:
            raise no_answer(error) from error

    def deleted(self, folders: Sequence[str], fail: bool) -> list[FileResult]:
        """One result for every file that the baseline has in these folders, and that is there no more."""
        severity = Severity.ERROR if fail else Severity.NOTE
        text = "the schema file was deleted; its subject, and data written with it, remain"
        return [
            FileResult(self._shown(path), Status.DELETED, (Finding("DELETED", text, severity=severity),))
            for path in self._baseline.deleted()
            if path.startswith(tuple(folders))
        ]

    def _subjects(self, paths: Sequence[str]) -> dict[str, str | Unusable]:
        """The subject of every file; in a registry, files that share one are in error (versions of one folder may)."""
        found: dict[str, str | Unusable] = {}
        owners: dict[str, dict[str, list[str]]] = {}
        for path in paths:
            try:
                subject = self._namer.subject(path, lambda path=path: self._new.document(path))  # type: ignore[misc]
            except Unusable as error:
                found[path] = error
                continue
            found[path] = subject
            version = numbered(path)
            group = path if version is None else "/".join(version.key)
            owners.setdefault(subject, {}).setdefault(group, []).append(path)
        if isinstance(self._baseline, RegistryBaseline):
            for subject, groups in owners.items():
                if len(groups) > 1:
                    found |= self._shared(subject, [path for group in groups.values() for path in group])
        return found

    def _shared(self, subject: str, paths: Sequence[str]) -> dict[str, Unusable]:
        def error(path: str) -> Unusable:
            others = ", ".join(self._shown(other) for other in paths if other != path)
            text = f"subject {subject} belongs to other files too: {others}; give them subjects of their own"
            return Unusable(text, kind="DUPLICATE_SUBJECT")

        return {path: error(path) for path in paths}

    def _one(self, path: str, subject: str | Unusable) -> FileResult:
        name = None
        try:
            document = self._new.document(path)
            schema = self._new.schema(path)
            if isinstance(subject, Unusable):
                raise subject
            name = subject
            return self._judge(path, document, schema, name)
        except Unusable as error:
            return FileResult.unusable(self._shown(path), error, name)

    def _judge(self, path: str, document: Document, schema: Schema, subject: str) -> FileResult:
        if isinstance(self._baseline, TreeBaseline) and self._baseline.settled(path):
            validate(document, schema, self._baseline.resolve)
            return FileResult(self._shown(path), Status.OK, (), subject)
        theirs, policy = self._baseline.settings(subject)
        level = self._levels.level(subject, theirs)
        history = self._baseline.history(path, subject, level.transitive)
        labels = tuple(old.label for old in history.versions)
        renamed_from = None if history.renamed_from is None else self._shown(history.renamed_from)
        if level is Level.NONE or not labels or self._same(schema, history):
            validate(document, schema, self._baseline.resolve)
            status = Status.OK if labels else Status.NEW
            return FileResult(self._shown(path), status, _notes(history), subject, level.value, labels, renamed_from)
        found = self._findings(document, schema, history, level, self._levels.policy or policy or "STRICT")
        status = Status.INCOMPATIBLE if found else Status.OK
        return FileResult(self._shown(path), status, found, subject, level.value, labels, renamed_from)

    @staticmethod
    def _same(schema: Schema, history: History) -> bool:
        """Whether nothing changed: one earlier version, with the same text, that stands alone."""
        return (
            len(history.versions) == 1
            and not schema.references
            and not history.versions[0].schema.references
            and history.versions[0].schema.schema_str == schema.schema_str
            and history.versions[0].schema.schema_type == schema.schema_type
        )

    def _findings(
        self, document: Document, schema: Schema, history: History, level: Level, policy: str
    ) -> tuple[Finding, ...]:
        """All differences; each direction is judged by itself, so that it is known whose schema a path leads into."""
        suffix = "_TRANSITIVE" if level.transitive else ""
        registered = [old.schema for old in history.versions]
        found: dict[Finding, None] = {}
        for wanted, direction in ((level.backward, "BACKWARD"), (level.forward, "FORWARD")):
            if not wanted:
                continue
            try:
                result = check(schema, registered, direction + suffix, policy, self._baseline.resolve)
            except InvalidSchemaError as error:
                raise self._refused(document, history, error) from error
            for finding in self._placed(document, schema, history, result.differences, direction == "FORWARD"):
                found.setdefault(finding)
        return tuple(found)

    def _placed(
        self, document: Document, schema: Schema, history: History, differences: Sequence[Difference], forward: bool
    ) -> Iterator[Finding]:
        """The findings of one direction, each where its cause is, as far as that is known."""
        causes = FindingCauses(self._new, self._shown, document)
        for number, old in enumerate(history.versions, 1):
            own = [item for item in differences if (item.version or 1) == number]
            if not own:
                continue
            plain = [self._finding(document, history, item, forward) for item in own]
            if document.schema_type == "PROTOBUF":
                yield from causes.proto_uses([causes.proto(item, forward) for item in plain])
                continue
            traced = Tracer(schema, old.schema, self._baseline.resolve).trace([item.path for item in own], forward)
            for finding, cause in zip(plain, traced, strict=True):
                yield finding if cause is None else causes.place(finding, cause, forward)

    @staticmethod
    def _refused(document: Document, history: History, error: InvalidSchemaError) -> Unusable:
        match = NUMBERED.match(error.error_message)
        if match is None:
            return invalid(document, error)
        label = history.versions[int(match[1]) - 1].label
        return Unusable(f"{label}{error.error_message[match.end() :]}", kind="UNUSABLE_BASELINE")

    @staticmethod
    def _finding(document: Document, history: History, difference: Difference, forward: bool) -> Finding:
        old = history.versions[(difference.version or 1) - 1]
        message = NUMBERED.sub(lambda match: _name(history, match), difference.message)
        if document.schema_type == "PROTOBUF":
            line, column = proto_place(document.text, difference.path, difference.message)
        else:
            reader = _value(old.schema) if forward else None
            line, column = json_place(document.text, document.value, difference.path, reader)
        return Finding(difference.kind, message, difference.path, line, column, old.label)


def _notes(history: History) -> tuple[Finding, ...]:
    return () if history.note is None else (history.note,)


def _all_ignored(results: list[FileResult]) -> list[FileResult]:
    """The results; files that are all ignored were compared with nothing, which is no good news."""
    if not results or any(IGNORED not in item.findings for item in results):
        return results
    error = Unusable(IGNORED.message, kind=IGNORED.kind)
    return [FileResult.unusable(item.path, error, item.subject) for item in results]


def _name(history: History, match: re.Match[str]) -> str:
    """The name of a version for people; the engine numbers it."""
    old = history.versions[int(match[1]) - 1]
    return old.name or old.label


def _value(schema: Schema) -> Any:
    """The JSON value of a registered schema, None if it has none (Protobuf; Avro's bare names)."""
    try:
        return parse_json(schema.schema_str, schema.schema_type == "AVRO")
    except Unusable:
        return None
