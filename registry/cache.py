"""What the client remembers: schemas by id, registrations, versions, and "latest" for a while.

Must not know how misses are filled; no lock here is ever held over a call. Ids, versions and registrations never
change in a registry (until they are deleted); "latest" does, so it has a time to live.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from typing import Any, Generic, TypeVar

import cachetools

from registry.models import RegisteredSchema, Schema

__all__ = ["Cache", "SchemaCaches"]

T = TypeVar("T")


class Cache(Generic[T]):
    """A bounded map that forgets the least recently used entry. Every method takes `lock` for a few instructions.

    Args:
        capacity: entries.
        lock: guards the map; a null context where only one thread comes here.
        ttl_s: how long an entry lives.
        clock: monotonic seconds.
    """

    def __init__(
        self, capacity: int, lock: AbstractContextManager[Any], ttl_s: float, clock: Callable[[], float]
    ) -> None:
        self._lock = lock
        self._entries: cachetools.Cache[Hashable, T]
        if math.isinf(ttl_s):
            self._entries = cachetools.LRUCache(capacity)
        else:
            self._entries = cachetools.TTLCache(capacity, ttl_s, clock)

    def get(self, key: Hashable) -> T | None:
        """The entry, or None."""
        with self._lock:
            return self._entries.get(key)

    def put(self, key: Hashable, value: T) -> None:
        """Remembers an entry."""
        with self._lock:
            self._entries[key] = value

    def drop(self, matches: Callable[[Any], bool]) -> None:
        """Forgets every entry whose key matches. Cost: O(entries)."""
        with self._lock:
            for key in [key for key in self._entries if matches(key)]:
                self._entries.pop(key, None)

    def clear(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._entries.clear()


class SchemaCaches:
    """All caches of one client.

    Attributes:
        schemas: (id, subject, format, reference format) → schema.
        registered: (subject, schema, normalize) → where it is registered.
        looked_up: (subject, schema, normalize, format, deleted) → where it was found.
        versions: (subject, version, deleted, format) → what is registered there.
        latest: (subject, format) → the newest version.
        epoch: grows whenever something is forgotten, so that an answer asked for before it is not kept after it.
    """

    def __init__(
        self,
        capacity: int,
        latest_ttl_s: float,
        lock: AbstractContextManager[Any],
        clock: Callable[[], float],
    ) -> None:
        self.epoch = 0
        self.schemas: Cache[Schema] = Cache(capacity, lock, math.inf, clock)
        self.registered: Cache[RegisteredSchema] = Cache(capacity, lock, math.inf, clock)
        self.looked_up: Cache[RegisteredSchema] = Cache(capacity, lock, math.inf, clock)
        self.versions: Cache[RegisteredSchema] = Cache(capacity, lock, math.inf, clock)
        self.latest: Cache[RegisteredSchema] = Cache(capacity, lock, latest_ttl_s, clock)

    def forget_subject(self, subject: str) -> None:
        """Forgets what is known of a subject's versions (its schemas keep their ids)."""
        self.epoch += 1
        for cache in (self.registered, self.looked_up, self.versions, self.latest):
            cache.drop(lambda key: key[0] == subject)

    def forget_latest(self, subject: str) -> None:
        """Forgets which version of a subject is the newest."""
        self.epoch += 1
        self.latest.drop(lambda key: key[0] == subject)

    def clear_latest(self) -> None:
        """Forgets what is the newest version of every subject."""
        self.epoch += 1
        self.latest.clear()

    def clear(self) -> None:
        """Forgets everything."""
        self.epoch += 1
        for cache in (self.schemas, self.registered, self.looked_up, self.versions, self.latest):
            cache.clear()
