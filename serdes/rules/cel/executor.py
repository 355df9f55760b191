"""Rules in CEL: conditions and transforms on messages (`CEL`) and on tagged fields (`CEL_FIELD`).

Must not know of formats but for Protobuf's messages (`values`). An expression may have a guard before a semicolon:
if that does not hold, the rule does nothing. Source: the Common Expression Language, run by `cel-python` (extra
`rules`).
"""

from __future__ import annotations

import contextvars
import datetime
import functools
from collections.abc import Callable, Mapping
from typing import Any

from kserdes_base.extras import needed
from registry import RuleKind
from serdes.rules.bounds import LIMIT_S, Bounds, limit_of
from serdes.rules.cel.functions import FUNCTIONS
from serdes.rules.cel.values import asking, from_cel, to_cel
from serdes.rules.model import FieldContext, FieldRuleExecutor, FieldTransform, RuleContext, RuleError, RuleExecutor

_bounds: contextvars.ContextVar[Bounds] = contextvars.ContextVar("serdes_cel_bounds")
"""Of the rule that runs."""


class CelExecutor(RuleExecutor):
    """Runs rules of type `CEL`; the expression sees `message`, and the time as `now`."""

    def __init__(self) -> None:
        self._limit_s = LIMIT_S

    def type(self) -> str:
        """`CEL`."""
        return "CEL"

    def configure(self, client_conf: Mapping[str, Any], rule_conf: Mapping[str, Any]) -> None:
        """Takes `rule.timeout.ms`."""
        self._limit_s = limit_of(rule_conf, self._limit_s)

    def transform(self, ctx: RuleContext, message: Any) -> Any:
        """Runs a rule.

        Raises:
            RuleError: the expression can't be parsed, its evaluation fails, or takes or makes too much.
        """
        return self.execute(ctx, message, {"message": to_cel(message)})

    def execute(self, ctx: RuleContext, msg: Any, args: Mapping[str, Any]) -> Any:
        """Runs a rule with other names than `message`, which are CEL's types; errors as those of `transform`."""
        return run(ctx, msg, args, Bounds(ctx.rule.name, self._limit_s))

    def execute_rule(self, ctx: RuleContext, expr: str, args: Mapping[str, Any]) -> Any:
        """The value of an expression, as CEL has it; errors as those of `transform`."""
        result = evaluate(expr, args, Bounds(ctx.rule.name, self._limit_s))
        return bool(result) if type(result).__name__ == "BoolType" else result

    @classmethod
    def register(cls) -> None:
        """As in confluent_kafka; not needed here."""
        from serdes.rules.registry import RuleRegistry

        RuleRegistry.register_rule_executor(cls())


class CelFieldExecutor(FieldRuleExecutor):
    """Runs rules of type `CEL_FIELD` on every single value that the tags choose.

    The expression sees `value`, `fullName`, `name`, `typeName`, `tags`, and the record as `message`.
    """

    def __init__(self) -> None:
        self._limit_s = LIMIT_S

    def type(self) -> str:
        """`CEL_FIELD`."""
        return "CEL_FIELD"

    def configure(self, client_conf: Mapping[str, Any], rule_conf: Mapping[str, Any]) -> None:
        """Takes `rule.timeout.ms`."""
        self._limit_s = limit_of(rule_conf, self._limit_s)

    def new_transform(self, ctx: RuleContext) -> FieldTransform:
        """Runs the rule on a field; the time is for all fields of a message."""
        bounds = Bounds(ctx.rule.name, self._limit_s)
        return lambda ctx, entered, value: _run_on_field(ctx, entered, value, bounds)

    @classmethod
    def register(cls) -> None:
        """As in confluent_kafka; not needed here."""
        from serdes.rules.registry import RuleRegistry

        RuleRegistry.register_rule_executor(cls())


def _run_on_field(ctx: RuleContext, entered: FieldContext, value: Any, bounds: Bounds) -> Any:
    if not entered.is_primitive():
        return value
    names = {
        "value": to_cel(value, entered.field_descriptor),
        "fullName": to_cel(entered.full_name),
        "name": to_cel(entered.name),
        "typeName": to_cel(entered.type_name()),
        "tags": to_cel(sorted(entered.tags)),
        "message": to_cel(entered.containing_message),
    }
    return run(ctx, value, names, bounds)


