"""The serializers' configuration: confluent_kafka's property names, checked early.

Must not know of registries or codecs. Source: the properties of `confluent_kafka.schema_registry.avro`.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from serdes.subject import STRATEGIES, SubjectNameStrategy, topic_subject_name_strategy

__all__ = ["ReadOptions", "WriteOptions", "check_callable"]

READ_KEYS = ("use.latest.version", "subject.name.strategy", "subject.name.strategy.type")
WRITE_KEYS = (
    "auto.register.schemas",
    "normalize.schemas",
    "use.schema.id",
    "validate.strict",
    "validate.strict.allow.default",
    *READ_KEYS,
)
NOT_YET = (
    "use.latest.with.metadata",
    "subject.name.strategy.conf",
    "schema.id.serializer",
    "schema.id.deserializer",
    "validation.rules.execution",
    "validation.rules.fail.fast",
    "validation.rules.executor",
)
"""Properties confluent_kafka has and we do not, so far: None is taken, everything else refused."""


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How a serializer finds its schema and checks values.

    Attributes:
        auto_register: register the schema at first use.
        normalize: let the registry bring it to its normal form.
        use_schema_id: write with this registered schema.
        use_latest: write with the newest version of the subject.
        strategy: how the subject is called.
        strict: a record must have exactly the schema's fields.
        strict_allow_default: as `strict`, but fields with a default may be missing.
    """

    auto_register: bool = True
    normalize: bool = False
    use_schema_id: int | None = None
    use_latest: bool = False
    strategy: SubjectNameStrategy = topic_subject_name_strategy
    strict: bool = False
    strict_allow_default: bool = False

    @classmethod
    def parse(cls, conf: Mapping[str, Any] | None, has_schema: bool) -> WriteOptions:
        """Reads and checks a configuration.

        Args:
            conf: the properties.
            has_schema: whether the serializer was given a schema.

        Raises:
            ValueError: unknown key (the nearest known one is named), wrong type, or contradicting properties.
        """
        given = _known(conf or {}, WRITE_KEYS)
        use_id = given.get("use.schema.id")
        if use_id is not None and (not isinstance(use_id, int) or isinstance(use_id, bool)):
            raise ValueError("use.schema.id must be an int value")
        made = cls(
            auto_register=_flag(given, "auto.register.schemas", True),
            normalize=_flag(given, "normalize.schemas", False),
            use_schema_id=use_id,
            use_latest=_flag(given, "use.latest.version", False),
            strategy=_strategy(given),
            strict=_flag(given, "validate.strict", False),
            strict_allow_default=_flag(given, "validate.strict.allow.default", False),
        )
        if made.auto_register and (made.use_latest or use_id is not None):
            other = "use.latest.version" if made.use_latest else "use.schema.id"
            raise ValueError(f"cannot enable both {other} and auto.register.schemas (which is on by default)")
        if made.use_latest and use_id is not None:
            raise ValueError("cannot enable both use.latest.version and use.schema.id")
        if not has_schema and not made.use_latest and use_id is None:
            raise ValueError("a schema is needed, unless use.latest.version or use.schema.id says which one to use")
        return made


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a deserializer finds its reader schema.

    Attributes:
        use_latest: read with the newest version of the subject.
        strategy: how the subject is called.
    """

    use_latest: bool = False
    strategy: SubjectNameStrategy = topic_subject_name_strategy

    @classmethod
    def parse(cls, conf: Mapping[str, Any] | None) -> ReadOptions:
        """Reads and checks a configuration.

        Raises:
            ValueError: unknown key (the nearest known one is named) or wrong type.
        """
        given = _known(conf or {}, READ_KEYS)
        return cls(_flag(given, "use.latest.version", False), _strategy(given))


def check_callable(function: Any, name: str) -> None:
    """Checks a conversion function.

    Raises:
        ValueError: it can't be called.
    """
    if function is not None and not callable(function):
        raise ValueError(f"{name} must be callable with the signature {name}(value, SerializationContext)")


def _known(conf: Mapping[str, Any], keys: tuple[str, ...]) -> Mapping[str, Any]:
    for key, value in conf.items():
        if key in keys or (key in NOT_YET and value is None):
            continue
        if key in NOT_YET:
            raise ValueError(f"property {key!r} is not supported yet")
        near = difflib.get_close_matches(str(key), keys, 1, 0.5)
        raise ValueError(f"unknown property {key!r}{f'; did you mean {near[0]!r}?' if near else ''}")
    return conf


def _flag(conf: Mapping[str, Any], key: str, default: bool) -> bool:
    value = conf.get(key, default)
    if not isinstance(value, bool):
        raise ValueError(f"{key} must be a boolean value")
    return value


def _strategy(conf: Mapping[str, Any]) -> SubjectNameStrategy:
    """The callable, if there is one; else the one of the type's name; else by topic."""
    strategy, name = conf.get("subject.name.strategy"), conf.get("subject.name.strategy.type")
    if strategy is not None:
        if not callable(strategy):
            raise ValueError("subject.name.strategy must be callable")
        chosen: SubjectNameStrategy = strategy
        return chosen
    if name is None:
        return topic_subject_name_strategy
    try:
        return STRATEGIES[str(name).upper()]
    except KeyError:
        known = ", ".join(STRATEGIES)
        raise ValueError(f"subject.name.strategy.type {name!r} is not supported: {known}") from None
