"""Values of administering who may do what: ACL bindings and SCRAM users.

Knows nothing of the wire or of clients. Names, arguments and attributes are those of confluent_kafka.admin. Specs:
KIP-11 and KIP-290 (ACLs, prefixed patterns), KIP-554 (SCRAM users by request).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import total_ordering
from typing import ClassVar, Final, Protocol, TypeVar

from kafka_core.admin_model import AclOperation, ResourceType

E = TypeVar("E", bound=Enum)


class ResourcePatternType(Enum):
    """The way in which the name in an ACL matches names of resources (KIP-290)."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4

    def __lt__(self, other: object) -> bool:
        return self.value < other.value if isinstance(other, ResourcePatternType) else NotImplemented


class AclPermissionType(Enum):
    """Whether an ACL allows or denies."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3

    def __lt__(self, other: object) -> bool:
        return self.value < other.value if isinstance(other, AclPermissionType) else NotImplemented


class WireAcl(Protocol):
    """The part of an ACL that all messages share."""

    principal: str
    host: str
    operation: int
    permission_type: int


def _known(kind: type[E], number: int) -> E:
    return kind(number) if number in kind._value2member_map_ else kind["UNKNOWN"]


@total_ordering
class AclBinding:
    """One rule: a principal may (or may not) do an operation on the resources of a name or a prefix.

    Enums may be given as words in any case (`"topic"`) or as numbers. Equality, order and hash are those of all
    attributes together, so a binding is a key of what `create_acls` returns.

    Args:
        restype: kind of the resource. `BROKER` is the cluster as a whole; its name is `kafka-cluster`.
        name: the resource's name, a prefix of names, or `*` for all (with LITERAL).
        resource_pattern_type: LITERAL or PREFIXED.
        principal: with its type: `User:alice`; `User:*` is everybody.
        host: the address of the client, `*` for any.
        operation: the one allowed or denied; `ALL` for everything.
        permission_type: ALLOW or DENY. A denial wins.

    Raises:
        ValueError: an unknown word or number, one that only filters may have (ANY, MATCH), or None as a text.
        TypeError: something else than text where text belongs.
    """

    _NO_VALUES: ClassVar[frozenset[str]] = frozenset({"ANY", "MATCH"})
    _MAY_BE_NONE: ClassVar[bool] = False

    def __init__(
        self,
        restype: ResourceType | str | int,
        name: str | None,
        resource_pattern_type: ResourcePatternType | str | int,
        principal: str | None,
        host: str | None,
        operation: AclOperation | str | int,
        permission_type: AclPermissionType | str | int,
    ) -> None:
        self.restype = self._enum("restype", restype, ResourceType)
        self.name = self._text("name", name)
        self.resource_pattern_type = self._enum("resource_pattern_type", resource_pattern_type, ResourcePatternType)
        self.principal = self._text("principal", principal)
        self.host = self._text("host", host)
        self.operation = self._enum("operation", operation, AclOperation)
        self.permission_type = self._enum("permission_type", permission_type, AclPermissionType)

    @classmethod
    def from_wire(cls, restype: int, name: str, resource_pattern_type: int, acl: WireAcl) -> AclBinding:
        """A binding from a broker's answer; kinds and operations unknown to this client are UNKNOWN."""
        binding = cls.__new__(cls)
        binding.restype = _known(ResourceType, restype)
        binding.name = name
        binding.resource_pattern_type = _known(ResourcePatternType, resource_pattern_type)
        binding.principal = acl.principal
        binding.host = acl.host
        binding.operation = _known(AclOperation, acl.operation)
        binding.permission_type = _known(AclPermissionType, acl.permission_type)
        return binding

    @property
    def restype_int(self) -> int:
        """The number of `restype`."""
        return self.restype.value

    @property
    def resource_pattern_type_int(self) -> int:
        """The number of `resource_pattern_type`."""
        return self.resource_pattern_type.value

    @property
    def operation_int(self) -> int:
        """The number of `operation`."""
        return self.operation.value

    @property
    def permission_type_int(self) -> int:
        """The number of `permission_type`."""
        return self.permission_type.value

    def _enum(self, what: str, value: object, kind: type[E]) -> E:
        if isinstance(value, str):
            if value.upper() not in kind.__members__:
                known = ", ".join(kind.__members__).lower()
                raise ValueError(f"unknown {what} {value!r}: {kind.__name__} knows {known}")
            found = kind[value.upper()]
        else:
            try:
                found = kind(value)
            except ValueError:
                text = f"{what} must be a {kind.__name__}, its name or its number, not {value!r}"
                raise ValueError(text) from None
        if found.name in self._NO_VALUES:
            raise ValueError(f"{what} can't be {found.name} in an {type(self).__name__}")
        return found

    def _text(self, what: str, value: object) -> str | None:
        if value is None and not self._MAY_BE_NONE:
            raise ValueError(f"{what} must not be None in an {type(self).__name__}")
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{what} must be text, not {type(value).__name__}")
        return value

    def _key(self) -> tuple[object, ...]:
        return (
            self.restype,
            self.name,
            self.resource_pattern_type,
            self.principal,
            self.host,
            self.operation,
            self.permission_type,
        )

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, AclBinding) else NotImplemented

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, AclBinding):
            return NotImplemented
        return _sortable(self._key()) < _sortable(other._key())

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({','.join(map(str, self._key()))})"


