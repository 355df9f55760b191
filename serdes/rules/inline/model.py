"""Rules inside schemas (`confluent:rules`): what they are, who evaluates them, and what fails.

Must not know of formats nor of rule languages: `avro`, `json` and `protobuf` find the rules of a schema and what they
are for, once per plan. Names are those of `confluent_kafka.schema_registry.serde`. Source: confluent_kafka 2.16 and
Confluent's documentation of `ValidationRulesExecution` and `IValidationRuleExecutor`.
"""

from __future__ import annotations

import abc
import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from serdes.errors import SerializationError
from serdes.rules.model import RuleError

VALIDATION_RULES_PROP: Final = "confluent:rules"
"""The property (Avro) or keyword (JSON Schema) that holds rules."""


class ValidationRulesExecution(enum.StrEnum):
    """Values of `validation.rules.execution`: whether rules inside schemas run, before or after domain rules."""

    DISABLED = "DISABLED"
    BEFORE_DOMAIN_RULES = "BEFORE_DOMAIN_RULES"
    AFTER_DOMAIN_RULES = "AFTER_DOMAIN_RULES"


@dataclass(slots=True, unsafe_hash=True)
class ValidationRule:
    """A rule inside a schema.

    Attributes:
        name: what errors call it.
        doc: what errors say, if the rule itself says nothing.
        expr: the expression; the value is `this` in it.
        sql: the same in SQL, for readers.
    """

    name: str | None = None
    doc: str | None = None
    expr: str | None = None
    sql: str | None = None


class ValidationRuleError:
    """A rule that failed.

    Attributes:
        rule: the rule.
        field_path: where in the value, e.g. `address.zip`, `tags[3]`, `scores["a"]`; JSON's begin with `$`.
        message: the rule's text; None if it only said no, or could not be run.
        cause: why it could not be run; None if it could.
    """

    __slots__ = ("cause", "field_path", "message", "rule")

    def __init__(
        self,
        rule: ValidationRule,
        field_path: str | None = None,
        message: str | None = None,
        cause: Exception | None = None,
    ) -> None:
        self.rule = rule
        self.field_path = field_path
        self.message = message
        self.cause = cause

    def _facts(self) -> tuple[ValidationRule, str | None, str | None]:
        return self.rule, self.field_path, self.message

    def __eq__(self, other: object) -> bool:
        return self._facts() == other._facts() if isinstance(other, ValidationRuleError) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._facts())

    def __str__(self) -> str:
        rule = self.rule
        said = self.message or rule.doc or rule.sql or rule.expr
        text = f"{self.field_path or '<root>'}: {rule.name or 'unnamed'}: {said}"
        return text if self.cause is None else f"{text} (caused by: {self.cause})"

    def __repr__(self) -> str:
        return f"ValidationRuleError({self})"


class ValidationRulesFailedError(SerializationError):
    """Rules inside the schema refuse a value.

    Attributes:
        violations: all of them, or the first one with `validation.rules.fail.fast`.
        subject: where the schema is registered, None where that is not known.
    """

    def __init__(
        self, reason: str = "", violations: Iterable[ValidationRuleError] = (), subject: str | None = None
    ) -> None:
        super().__init__(reason)
        self.violations = list(violations)
        self.subject = subject


class ValidationRuleExecutor(abc.ABC):
    """Evaluates rules inside schemas; one instance is shared by all threads of a serializer."""

    @abc.abstractmethod
    def execute(self, rule: ValidationRule, schema: Any, message: Any) -> Any:
        """Evaluates a rule.

        Args:
            rule: the rule.
            schema: what the value is of: a dict or a name (Avro), a dict (JSON), a Descriptor or FieldDescriptor.
            message: the value, never None.

        Returns:
            False or a text that is not empty if the rule fails; True or an empty text if it holds.

        Raises:
            RuleError: it can't be evaluated: counts as failed.
        """


def parse_validation_rules(prop_value: Any) -> list[ValidationRule]:
    """The rules of a `confluent:rules` property; entries of another form are left out.

    Schemas with anything to leave out are refused by serializers that run rules (`rules_of`).
    """
    entries = prop_value if isinstance(prop_value, list) else []
    return [
        ValidationRule(*(entry.get(key) for key in ("name", "doc", "expr", "sql")))
        for entry in entries
        if isinstance(entry, dict)
    ]


def evaluate_validation_rule(
    executor: ValidationRuleExecutor,
    rule: ValidationRule,
    schema: Any,
    value: Any,
    path: str,
    out: list[ValidationRuleError],
) -> None:
    """Evaluates a rule, and appends to `out` if it fails.

    Raises:
        SerializationError: the executor gave neither a truth nor a text.
    """
    try:
        result = executor.execute(rule, schema, value)
    except RuleError as error:
        out.append(ValidationRuleError(rule, path, None, error))
        return
    if not isinstance(result, (bool, str)):
        name, kind = rule.name or "unnamed", type(result).__name__
        raise SerializationError(f"Validation rule {name!r} resolved to an unexpected type: {kind}; bool or str is due")
    if result is False:
        out.append(ValidationRuleError(rule, path))
    elif isinstance(result, str) and result:
        out.append(ValidationRuleError(rule, path, result))


# --- what formats give


@dataclass(slots=True)
class Site:
    """Rules, and one value that they are for.

    Attributes:
        rules: the rules.
        schema: what executors are told of the value's schema.
        value: the value, not None.
        path: where it is.
    """

    rules: list[ValidationRule]
    schema: Any
    value: Any
    path: str


Sites: TypeAlias = Callable[[Any], Iterable[Site]]
"""Value → all that its schema has rules for, a record before its fields.

Raises SerializationError or RuleError for a value of which it can't be told: nothing is left out.
"""


class RuleThatNeverRunsError(SerializationError):
    """A rule is in a place where nothing runs it, or can't be run at all: the schema is refused."""


def rules_of(prop_value: Any, place: str) -> list[ValidationRule]:
    """The rules of a property of a schema.

    Raises:
        RuleThatNeverRunsError: it is not a list of rules with expressions.
    """
    entries = prop_value if isinstance(prop_value, list) else [None]
    for entry in entries:
        if not isinstance(entry, dict) or not isinstance(entry.get("expr"), str) or not entry["expr"].strip():
            raise never(place, "it must be a list of objects, each with a text `expr`")
    return parse_validation_rules(entries)


def never(place: str, why: str) -> RuleThatNeverRunsError:
    """The error for a rule that would never run."""
    return RuleThatNeverRunsError(
        f"{VALIDATION_RULES_PROP} at {place} of the schema would never run: {why}; correct the schema, or set "
        "validation.rules.execution to DISABLED"
    )


def violations_of(
    executor: ValidationRuleExecutor, sites: Iterable[Site], fail_fast: bool
) -> list[ValidationRuleError]:
    """Evaluates all rules, or those up to the first that fails."""
    out: list[ValidationRuleError] = []
    for site in sites:
        for rule in site.rules:
            evaluate_validation_rule(executor, rule, site.schema, site.value, site.path, out)
            if fail_fast and out:
                return out
    return out
