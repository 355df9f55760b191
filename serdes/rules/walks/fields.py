"""The interface of a format for rules: the walk over a value's fields, and its plain form.

Must not know of rules' languages. One class for each format, chosen by what the format parsed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from serdes.errors import SerializationError
from serdes.formats.protocol import SchemaFormat
from serdes.rules.model import FieldTransformer
from serdes.rules.walks import avro, json


class Fields(Protocol):
    """The fields of values of one schema.

    Attributes:
        tags: full name of a field → tags written in the schema; None where the walk knows them.
        transformer: applies a transform to every field of a value.
    """

    tags: Mapping[str, Iterable[str]] | None
    transformer: FieldTransformer

    def plain(self, value: Any) -> Any:
        """A value of the user's as rules see it."""
        ...

    def as_json(self, value: Any) -> Any:
        """A decoded value as migration rules see it."""
        ...

    def from_json(self, value: Any, old: Any) -> Any:
        """The result of migration rules for `old`, as a value of this schema."""
        ...


def of(form: SchemaFormat, parsed: Any) -> Fields:
    """The fields of a parsed schema."""
    if form.schema_type == "AVRO":
        return _Avro(parsed)
    return _Json(parsed) if form.schema_type == "JSON" else _Protobuf(form, parsed)


class _Same:
    """Values that need no other form."""

    def as_json(self, value: Any) -> Any:
        return value

    def from_json(self, value: Any, old: Any) -> Any:
        return value


class _Avro(_Same):
    def __init__(self, parsed: Any) -> None:
        self.tags: Mapping[str, Iterable[str]] | None = avro.inline_tags(parsed.model)
        self.transformer = avro.field_transformer(parsed.model)

    def plain(self, value: Any) -> Any:
        return plain(value)


class _Json(_Same):
    def __init__(self, parsed: Any) -> None:
        from serdes.formats.json.codec import resolver_of
        from serdes.formats.json.validator import Engine

        self.tags: Mapping[str, Iterable[str]] | None = None
        engine = parsed.engine or Engine(parsed.document, parsed.referenced)  # none where values are not checked
        self.transformer = json.field_transformer(
            parsed.document,
            resolver_of(parsed),
            resolved,
            lambda part, base, value: engine.part_is_valid(part, value),
        )

    def plain(self, value: Any) -> Any:
        return plain(value)


def resolved(resolver: Any, ref: str) -> tuple[Any, Any]:
    """The schema that a reference names, and what its own references are relative to.

    Raises:
        SerializationError: there is none.
    """
    import referencing.exceptions

    try:
        found = resolver.lookup(ref)
    except referencing.exceptions.Unresolvable as error:
        raise SerializationError(f"the JSON Schema refers to {ref!r}, which it has no reference for") from error
    return found.contents, found.resolver


class _Protobuf:
    def __init__(self, form: Any, parsed: Any) -> None:
        from serdes.rules.walks import protobuf

        self._form = form
        self._parsed = parsed
        self.tags: Mapping[str, Iterable[str]] | None = None

        def apply(ctx: Any, transform: Any, message: Any) -> Any:
            registered = parsed.named(message.DESCRIPTOR.full_name).DESCRIPTOR
            return protobuf.field_transformer(registered)(ctx, transform, message)

        self.transformer: FieldTransformer = apply

    def plain(self, value: Any) -> Any:
        return _parsed(self._form.message_class(self._parsed), value) if isinstance(value, Mapping) else value

    def as_json(self, value: Any) -> Any:
        """As confluent_kafka does, since expressions are written for this: names in camelCase, defaults too."""
        from google.protobuf import json_format

        return json_format.MessageToDict(value, always_print_fields_with_no_presence=True)

    def from_json(self, value: Any, old: Any) -> Any:
        """A message of the type that has the old one's name; where there is none, of the schema's first."""
        try:
            kind = self._parsed.named(old.DESCRIPTOR.full_name)
        except SerializationError:
            kind = self._parsed.at([0])
        return self._form.migrated(_parsed(kind, value))


def _parsed(kind: Any, value: Mapping[str, Any]) -> Any:
    from google.protobuf import json_format

    try:
        return json_format.ParseDict(dict(value), kind())
    except (json_format.ParseError, RecursionError, TypeError, ValueError) as error:
        name, why = kind.DESCRIPTOR.full_name, type(error).__name__  # its text may quote the value
        raise SerializationError(f"the dict does not fit message type {name} ({why})") from error


def plain(value: Any) -> Any:
    """Objects (dataclasses, attrs, pydantic) as dicts, inside dicts and lists too; anything else as it is."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    if isinstance(value, type):
        return value
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if hasattr(value, "__attrs_attrs__"):
        return {field.name: plain(getattr(value, field.name)) for field in value.__attrs_attrs__}
    if hasattr(type(value), "model_fields"):
        return {name: plain(getattr(value, name)) for name in type(value).model_fields}
    return value
