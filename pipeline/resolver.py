"""Which schema a payload was written with, on executors that may not reach the registry.

The driver takes a snapshot of the subject's schemas while the plan is made; it travels with the job. An id that is
not in it is looked up through the one client of the process. Must not know of Spark. See DESIGN §6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.clients import shared_client
from pipeline.errors import PlanError
from registry import RegisteredSchema, Schema, SchemaReference, SchemaRegistryClient, SchemaRegistryError
from registry.schemas.references import resolve_all
from serdes.columnar import reading_rules, rules_refused

__all__ = ["Snapshot", "SnapshotResolver", "take_snapshot"]

ReferenceKey = tuple[str, int]
"""Subject and version, as a schema reference names them."""


@dataclass(frozen=True)
class Snapshot:
    """What travels with a job: picklable, and all an executor needs.

    Attributes:
        registry: the client configuration, for ids that are not in `schemas` (may hold secrets: never shown).
        subject: the subject the plan was made for.
        reader: the schema every payload is resolved to.
        schemas: schema id → writer schema, all versions of the subject at plan time.
        references: what `schemas` and `reader` refer to, and what that refers to.
    """

    registry: Mapping[str, object] = field(repr=False)
    subject: str
    reader: Schema
    schemas: Mapping[int, Schema]
    references: Mapping[ReferenceKey, Schema] = field(default_factory=dict)


def take_snapshot(registry: Mapping[str, object], subject: str, reader_schema: str | None = None) -> Snapshot:
    """Reads all versions of the subject and the schemas they refer to.

    The reader schema is the newest version, or has the text `reader_schema` and the newest version's format.

    Raises:
        PlanError: the registry can't be reached, has no such subject, or its configuration is wrong; or a version has
            rules that run when values are read, for columns are decoded without.
    """
    references: dict[ReferenceKey, Schema] = {}
    try:
        with SchemaRegistryClient(dict(registry)) as client:
            versions = sorted(client.get_versions(subject))
            found = [client.get_version(subject, version) for version in versions]
            _refuse_rules(subject, found)
            for registered in found:
                resolve_all(registered.schema, _remembering(client, references))
    except (SchemaRegistryError, ValueError) as error:
        raise PlanError(f"the schemas of subject {subject!r} can't be read from the registry: {error}") from error
    schemas = {registered.schema_id: registered.schema for registered in found}
    newest = found[-1].schema
    reader = newest if reader_schema is None else Schema(reader_schema, newest.schema_type)
    return Snapshot(dict(registry), subject, reader, schemas, references)


def _refuse_rules(subject: str, versions: Sequence[RegisteredSchema]) -> None:
    for registered in versions:
        names = reading_rules(registered.schema)
        if names:
            place = f"subject {subject!r}, version {registered.version}"
            raise PlanError(
                f"{place} (schema id {registered.schema_id}): {rules_refused(names)}: in a UDF, for example"
            )


def _remembering(client: SchemaRegistryClient, kept: dict[ReferenceKey, Schema]) -> Callable[[SchemaReference], Schema]:
    """A resolver of references that keeps what it finds."""

    def resolve(reference: SchemaReference) -> Schema:
        key = (reference.subject, reference.version)
        if key not in kept:
            kept[key] = client.get_version(*key).schema
        return kept[key]

    return resolve


class SnapshotResolver:
    """Schema id → writer schema: from the snapshot, else through the client that all plans of this process share.

    That client asks once for what several threads want, and remembers for `missing.id.cache.ttl.sec` (60 s) that the
    registry does not know an id. That it could not be reached is not remembered.

    Args:
        snapshot: what came with the job.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._found = dict(snapshot.schemas)
        self._references = dict(snapshot.references)

    def __call__(self, schema_id: int) -> Schema:
        """The writer schema of this id.

        Raises:
            SchemaRegistryError: the registry doesn't know the id or can't be reached.
        """
        schema = self._found.get(schema_id)
        if schema is None:
            client = shared_client(self._snapshot.registry)
            schema = client.get_schema(schema_id)
            resolve_all(schema, _remembering(client, self._references))
            self._found[schema_id] = schema
        return schema

    def reference(self, reference: SchemaReference) -> Schema:
        """The schema a reference stands for; every one a known writer schema needs is here."""
        return self._references[reference.subject, reference.version]
