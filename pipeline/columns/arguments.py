"""Common arguments of `from_registry` and `to_registry`: their checks, and the subject they name.

Must not know what is done with them, nor ask a registry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from pipeline.errors import OptionError
from registry import SchemaRegistryClient
from serdes.context import MessageField, SerializationContext
from serdes.subject import STRATEGIES, SubjectNameStrategy

FORMATS: Final = ("AVRO", "JSON", "PROTOBUF")


class ColumnArguments(Protocol):
    """The arguments that both functions have."""

    @property
    def topic(self) -> str | None: ...
    @property
    def subject(self) -> str | None: ...
    @property
    def strategy(self) -> str | SubjectNameStrategy | None: ...
    @property
    def field(self) -> str: ...
    @property
    def format(self) -> str: ...
    @property
    def message_type(self) -> str: ...
    @property
    def rule_conf(self) -> Mapping[str, Any] | None: ...


def check_shared(given: ColumnArguments) -> None:
    """Refuses what neither function takes.

    Raises:
        OptionError: an argument is of the wrong type or unknown.
    """
    check_texts(given, ("topic", "subject"))
    check_words(given, {"field": ("key", "value")})
    if str(given.format).upper() not in ("AUTO", *FORMATS):
        raise OptionError(f"format must be 'auto', 'avro', 'json' or 'protobuf', not {given.format!r}")
    strategy: object = given.strategy
    named = isinstance(strategy, str) and strategy.upper() in STRATEGIES
    if strategy is not None and not named and not callable(strategy):
        raise OptionError(f"strategy must be 'topic', 'record', 'topic_record' or a function, not {strategy!r}")
    if not isinstance(given.message_type, str):
        raise OptionError(f"message_type must be a text, not {given.message_type!r}")
    if given.rule_conf is not None and not isinstance(given.rule_conf, Mapping):
        raise OptionError("rule_conf must be a dict of properties of rule executors")


def check_texts(given: object, names: Sequence[str]) -> None:
    """Refuses arguments that are neither None nor a text with something in it.

    Raises:
        OptionError: there is one.
    """
    for name in names:
        value = getattr(given, name)
        if value is not None and (not isinstance(value, str) or not value):
            raise OptionError(f"{name} must be a text that is not empty, not {type(value).__name__} {value!r}")


def check_words(given: object, words: Mapping[str, Sequence[str | None]]) -> None:
    """Refuses arguments that are none of their words.

    Raises:
        OptionError: there is one.
    """
    for name, allowed in words.items():
        if getattr(given, name) not in allowed:
            raise OptionError(f"{name} must be {' or '.join(map(repr, allowed))}, not {getattr(given, name)!r}")


def check_names(given: object, name: str, what: str) -> None:
    """Refuses an argument that is neither None nor a list of texts.

    Raises:
        OptionError: it is something else.
    """
    value: object = getattr(given, name)
    if value is None:
        return
    listed = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else []
    if listed and all(isinstance(one, str) and one for one in listed):
        return
    raise OptionError(f"{name} must be a list of {what}, not {value!r}")


def check_registry(registry: object) -> None:
    """Refuses what is no configuration of a registry client.

    Raises:
        OptionError: it is none.
    """
    if not isinstance(registry, Mapping):
        text = f"registry must be a dict of properties such as {{'url': 'http://…'}}, not {type(registry).__name__}"
        hint = ": a client does not travel to executors" if isinstance(registry, SchemaRegistryClient) else ""
        raise OptionError(text + hint)


def named_subject(given: ColumnArguments, name: str | None) -> str:
    """The subject that the strategy makes of the topic and a record's name.

    Raises:
        OptionError: it makes none.
    """
    strategy = given.strategy
    chosen = strategy if callable(strategy) else STRATEGIES[(strategy or "topic").upper()]
    try:
        found = chosen(SerializationContext(given.topic or "", MessageField(given.field)), name)
    except Exception as error:
        raise OptionError(f"the strategy {strategy!r} gives no subject: {error}") from error
    if not isinstance(found, str) or not found:
        raise OptionError(f"the strategy {strategy!r} gives no subject for {name!r}, but {found!r}")
    return found
