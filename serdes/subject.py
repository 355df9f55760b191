"""Subject name strategies: under which subject of the registry a schema is registered.

Must not know how a registry is reached (the associated one is an inquiry). Source: Confluent's documentation, "Subject
name strategy"; `AssociatedNameStrategy` of `confluent_kafka.schema_registry.serde`.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias

from registry import SchemaRegistryError
from serdes.asks import Inquiry, ask
from serdes.context import MessageField, SerializationContext
from serdes.errors import SerializationError, foreign

KAFKA_CLUSTER_ID: Final = "subject.name.strategy.kafka.cluster.id"
FALLBACK_TYPE: Final = "subject.name.strategy.fallback.type"
ANY_CLUSTER: Final = "-"
OWN_NOT_FOUND: Final = range(40400, 40500)
SubjectNameStrategy: TypeAlias = Callable[[SerializationContext | None, str | None], str | None]
"""Context and full name of the record (None if the schema has no name) → subject."""


class SubjectNameStrategyType(enum.StrEnum):
    """Names for `subject.name.strategy.type` and the fallback of ASSOCIATED (which may also be NONE)."""

    TOPIC = "TOPIC"
    RECORD = "RECORD"
    TOPIC_RECORD = "TOPIC_RECORD"
    ASSOCIATED = "ASSOCIATED"
    NONE = "NONE"


def topic_subject_name_strategy(ctx: SerializationContext | None, record_name: str | None) -> str:
    """`<topic>-<field>`, e.g. `orders-value`: one kind of value per topic.

    Raises:
        SerializationError: there is no context, or no topic in it.
    """
    return f"{_topic(ctx)}-{_context(ctx).field}"


def topic_record_subject_name_strategy(ctx: SerializationContext | None, record_name: str | None) -> str:
    """`<topic>-<record name>`: several kinds of values per topic, each evolving by itself.

    Raises:
        SerializationError: there is no context, no topic in it, or the schema has no name.
    """
    return f"{_topic(ctx)}-{_name(record_name)}"


def record_subject_name_strategy(ctx: SerializationContext | None, record_name: str | None) -> str | None:
    """`<record name>`: the same kind of value in several topics. None if the schema has no name, which is refused."""
    return record_name


def reference_subject_name_strategy(ctx: SerializationContext | None, schema_ref: Any) -> str:
    """The subject of an imported Protobuf file: its name in the import statement.

    Args:
        ctx: not used.
        schema_ref: the imported file; its `name` counts.
    """
    return str(schema_ref.name)


STRATEGIES: dict[str, SubjectNameStrategy] = {
    "TOPIC": topic_subject_name_strategy,
    "TOPIC_RECORD": topic_record_subject_name_strategy,
    "RECORD": record_subject_name_strategy,
}


class AssociatedNameStrategy:
    """The subject that the registry associates with a topic; without one, a fallback decides.

    Args:
        conf: `subject.name.strategy.kafka.cluster.id` (the namespace of topics; `-` if missing) and
            `subject.name.strategy.fallback.type` (TOPIC, RECORD, TOPIC_RECORD, or NONE: then it is an error).

    Raises:
        ValueError: an unknown fallback.
    """

    def __init__(self, conf: Mapping[str, Any] | None = None) -> None:
        self._conf = conf or {}
        self._cluster: Callable[[], str | Awaitable[str]] = lambda: ANY_CLUSTER
        _fallback(self._conf)

    def set_cluster_id_resolver(self, resolver: Callable[[], str | Awaitable[str]]) -> None:
        """Sets a function for the Kafka cluster's id at look-ups if the properties have none; tasks may await it."""
        self._cluster = resolver

    def subject(
        self, ctx: SerializationContext | None, record_name: str | None, conf: Mapping[str, Any] | None = None
    ) -> Inquiry[str]:
        """The subject; `conf` in place of the constructor's.

        Raises:
            ValueError: an unknown fallback.
            SerializationError: several subjects, or none and no fallback, or the cluster's id can't be found.
            SchemaRegistryError: the registry refuses, or something else answers: a proxy's 404 says nothing about the
                topic, and the fallback would be the wrong subject. Only a registry's own code (also that of one which
                lacks the call) means that there is no association.
        """
        given = self._conf if conf is None else conf
        place, fallback, cluster = _context(ctx), _fallback(given), given.get(KAFKA_CLUSTER_ID)
        _topic(ctx)
        try:
            if not cluster:
                told = self._cluster()
                cluster = (yield from ask(lambda _: told)) if inspect.isawaitable(told) else told
        except Exception as error:
            raise SerializationError(f"the Kafka cluster's id can't be found; set {KAFKA_CLUSTER_ID}") from error
        kind = "key" if place.field == MessageField.KEY else "value"
        try:
            found = yield from ask(
                lambda source: source.get_associations_by_resource_name(
                    place.topic, str(cluster or ANY_CLUSTER), "topic", [kind]
                )
            )
        except SchemaRegistryError as error:
            if not _none_associated(error):
                raise
            found = []
        if len(found) > 1:
            raise SerializationError(f"Multiple associated subjects found for topic {place.topic}")
        if found:
            return str(found[0].subject)
        if fallback is None:
            raise SerializationError(f"No associated subject found for topic {place.topic}")
        subject = fallback(ctx, record_name)
        return _name(record_name) if subject is None else subject


