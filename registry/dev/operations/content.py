"""Brings a schema to the form in which the registry keeps it: canonical, its references found in the state.

Must not know the rules of any format (`registry.schemas.canonical`), nor of HTTP. Source: Confluent's
`AbstractSchemaRegistry.canonicalizeSchema`, `AbstractSchemaProvider.resolveReferences`.
"""

from __future__ import annotations

import dataclasses

from registry.dev.names import Name
from registry.dev.refusal import invalid_schema
from registry.dev.state.state import State
from registry.errors import InvalidSchemaError
from registry.models import Schema, SchemaReference
from registry.schemas.canonical import canonical_schema, validate_new
from registry.schemas.references import Resolver, resolve_all


def is_empty(schema: Schema) -> bool:
    """Whether a request left the text out."""
    return not schema.schema_str.strip()


def qualified(name: Name, schema: Schema) -> Schema:
    """The schema with references that say which context they mean."""
    found = tuple(
        SchemaReference(item.name, str(name.beside(item.subject)), item.version) for item in schema.references
    )
    return schema if found == schema.references else dataclasses.replace(schema, references=found)


def no_reference(reference: SchemaReference) -> InvalidSchemaError:
    """The error of a reference that leads nowhere."""
    return InvalidSchemaError.local(
        f'No schema reference found for subject "{reference.subject}" and version {reference.version}'
    )


def resolver(state: State, deleted: bool) -> Resolver:
    """Finds qualified references; `deleted` is for schemas that are registered, new ones may not use what is gone."""

    def resolve(reference: SchemaReference) -> Schema:
        version = state.version(reference.subject, reference.version, deleted)
        if version is None:
            raise no_reference(reference)
        return qualified(Name.parse(reference.subject), state.schema(reference.subject, version))

    return resolve


def referenced(state: State, subject: str, schema: Schema, deleted: bool) -> list[tuple[SchemaReference, Schema]]:
    """All schemas a schema under this subject is made of.

    Raises:
        InvalidSchemaError: one is not there, or they form a cycle.
    """
    return resolve_all(qualified(Name.parse(subject), schema), resolver(state, deleted))


def canonical(state: State, subject: str, schema: Schema, normalize: bool, new: bool = False) -> Schema:
    """A schema as it is stored and compared.

    Args:
        new: also refuse what may be registered already, but not anew (Avro: defaults that don't fit).

    Raises:
        Refusal: 42201, it is not a valid schema of its type or uses what is not there.
    """
    name = Name.parse(subject)
    known = dataclasses.replace(schema, references=tuple(_numbered(state, name, item) for item in schema.references))
    try:
        parts = referenced(state, subject, known, deleted=False)
        if new:
            validate_new(known, parts)
        return canonical_schema(known, parts, normalize)
    except InvalidSchemaError as error:
        reason = f"Invalid schema of type {schema.schema_type}, details: {error.error_message}"
        raise invalid_schema(reason) from error


def _numbered(state: State, name: Name, reference: SchemaReference) -> SchemaReference:
    """A reference to the newest version, said with the number it has now."""
    if reference.version != -1:
        return reference
    newest = state.version(str(name.beside(reference.subject)), -1)
    return reference if newest is None else dataclasses.replace(reference, version=newest.number)
