"""Which schema a payload was written with, on executors that may not reach the registry.

The driver takes a snapshot of the subject's schemas while the plan is made; it travels with the job. An id that is
not in it is looked up once per process. Must not know of Spark. See DESIGN §6.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from pipeline.errors import PlanError
from registry import Schema, SchemaRegistryClient, SchemaRegistryError

__all__ = ["Snapshot", "SnapshotResolver", "take_snapshot"]


@dataclass(frozen=True)
class Snapshot:
    """What travels with a job: picklable, and all an executor needs.

    Attributes:
        registry: the client configuration, for ids that are not in `schemas` (may hold secrets: never shown).
        subject: the subject the plan was made for.
        reader: the schema every payload is resolved to.
        schemas: schema id → writer schema, all versions of the subject at plan time.
    """

    registry: Mapping[str, object] = field(repr=False)
    subject: str
    reader: Schema
    schemas: Mapping[int, Schema]


def take_snapshot(registry: Mapping[str, object], subject: str, reader: Schema | None = None) -> Snapshot:
    """Reads the subject's latest schema and all its versions.

    Raises:
        PlanError: the registry can't be reached or has no such subject.
    """
    try:
        with SchemaRegistryClient(dict(registry)) as client:
            found = [client.get_version(subject, version) for version in client.get_versions(subject)]
    except SchemaRegistryError as error:
        raise PlanError(f"the schemas of subject {subject!r} can't be read from the registry: {error}") from error
    schemas = {registered.schema_id: registered.schema for registered in found}
    newest = max(found, key=lambda registered: registered.version or 0)
    return Snapshot(dict(registry), subject, reader or newest.schema, schemas)


class SnapshotResolver:
    """Schema id → writer schema: from the snapshot, else one shared look-up per process.

    A failed look-up is not remembered: the registry may be back for the next batch.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._found = dict(snapshot.schemas)
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
            if schema is None:
                with SchemaRegistryClient(dict(self._snapshot.registry)) as client:
                    schema = self._found[schema_id] = client.get_schema(schema_id)
        return schema
