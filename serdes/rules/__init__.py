"""Data contracts: the rules of a registered schema, run on every value that is written or read.

Must not know how values are encoded. Names are those of `confluent_kafka.schema_registry.serde` and `…rule_registry`.
"""

from typing import TYPE_CHECKING, Final

from kserdes_base.lazy import public_names

if TYPE_CHECKING:
    from serdes.rules.dlq import DlqAction
    from serdes.rules.engine import Phase, RuleEngine, has_rules
    from serdes.rules.inline.model import (
        VALIDATION_RULES_PROP,
        RuleThatNeverRunsError,
        ValidationRule,
        ValidationRuleError,
        ValidationRuleExecutor,
        ValidationRulesExecution,
        ValidationRulesFailedError,
        evaluate_validation_rule,
        parse_validation_rules,
    )
    from serdes.rules.inline.validating import default_validation_rule_executor
    from serdes.rules.model import (
        ErrorAction,
        FieldContext,
        FieldRuleExecutor,
        FieldTransform,
        FieldType,
        NoneAction,
        RuleAction,
        RuleConditionError,
        RuleContext,
        RuleError,
        RuleExecutor,
    )
    from serdes.rules.registry import RuleOverride, RuleRegistry

__all__ = [
    "VALIDATION_RULES_PROP",
    "DlqAction",
    "ErrorAction",
    "FieldContext",
    "FieldRuleExecutor",
    "FieldTransform",
    "FieldType",
    "NoneAction",
    "Phase",
    "RuleAction",
    "RuleConditionError",
    "RuleContext",
    "RuleEngine",
    "RuleError",
    "RuleExecutor",
    "RuleOverride",
    "RuleRegistry",
    "RuleThatNeverRunsError",
    "ValidationRule",
    "ValidationRuleError",
    "ValidationRuleExecutor",
    "ValidationRulesExecution",
    "ValidationRulesFailedError",
    "default_validation_rule_executor",
    "evaluate_validation_rule",
    "has_rules",
    "parse_validation_rules",
]

HOMES: Final = {
    "serdes.rules.dlq": ("DlqAction",),
    "serdes.rules.engine": ("Phase", "RuleEngine", "has_rules"),
    "serdes.rules.inline.model": (
        "VALIDATION_RULES_PROP",
        "RuleThatNeverRunsError",
        "ValidationRule",
        "ValidationRuleError",
        "ValidationRuleExecutor",
        "ValidationRulesExecution",
        "ValidationRulesFailedError",
        "evaluate_validation_rule",
        "parse_validation_rules",
    ),
    "serdes.rules.model": (
        "ErrorAction",
        "FieldContext",
        "FieldRuleExecutor",
        "FieldTransform",
        "FieldType",
        "NoneAction",
        "RuleAction",
        "RuleConditionError",
        "RuleContext",
        "RuleError",
        "RuleExecutor",
    ),
    "serdes.rules.registry": ("RuleOverride", "RuleRegistry"),
    "serdes.rules.inline.validating": ("default_validation_rule_executor",),
}

__getattr__, __dir__ = public_names(__name__, HOMES)