def run(ctx: RuleContext, message: Any, names: Mapping[str, Any], bounds: Bounds) -> Any:
    """Runs a rule's expression; one without an expression does nothing.

    Raises:
        RuleError: it can't be parsed, or its evaluation fails.
    """
    expression = ctx.rule.expr
    if not expression:
        return True if ctx.rule.kind is RuleKind.CONDITION else message
    guard, semicolon, rest = expression.partition(";")
    if semicolon:
        if guard.strip() and not evaluate(guard, names, bounds):
            return True if ctx.rule.kind is RuleKind.CONDITION else message
        expression = rest
    return from_cel(evaluate(expression, names, bounds), message)


def evaluate(expression: str, names: Mapping[str, Any], bounds: Bounds) -> Any:
    """The value of an expression, as CEL has it.

    Raises:
        RuleError: it can't be parsed, its evaluation fails, or takes or makes too much.
    """
    celpy = needed("celpy", "rules", RuleError)
    token = _bounds.set(bounds)
    try:
        return _program(expression)({**names, "now": _now() if "now" in expression else None})
    except celpy.CELParseError as error:
        raise RuleError(f"CEL expression {expression!r} can't be parsed: {error}") from error
    except celpy.CELEvalError as error:
        raise RuleError(f"CEL expression {expression!r} failed: {error.args[0] if error.args else error}") from error
    except RecursionError:
        raise RuleError(f"CEL expression {expression!r} failed: it goes too deep") from None
    finally:
        _bounds.reset(token)


def _now() -> Any:
    return needed("celpy.celtypes", "rules", RuleError).TimestampType(datetime.datetime.now(datetime.UTC))


@functools.lru_cache(1024)
def _program(expression: str) -> Callable[[Mapping[str, Any]], Any]:
    celpy = needed("celpy", "rules", RuleError)
    environment = celpy.Environment(runner_class=runner())
    program = environment.program(environment.compile(expression), functions=FUNCTIONS)
    run_program: Callable[[Mapping[str, Any]], Any] = program.evaluate
    return run_program


@functools.lru_cache(1)
def runner() -> type[Any]:
    """cel-python's interpreter within bounds. It lets values know that `has()` asks for them: Protobuf's unset fields
    have a value, but `has()` is to say no.
    """
    celpy = needed("celpy", "rules", RuleError)

    class Evaluator(celpy.Evaluator):  # type: ignore[misc, name-defined]
        def sub_evaluator(self, ast: Any) -> Any:  # of macros like all() and map()
            return Evaluator(ast, activation=self.activation)

        def _visit_tree(self, tree: Any) -> Any:
            bounds = _bounds.get()
            bounds.step()
            result = super()._visit_tree(tree)
            bounds.value(result)
            return result

        def member_dot_arg(self, tree: Any) -> Any:
            """`decimals.add(a, b)` is a function with a name of two parts; anything else a method of a value."""
            receiver, method = tree.children[0], tree.children[1]
            words = list(receiver.scan_values(lambda token: True))
            name = f"{words[0]}.{method}" if len(words) == 1 and words[0].type == "IDENT" else ""
            if name not in FUNCTIONS:
                return super().member_dot_arg(tree)
            given = self.visit(tree.children[2]) if len(tree.children) == 3 else []
            if isinstance(given, celpy.CELEvalError):
                return given
            try:
                return FUNCTIONS[name](*given)
            except (ArithmeticError, TypeError) as error:
                raise celpy.CELEvalError(f"{name}() does not take that, or its result is out of range") from error

        def macro_has_eval(self, exprlist: Any) -> Any:
            token: contextvars.Token[bool] = asking.set(True)
            try:
                return super().macro_has_eval(exprlist)
            finally:
                asking.reset(token)

    class Runner(celpy.InterpretedRunner):  # type: ignore[misc, name-defined]
        def evaluate(self, context: Any) -> Any:
            return Evaluator(ast=self.ast, activation=self.new_activation()).evaluate(context)

    return Runner
