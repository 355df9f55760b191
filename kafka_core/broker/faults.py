"""Faults for tests: rules that answer, fail, delay, drop or cut requests.

Must not know: sockets, time. The dispatcher asks `Faults.decide` before it calls a handler.
Spec: docs of this project; the idea is the control functions of franz-go's kfake.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kafka_core.broker.context import Context
from kafka_core.protocol import ApiMessage


@dataclass(frozen=True, slots=True)
class Drop:
    """Never answer this request. The connection stays open, and later requests on it are answered.

    With `handled` the request takes effect first and only its answer is lost.
    """

    handled: bool = False


@dataclass(frozen=True, slots=True)
class Delay:
    """Hold the request back for `seconds` before handling it; with `handled`, handle it now and hold the answer."""

    seconds: float
    handled: bool = False


@dataclass(frozen=True, slots=True)
class Disconnect:
    """Cut the connection instead of answering; with `handled`, after the request took effect."""

    handled: bool = False


#: None goes on; a message is the answer; an int is an error code for every part of the answer.
Action = Drop | Delay | Disconnect | ApiMessage | int | None
Interceptor = Callable[[ApiMessage, Context], Action]


@dataclass(slots=True, eq=False)
class Rule:
    """One interceptor: which requests it sees, and how many it may still act on (None: any number)."""

    api_key: int
    interceptor: Interceptor
    times_left: int | None = None
    broker: int | None = None
    seen: int = field(default=0)

    def matches(self, api_key: int, broker: int) -> bool:
        """Whether the rule is for this request."""
        return self.api_key == api_key and self.broker in (None, broker) and self.times_left != 0


class Faults:
    """The rules of one cluster, asked in the order of their making; the first that acts decides."""

    def __init__(self) -> None:
        self._rules: list[Rule] = []

    def add(self, rule: Rule) -> None:
        """Put a rule at the end."""
        self._rules.append(rule)

    def remove(self, rule: Rule) -> None:
        """Take a rule away; harmless when it is gone."""
        if rule in self._rules:
            self._rules.remove(rule)

    def clear(self) -> None:
        """Take all rules away."""
        self._rules.clear()

    def decide(self, request: ApiMessage, context: Context) -> Action:
        """The action on a request: the first rule's action that is not None. `times` counts such actions only."""
        for rule in list(self._rules):
            if not rule.matches(context.api_key, context.broker_id):
                continue
            rule.seen += 1
            action = rule.interceptor(request, context)
            if action is not None:
                if rule.times_left is not None:
                    rule.times_left -= 1
                return action
        return None
