"""The serializers' configuration: confluent_kafka's property names, checked early.

Must not know of registries or codecs. Source: the properties of `confluent_kafka.schema_registry.{avro, json_schema,
protobuf}`; `latest.compatibility.strict` is the Java serializers'.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from serdes.frames.schema_id import (
    SchemaIdDeserializer,
    SchemaIdSerializer,
    dual_schema_id_deserializer,
    prefix_schema_id_serializer,
)
from serdes.subject import (
    STRATEGIES,
    AssociatedNameStrategy,
    SubjectNameStrategy,
    reference_subject_name_strategy,
)

__all__ = [
    "ANY_TYPE",
    "AVRO_READ",
    "AVRO_WRITE",
    "JSON",
    "PROTOBUF_READ",
    "PROTOBUF_WRITE",
    "ReadOptions",
    "WriteOptions",
    "check_callable",
]

NAMING = ("subject.name.strategy", "subject.name.strategy.type", "subject.name.strategy.conf")
READ_KEYS = ("use.latest.version", "use.latest.with.metadata", "schema.id.deserializer", *NAMING)
WRITE_KEYS = (
    "auto.register.schemas",
    "normalize.schemas",
    "use.schema.id",
    "use.latest.version",
    "use.latest.with.metadata",
    "latest.compatibility.strict",
    "schema.id.serializer",
    "validation.rules.execution",
    "validation.rules.fail.fast",
    "validation.rules.executor",
    *NAMING,
)
NOT_RUN: Final = {"validation.rules.execution": ("DISABLED",), "validation.rules.fail.fast": (False,)}
"""Rules inside schemas (`confluent:rules`) are not run: values that leave them off are taken, others refused."""

AVRO_WRITE: Final[Mapping[str, Any]] = {"validate.strict": False, "validate.strict.allow.default": False}
AVRO_READ: Final[Mapping[str, Any]] = {"avro.max.empty.items": 10_000}
JSON: Final[Mapping[str, Any]] = {"validate": True}
ANY_TYPE: Final = "message.type.any"
PROTOBUF_READ: Final[Mapping[str, Any]] = {"use.deprecated.format": False, "message.type": "", ANY_TYPE: False}
PROTOBUF_WRITE: Final[Mapping[str, Any]] = {
    "use.deprecated.format": False,
    "message.type": "",
    "skip.known.types": True,
    "reference.subject.name.strategy": reference_subject_name_strategy,
}
"""A format's own properties, with what they are if they are missing (which says their type too)."""


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How a serializer finds its schema.

    Attributes:
        auto_register: register the schema at first use.
        normalize: let the registry bring it to its normal form.
        use_schema_id: write with this registered schema.
        use_latest: write with the newest version of the subject.
        metadata: write with the newest version that has these properties.
        latest_strict: what the registry chooses must be able to read what the given schema would write.
        strategy: how the subject is called; None for the default.
        seal: how the payload and what names its schema are put together.
        own: the format's own properties.
    """

    auto_register: bool = True
    normalize: bool = False
    use_schema_id: int | None = None
    use_latest: bool = False
    metadata: Mapping[str, str] | None = None
    latest_strict: bool = False
    strategy: SubjectNameStrategy | AssociatedNameStrategy | None = None
    seal: SchemaIdSerializer = prefix_schema_id_serializer
    own: Mapping[str, Any] = field(default_factory=dict)

    @property
    def chosen_by_registry(self) -> bool:
        """Whether the registry says which schema to write with."""
        return self.use_latest or self.use_schema_id is not None or self.metadata is not None

    @property
    def moves(self) -> bool:
        """Whether the schema to write with may be another one later."""
        return self.use_schema_id is None and self.chosen_by_registry

    @classmethod
    def parse(
        cls, conf: Mapping[str, Any] | None, has_schema: bool, own: Mapping[str, Any] = AVRO_WRITE
    ) -> WriteOptions:
        """Reads and checks a configuration.

        Args:
            conf: the properties.
            has_schema: whether the serializer was given a schema.
            own: the properties of the format, and what they are if they are missing.

        Raises:
            ValueError: unknown key (the nearest known one is named), wrong type, or contradicting properties.
        """
        given = _known(conf or {}, (*WRITE_KEYS, *own))
        use_id = given.get("use.schema.id")
        if use_id is not None and (not isinstance(use_id, int) or isinstance(use_id, bool)):
            raise ValueError("use.schema.id must be an int value")
        made = cls(
            auto_register=_flag(given, "auto.register.schemas", True),
            normalize=_flag(given, "normalize.schemas", False),
            use_schema_id=use_id,
            use_latest=_flag(given, "use.latest.version", False),
            metadata=_metadata(given),
            latest_strict=_flag(given, "latest.compatibility.strict", False),
            strategy=_strategy(given),
            seal=_function(given, "schema.id.serializer", prefix_schema_id_serializer),
            own=_own(given, own),
        )
        if made.auto_register and made.use_latest:
            raise ValueError("cannot enable both use.latest.version and auto.register.schemas (which is on by default)")
        if made.use_latest and use_id is not None:
            raise ValueError("cannot enable both use.latest.version and use.schema.id")
        if not has_schema and not made.chosen_by_registry:
            raise ValueError("a schema is needed, unless use.latest.version or use.schema.id says which one to use")
        return made


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a deserializer finds its schemas.

    Attributes:
        use_latest: read with the newest version of the subject.
        metadata: read with the newest version that has these properties.
        strategy: how the subject is called; None for the default.
        open: how what names the schema is told from the payload.
        own: the format's own properties.
    """

    use_latest: bool = False
    metadata: Mapping[str, str] | None = None
    strategy: SubjectNameStrategy | AssociatedNameStrategy | None = None
    open: SchemaIdDeserializer = dual_schema_id_deserializer
    own: Mapping[str, Any] = field(default_factory=dict)

    @property
    def moves(self) -> bool:
        """Whether the registry says which schema to read with; it may be another one later."""
        return self.use_latest or self.metadata is not None

    @classmethod
    def parse(cls, conf: Mapping[str, Any] | None, own: Mapping[str, Any] | None = None) -> ReadOptions:
        """Reads and checks a configuration.

        Args:
            conf: the properties.
            own: the properties of the format, and what they are if they are missing.

        Raises:
            ValueError: unknown key (the nearest known one is named) or wrong type.
        """
        given = _known(conf or {}, (*READ_KEYS, *(own or ())))
        return cls(
            _flag(given, "use.latest.version", False),
            _metadata(given),
            _strategy(given),
            _function(given, "schema.id.deserializer", dual_schema_id_deserializer),
            _own(given, own or {}),
        )


