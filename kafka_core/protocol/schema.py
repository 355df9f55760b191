"""Facts about messages: the base classes of everything in messages/, and one record per field.

Knows nothing of bytes; the compilers read these facts.
Spec: common/message/README.md in kafka-clients; KIP-482 (tagged fields).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar, Generic, NamedTuple, TypeAlias, TypeVar
from uuid import UUID

Buffer: TypeAlias = bytes | bytearray | memoryview
"""Anything the codec writes or reads; a memoryview must be C-contiguous."""
Records: TypeAlias = Buffer | Sequence[Buffer] | None
"""A records field: encoding takes one buffer or several (sent one after the other); decoding gives a memoryview."""
Versions: TypeAlias = tuple[int, int]
"""First and last version, both included."""

OPEN = 32767
"""Last version of a range without an end."""
ZERO_UUID = UUID(int=0)
"""The protocol's way to say "no UUID"."""


class Field(NamedTuple):
    """One field of a struct, in wire order.

    Attributes:
        name: attribute name on the class.
        kind: `int32`, `string`, `struct`, …; `[]` in front for arrays.
        versions: versions of the message that have the field.
        struct: class of the (element) struct, for `struct` and `[]struct`.
        nullable: versions in which the value may be None.
        tag: tag number of a tagged field (KIP-482), else None.
        ignorable: a version without the field may drop a value that is not the default.
        flexible: False for the one field (client id) that keeps its old form in flexible versions.
    """

    name: str
    kind: str
    versions: Versions
    struct: type[Struct] | None = None
    nullable: Versions | None = None
    tag: int | None = None
    ignorable: bool = False
    flexible: bool = True

    def exists_in(self, version: int) -> bool:
        """Whether the given version has the field."""
        return self.versions[0] <= version <= self.versions[1]

    def nullable_in(self, version: int) -> bool:
        """Whether None is allowed in the given version."""
        return self.nullable is not None and self.nullable[0] <= version <= self.nullable[1]


class Struct:
    """Base of all generated dataclasses; nested structs derive from it directly.

    It compares and shows them as `dataclass` would, which makes code for each class when it is imported.
    """

    __slots__ = ()
    FIELDS: ClassVar[tuple[Field, ...]] = ()
    unknown_tagged: list[tuple[int, bytes]]
    """Tagged fields this release has no name for, as (tag, value), tags ascending; written back as they came."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self._names())

    def __repr__(self) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self._names())})"

    @classmethod
    def _names(cls) -> list[str]:
        return [*(item.name for item in cls.FIELDS), "unknown_tagged"]


class ApiMessage(Struct):
    """Base of whole messages: requests, responses, headers and the data messages inside records or group metadata."""

    __slots__ = ()
    API_KEY: ClassVar[int] = -1
    VALID_VERSIONS: ClassVar[Versions] = (0, -1)
    FLEXIBLE_SINCE: ClassVar[int | None] = None
    LATEST_VERSION_UNSTABLE: ClassVar[bool] = False

    @classmethod
    def is_flexible(cls, version: int) -> bool:
        """Whether the version has compact lengths and tagged fields (KIP-482)."""
        return cls.FLEXIBLE_SINCE is not None and version >= cls.FLEXIBLE_SINCE


ResponseT_co = TypeVar("ResponseT_co", bound=ApiMessage, covariant=True)


class ApiRequest(ApiMessage, Generic[ResponseT_co]):
    """Base of requests; the type argument is the class of the response, at run time it is `RESPONSE`."""

    __slots__ = ()
    RESPONSE: ClassVar[type[ApiMessage]] = ApiMessage


def defaults(struct: type[Struct]) -> dict[str, Any]:
    """Fresh default value of every attribute of a generated class, in constructor order."""
    values: dict[str, Any] = {}
    for item in dataclasses.fields(struct):  # type: ignore[arg-type]  # every generated Struct is a dataclass
        values[item.name] = item.default if item.default_factory is dataclasses.MISSING else item.default_factory()
    return values
