from __future__ import annotations

import contextlib
import math

from registry import RegisteredSchema, Schema
from registry.client.cache import Cache, SchemaCaches

ONE = RegisteredSchema("s", 1, 1, None, Schema('"int"'))


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def caches(clock: Clock | None = None, ttl_s: float = math.inf) -> SchemaCaches:
    return SchemaCaches(10, ttl_s, contextlib.nullcontext(), clock or Clock())


def test_least_recently_used_goes_first() -> None:
    cache: Cache[int] = Cache(2, contextlib.nullcontext(), math.inf, Clock())
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert [cache.get(key) for key in "abc"] == [1, None, 3]


def test_latest_lives_as_long_as_it_should() -> None:
    clock = Clock()
    made = caches(clock, ttl_s=5)
    made.latest.put(("s", None), ONE)
    clock.now_s = 4.9
    assert made.latest.get(("s", None)) is ONE
    clock.now_s = 5.1
    assert made.latest.get(("s", None)) is None


def test_versions_do_not_expire() -> None:
    clock = Clock()
    made = caches(clock, ttl_s=5)
    made.versions.put(("s", 1, False, None), ONE)
    clock.now_s = 1e9
    assert made.versions.get(("s", 1, False, None)) is ONE


def test_forgetting_subjects_leaves_ids() -> None:
    made = caches()
    for subject in ("s", "t"):
        made.latest.put((subject, None), ONE)
        made.registered.put((subject, ONE.schema, False), ONE)
    made.schemas.put((1, None, None, None), ONE.schema)
    made.forget_latest("s")
    assert made.latest.get(("s", None)) is None
    assert made.latest.get(("t", None)) is ONE
    made.forget_subjects()
    assert made.registered.get(("s", ONE.schema, False)) is None
    assert made.registered.get(("t", ONE.schema, False)) is None
    assert made.schemas.get((1, None, None, None)) == ONE.schema


def test_every_forgetting_is_a_new_epoch() -> None:
    made = caches()
    seen = [made.epoch]
    for forget in (made.clear, made.clear_latest, lambda: made.forget_latest("s"), made.forget_subjects):
        forget()
        seen.append(made.epoch)
    assert seen == sorted(set(seen))


def test_no_lock_is_held_between_calls() -> None:
    held = []

    class Lock:
        def __enter__(self) -> None:
            held.append(True)

        def __exit__(self, *unused: object) -> None:
            held.pop()

    cache: Cache[int] = Cache(2, Lock(), math.inf, Clock())
    cache.put("a", 1)
    assert cache.get("a") == 1
    assert not held


def test_entries_in_use_get_a_second_chance() -> None:
    cache: Cache[int] = Cache(3, contextlib.nullcontext(), math.inf, Clock())
    for number, key in enumerate("abc"):
        cache.put(key, number)
    for newcomer in range(10):
        assert cache.get("a") == 0
        cache.put(newcomer, newcomer)
    assert cache.get("a") == 0
    assert cache.get("b") is None
    for known in list(cache._entries):  # all in use: still one goes for each that comes
        cache.get(known)  # type: ignore[arg-type]
    cache.put("new", 1)
    assert len(cache._entries) == 3
    assert cache.get("new") == 1


def test_evicted_entries_leave_nothing_behind() -> None:
    cache: Cache[int] = Cache(10, contextlib.nullcontext(), math.inf, Clock())
    for number in range(1000):
        cache.put(number, number)
        cache.get(number)
    assert len(cache._entries) == 10
    cache.drop(lambda key: True)
    assert not cache._entries


def test_a_hit_takes_no_lock() -> None:
    class Lock(contextlib.AbstractContextManager[None]):
        taken = 0

        def __enter__(self) -> None:
            self.taken += 1

        def __exit__(self, *_: object) -> None:
            return

    lock = Lock()
    cache: Cache[int] = Cache(10, lock, math.inf, Clock())
    cache.put("a", 1)
    before = lock.taken
    assert (cache.get("a"), cache.get("b")) == (1, None)
    assert lock.taken == before


def test_clearing_forgets_all_kinds() -> None:
    made = caches()
    made.guids.put(("g", None), ONE.schema)
    made.latest_with.put(("s", (), False, None), ONE)
    made.clear_latest()
    assert made.latest_with.get(("s", (), False, None)) is None
    made.latest_with.put(("s", (), False, None), ONE)
    made.forget_latest("s")
    assert made.latest_with.get(("s", (), False, None)) is None
    assert made.guids.get(("g", None)) is ONE.schema
    made.clear()
    assert made.guids.get(("g", None)) is None
