"""Reports of share consumers to the application, each of them once, whatever its callbacks do; without a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from kafka_core import KafkaError, KafkaException, Message, TopicPartition
from kafka_core.aio.consuming.events import Notice
from kafka_core.engine.sharing.fetching import Delivery, Settled
from kafka_core.engine.sharing.holdings import Acknowledged, Origin
from tests.contract.share_groups import Member

LATE = KafkaError(KafkaError.INVALID_RECORD_STATE, "late")


def settled(offset: int, error: KafkaError | None = None) -> Settled:
    origin = Origin("t", 0, UUID(int=1), 1, 0)
    return Settled(Acknowledged(origin, {offset: 1}), error)


@pytest.fixture(params=["blocking", "asyncio"])
def member(request: pytest.FixtureRequest) -> Iterator[Member]:
    conf = {"bootstrap.servers": "127.0.0.1:1", "group.id": "g", "share.acknowledgement.mode": "explicit"}
    with Member(request.param, conf) as made:
        yield made


class Told:
    """A callback that notes what it is told, and may raise."""

    def __init__(self, raises: int) -> None:
        self.raises = raises
        self.answers: list[tuple[dict[TopicPartition, set[int]], Any]] = []

    def __call__(self, offsets: dict[TopicPartition, set[int]], error: KafkaException | None) -> None:
        self.answers.append((offsets, None if error is None else error.args[0].code()))
        if len(self.answers) <= self.raises:
            raise RuntimeError("the application's own")


def answers(member: Member) -> None:
    member.consumer._core.settled.extend([settled(1), settled(2, LATE), settled(3), settled(4, LATE)])


ALL = [({TopicPartition("t", 0): {1, 3}}, None), ({TopicPartition("t", 0): {2, 4}}, KafkaError.INVALID_RECORD_STATE)]


def test_a_callback_that_raises_is_told_the_rest_by_the_next_call(member: Member) -> None:
    told = Told(raises=1)
    member.on_commit(told)
    answers(member)
    with pytest.raises(RuntimeError, match="own"):
        member.commit_async()
    assert told.answers == ALL[:1]
    member.commit_async()
    member.commit_async()
    assert told.answers == ALL


def test_closing_tells_everything_and_raises_what_the_callback_raised(member: Member) -> None:
    told = Told(raises=2)
    member.on_commit(told)
    answers(member)
    with pytest.raises(RuntimeError, match="own"):
        member._call("close")
    assert told.answers == ALL


def test_trouble_that_a_commit_comes_across_is_told_by_the_next_poll(member: Member) -> None:
    member.subscribe("t")
    notice = Message(error=KafkaError(KafkaError.GROUP_AUTHORIZATION_FAILED, "not allowed"))
    member.consumer._core.inbox.tell(Notice(notice))
    assert member.commit(0.1) == {}
    member.commit_async()
    codes = [message.error().code() for message in member.poll(0.0) if message.error() is not None]
    assert KafkaError.GROUP_AUTHORIZATION_FAILED in codes


def test_trouble_waits_behind_a_callback_that_raises(member: Member) -> None:
    told = Told(raises=1)
    member.subscribe("t")
    member.on_commit(told)
    notice = Message(error=KafkaError(KafkaError.GROUP_AUTHORIZATION_FAILED, "not allowed"))
    member.consumer._core.inbox.tell(Notice(notice))
    member.commit_async()
    answers(member)
    with pytest.raises(RuntimeError, match="own"):
        member.poll(0.0)
    codes = [message.error().code() for message in member.poll(0.0) if message.error() is not None]
    assert KafkaError.GROUP_AUTHORIZATION_FAILED in codes
    assert told.answers == ALL


def test_trouble_of_a_poll_that_a_subclass_gives_back_is_told_again(
    member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    member.subscribe("t")
    core = member.consumer._core

    async def poll(*_: object) -> Delivery:
        core.inbox.tell(Notice(Message(error=KafkaError(KafkaError.GROUP_AUTHORIZATION_FAILED, "not allowed"))))
        return Delivery(
            [Message(topic="t", partition=0, offset=1, value=b"v")], [(settled(1).acknowledged.origin, [1])]
        )

    with monkeypatch.context() as patched:
        patched.setattr(core, "poll", poll)
        first = member.poll(60.0)
        assert [message.error() is None for message in first] == [False, True]
        member.consumer.hand_back()
    assert [message.error().code() for message in member.poll(0.0)] == [KafkaError.GROUP_AUTHORIZATION_FAILED]
