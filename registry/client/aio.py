"""The asyncio registry client: the same thin shell as `registry.client.blocking`, over httpx's asynchronous client.

Must not know what an operation does (`registry.client.flows`) or when to try again (`registry.client.delivery`). A test
compares both shells' signatures and docstrings.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import inspect
import random
import time
from collections.abc import Hashable, Mapping
from types import TracebackType
from typing import Any, Literal, TypeVar

import httpx

from registry.associations import Association, AssociationCreateOrUpdateRequest, AssociationResponse
from registry.client import flows
from registry.client.auth import credentials
from registry.client.blocking import Body, closed, mock_transport, share_no_fork, tls_context, unreachable
from registry.client.cache import Listener, SchemaCaches
from registry.client.config import ClientConfig
from registry.client.delivery import Policy
from registry.client.steps import Flow, Invoke, Reply, Send, Share, Steps, Unreachable, Wait
from registry.errors import SchemaRegistryError
from registry.models import RegisteredSchema, Schema, SchemaVersion, ServerConfig

__all__ = ["AsyncSchemaRegistryClient"]

T = TypeVar("T")


class AsyncSchemaRegistryClient:
    """A client of Confluent's Schema Registry and of registries with its API, for tasks of one event loop.

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
        transport: httpx.AsyncBaseTransport | None = None,
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
            contextlib.nullcontext(),
            time.monotonic,
            config.missing_capacity,
            config.missing_ttl_s,
        )
        self._policy = Policy(config, credentials(config, time.monotonic, rng), time.monotonic, rng, time.time)
        self._flights: dict[Hashable, asyncio.Task[Any]] = {}
        self._http = httpx.AsyncClient(
            transport=self._transport,
            auth=self._auth,
            verify=self._tls,
            timeout=config.timeout_s,
            proxy=config.proxy,
            follow_redirects=False,
        )

    def _after_fork(self) -> None:
        """Starts anew in a child, as the blocking client does."""
        listeners = self._caches.listeners_after_fork()
        self._open()
        for listener in listeners:
            self._caches.tell(listener)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._urls)})"

    def __reduce__(self) -> Any:
        raise TypeError(
            "a registry client holds connections and secrets and is not pickled: make one where it is needed"
        )

    async def __aenter__(self) -> AsyncSchemaRegistryClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    @staticmethod
    def new_client(conf: Mapping[str, object]) -> AsyncSchemaRegistryClient:
        """A client for this configuration; a `mock://` URL needs no network."""
        return AsyncSchemaRegistryClient(conf)

    def config(self) -> dict[str, object]:
        """The configuration the client was made with (a copy; it may hold secrets)."""
        return dict(self._conf)

    async def aclose(self) -> None:
        """Closes all connections. Calls after it raise."""
        for task in list(self._flights.values()):
            task.cancel()
        await self._http.aclose()

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

    async def get_schema(
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
        return await self._drive(flows.get_schema(self._caches, schema_id, subject_name, fmt, reference_format))

    async def get_schema_by_guid(self, guid: str, fmt: str | None = None) -> Schema:
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
        return await self._drive(flows.get_schema_by_guid(self._caches, guid, fmt))

    async def get_schema_types(self) -> list[str]:
        """The schema types the registry supports."""
        return await self._drive(flows.get_schema_types())

    async def get_subjects_by_schema_id(
        self,
        schema_id: int,
        subject_name: str | None = None,
        deleted: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> list[str]:
        """The subjects under which a schema is registered."""
        return await self._drive(flows.get_subjects_by_schema_id(schema_id, subject_name, deleted, offset, limit))

    async def get_schema_versions(
        self,
        schema_id: int,
        subject_name: str | None = None,
        deleted: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> list[SchemaVersion]:
        """The subjects and versions at which a schema is registered."""
        return await self._drive(flows.get_schema_versions(schema_id, subject_name, deleted, offset, limit))

    # --- registration and look-up

    async def register_schema(self, subject_name: str, schema: Schema, normalize_schemas: bool = False) -> int:
        """Registers a schema, if it is not yet, and returns its id; cached.

        Raises:
            IncompatibleSchemaError: the subject's compatibility level forbids it; the reasons are with it.
            InvalidSchemaError: the registry can't parse it.
        """
        return (await self.register_schema_full_response(subject_name, schema, normalize_schemas)).schema_id

    async def register_schema_full_response(
        self, subject_name: str, schema: Schema, normalize_schemas: bool = False
    ) -> RegisteredSchema:
        """As `register_schema`, returning all that the registry answers."""
        known = self._caches.registered.get((subject_name, schema, normalize_schemas))
        if known is not None:
            return known
        return await self._drive(flows.register_schema(self._caches, subject_name, schema, normalize_schemas))

    async def lookup_schema(
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
        return await self._drive(
            flows.lookup_schema(self._caches, subject_name, schema, normalize_schemas, fmt, deleted)
        )

    # --- subjects and versions

    async def get_subjects(
        self,
        subject_prefix: str | None = None,
        deleted: bool = False,
        deleted_only: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> list[str]:
        """The names of all subjects, those deleted softly too if asked for."""
        return await self._drive(flows.get_subjects(subject_prefix, deleted, deleted_only, offset, limit))

    async def delete_subject(self, subject_name: str, permanent: bool = False) -> list[int]:
        """Deletes a subject and returns its versions; for good only if it was deleted softly before."""
        return await self._drive(flows.delete_subject(self._caches, subject_name, permanent))

    async def get_latest_version(self, subject_name: str, fmt: str | None = None) -> RegisteredSchema:
        """The newest version of a subject; cached for `cache.latest.ttl.sec`, or until this client registers one."""
        known = self._caches.latest.get((subject_name, fmt))
        if known is not None:
            return known
        return await self._drive(flows.get_latest_version(self._caches, subject_name, fmt))

    async def get_latest_with_metadata(
        self, subject_name: str, metadata: dict[str, str], deleted: bool = False, fmt: str | None = None
    ) -> RegisteredSchema:
        """The newest version whose metadata has these properties; cached as `get_latest_version`.

        Args:
            subject_name: the subject.
            metadata: names and values that must all be there.
            deleted: whether versions deleted softly count.
            fmt: output format, as for `get_schema`.
        """
        return await self._drive(flows.get_latest_with_metadata(self._caches, subject_name, metadata, deleted, fmt))

    async def get_version(
        self,
        subject_name: str,
        version: int | Literal["latest"] = "latest",
        deleted: bool = False,
        fmt: str | None = None,
    ) -> RegisteredSchema:
        """One version of a subject; cached."""
        return await self._drive(flows.get_version(self._caches, subject_name, version, deleted, fmt))

    async def get_versions(
        self,
        subject_name: str,
        deleted: bool = False,
        deleted_only: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> list[int]:
        """The numbers of a subject's versions."""
        return await self._drive(flows.get_versions(subject_name, deleted, deleted_only, offset, limit))

    async def get_referenced_by(
        self,
        subject_name: str,
        version: int | Literal["latest"] = "latest",
        offset: int = 0,
        limit: int = -1,
    ) -> list[int]:
        """The ids of schemas that use this version as a reference."""
        return await self._drive(flows.get_referenced_by(subject_name, version, offset, limit))

    async def delete_version(self, subject_name: str, version: int | Literal["latest"], permanent: bool = False) -> int:
        """Deletes one version and returns its number; for good only if it was deleted softly before."""
        return await self._drive(flows.delete_version(self._caches, subject_name, version, permanent))

    # --- compatibility and configuration

    async def set_compatibility(self, subject_name: str | None = None, level: str | None = None) -> str:
        """Sets the level of a subject, or the global one, and returns it."""
        return await self._drive(flows.set_compatibility(subject_name, level))

    async def get_compatibility(self, subject_name: str | None = None) -> str:
        """The level of a subject, or the global one.

        Raises:
            ResponseError: the subject has no level of its own (40408).
        """
        return await self._drive(flows.get_compatibility(subject_name))

    async def test_compatibility(
        self,
        subject_name: str,
        schema: Schema,
        version: int | str = "latest",
        normalize: bool = False,
        verbose: bool = False,
    ) -> bool:
        """Whether a schema could be registered, judged against one version."""
        return await self._drive(flows.test_compatibility(subject_name, schema, version, normalize, verbose))

    async def test_compatibility_all_versions(
        self, subject_name: str, schema: Schema, normalize: bool = False, verbose: bool = False
    ) -> bool:
        """Whether a schema could be registered, judged against all versions the subject's level asks for."""
        return await self._drive(flows.test_compatibility(subject_name, schema, None, normalize, verbose))

    async def set_config(self, subject_name: str | None = None, config: ServerConfig | None = None) -> ServerConfig:
        """Sets the configuration of a subject, or the global one."""
        return await self._drive(flows.set_config(subject_name, config))

    async def get_config(self, subject_name: str | None = None) -> ServerConfig:
        """The configuration of a subject, or the global one."""
        return await self._drive(flows.get_config(subject_name))

    async def delete_config(self, subject_name: str | None = None) -> ServerConfig:
        """Deletes the configuration of a subject, or resets the global one, and returns what it was."""
        return await self._drive(flows.delete_config(subject_name))

    # --- modes and contexts

    async def get_mode(self, subject_name: str) -> str:
        """The mode of a subject: `READWRITE`, `READONLY`, `READONLY_OVERRIDE`, `IMPORT` or `FORWARD`.

        Raises:
            ResponseError: the subject has no mode of its own (40409).
        """
        return await self._drive(flows.get_mode(subject_name))

    async def update_mode(self, subject_name: str, mode: str, force: bool = False) -> str:
        """Sets the mode of a subject and returns it; `force` allows `IMPORT` where there are schemas."""
        return await self._drive(flows.update_mode(subject_name, mode, force))

    async def delete_mode(self, subject_name: str) -> str:
        """Deletes the mode of a subject, which then has the global one, and returns what it was."""
        return await self._drive(flows.delete_mode(subject_name))

    async def get_global_mode(self) -> str:
        """The mode of subjects that have none of their own."""
        return await self._drive(flows.get_mode(None))

    async def update_global_mode(self, mode: str, force: bool = False) -> str:
        """Sets the mode of subjects that have none of their own, and returns it."""
        return await self._drive(flows.update_mode(None, mode, force))

    async def get_contexts(self, offset: int = 0, limit: int = -1) -> list[str]:
        """The names of all contexts; `.` is the default one."""
        return await self._drive(flows.get_contexts(offset, limit))

    # --- associations

    async def get_associations_by_resource_name(
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
        return await self._drive(
            flows.get_associations_by_resource_name(
                resource_name, resource_namespace, resource_type, association_types, offset, limit
            )
        )

    async def create_association(self, request: AssociationCreateOrUpdateRequest) -> AssociationResponse:
        """Makes or changes the associations of a resource, and registers the schemas that come with them."""
        return await self._drive(flows.create_association(self._caches, request))

    async def delete_associations(
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
        await self._drive(
            flows.delete_associations(self._caches, resource_id, resource_type, association_types, cascade_lifecycle)
        )

    # --- the shell itself

    async def _drive(self, flow: Flow[T]) -> T:
        """Runs a flow to its end in the caller's task."""
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
                    outcome = await self._perform(step)
                except SchemaRegistryError as raised:
                    error = raised
                except Exception as raised:
                    if not isinstance(step, Invoke):
                        raise
                    error = raised

    async def _perform(self, step: Send | Wait | Share | Invoke) -> Any:
        if isinstance(step, Send):
            return await self._send(step)
        if isinstance(step, Wait):
            return await asyncio.sleep(step.seconds)
        if isinstance(step, Invoke):
            result = step.function()
            return await result if inspect.isawaitable(result) else result
        return await self._share(step)

    async def _send(self, step: Send) -> Reply | Unreachable:
        if self._http.is_closed:
            raise closed()
        deadline_s = time.monotonic() + self._timeout_s
        try:
            request = self._http.build_request(
                step.method, step.url, params=step.query, headers=step.headers, content=step.content
            )
            auth = httpx.USE_CLIENT_DEFAULT if step.to_registry else None
            answer = await self._http.send(request, stream=True, auth=auth)
            async with contextlib.aclosing(answer):
                body = Body(self._timeout_s, deadline_s)
                async for chunk in answer.aiter_bytes():
                    body.add(chunk, time.monotonic())
        except (httpx.RequestError, httpx.InvalidURL) as error:
            return unreachable(error)
        return Reply(answer.status_code, bytes(body.data), answer.headers)

    async def _share(self, step: Share) -> Any:
        """The look-up runs in a task of its own: whoever is cancelled while waiting leaves it to the others."""
        task = self._flights.get(step.key)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._drive(step.start()))
            self._flights[step.key] = task
            task.add_done_callback(lambda done: self._land(step.key, done))
        try:
            return await asyncio.shield(task)
        except SchemaRegistryError as error:
            raise copy.copy(error) from error
        except asyncio.CancelledError:
            if task.cancelled() and self._http.is_closed:  # by `aclose`: the caller's own task is not cancelled
                raise closed() from None
            raise

    def _land(self, key: Hashable, task: asyncio.Task[Any]) -> None:
        del self._flights[key]
        if not task.cancelled():
            task.exception()  # seen, also if everybody who waited for it was cancelled
