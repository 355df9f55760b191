"""The client's caches: schemas by id, registrations, versions, and for a while "latest" and unknown ids.

Must not know how misses are filled; no lock here is ever held over a call. Ids, versions and registrations never
change in a registry (until they are deleted); "latest" does, so it has a time to live.
"""

from __future__ import annotations

import enum
import math
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Final, Generic, Protocol, TypeVar

from registry.errors import ResponseError
from registry.models import RegisteredSchema, Schema

T = TypeVar("T")
MISSING_CAPACITY = 10_000
MISSING_TTL_S = 60.0
DEFAULT_CONTEXT: Final = ":.:"
"""A subject's name with this in front is the same subject."""


class _Entry(Generic[T]):
    """A value, until when it is good, and whether it was used since somebody last looked for what may go."""

    __slots__ = ("ends_at_s", "used", "value")

    def __init__(self, value: T, ends_at_s: float) -> None:
        self.value = value
        self.ends_at_s = ends_at_s
        self.used = False


class Cache(Generic[T]):
    """A bounded map that drops entries unused for long, and too old ones.

    A hit is one look-up in a dictionary, which needs no lock: entries are only ever replaced as a whole. It marks
    the entry; when room is needed, marked entries get a second chance (the mark is taken, and they count as used now).
    Everything else takes `lock`, for a few instructions. There is one table only: with two, Ctrl-C between them would
    leave a key without its entry.

    Args:
        capacity: entries.
        lock: guards the map; a null context where only one thread comes here.
        ttl_s: how long an entry lives; infinite for ever.
        clock: monotonic seconds.
    """

    def __init__(
        self, capacity: int, lock: AbstractContextManager[Any], ttl_s: float, clock: Callable[[], float]
    ) -> None:
        self._lock = lock
        self._ttl_s = ttl_s
        self._clock = clock
        self._capacity = capacity
        self._entries: OrderedDict[Hashable, _Entry[T]] = OrderedDict()

    def get(self, key: Hashable) -> T | None:
        """The entry, or None."""
        found = self._entries.get(key)
        if found is None or (found.ends_at_s is not math.inf and self._clock() >= found.ends_at_s):
            return None
        found.used = True
        return found.value

    def put(self, key: Hashable, value: T, still: Callable[[], bool] | None = None) -> None:
        """Remembers an entry.

        Args:
            key: its key.
            value: the entry.
            still: asked under the lock whether the value is still good; None: it always is. Asked before it, a thread
                that forgets entries could come between the answer and the entry.
        """
        ends_at_s = math.inf if self._ttl_s is math.inf else self._clock() + self._ttl_s
        with self._lock:
            if still is None or still():
                self._make_room(key)
                self._entries[key] = _Entry(value, ends_at_s)
                self._entries.move_to_end(key)

    def _make_room(self, key: Hashable) -> None:
        """Drops the entry that was not used for the longest time, if a new one would be too much."""
        if key in self._entries or len(self._entries) < self._capacity:
            return
        for _ in range(len(self._entries)):
            oldest, entry = next(iter(self._entries.items()))
            if not entry.used:
                break
            entry.used = False
            self._entries.move_to_end(oldest)  # counts as used now
        self._entries.popitem(last=False)

    def until_s(self, key: Hashable) -> float:
        """Until when an entry is good, -inf if there is none."""
        found = self._entries.get(key)
        return -math.inf if found is None else found.ends_at_s

    def __len__(self) -> int:
        return len(self._entries)

    def drop(self, matches: Callable[[Any], bool]) -> None:
        """Forgets every entry whose key matches. Cost: O(entries)."""
        with self._lock:
            for key in [key for key in self._entries if matches(key)]:
                del self._entries[key]

    def clear(self) -> None:
        """Forgets everything."""
        self.drop(lambda key: True)


class Forgotten(enum.IntEnum):
    """The extent of forgetting; each level includes those before it."""

    LATEST = 1
    """The newest versions."""
    REGISTRATIONS = 2
    """Registrations, and the list of subjects."""
    EVERYTHING = 3
    """Schemas by their ids too."""


class Listener(Protocol):
    """An object that keeps something made of cached answers, such as a serializer's plans."""

    def _registry_forgot(self, what: Forgotten) -> None:
        """Called after it was forgotten, on the thread that forgot it; must not wait."""


def _of(subject: str) -> Callable[[Any], bool]:
    """Whether a key is of a subject, whose name may have the default context in front, or not."""
    name = subject.removeprefix(DEFAULT_CONTEXT)
    return lambda key: bool(key[0].removeprefix(DEFAULT_CONTEXT) == name)


