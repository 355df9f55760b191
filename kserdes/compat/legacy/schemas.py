"""Schemas and errors of `confluent_kafka.avro`.

Must not know clients.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TextIO

from registry import Schema
from serdes.errors import SerializationError


class ClientError(Exception):
    """A senseless call, a broken schema, or a refusal by the registry.

    Attributes:
        message: what happened.
        http_code: the registry's status; None where it was not asked.
    """

    def __init__(self, message: str, http_code: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.http_code = http_code


class SerializerError(SerializationError):
    """A key or value can't be written or read."""

    @property
    def message(self) -> str:
        """The error's text."""
        return str(self)


class KeySerializerError(SerializerError):
    """A key without a schema."""


class ValueSerializerError(SerializerError):
    """A value without a schema."""


def loads(schema_str: str) -> Schema:
    """A schema of its text.

    Raises:
        ClientError: it is not an Avro schema.
    """
    from serdes.formats.avro.codec import load_texts

    try:
        load_texts(schema_str)
    except SerializationError as error:
        raise ClientError(f"Schema parse failed: {error.reason}") from error
    return Schema(schema_str)


def load(fp: str | Path | TextIO) -> Schema:
    """A schema from a file, by its path or open.

    Raises:
        ClientError: it is not an Avro schema.
    """
    return loads(Path(fp).read_text() if isinstance(fp, (str, Path)) else fp.read())


def as_schema(given: Any) -> Schema | None:
    """A schema of a text, a `registry.Schema`, or any object whose `str()` is the schema; None for None."""
    return given if given is None or isinstance(given, Schema) else Schema(str(given))
