"""Settings of a subject, a context or the whole registry, and what they add to registered schemas.

Must not know where settings are kept. Source: Confluent's `Config`, `Metadata.mergeMetadata`, `RuleSet.mergeRuleSets`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from registry.compat import Level
from registry.dev.shapes import metadata_of, rule_set_of
from registry.models import Metadata, Rule, RuleSet

DEFAULT_LEVEL = Level.BACKWARD
MODES = ("READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT", "FORWARD")
CONFLUENT_VERSION = "confluent:version"
"""The property of metadata that holds a schema's version, where it is asked for."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of one scope; None where something is not set.

    Attributes:
        level: which changes of schemas are allowed.
        policy: `STRICT` or `LENIENT` (JSON Schema).
        group: metadata property whose values split the versions into lines that are not compared with each other.
        alias: another subject that this one stands for.
        normalize: whether schemas are brought to a normal form when they are registered or looked up.
        validate_fields: kept and answered; fields are not checked against reserved names.
        default_metadata: under what a schema says itself.
        override_metadata: over what a schema says itself.
        default_rules: under a schema's own.
        override_rules: over a schema's own.
    """

    level: Level | None = None
    policy: str | None = None
    group: str | None = None
    alias: str | None = None
    normalize: bool | None = None
    validate_fields: bool | None = None
    default_metadata: Metadata | None = None
    override_metadata: Metadata | None = None
    default_rules: RuleSet | None = None
    override_rules: RuleSet | None = None

    @property
    def adds_to_schemas(self) -> bool:
        """Whether schemas get metadata or rules from here."""
        added = (self.default_metadata, self.override_metadata, self.default_rules, self.override_rules)
        return any(item is not None for item in added)

    def updated(self, changes: Mapping[str, Any]) -> Settings:
        """These settings with some of them replaced; None unsets one."""
        return dataclasses.replace(self, **changes)

    def to_dict(self, level_key: str = "compatibilityLevel") -> dict[str, Any]:
        """The REST form; readers and writers call the level differently."""
        values = {
            "alias": self.alias,
            "normalize": self.normalize,
            "validateFields": self.validate_fields,
            level_key: None if self.level is None else self.level.value,
            "compatibilityPolicy": self.policy,
            "compatibilityGroup": self.group,
            "defaultMetadata": None if self.default_metadata is None else self.default_metadata.to_dict(),
            "overrideMetadata": None if self.override_metadata is None else self.override_metadata.to_dict(),
            "defaultRuleSet": None if self.default_rules is None else self.default_rules.to_dict(),
            "overrideRuleSet": None if self.override_rules is None else self.override_rules.to_dict(),
        }
        return {name: value for name, value in values.items() if value is not None}

    @classmethod
    def from_dict(cls, source: Mapping[str, Any]) -> Settings:
        """Reads what `to_dict` made."""
        level = source.get("compatibilityLevel")
        return cls(
            level=None if level is None else Level.of(level),
            policy=source.get("compatibilityPolicy"),
            group=source.get("compatibilityGroup"),
            alias=source.get("alias"),
            normalize=source.get("normalize"),
            validate_fields=source.get("validateFields"),
            default_metadata=metadata_of(source.get("defaultMetadata"), "defaultMetadata"),
            override_metadata=metadata_of(source.get("overrideMetadata"), "overrideMetadata"),
            default_rules=rule_set_of(source.get("defaultRuleSet"), "defaultRuleSet"),
            override_rules=rule_set_of(source.get("overrideRuleSet"), "overrideRuleSet"),
        )


def merged_metadata(below: Metadata | None, above: Metadata | None) -> Metadata | None:
    """Both; where both say something, what is above counts."""
    if below is None or above is None:
        return above if below is None else below
    sensitive = sorted({*(below.sensitive or ()), *(above.sensitive or ())})
    return Metadata(
        tags={**(below.tags or {}), **(above.tags or {})} or None,
        properties={**(below.properties or {}), **(above.properties or {})} or None,
        sensitive=sensitive or None,
    )


def merged_rules(below: RuleSet | None, above: RuleSet | None) -> RuleSet | None:
    """Both; of rules with one name, the one above counts."""
    if below is None or above is None:
        return above if below is None else below
    return RuleSet(
        migration_rules=_merged(below.migration_rules, above.migration_rules),
        domain_rules=_merged(below.domain_rules, above.domain_rules),
        encoding_rules=_merged(below.encoding_rules, above.encoding_rules),
        enable_at=above.enable_at or below.enable_at,
    )


def _merged(below: Sequence[Rule] | None, above: Sequence[Rule] | None) -> Sequence[Rule] | None:
    names = {rule.name for rule in above or ()}
    return [*(rule for rule in below or () if rule.name not in names), *(above or ())] or None


def with_version(metadata: Metadata | None, version: int) -> Metadata:
    """The metadata with the schema's version among its properties."""
    said = Metadata(properties={CONFLUENT_VERSION: str(version)})
    return merged_metadata(metadata, said) or said
