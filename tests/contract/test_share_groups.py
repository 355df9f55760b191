"""Share groups (KIP-932, 1206, 1222) with both faces of the share consumer."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import ExitStack

import pytest

from kafka_core import (
    AcknowledgeType,
    ConcurrentModificationException,
    ConfigError,
    IllegalStateException,
    KafkaError,
    KafkaException,
    Messages,
    ShareConsumer,
    TopicPartition,
)
from kafka_core.aio import AIOShareConsumer
from tests.contract.clusters import LIMIT_S, Cluster, fill, producer, unique, wait_for
from tests.contract.groups import numbers
from tests.contract.share_groups import Member, counts, first, good, share_conf, share_group, take
from tests.patience import judged_by

KINDS = [pytest.param("embedded"), pytest.param("real", marks=pytest.mark.broker)]
ACCEPT, RELEASE, REJECT, RENEW = AcknowledgeType


@pytest.fixture(params=KINDS)
def cluster(request: pytest.FixtureRequest) -> Cluster:
    found: Cluster = request.getfixturevalue(request.param)
    return found


@pytest.fixture(params=["blocking", "asyncio"])
def face(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def member(cluster: Cluster, face: str, group: str, topic: str, /, **conf: object) -> Member:
    made = Member(face, share_conf(cluster, group, **conf))
    made.subscribe(topic)
    return made


def explicit(cluster: Cluster, face: str, group: str, topic: str, /, **conf: object) -> Member:
    return member(cluster, face, group, topic, share_acknowledgement_mode="explicit", **conf)


def lock_ms(lock_s: float) -> str:
    """As a property of the group; brokers allow no more than a minute."""
    return str(min(round(lock_s * 1000), 60_000))


def test_records_of_a_poll_are_accepted_by_the_next_one(cluster: Cluster, face: str) -> None:
    topic, group = cluster.topic(), share_group(cluster)
    fill(cluster, topic, numbers(10))
    with member(cluster, face, group, topic) as one:
        assert counts(take(one, 10)) == dict.fromkeys(numbers(10), 1)
        assert one.subscription() == [topic]
        assert list(one.poll(0.2)) == []
        assert one.lock_timeout_ms() == 30_000
    fill(cluster, topic, [b"later"])
    with member(cluster, face, group, topic) as two:
        assert counts(first(two)) == {b"later": 1}


def test_a_commit_accepts_too_and_says_for_which_partitions(cluster: Cluster, face: str) -> None:
    topic, group = cluster.topic(2), share_group(cluster)
    fill(cluster, topic, numbers(3), partition=1)
    with member(cluster, face, group, topic) as one:
        take(one, 3)
        assert one.commit() == {TopicPartition(topic, 1): None}
        assert one.commit() == {}
    with member(cluster, face, group, topic) as two:
        fill(cluster, topic, [b"later"])
        assert counts(first(two)) == {b"later": 1}


@pytest.mark.parametrize("mode", ["implicit", "explicit"])
def test_closing_releases_what_was_not_acknowledged(cluster: Cluster, face: str, mode: str) -> None:
    topic, group = cluster.topic(), share_group(cluster)
    fill(cluster, topic, numbers(4))
    with member(cluster, face, group, topic, share_acknowledgement_mode=mode) as one:
        records = take(one, 4)
        if mode == "explicit":
            one.acknowledge(records[0])  # which closing sends
    left = numbers(4) if mode == "implicit" else numbers(3, 1)
    with member(cluster, face, group, topic) as two:
        assert counts(take(two, len(left))) == dict.fromkeys(left, 2)


def test_an_exception_between_polls_accepts_nothing(cluster: Cluster, face: str) -> None:
    topic, group = cluster.topic(), share_group(cluster)
    fill(cluster, topic, numbers(3))
    with pytest.raises(ZeroDivisionError), member(cluster, face, group, topic) as one:
        take(one, 3)
        raise ZeroDivisionError
    with member(cluster, face, group, topic) as two:
        assert counts(take(two, 3)) == dict.fromkeys(numbers(3), 2)


def test_each_word_has_its_effect(cluster: Cluster, face: str) -> None:
    topic, group = cluster.topic(), share_group(cluster)
    fill(cluster, topic, numbers(4))
    with explicit(cluster, face, group, topic) as one:
        for record, kind in zip(take(one, 4), (ACCEPT, RELEASE, REJECT, RELEASE), strict=True):
            one.acknowledge(record, kind)
        again = first(one)
        assert counts(again) == {b"1": 2, b"3": 2}
        one.acknowledge_offset(topic, 0, again[0].offset(), REJECT)
        one.acknowledge_offset(topic, 0, again[1].offset())
        assert one.commit() == {TopicPartition(topic, 0): None}
        fill(cluster, topic, [b"later"])
        later = first(one)
        assert counts(later) == {b"later": 1}
        one.acknowledge(later[0])


def test_a_record_is_given_out_as_often_as_the_limit_says(cluster: Cluster, face: str) -> None:
    topic, group = cluster.topic(), share_group(cluster)
    fill(cluster, topic, [b"hard"])
    seen = []
    with explicit(cluster, face, group, topic) as one:
        for _ in range(5):
            (record,) = first(one)
            seen.append(record.delivery_count())
            one.acknowledge(record, RELEASE)
        fill(cluster, topic, [b"next"])
        (record,) = first(one)
        assert record.value() == b"next"
        one.acknowledge(record)
    assert seen == [1, 2, 3, 4, 5]


def test_a_lock_that_ends_gives_the_record_to_others_and_a_late_word_fails(cluster: Cluster, face: str) -> None:
    judged_by(1.0, lock_ends_and_word_is_late, cluster, face)


def lock_ends_and_word_is_late(lock_s: float, cluster: Cluster, face: str) -> None:
    """The second member answers within the time in which the first one does not."""
    topic, group = cluster.topic(), share_group(cluster, share_record_lock_duration_ms=lock_ms(lock_s))
    fill(cluster, topic, [b"slow"])
    told: list[tuple[object, KafkaException | None]] = []
    with explicit(cluster, face, group, topic) as one, explicit(cluster, face, group, topic) as two:
        one.on_commit(lambda offsets, error: told.append((offsets, error)))
        (late,) = take(one, 1)
        (record,) = take(two, 1)
        assert (late.delivery_count(), record.delivery_count()) == (1, 2)
        one.acknowledge(late)
        error = one.commit()[TopicPartition(topic, 0)]
        assert error is not None
        assert error.args[0].code() == KafkaError.INVALID_RECORD_STATE
        ((offsets, reason),) = told
        assert offsets == {TopicPartition(topic, 0): {late.offset()}}
        assert reason is not None
        assert reason.args[0].code() == KafkaError.INVALID_RECORD_STATE
        two.acknowledge(record)
        assert two.commit() == {TopicPartition(topic, 0): None}


def test_a_renewed_lock_keeps_the_record(cluster: Cluster, face: str) -> None:
    judged_by(1.0, renewed_and_kept, cluster, face)


def renewed_and_kept(lock_s: float, cluster: Cluster, face: str) -> None:
    topic, group = cluster.topic(), share_group(cluster, share_record_lock_duration_ms=lock_ms(lock_s))
    fill(cluster, topic, [b"slow", b"quick"])
    with explicit(cluster, face, group, topic) as one, explicit(cluster, face, group, topic) as two:
        slow, quick = take(one, 2)
        one.acknowledge(quick)
        until_s = time.monotonic() + 1.5 * lock_s
        while time.monotonic() < until_s:
            one.acknowledge(slow, RENEW)
            assert one.commit() == {TopicPartition(topic, 0): None}
            assert list(one.poll(0.1)) == []  # a record that is held on purpose holds no poll up
            assert list(two.poll(0.2)) == []
        one.acknowledge(slow)
        assert one.commit() == {TopicPartition(topic, 0): None}
        assert list(two.poll(1.2 * lock_s)) == []


def test_a_record_limit_is_kept(cluster: Cluster, face: str) -> None:
    topic, group = cluster.topic(), share_group(cluster)
    fill(cluster, topic, numbers(50))
    strict = {"max_poll_records": 7, "share_acquire_mode": "record_limit"}
    sizes = []
    with member(cluster, face, group, topic, **strict) as one:
        while sum(sizes) < 50:
            sizes.append(len(first(one)))
    assert sizes == [7] * 7 + [1]


def test_answers_to_acknowledgements_are_told_by_later_calls(cluster: Cluster, face: str) -> None:
    topic, group = cluster.topic(), share_group(cluster)
    fill(cluster, topic, numbers(3))
    told: dict[TopicPartition, set[int]] = {}
    errors: list[KafkaException | None] = []

    def callback(offsets: dict[TopicPartition, set[int]], error: KafkaException | None) -> None:
        told.update(offsets)
        errors.append(error)

    with member(cluster, face, group, topic) as one:
        one.on_commit(callback)
        offsets = {record.offset() for record in take(one, 3)}
        assert told == {}
        one.commit_async()
        wait_for(lambda: one.poll(0.05) is not None and told, "the callback")
    assert told == {TopicPartition(topic, 0): offsets}
    assert errors == [None]


def test_closing_tells_the_last_answers(cluster: Cluster, face: str) -> None:
    topic, group = cluster.topic(), share_group(cluster)
    fill(cluster, topic, numbers(2))
    told: list[object] = []
    with explicit(cluster, face, group, topic) as one:
        one.on_commit(lambda offsets, error: told.append((offsets, error)))
        for record in take(one, 2):
            one.acknowledge(record)
    assert told == [({TopicPartition(topic, 0): {0, 1}}, None)]


def test_members_share_a_single_partition_and_each_record_comes_once(cluster: Cluster, face: str) -> None:
    topic, group, count = cluster.topic(2), share_group(cluster), 5000
    seen: list[bytes | None] = []
    shares = [0] * 4
    with ExitStack() as stack:
        members = [stack.enter_context(member(cluster, face, group, topic, max_poll_records=100)) for _ in range(4)]

        def all_are_in() -> bool:
            assert [record for one in members for record in one.poll(0.05)] == []
            described = cluster.admin.describe_share_groups([group])[group]
            if described.exception(LIMIT_S) is not None:  # the first one is not in yet
                return False
            return sum(bool(one.assignment.topic_partitions) for one in described.result().members) == len(members)

        wait_for(all_are_in, "each member has a partition")
        for partition in range(2):
            fill(cluster, topic, numbers(count // 2, partition * count // 2), partition, batch_num_messages=100)
        deadline_s = time.monotonic() + 6 * LIMIT_S
        while len(seen) < count and time.monotonic() < deadline_s:
            for number, one in enumerate(members):
                records = good(one.poll(0.05))
                shares[number] += len(records)
                seen += [record.value() for record in records]
        for one in members:
            assert set(one.commit().values()) <= {None}
    assert sorted(int(value or b"") for value in seen) == list(range(count))
    assert min(shares) > 0, shares


def test_markers_and_aborted_records_stay_in_nobodys_hands(cluster: Cluster, face: str) -> None:
    topic, group = cluster.topic(), share_group(cluster, share_isolation_level="read_committed")
    with producer(cluster, transactional_id=unique("txn")) as writer:
        writer.init_transactions(LIMIT_S)
        for number in range(4):
            writer.begin_transaction()
            writer.produce(topic, b"%d" % number)
            writer.flush(LIMIT_S)
            if number % 2:
                writer.abort_transaction(LIMIT_S)
            else:
                writer.commit_transaction(LIMIT_S)
    with member(cluster, face, group, topic) as one:
        assert [record.value() for record in take(one, 2)] == [b"0", b"2"]
        one.commit()
        assert list(one.poll(0.3)) == []
    with member(cluster, face, group, topic) as two:
        fill(cluster, topic, [b"later"])
        assert counts(first(two)) == {b"later": 1}


def test_unsubscribing_leaves_and_what_was_polled_can_still_be_accepted(cluster: Cluster, face: str) -> None:
    topic, group = cluster.topic(), share_group(cluster)
    fill(cluster, topic, numbers(2))
    with member(cluster, face, group, topic) as one:
        take(one, 2)
        one.unsubscribe()
        assert one.subscription() == []
        assert one.commit() == {TopicPartition(topic, 0): None}
        with pytest.raises(IllegalStateException, match="not subscribed"):
            one.poll(0.1)
        one.subscribe(topic)
        fill(cluster, topic, [b"later"])
        assert counts(first(one)) == {b"later": 1}


def test_misuse_is_refused(cluster: Cluster, face: str) -> None:
    topic, group = cluster.topic(), share_group(cluster)
    fill(cluster, topic, numbers(2))
    with explicit(cluster, face, group, topic) as one:
        records = take(one, 2)
        one.acknowledge(records[0])
        with pytest.raises(IllegalStateException, match="must be acknowledged"):
            one.poll(0.1)
        with pytest.raises(IllegalStateException, match="never given out"):
            one.acknowledge_offset(topic, 0, 77)
        for wrong, error in (
            ((b"t", 0, 1), TypeError),
            ((topic, "0", 1), TypeError),
            ((topic, -1, 1), ValueError),
            ((topic, 0, 1, 9), ValueError),
        ):
            with pytest.raises(error):
                one.acknowledge_offset(*wrong)
        for topics in (["", topic], [topic, topic]):
            with pytest.raises(ConfigError):
                one.subscribe(*topics)
        one.acknowledge(records[1])
        one.commit()
        with pytest.raises(IllegalStateException, match="settled"):
            one.acknowledge(records[1])
    with pytest.raises(IllegalStateException, match="closed"):
        one.consumer.subscription() if face == "blocking" else asyncio.run(one.consumer.subscription())
    with member(cluster, face, group, topic) as two:
        fill(cluster, topic, [b"x"])
        (record,) = first(two)
        with pytest.raises(IllegalStateException, match=r"share\.acknowledgement\.mode"):
            two.acknowledge(record)


def test_a_callback_must_not_call_its_consumer(cluster: Cluster, face: str) -> None:
    topic, group = cluster.topic(), share_group(cluster)
    fill(cluster, topic, numbers(1))
    with member(cluster, face, group, topic) as one:

        def callback(offsets: object, error: object) -> None:
            with one.consumer._alone():
                pass

        one.on_commit(callback)
        take(one, 1)
        with pytest.raises(IllegalStateException, match="callback"):
            one.commit()
        one.on_commit(None)
        assert list(one.poll(0.1)) == []


def test_one_thread_at_a_time(cluster: Cluster) -> None:
    topic, group = cluster.topic(), share_group(cluster)
    with ShareConsumer(share_conf(cluster, group)) as one:
        one.subscribe([topic])
        done: list[Messages] = []
        thread = threading.Thread(target=lambda: done.append(one.poll(LIMIT_S)))
        thread.start()
        wait_for(lambda: one._core._poll_until_s is not None, "the other thread polls")
        with pytest.raises(ConcurrentModificationException):
            one.subscription()
        fill(cluster, topic, [b"x"])  # which ends the poll
        thread.join()
        assert counts(done[0]) == {b"x": 1}


def test_a_poll_that_is_broken_off_at_the_last_moment_accepts_nothing(cluster: Cluster, face: str) -> None:
    topic, group = cluster.topic(), share_group(cluster)
    fill(cluster, topic, numbers(5))
    with member(cluster, face, group, topic) as one:
        give = one.consumer._give

        def interrupted(*arguments: object) -> None:
            one.consumer._give = give
            raise KeyboardInterrupt

        one.consumer._give = interrupted
        with pytest.raises(KeyboardInterrupt):
            first(one)
        assert one.commit() == {}
        assert counts(take(one, 5)) == dict.fromkeys(numbers(5), 1)  # once acquired, once given


def test_a_poll_that_is_cancelled_loses_nothing(cluster: Cluster) -> None:
    topic, group = cluster.topic(), share_group(cluster)

    async def run() -> None:
        async with AIOShareConsumer(share_conf(cluster, group)) as one:
            await one.subscribe([topic])
            task = asyncio.create_task(one.poll(-1))
            while one._core._poll_until_s is None:  # noqa: ASYNC110  # it tells nobody
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            fill(cluster, topic, numbers(5))
            assert counts(await one.poll(LIMIT_S)) == dict.fromkeys(numbers(5), 1)

    asyncio.run(run())


def test_a_close_that_is_cancelled_goes_on_and_the_next_one_waits_for_it(cluster: Cluster) -> None:
    topic, group = cluster.topic(), share_group(cluster)
    fill(cluster, topic, numbers(5))

    async def run() -> None:
        one = AIOShareConsumer(share_conf(cluster, group))
        await one.subscribe([topic])
        assert counts(await one.poll(LIMIT_S)) == dict.fromkeys(numbers(5), 1)
        closing = asyncio.create_task(one.close())
        while not one._closing.running:  # noqa: ASYNC110  # it tells nobody
            await asyncio.sleep(0)
        closing.cancel()
        await asyncio.gather(closing, return_exceptions=True)
        assert closing.cancelled()
        assert one._closing.running
        await one.close()
        assert one._closed

    asyncio.run(run())
    with member(cluster, "blocking", group, topic) as other:
        assert counts(take(other, 5)) == dict.fromkeys(numbers(5), 2)  # released by the close
