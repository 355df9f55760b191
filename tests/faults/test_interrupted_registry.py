"""A registry client whose thread is interrupted at any moment of a call: no other call waits for ever."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

import httpx
import pytest

from kserdes.compat.confluent.serdes.building import SharedClusterIdResolver
from kserdes_base.waiting import result_of
from registry import Schema, SchemaRegistryClient
from registry.client.cache import Cache
from tests.faults.interrupts import Interrupt

TEXT = '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}'
HANG_S = 60.0
PACKAGES = ("registry", "kserdes_base")
Call = Callable[[SchemaRegistryClient], object]
CALLS: dict[str, Call] = {
    "latest": lambda client: client.get_latest_version("s"),
    "schema": lambda client: client.get_schema(1),
    "register": lambda client: client.register_schema("s", Schema(TEXT)),
    "look up": lambda client: client.lookup_schema("s", Schema(TEXT)),
}


def answer(request: httpx.Request) -> httpx.Response:
    if request.method == "POST" and request.url.path.endswith("/versions"):
        return httpx.Response(200, json={"id": 1})
    return httpx.Response(200, json={"subject": "s", "version": 1, "id": 1, "schema": TEXT})


class Waiting:
    """A thread that does something, and its outcome."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.outcome: list[object] = []
        self._thread = threading.Thread(target=lambda: self.outcome.append(work()), daemon=True)
        self._thread.start()

    def waits(self) -> bool:
        """Whether it waits for what another thread does."""
        frame = sys._current_frames().get(self._thread.ident or 0)
        while frame is not None:
            if frame.f_code is result_of.__code__:
                return True
            frame = frame.f_back
        return False

    def ended(self) -> bool:
        """Whether it has come to its end, which is waited for."""
        self._thread.join(HANG_S)
        return bool(self.outcome)


@pytest.mark.parametrize("name", CALLS)
def test_a_question_that_was_interrupted_is_answered_to_all_others(name: str) -> None:
    call = CALLS[name]
    moment = 0
    while True:
        follower: list[Waiting] = []

        def held(request: httpx.Request, follower: list[Waiting] = follower) -> httpx.Response:
            if not follower:  # the first request: another thread asks the same, and waits for this one
                follower.append(Waiting(lambda: call(client)))
                while not follower[0].waits():
                    time.sleep(0.001)
            return answer(request)

        with SchemaRegistryClient({"url": "http://r"}, transport=httpx.MockTransport(held)) as client:
            interrupt = Interrupt(moment, PACKAGES)
            with interrupt.armed():
                copy_context().run(call, client)
            client.clear_caches()
            later = Waiting(lambda: call(client))
            assert later.ended(), f"a call waits for one that was interrupted at {interrupt.where}"
            assert all(waiting.ended() for waiting in follower), f"interrupted at {interrupt.where}"
        if interrupt.where is None:
            assert follower
            assert moment > 50
            return
        moment += 1


def test_a_deletion_that_was_interrupted_leaves_nothing_that_is_known_of_the_subject() -> None:
    """It may have been carried out."""
    moment = 0
    while True:
        deleted: list[bool] = []

        def serve(request: httpx.Request, deleted: list[bool] = deleted) -> httpx.Response:
            if request.method == "DELETE":
                deleted.append(True)
                return httpx.Response(200, json=[1])
            return httpx.Response(200, json={"id": 2 if deleted else 1})

        with SchemaRegistryClient({"url": "http://r"}, transport=httpx.MockTransport(serve)) as client:
            assert client.register_schema("s", Schema(TEXT)) == 1
            interrupt = Interrupt(moment, PACKAGES)
            with interrupt.armed():
                copy_context().run(client.delete_subject, "s")
            assert client.register_schema("s", Schema(TEXT)) == (2 if deleted else 1), (
                f"interrupted at {interrupt.where}"
            )
        if interrupt.where is None:
            assert deleted
            return
        moment += 1


class Free:
    """A lock that nobody holds."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *unused: object) -> None:
        pass


@pytest.mark.parametrize("change", ["put", "drop"])
def test_a_cache_whose_change_was_interrupted_goes_on(change: str) -> None:
    moment = 0
    while True:
        cache: Cache[int] = Cache(3, Free(), 60.0, lambda: 0.0)
        for number in range(3):
            cache.put(number, number)
        cache.get(0)
        interrupt = Interrupt(moment, PACKAGES)
        with interrupt.armed():
            if change == "put":
                cache.put("new", 1)
            else:
                cache.drop(lambda key: key != 1)
        for number in range(10, 20):
            cache.put(number, number)
            assert cache.get(number) == number, f"interrupted at {interrupt.where}"
            assert len(cache) <= 3
        cache.clear()
        assert len(cache) == 0
        if interrupt.where is None:
            return
        moment += 1


def test_a_cluster_id_whose_asker_was_interrupted_is_asked_again() -> None:
    moment = 0
    while True:
        follower: list[Waiting] = []

        resolvers: list[SharedClusterIdResolver] = []

        def cluster_id(timeout: float, follower: list[Waiting] = follower, resolvers: list[Any] = resolvers) -> str:
            if not follower:
                follower.append(Waiting(resolvers[0]))
                while not follower[0].waits():
                    time.sleep(0.001)
            return "id"

        resolver = SharedClusterIdResolver(cluster_id)
        resolvers.append(resolver)
        interrupt = Interrupt(moment, ("kserdes/compat/confluent/serdes/building.py",))
        with interrupt.armed():
            resolver()
        later = Waiting(resolver)
        assert later.ended(), f"a call waits for one that was interrupted at {interrupt.where}"
        assert all(waiting.outcome == ["id"] for waiting in follower if waiting.ended())
        assert later.outcome == ["id"]
        if interrupt.where is None:
            assert follower
            return
        moment += 1
