"""Which schema a payload was written with, on executors that may not reach the registry.

The driver takes a snapshot of the subject's schemas while the plan is made; it travels with the job. An id that is
not in it is looked up once per process. Must not know of Spark. See DESIGN §6.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pipeline.errors import PlanError
from registry import Schema, SchemaReference, SchemaRegistryClient, SchemaRegistryError
from registry.references import resolve_all

__all__ = ["Snapshot", "SnapshotResolver", "take_snapshot"]

UNKNOWN_FOR_S = 60.0
"""How long an id that the registry does not know is not asked for again: bad payloads must not become a storm."""

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


def take_snapshot(registry: Mapping[str, object], subject: str, reader: Schema | None = None) -> Snapshot:
    """Reads all versions of the subject and the schemas they refer to; `reader` is the newest unless given.

    Raises:
        PlanError: the registry can't be reached, has no such subject, or its configuration is wrong.
    """
    references: dict[ReferenceKey, Schema] = {}
    try:
        with SchemaRegistryClient(dict(registry)) as client:
            versions = sorted(client.get_versions(subject))
            found = [client.get_version(subject, version) for version in versions]
            for registered in found:
                resolve_all(registered.schema, _remembering(client, references))
    except (SchemaRegistryError, ValueError) as error:
        raise PlanError(f"the schemas of subject {subject!r} can't be read from the registry: {error}") from error
    schemas = {registered.schema_id: registered.schema for registered in found}
    return Snapshot(dict(registry), subject, reader or found[-1].schema, schemas, references)


def _remembering(client: SchemaRegistryClient, kept: dict[ReferenceKey, Schema]) -> Callable[[SchemaReference], Schema]:
    """A resolver of references that keeps what it finds."""

    def resolve(reference: SchemaReference) -> Schema:
        key = (reference.subject, reference.version)
        if key not in kept:
            kept[key] = client.get_version(*key).schema
        return kept[key]

    return resolve


class SnapshotResolver:
    """Schema id → writer schema: from the snapshot, else one shared look-up per process.

    That the registry does not know an id is remembered for `UNKNOWN_FOR_S`; that it could not be reached is not.

    Args:
        snapshot: what came with the job.
        monotonic: seconds; for tests.
    """

    def __init__(self, snapshot: Snapshot, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._snapshot = snapshot
        self._monotonic = monotonic
        self._found = dict(snapshot.schemas)
        self._references = dict(snapshot.references)
        self._unknown: dict[int, tuple[float, SchemaRegistryError]] = {}
        self._lock = threading.Lock()

    def __call__(self, schema_id: int) -> Schema:
        """The writer schema of this id.

        Raises:
            SchemaRegistryError: the registry doesn't know the id or can't be reached.
        """
        schema = self._found.get(schema_id)
        if schema is not None:
            return schema
        with self._lock:
            schema = self._found.get(schema_id)
            return schema if schema is not None else self._look_up(schema_id)

    def reference(self, reference: SchemaReference) -> Schema:
        """The schema a reference stands for; every one a known writer schema needs is here."""
        return self._references[reference.subject, reference.version]

    def _look_up(self, schema_id: int) -> Schema:
        now_s = self._monotonic()
        until_s, error = self._unknown.get(schema_id, (now_s, None))
        if error is not None and now_s < until_s:
            raise error
        try:
            with SchemaRegistryClient(dict(self._snapshot.registry)) as client:
                schema = client.get_schema(schema_id)
                resolve_all(schema, _remembering(client, self._references))
        except SchemaRegistryError as failure:
            if not failure.retriable:
                self._remember_unknown(schema_id, now_s, failure)
            raise
        self._found[schema_id] = schema
        return schema

    def _remember_unknown(self, schema_id: int, now_s: float, failure: SchemaRegistryError) -> None:
        self._unknown = {at: entry for at, entry in self._unknown.items() if entry[0] > now_s}
        self._unknown[schema_id] = (now_s + UNKNOWN_FOR_S, failure.with_traceback(None))
