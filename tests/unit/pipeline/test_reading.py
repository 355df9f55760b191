"""pipeline.source.reading: plans and reads over the embedded broker, no Spark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime

import pytest

from kafka_core import Producer, TopicCollection, TopicPartition
from kafka_core.admin import AdminClient
from kafka_core.broker import EmbeddedCluster
from kafka_core.protocol.messages.fetch import FetchRequest
from kafka_core.protocol.messages.list_offsets import ListOffsetsRequest
from kafka_core.records import ControlType, NewRecord, build_batch, control_key, control_value
from pipeline.errors import OptionError, PlanError, ReadError
from pipeline.source import consumers
from pipeline.source.options import ReadOptions
from pipeline.source.planning import plan_splits
from pipeline.source.raw import HEADERS, RAW_SCHEMA
from pipeline.source.reading import FIRST_ROWS, GROWTH, BatchSize, read_split
from pipeline.source.splits import Split
from tests.patience import judged_by


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(auto_create_topics=False) as started:
        yield started


@pytest.fixture
def topic(cluster: EmbeddedCluster, request: pytest.FixtureRequest) -> Iterator[str]:
    name = re.sub(r"[^\w.-]", "_", request.node.name)
    cluster.create_topic(name, 2)
    yield name
    cluster.delete_topic(name)


def produce(cluster: EmbeddedCluster, topic: str, values: list[bytes | None], partition: int = 0) -> None:
    with Producer({"bootstrap.servers": cluster.bootstrap_servers}) as producer:
        for at, value in enumerate(values):
            producer.produce(topic, value, partition=partition, timestamp=1_000 + at)
        assert producer.flush(60) == 0


def options(cluster: EmbeddedCluster, topic: str, **more: str) -> ReadOptions:
    return ReadOptions.parse({"kafka.bootstrap.servers": cluster.bootstrap_servers, "subscribe": topic, **more})


def offsets(split: Split, chosen: ReadOptions) -> list[int]:
    return [offset for batch in read_split(split, chosen) for offset in batch.column("offset").to_pylist()]


UNKNOWN_TOPIC_OR_PART = 3


# ---- how large batches are


def test_batches_start_small_and_grow_to_the_bound_of_rows() -> None:
    size = BatchSize(most_rows=50_000, target_bytes=2**25)
    asked = []
    for _ in range(5):
        asked.append(size.rows)
        size.seen(size.rows, size.rows * 100)
    assert asked == [FIRST_ROWS, FIRST_ROWS * GROWTH, FIRST_ROWS * GROWTH**2, 50_000, 50_000]


def test_large_records_come_in_batches_of_few_rows() -> None:
    size = BatchSize(most_rows=50_000, target_bytes=2**25)
    size.seen(500, 500 * 2**20)
    assert size.rows == 32
    size.seen(32, 32 * 2**28)
    assert size.rows == 1
    size.seen(1, 10)
    assert size.rows == GROWTH


def test_the_first_batch_keeps_to_the_bound_of_rows() -> None:
    assert BatchSize(most_rows=7, target_bytes=1).rows == 7


# ---- plans


def test_one_split_for_each_partition_that_holds_something(cluster: EmbeddedCluster, topic: str) -> None:
    other = f"{topic}_other"
    cluster.create_topic(other, 1)
    produce(cluster, topic, [b"1", b"2"], partition=1)
    produce(cluster, other, [b"3"])
    assert plan_splits(options(cluster, f"{topic},{other}")) == [Split(topic, 1, 0, 2), Split(other, 0, 0, 1)]
    assert plan_splits(options(cluster, topic, endingOffsets=f'{{"{topic}": {{"1": 0}}}}')) == []
    cluster.delete_topic(other)


def test_a_partition_that_is_not_there_fails_the_plan(cluster: EmbeddedCluster, topic: str) -> None:
    with pytest.raises(PlanError, match=r"has 2 partitions, but offsets name \[2, 7\]"):
        plan_splits(
            options(
                cluster, topic, startingOffsets=f'{{"{topic}": {{"7": 0}}}}', endingOffsets=f'{{"{topic}": {{"2": 5}}}}'
            )
        )


def test_a_leader_that_does_not_know_its_partition_yet_is_asked_again(cluster: EmbeddedCluster, topic: str) -> None:
    produce(cluster, topic, [b"a", b"b"])
    rule = cluster.intercept(ListOffsetsRequest, lambda request, context: UNKNOWN_TOPIC_OR_PART, times=2)
    found = plan_splits(options(cluster, topic))
    assert rule.seen == 2
    assert found == [Split(topic, 0, 0, 2)]


def test_a_partition_that_goes_while_a_read_is_planned_is_a_loss(cluster: EmbeddedCluster, topic: str) -> None:
    produce(cluster, topic, [b"a", b"b"])
    rule = cluster.intercept(ListOffsetsRequest, lambda request, context: UNKNOWN_TOPIC_OR_PART)
    with pytest.raises(PlanError, match=rf"{re.escape(topic)}\[0\] is gone"):
        plan_splits(options(cluster, topic))
    assert plan_splits(options(cluster, topic, failOnDataLoss="false")) == []
    cluster.stop_intercepting(rule)


def test_a_topic_that_is_not_there_fails_the_plan(cluster: EmbeddedCluster) -> None:
    with pytest.raises(PlanError, match=r"topic 'nowhere' can't be read: .*UNKNOWN_TOPIC"):
        plan_splits(options(cluster, "nowhere"))


def test_no_broker_fails_the_plan_with_the_first_cause() -> None:
    chosen = ReadOptions.parse(
        {"kafka.bootstrap.servers": "127.0.0.1:1", "subscribe": "t", "timeoutSeconds": "1"},
    )
    with pytest.raises(PlanError, match=r"offsets of t can't be read: .*127\.0\.0\.1:1.*refused"):
        plan_splits(chosen)


def test_properties_the_client_refuses_are_option_errors(cluster: EmbeddedCluster, topic: str) -> None:
    with pytest.raises(
        OptionError, match=r"unknown option 'kafka\.session\.timeout\.mss'; did you mean 'kafka\.session\.timeout\.ms'"
    ):
        plan_splits(options(cluster, topic, **{"kafka.session.timeout.mss": "1"}))


# ---- reads


def test_columns_are_those_of_spark(cluster: EmbeddedCluster, topic: str) -> None:
    produce(cluster, topic, [b"v", None])
    (batch,) = read_split(Split(topic, 0, 0, 2), options(cluster, topic, includeHeaders="true"))
    assert batch.schema == RAW_SCHEMA.append(HEADERS)
    assert batch.slice(1).to_pylist() == [
        {
            "key": None,
            "value": None,
            "topic": topic,
            "partition": 0,
            "offset": 1,
            "timestamp": datetime.fromtimestamp(1.001, UTC),
            "timestampType": 0,
            "headers": None,
        }
    ]


def test_headers_are_null_where_a_record_has_none(cluster: EmbeddedCluster, topic: str) -> None:
    given: list[list[tuple[str, bytes | None]]] = [[], [("a", None)], [], [("a", b"1"), ("b", b"2")], [("c", b"3")]]
    with Producer({"bootstrap.servers": cluster.bootstrap_servers}) as producer:
        for headers in given:
            producer.produce(topic, b"v", partition=0, headers=headers)
        assert producer.flush(60) == 0
    for start, end in (0, 5), (1, 4), (2, 3):
        chosen = options(cluster, topic, includeHeaders="true")
        found: list[list[dict[str, object]] | None] = []
        for batch in read_split(Split(topic, 0, start, end), chosen):
            batch.validate(full=True)
            found += batch.column("headers").to_pylist()
        wanted = [[{"key": key, "value": value} for key, value in one] or None for one in given]
        assert found == wanted[start:end]


@pytest.mark.parametrize(("start", "end"), [(0, 100), (0, 1), (99, 100), (13, 57)])
def test_a_split_is_read_from_start_to_end_and_no_further(
    cluster: EmbeddedCluster, topic: str, start: int, end: int
) -> None:
    produce(cluster, topic, [b"x"] * 100)
    assert offsets(Split(topic, 0, start, end), options(cluster, topic, rowsPerBatch="9")) == list(range(start, end))


def test_batches_are_bounded_by_bytes(cluster: EmbeddedCluster, topic: str) -> None:
    produce(cluster, topic, [b"x" * 10_000] * (FIRST_ROWS + 40))
    rows = [
        batch.num_rows
        for batch in read_split(Split(topic, 0, 0, FIRST_ROWS + 40), options(cluster, topic, bytesPerBatch="100000"))
    ]
    assert sum(rows) == FIRST_ROWS + 40
    assert max(rows) < 10  # the first ones too: nobody knows how large records are before one came


def test_an_end_inside_a_gap_is_reached(cluster: EmbeddedCluster, topic: str) -> None:
    produce(cluster, topic, [b"x"] * 10)
    log = cluster.state.topics[topic].partitions[0].log
    log.end_offset = log.end_offset + 5  # as after a compaction, or a transaction's markers: no record is at 10 … 14
    produce(cluster, topic, [b"y"] * 3)
    chosen = options(cluster, topic, timeoutSeconds="60")
    assert offsets(Split(topic, 0, 0, 18), chosen) == [*range(10), 15, 16, 17]
    assert offsets(Split(topic, 0, 0, 12), chosen) == list(range(10))
    assert offsets(Split(topic, 0, 11, 13), chosen) == []


COMMIT = NewRecord(key=control_key(ControlType.COMMIT), value=control_value(1), timestamp_ms=1)


@pytest.mark.parametrize(
    "last",
    [
        pytest.param(build_batch([COMMIT], control=True, transactional=True, producer_id=7), id="marker"),
        pytest.param(build_batch([], last_offset_delta=0), id="compacted"),
    ],
)
def test_an_end_that_is_no_record_is_reached(cluster: EmbeddedCluster, topic: str, last: bytes) -> None:
    produce(cluster, topic, [b"x"] * 10)
    log = cluster.state.topics[topic].partitions[0].log
    log.append(memoryview(bytearray(last)), 1, 1, 0, 1)
    chosen = options(cluster, topic, timeoutSeconds="60")
    assert plan_splits(chosen) == [Split(topic, 0, 0, 11)]
    assert offsets(Split(topic, 0, 0, 11), chosen) == list(range(10))
    assert offsets(Split(topic, 0, 10, 11), chosen) == []


def test_records_that_are_gone_fail_the_read(cluster: EmbeddedCluster, topic: str) -> None:
    produce(cluster, topic, [b"x"] * 10)
    with pytest.raises(ReadError, match=rf"{topic}\[0\]: reading failed"):
        offsets(Split(topic, 0, 50, 60), options(cluster, topic, timeoutSeconds="60"))


def test_a_read_without_progress_ends(cluster: EmbeddedCluster, topic: str) -> None:
    produce(cluster, topic, [b"x"])

    def work(limit_s: float) -> None:
        with pytest.raises(ReadError, match=rf"{topic}\[0\]: nothing came for {limit_s:g} s at offset 1"):
            offsets(Split(topic, 0, 0, 5), options(cluster, topic, timeoutSeconds=f"{limit_s:g}"))

    judged_by(1.0, work)


def test_a_broker_error_names_the_partition(cluster: EmbeddedCluster, topic: str) -> None:
    produce(cluster, topic, [b"x"])
    topic_authorization_failed = 29
    rule = cluster.intercept(FetchRequest, lambda request, context: topic_authorization_failed)
    try:
        with pytest.raises(ReadError, match=rf"{topic}\[0\]: reading failed: .*[Aa]uthoriz"):
            offsets(Split(topic, 0, 0, 1), options(cluster, topic, timeoutSeconds="60"))
    finally:
        cluster.stop_intercepting(rule)


def delete_before(cluster: EmbeddedCluster, topic: str, offset: int) -> None:
    with AdminClient({"bootstrap.servers": cluster.bootstrap_servers}) as admin:
        for answer in admin.delete_records([TopicPartition(topic, 0, offset)]).values():
            answer.result(60)


def test_records_that_went_after_the_plan_fail_the_read_or_are_left_out(cluster: EmbeddedCluster, topic: str) -> None:
    produce(cluster, topic, [b"x"] * 10)
    delete_before(cluster, topic, 4)
    with pytest.raises(ReadError, match="reading failed"):
        offsets(Split(topic, 0, 2, 8), options(cluster, topic, timeoutSeconds="60"))
    lenient = options(cluster, topic, timeoutSeconds="60", failOnDataLoss="false")
    assert offsets(Split(topic, 0, 2, 8), lenient) == [4, 5, 6, 7]
    assert offsets(Split(topic, 0, 0, 3), lenient) == []


@pytest.mark.parametrize("loss", ["true", "false"])
def test_a_topic_that_was_made_anew_before_the_plan_is_read_from_its_beginning(
    cluster: EmbeddedCluster, topic: str, loss: str
) -> None:
    """The process's consumer has read the topic that was deleted, and knows nothing of the other one yet."""
    chosen = options(cluster, topic, failOnDataLoss=loss, **{"kafka.client.id": topic})
    for count in (3, 5, 4):
        produce(cluster, topic, [b"x"] * count)
        assert offsets(Split(topic, 0, 0, count), chosen) == list(range(count))
        cluster.delete_topic(topic)
        cluster.create_topic(topic, 2)


