"""Transactions on every kind of cluster: what is committed, aborted, fenced, read; misuse; both kinds of producer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from kafka_core import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from kafka_core.aio import AIOConsumer, AIOProducer
from serdes import SerializingProducer, StringSerializer
from tests.contract.clusters import (
    LIMIT_S,
    Cluster,
    Reports,
    consumer,
    options,
    poll_until,
    take,
    unique,
    values_of,
    wait_for,
    whole,
)
from tests.patience import judged_by


def transactional(cluster: Cluster, name: str | None = None, /, **conf: object) -> Producer:
    """A producer that is ready to begin."""
    own = {"transactional.id": name or unique("tx"), "linger.ms": 2, **options(conf)}
    producer = Producer({"bootstrap.servers": cluster.servers, **own})
    producer.init_transactions(LIMIT_S)
    return producer


def write(producer: Producer, topic: str, *values: bytes, partition: int = 0) -> None:
    for value in values:
        producer.produce(topic, value, partition=partition)


def commit(producer: Producer, topic: str, *values: bytes) -> None:
    producer.begin_transaction()
    write(producer, topic, *values)
    producer.commit_transaction(LIMIT_S)


def abort(producer: Producer, topic: str, *values: bytes) -> None:
    """Aborts what is in the log already."""
    producer.begin_transaction()
    write(producer, topic, *values)
    assert producer.flush(LIMIT_S) == 0
    producer.abort_transaction(LIMIT_S)


def read(cluster: Cluster, topic: str, count: int, level: str = "read_committed") -> list[bytes | None]:
    """The first `count` records, and no more until the end of what may be read."""
    with consumer(cluster, isolation_level=level, enable_partition_eof=True) as reader:
        reader.assign([whole(topic)])
        return values_of(to_the_end(reader, count))


def to_the_end(reader: Consumer, count: int) -> list[Message]:
    """Exactly `count` records, and the end behind them.

    An end before that is where the marker of a transaction is still to come: brokers write it after their answer.
    """
    found: list[Message] = []

    def at_end() -> bool:
        message = reader.poll(0.5)
        if message is None:
            return False
        error = message.error()
        if error is None:
            found.append(message)
            return False
        assert error.code() == KafkaError._PARTITION_EOF, error
        return len(found) >= count

    wait_for(at_end, f"{count} records and the end of the partition")
    assert len(found) == count, values_of(found)
    return found


def error_of(call: Callable[[], object]) -> KafkaError:
    with pytest.raises(KafkaException) as raised:
        call()
    return raised.value.error


# ---- what is read


def test_committed_records_are_read_and_aborted_ones_are_not(cluster: Cluster) -> None:
    topic = cluster.topic()
    with transactional(cluster) as producer:
        commit(producer, topic, b"a", b"b")
        abort(producer, topic, b"c", b"d")
        commit(producer, topic, b"e")
        abort(producer, topic, b"f")
        commit(producer, topic, b"g")
    assert read(cluster, topic, 4) == [b"a", b"b", b"e", b"g"]
    assert read(cluster, topic, 7, "read_uncommitted") == [b"a", b"b", b"c", b"d", b"e", b"f", b"g"]


def test_two_producers_in_one_partition_end_apart(cluster: Cluster) -> None:
    topic = cluster.topic()
    with transactional(cluster) as one, transactional(cluster) as two:
        one.begin_transaction()
        two.begin_transaction()
        for number in range(4):
            write(one, topic, b"one-%d" % number)
            assert one.flush(LIMIT_S) == 0
            write(two, topic, b"two-%d" % number)
            assert two.flush(LIMIT_S) == 0
        one.abort_transaction(LIMIT_S)
        two.commit_transaction(LIMIT_S)
    assert read(cluster, topic, 4) == [b"two-%d" % number for number in range(4)]


def test_an_open_transaction_is_the_end_for_those_who_read_what_is_committed(cluster: Cluster) -> None:
    topic = cluster.topic()
    with transactional(cluster) as producer, transactional(cluster) as other:
        commit(producer, topic, b"before")
        producer.begin_transaction()
        write(producer, topic, b"open")
        assert producer.flush(LIMIT_S) == 0
        commit(other, topic, b"behind")
        assert read(cluster, topic, 1) == [b"before"]
        assert read(cluster, topic, 3, "read_uncommitted") == [b"before", b"open", b"behind"]
        with consumer(cluster, isolation_level="read_committed") as reader:
            reader.assign([whole(topic)])
            assert values_of(take(reader, 1)) == [b"before"]
            assert reader.get_watermark_offsets(TopicPartition(topic, 0), LIMIT_S) == (0, 2)
            producer.commit_transaction(LIMIT_S)
            assert values_of(take(reader, 2)) == [b"open", b"behind"]


def test_positions_step_over_markers(cluster: Cluster) -> None:
    topic = cluster.topic()
    with transactional(cluster) as producer:
        abort(producer, topic, b"a")
        commit(producer, topic, b"b")
    with consumer(cluster, isolation_level="read_committed", enable_partition_eof=True) as reader:
        reader.assign([whole(topic)])
        (message,) = to_the_end(reader, 1)
        assert (message.offset(), message.value()) == (2, b"b")
        assert reader.position([TopicPartition(topic, 0)])[0].offset == 4


def test_positions_step_over_aborted_records_though_nothing_was_handed_out(cluster: Cluster) -> None:
    topic = cluster.topic()
    with transactional(cluster) as producer:
        abort(producer, topic, b"a", b"b")
    with consumer(cluster, isolation_level="read_committed") as reader:
        reader.assign([whole(topic)])
        place = TopicPartition(topic, 0)
        wait_for(lambda: reader.poll(0.1) is None and reader.position([place])[0].offset == 3, "the marker is passed")
        assert [item.offset for item in reader.commit(asynchronous=False)] == [3]


def test_many_transactions_over_several_partitions(cluster: Cluster) -> None:
    topic = cluster.topic(3)
    with transactional(cluster) as producer:
        for number in range(20):
            producer.begin_transaction()
            for partition in range(3):
                write(producer, topic, b"%d" % number, partition=partition)
            if number % 3:
                producer.commit_transaction(LIMIT_S)
            else:
                producer.abort_transaction(LIMIT_S)
    wanted = sorted(b"%d" % number for number in range(20) if number % 3 for _ in range(3))
    with consumer(cluster, isolation_level="read_committed") as reader:
        reader.assign([whole(topic, partition) for partition in range(3)])
        assert sorted(message.value() or b"" for message in take(reader, len(wanted))) == wanted


# ---- offsets


def committed(reader: Consumer, topic: str) -> int:
    (found,) = reader.committed([TopicPartition(topic, 0)], LIMIT_S)
    assert found.error is None
    return found.offset


def test_offsets_are_committed_with_the_transaction_or_not_at_all(cluster: Cluster) -> None:
    topic = cluster.topic()
    with transactional(cluster) as producer, consumer(cluster, enable_auto_commit=False) as reader:
        group = reader.consumer_group_metadata()
        for offset, end in ((3, producer.commit_transaction), (9, producer.abort_transaction)):
            producer.begin_transaction()
            producer.send_offsets_to_transaction([TopicPartition(topic, 0, offset)], group, LIMIT_S)
            end(LIMIT_S)
            assert committed(reader, topic) == 3
        producer.begin_transaction()
        producer.send_offsets_to_transaction([], group)
        producer.send_offsets_to_transaction([TopicPartition(topic, 0, -1001)], group)
        producer.commit_transaction(LIMIT_S)
        assert committed(reader, topic) == 3


def test_pending_offsets_are_waited_for(modern_cluster: Cluster) -> None:
    topic = modern_cluster.topic()
    with transactional(modern_cluster) as producer, consumer(modern_cluster) as reader:
        producer.begin_transaction()
        offsets = [TopicPartition(topic, 0, 5)]
        producer.send_offsets_to_transaction(offsets, reader.consumer_group_metadata(), LIMIT_S)
        error = error_of(lambda: reader.committed([TopicPartition(topic, 0)], 0.3))
        assert error.code() == KafkaError._TIMED_OUT
        producer.commit_transaction(LIMIT_S)
        assert committed(reader, topic) == 5


def test_a_member_that_is_gone_commits_nothing(modern_cluster: Cluster) -> None:
    topic = modern_cluster.topic()
    with transactional(modern_cluster) as producer:
        reader = consumer(modern_cluster, enable_auto_commit=False)
        reader.subscribe([topic])
        poll_until([reader], lambda: bool(reader.assignment()), "partitions are assigned")
        group = reader.consumer_group_metadata()
        reader.close()
        producer.begin_transaction()
        offsets = [TopicPartition(topic, 0, 5)]
        error = error_of(lambda: producer.send_offsets_to_transaction(offsets, group, LIMIT_S))
        assert error.code() in (KafkaError.UNKNOWN_MEMBER_ID, KafkaError.ILLEGAL_GENERATION)
        assert error.txn_requires_abort()
        again = error_of(lambda: producer.commit_transaction(LIMIT_S))
        assert again == error
        producer.abort_transaction(LIMIT_S)
        commit(producer, topic, b"next")
    assert read(modern_cluster, topic, 1) == [b"next"]


# ---- who may write


def test_a_second_producer_fences_the_first(cluster: Cluster) -> None:
    topic, name = cluster.topic(), unique("tx")
    with transactional(cluster, name) as first:
        first.begin_transaction()
        write(first, topic, b"zombie")
        assert first.flush(LIMIT_S) == 0
        with transactional(cluster, name) as second:
            commit(second, topic, b"new")
            error = error_of(lambda: first.commit_transaction(LIMIT_S))
            assert error.fatal()
            assert error.code() == KafkaError._FENCED
            for call in (first.begin_transaction, first.abort_transaction, first.commit_transaction):
                assert error_of(call).fatal()
            with pytest.raises(KafkaException):
                write(first, topic, b"late")
            commit(second, topic, b"newer")
    assert read(cluster, topic, 2) == [b"new", b"newer"]


def test_a_fenced_producer_that_writes_hears_of_it(cluster: Cluster) -> None:
    topic, name = cluster.topic(), unique("tx")
    with transactional(cluster, name) as first, transactional(cluster, name) as second:
        first.begin_transaction()
        write(first, topic, b"zombie")
        error = error_of(lambda: first.commit_transaction(LIMIT_S))
        if not error.fatal():  # protocol 2: writing tells of an old epoch, which has two reasons (KIP-588)
            assert error.txn_requires_abort()
            error = error_of(lambda: first.abort_transaction(LIMIT_S))
        assert error.fatal()
        assert error.code() == KafkaError._FENCED
        commit(second, topic, b"new")
    assert read(cluster, topic, 1) == [b"new"]


def test_an_open_transaction_of_a_dead_producer_is_aborted_by_its_successor(cluster: Cluster) -> None:
    topic, name = cluster.topic(), unique("tx")
    dead = transactional(cluster, name)
    dead.begin_transaction()
    write(dead, topic, b"dead")
    assert dead.flush(LIMIT_S) == 0
    with transactional(cluster, name) as next_:
        commit(next_, topic, b"alive")
        assert read(cluster, topic, 1) == [b"alive"]
    dead.close()


def test_close_aborts_what_is_open(cluster: Cluster) -> None:
    topic = cluster.topic()
    producer = transactional(cluster)
    producer.begin_transaction()
    write(producer, topic, b"open")
    assert producer.close()
    with transactional(cluster) as other:
        commit(other, topic, b"behind")
    assert read(cluster, topic, 1) == [b"behind"]


def test_a_transaction_whose_time_is_over_can_be_begun_again(modern_cluster: Cluster) -> None:
    if modern_cluster.kind == "old":
        pytest.skip("a broker with protocol 1 fences the producer then")
    judged_by(1.0, aborted_by_the_broker_and_begun_again, modern_cluster)


def aborted_by_the_broker_and_begun_again(limit_s: float, modern_cluster: Cluster) -> None:
    """The next transaction is committed within the time in which the first one is not."""
    topic = modern_cluster.topic()
    with transactional(modern_cluster, transaction_timeout_ms=round(limit_s * 1000)) as producer:
        producer.begin_transaction()
        write(producer, topic, b"slow")
        assert producer.flush(LIMIT_S) == 0
        with consumer(modern_cluster, isolation_level="read_committed") as reader:
            reader.assign([whole(topic)])
            end = TopicPartition(topic, 0)
            wait_for(lambda: reader.get_watermark_offsets(end, LIMIT_S)[1] > 0, "the broker aborts the transaction")
        error = error_of(lambda: producer.commit_transaction(LIMIT_S))
        assert error.txn_requires_abort()
        producer.abort_transaction(LIMIT_S)
        commit(producer, topic, b"quick")
    assert read(modern_cluster, topic, 1) == [b"quick"]


# ---- errors


def test_a_record_that_fails_makes_an_abort_necessary(cluster: Cluster) -> None:
    topic, small = cluster.topic(), cluster.topic(max_message_bytes="500")
    with transactional(cluster) as producer:
        reports = Reports()
        producer.begin_transaction()
        producer.produce(topic, b"good", partition=0)
        producer.produce(small, b"x" * 1000, partition=0, on_delivery=reports)
        error = error_of(lambda: producer.commit_transaction(LIMIT_S))
        producer.flush(LIMIT_S)  # where the broker was quicker than the commit, its callback is still to come
        assert [failed.code() for failed, _ in reports.failed] == [KafkaError.MSG_SIZE_TOO_LARGE]
        assert (error.code(), error.txn_requires_abort(), error.fatal()) == (
            KafkaError.MSG_SIZE_TOO_LARGE, True, False,
        )  # fmt: skip
        for call in (producer.begin_transaction, producer.commit_transaction):
            assert error_of(call) == error
        with pytest.raises(KafkaException) as raised:
            producer.produce(topic, b"more")
        assert raised.value.code == KafkaError._STATE
        producer.abort_transaction(LIMIT_S)
        commit(producer, topic, b"next")
    assert read(cluster, topic, 1) == [b"next"]


def test_an_abort_reports_what_it_purges(cluster: Cluster) -> None:
    topic = cluster.topic()
    with transactional(cluster, linger_ms=30_000) as producer:
        commit(producer, topic, b"known")
        reports = Reports()
        producer.begin_transaction()
        for number in range(5):
            producer.produce(topic, b"%d" % number, partition=0, on_delivery=reports)
        producer.abort_transaction(LIMIT_S)
        assert [error.code() for error, _ in reports.failed] == [KafkaError._PURGE_QUEUE] * 5
        commit(producer, topic, b"next")
    assert read(cluster, topic, 2) == [b"known", b"next"]


STATE = KafkaError._STATE


def test_calls_out_of_order_are_refused(cluster: Cluster) -> None:
    topic = cluster.topic()
    conf = {"bootstrap.servers": cluster.servers, "transactional.id": unique("tx")}
    with Producer(conf) as producer, consumer(cluster) as reader:
        group, offsets = reader.consumer_group_metadata(), [TopicPartition(topic, 0, 1)]
        calls: dict[str, Callable[[], object]] = {
            "begin": producer.begin_transaction,
            "produce": lambda: producer.produce(topic, b"x"),
            "send": lambda: producer.send_offsets_to_transaction(offsets, group, 1),
            "commit": lambda: producer.commit_transaction(1),
            "abort": lambda: producer.abort_transaction(1),
        }
        for call in calls.values():
            assert error_of(call).code() == STATE
        assert error_of(calls["begin"]).str() == "Operation not valid in state Init"
        producer.init_transactions(LIMIT_S)
        assert error_of(producer.init_transactions).str() == "Operation not valid in state Ready"
        for name in ("produce", "send", "commit", "abort"):
            assert error_of(calls[name]).code() == STATE
        producer.begin_transaction()
        assert error_of(calls["begin"]).str() == "Operation not valid in state InTransaction"
        with pytest.raises(TypeError, match="consumer_group_metadata"):
            producer.send_offsets_to_transaction(offsets, None)  # type: ignore[arg-type]
        producer.commit_transaction(LIMIT_S)
        producer.begin_transaction()
        producer.abort_transaction(LIMIT_S)


def test_a_call_that_timed_out_is_resumed(cluster: Cluster) -> None:
    with Producer({"bootstrap.servers": cluster.servers, "transactional.id": unique("tx")}) as producer:
        error = error_of(lambda: producer.init_transactions(0))
        assert (error.code(), error.retriable()) == (KafkaError._TIMED_OUT, True)
        other = error_of(producer.begin_transaction)
        assert (other.code(), other.retriable()) == (KafkaError._CONFLICT, True)
        producer.init_transactions(LIMIT_S)
        producer.begin_transaction()


def test_a_timeout_that_the_broker_refuses_is_fatal(cluster: Cluster) -> None:
    conf = {"transactional.id": unique("tx"), "transaction.timeout.ms": 2_000_000}
    with Producer({"bootstrap.servers": cluster.servers, **conf}) as producer:
        error = error_of(lambda: producer.init_transactions(LIMIT_S))
        assert (error.code(), error.fatal()) == (KafkaError.INVALID_TRANSACTION_TIMEOUT, True)


# ---- as a block


def test_a_block_commits_records_and_positions_together(cluster: Cluster) -> None:
    source, target = cluster.topic(), cluster.topic()
    conf = {"enable_auto_commit": False, "isolation_level": "read_committed"}
    with transactional(cluster) as producer, consumer(cluster, **conf) as reader:
        commit(producer, source, *(b"%d" % number for number in range(10)))
        reader.subscribe([source])
        with pytest.raises(RuntimeError, match="mine"), producer.transaction(reader):
            for message in take(reader, 4):
                producer.produce(target, b"lost " + (message.value() or b""), partition=0)
            raise RuntimeError("mine")
        assert committed(reader, source) == -1001
        for _ in range(5):
            with producer.transaction(reader):
                for message in take(reader, 2):
                    producer.produce(target, b"copy " + (message.value() or b""), partition=0)
        assert committed(reader, source) >= 10
    assert read(cluster, target, 10) == [b"copy %d" % number for number in range(10)]


def test_a_block_without_a_consumer(cluster: Cluster) -> None:
    topic = cluster.topic()
    with transactional(cluster) as producer:
        with producer.transaction() as writing:
            assert writing is producer
            write(producer, topic, b"kept")
        with pytest.raises(ZeroDivisionError), producer.transaction():
            write(producer, topic, b"lost")
            raise ZeroDivisionError
    assert read(cluster, topic, 1) == [b"kept"]


def test_a_serializing_producer_has_transactions_too(cluster: Cluster) -> None:
    topic = cluster.topic()
    conf = {"transactional.id": unique("tx"), "value.serializer": StringSerializer()}
    with SerializingProducer({"bootstrap.servers": cluster.servers, **conf}) as producer:
        producer.init_transactions(LIMIT_S)
        with producer.transaction():
            producer.produce(topic, value="kept", partition=0)
    assert read(cluster, topic, 1) == [b"kept"]


# ---- asyncio


def test_the_asyncio_producer_does_all_of_it(cluster: Cluster) -> None:
    source, target, group = cluster.topic(), cluster.topic(), unique("group")
    with transactional(cluster) as writer:
        commit(writer, source, *(b"%d" % number for number in range(6)))

    async def work() -> None:
        base: dict[str, Any] = {"bootstrap.servers": cluster.servers}
        reads = {"group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": False}
        async with (
            AIOProducer({**base, "transactional.id": unique("tx")}) as producer,
            AIOConsumer({**base, **reads, "isolation.level": "read_committed"}) as reader,
        ):
            await producer.init_transactions(LIMIT_S)
            await reader.assign([whole(source)])
            with pytest.raises(ZeroDivisionError):
                async with producer.transaction(reader):
                    await reader.poll(LIMIT_S)
                    lost = await producer.produce(target, b"lost", partition=0)
                    raise ZeroDivisionError
            error = lost.exception()
            assert error is None or isinstance(error, KafkaException)
            for _ in range(3):
                async with producer.transaction(reader):
                    for _ in range(2):
                        message = await reader.poll(LIMIT_S)
                        assert message is not None
                        await producer.produce(target, message.value(), partition=0)
            (found,) = await reader.committed([TopicPartition(source, 0)], LIMIT_S)
            assert found.offset >= 6
            with pytest.raises(KafkaException, match="InTransaction"):
                await producer.begin_transaction()
                await producer.begin_transaction()
            await producer.abort_transaction()

    asyncio.run(asyncio.wait_for(work(), 2 * LIMIT_S))
    assert read(cluster, target, 6) == [b"%d" % number for number in range(6)]
