"""The serializers' questions to a registry: the methods of `SchemaSource`, and inquiries, which call them.

Must not know how a registry is reached: `serdes.engine.drivers` runs inquiries, blocking or on an event loop.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from registry import Association, RegisteredSchema, Schema

T = TypeVar("T")


class SchemaSource(Protocol):
    """The methods of a registry client that serializers call. An asyncio client has coroutines of the same names."""

    def get_schema(self, schema_id: int, subject_name: str | None = None, /) -> Schema:
        """The schema with an id, in the context that a subject is in."""
        ...

    def get_schema_by_guid(self, guid: str, /) -> Schema:
        """The schema with a GUID."""
        ...

    def get_version(self, subject_name: str, version: int, deleted: bool, /) -> RegisteredSchema:
        """A version of a subject."""
        ...

    def get_latest_version(self, subject_name: str, /) -> RegisteredSchema:
        """The newest version of a subject."""
        ...

    def get_latest_with_metadata(
        self, subject_name: str, metadata: dict[str, str], deleted: bool, /
    ) -> RegisteredSchema:
        """The newest version of a subject that has these properties."""
        ...

    def lookup_schema(
        self,
        subject_name: str,
        schema: Schema,
        normalize_schemas: bool = False,
        fmt: str | None = None,
        deleted: bool = False,
        /,
    ) -> RegisteredSchema:
        """The version of a subject with a schema."""
        ...

    def register_schema_full_response(
        self, subject_name: str, schema: Schema, normalize_schemas: bool = False, /
    ) -> RegisteredSchema:
        """Registers a schema."""
        ...

    def get_associations_by_resource_name(
        self, resource_name: str, resource_namespace: str, resource_type: str, association_types: list[str], /
    ) -> list[Association]:
        """The subjects that are associated with a topic."""
        ...


@dataclass(frozen=True, slots=True)
class Ask(Generic[T]):
    """One call of a registry client's method, for whoever drives an inquiry.

    Attributes:
        call: makes the call; with an asyncio client it gives an awaitable of the answer.
        in_thread: the call needs no client, but may block (for a key service, say): an asyncio driver runs it in a
            thread, and takes what it returns for the answer.
    """

    call: Callable[[SchemaSource], T]
    in_thread: bool = False


Inquiry: TypeAlias = Generator[Ask[Any], Any, T]
"""Yields calls, is sent their answers (a `SchemaRegistryError` is thrown in), and returns its result."""


def ask(call: Callable[[SchemaSource], T]) -> Inquiry[T]:
    """The answer of a registry: `schema = yield from ask(lambda source: source.get_schema(7))`."""
    answer: T = yield Ask(call)
    return answer


def aside(call: Callable[[], T]) -> Inquiry[T]:
    """The result of a call that may block: `value = yield from aside(lambda: decrypt(payload))`."""
    answer: T = yield Ask(lambda _: call(), in_thread=True)
    return answer
