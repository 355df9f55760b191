"""Rules in JSONata: transforms of whole values, mostly between versions of a schema.

Must not know of formats. Regular expressions are RE2's, which take linear time; those it does not know (with
look-around, say) are Python's. Source: JSONata, run by `jsonata-python` (extra `rules`).
"""

from __future__ import annotations

import functools
import re
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

from kserdes_base.extras import needed
from serdes.rules.bounds import LIMIT_S, MAX_SIZE, Bounds, limit_of
from serdes.rules.model import RuleContext, RuleError, RuleExecutor

GROUP: Final = re.compile(r"\\g<(\d+)>")


class JsonataExecutor(RuleExecutor):
    """Runs rules of type `JSONATA`; the value is the expression's input (`$`)."""

    def __init__(self) -> None:
        self._limit_s = LIMIT_S

    def type(self) -> str:
        """`JSONATA`."""
        return "JSONATA"

    def configure(self, client_conf: Mapping[str, Any], rule_conf: Mapping[str, Any]) -> None:
        """Takes `rule.timeout.ms`."""
        self._limit_s = limit_of(rule_conf, self._limit_s)

    def transform(self, ctx: RuleContext, message: Any) -> Any:
        """Runs a rule.

        Raises:
            RuleError: there is no expression, it can't be parsed, its evaluation fails, or takes or makes too much.
        """
        if not ctx.rule.expr:
            raise RuleError(f"rule {ctx.rule.name!r} has no expression")
        bounds = Bounds(ctx.rule.name, self._limit_s)
        library = _library()
        try:
            return _plain(_evaluated(library, _this_thread.compiled(ctx.rule.expr), message, bounds))
        except library.JException as error:
            raise RuleError(f"JSONata expression {ctx.rule.expr!r} failed: {error}") from error
        except RecursionError:
            raise RuleError(f"JSONata expression {ctx.rule.expr!r} failed: it goes too deep") from None

    @classmethod
    def register(cls) -> None:
        """As in confluent_kafka; not needed here."""
        from serdes.rules.registry import RuleRegistry

        RuleRegistry.register_rule_executor(cls())


def _evaluated(library: Any, expression: Any, message: Any, bounds: Bounds) -> Any:
    """The value of an expression. Each evaluation has a frame of its own: what one assigns the next must not see."""
    frame = expression.create_frame(None)

    def enter(part: Any, value: Any, environment: Any) -> None:
        bounds.step()

    def leave(part: Any, value: Any, environment: Any, result: Any) -> None:
        bounds.value(result)

    frame.set_evaluate_entry_callback(enter)
    frame.set_evaluate_exit_callback(leave)
    frame.bind("pad", _bounded_pad(library))
    # functions like $now() ask the expression that was made last in this thread, instead of the one that runs
    library.Jsonata.CURRENT.jsonata = expression
    return expression.evaluate(message, frame)


def _plain(value: Any) -> Any:
    """A result in lists and dicts of its own: the library has lists of several kinds, and may give back the input.

    Raises:
        RuleError: there is something in it that is no JSON, a function, say.
    """
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise RuleError("the expression gives a function, or something else that is no JSON")


@functools.lru_cache(1)
def _library() -> Any:
    """The library; the limit on recursion that it raises for the whole process when it is imported is put back."""
    limit = sys.getrecursionlimit()
    try:
        return needed("jsonata", "rules", RuleError)
    finally:
        sys.setrecursionlimit(limit)


class _Thread(threading.local):
    """Expressions as one thread has them: the library keeps the state of an evaluation in them."""

    def __init__(self) -> None:
        self.compiled: Callable[[str], Any] = functools.lru_cache(256)(_compiled)


def _compiled(expression: str) -> Any:
    return _library().Jsonata(expression, _regex)


_this_thread = _Thread()


@functools.lru_cache(1)
def _bounded_pad(library: Any) -> Any:
    """`$pad`, the one function that makes much of little: it is told a width."""

    class Bounded(library.Jsonata.JNativeFunction):  # type: ignore[misc]
        def call(self, value: Any, args: Any) -> Any:
            if len(args) > 1 and isinstance(args[1], (int, float)) and abs(args[1]) > MAX_SIZE:
                raise RuleError(f"$pad is asked for {args[1]:,} characters, the most is {MAX_SIZE:,}")
            return super().call(value, args)

    functions = needed("jsonata.functions", "rules", RuleError).Functions
    return Bounded("pad", "<s-ns?:s>", functions, None)


def _regex(pattern: str, flags: Any) -> Any:
    re2 = needed("re2", "rules", RuleError)
    options = re2.Options()
    options.log_errors = False
    given = ("i" if flags.case_insensitive else "") + ("m" if flags.multiline else "")
    try:
        return _Linear(re2.compile(f"(?{given}){pattern}" if given else pattern, options))
    except re2.error:
        return re.compile(pattern, (flags.case_insensitive and re.I) | (flags.multiline and re.M))


class _Linear:
    """RE2's compiled pattern with the methods that the library asks for."""

    def __init__(self, pattern: Any) -> None:
        self._pattern = pattern
        self.search, self.finditer, self.split = pattern.search, pattern.finditer, pattern.split

    def sub(self, replacement: Any, text: str, count: int = 0) -> str:
        """As `re.sub`; in a text only groups (`\\g<1>`) mean something: RE2 would read escapes, and spoil non-ASCII."""
        if isinstance(replacement, str):
            template = replacement
            result = self._pattern.sub(lambda match: _expanded(template, match), text, count)
        else:
            result = self._pattern.sub(replacement, text, count)
        return str(result)


def _expanded(template: str, match: Any) -> str:
    groups = match.groups()

    def group(found: re.Match[str]) -> str:
        number = int(found[1])
        if number > len(groups):  # in the words of `re`: the library looks for them
            raise IndexError(f"invalid group reference {number} at position {found.start(1)}")
        return (match.group() if number == 0 else groups[number - 1]) or ""

    return GROUP.sub(group, template)
