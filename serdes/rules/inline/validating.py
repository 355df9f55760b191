"""Runs the rules inside schemas for one serializer, and says what they refuse.

Must not know of plans: `serdes.rules.contracts` puts what is made here into hooks. The format's walk and CEL are loaded
when they are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from serdes.errors import SerializationError
from serdes.options import Validation
from serdes.rules.bounds import limit_of
from serdes.rules.inline.model import (
    Sites,
    ValidationRuleError,
    ValidationRuleExecutor,
    ValidationRulesFailedError,
    violations_of,
)
from serdes.rules.model import RuleError

WHAT_TO_DO: Final = "correct the value, or register a version with other rules"


def default_validation_rule_executor() -> ValidationRuleExecutor:
    """The executor that evaluates rules as CEL.

    Raises:
        ValueError: the extra `rules` is not installed.
    """
    return _cel_executor({})


def _cel_executor(rule_conf: Mapping[str, Any]) -> ValidationRuleExecutor:
    from serdes.rules.inline.cel import CelValidator

    try:
        return CelValidator(limit_of(rule_conf))
    except RuleError as error:
        raise ValueError(f"rules inside schemas can't be run: {error}; or set validation.rules.executor") from error


class Validating:
    """One serializer's runs of the rules inside schemas. Threads may share it.

    Args:
        validation: the serializer's properties.
        rule_conf: its rule configuration; `rule.timeout.ms` is the time of each rule on each value.

    Attributes:
        after: whether domain rules come first.
        waits: whether an executor of the user's runs, which may wait for something.

    Raises:
        ValueError: the executor is none, or the extra `rules` is not installed.
    """

    def __init__(self, validation: Validation, rule_conf: Mapping[str, Any] | None = None) -> None:
        executor = validation.executor
        self.after = validation.after
        self.waits = executor is not None
        self._fail_fast = validation.fail_fast
        if executor is None:
            executor = _cel_executor(rule_conf or {})
        if not isinstance(executor, ValidationRuleExecutor):
            raise ValueError("validation.rules.executor must be a ValidationRuleExecutor instance")
        self._executor: ValidationRuleExecutor = executor

    def check(self, schema_type: str, parsed: Any, subject: str | None) -> Callable[[Any], None] | None:
        """A function that refuses values that the rules inside a schema refuse; None for a schema without.

        Raises:
            RuleThatNeverRunsError: a rule stands where nothing runs it.
        """
        sites = _sites(schema_type, parsed)
        if sites is None:
            return None

        def check(value: Any) -> None:
            try:
                found = violations_of(self._executor, sites(value), self._fail_fast)
            except RuleError as error:
                raise SerializationError(f"the rules inside the schema can't be run: {error}") from error
            if found:
                raise ValidationRulesFailedError(_sentence(found, subject), found, subject)

        return check


def _sites(schema_type: str, parsed: Any) -> Sites | None:
    if schema_type == "AVRO":
        from serdes.rules.inline import avro

        return avro.sites_of(parsed)
    if schema_type == "JSON":
        from serdes.rules.inline import json

        return json.sites_of(parsed)
    from serdes.rules.inline import protobuf

    return protobuf.sites_of(parsed)


def _sentence(found: list[ValidationRuleError], subject: str | None) -> str:
    whose = f"the schema of subject {subject!r}" if subject else "the schema"
    many = f"{len(found)} violation{'' if len(found) == 1 else 's'}"
    lines = (f"  - {violation}" for violation in found)
    return "\n".join((f"Validation rule failed ({many}):", *lines, f"These are rules inside {whose}: {WHAT_TO_DO}"))
