"""The blocking registry client: a thin shell that drives the flows over httpx.

Must not know what an operation does (`registry.client.flows`) or when to try again (`registry.client.delivery`). Method
names and arguments are those of `confluent_kafka.schema_registry.SchemaRegistryClient`.
"""

from __future__ import annotations

import contextlib
import copy
import os
import random
import ssl
import threading
import time
import weakref
from collections.abc import Hashable, Mapping
from concurrent.futures import CancelledError, Future
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

import httpx

from registry.associations import Association, AssociationCreateOrUpdateRequest, AssociationResponse
from registry.client import flows
from registry.client.auth import credentials
from registry.client.cache import Listener, SchemaCaches
from registry.client.config import ClientConfig
from registry.client.delivery import Policy
from registry.client.steps import Flow, Invoke, Reply, Send, Share, Steps, Unreachable, Wait
from registry.errors import SchemaRegistryError, TransportError
from registry.models import RegisteredSchema, Schema, SchemaVersion, ServerConfig
from registry.waiting import result_of, sleep

if TYPE_CHECKING:
    from registry.dev.server.transport import InProcessTransport

__all__ = ["Body", "SchemaRegistryClient", "closed", "mock_transport", "share_no_fork", "tls_context", "unreachable"]

T = TypeVar("T")
MAX_ANSWER_BYTES = 64 * 1024 * 1024
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


def tls_context(config: ClientConfig) -> ssl.SSLContext | bool:
    """What httpx is to check certificates with.

    Raises:
        ValueError: a file can't be read or is not PEM.
    """
    if config.verify and config.ca_location is None and config.certificate_location is None:
        return True
    try:
        context = ssl.create_default_context(cafile=config.ca_location)
        if config.certificate_location is not None:
            context.load_cert_chain(config.certificate_location, config.key_location, config.key_password)
    except OSError as error:
        files = [str(name) for name in (config.ca_location, config.certificate_location, config.key_location) if name]
        raise ValueError(f"the TLS files of the registry client ({', '.join(files)}) can't be used: {error}") from error
    if not config.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def mock_transport(config: ClientConfig) -> InProcessTransport | None:
    """The transport into the in-process registry of a `mock://name` URL, None for a real registry."""
    if config.mock_name is None:
        return None
    from registry.dev.server.embedded import shared  # nobody else needs an embedded registry

    return shared(config.mock_name).transport()


def unreachable(error: httpx.RequestError | httpx.InvalidURL) -> Unreachable:
    """What an error of httpx means; the one place where they are translated."""
    reason = str(error) or type(error).__name__
    if isinstance(error, httpx.TimeoutException):
        reason = f"timed out ({type(error).__name__})"
    return Unreachable(reason, sent=not isinstance(error, (*NOT_SENT, httpx.InvalidURL)), cause=error)


def closed() -> TransportError:
    """The error of calls on a client that is closed."""
    return TransportError(-1, -1, "the registry client is closed")


class Body:
    """The body of an answer, which has to come in time and to be of some size.

    Args:
        timeout_s: for the message.
        deadline_s: when all of it must be here, in the seconds of the clock that `add` is told.
    """

    def __init__(self, timeout_s: float, deadline_s: float) -> None:
        self._timeout_s = timeout_s
        self._deadline_s = deadline_s
        self.data = bytearray()

    def add(self, chunk: bytes, now_s: float) -> None:
        """Takes a part.

        Raises:
            httpx.ReadTimeout: it took too long.
            httpx.RemoteProtocolError: it is too large.
        """
        self.data += chunk
        if len(self.data) > MAX_ANSWER_BYTES:
            raise httpx.RemoteProtocolError(f"the answer is larger than {MAX_ANSWER_BYTES} bytes")
        if now_s > self._deadline_s:
            raise httpx.ReadTimeout(f"the answer is not complete after {self._timeout_s:g} s")


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


class _Forkable(Protocol):
    def _after_fork(self) -> None: ...


_forkable: weakref.WeakSet[_Forkable] = weakref.WeakSet()


def share_no_fork(client: _Forkable) -> None:
    """Lets a client start anew in every child of a fork.

    With the parent's connections one of the two would read the answers to the other's requests; and who holds the
    parent's locks or makes its look-ups is not in the child.
    """
    _forkable.add(client)


