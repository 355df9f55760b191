# Written by tools/generate_twins.py from registry/client/aio_operations.py; do not edit.
"""The operations of the blocking client: each runs its flow.

Knows nothing of how a flow is run: the shell supplies that. `tools/generate_twins.py` writes the operations that wait
from those that await.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from registry.client import flows
from registry.client.base import ClientBase
from registry.client.steps import Flow
from registry.models import RegisteredSchema, Schema, SchemaVersion, ServerConfig

if TYPE_CHECKING:
    from registry.associations import Association, AssociationCreateOrUpdateRequest, AssociationResponse

T = TypeVar("T")


class Operations(ClientBase):
    """Every operation of a registry; names and arguments are those of confluent_kafka's client."""

    @abstractmethod
    def _drive(self, flow: Flow[T]) -> T:
        """Runs a flow to its end; the shell says how."""

    # --- schemas

    def get_schema(
        self,
        schema_id: int,
        subject_name: str | None = None,
        fmt: str | None = None,
        reference_format: str | None = None,
    ) -> Schema:
        """The schema with this id; cached. A missing id is remembered for `missing.id.cache.ttl.sec` (60 s).

        Args:
            schema_id: the id of a frame.
            subject_name: where to look for it (matters for contexts).
            fmt: output format, e.g. `resolved` (Avro) or `serialized` (Protobuf).
            reference_format: output format of references.

        Raises:
            ResponseError: the registry has no such schema (40403).
        """
        known = self._caches.schemas.get((schema_id, subject_name, fmt, reference_format))
        if known is not None:
            return known
        return self._drive(flows.get_schema(self._caches, schema_id, subject_name, fmt, reference_format))

    def get_schema_by_guid(self, guid: str, fmt: str | None = None) -> Schema:
        """The schema with this GUID; cached. A missing GUID is remembered as `get_schema` remembers a missing id.

        Args:
            guid: as it stands in a message's header.
            fmt: output format, as for `get_schema`.

        Raises:
            ResponseError: the registry has no such schema (40403).
        """
        known = self._caches.guids.get((guid, fmt))
        if known is not None:
            return known
        return self._drive(flows.get_schema_by_guid(self._caches, guid, fmt))

    def get_schema_types(self) -> list[str]:
        """The schema types the registry supports."""
        return self._drive(flows.get_schema_types())

    def get_subjects_by_schema_id(
        self,
        schema_id: int,
        subject_name: str | None = None,
        deleted: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> list[str]:
        """The subjects under which a schema is registered."""
        return self._drive(flows.get_subjects_by_schema_id(schema_id, subject_name, deleted, offset, limit))

    def get_schema_versions(
        self,
        schema_id: int,
        subject_name: str | None = None,
        deleted: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> list[SchemaVersion]:
        """The subjects and versions at which a schema is registered."""
        return self._drive(flows.get_schema_versions(schema_id, subject_name, deleted, offset, limit))

    # --- registration and look-up

    def register_schema(self, subject_name: str, schema: Schema, normalize_schemas: bool = False) -> int:
        """Registers a schema, if it is not yet, and returns its id; cached.

        Raises:
            IncompatibleSchemaError: the subject's compatibility level forbids it; the reasons are with it.
            InvalidSchemaError: the registry can't parse it.
        """
        registered = self.register_schema_full_response(subject_name, schema, normalize_schemas)
        return registered.schema_id

    def register_schema_full_response(
        self, subject_name: str, schema: Schema, normalize_schemas: bool = False
    ) -> RegisteredSchema:
        """As `register_schema`, returning the registry's whole answer."""
        known = self._caches.registered.get((subject_name, schema, normalize_schemas))
        if known is not None:
            return known
        return self._drive(flows.register_schema(self._caches, subject_name, schema, normalize_schemas))

    def lookup_schema(
        self,
        subject_name: str,
        schema: Schema,
        normalize_schemas: bool = False,
        fmt: str | None = None,
        deleted: bool = False,
    ) -> RegisteredSchema:
        """Looks up the registration of this schema under a subject; cached.

        Raises:
            ResponseError: it is not (40403), or there is no such subject (40401).
        """
        known = self._caches.looked_up.get((subject_name, schema, normalize_schemas, fmt, deleted))
        if known is not None:
            return known
        return self._drive(flows.lookup_schema(self._caches, subject_name, schema, normalize_schemas, fmt, deleted))

    # --- subjects and versions

    def get_subjects(
        self,
        subject_prefix: str | None = None,
        deleted: bool = False,
        deleted_only: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> list[str]:
        """The names of all subjects, those deleted softly too if asked for."""
        return self._drive(flows.get_subjects(subject_prefix, deleted, deleted_only, offset, limit))

    def delete_subject(self, subject_name: str, permanent: bool = False) -> list[int]:
        """Deletes a subject and returns its versions; for good only if it was deleted softly before."""
        return self._drive(flows.delete_subject(self._caches, subject_name, permanent))

    def get_latest_version(self, subject_name: str, fmt: str | None = None) -> RegisteredSchema:
        """The newest version of a subject; cached for `cache.latest.ttl.sec`, or until this client registers one."""
        known = self._caches.latest.get((subject_name, fmt))
        if known is not None:
            return known
        return self._drive(flows.get_latest_version(self._caches, subject_name, fmt))

    def get_latest_with_metadata(
        self, subject_name: str, metadata: dict[str, str], deleted: bool = False, fmt: str | None = None
    ) -> RegisteredSchema:
        """The newest version whose metadata has these properties; cached as `get_latest_version`.

        Args:
            subject_name: the subject.
            metadata: names and values that must all be there.
            deleted: whether versions deleted softly count.
            fmt: output format, as for `get_schema`.
        """
        return self._drive(flows.get_latest_with_metadata(self._caches, subject_name, metadata, deleted, fmt))

    def get_version(
        self,
        subject_name: str,
        version: int | Literal["latest"] = "latest",
        deleted: bool = False,
        fmt: str | None = None,
    ) -> RegisteredSchema:
        """One version of a subject; cached."""
        return self._drive(flows.get_version(self._caches, subject_name, version, deleted, fmt))

    def get_versions(
        self,
        subject_name: str,
        deleted: bool = False,
        deleted_only: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> list[int]:
        """The numbers of a subject's versions."""
        return self._drive(flows.get_versions(subject_name, deleted, deleted_only, offset, limit))

    def get_referenced_by(
        self,
        subject_name: str,
        version: int | Literal["latest"] = "latest",
        offset: int = 0,
        limit: int = -1,
    ) -> list[int]:
        """The ids of schemas that use this version as a reference."""
        return self._drive(flows.get_referenced_by(subject_name, version, offset, limit))

    def delete_version(self, subject_name: str, version: int | Literal["latest"], permanent: bool = False) -> int:
        """Deletes one version and returns its number; for good only if it was deleted softly before."""
        return self._drive(flows.delete_version(self._caches, subject_name, version, permanent))

    # --- compatibility and configuration

    def set_compatibility(self, subject_name: str | None = None, level: str | None = None) -> dict[str, Any]:
        """Sets the level of a subject, or the global one, and returns the registry's answer.

        It is `{"compatibility": level}`; Apicurio calls the key `compatibilityLevel`.
        """
        return self._drive(flows.set_compatibility(subject_name, level))

    def get_compatibility(self, subject_name: str | None = None) -> str:
        """The level of a subject, or the global one.

        Raises:
            ResponseError: the subject has no level of its own (40408).
        """
        return self._drive(flows.get_compatibility(subject_name))

    def test_compatibility(
        self,
        subject_name: str,
        schema: Schema,
        version: int | str = "latest",
        normalize: bool = False,
        verbose: bool = False,
    ) -> bool:
        """Whether a schema could be registered, judged against one version."""
        return self._drive(flows.test_compatibility(subject_name, schema, version, normalize, verbose))

    def test_compatibility_all_versions(
        self, subject_name: str, schema: Schema, normalize: bool = False, verbose: bool = False
    ) -> bool:
        """Whether a schema could be registered, judged against all versions the subject's level asks for."""
        return self._drive(flows.test_compatibility(subject_name, schema, None, normalize, verbose))

    def set_config(self, subject_name: str | None = None, config: ServerConfig | None = None) -> ServerConfig:
        """Sets the configuration of a subject, or the global one."""
        return self._drive(flows.set_config(subject_name, config))

    def get_config(self, subject_name: str | None = None) -> ServerConfig:
        """The configuration of a subject, or the global one."""
        return self._drive(flows.get_config(subject_name))

    def delete_config(self, subject_name: str | None = None) -> ServerConfig:
        """Deletes the configuration of a subject, or resets the global one, and returns the old one."""
        return self._drive(flows.delete_config(subject_name))

    # --- modes and contexts

    def get_mode(self, subject_name: str) -> str:
        """The mode of a subject: `READWRITE`, `READONLY`, `READONLY_OVERRIDE`, `IMPORT` or `FORWARD`.

        Raises:
            ResponseError: the subject has no mode of its own (40409).
        """
        return self._drive(flows.get_mode(subject_name))

    def update_mode(self, subject_name: str, mode: str, force: bool = False) -> str:
        """Sets the mode of a subject and returns it; `force` allows `IMPORT` where there are schemas."""
        return self._drive(flows.update_mode(subject_name, mode, force))

    def delete_mode(self, subject_name: str) -> str:
        """Deletes the mode of a subject, which then has the global one, and returns the old one."""
        return self._drive(flows.delete_mode(subject_name))

    def get_global_mode(self) -> str:
        """The mode of subjects that have none of their own."""
        return self._drive(flows.get_global_mode())

    def update_global_mode(self, mode: str, force: bool = False) -> str:
        """Sets the mode of subjects that have none of their own, and returns it."""
        return self._drive(flows.update_global_mode(mode, force))

    def get_contexts(self, offset: int = 0, limit: int = -1) -> list[str]:
        """The names of all contexts; `.` is the default one."""
        return self._drive(flows.get_contexts(offset, limit))

    # --- associations

    def get_associations_by_resource_name(
        self,
        resource_name: str,
        resource_namespace: str,
        resource_type: str | None = None,
        association_types: list[str] | None = None,
        offset: int = 0,
        limit: int = -1,
    ) -> list[Association]:
        """The subjects that are associated with a resource.

        Args:
            resource_name: e.g. the topic.
            resource_namespace: e.g. the Kafka cluster's id; `-` for any.
            resource_type: e.g. `topic`, the default.
            association_types: `key`, `value`, or both.
            offset: how many to leave out.
            limit: how many at the most; -1 for all.
        """
        return self._drive(
            flows.get_associations_by_resource_name(
                resource_name, resource_namespace, resource_type, association_types, offset, limit
            )
        )

    def create_association(self, request: AssociationCreateOrUpdateRequest) -> AssociationResponse:
        """Makes or changes the associations of a resource, and registers the schemas that come with them."""
        return self._drive(flows.create_association(self._caches, request))

    def delete_associations(
        self,
        resource_id: str,
        resource_type: str | None = None,
        association_types: list[str] | None = None,
        cascade_lifecycle: bool = False,
    ) -> None:
        """Deletes associations of a resource.

        Args:
            resource_id: the resource.
            resource_type: e.g. `topic`, the default.
            association_types: `key`, `value`, or both.
            cascade_lifecycle: whether subjects of `STRONG` associations are deleted with them.
        """
        self._drive(
            flows.delete_associations(self._caches, resource_id, resource_type, association_types, cascade_lifecycle)
        )
