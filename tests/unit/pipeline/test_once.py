"""pipeline.client.once: a task of the sink is killed at each step of its transaction; every row is there once."""

from __future__ import annotations

import json
import multiprocessing
import os
import queue
import signal
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

from kafka_core import Consumer, TopicPartition
from kafka_core.broker import Drop, EmbeddedCluster
from kafka_core.protocol.messages.end_txn import EndTxnRequest
from kafka_core.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_core.protocol.messages.offset_fetch import OffsetFetchRequest
from kafka_core.protocol.messages.produce import ProduceRequest
from kafka_core.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest
from pipeline.client.once import OnceDelivery, Turn
from pipeline.columns.encode_plan import EncodePlan
from pipeline.errors import WriteError
from pipeline.sink.options import WriteOptions
from pipeline.sink.writing import FieldPlan, WritePlan, Written, check_tries, write_rows
from registry import Schema

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["pytest", "pipeline.sink.writing", "kafka_core.sync.producer", "kafka_core.sync.admin"])
LIMIT_S = 60


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(auto_create_topics=False) as started:
        yield started


@pytest.fixture
def topic(cluster: EmbeddedCluster, request: pytest.FixtureRequest) -> str:
    name = "".join(letter if letter.isalnum() else "-" for letter in request.node.name)
    cluster.create_topic(name, 1)
    return name


def plan(cluster: EmbeddedCluster, topic: str, **more: str) -> WritePlan:
    common = {"kafka.bootstrap.servers": cluster.bootstrap_servers, "topic": topic, "delivery": "exactly-once"}
    return WritePlan(WriteOptions.parse({**common, **more}))


def rows(*numbers: int) -> list[pa.RecordBatch]:
    return [pa.RecordBatch.from_pydict({"value": [b"%d" % number]}) for number in numbers]


def write(
    cluster: EmbeddedCluster, topic: str, numbers: Sequence[int], turn: tuple[str, int, int, str], **more: str
) -> Written:
    return write_rows(rows(*numbers), plan(cluster, topic, **more), Turn(*turn))


def parts(
    cluster: EmbeddedCluster, topic: str, turn: Turn
) -> tuple[Mapping[str, object], float, Turn, Mapping[str, object]]:
    options = plan(cluster, topic).options
    return options.producer_config(), LIMIT_S, turn, options.admin_config()


def visible(cluster: EmbeddedCluster, topic: str) -> list[int]:
    """The records for a reader with read_committed, up to the last stable offset."""
    return [int(value) for value in values(cluster, topic)]


def count(cluster: EmbeddedCluster, topic: str) -> int:
    return len(values(cluster, topic))


def values(cluster: EmbeddedCluster, topic: str) -> list[bytes]:
    conf = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g", "isolation.level": "read_committed"}
    with Consumer({**conf, "enable.partition.eof": True}) as consumer:
        consumer.assign([TopicPartition(topic, 0, 0)])
        found: list[bytes] = []
        while True:
            for message in consumer.consume(1000, timeout=LIMIT_S):
                if message.error() is not None:  # the end
                    return found
                found.append(message.value() or b"")


STEPS: dict[str, type[Any]] = {
    "id": InitProducerIdRequest,
    "mark-read": OffsetFetchRequest,
    "rows": ProduceRequest,
    "mark": TxnOffsetCommitRequest,
    "commit": EndTxnRequest,
}