def remake(cluster: EmbeddedCluster, topic: str, count: int) -> None:
    """Another topic of the name, with so many records."""
    cluster.delete_topic(topic)
    cluster.create_topic(topic, 2)
    produce(cluster, topic, [b"other"] * count)


@pytest.mark.parametrize("has_read", [False, True])
@pytest.mark.parametrize("count", [6, 12])
def test_nothing_is_read_of_a_topic_that_was_made_anew_after_the_plan(
    cluster: EmbeddedCluster, topic: str, count: int, has_read: bool
) -> None:
    produce(cluster, topic, [b"x"] * 6)
    strict = options(cluster, topic, **{"kafka.client.id": topic})
    lenient = options(cluster, topic, failOnDataLoss="false", **{"kafka.client.id": f"{topic}-lenient"})
    (split,) = plan_splits(strict)
    if has_read:
        assert offsets(split, strict) == offsets(split, lenient) == list(range(6))
    remake(cluster, topic, count)
    with pytest.raises(ReadError, match=r"deleted and created again"):
        offsets(split, strict)
    assert offsets(split, lenient) == []
    (split,) = plan_splits(strict)
    assert offsets(split, strict) == offsets(split, lenient) == list(range(count))


@pytest.mark.parametrize("loss", ["true", "false"])
def test_nothing_is_read_of_a_topic_that_is_made_anew_while_a_split_is_read(
    cluster: EmbeddedCluster, topic: str, loss: str
) -> None:
    """The client fetches few records ahead, so that most are still at the broker."""
    for _ in range(12):
        produce(cluster, topic, [b"x" * 100_000])
    little = {"kafka.fetch.max.bytes": "1000", "kafka.queued.max.messages.kbytes": "100"}
    chosen = options(cluster, topic, failOnDataLoss=loss, rowsPerBatch="2", **little)
    (split,) = plan_splits(chosen)
    batches = read_split(split, chosen)
    read = next(batches).column("value").to_pylist()
    remake(cluster, topic, 24)
    with pytest.raises(ReadError, match="created again") if loss == "true" else nullcontext():
        for batch in batches:
            read += batch.column("value").to_pylist()
    assert len(read) < 12
    assert b"other" not in read


