"""The formats of schemas: one module for each, loaded when the first schema of its kind comes along.

Must not know any format's rules. A new format is one line in `MODULES` and a module with the functions of `Format`.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Protocol, cast

from registry.compat.difference import Difference, Roles
from registry.errors import InvalidSchemaError
from registry.models import Schema, SchemaReference

__all__ = ["MODULES", "Format", "Referenced", "format_of"]

MODULES = {
    "AVRO": "registry.compat.avro",
    "JSON": "registry.compat.json.diff",
    "PROTOBUF": "registry.compat.protobuf.diff",
}

Referenced = Sequence[tuple[SchemaReference, Schema]]
"""All schemas a schema is made of, each after those it uses itself (`references.resolve_all`)."""


class Format(Protocol):
    """What the module of a format has."""

    def parse(self, schema: Schema, referenced: Referenced) -> Any:
        """The schema as an object for `differences`.

        Raises:
            InvalidSchemaError: it is not a valid schema of this format.
        """

    def differences(self, reader: Any, writer: Any, roles: Roles, policy: str) -> list[Difference]:
        """All that keeps `reader` from reading data of `writer`; empty if it reads all of it."""

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
