"""Lint rules by protoc, for .proto files that a registry takes: misspelled options, unknown types, missing imports.

Must not know of files or rules that are switched: a schema and its references come in. Source: protoc inside this
process (`registry.schemas.protobuf.parser`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kserdes.cli.schema.lint.rules import Complaint
from kserdes.cli.schema.source.linking import BUILT_IN_IMPORTS
from registry import InvalidSchemaError, Schema
from registry.schemas.formats import Referenced
from registry.schemas.protobuf.parser import compile as compile_protobuf

PLACE = re.compile(r"line (\d+), column (\d+): ")
MISSING = re.compile(f'import "(?:{"|".join(BUILT_IN_IMPORTS)})[^"]*": no reference has this name')


def complaints(schema: Schema, referenced: Referenced) -> Iterator[Complaint]:
    """protoc's first complaint, if there is one. Google's common imports may be missing, as in the registry."""
    try:
        compile_protobuf(schema, referenced, lenient=False)
    except InvalidSchemaError as error:
        reason = error.error_message
        found = PLACE.match(reason)
        told = reason if found is None else reason[found.end() :]
        if not MISSING.match(told):
            offset = 0 if found is None else _offset(schema.schema_str, int(found[1]), int(found[2]))
            yield Complaint("proto-valid", f"protoc refuses the file: {told}", offset=offset)


def _offset(text: str, line: int, column: int) -> int:
    """The offset of a line's column, both from 1."""
    before = text.split("\n", line - 1)[: line - 1]
    return min(sum(len(item) + 1 for item in before) + column - 1, len(text))