@pytest.mark.parametrize("count", [1, 3])
def test_parts_of_a_plan_know_the_topic(cluster: EmbeddedCluster, topic: str, count: int) -> None:
    produce(cluster, topic, [b"x"] * 6)
    with AdminClient({"bootstrap.servers": cluster.bootstrap_servers}) as admin:
        (described,) = admin.describe_topics(TopicCollection([topic])).values()
        topic_id = described.result(60).topic_id
    for kind in ({"subscribe": topic}, {"subscribePattern": topic}, {"assign": f'{{"{topic}": [0]}}'}):
        chosen = ReadOptions.parse(
            {"kafka.bootstrap.servers": cluster.bootstrap_servers, "minPartitions": str(count), **kind}
        )
        assert [split.topic_id for split in plan_splits(chosen)] == [topic_id] * count


def test_splits_of_one_process_share_a_consumer(cluster: EmbeddedCluster, topic: str) -> None:
    produce(cluster, topic, [b"x"] * 10)
    chosen = options(cluster, topic, **{"kafka.client.id": topic})
    assert offsets(Split(topic, 0, 0, 5), chosen) == list(range(5))
    (kept,) = [consumer for key, consumer in consumers._idle if topic in key]
    batches = read_split(Split(topic, 0, 5, 10), chosen)
    next(batches)
    assert kept not in [consumer for _, consumer in consumers._idle]
    batches.close()  # type: ignore[attr-defined]  # as for a limit: given back all the same
    assert [consumer for key, consumer in consumers._idle if topic in key] == [kept]
    assert kept.assignment() == []
