"""Rules in JSONata: transforms of whole values, mostly between versions of a schema.

Must not know of formats. Source: JSONata, run by `jsonata-python` (extra `rules`).
"""

from __future__ import annotations

import functools
import sys
from typing import Any

from serdes.extras import needed
from serdes.rules.model import RuleContext, RuleError, RuleExecutor

__all__ = ["JsonataExecutor"]


class JsonataExecutor(RuleExecutor):
    """Runs rules of type `JSONATA`; the value is the expression's input (`$`)."""

    def type(self) -> str:
        """`JSONATA`."""
        return "JSONATA"

    def transform(self, ctx: RuleContext, message: Any) -> Any:
        """Runs a rule.

        Raises:
            RuleError: there is no expression, it can't be parsed, or its evaluation fails.
        """
        if not ctx.rule.expr:
            raise RuleError(f"rule {ctx.rule.name!r} has no expression")
        library = _library()
        try:
            return _compiled(ctx.rule.expr).evaluate(message)
        except library.JException as error:
            raise RuleError(f"JSONata expression {ctx.rule.expr!r} failed: {error}") from error

    @classmethod
    def register(cls) -> None:
        """As confluent_kafka has it; here the executor is found without."""
        from serdes.rules.registry import RuleRegistry

        RuleRegistry.register_rule_executor(cls())


@functools.lru_cache(1)
def _library() -> Any:
    """The library; the limit on recursion that it raises for the whole process when it is imported is put back."""
    limit = sys.getrecursionlimit()
    try:
        return needed("jsonata", "rules", RuleError)
    finally:
        sys.setrecursionlimit(limit)


@functools.lru_cache(256)
def _compiled(expression: str) -> Any:
    return _library().Jsonata(expression)
