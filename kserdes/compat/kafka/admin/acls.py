"""ACLs of kafka-python 3.0 on `kafka_core.admin`: its classes with their checks and texts, and three calls.

Must not hold any protocol. Spec: KIP-11, KIP-290; `kafka.admin`'s names.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from kafka_core import admin as ours
from kserdes.compat.kafka import errors
from kserdes.compat.kafka.admin.base import AdminBase, outcome
from kserdes.compat.kafka.failures import error_class, translating

__all__ = [
    "ACL",
    "ACLFilter",
    "ACLOperation",
    "ACLPermissionType",
    "ACLResourcePatternType",
    "AclCalls",
    "ResourcePattern",
    "ResourcePatternFilter",
    "ResourceType",
]


class ResourceType(IntEnum):
    """Kinds of resources."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class ACLOperation(IntEnum):
    """The operation that an ACL allows or denies."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14


class ACLPermissionType(IntEnum):
    """Whether it is allowed or denied."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


class ACLResourcePatternType(IntEnum):
    """The way in which an ACL's name matches names of resources (KIP-290)."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class ResourcePatternFilter:
    """A filter of resources; None as a name, or ANY, matches all.

    Raises:
        IllegalArgumentError: not members of the enums.
    """

    def __init__(
        self, resource_type: ResourceType, resource_name: str | None, pattern_type: ACLResourcePatternType
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.validate()

    def validate(self) -> None:
        """IllegalArgumentError if a type is not a member of its enum."""
        if not isinstance(self.resource_type, ResourceType):
            raise errors.IllegalArgumentError("resource_type must be a ResourceType object")
        if not isinstance(self.pattern_type, ACLResourcePatternType):
            raise errors.IllegalArgumentError("pattern_type must be an ACLResourcePatternType object")

    def __repr__(self) -> str:
        kind, pattern = name_of(self.resource_type), name_of(self.pattern_type)
        return f"<ResourcePattern type={kind}, name={self.resource_name}, pattern={pattern}>"

    def _key(self) -> tuple[Any, ...]:
        return (self.resource_type, self.resource_name, self.pattern_type)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, ResourcePatternFilter) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())


class ResourcePattern(ResourcePatternFilter):
    """The resources that an ACL is about: those of a name, or of a prefix.

    Raises:
        IllegalArgumentError: ANY or MATCH, which only filters may have.
    """

    def __init__(
        self,
        resource_type: ResourceType,
        resource_name: str,
        pattern_type: ACLResourcePatternType = ACLResourcePatternType.LITERAL,
    ) -> None:
        super().__init__(resource_type, resource_name, pattern_type)

    def validate(self) -> None:
        """IllegalArgumentError if this stands for no resources of an ACL."""
        if self.resource_type == ResourceType.ANY:
            raise errors.IllegalArgumentError("resource_type cannot be ANY")
        if self.pattern_type in (ACLResourcePatternType.ANY, ACLResourcePatternType.MATCH):
            raise errors.IllegalArgumentError(
                f"pattern_type cannot be {self.pattern_type.name} on a concrete ResourcePattern"
            )


class ACLFilter:
    """A filter of ACLs: matches those that agree in all that is not None or ANY.

    Raises:
        IllegalArgumentError: not members of the enums, or no pattern.
    """

    def __init__(
        self,
        principal: str | None,
        host: str | None,
        operation: ACLOperation,
        permission_type: ACLPermissionType,
        resource_pattern: ResourcePatternFilter,
    ) -> None:
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type
        self.resource_pattern = resource_pattern
        self.validate()

    def validate(self) -> None:
        """IllegalArgumentError if a part is not of its class."""
        if not isinstance(self.operation, ACLOperation):
            raise errors.IllegalArgumentError("operation must be an ACLOperation object, and cannot be ANY")
        if not isinstance(self.permission_type, ACLPermissionType):
            raise errors.IllegalArgumentError("permission_type must be an ACLPermissionType object, and cannot be ANY")
        if not isinstance(self.resource_pattern, ResourcePatternFilter):
            raise errors.IllegalArgumentError("resource_pattern must be a ResourcePatternFilter object")

    def __repr__(self) -> str:
        return (
            f"<ACL principal={self.principal}, resource={self.resource_pattern}, "
            f"operation={name_of(self.operation)}, type={name_of(self.permission_type)}, host={self.host}>"
        )

    def _key(self) -> tuple[Any, ...]:
        return (self.principal, self.host, self.operation, self.permission_type, self.resource_pattern)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, ACLFilter) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())


class ACL(ACLFilter):
    """A rule: a principal may (or may not) do an operation on the resources of a pattern.

    Raises:
        IllegalArgumentError: ANY, or a filter instead of a pattern.
    """

    resource_pattern: ResourcePattern

    def validate(self) -> None:
        """IllegalArgumentError if this is only a filter."""
        if self.operation == ACLOperation.ANY:
            raise errors.IllegalArgumentError("operation cannot be ANY")
        if self.permission_type == ACLPermissionType.ANY:
            raise errors.IllegalArgumentError("permission_type cannot be ANY")
        if not isinstance(self.resource_pattern, ResourcePattern):
            raise errors.IllegalArgumentError("resource_pattern must be a ResourcePattern object")


class AclCalls(AdminBase):
    """The calls about ACLs."""

    def create_acls(self, acls: Sequence[ACL]) -> dict[str, list[Any]]:
        """Creates ACLs: those that were, and the error classes of those that were not.

        Raises:
            IllegalArgumentError: something else than an ACL.
        """
        if not all(isinstance(each, ACL) for each in acls):
            raise errors.IllegalArgumentError("acls must contain ACL objects")
        done: dict[str, list[Any]] = {"succeeded": [], "failed": []}
        with translating():
            bindings = [binding(each) for each in acls]
            answers = self._client.create_acls(bindings) if bindings else {}
        for acl, key in zip(acls, bindings, strict=True):
            failure = outcome(answers[key])
            if failure is None:
                done["succeeded"].append(acl)
            else:
                done["failed"].append(error_class(failure))
        return done

    def describe_acls(self, acl_filter: ACLFilter) -> tuple[list[ACL], type[errors.KafkaError]]:
        """The ACLs that a filter stands for, and NoError."""
        with translating():
            found = self._client.describe_acls(binding_filter(acl_filter)).result()
        return [theirs(each) for each in found], errors.NoError

    def delete_acls(
        self, acl_filters: Sequence[ACLFilter]
    ) -> list[tuple[ACLFilter, list[ACL], type[errors.KafkaError]]]:
        """Deletes the ACLs that match filters: each filter, its deleted ACLs, and NoError or the error's class.

        Raises:
            IllegalArgumentError: something else than a filter.
        """
        if not all(isinstance(each, ACLFilter) for each in acl_filters):
            raise errors.IllegalArgumentError("acl_filters must contain ACLFilter type objects")
        with translating():
            keys = [binding_filter(each) for each in acl_filters]
            answers = self._client.delete_acls(list(dict.fromkeys(keys))) if keys else {}
        done = []
        for given, key in zip(acl_filters, keys, strict=True):
            failure = outcome(answers[key])
            deleted = [] if failure is not None else [theirs(each) for each in answers[key].result()]
            done.append((given, deleted, errors.NoError if failure is None else error_class(failure)))
        return done


def name_of(member: Any) -> str:
    """The name of a member of an enum; AttributeError for anything else, as there."""
    name: str = member.name
    return name


def binding(acl: ACL) -> ours.AclBinding:
    """One of ours."""
    return ours.AclBinding(*parts(acl))


def binding_filter(given: ACLFilter) -> ours.AclBindingFilter:
    """One of ours."""
    return ours.AclBindingFilter(*parts(given))


def parts(given: ACLFilter) -> tuple[Any, ...]:
    """The arguments of our classes; IllegalArgumentError for what ours has no name for."""
    pattern = given.resource_pattern
    values = (
        int(pattern.resource_type),
        pattern.resource_name,
        int(pattern.pattern_type),
        given.principal,
        given.host,
        int(given.operation),
        int(given.permission_type),
    )
    try:
        ours.AclBindingFilter(*values)
        if isinstance(given, ACL):
            ours.AclBinding(*values)
    except (TypeError, ValueError) as error:
        raise errors.IllegalArgumentError(str(error)) from error
    return values


def theirs(found: ours.AclBinding) -> ACL:
    """An ACL of ours as theirs."""
    name = found.name or ""
    pattern = ResourcePattern(
        ResourceType(found.restype.value), name, ACLResourcePatternType(found.resource_pattern_type.value)
    )
    return ACL(
        found.principal,
        found.host,
        ACLOperation(found.operation.value),
        ACLPermissionType(found.permission_type.value),
        pattern,
    )
