"""Callbacks and hooks as a loop's thread and its tasks hold them: weakly, through the client they belong to.

Must not know loops or Kafka. A thread that runs is never collected, nor is a task, nor is what they hold: if that were
the callbacks, an owner whose method is its client's callback (`self.producer = Producer({"error_cb": self.failed})`)
would live on.
Spec: none.
"""

import inspect
import weakref
from collections.abc import Callable
from typing import Any, Final

from kafka_core.config import Config
from kafka_core.errors import ConfigError
from kafka_core.hooks import Hooks

CALLBACKS: Final = ("error_cb", "stats_cb", "throttle_cb", "on_commit", "on_truncation", "on_delivery", "oauth_cb")


class Held:
    """A client's callbacks, by any key; the client is their only holder.

    Args:
        awaits: the client awaits their results; else coroutine functions are refused.
    """

    __slots__ = ("__weakref__", "_awaits", "calls")

    def __init__(self, awaits: bool = False) -> None:
        self._awaits = awaits
        self.calls: dict[object, Callable[..., Any]] = {}

    def weak(self, key: object, call: Callable[..., Any]) -> "WeakCall":
        """Hold `call`, and give what stands for it elsewhere.

        Raises:
            ConfigError: it is a coroutine function, and nothing awaits what it gives: in a blocking client, or as
                `oauth_cb`, which runs on a thread of its own.
        """
        if (not self._awaits or key == "oauth_cb") and inspect.iscoroutinefunction(call):
            name = key if isinstance(key, str) else "a hook"
            other = "" if key == "oauth_cb" else ", or use AIOProducer or AIOConsumer"
            raise ConfigError(
                f"{name} is a coroutine function, which nothing would await here: give it an ordinary function{other}"
            )
        self.calls[key] = call
        return WeakCall(self, key)


class WeakCall:
    """Calls the function of a key, as long as somebody holds it; then it does nothing."""

    __slots__ = ("_held", "_key")

    def __init__(self, held: Held, key: object) -> None:
        self._held = weakref.ref(held)
        self._key = key

    def __call__(self, *arguments: Any) -> Any:
        held = self._held()
        return None if held is None else held.calls[self._key](*arguments)

    def __repr__(self) -> str:
        held = self._held()
        return "<a collected callback>" if held is None else repr(held.calls[self._key])


def weakly(config: Config, awaits: bool = False) -> tuple[Config, Held]:
    """The same configuration with callbacks and hooks that hold nothing, and what holds them."""
    held = Held(awaits)
    values: dict[str, object] = dict(config)
    for name in CALLBACKS:
        call = config.callback(name)
        if call is not None:
            values[name] = held.weak(name, call)
    values["hooks"] = _weak_hooks(config.hooks(), held)
    return Config(config.role, values, frozenset(name for name in config if config.is_set(name))), held


def _weak_hooks(hooks: Hooks, held: Held) -> Hooks:
    return hooks.replaced(lambda event, number, listener: held.weak((event, number), listener))
