"""A registry in a dictionary, with the methods that serializers ask for; blocking and asyncio."""

from __future__ import annotations

import uuid
from typing import Any

from registry import RegisteredSchema, ResponseError, Schema

NAMESPACE = uuid.UUID(int=7)


class FakeRegistry:
    """Registers without asking whether schemas are compatible or valid.

    Attributes:
        subjects: subject → versions.
        calls: names of the operations that were asked for.
    """

    def __init__(self, guids: bool = True) -> None:
        self.subjects: dict[str, list[RegisteredSchema]] = {}
        self.associations: dict[tuple[str, str], list[Any]] = {}
        self.calls: list[str] = []
        self._guids = guids
        self._ids: dict[Schema, int] = {}

    def config(self) -> dict[str, Any]:
        return {}

    def register_schema_full_response(
        self, subject: str, schema: Schema, normalize_schemas: bool = False
    ) -> RegisteredSchema:
        self.calls.append("register")
        versions = self.subjects.setdefault(subject, [])
        for known in versions:
            if known.schema == schema:
                return known
        schema_id = self._ids.setdefault(schema, len(self._ids) + 1)
        guid = str(uuid.uuid5(NAMESPACE, str(schema_id))) if self._guids else None
        versions.append(RegisteredSchema(subject, len(versions) + 1, schema_id, guid, schema))
        return versions[-1]

    def register_schema(self, subject: str, schema: Schema, normalize_schemas: bool = False) -> int:
        return self.register_schema_full_response(subject, schema, normalize_schemas).schema_id

    def lookup_schema(
        self, subject: str, schema: Schema, normalize: bool = False, fmt: str | None = None, deleted: bool = False
    ) -> RegisteredSchema:
        self.calls.append("lookup")
        for known in self.subjects.get(subject, []):
            if known.schema == schema:
                return known
        raise ResponseError(404, 40403, "Schema not found")

    def get_schema(self, schema_id: int, subject: str | None = None, fmt: str | None = None) -> Schema:
        self.calls.append("get_schema")
        for schema, known_id in self._ids.items():
            if known_id == schema_id:
                return schema
        raise ResponseError(404, 40403, f"Schema {schema_id} not found")

    def get_schema_by_guid(self, guid: str, fmt: str | None = None) -> Schema:
        self.calls.append("get_schema_by_guid")
        for versions in self.subjects.values():
            for known in versions:
                if known.guid == guid:
                    return known.schema
        raise ResponseError(404, 40403, f"Schema {guid} not found")

    def get_latest_version(self, subject: str, fmt: str | None = None) -> RegisteredSchema:
        self.calls.append("latest")
        if subject not in self.subjects:
            raise ResponseError(404, 40401, f"Subject {subject!r} not found")
        return self.subjects[subject][-1]

    def get_latest_with_metadata(
        self, subject: str, metadata: dict[str, str], deleted: bool = False, fmt: str | None = None
    ) -> RegisteredSchema:
        self.calls.append("metadata")
        for known in reversed(self.subjects.get(subject, [])):
            stored = known.schema.metadata
            if stored is not None and metadata.items() <= dict(stored.properties or {}).items():
                return known
        raise ResponseError(404, 40402, "Version not found")

    def get_version(
        self, subject: str, version: int, deleted: bool = False, fmt: str | None = None
    ) -> RegisteredSchema:
        self.calls.append("version")
        return self.subjects[subject][version - 1]

    def get_associations_by_resource_name(
        self, name: str, namespace: str, kind: str, types: list[str], *rest: Any
    ) -> list[Any]:
        self.calls.append("associations")
        if (name, types[0]) not in self.associations:
            raise ResponseError(404, 40400, "not found")
        return self.associations[name, types[0]]


class AsyncFakeRegistry:
    """The same, awaited."""

    def __init__(self, registry: FakeRegistry) -> None:
        self.inner = registry

    def config(self) -> dict[str, Any]:
        return {}

    def __getattr__(self, name: str) -> Any:
        function = getattr(self.inner, name)

        async def call(*arguments: Any) -> Any:
            return function(*arguments)

        return call

    async def get_associations_by_resource_name(self, *arguments: Any) -> list[Any]:
        return self.inner.get_associations_by_resource_name(*arguments)
