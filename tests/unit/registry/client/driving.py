"""Drives steps without a network: a scripted server and a clock that moves when a flow waits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from registry.client.steps import Invoke, Reply, Send, Share, Steps, Unreachable, Wait
from registry.errors import SchemaRegistryError

T = TypeVar("T")
Outcome = Reply | Unreachable


class Driver:
    """Answers sends from a list, the last entry for ever; notes everything that was asked."""

    def __init__(self, outcomes: Sequence[Outcome | Callable[[Send], Outcome]]) -> None:
        self._outcomes = list(outcomes)
        self.sent: list[Send] = []
        self.waits: list[float] = []
        self.shared: list[Any] = []
        self.now_s = 100.0

    def clock(self) -> float:
        return self.now_s

    def run(self, steps: Steps[T], wrap: Callable[[Any], Steps[Any]] | None = None) -> T:
        outcome: Any = None
        error: Exception | None = None
        while True:
            try:
                step = steps.send(outcome) if error is None else steps.throw(error)
            except StopIteration as stop:
                result: T = stop.value
                return result
            outcome, error = None, None
            try:
                outcome = self._perform(step, wrap)
            except SchemaRegistryError as raised:
                error = raised
            except Exception as raised:
                if not isinstance(step, Invoke):
                    raise
                error = raised

    def _perform(self, step: Send | Wait | Share | Invoke, wrap: Callable[[Any], Steps[Any]] | None) -> Any:
        if isinstance(step, Wait):
            self.waits.append(step.seconds)
            self.now_s += step.seconds
            return None
        if isinstance(step, Invoke):
            return step.function()
        if isinstance(step, Share):
            self.shared.append(step.key)
            flow: Any = step.start()
            return self.run(flow if wrap is None else wrap(flow), wrap)
        self.sent.append(step)
        answer = self._outcomes.pop(0) if len(self._outcomes) > 1 else self._outcomes[0]
        return answer(step) if callable(answer) else answer