@pytest.mark.parametrize("handled", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_a_task_that_is_killed_at_any_step_leaves_all_or_nothing(
    cluster: EmbeddedCluster, topic: str, step: str, handled: bool
) -> None:
    """Killed as the broker gets a request, or has carried it out and not answered; then the task is tried again."""
    write(cluster, topic, [1, 2], (topic, 0, 1, "a"))
    pid: queue.SimpleQueue[int | None] = queue.SimpleQueue()

    def kill(request: object, context: object) -> Drop:
        victim = pid.get(timeout=LIMIT_S)
        assert victim is not None
        os.kill(victim, signal.SIGKILL)
        return Drop(handled=handled)

    rule = cluster.intercept(STEPS[step], kill, times=1)
    child = FORKS.Process(target=write_rows, args=(rows(3, 4), plan(cluster, topic), Turn(topic, 0, 2, "a")))
    try:
        child.start()
        pid.put(child.pid)
        child.join(LIMIT_S)
        assert child.exitcode == -signal.SIGKILL
    finally:
        cluster.stop_intercepting(rule)
        child.kill()
    again = write(cluster, topic, [3, 4], (topic, 0, 2, "b"))
    assert visible(cluster, topic) == [1, 2, 3, 4]
    assert again.maybe_cut_off
    write(cluster, topic, [5], (topic, 0, 3, "b"))
    assert visible(cluster, topic) == [1, 2, 3, 4, 5]


def test_a_try_that_is_slow_to_die_is_fenced(cluster: EmbeddedCluster, topic: str) -> None:
    slow = OnceDelivery(*parts(cluster, topic, Turn(topic, 0, 1)))
    slow.send(topic, rows(1)[0])
    write(cluster, topic, [1], (topic, 0, 1, ""))
    with pytest.raises(WriteError, match="another try of the task has taken over"):
        slow.finish()
    assert visible(cluster, topic) == [1]


def test_tasks_of_a_batch_that_the_driver_did_not_finish_are_not_written_again(
    cluster: EmbeddedCluster, topic: str
) -> None:
    """The driver dies when one task has committed and another has not; the next one runs both."""
    write(cluster, topic, [1, 2], (topic, 0, 7, "a"))
    done = [write(cluster, topic, [1, 2], (topic, 0, 7, "b")), write(cluster, topic, [3], (topic, 1, 7, "b"))]
    check_tries(done, plan(cluster, topic).options)
    assert [one.rows for one in done] == [2, 1]
    assert sorted(visible(cluster, topic)) == [1, 2, 3]


@pytest.mark.parametrize("others", [[1], [1, 2, 3], [1, 222]])
def test_another_try_with_other_rows_is_an_error(cluster: EmbeddedCluster, topic: str, others: list[int]) -> None:
    write(cluster, topic, [1, 2], (topic, 0, 1, "a"))
    with pytest.raises(WriteError, match="a try must have the same rows in the same tasks"):
        write(cluster, topic, others, (topic, 0, 1, "b"))


def test_an_earlier_try_with_more_tasks_is_noticed(cluster: EmbeddedCluster, topic: str) -> None:
    for part in (0, 10):
        write(cluster, topic, [part], (topic, part, 1, "a"))
    write(cluster, topic, [3], (topic, 2, 2, "a"))  # the driver dies: tasks 0 and 1 have not written turn 2
    options = plan(cluster, topic).options
    done = [write(cluster, topic, [part], (topic, part, 2, "b")) for part in (0, 1)]
    with pytest.raises(WriteError, match=f"had more than 2 tasks, and {topic}-2 of them have committed"):
        check_tries(done, options)
    done = [write(cluster, topic, [part], (topic, part, 3, "b")) for part in (0, 1)]
    assert not any(one.maybe_cut_off for one in done)  # in the same run, nobody asks again
    check_tries(done, options)


def test_a_checkpoint_that_is_older_than_the_topic_is_noticed(cluster: EmbeddedCluster, topic: str) -> None:
    write(cluster, topic, [1], (topic, 0, 5, "a"))
    with pytest.raises(WriteError, match=f"turn 5 of {topic}-0 is in the topic already, and this is turn 4"):
        write(cluster, topic, [1], (topic, 0, 4, "b"))


def test_a_task_that_fails_leaves_nothing_to_wait_for(cluster: EmbeddedCluster, topic: str) -> None:
    def failing() -> Iterator[pa.RecordBatch]:
        yield rows(1)[0]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_rows(failing(), plan(cluster, topic), Turn(topic, 0, 1))
    assert visible(cluster, topic) == []
    write(cluster, topic, [], (topic, 0, 1, ""))  # no rows, no transaction
    write(cluster, topic, [2], (topic, 0, 2, ""))
    assert visible(cluster, topic) == [2]


def test_rows_for_several_topics_and_letters_are_one_transaction(cluster: EmbeddedCluster, topic: str) -> None:
    order = Schema(json.dumps({"type": "record", "name": "O", "fields": [{"name": "id", "type": "int"}]}), "AVRO")
    other, letters = f"{topic}-other", f"{topic}-letters"
    for name in (other, letters):
        cluster.create_topic(name, 1)
    common = {"kafka.bootstrap.servers": cluster.bootstrap_servers, "delivery": "exactly-once"}
    encoded = {"value.format": "avro", "value.subject": "o", "schema.registry.url": "http://127.0.0.1:1"}
    options = WriteOptions.parse({**common, **encoded, "mode": "DEADLETTER", "deadLetterTopic": letters})
    both = WritePlan(options, (FieldPlan("value", EncodePlan({"url": "http://127.0.0.1:1"}, "o", order, 1, {})),))
    struct = pa.struct([("id", pa.int64())])
    values = pa.array([{"id": 1}, {"id": 2**40}, {"id": 2}], struct)
    batch = pa.RecordBatch.from_pydict({"value": values, "topic": [topic, topic, other]})

    def cut_off() -> Iterator[pa.RecordBatch]:
        yield batch
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_rows(cut_off(), both, Turn(topic, 0, 1))
    assert [count(cluster, name) for name in (topic, other, letters)] == [0, 0, 0]
    for run in "ab":
        write_rows([batch], both, Turn(topic, 0, 1, run))
        assert [count(cluster, name) for name in (topic, other, letters)] == [1, 1, 1]
