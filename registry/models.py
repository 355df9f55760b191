"""Values of the registry's API: schemas, references, configurations, and their JSON forms.

Must not know of HTTP or caches. Attribute names are those of `confluent_kafka.schema_registry`; all values are
frozen and hash, so that they can be cache keys. Source: Confluent's REST API.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

Json = dict[str, Any]


class ConfigCompatibilityLevel(enum.StrEnum):
    """The registry's compatibility levels."""

    BACKWARD = "BACKWARD"
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    FORWARD = "FORWARD"
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    FULL = "FULL"
    FULL_TRANSITIVE = "FULL_TRANSITIVE"
    NONE = "NONE"


class RuleKind(enum.StrEnum):
    """The kind of a rule: a condition refuses values, a transform changes them."""

    CONDITION = "CONDITION"
    TRANSFORM = "TRANSFORM"


class RuleMode(enum.StrEnum):
    """The directions in which a rule runs."""

    UPGRADE = "UPGRADE"
    DOWNGRADE = "DOWNGRADE"
    UPDOWN = "UPDOWN"
    READ = "READ"
    WRITE = "WRITE"
    WRITEREAD = "WRITEREAD"


def _wrap(owner: Any, name: str, kind: type[_Wrapped]) -> None:
    """Makes a plain dict the one with confluent_kafka's attribute."""
    value = getattr(owner, name)
    if value is not None and not isinstance(value, kind):
        plain = value if isinstance(value, Mapping) else getattr(value, name)  # confluent_kafka's own class
        object.__setattr__(owner, name, kind(plain))


def whole_number(value: Any) -> int:
    """A number of an answer, also as text. `true` is none, and one with a fraction would be another's id.

    Raises:
        TypeError: as said.
        ValueError: a text that is no number.
    """
    if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
        raise TypeError(f"a whole number is expected, not {value!r}")
    return int(value)


def _present(values: Json) -> Json:
    return {name: value for name, value in values.items() if value is not None}


class _Wrapped(dict[str, Any]):
    """A dict that confluent_kafka wraps in a class of its own."""

    def to_dict(self) -> Json:
        """The REST form."""
        return dict(self)

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Reads the REST form."""
        return cls(src_dict)


class MetadataTags(_Wrapped):
    """Path pattern → tags; a dict. `.tags` is the same, as in confluent_kafka."""

    def __init__(self, tags: Mapping[str, Any] | None = None) -> None:
        super().__init__(tags or {})

    @property
    def tags(self) -> dict[str, Any]:
        """The dict itself."""
        return self


class MetadataProperties(_Wrapped):
    """Free names and values; a dict. `.properties` is the same, as in confluent_kafka."""

    def __init__(self, properties: Mapping[str, Any] | None = None) -> None:
        super().__init__(properties or {})

    @property
    def properties(self) -> dict[str, Any]:
        """The dict itself."""
        return self


class RuleParams(_Wrapped):
    """Parameters of a rule; a dict. `.params` is the same, as in confluent_kafka."""

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        super().__init__(params or {})

    @property
    def params(self) -> dict[str, Any]:
        """The dict itself."""
        return self


@dataclass(frozen=True, slots=True)
class Metadata:
    """Tags and properties stored beside a schema.

    Attributes:
        tags: path pattern → tags of the fields it matches.
        properties: free names and values, e.g. `{"owner": "team"}`.
        sensitive: names of properties that are to be kept secret.
    """

    tags: Mapping[str, Sequence[str]] | None = field(default=None, hash=False)
    properties: Mapping[str, str] | None = field(default=None, hash=False)
    sensitive: Sequence[str] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        _wrap(self, "tags", MetadataTags)
        _wrap(self, "properties", MetadataProperties)

    def to_dict(self) -> Json:
        """The REST form."""
        return _present({"tags": self.tags, "properties": self.properties, "sensitive": self.sensitive})

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Metadata:
        """Reads the REST form."""
        return cls(src_dict.get("tags"), src_dict.get("properties"), src_dict.get("sensitive"))


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a data contract."""

    name: str | None
    doc: str | None = None
    kind: RuleKind | None = None
    mode: RuleMode | None = None
    type: str | None = None
    tags: Sequence[str] | None = field(default=None, hash=False)
    params: Mapping[str, str] | None = field(default=None, hash=False)
    expr: str | None = None
    on_success: str | None = None
    on_failure: str | None = None
    disabled: bool | None = None

    def __post_init__(self) -> None:
        _wrap(self, "params", RuleParams)

    def to_dict(self) -> Json:
        """The REST form."""
        return _present(
            {
                "name": self.name,
                "doc": self.doc,
                "kind": None if self.kind is None else self.kind.value,
                "mode": None if self.mode is None else self.mode.value,
                "type": self.type,
                "tags": self.tags,
                "params": self.params,
                "expr": self.expr,
                "onSuccess": self.on_success,
                "onFailure": self.on_failure,
                "disabled": self.disabled,
            }
        )

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Rule:
        """Reads the REST form."""
        kind, mode = src_dict.get("kind"), src_dict.get("mode")
        return cls(
            name=src_dict.get("name"),
            doc=src_dict.get("doc"),
            kind=None if kind is None else RuleKind(kind),
            mode=None if mode is None else RuleMode(mode),
            type=src_dict.get("type"),
            tags=src_dict.get("tags"),
            params=src_dict.get("params"),
            expr=src_dict.get("expr"),
            on_success=src_dict.get("onSuccess"),
            on_failure=src_dict.get("onFailure"),
            disabled=src_dict.get("disabled"),
        )


