"""The blocking registry client: how it waits, and how its threads share look-ups; `shell.py` has the rest.

Must not know what an operation does (`registry.client.flows`) or when to try again (`registry.client.delivery`). Method
names and arguments are those of `confluent_kafka.schema_registry.SchemaRegistryClient`.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Hashable, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import AbstractContextManager
from typing import Any

from kserdes_base.waiting import result_of, sleep
from registry.client.shell import Shell
from registry.client.steps import Share
from registry.errors import SchemaRegistryError


class _Flight:
    """A look-up under way.

    Attributes:
        future: its result.
        over: whether the thread that did it is done with it, with a result or without. It is set by one plain
            assignment, the only act that Ctrl-C can't come in between: the future may stay open and the flight listed.
    """

    __slots__ = ("future", "over")

    def __init__(self) -> None:
        self.future: Future[Any] = Future()
        self.over = False

    def is_over(self) -> bool:
        return self.over


class _Flights:
    """Look-ups under way: threads that want the same one wait for the one that asked first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[Hashable, _Flight] = {}

    def join(self, key: Hashable, own: _Flight) -> _Flight:
        """The flight that is under way; `own` if there is none, which the caller has to do."""
        with self._lock:
            found = self._under_way.get(key)
            if found is None or found.over:
                found = self._under_way[key] = own
            return found

    def land(self, key: Hashable) -> None:
        with self._lock:
            del self._under_way[key]


class SchemaRegistryClient(Shell):
    """A client of Confluent's Schema Registry and of registries with its API. Threads may share one.

    Args:
        conf: properties of confluent_kafka's client: `url` (several separated by commas: if one does not answer the
            next is tried), `basic.auth.user.info`, `ssl.*`, `timeout` (seconds), `max.retries`, … `mock://name` is a
            registry inside this process, the same one for every client of that name.
        transport: httpx's, instead of the properties'.
        auth: how httpx signs requests, beside the credentials of the properties.

    Raises:
        ValueError: unknown or contradicting properties, unusable files.
        TypeError: a property of the wrong type.

    Every operation raises `ResponseError` (`IncompatibleSchemaError`, `InvalidSchemaError`) for what the registry
    refuses and `TransportError` if no registry answers; both are `SchemaRegistryError`s.
    """

    def _open(self) -> None:
        super()._open()
        self._flights = _Flights()

    def _after_fork(self) -> None:
        """Starts anew in a child (see `share_no_fork`); a closed client stays closed."""
        was_closed, listeners = self._is_closed(), self._caches.listeners_after_fork()
        self._open()
        for listener in listeners:
            self._caches.tell(listener)
        self._ended = was_closed

    @staticmethod
    def new_client(conf: Mapping[str, object]) -> SchemaRegistryClient:
        """A client for this configuration; a `mock://` URL needs no network."""
        return SchemaRegistryClient(conf)

    def close(self) -> None:
        """Closes all connections. Calls after it raise."""
        self._disconnect()

    # --- how it waits

    def _cache_lock(self) -> AbstractContextManager[Any]:
        return threading.Lock()

    def _sleep(self, seconds: float) -> None:
        sleep(seconds)

    def _settled(self, result: Any) -> Any:
        return result

    def _share(self, step: Share) -> Any:
        while True:
            own = _Flight()
            try:
                flight = self._flights.join(step.key, own)
                if flight is own:
                    return self._lead(step, own.future)
            finally:
                own.over = True
            try:
                return result_of(flight.future, flight.is_over)
            except CancelledError:
                continue  # the thread that did it was interrupted (Ctrl-C): somebody else has to
            except SchemaRegistryError as error:
                raise copy.copy(error) from error

    def _lead(self, step: Share, future: Future[Any]) -> Any:
        try:
            result = self._drive(step.start())
        except Exception as error:
            self._flights.land(step.key)
            future.set_exception(error)
            raise
        except BaseException:
            self._flights.land(step.key)
            future.cancel()
            raise
        self._flights.land(step.key)
        future.set_result(result)
        return result
