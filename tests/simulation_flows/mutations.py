"""Defects to put into the code under test, each by monkeypatch: the simulation has to find them.

Each is a mistake that a reader may miss: something not dropped, not checked, or checked too early.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import registry.client.delivery
import registry.client.flows
from registry import AsyncSchemaRegistryClient, SchemaRegistryClient
from registry.client.blocking import _Flights
from registry.client.cache import Cache, SchemaCaches
from registry.client.steps import Share, Steps, Wait
from registry.errors import ResponseError
from serdes.engine.deserializer import DeserializerEngine
from serdes.engine.serializer import SerializerEngine

Mutation = Callable[[pytest.MonkeyPatch], None]
MUTATIONS: dict[str, tuple[str, Mutation]] = {}
"""Name → the shell in which it shows, and what applies it."""


def mutation(shell: str) -> Callable[[Mutation], Mutation]:
    def keep(function: Mutation) -> Mutation:
        MUTATIONS[function.__name__] = (shell, function)
        return function

    return keep


@mutation("aio")
def every_caller_asks_alone(patch: pytest.MonkeyPatch) -> None:
    async def share(self: Any, step: Share) -> Any:
        return await self._drive(step.start())

    patch.setattr(AsyncSchemaRegistryClient, "_share", share)


@mutation("aio")
def a_share_is_not_dropped(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(AsyncSchemaRegistryClient, "_land", lambda self, key, task: None)


@mutation("aio")
def a_cancelled_leader_takes_its_followers_along(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("registry.client.aio.asyncio.shield", lambda task: task)


@mutation("aio")
def followers_get_the_same_error_object(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("registry.client.aio.copy.copy", lambda error: error)


@mutation("aio")
def shares_don_t_tell_ids_apart(patch: pytest.MonkeyPatch) -> None:
    share = AsyncSchemaRegistryClient._share

    async def mixed(self: Any, step: Share) -> Any:
        key = step.key
        assert isinstance(key, tuple)
        return await share(self, Share((key[0], key[2:]), step.start))

    patch.setattr(AsyncSchemaRegistryClient, "_share", mixed)


@mutation("threads")
def an_interrupted_leader_leaves_its_look_up_behind(patch: pytest.MonkeyPatch) -> None:
    def lead(self: Any, step: Share, future: Any) -> Any:
        try:
            result = self._drive(step.start())
        except Exception as error:
            self._flights.land(step.key)
            future.set_exception(error)
            raise
        self._flights.land(step.key)
        future.set_result(result)
        return result

    patch.setattr(SchemaRegistryClient, "_lead", lead)


@mutation("threads")
def an_interrupted_leader_s_followers_are_interrupted(patch: pytest.MonkeyPatch) -> None:
    def lead(self: Any, step: Share, future: Any) -> Any:
        try:
            result = self._drive(step.start())
        except BaseException as error:
            self._flights.land(step.key)
            future.set_exception(error)
            raise
        self._flights.land(step.key)
        future.set_result(result)
        return result

    patch.setattr(SchemaRegistryClient, "_lead", lead)


@mutation("threads")
def threads_join_without_a_lock(patch: pytest.MonkeyPatch) -> None:
    class NoLock:
        def __enter__(self) -> None:
            return None

        def __exit__(self, *error: object) -> None:
            return None

    make = _Flights.__init__

    def without(self: Any) -> None:
        make(self)
        self._lock = NoLock()

    patch.setattr(_Flights, "__init__", without)


@mutation("aio")
def old_answers_are_kept(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SchemaCaches, "keep", lambda self, cache, key, value, epoch: cache.put(key, value))


@mutation("aio")
def the_time_to_live_is_ignored(patch: pytest.MonkeyPatch) -> None:
    def get(self: Cache[Any], key: Any) -> Any:
        found = self._entries.get(key)
        return None if found is None else found.value

    patch.setattr(Cache, "get", get)


@mutation("aio")
def registrations_don_t_end_plans(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SerializerEngine, "_registry_forgot", lambda self, what: None)
    patch.setattr(DeserializerEngine, "_registry_forgot", lambda self, what: None)


@mutation("aio")
def an_unknown_id_is_not_remembered(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(registry.client.flows, "SCHEMA_NOT_FOUND", -5)


@mutation("aio")
def any_404_is_remembered(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ResponseError, "not_found", property(lambda error: error.http_status_code == 404))
    of = registry.client.delivery.error_of

    def mislabelled(reply: Any) -> ResponseError:
        error = of(reply)
        return ResponseError(404, 40403, str(error)) if reply.status == 404 else error

    patch.setattr(registry.client.delivery, "error_of", mislabelled)


@mutation("aio")
def what_was_registered_stays_unknown(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SchemaCaches, "exists", lambda self, found: None)


@mutation("aio")
def a_registration_does_not_forget_the_newest_version(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SchemaCaches, "forget_latest", lambda self, subject: None)


@mutation("aio")
def a_change_whose_answer_is_lost_counts_as_not_made(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(registry.client.flows, "_refused", lambda error: True)


@mutation("aio")
def deletions_are_repeated(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        registry.client.delivery, "_worth_repeating", lambda outcome, call: getattr(outcome, "status", 500) >= 500
    )


@mutation("aio")
def retries_never_end(patch: pytest.MonkeyPatch) -> None:
    deliver = registry.client.delivery.Delivery._deliver

    def again(self: Any, call: Any) -> Steps[Any]:
        for _ in range(6):
            try:
                return (yield from deliver(self, call))
            except registry.errors.TransportError:
                yield Wait(0.1)
        return (yield from deliver(self, call))

    patch.setattr(registry.client.delivery.Delivery, "_deliver", again)