def _rules(src: Sequence[Mapping[str, Any]] | None) -> tuple[Rule, ...] | None:
    return None if src is None else tuple(Rule.from_dict(rule) for rule in src)


def _rules_json(rules: Sequence[Rule] | None) -> list[Json] | None:
    return None if rules is None else [rule.to_dict() for rule in rules]


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules of a data contract: between versions, on values, on encoded payloads."""

    migration_rules: Sequence[Rule] | None = field(default=None, hash=False)
    domain_rules: Sequence[Rule] | None = field(default=None, hash=False)
    encoding_rules: Sequence[Rule] | None = field(default=None, hash=False)
    enable_at: str | None = None

    def to_dict(self) -> Json:
        """The REST form."""
        return _present(
            {
                "migrationRules": _rules_json(self.migration_rules),
                "domainRules": _rules_json(self.domain_rules),
                "encodingRules": _rules_json(self.encoding_rules),
                "enableAt": self.enable_at,
            }
        )

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> RuleSet:
        """Reads the REST form."""
        return cls(
            _rules(src_dict.get("migrationRules")),
            _rules(src_dict.get("domainRules")),
            _rules(src_dict.get("encodingRules")),
            src_dict.get("enableAt"),
        )


@dataclass(frozen=True, slots=True)
class SchemaReference:
    """A schema that another one uses.

    Attributes:
        name: its name in the using schema (Avro: the full name; JSON: a URI; Protobuf: the import path).
        subject: where it is registered.
        version: which version of that subject.
    """

    name: str
    subject: str
    version: int

    def to_dict(self) -> Json:
        """The REST form."""
        return {"name": self.name, "subject": self.subject, "version": self.version}

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> SchemaReference:
        """Reads the REST form."""
        return cls(str(src_dict["name"]), str(src_dict["subject"]), whole_number(src_dict["version"]))


class References(tuple[SchemaReference, ...]):
    """References of a schema: a tuple, so that it hashes, which is equal to a list of the same, as users have it."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return super().__eq__(tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def __repr__(self) -> str:
        return repr(list(self))


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema as it is registered.

    Attributes:
        schema_str: the schema's text.
        schema_type: `AVRO`, `JSON` or `PROTOBUF`.
        references: other schemas it uses; any sequence is taken, one that can't be changed is kept.
        metadata: tags and properties.
        rule_set: rules of a data contract.
    """

    schema_str: str
    schema_type: str = "AVRO"
    references: Sequence[SchemaReference] = ()
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "references", References(self.references or ()))

    def to_dict(self) -> Json:
        """The REST form; Avro's type is left out, for old registries."""
        return _present(
            {
                "schema": self.schema_str,
                "schemaType": None if self.schema_type == "AVRO" else self.schema_type,
                "references": [reference.to_dict() for reference in self.references] or None,
                "metadata": None if self.metadata is None else self.metadata.to_dict(),
                "ruleSet": None if self.rule_set is None else self.rule_set.to_dict(),
            }
        )

    def to_request(self) -> Json:
        """The REST form as it is sent: type and references are always in it, as confluent_kafka has them."""
        return {"schema": self.schema_str, "schemaType": self.schema_type, "references": []} | self.to_dict()

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Schema:
        """Reads the REST form.

        Raises:
            KeyError: there is no schema text.
            TypeError: it is no text.
        """
        if not isinstance(src_dict["schema"], str):
            raise TypeError("the schema's text is no string")
        metadata, rule_set = src_dict.get("metadata"), src_dict.get("ruleSet")
        return cls(
            schema_str=src_dict["schema"],
            schema_type=src_dict.get("schemaType") or "AVRO",
            references=tuple(SchemaReference.from_dict(item) for item in src_dict.get("references") or ()),
            metadata=None if metadata is None else Metadata.from_dict(metadata),
            rule_set=None if rule_set is None else RuleSet.from_dict(rule_set),
        )