def _after_fork() -> None:
    for client in list(_forkable):
        client._after_fork()


os.register_at_fork(after_in_child=_after_fork)


class SchemaRegistryClient:
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
        self._policy = Policy(config, credentials(config, time.monotonic, rng), time.monotonic, rng, time.time)
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

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._urls)})"

    def __reduce__(self) -> Any:
        raise TypeError(
            "a registry client holds connections and secrets and is not pickled: make one where it is needed"
        )

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

    def config(self) -> dict[str, object]:
        """The configuration the client was made with (a copy; it may hold secrets)."""
        return dict(self._conf)

    def close(self) -> None:
        """Closes all connections. Calls after it raise."""
        self._http.close()

    def clear_caches(self) -> None:
        """Forgets everything that is cached."""
        self._caches.clear()

    def clear_latest_caches(self) -> None:
        """Forgets which versions are the newest, nothing else."""
        self._caches.clear_latest()

    def tell(self, listener: Listener) -> None:
        """Tells a listener, as long as it lives, what this client forgets of the registry: by a change of its own, by
        `clear_caches` and `clear_latest_caches`. Serializers keep plans, which end with it.
        """
        self._caches.tell(listener)

    def latest_until_s(self, subject_name: str, metadata: Mapping[str, str] | None = None) -> float:
        """Until when the cached newest version of a subject is believed, in monotonic seconds.

        Args:
            subject_name: the subject.
            metadata: as for `get_latest_with_metadata` with deleted versions, None for `get_latest_version`.
        """
        return self._caches.latest_until_s(subject_name, metadata)

    # --- schemas

    def get_schema(
        self,
        schema_id: int,
        subject_name: str | None = None,
        fmt: str | None = None,
        reference_format: str | None = None,
    ) -> Schema:
        """The schema of this id; cached. That there is none is believed for `missing.id.cache.ttl.sec` (60 s).

        Args:
            schema_id: the id of a frame.
            subject_name: where to look for it (matters for contexts).
            fmt: output format, e.g. `resolved` (Avro) or `serialized` (Protobuf).
            reference_format: output format of references.

        Raises:
            ResponseError: the registry has no such schema (40403).
        """
        known = self._caches.schemas.get((schema_id, subject_name, fmt, reference_format))
        if known is not None:
            return known
        return self._drive(flows.get_schema(self._caches, schema_id, subject_name, fmt, reference_format))

    def get_schema_by_guid(self, guid: str, fmt: str | None = None) -> Schema:
        """The schema of this GUID; cached. That there is none is believed as for `get_schema`.

        Args:
            guid: as it stands in a message's header.
            fmt: output format, as for `get_schema`.

        Raises:
            ResponseError: the registry has no such schema (40403).
        """
        known = self._caches.guids.get((guid, fmt))
        if known is not None:
            return known
        return self._drive(flows.get_schema_by_guid(self._caches, guid, fmt))

    def get_schema_types(self) -> list[str]:
        """The schema types the registry supports."""
        return self._drive(flows.get_schema_types())

    def get_subjects_by_schema_id(
        self,
        schema_id: int,
        subject_name: str | None = None,
        deleted: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> list[str]:
        """The subjects under which a schema is registered."""
        return self._drive(flows.get_subjects_by_schema_id(schema_id, subject_name, deleted, offset, limit))

    def get_schema_versions(
        self,
        schema_id: int,
        subject_name: str | None = None,
        deleted: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> list[SchemaVersion]:
        """The subjects and versions at which a schema is registered."""
        return self._drive(flows.get_schema_versions(schema_id, subject_name, deleted, offset, limit))

    # --- registration and look-up

    def register_schema(self, subject_name: str, schema: Schema, normalize_schemas: bool = False) -> int:
        """Registers a schema, if it is not yet, and returns its id; cached.

        Raises:
            IncompatibleSchemaError: the subject's compatibility level forbids it; the reasons are with it.
            InvalidSchemaError: the registry can't parse it.
        """
        return self.register_schema_full_response(subject_name, schema, normalize_schemas).schema_id

    def register_schema_full_response(
        self, subject_name: str, schema: Schema, normalize_schemas: bool = False
    ) -> RegisteredSchema:
        """As `register_schema`, returning all that the registry answers."""
        known = self._caches.registered.get((subject_name, schema, normalize_schemas))
        if known is not None:
            return known
        return self._drive(flows.register_schema(self._caches, subject_name, schema, normalize_schemas))

    def lookup_schema(
        self,
        subject_name: str,
        schema: Schema,
        normalize_schemas: bool = False,
        fmt: str | None = None,
        deleted: bool = False,
    ) -> RegisteredSchema:
        """Where this schema is registered under a subject; cached.

        Raises:
            ResponseError: it is not (40403), or there is no such subject (40401).
        """
        known = self._caches.looked_up.get((subject_name, schema, normalize_schemas, fmt, deleted))
        if known is not None:
            return known
        return self._drive(flows.lookup_schema(self._caches, subject_name, schema, normalize_schemas, fmt, deleted))

    # --- subjects and versions

    def get_subjects(
        self,
        subject_prefix: str | None = None,
        deleted: bool = False,
        deleted_only: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> list[str]:
        """The names of all subjects, those deleted softly too if asked for."""
        return self._drive(flows.get_subjects(subject_prefix, deleted, deleted_only, offset, limit))

    def delete_subject(self, subject_name: str, permanent: bool = False) -> list[int]:
        """Deletes a subject and returns its versions; for good only if it was deleted softly before."""
        return self._drive(flows.delete_subject(self._caches, subject_name, permanent))

    def get_latest_version(self, subject_name: str, fmt: str | None = None) -> RegisteredSchema:
        """The newest version of a subject; cached for `cache.latest.ttl.sec`, or until this client registers one."""
        known = self._caches.latest.get((subject_name, fmt))
        if known is not None:
            return known
        return self._drive(flows.get_latest_version(self._caches, subject_name, fmt))

    def get_latest_with_metadata(
        self, subject_name: str, metadata: dict[str, str], deleted: bool = False, fmt: str | None = None
    ) -> RegisteredSchema:
        """The newest version whose metadata has these properties; cached as `get_latest_version`.

        Args:
            subject_name: the subject.
            metadata: names and values that must all be there.
            deleted: whether versions deleted softly count.
            fmt: output format, as for `get_schema`.
        """
        return self._drive(flows.get_latest_with_metadata(self._caches, subject_name, metadata, deleted, fmt))

    def get_version(
        self,
        subject_name: str,
        version: int | Literal["latest"] = "latest",
        deleted: bool = False,
        fmt: str | None = None,
    ) -> RegisteredSchema:
        """One version of a subject; cached."""
        return self._drive(flows.get_version(self._caches, subject_name, version, deleted, fmt))

    def get_versions(
        self,
        subject_name: str,
        deleted: bool = False,
        deleted_only: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> list[int]:
        """The numbers of a subject's versions."""
        return self._drive(flows.get_versions(subject_name, deleted, deleted_only, offset, limit))

    def get_referenced_by(
        self,
        subject_name: str,
        version: int | Literal["latest"] = "latest",
        offset: int = 0,
        limit: int = -1,
    ) -> list[int]:
        """The ids of schemas that use this version as a reference."""
        return self._drive(flows.get_referenced_by(subject_name, version, offset, limit))

    def delete_version(self, subject_name: str, version: int | Literal["latest"], permanent: bool = False) -> int:
        """Deletes one version and returns its number; for good only if it was deleted softly before."""
        return self._drive(flows.delete_version(self._caches, subject_name, version, permanent))

    # --- compatibility and configuration

    def set_compatibility(self, subject_name: str | None = None, level: str | None = None) -> str:
        """Sets the level of a subject, or the global one, and returns it."""
        return self._drive(flows.set_compatibility(subject_name, level))

    def get_compatibility(self, subject_name: str | None = None) -> str:
        """The level of a subject, or the global one.

        Raises:
            ResponseError: the subject has no level of its own (40408).
        """
        return self._drive(flows.get_compatibility(subject_name))

    def test_compatibility(
        self,
        subject_name: str,
        schema: Schema,
        version: int | str = "latest",
        normalize: bool = False,
        verbose: bool = False,
    ) -> bool:
        """Whether a schema could be registered, judged against one version."""
        return self._drive(flows.test_compatibility(subject_name, schema, version, normalize, verbose))

    def test_compatibility_all_versions(
        self, subject_name: str, schema: Schema, normalize: bool = False, verbose: bool = False
    ) -> bool:
        """Whether a schema could be registered, judged against all versions the subject's level asks for."""
        return self._drive(flows.test_compatibility(subject_name, schema, None, normalize, verbose))

    def set_config(self, subject_name: str | None = None, config: ServerConfig | None = None) -> ServerConfig:
        """Sets the configuration of a subject, or the global one."""
        return self._drive(flows.set_config(subject_name, config))

    def get_config(self, subject_name: str | None = None) -> ServerConfig:
        """The configuration of a subject, or the global one."""
        return self._drive(flows.get_config(subject_name))

    def delete_config(self, subject_name: str | None = None) -> ServerConfig:
        """Deletes the configuration of a subject, or resets the global one, and returns what it was."""
        return self._drive(flows.delete_config(subject_name))

    # --- modes and contexts

    def get_mode(self, subject_name: str) -> str:
        """The mode of a subject: `READWRITE`, `READONLY`, `READONLY_OVERRIDE`, `IMPORT` or `FORWARD`.

        Raises:
            ResponseError: the subject has no mode of its own (40409).
        """
        return self._drive(flows.get_mode(subject_name))

    def update_mode(self, subject_name: str, mode: str, force: bool = False) -> str:
        """Sets the mode of a subject and returns it; `force` allows `IMPORT` where there are schemas."""
        return self._drive(flows.update_mode(subject_name, mode, force))

    def delete_mode(self, subject_name: str) -> str:
        """Deletes the mode of a subject, which then has the global one, and returns what it was."""
        return self._drive(flows.delete_mode(subject_name))

    def get_global_mode(self) -> str:
        """The mode of subjects that have none of their own."""
        return self._drive(flows.get_mode(None))

    def update_global_mode(self, mode: str, force: bool = False) -> str:
        """Sets the mode of subjects that have none of their own, and returns it."""
        return self._drive(flows.update_mode(None, mode, force))

    def get_contexts(self, offset: int = 0, limit: int = -1) -> list[str]:
        """The names of all contexts; `.` is the default one."""
        return self._drive(flows.get_contexts(offset, limit))

    # --- associations

    def get_associations_by_resource_name(
        self,
        resource_name: str,
        resource_namespace: str,
        resource_type: str | None = None,
        association_types: list[str] | None = None,
        offset: int = 0,
        limit: int = -1,
    ) -> list[Association]:
        """The subjects that are associated with a resource.

        Args:
            resource_name: e.g. the topic.
            resource_namespace: e.g. the Kafka cluster's id; `-` for any.
            resource_type: e.g. `topic`, the default.
            association_types: `key`, `value`, or both.
            offset: how many to leave out.
            limit: how many at the most; -1 for all.
        """
        return self._drive(
            flows.get_associations_by_resource_name(
                resource_name, resource_namespace, resource_type, association_types, offset, limit
            )
        )

    def create_association(self, request: AssociationCreateOrUpdateRequest) -> AssociationResponse:
        """Makes or changes the associations of a resource, and registers the schemas that come with them."""
        return self._drive(flows.create_association(self._caches, request))

    def delete_associations(
        self,
        resource_id: str,
        resource_type: str | None = None,
        association_types: list[str] | None = None,
        cascade_lifecycle: bool = False,
    ) -> None:
        """Deletes associations of a resource.

        Args:
            resource_id: the resource.
            resource_type: e.g. `topic`, the default.
            association_types: `key`, `value`, or both.
            cascade_lifecycle: whether subjects of `STRONG` associations are deleted with them.
        """
        self._drive(
            flows.delete_associations(self._caches, resource_id, resource_type, association_types, cascade_lifecycle)
        )

    # --- the shell itself

    def _drive(self, flow: Flow[T]) -> T:
        """Runs a flow to its end on the caller's thread."""
        steps: Steps[T] = self._policy.run(flow)
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