def _fallback(conf: Mapping[str, Any]) -> SubjectNameStrategy | None:
    said = conf.get(FALLBACK_TYPE, "TOPIC")
    name = str(said).upper()
    if name != "NONE" and name not in STRATEGIES:
        known = ", ".join((*STRATEGIES, "NONE"))
        raise ValueError(f"Invalid value for {FALLBACK_TYPE}: {said}. Valid values are: {known}")
    return STRATEGIES.get(name)


def _none_associated(error: SchemaRegistryError) -> bool:
    """Whether a registry itself says that it has no association, or has no such call."""
    told = error.error_code in OWN_NOT_FOUND or getattr(error, "lacks_call", False)
    return error.http_status_code == 404 and told


def subject_of(
    strategy: SubjectNameStrategy | AssociatedNameStrategy, ctx: SerializationContext | None, name: str | None
) -> Inquiry[str]:
    """The subject a strategy chooses; only the associated one asks the registry.

    Raises:
        SerializationError: there is none.
        SchemaRegistryError: the registry refuses.
    """
    if isinstance(strategy, AssociatedNameStrategy):
        return (yield from strategy.subject(ctx, name))
    try:
        subject = strategy(ctx, name)
    except (SerializationError, MemoryError):
        raise
    except Exception as error:
        raise foreign("the subject name strategy failed", error) from error
    if subject is None and strategy is record_subject_name_strategy:
        return _name(name)
    if not isinstance(subject, str) or not subject:
        what = "an empty one" if subject == "" else type(subject).__name__
        raise SerializationError(f"the subject name strategy gave no subject but {what}")
    return subject


class _NoContextError(SerializationError, ValueError):
    """There is no context; a `ValueError` too, as in confluent_kafka."""


def _context(ctx: SerializationContext | None) -> SerializationContext:
    if ctx is None:
        raise _NoContextError("SerializationContext is required: the subject's name comes from the topic")
    return ctx


def _topic(ctx: SerializationContext | None) -> str:
    topic: object = _context(ctx).topic  # callers may give anything
    if not isinstance(topic, str) or not topic:
        found = "is empty" if topic == "" else f"is {type(topic).__name__}"
        raise SerializationError(f"the subject's name comes from the topic, but the context's topic {found}")
    return topic


def _name(record_name: str | None) -> str:
    if record_name is None:
        raise SerializationError("the subject's name comes from the record, but the schema has no name")
    return record_name
