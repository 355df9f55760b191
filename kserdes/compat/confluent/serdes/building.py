"""Builders and what was built, by the names of confluent_kafka's module `_serde_builder`.

Must not hold anything that clients of ours need: they have `serdes.builders.BuiltSerdes`.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from typing import Any, Final, NamedTuple

from kserdes_base.waiting import result_of
from registry import AsyncSchemaRegistryClient, SchemaRegistryClient
from serdes.builders import CLUSTER_ID_S

__all__ = [
    "AsyncSharedClusterIdResolver",
    "SerdeSpec",
    "SharedClusterIdResolver",
    "async_build_serde",
    "async_build_serdes",
    "async_close_serdes",
    "build_serde",
    "build_serdes",
    "close_serdes",
    "intersect_leftovers",
    "maybe_await",
    "pop_serde_props",
    "propagate_async_cluster_id_resolver",
    "propagate_cluster_id_resolver",
    "validate_build_result",
]

logger: Final = logging.getLogger("serdes")
CLUSTER_ID_TIMEOUT: Final = CLUSTER_ID_S
Conf = dict[str, Any]
Built = tuple[list[Any], list[Any], Conf]
"""The functions in the order of their specs, those of them that were built, and the client's configuration."""


def build_serde(
    schema_registry_client: Any,
    schema_registry_conf: Mapping[str, Any] | None,
    construct: Callable[[Any], Any],
    init: Callable[[Any], object] | None = None,
) -> Any:
    """The result of `construct` with a registry client: the given one, or one of its own, which is closed with it.

    Args:
        schema_registry_client: the client, or None.
        schema_registry_conf: the configuration of a client to make, or None.
        construct: takes a client, or None if neither is given.
        init: is called with what was made; if it fails, that is closed.

    Raises:
        ValueError: a client and a configuration.
        Exception: what `construct` and `init` raise.
    """
    own = _own(schema_registry_client, schema_registry_conf, SchemaRegistryClient)
    made = own
    try:
        made = construct(own or schema_registry_client)
        if own is not None:
            made.own_schema_registry_client()
        if init is not None:
            init(made)
    except BaseException:
        if made is not None:
            with contextlib.suppress(Exception):  # the first failure is told
                made.close()
        raise
    return made


async def async_build_serde(
    schema_registry_client: Any,
    schema_registry_conf: Mapping[str, Any] | None,
    construct: Callable[[Any], Awaitable[Any]],
    init: Callable[[Any], Awaitable[object]] | None = None,
) -> Any:
    """`build_serde` for tasks: both functions are awaited."""
    own = _own(schema_registry_client, schema_registry_conf, AsyncSchemaRegistryClient)
    made = own
    try:
        made = await construct(own or schema_registry_client)
        if own is not None:
            made.own_schema_registry_client()
        if init is not None:
            await init(made)
    except BaseException:
        if made is not None:
            with contextlib.suppress(Exception):  # the first failure is told
                await made.aclose()
        raise
    return made


def _own(client: Any, conf: Mapping[str, Any] | None, kind: type[Any]) -> Any:
    if client is not None and conf is not None:
        raise ValueError("Cannot specify both a Schema Registry client and a configuration; use one or the other")
    return None if conf is None else kind(conf)


class SerdeSpec(NamedTuple):
    """The configuration of one function.

    Attributes:
        prop: the property.
        serde: the function itself, or None.
        builder: what makes it, or None.
        is_key: whether it is for keys.
    """

    prop: str
    serde: Any
    builder: Any
    is_key: bool


def pop_serde_props(conf: Conf, key_prop: str, value_prop: str) -> tuple[list[SerdeSpec], Conf]:
    """The functions and builders of a configuration, and a copy of it without them.

    Raises:
        ValueError: a function and its builder are both there.
    """
    rest, specs = dict(conf), []
    for prop in (key_prop, value_prop):
        spec = SerdeSpec(prop, rest.pop(prop, None), rest.pop(f"{prop}.builder", None), prop == key_prop)
        if spec.serde is not None and spec.builder is not None:
            raise ValueError(f"Cannot configure both {prop} and {prop}.builder; use one or the other")
        specs.append(spec)
    return specs, rest


def validate_build_result(builder_prop: str, result: Any) -> tuple[Any, Conf]:
    """The two parts of what a builder gave.

    Raises:
        ValueError: it gave something else.
    """
    try:
        made, kept = result
    except (TypeError, ValueError):
        raise ValueError(
            f"{builder_prop}.builder must return a (serde, configuration) tuple from build(), "
            f"got {type(result).__name__}"
        ) from None
    if not isinstance(kept, dict):
        raise ValueError(
            f"{builder_prop}.builder returned {type(kept).__name__} as the leftover configuration from build(), "
            "expected a dict"
        )
    return made, kept


def intersect_leftovers(conf: Conf, leftovers: Sequence[Mapping[str, Any]]) -> Conf:
    """The properties that all builders left, with the last one's values; all of them if there was no builder."""
    if not leftovers:
        return conf
    return {name: value for name, value in leftovers[-1].items() if all(name in each for each in leftovers)}


def build_serdes(specs: Sequence[SerdeSpec], conf: Conf) -> Built:
    """Runs the builders; each gets a copy of the whole configuration. If one fails, what was built is closed.

    Raises:
        ValueError: a builder gave something else than it should.
        Exception: what a builder raises.
    """
    taken = _Taken(conf)
    try:
        for spec in specs:
            taken.take(spec, None if spec.builder is None else spec.builder.build(dict(conf), spec.is_key))
    except BaseException:
        close_serdes(taken.owned)
        raise
    return taken.all()


