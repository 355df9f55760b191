"""ACLs of the embedded broker: which there are, and what they allow whom.

Must not know: requests, connections. The numbers are those of the wire. Spec: KIP-11, KIP-290 (prefixes); the decision
is StandardAuthorizer's of Apache Kafka: a denial wins, and what has no ACL at all is open only if the broker says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from kafka_core.broker.configs import BrokerConfig

CLUSTER_NAME = "kafka-cluster"
ANYBODY = "User:*"
ANY_HOST = "*"
ANY_NAME = "*"


class Resource(IntEnum):
    """Kinds of resources."""

    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5


class Pattern(IntEnum):
    """The way in which a rule's name matches names of resources."""

    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class Operation(IntEnum):
    """An operation that is allowed or denied."""

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


class Permission(IntEnum):
    """Whether it is allowed or denied."""

    ANY = 1
    DENY = 2
    ALLOW = 3


_IMPLIED_BY = {
    Operation.DESCRIBE: {Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER},
    Operation.DESCRIBE_CONFIGS: {Operation.ALTER_CONFIGS},
}
"""Operations, each of which implies the key."""

_OPERATIONS = {
    Resource.TOPIC: (
        Operation.READ,
        Operation.WRITE,
        Operation.CREATE,
        Operation.DELETE,
        Operation.ALTER,
        Operation.DESCRIBE,
        Operation.DESCRIBE_CONFIGS,
        Operation.ALTER_CONFIGS,
    ),
    Resource.GROUP: (
        Operation.READ,
        Operation.DELETE,
        Operation.DESCRIBE,
        Operation.DESCRIBE_CONFIGS,
        Operation.ALTER_CONFIGS,
    ),
    Resource.CLUSTER: (
        Operation.CREATE,
        Operation.ALTER,
        Operation.DESCRIBE,
        Operation.CLUSTER_ACTION,
        Operation.DESCRIBE_CONFIGS,
        Operation.ALTER_CONFIGS,
        Operation.IDEMPOTENT_WRITE,
    ),
}
"""The operations that a kind of resource knows: what `authorized_operations` of answers can list (KIP-430)."""


@dataclass(frozen=True, slots=True)
class Acl:
    """One rule."""

    resource: int
    name: str
    pattern: int
    principal: str
    host: str
    operation: int
    permission: int

    def covers(self, resource: int, name: str) -> bool:
        """Whether it is about the resource of this name."""
        if self.resource != resource:
            return False
        if self.pattern == Pattern.PREFIXED:
            return name.startswith(self.name)
        return self.name in (name, ANY_NAME)

    def speaks_of(self, principal: str, host: str) -> bool:
        """Whether it is about this client."""
        return self.principal in (principal, ANYBODY) and self.host in (host, ANY_HOST)


@dataclass(frozen=True, slots=True)
class AclFilter:
    """A filter of rules; None and ANY match everything."""

    resource: int
    name: str | None
    pattern: int
    principal: str | None
    host: str | None
    operation: int
    permission: int

    def matches(self, acl: Acl) -> bool:
        """Whether the rule is meant."""
        return (
            self.resource in (Resource.ANY, acl.resource)
            and self._names(acl)
            and self.principal in (None, acl.principal)
            and self.host in (None, acl.host)
            and self.operation in (Operation.ANY, acl.operation)
            and self.permission in (Permission.ANY, acl.permission)
        )

    def _names(self, acl: Acl) -> bool:
        if self.pattern not in (Pattern.ANY, Pattern.MATCH, acl.pattern):
            return False
        if self.name is None:
            return True
        return acl.covers(acl.resource, self.name) if self.pattern == Pattern.MATCH else acl.name == self.name


class Authorizer:
    """All rules, and the answer to "may they".

    Args:
        config: `authorizer.class.name` (empty: everybody may do everything, and ACLs can't be administered),
            `super.users`, `allow.everyone.if.no.acl.found`.
    """

    def __init__(self, config: BrokerConfig) -> None:
        self.enabled = bool(config.text("authorizer.class.name"))
        self._super_users = {name.strip() for name in config.text("super.users").split(";") if name.strip()}
        self._open = config.flag("allow.everyone.if.no.acl.found")
        self._acls: dict[Acl, None] = {}

    def add(self, acl: Acl) -> None:
        """Adds a rule; one that is there stays."""
        self._acls[acl] = None

    def remove(self, acl: Acl) -> None:
        """Removes a rule."""
        del self._acls[acl]

    def find(self, wanted: AclFilter) -> list[Acl]:
        """The rules that are meant, oldest first."""
        return [acl for acl in self._acls if wanted.matches(acl)]

    def allows(self, principal: str, host: str, operation: Operation, resource: Resource, name: str) -> bool:
        """Whether this client may do that."""
        if not self.enabled or principal in self._super_users:
            return True
        about = [acl for acl in self._acls if acl.covers(resource, name)]
        if not about:
            return self._open
        own = [acl for acl in about if acl.speaks_of(principal, host)]
        if any(acl.permission == Permission.DENY and acl.operation in (operation, Operation.ALL) for acl in own):
            return False
        enough = {operation, Operation.ALL, *_IMPLIED_BY.get(operation, ())}
        return any(acl.permission == Permission.ALLOW and acl.operation in enough for acl in own)

    def allows_somewhere(self, principal: str, host: str, operation: Operation, resource: Resource) -> bool:
        """Whether this client may do that with any resource of the kind (KIP-679).

        A denial of a name or prefix wins over the permissions for names under it; one for all names over everything.
        """
        if not self.enabled or principal in self._super_users:
            return True
        own = [
            acl
            for acl in self._acls
            if acl.resource == resource
            and acl.speaks_of(principal, host)
            and acl.operation in (operation, Operation.ALL)
        ]
        denied = [acl for acl in own if acl.permission == Permission.DENY]
        if any(acl.pattern == Pattern.LITERAL and acl.name == ANY_NAME for acl in denied):
            return False
        if any(acl.permission == Permission.ALLOW and not _outweighed(acl, denied) for acl in own):
            return True
        return self._open

    def operations(self, principal: str, host: str, resource: Resource, name: str) -> int:
        """The operations that this client may do on a resource, as bits (KIP-430)."""
        return sum(
            1 << operation
            for operation in _OPERATIONS[resource]
            if self.allows(principal, host, operation, resource, name)
        )


def _outweighed(allowed: Acl, denied: list[Acl]) -> bool:
    for acl in denied:
        if acl.pattern == Pattern.PREFIXED and allowed.name.startswith(acl.name):
            return True
        if acl.pattern == allowed.pattern and acl.name == allowed.name:
            return True
    return False
