"""confluent_kafka's private REST clients and cache of the registry, for code that makes them.

Must not hold anything that clients of ours need.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from kserdes.compat.confluent.schema_registry.clients import AsyncSchemaRegistryClient, SchemaRegistryClient
from kserdes.compat.confluent.schema_registry.rest_view import AsyncRestView, RestView
from registry import RegisteredSchema, Schema

__all__ = [
    "ACCEPT_HDR",
    "VALID_AUTH_PROVIDERS",
    "VALID_LEVELS",
    "VALID_METHODS",
    "AsyncBaseRestClient",
    "AsyncRestClient",
    "BaseRestClient",
    "RestClient",
    "SchemaCache",
    "urlencode",
]

ACCEPT_HDR: Final = "application/vnd.schemaregistry.v1+json, application/vnd.schemaregistry+json, application/json"
VALID_AUTH_PROVIDERS: Final = ["URL", "USER_INFO"]
VALID_LEVELS: Final = ["NONE", "FULL", "FORWARD", "BACKWARD"]
VALID_METHODS: Final = ["GET", "POST", "PUT", "DELETE"]

string_type = str
ByKey = defaultdict[Any, dict[Any, Any]]


def urlencode(value: str) -> str:
    """A text as part of a path."""
    return quote(value, safe="")


class BaseRestClient(RestView):
    """Settings and plain calls of a client that is made for them."""

    def __init__(self, conf: Mapping[str, object]) -> None:
        vars(self).update(vars(SchemaRegistryClient(conf)._rest_client))


class RestClient(BaseRestClient):
    """As `BaseRestClient`."""


class AsyncBaseRestClient(AsyncRestView):
    """`BaseRestClient` for tasks."""

    def __init__(self, conf: Mapping[str, object]) -> None:
        vars(self).update(vars(AsyncSchemaRegistryClient(conf)._rest_client))


class AsyncRestClient(AsyncBaseRestClient):
    """As `AsyncBaseRestClient`."""


class SchemaCache:
    """Schemas by subject and id, by GUID, and registered ones by subject and id, version or schema; for any thread."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.schema_id_index: ByKey = defaultdict(dict)
        self.schema_guid_index: dict[str, Schema] = {}
        self.schema_index: ByKey = defaultdict(dict)
        self.rs_id_index: ByKey = defaultdict(dict)
        self.rs_version_index: ByKey = defaultdict(dict)
        self.rs_schema_index: ByKey = defaultdict(dict)

    def _of_subjects(self) -> tuple[ByKey, ...]:
        registered = (self.rs_id_index, self.rs_version_index, self.rs_schema_index)
        return (self.schema_id_index, self.schema_index, *registered)

    def set_schema(self, subject: str | None, schema_id: int | None, guid: str | None, schema: Schema) -> None:
        """Keeps a schema by what is known of it."""
        with self.lock:
            self._keep(subject, schema_id, guid, schema)

    def _keep(self, subject: str | None, schema_id: int | None, guid: str | None, schema: Schema) -> None:
        if schema_id is not None:
            self.schema_id_index[subject][schema_id] = (guid, schema)
            self.schema_index[subject][schema] = schema_id
        if guid is not None:
            self.schema_guid_index[guid] = schema

    def set_registered_schema(self, schema: Schema, registered_schema: RegisteredSchema) -> None:
        """Keeps a registered schema, and the schema it was asked for with."""
        subject, schema_id = registered_schema.subject, registered_schema.schema_id
        with self.lock:
            self._keep(subject, schema_id, registered_schema.guid, schema)
            if schema_id is not None:
                self.rs_id_index[subject][schema_id] = registered_schema
            self.rs_version_index[subject][registered_schema.version] = registered_schema
            self.rs_schema_index[subject][schema] = registered_schema

    def _found(self, index: ByKey, subject: str | None, key: Any) -> Any:
        with self.lock:
            return index.get(subject, {}).get(key)

    def get_schema_by_id(self, subject: str | None, schema_id: int) -> tuple[str | None, Schema] | None:
        """(GUID, schema)."""
        found: tuple[str | None, Schema] | None = self._found(self.schema_id_index, subject, schema_id)
        return found

    def get_schema_by_guid(self, guid: str) -> Schema | None:
        """The schema."""
        with self.lock:
            return self.schema_guid_index.get(guid)

    def get_id_by_schema(self, subject: str, schema: Schema) -> int | None:
        """The schema's id."""
        found: int | None = self._found(self.schema_index, subject, schema)
        return found

    def get_registered_by_subject_schema(self, subject: str, schema: Schema) -> RegisteredSchema | None:
        """The version registered with this schema."""
        found: RegisteredSchema | None = self._found(self.rs_schema_index, subject, schema)
        return found

    def get_registered_by_subject_id(self, subject: str, schema_id: int) -> RegisteredSchema | None:
        """The version registered with this id."""
        found: RegisteredSchema | None = self._found(self.rs_id_index, subject, schema_id)
        return found

    def get_registered_by_subject_version(self, subject: str, version: int) -> RegisteredSchema | None:
        """The version registered with this number."""
        found: RegisteredSchema | None = self._found(self.rs_version_index, subject, version)
        return found

    def remove_by_subject(self, subject: str) -> None:
        """Forgets a subject."""
        with self.lock:
            for index in self._of_subjects():
                index.pop(subject, None)

    def remove_by_subject_version(self, subject: str, version: int) -> None:
        """Forgets a version of a subject."""
        with self.lock:
            for index in (self.rs_id_index, self.rs_schema_index):
                kept = {key: item for key, item in index.get(subject, {}).items() if item.version != version}
                if subject in index:
                    index[subject] = kept
            gone = self.rs_version_index.get(subject, {}).pop(version, None)
            if gone is not None:
                self.schema_id_index.get(subject, {}).pop(gone.schema_id, None)
                self.schema_index.get(subject, {}).pop(gone.schema, None)

    def clear(self) -> None:
        """Forgets everything."""
        with self.lock:
            self.schema_guid_index.clear()
            for index in self._of_subjects():
                index.clear()