def check_callable(function: Any, name: str) -> None:
    """Checks a conversion function.

    Raises:
        ValueError: it can't be called.
    """
    if function is not None and not callable(function):
        raise ValueError(f"{name} must be callable with the signature {name}(value, SerializationContext)")


def _known(conf: Mapping[str, Any], keys: tuple[str, ...]) -> Mapping[str, Any]:
    for key, value in conf.items():
        if key not in keys:
            import difflib

            near = difflib.get_close_matches(str(key), keys, 1, 0.5)
            raise ValueError(f"unknown property {key!r}{f'; did you mean {near[0]!r}?' if near else ''}")
        if key.startswith("validation.rules.") and value is not None and value not in NOT_RUN.get(key, ()):
            raise ValueError(f"property {key!r} is not supported: rules inside schemas are not run")
    return conf


def _flag(conf: Mapping[str, Any], key: str, default: bool) -> bool:
    value = conf.get(key, default)
    if not isinstance(value, bool):
        raise ValueError(f"{key} must be a boolean value")
    return value


def _number(conf: Mapping[str, Any], key: str, default: int) -> int:
    value = conf.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{key} must be an int value from 0")
    return value


def _function(conf: Mapping[str, Any], key: str, default: Callable[..., Any]) -> Callable[..., Any]:
    value = conf.get(key)
    if value is None:
        return default
    if not callable(value):
        raise ValueError(f"{key} must be callable")
    function: Callable[..., Any] = value
    return function


def _metadata(conf: Mapping[str, Any]) -> Mapping[str, str] | None:
    value = conf.get("use.latest.with.metadata")
    if value is None or isinstance(value, dict):
        return value
    raise ValueError("use.latest.with.metadata must be a dict value")


def _own(conf: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """The format's own properties: of the type their default has."""
    found: dict[str, Any] = {}
    for key, default in own.items():
        if isinstance(default, bool):
            found[key] = _flag(conf, key, default)
        elif callable(default):
            found[key] = _function(conf, key, default)
        elif isinstance(default, int):
            found[key] = _number(conf, key, default)
        else:
            found[key] = conf.get(key) or default
            if not isinstance(found[key], str):
                raise ValueError(f"{key} must be a str value")
    return found


def _strategy(conf: Mapping[str, Any]) -> SubjectNameStrategy | AssociatedNameStrategy | None:
    """The callable, if there is one; else the one of the type's name."""
    strategy, name = conf.get("subject.name.strategy"), conf.get("subject.name.strategy.type")
    settings = conf.get("subject.name.strategy.conf")
    if settings is not None and not isinstance(settings, dict):
        raise ValueError("subject.name.strategy.conf must be a dict value")
    if isinstance(strategy, AssociatedNameStrategy):
        return strategy
    if strategy is not None:
        return _function(conf, "subject.name.strategy", STRATEGIES["TOPIC"])
    if name is None:
        return None if not settings else AssociatedNameStrategy(settings)
    chosen = str(name).upper()
    if chosen == "ASSOCIATED":
        return AssociatedNameStrategy(settings)
    try:
        return STRATEGIES[chosen]
    except KeyError:
        known = ", ".join((*STRATEGIES, "ASSOCIATED"))
        raise ValueError(f"subject.name.strategy.type {name!r} is not supported: {known}") from None