async def async_build_serdes(specs: Sequence[SerdeSpec], conf: Conf) -> Built:
    """`build_serdes` for builders that may have something to await."""
    taken = _Taken(conf)
    try:
        for spec in specs:
            given = None if spec.builder is None else spec.builder.build(dict(conf), spec.is_key)
            taken.take(spec, await maybe_await(given))
    except BaseException:
        await async_close_serdes(taken.owned)
        raise
    return taken.all()


class _Taken:
    """The results of builders so far."""

    def __init__(self, conf: Conf) -> None:
        self._conf = conf
        self.made: list[Any] = []
        self.owned: list[Any] = []
        self._leftovers: list[Conf] = []

    def take(self, spec: SerdeSpec, result: Any) -> None:
        if spec.builder is None:
            self.made.append(spec.serde)
            return
        made, kept = validate_build_result(spec.prop, result)
        self.made.append(made)
        self.owned.append(made)
        self._leftovers.append(kept)

    def all(self) -> Built:
        return self.made, self.owned, intersect_leftovers(self._conf, self._leftovers)


async def maybe_await(result: Any) -> Any:
    """The result of an awaitable; anything else as it is."""
    return await result if inspect.isawaitable(result) else result


class SharedClusterIdResolver:
    """A cluster's id for any thread; who asks while another waits for it gets the same answer. Nothing is kept.

    Args:
        cluster_id: the client's method.
        timeout: how long it may wait, in seconds.
    """

    def __init__(self, cluster_id: Callable[..., Any], timeout: float = CLUSTER_ID_TIMEOUT) -> None:
        self._cluster_id = cluster_id
        self._timeout = timeout
        self._lock = threading.Lock()
        self._asked: _Asked | None = None

    def __call__(self) -> Any:
        while True:
            own = _Asked()
            try:
                with self._lock:
                    if self._asked is None or self._asked.over:
                        self._asked = own
                    asked = self._asked
                if asked is own:
                    return self._ask(own.answer)
            finally:
                own.over = True
            try:
                return result_of(asked.answer, asked.is_over)
            except CancelledError:
                continue  # the thread that asked was interrupted (Ctrl-C): somebody else has to

    def _ask(self, answer: Future[Any]) -> Any:
        """Asks, for all who wait; who comes after it asks anew."""
        try:
            outcome = self._cluster_id(timeout=self._timeout)
        except Exception as error:
            answer.set_exception(error)
            raise
        answer.set_result(outcome)
        return outcome


class _Asked:
    """A question under way; `over` once its asker is done with it, with an answer or without (interrupted)."""

    __slots__ = ("answer", "over")

    def __init__(self) -> None:
        self.answer: Future[Any] = Future()
        self.over = False

    def is_over(self) -> bool:
        return self.over


class AsyncSharedClusterIdResolver:
    """`SharedClusterIdResolver` for tasks; one that is cancelled leaves the call to the others.

    Args:
        cluster_id: the client's method.
        timeout: how long it may wait, in seconds.
    """

    def __init__(self, cluster_id: Callable[..., Awaitable[Any]], timeout: float = CLUSTER_ID_TIMEOUT) -> None:
        self._cluster_id = cluster_id
        self._timeout = timeout
        self._asked: asyncio.Task[Any] | None = None

    async def __call__(self) -> Any:
        if self._asked is None:
            self._asked = asyncio.get_running_loop().create_task(self._ask())
        return await asyncio.shield(self._asked)

    async def _ask(self) -> Any:
        try:
            return await self._cluster_id(timeout=self._timeout)
        finally:
            self._asked = None


def propagate_cluster_id_resolver(resolver: Callable[[], Any], serdes: Iterable[Any]) -> None:
    """Gives a resolver to all that take one; nothing is resolved yet."""
    _give("set_cluster_id_resolver", resolver, serdes)


def propagate_async_cluster_id_resolver(resolver: Callable[[], Awaitable[Any]], serdes: Iterable[Any]) -> None:
    """Gives a resolver for tasks to all that take one; blocking ones could not await it."""
    _give("set_async_cluster_id_resolver", resolver, serdes)


def _give(setter: str, resolver: Callable[[], Any], serdes: Iterable[Any]) -> None:
    for each in serdes:
        set_resolver = getattr(each, setter, None)
        if callable(set_resolver):
            set_resolver(resolver)


def close_serdes(serdes: Iterable[Any]) -> None:
    """Closes all that can be closed.

    Raises:
        BaseException: the first failure, after all were tried; further ones are logged.
    """
    failures = _Failures()
    for each in serdes:
        close = getattr(each, "close", None)
        if callable(close):
            try:
                close()
            except BaseException as error:  # the others are closed first
                failures.add(each, error)
    failures.end()


async def async_close_serdes(serdes: Iterable[Any]) -> None:
    """`close_serdes`, with `aclose()` where there is one."""
    failures = _Failures()
    for each in serdes:
        close = next((found for name in ("aclose", "close") if callable(found := getattr(each, name, None))), None)
        if close is not None:
            try:
                await maybe_await(close())
            except BaseException as error:  # the others are closed first
                failures.add(each, error)
    failures.end()


class _Failures:
    """The first failure, to be raised at the end; others are logged."""

    def __init__(self) -> None:
        self._first: BaseException | None = None

    def add(self, which: Any, error: BaseException) -> None:
        if self._first is None:
            self._first = error
        else:
            logger.warning("%r could not be closed", which, exc_info=error)

    def end(self) -> None:
        if self._first is not None:
            raise self._first
