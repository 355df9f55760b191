"""The serializers' configuration: confluent_kafka's property names, checked early.

Must not know of registries or codecs. Source: the properties of `confluent_kafka.schema_registry.{avro, json_schema,
protobuf}`; `latest.compatibility.strict` is the Java serializers'.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any, Final

from kserdes_base.config.errors import PropertyError
from kserdes_base.config.properties import Kind, Property
from kserdes_base.config.table import Table
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


def _strategy_of(raw: object) -> object:
    """A strategy of any kind."""
    if not (callable(raw) or isinstance(raw, AssociatedNameStrategy)):
        raise TypeError
    return raw


DISABLED: Final = "DISABLED"
AFTER: Final = "AFTER_DOMAIN_RULES"
VALIDATION: Final = (
    Property(
        "validation.rules.execution",
        Kind.ENUM,
        DISABLED,
        "Whether rules inside schemas (`confluent:rules`) run, before or after domain rules. Deserializers: ours.",
        words=(DISABLED, "BEFORE_DOMAIN_RULES", AFTER),
    ),
    Property("validation.rules.fail.fast", Kind.BOOL, False, "Stop at the first failed rule, instead of naming all."),
    Property(
        "validation.rules.executor",
        Kind.OBJECT,
        None,
        "Evaluates the rules; None for CEL. Ignored while rules are off.",
        takes="a ValidationRuleExecutor",
        read=lambda raw: raw,
    ),
)
NAMING: Final = (
    Property(
        "subject.name.strategy",
        Kind.OBJECT,
        None,
        "Gives the subject: a function of SerializationContext and record name, or an AssociatedNameStrategy. "
        "If neither this nor the type is set: ASSOCIATED.",
        takes="callable or an AssociatedNameStrategy",
        read=_strategy_of,
    ),
    Property(
        "subject.name.strategy.type",
        Kind.ENUM,
        None,
        "The strategy by its name, if there is no callable. ASSOCIATED asks the registry and falls back to TOPIC.",
        words=(*STRATEGIES, "ASSOCIATED"),
    ),
    Property(
        "subject.name.strategy.conf",
        Kind.DICT,
        None,
        "Properties of ASSOCIATED: `subject.name.strategy.fallback.type`, `subject.name.strategy.kafka.cluster.id`.",
    ),
)
LATEST: Final = (
    Property("use.latest.version", Kind.BOOL, False, "Use the newest version of the subject."),
    Property(
        "use.latest.with.metadata",
        Kind.DICT,
        None,
        "Use the newest version of the subject whose metadata has these properties.",
    ),
)
READ: Final = (
    *LATEST,
    Property(
        "schema.id.deserializer",
        Kind.CALLBACK,
        dual_schema_id_deserializer,
        "Function that finds the schema's id: in a header or in front of the payload.",
    ),
    *VALIDATION,
    *NAMING,
)
"""Properties of all deserializers."""

WRITE: Final = (
    Property("auto.register.schemas", Kind.BOOL, True, "Register the schema at first use."),
    Property("normalize.schemas", Kind.BOOL, False, "Let the registry bring the schema to its normal form."),
    Property("use.schema.id", Kind.INT, None, "Write with the registered schema of this id.", bounds=(0, 2**31 - 1)),
    *LATEST,
    Property(
        "latest.compatibility.strict",
        Kind.BOOL,
        False,
        "The schema that the registry chooses must be able to read values of the given one. The Java serializers'"
        " property.",
    ),
    Property(
        "schema.id.serializer",
        Kind.CALLBACK,
        prefix_schema_id_serializer,
        "Function that puts the schema's id in front of the payload, or into a header.",
    ),
    *VALIDATION,
    *NAMING,
)
"""Properties of all serializers."""

Rows = tuple[Property, ...]
AVRO_WRITE: Final[Rows] = (
    Property("validate.strict", Kind.BOOL, False, "A record must have exactly the schema's fields."),
    Property(
        "validate.strict.allow.default",
        Kind.BOOL,
        False,
        "As `validate.strict`, but fields with a default may be missing.",
    ),
)
MAX_EMPTY_ITEMS: Final = 10_000
AVRO_READ: Final[Rows] = (
    Property(
        "avro.max.empty.items",
        Kind.INT,
        MAX_EMPTY_ITEMS,
        "Array items of one frame that take no bytes; as many as the frame has bytes are always allowed. Ours.",
        bounds=(0, inf),
    ),
)
JSON: Final[Rows] = (Property("validate", Kind.BOOL, True, "Check values against their schema."),)
ANY_TYPE: Final = "message.type.any"
PROTOBUF: Final[Rows] = (
    Property(
        "use.deprecated.format",
        Kind.BOOL,
        False,
        "The path of the message type in unsigned numbers, as before 2021; must be the same on both sides.",
    ),
    Property(
        "message.type",
        Kind.STR,
        "",
        "Full name of the message type, if there is no class; the first of the file, or the frame's, if not set.",
    ),
)
PROTOBUF_READ: Final[Rows] = (
    *PROTOBUF,
    Property(
        ANY_TYPE,
        Kind.BOOL,
        False,
        "With a class: also read frames whose message type has another full name. Ours.",
    ),
)
PROTOBUF_WRITE: Final[Rows] = (
    *PROTOBUF,
    Property(
        "skip.known.types", Kind.BOOL, True, "Don't register `google/protobuf/…`, `google/type/…`, `confluent/…`."
    ),
    Property(
        "reference.subject.name.strategy",
        Kind.CALLBACK,
        reference_subject_name_strategy,
        "Gives the subject of an imported file.",
    ),
)
"""A format's own properties."""


