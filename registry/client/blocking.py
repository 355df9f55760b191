"""The blocking registry client: a thin shell that drives the flows over httpx.

Must not know what an operation does (`registry.client.flows`) or when to try again (`registry.client.delivery`). Method
names and arguments are those of `confluent_kafka.schema_registry.SchemaRegistryClient`.
"""

from __future__ import annotations

import contextlib
import copy
import random
import threading
import time
from collections.abc import Hashable, Mapping
from concurrent.futures import CancelledError, Future
from types import TracebackType
from typing import Any, TypeVar

import httpx

from registry.client.auth import credentials
from registry.client.cache import SchemaCaches
from registry.client.config import ClientConfig
from registry.client.delivery import Delivery
from registry.client.exchange import Body, closed, mock_transport, tls_context, unreachable
from registry.client.forks import share_no_fork
from registry.client.operations import Operations
from registry.client.steps import Flow, Invoke, Reply, Send, Share, Steps, Unreachable, Wait
from registry.errors import SchemaRegistryError
from registry.waiting import result_of, sleep

__all__ = ["SchemaRegistryClient"]

T = TypeVar("T")


class _Flights:
    """Look-ups under way: threads that want the same one wait for the one that asked first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[Hashable, Future[Any]] = {}

    def join(self, key: Hashable) -> tuple[bool, Future[Any]]:
        """Whether the caller is the first and has to do it, and the future of the result."""
        with self._lock:
            found = self._under_way.get(key)
            if found is not None:
                return False, found
            made: Future[Any] = Future()
            self._under_way[key] = made
            return True, made

    def land(self, key: Hashable) -> None:
        with self._lock:
            del self._under_way[key]


class SchemaRegistryClient(Operations):
    """A client of Confluent's Schema Registry and of registries with its API. Threads may share one.

    Args:
        conf: properties of confluent_kafka's client: `url` (several separated by commas: if one does not answer the
            next is tried), `basic.auth.user.info`, `ssl.*`, `timeout` (seconds), `max.retries`, … `mock://name` is a
            registry inside this process, the same one for every client of that name.
        transport: how httpx reaches the registry, instead of what the properties say.
        auth: how httpx signs requests, beside the credentials of the properties.

    Raises:
        ValueError: unknown or contradicting properties, unusable files.
        TypeError: a property of the wrong type.

    Every operation raises `ResponseError` (`IncompatibleSchemaError`, `InvalidSchemaError`) for what the registry
    refuses and `TransportError` if no registry answers; both are `SchemaRegistryError`s.
    """

    def __init__(
        self,
        conf: Mapping[str, object],
        *,
        transport: httpx.BaseTransport | None = None,
        auth: httpx.Auth | None = None,
    ) -> None:
        config = ClientConfig.parse(conf)
        self._config = config
        self._conf = dict(conf)
        self._transport = transport or mock_transport(config)
        self._auth = auth
        self._urls = config.urls
        self._timeout_s = config.timeout_s
        self._tls = httpx.create_ssl_context(verify=tls_context(config)) if self._transport is None else True
        self._open()
        share_no_fork(self)

    def _open(self) -> None:
        """Connections, caches and look-ups under way: all that belongs to one process."""
        config, rng = self._config, random.Random()
        self._caches = SchemaCaches(
            config.cache_capacity,
            config.latest_ttl_s,
            threading.Lock(),
            time.monotonic,
            config.missing_capacity,
            config.missing_ttl_s,
        )
        self._delivery = Delivery(config, credentials(config, time.monotonic, rng), time.monotonic, rng, time.time)
        self._flights = _Flights()
        self._http = httpx.Client(
            transport=self._transport,
            auth=self._auth,
            verify=self._tls,
            timeout=config.timeout_s,
            proxy=config.proxy,
            follow_redirects=False,
        )

    def _after_fork(self) -> None:
        """Starts anew in a child (see `share_no_fork`); a closed client stays closed."""
        was_closed, listeners = self._http.is_closed, self._caches.listeners_after_fork()
        self._open()
        for listener in listeners:
            self._caches.tell(listener)
        if was_closed:
            self._http.close()

    def __enter__(self) -> SchemaRegistryClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @staticmethod
    def new_client(conf: Mapping[str, object]) -> SchemaRegistryClient:
        """A client for this configuration; a `mock://` URL needs no network."""
        return SchemaRegistryClient(conf)

    def close(self) -> None:
        """Closes all connections. Calls after it raise."""
        self._http.close()

    # --- the shell itself

    def _drive(self, flow: Flow[T]) -> T:
        """Runs a flow to its end on the caller's thread."""
        steps: Steps[T] = self._delivery.run(flow)
        outcome: Any = None
        error: Exception | None = None
        with contextlib.closing(steps):
            while True:
                try:
                    step = steps.send(outcome) if error is None else steps.throw(error)
                except StopIteration as stop:
                    result: T = stop.value
                    return result
                outcome, error = None, None
                try:
                    outcome = self._perform(step)
                except SchemaRegistryError as raised:
                    error = raised
                except Exception as raised:
                    if not isinstance(step, Invoke):
                        raise
                    error = raised

    def _perform(self, step: Send | Wait | Share | Invoke) -> Any:
        if isinstance(step, Send):
            return self._send(step)
        if isinstance(step, Wait):
            return sleep(step.seconds)
        if isinstance(step, Invoke):
            return step.function()
        return self._share(step)

    def _send(self, step: Send) -> Reply | Unreachable:
        if self._http.is_closed:
            raise closed()
        deadline_s = time.monotonic() + self._timeout_s
        try:
            request = self._http.build_request(
                step.method, step.url, params=step.query, headers=step.headers, content=step.content
            )
            answer = self._http.send(request, stream=True, auth=httpx.USE_CLIENT_DEFAULT if step.to_registry else None)
            with contextlib.closing(answer):
                body = Body(self._timeout_s, deadline_s)
                for chunk in answer.iter_bytes():
                    body.add(chunk, time.monotonic())
        except (httpx.RequestError, httpx.InvalidURL) as error:
            return unreachable(error)
        return Reply(answer.status_code, bytes(body.data), answer.headers)

    def _share(self, step: Share) -> Any:
        while True:
            first, future = self._flights.join(step.key)
            if first:
                return self._lead(step, future)
            try:
                return result_of(future)
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
