"""Lints schema files: every file is parsed by the engine, then looked at by the rules of its format.

Must not know how results are shown.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

from kserdes.cli.schema.check.checking import validate
from kserdes.cli.schema.findings import FileResult, Finding, Status
from kserdes.cli.schema.lint.rules import Complaint
from kserdes.cli.schema.outline.positions import Lines, Positions
from kserdes.cli.schema.source.linking import Collection, Document
from kserdes.cli.shell.unusable import Unusable
from registry import InvalidSchemaError, Schema, SchemaReference
from registry.schemas.references import resolve_all


class Linter:
    """Lints files of one root.

    Args:
        files: the files.
        rules: ids of the rules that are on.
        field_case: `snake`, `camel` or `any`.
        shown: path within the root → path for people.
    """

    def __init__(self, files: Collection, rules: frozenset[str], field_case: str, shown: Callable[[str], str]) -> None:
        self._files = files
        self._rules = rules
        self._field_case = field_case
        self._shown = shown

    def run(self, paths: Iterable[str]) -> list[FileResult]:
        """One result per path, in their order."""
        return [self._one(path) for path in paths]

    def _one(self, path: str) -> FileResult:
        try:
            document = self._files.document(path)
            validate(document, self._files.schema(path), self._resolve)
        except Unusable as error:
            return FileResult.unusable(self._shown(path), error)
        found = [item for item in self._complaints(path, document) if item.rule in self._rules]
        findings = tuple(_findings(document, found))
        return FileResult(self._shown(path), Status.FAULTY if findings else Status.OK, findings)

    def _complaints(self, path: str, document: Document) -> Iterable[Complaint]:
        if document.schema_type == "AVRO":
            from kserdes.cli.schema.lint import avro as lint_avro

            return itertools.chain(self._repeated(document), lint_avro.complaints(document.value, self._field_case))
        if document.schema_type == "JSON":
            from kserdes.cli.schema.lint import json as lint_json

            return itertools.chain(self._repeated(document), lint_json.complaints(document.value, self._field_case))
        from kserdes.cli.schema.lint import protobuf as lint_protobuf

        return itertools.chain(self._protoc(path), lint_protobuf.complaints(document.text))

    def _repeated(self, document: Document) -> Iterable[Complaint]:
        if "repeated-key" not in self._rules:
            return ()
        text = "the object has the key {!r} before already, and only this one counts"
        return (
            Complaint("repeated-key", text.format(name), offset=offset)
            for name, offset in Positions(document.text).repeated
        )

    def _protoc(self, path: str) -> Iterable[Complaint]:
        if "proto-valid" not in self._rules:
            return ()
        from kserdes.cli.schema.lint import protoc as lint_protoc  # needs the extra `proto`

        schema = self._files.schema(path)
        return lint_protoc.complaints(schema, resolve_all(schema, self._resolve))

    def _resolve(self, reference: SchemaReference) -> Schema:
        try:
            return self._files.resolve(reference)
        except Unusable as error:
            raise InvalidSchemaError.local(f"{self._files.target(reference)}: {error.message}") from error


def _findings(document: Document, complaints: list[Complaint]) -> Iterable[Finding]:
    """Complaints with their lines, in the file's order."""
    if not complaints:
        return []
    lines = Lines(document.text)
    known = None if document.schema_type == "PROTOBUF" else Positions(document.text)
    found = []
    for item in complaints:
        offset = item.offset
        if offset is None:
            offset = 0 if known is None else known.offset(item.steps)
        line, column = lines.place(offset)
        pointer = "".join(f"/{step}" for step in item.steps)
        found.append(Finding(item.rule, item.message, pointer, line, column))
    return sorted(found, key=lambda finding: (finding.line, finding.column, finding.kind))