@dataclass(frozen=True, slots=True)
class Validation:
    """Settings of rules inside schemas.

    Attributes:
        after: after domain rules, else before them.
        fail_fast: stop at the first one that fails.
        executor: evaluates them; None for CEL.
    """

    after: bool
    fail_fast: bool = False
    executor: Any = None


def _validation(given: Mapping[str, Any]) -> Validation | None:
    execution = given["validation.rules.execution"]
    if execution == DISABLED:
        return None
    return Validation(execution == AFTER, given["validation.rules.fail.fast"], given["validation.rules.executor"])


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """A serializer's way to find its schema.

    Attributes:
        auto_register: register the schema at first use.
        normalize: let the registry bring it to its normal form.
        use_schema_id: write with this registered schema.
        use_latest: write with the newest version of the subject.
        metadata: write with the newest version that has these properties.
        latest_strict: the registry's schema must read values of the given one.
        strategy: how the subject is called; None for the default.
        seal: how the payload and what names its schema are put together.
        own: the format's own properties.
        validation: how rules inside schemas are run, None if they are not.
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
    validation: Validation | None = None

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
        cls, conf: Mapping[str, Any] | None, has_schema: bool, own: tuple[Property, ...] = AVRO_WRITE
    ) -> WriteOptions:
        """Reads and checks a configuration.

        Args:
            conf: the properties.
            has_schema: whether the serializer was given a schema.
            own: the properties of the format.

        Raises:
            PropertyError: unknown property (the nearest one is named), wrong type, or contradicting properties.
        """
        given = Table((*WRITE, *own)).read(conf or {})
        made = cls(
            auto_register=given["auto.register.schemas"],
            normalize=given["normalize.schemas"],
            use_schema_id=given["use.schema.id"],
            use_latest=given["use.latest.version"],
            metadata=given["use.latest.with.metadata"],
            latest_strict=given["latest.compatibility.strict"],
            strategy=_strategy(given),
            seal=given["schema.id.serializer"],
            own={row.name: given[row.name] for row in own},
            validation=_validation(given),
        )
        if made.auto_register and made.use_latest:
            raise PropertyError(
                "cannot enable both use.latest.version and auto.register.schemas (which is on by default)"
            )
        if made.use_latest and made.use_schema_id is not None:
            raise PropertyError(
                "cannot enable both use.latest.version and use.schema.id", property="use.latest.version"
            )
        if not has_schema and not made.chosen_by_registry:
            raise PropertyError("a schema is needed, unless use.latest.version or use.schema.id says which one to use")
        return made


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """A deserializer's way to find its schemas.

    Attributes:
        use_latest: read with the newest version of the subject.
        metadata: read with the newest version that has these properties.
        strategy: how the subject is called; None for the default.
        open: how what names the schema is told from the payload.
        own: the format's own properties.
        validation: how rules inside schemas are run, None if they are not.
    """

    use_latest: bool = False
    metadata: Mapping[str, str] | None = None
    strategy: SubjectNameStrategy | AssociatedNameStrategy | None = None
    open: SchemaIdDeserializer = dual_schema_id_deserializer
    own: Mapping[str, Any] = field(default_factory=dict)
    validation: Validation | None = None

    @property
    def moves(self) -> bool:
        """Whether the registry says which schema to read with; it may be another one later."""
        return self.use_latest or self.metadata is not None

    @classmethod
    def parse(cls, conf: Mapping[str, Any] | None, own: tuple[Property, ...] = ()) -> ReadOptions:
        """Reads and checks a configuration.

        Args:
            conf: the properties.
            own: the properties of the format.

        Raises:
            PropertyError: unknown property (the nearest one is named) or wrong type.
        """
        given = Table((*READ, *own)).read(conf or {})
        return cls(
            given["use.latest.version"],
            given["use.latest.with.metadata"],
            _strategy(given),
            given["schema.id.deserializer"],
            {row.name: given[row.name] for row in own},
            _validation(given),
        )


def check_callable(function: Any, name: str) -> None:
    """Checks a conversion function.

    Raises:
        ValueError: it can't be called.
    """
    if function is not None and not callable(function):
        raise ValueError(f"{name} must be callable with the signature {name}(value, SerializationContext)")


def _strategy(given: Mapping[str, Any]) -> SubjectNameStrategy | AssociatedNameStrategy | None:
    """The callable, if there is one; else the one of the type's name."""
    strategy: SubjectNameStrategy | AssociatedNameStrategy | None = given["subject.name.strategy"]
    name, settings = given["subject.name.strategy.type"], given["subject.name.strategy.conf"]
    if strategy is not None:
        return strategy
    if name == "ASSOCIATED" or (name is None and settings):
        return AssociatedNameStrategy(settings)
    return None if name is None else STRATEGIES[name]
