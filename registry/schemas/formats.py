"""The formats of schemas (Avro, JSON Schema, Protobuf): a module for each, loaded at the first schema of its format.

Must not know any format's rules. A new format is one line in `MODULES` and a module with the functions of `Format`;
`registry.compat.verdict` has the table of those that compare.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Protocol, cast

from registry.errors import InvalidSchemaError
from registry.models import Schema, SchemaReference

MODULES = {
    "AVRO": "registry.schemas.avro.format",
    "JSON": "registry.schemas.json.format",
    "PROTOBUF": "registry.schemas.protobuf.format",
}

Referenced = Sequence[tuple[SchemaReference, Schema]]
"""All schemas a schema is made of, each after those it uses itself (`references.resolve_all`)."""


class Format(Protocol):
    """The functions of a format's module."""

    def parse(self, schema: Schema, referenced: Referenced) -> Any:
        """The schema as an object of its format.

        Raises:
            InvalidSchemaError: it is not a valid schema of this format.
        """

    def canonical(self, schema: Schema, referenced: Referenced, normalize: bool) -> str:
        """The text a registry stores and compares.

        Raises:
            InvalidSchemaError: it is not a valid schema of this format.
        """


def format_of(schema_type: str) -> Format:
    """The module of a schema type.

    Raises:
        InvalidSchemaError: there is no such type.
    """
    if schema_type not in MODULES:
        known = ", ".join(MODULES)
        raise InvalidSchemaError.local(f"schema type {schema_type!r} is unknown: {known}")
    return cast(Format, importlib.import_module(MODULES[schema_type]))