class SchemaCaches:
    """All caches of one client.

    Attributes:
        schemas: (id, subject, format, reference format) → schema.
        registered: (subject, schema, normalize) → where it is registered.
        looked_up: (subject, schema, normalize, format, deleted) → where it was found.
        versions: (subject, version, deleted, format) → what is registered there.
        guids: (GUID, format) → schema.
        latest: (subject, format) → the newest version.
        latest_with: (subject, metadata, deleted, format) → the newest version with that metadata.
        missing: ("id", id, subject) or ("guid", GUID) → the error with which the registry said that it
            has no such schema.
        epoch: grows whenever something is forgotten, so that an answer asked for before it is neither kept after it nor
            given to who asks after it.
        forgotten: grows when registrations are forgotten, for the same reason.
    """

    def __init__(
        self,
        capacity: int,
        latest_ttl_s: float,
        lock: AbstractContextManager[Any],
        clock: Callable[[], float],
        missing_capacity: int = MISSING_CAPACITY,
        missing_ttl_s: float = MISSING_TTL_S,
    ) -> None:
        self._lock = lock
        self._listeners: weakref.WeakSet[Listener] = weakref.WeakSet()
        self.epoch = 0
        self.forgotten = 0
        self.schemas: Cache[Schema] = Cache(capacity, lock, math.inf, clock)
        self.registered: Cache[RegisteredSchema] = Cache(capacity, lock, math.inf, clock)
        self.looked_up: Cache[RegisteredSchema] = Cache(capacity, lock, math.inf, clock)
        self.versions: Cache[RegisteredSchema] = Cache(capacity, lock, math.inf, clock)
        self.guids: Cache[Schema] = Cache(capacity, lock, math.inf, clock)
        self.latest: Cache[RegisteredSchema] = Cache(capacity, lock, latest_ttl_s, clock)
        self.latest_with: Cache[RegisteredSchema] = Cache(capacity, lock, latest_ttl_s, clock)
        self.missing: Cache[ResponseError] = Cache(missing_capacity, lock, missing_ttl_s, clock)

    def tell(self, listener: Listener) -> None:
        """Tells a listener of evictions, as long as it lives."""
        with self._lock:
            self._listeners.add(listener)

    def listeners(self) -> list[Listener]:
        """Those that are told and still live."""
        with self._lock:
            return list(self._listeners)

    def listeners_after_fork(self) -> list[Listener]:
        """As `listeners`, in the child of a fork: no other thread runs there, and the lock may be held for ever."""
        return list(self._listeners)

    def latest_until_s(self, subject: str, metadata: Mapping[str, str] | None) -> float:
        """Until when the newest version of a subject is believed, by the clock of the caches.

        Args:
            subject: the subject.
            metadata: for `get_latest_with_metadata` (with deleted versions), None for `get_latest_version`.

        Returns:
            -inf if it is not known; inf if it is believed until something is forgotten.
        """
        if metadata is None:
            return self.latest.until_s((subject, None))
        return self.latest_with.until_s((subject, tuple(sorted(metadata.items())), True, None))

    def keep(self, cache: Cache[T], key: Hashable, value: T, epoch: int) -> None:
        """Remembers an answer, unless anything was forgotten since `epoch`: it may be of before that."""
        cache.put(key, value, lambda: self.epoch == epoch)

    def exists(self, found: RegisteredSchema) -> None:
        """Forgets that the registry had no schema of this id or GUID: an answer has just shown one."""
        if len(self.missing):
            places = (("id", found.schema_id), ("guid", found.guid))
            self.missing.drop(lambda key: key[:2] in places or (found.guid is None and key[0] == "guid"))

    def forget_subjects(self) -> None:
        """Forgets everything but schemas that were found by their ids: these never change."""
        self._forget(Forgotten.REGISTRATIONS, lambda key: True, self.missing)

    def forget_latest(self, subject: str) -> None:
        """Forgets which version of a subject is the newest."""
        self._forget(Forgotten.LATEST, _of(subject))

    def clear_latest(self) -> None:
        """Forgets the newest version of every subject."""
        self._forget(Forgotten.LATEST, lambda key: True)

    def clear(self) -> None:
        """Forgets everything."""
        self._forget(Forgotten.EVERYTHING, lambda key: True, self.schemas, self.guids, self.missing)

    def _forget(self, what: Forgotten, matches: Callable[[Any], bool], *cleared: Cache[Any]) -> None:
        """Begins a new epoch, drops entries, and tells the listeners, in this order.

        Under the lock the epoch begins, so that no two threads begin the same one. Before anything is dropped, so that
        an answer that is on its way is not kept afterwards. Listeners come last: what they made of an entry that was
        not dropped yet would stay.
        """
        with self._lock:
            self.epoch += 1
            self.forgotten += what >= Forgotten.REGISTRATIONS
        caches: list[Cache[Any]] = [self.latest, self.latest_with]
        if what >= Forgotten.REGISTRATIONS:
            caches += [self.registered, self.looked_up, self.versions]
        for cache in caches:
            cache.drop(matches)
        for cache in cleared:
            cache.clear()
        for listener in self.listeners():
            listener._registry_forgot(what)
