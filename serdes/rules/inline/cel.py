"""Rules inside schemas as CEL: `this` is the value, `now` the time.

Must not know of formats nor of where rules stand. Source: confluent_kafka's `CelValidator`.
"""

from __future__ import annotations

from typing import Any

from kserdes_base.extras import needed
from serdes.rules.bounds import LIMIT_S, Bounds
from serdes.rules.cel.executor import evaluate
from serdes.rules.cel.values import field_to_cel
from serdes.rules.inline.model import ValidationRule, ValidationRuleExecutor
from serdes.rules.model import RuleError


class CelValidator(ValidationRuleExecutor):
    """Evaluates rules as CEL; a rule gives a boolean, or the text of a violation (empty: none).

    Args:
        limit_s: seconds of its thread's processor time that a rule may take for a value.

    Raises:
        RuleError: the extra `rules` is not installed.
    """

    def __init__(self, limit_s: float = LIMIT_S) -> None:
        needed("celpy", "rules", RuleError)
        self._limit_s = limit_s

    def execute(self, rule: ValidationRule, schema: Any, message: Any) -> bool | str:
        """Evaluates a rule.

        Raises:
            RuleError: there is no value or no expression, it can't be parsed or evaluated, or gives something else.
        """
        name = rule.name or "unnamed"
        if message is None:
            raise RuleError(f"validation rule {name!r} is for values, and was given none")
        if not rule.expr:
            raise RuleError(f"validation rule {name!r} has no expression")
        result = evaluate(rule.expr, {"this": field_to_cel(message, schema)}, Bounds(name, self._limit_s))
        types = needed("celpy.celtypes", "rules", RuleError)
        if isinstance(result, (bool, types.BoolType)):
            return bool(result)
        if isinstance(result, str):
            return str(result)
        raise RuleError(f"validation rule {name!r} must give a bool or a string, not {type(result).__name__}")
