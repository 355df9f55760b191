"""serdes.engine.cache: plans are kept, and not without end."""

from __future__ import annotations

from typing import Any

import pytest

from registry import SchemaRegistryClient
from serdes import MessageField, SerializationContext
from serdes.avro import AvroDeserializer, AvroSerializer
from serdes.engine import cache
from serdes.engine.cache import PlanCache, PlanKey


def test_of_too_many_plans_the_oldest_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST_PLANS", 3)
    plans: PlanCache[Any] = PlanCache()
    for topic in "abcd":
        plans.keep(plans.store.plans, PlanKey(topic), topic)
    for _ in range(10):  # made anew, since it had grown stale
        plans.keep(plans.store.plans, PlanKey("d"), "again")
    assert {key[0]: plan for key, plan in plans.store.plans.items()} == {"b": "b", "c": "c", "d": "again"}


def test_what_was_forgotten_does_not_count_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST_PLANS", 3)
    plans: PlanCache[Any] = PlanCache()
    for _ in range(5):
        for topic in "abc":
            plans.keep(plans.store.plans, PlanKey(topic), topic)
        assert set(plans.store.plans) == {PlanKey(topic) for topic in "abc"}
        plans.store.forget()


def test_ever_new_topics_take_no_more_room(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    monkeypatch.setattr(cache, "MOST_PLANS", 5)
    with SchemaRegistryClient({"url": f"mock://{request.node.nodeid}"}) as client:
        write = AvroSerializer(client, '"int"')
        read = AvroDeserializer(client, conf={"use.latest.version": True})
        frames = []
        for number in [*range(20), *range(20)]:
            context = SerializationContext(f"reply-{number}", MessageField.VALUE)
            frames.append(write(number, context))
            assert read(frames[-1], context) == number
        assert len(set(frames[:20]) & set(frames[20:])) == 20
        assert len(write._engine.cache.store.plans) == 5
        assert len(read._engine.cache.store.plans) == 5
