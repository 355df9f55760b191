"""Limits of a rule's run on one message: time, and the size of its result.

Must not know of rule languages. Rules come with schemas and run on what others produced: neither may keep a service
busy for ever, or fill its memory. An expression that doubles a text sixty times is short.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from serdes.rules.model import RuleError
from serdes.variants import Variant

LIMIT_S: Final = 10.0
"""Seconds of its thread's processor time that a rule may take for a message; `rule.timeout.ms` says otherwise."""
MAX_SIZE: Final = 50_000_000
"""The largest size of a value, written out: each character, byte and number counts one, each item four more."""
ITEM: Final = 5
TIMEOUT: Final = "rule.timeout.ms"


def limit_of(rule_conf: Mapping[str, Any], otherwise: float = LIMIT_S) -> float:
    """The seconds that a serializer's rule configuration gives each rule.

    Raises:
        RuleError: not a number above 0.
    """
    given = rule_conf.get(TIMEOUT)
    if given is None:
        return otherwise
    try:
        found = float(given) / 1000
    except (TypeError, ValueError):
        found = 0.0
    if not found > 0:
        raise RuleError(f"{TIMEOUT} must be a number above 0, not {given!r}")
    return found


class Bounds:
    """The bounds of one rule for one message.

    Args:
        name: the rule's name, for errors.
        limit_s: seconds it may take, from now.
        clock: the time, in seconds from any point; that of the thread does not go on while a busy machine holds it up.
    """

    def __init__(
        self, name: str | None, limit_s: float = LIMIT_S, clock: Callable[[], float] = time.thread_time
    ) -> None:
        self._name = name
        self._limit_s = limit_s
        self._clock = clock
        self._end_s = clock() + limit_s
        self._sizes: dict[int, tuple[Any, int, int]] = {}  # by id: the value (so that it lives on), its length and size
        self._variants: dict[int, bytes] = {}  # by id: bytes of variants, which parts of them share
        self._variants_size = 0

    def step(self) -> None:
        """Called at every step.

        Raises:
            RuleError: the time is over.
        """
        if self._clock() > self._end_s:
            raise RuleError(f"rule {self._name!r} takes longer than {self._limit_s:g} s")

    def value(self, value: Any) -> None:
        """Called with every value in between, and so with the result.

        Raises:
            RuleError: it is too large, or the time is over.
        """
        if self._size(value) > MAX_SIZE or self._variants_size > MAX_SIZE:
            raise RuleError(f"rule {self._name!r} makes a value that is larger than {MAX_SIZE:,} characters")

    def _hold(self, data: bytes) -> None:
        """Counts bytes of a variant once: its smallest part keeps them all."""
        if id(data) not in self._variants:
            self._variants[id(data)] = data
            self._variants_size += len(data)

    def _size(self, value: Any) -> int:
        """The size of a value written out: the same list may stand in it many times over."""
        if isinstance(value, (str, bytes)):
            return len(value)
        if isinstance(value, Variant):
            self._hold(value.value)
            self._hold(value.metadata)
            return 1
        if not isinstance(value, (list, tuple, dict)):
            return 1
        known = self._sizes.get(id(value))
        if known is not None and known[1] == len(value):
            return known[2]
        size = len(value) * ITEM
        for item in dict.values(value) if isinstance(value, dict) else value:
            self.step()
            size += self._size(item)
            if size > MAX_SIZE:
                break
        self._sizes[id(value)] = (value, len(value), size)
        return size
