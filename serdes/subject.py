"""Under which subject a schema is registered: the three standard strategies.

Must not know of registries. Source: Confluent's documentation, "Subject name strategy".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from serdes.context import SerializationContext
from serdes.errors import SerializationError

__all__ = [
    "STRATEGIES",
    "SubjectNameStrategy",
    "record_subject_name_strategy",
    "topic_record_subject_name_strategy",
    "topic_subject_name_strategy",
]

SubjectNameStrategy: TypeAlias = Callable[[SerializationContext | None, str | None], str | None]
"""Context and full name of the record (None if the schema has no name) → subject."""


def topic_subject_name_strategy(ctx: SerializationContext | None, record_name: str | None) -> str:
    """`<topic>-<field>`, e.g. `orders-value`: one kind of value per topic.

    Raises:
        SerializationError: there is no context.
    """
    return f"{_context(ctx).topic}-{_context(ctx).field}"


def topic_record_subject_name_strategy(ctx: SerializationContext | None, record_name: str | None) -> str:
    """`<topic>-<record name>`: several kinds of values per topic, each evolving by itself.

    Raises:
        SerializationError: there is no context, or the schema has no name.
    """
    return f"{_context(ctx).topic}-{_name(record_name)}"


def record_subject_name_strategy(ctx: SerializationContext | None, record_name: str | None) -> str:
    """`<record name>`: the same kind of value in several topics.

    Raises:
        SerializationError: the schema has no name.
    """
    return _name(record_name)


STRATEGIES: dict[str, SubjectNameStrategy] = {
    "TOPIC": topic_subject_name_strategy,
    "TOPIC_RECORD": topic_record_subject_name_strategy,
    "RECORD": record_subject_name_strategy,
}


def _context(ctx: SerializationContext | None) -> SerializationContext:
    if ctx is None:
        raise SerializationError("the subject's name comes from the topic, so a SerializationContext is needed")
    return ctx


def _name(record_name: str | None) -> str:
    if record_name is None:
        raise SerializationError("the subject's name comes from the record, but the schema has no name")
    return record_name