def _sortable(key: tuple[object, ...]) -> tuple[tuple[bool, object], ...]:
    """Numbers for enums, and None before all text: both have no order of their own."""
    return tuple((part is not None, part.value if isinstance(part, Enum) else part) for part in key)


class AclBindingFilter(AclBinding):
    """A filter of ACL bindings: matches those that agree in every attribute that is not None or ANY.

    With `resource_pattern_type=MATCH` those that apply to the resource `name`: of this name, of `*`, and of its
    prefixes.
    """

    _NO_VALUES = frozenset({"UNKNOWN"})
    _MAY_BE_NONE = True


# ---- SCRAM


class ScramMechanism(Enum):
    """Mechanism of a SCRAM credential."""

    UNKNOWN = 0
    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2

    @classmethod
    def from_wire(cls, number: int) -> ScramMechanism:
        """The mechanism a broker names; UNKNOWN for one this client has no name for."""
        return _known(cls, number)

    def __lt__(self, other: object) -> bool:
        return self.value < other.value if isinstance(other, ScramMechanism) else NotImplemented


DIGESTS: Final = {ScramMechanism.SCRAM_SHA_256: "sha256", ScramMechanism.SCRAM_SHA_512: "sha512"}
"""The hash of each mechanism, by hashlib's name."""


@dataclass(slots=True)
class ScramCredentialInfo:
    """The known facts of a user's credential: its mechanism, and how often the password was hashed."""

    mechanism: ScramMechanism
    iterations: int


@dataclass(slots=True)
class UserScramCredentialsDescription:
    """A user with all its credentials, one per mechanism."""

    user: str
    scram_credential_infos: list[ScramCredentialInfo]


@dataclass(slots=True)
class UserScramCredentialAlteration:
    """A change of one user; made as one of the two classes below."""

    user: str


@dataclass(slots=True)
class UserScramCredentialUpsertion(UserScramCredentialAlteration):
    """Sets a user's credential.

    Args:
        user: the name.
        scram_credential_info: mechanism, and iterations (brokers take 4096 to 16384).
        password: it is salted and hashed here and never sent.
        salt: None for a random one.
    """

    scram_credential_info: ScramCredentialInfo
    password: bytes
    salt: bytes | None = None

    def __repr__(self) -> str:
        return f"UserScramCredentialUpsertion(user={self.user!r}, {self.scram_credential_info})"


@dataclass(slots=True)
class UserScramCredentialDeletion(UserScramCredentialAlteration):
    """Removes a user's credential of one mechanism."""

    mechanism: ScramMechanism
