"""Associations: which subject holds the schemas of a resource, such as a topic, whatever the subject is called.

Must not know of HTTP. Names are those of `confluent_kafka.schema_registry`. Source: the `/associations` part of
Confluent's REST API.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from registry.models import Schema


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Association:
    """A resource's association, as it is looked up.

    Attributes:
        subject: where the schemas are.
        guid: of the association's subject.
        resource_name: e.g. the topic.
        resource_namespace: e.g. the Kafka cluster's id; `-` for any.
        resource_id: identifies the resource for good.
        resource_type: e.g. `topic`.
        association_type: `key` or `value`.
        frozen: whether it may be changed.
    """

    subject: str | None
    guid: str | None
    resource_name: str | None
    resource_namespace: str | None
    resource_id: str | None
    resource_type: str | None
    association_type: str | None
    frozen: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The REST form."""
        return _given(
            subject=self.subject,
            guid=self.guid,
            resourceName=self.resource_name,
            resourceNamespace=self.resource_namespace,
            resourceId=self.resource_id,
            resourceType=self.resource_type,
            associationType=self.association_type,
            frozen=self.frozen,
        )

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Association:
        """Reads the REST form."""
        return cls(
            src_dict.get("subject"),
            src_dict.get("guid"),
            src_dict.get("resourceName"),
            src_dict.get("resourceNamespace"),
            src_dict.get("resourceId"),
            src_dict.get("resourceType"),
            src_dict.get("associationType"),
            bool(src_dict.get("frozen", False)),
        )


@dataclass(frozen=True, slots=True)
class AssociationCreateOrUpdateInfo:
    """One association to be made or changed; None leaves a setting as it is.

    Attributes:
        subject: where the schemas are.
        association_type: `key` or `value`.
        lifecycle: `STRONG` (the subject goes when the resource goes) or `WEAK`.
        frozen: whether it may be changed later.
        schema: registered under the subject at the same time.
        normalize: whether that schema is normalized.
    """

    subject: str | None = None
    association_type: str | None = None
    lifecycle: str | None = None
    frozen: bool | None = None
    schema: Schema | None = None
    normalize: bool | None = None

    def to_dict(self) -> dict[str, Any]:
        """The REST form."""
        return _given(
            subject=self.subject,
            associationType=self.association_type,
            lifecycle=self.lifecycle,
            frozen=self.frozen,
            schema=None if self.schema is None else self.schema.to_request(),
            normalize=self.normalize,
        )

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> AssociationCreateOrUpdateInfo:
        """Reads the REST form."""
        schema = src_dict.get("schema")
        return cls(
            src_dict.get("subject"),
            src_dict.get("associationType"),
            src_dict.get("lifecycle"),
            src_dict.get("frozen"),
            None if schema is None else Schema.from_dict(schema),
            src_dict.get("normalize"),
        )


@dataclass(frozen=True, slots=True)
class AssociationCreateOrUpdateRequest:
    """Associations of one resource to be made or changed.

    Attributes:
        resource_name: e.g. the topic.
        resource_namespace: e.g. the Kafka cluster's id; `-` for any.
        resource_id: identifies the resource for good.
        resource_type: e.g. `topic`.
        associations: the new ones.
    """

    resource_name: str | None = None
    resource_namespace: str | None = None
    resource_id: str | None = None
    resource_type: str | None = None
    associations: Sequence[AssociationCreateOrUpdateInfo] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The REST form."""
        return _resource(self) | _given(associations=_listed(self.associations))

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> AssociationCreateOrUpdateRequest:
        """Reads the REST form."""
        items = src_dict.get("associations")
        made = None if items is None else tuple(AssociationCreateOrUpdateInfo.from_dict(item) for item in items)
        return cls(*_resource_of(src_dict), made)


@dataclass(frozen=True, slots=True)
class AssociationInfo:
    """One association, as the registry answers a request.

    Attributes:
        subject: where the schemas are.
        association_type: `key` or `value`.
        lifecycle: `STRONG` or `WEAK`.
        frozen: whether it may be changed.
        schema: the schema that was registered with it.
    """

    subject: str | None = None
    association_type: str | None = None
    lifecycle: str | None = None
    frozen: bool = False
    schema: Schema | None = None

    def to_dict(self) -> dict[str, Any]:
        """The REST form."""
        return _given(
            subject=self.subject,
            associationType=self.association_type,
            lifecycle=self.lifecycle,
            frozen=self.frozen,
            schema=None if self.schema is None else self.schema.to_dict(),
        )

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> AssociationInfo:
        """Reads the REST form."""
        schema = src_dict.get("schema")
        return cls(
            src_dict.get("subject"),
            src_dict.get("associationType"),
            src_dict.get("lifecycle"),
            bool(src_dict.get("frozen", False)),
            None if schema is None else Schema.from_dict(schema),
        )


@dataclass(frozen=True, slots=True)
class AssociationResponse:
    """The associations of a resource after a request.

    Attributes:
        resource_name: e.g. the topic.
        resource_namespace: e.g. the Kafka cluster's id.
        resource_id: identifies the resource for good.
        resource_type: e.g. `topic`.
        associations: the present ones.
    """

    resource_name: str | None = None
    resource_namespace: str | None = None
    resource_id: str | None = None
    resource_type: str | None = None
    associations: Sequence[AssociationInfo] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The REST form."""
        return _resource(self) | _given(associations=_listed(self.associations))

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> AssociationResponse:
        """Reads the REST form."""
        items = src_dict.get("associations")
        made = None if items is None else tuple(AssociationInfo.from_dict(item) for item in items)
        return cls(*_resource_of(src_dict), made)


def _resource(item: AssociationCreateOrUpdateRequest | AssociationResponse) -> dict[str, Any]:
    return _given(
        resourceName=item.resource_name,
        resourceNamespace=item.resource_namespace,
        resourceId=item.resource_id,
        resourceType=item.resource_type,
    )


def _resource_of(src_dict: Mapping[str, Any]) -> tuple[str | None, str | None, str | None, str | None]:
    return (
        src_dict.get("resourceName"),
        src_dict.get("resourceNamespace"),
        src_dict.get("resourceId"),
        src_dict.get("resourceType"),
    )


def _listed(items: Sequence[Any] | None) -> list[dict[str, Any]] | None:
    return None if items is None else [item.to_dict() for item in items]