@dataclass(frozen=True, slots=True)
class RegisteredSchema:
    """A schema with the place it is registered at.

    Attributes:
        subject: None where the registry did not say.
        version: number within the subject, from 1; None where the registry did not say.
        schema_id: the id in frames; the same schema has the same id under every subject.
        guid: the schema's GUID, None from registries that have none.
        schema: the schema.
    """

    subject: str | None
    version: int | None
    schema_id: int
    guid: str | None
    schema: Schema

    def to_dict(self) -> Json:
        """The REST form."""
        place = {"subject": self.subject, "version": self.version, "id": self.schema_id, "guid": self.guid}
        return _present(place) | self.schema.to_dict()

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> RegisteredSchema:
        """Reads the REST form."""
        return cls(
            subject=src_dict.get("subject"),
            version=src_dict.get("version"),
            schema_id=whole_number(src_dict["id"]),
            guid=src_dict.get("guid"),
            schema=Schema.from_dict(src_dict),
        )


@dataclass(frozen=True, slots=True)
class SchemaVersion:
    """A subject and version at which a schema is registered."""

    subject: str
    version: int

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> SchemaVersion:
        """Reads the REST form."""
        return cls(str(src_dict["subject"]), whole_number(src_dict["version"]))


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """Configuration of a subject, or the global one; None leaves a setting as it is.

    Attributes:
        compatibility: the level, as it is set.
        compatibility_level: the level, as the registry answers it.
        alias: another subject this one stands for.
        normalize: whether schemas are brought to a normal form when registered.
        compatibility_policy: `STRICT` or `LENIENT` (JSON Schema).
        compatibility_group: metadata property that splits the versions into separate lines.
        default_metadata: metadata for schemas registered without.
        override_metadata: metadata put on every schema.
        default_rule_set: rules for schemas registered without.
        override_rule_set: rules put on every schema.
    """

    compatibility: ConfigCompatibilityLevel | None = None
    compatibility_level: ConfigCompatibilityLevel | None = None
    compatibility_group: str | None = None
    default_metadata: Metadata | None = None
    override_metadata: Metadata | None = None
    default_rule_set: RuleSet | None = None
    override_rule_set: RuleSet | None = None
    alias: str | None = None
    normalize: bool | None = None
    compatibility_policy: str | None = None

    def to_dict(self) -> Json:
        """The REST form."""
        return _present(
            {
                "alias": self.alias,
                "normalize": self.normalize,
                "compatibility": None if self.compatibility is None else str(self.compatibility),
                "compatibilityLevel": None if self.compatibility_level is None else str(self.compatibility_level),
                "compatibilityPolicy": self.compatibility_policy,
                "compatibilityGroup": self.compatibility_group,
                "defaultMetadata": None if self.default_metadata is None else self.default_metadata.to_dict(),
                "overrideMetadata": None if self.override_metadata is None else self.override_metadata.to_dict(),
                "defaultRuleSet": None if self.default_rule_set is None else self.default_rule_set.to_dict(),
                "overrideRuleSet": None if self.override_rule_set is None else self.override_rule_set.to_dict(),
            }
        )

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> ServerConfig:
        """Reads the REST form."""

        def made(name: str, kind: Any) -> Any:
            value = src_dict.get(name)
            return None if value is None else kind(value)

        return cls(
            compatibility=made("compatibility", ConfigCompatibilityLevel),
            compatibility_level=made("compatibilityLevel", ConfigCompatibilityLevel),
            compatibility_group=src_dict.get("compatibilityGroup"),
            default_metadata=made("defaultMetadata", Metadata.from_dict),
            override_metadata=made("overrideMetadata", Metadata.from_dict),
            default_rule_set=made("defaultRuleSet", RuleSet.from_dict),
            override_rule_set=made("overrideRuleSet", RuleSet.from_dict),
            alias=src_dict.get("alias"),
            normalize=src_dict.get("normalize"),
            compatibility_policy=src_dict.get("compatibilityPolicy"),
        )
