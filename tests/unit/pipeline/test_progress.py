"""pipeline.source.admission and pipeline.source.progress: what each batch of a stream takes, on the embedded broker."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_core import Consumer, Producer, TopicPartition
from kafka_core.broker import EmbeddedCluster
from pipeline.errors import OptionError, PlanError
from pipeline.source.admission import Limits, Waiting, lag_of, shared_out
from pipeline.source.formats import plan_read
from pipeline.source.options import ReadOptions
from pipeline.source.progress import Progress
from pipeline.source.splits import Split

PLACES = st.dictionaries(
    st.tuples(st.sampled_from("tu"), st.integers(0, 4)),
    st.tuples(st.integers(0, 100), st.integers(0, 10_000)),
    max_size=8,
)


@given(PLACES, st.integers(1, 20_000))
def test_a_limit_is_shared_out_and_nobody_starves(held: dict[tuple[str, int], tuple[int, int]], limit: int) -> None:
    start = {place: first for place, (first, _) in held.items()}
    end = {place: first + lag for place, (first, lag) in held.items()}
    taken = shared_out(start, end, limit)
    lags = lag_of(start, end)
    assert taken.keys() == end.keys()
    assert all(start[place] <= taken[place] <= end[place] for place in end)
    assert all(taken[place] > start[place] for place in lags)
    starved = sum(limit * lag < sum(lags.values()) for lag in lags.values())  # these get one, above the limit
    assert sum(lag_of(start, taken).values()) <= limit + starved
    if sum(lags.values()) <= limit:
        assert taken == end


def test_shares_are_as_large_as_the_lags() -> None:
    start, end = {("t", 0): 0, ("t", 1): 100}, {("t", 0): 900, ("t", 1): 200}
    assert shared_out(start, end, 100) == {("t", 0): 90, ("t", 1): 110}
    assert shared_out(start, end, 1_000, {("t", 0): 10.0, ("t", 1): 10.0}) == {("t", 0): 90, ("t", 1): 110}


def test_a_minimum_is_waited_for_but_not_for_ever() -> None:
    waiting = Waiting(Limits(least=10, delay_s=60.0), 0.0)
    few, many = {("t", 0): 5}, {("t", 0): 10}
    assert not waiting.is_due({("t", 0): 0}, few, 59.0)
    assert waiting.is_due({("t", 0): 0}, many, 59.0)
    assert not waiting.is_due({("t", 0): 0}, few, 118.0)
    assert waiting.is_due({("t", 0): 0}, few, 119.0)


# ---- with a broker


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(auto_create_topics=False) as started:
        yield started


@pytest.fixture
def topic(cluster: EmbeddedCluster, request: pytest.FixtureRequest) -> Iterator[str]:
    name = re.sub(r"[^\w.-]", "_", request.node.name)
    cluster.create_topic(name, 2)
    yield name
    if name in cluster.state.topics:
        cluster.delete_topic(name)


def produce(cluster: EmbeddedCluster, topic: str, count: int, partition: int = 0, size: int = 1) -> None:
    with Producer({"bootstrap.servers": cluster.bootstrap_servers}) as producer:
        for _ in range(count):
            producer.produce(topic, b"x" * size, partition=partition)
        assert producer.flush(60) == 0


@pytest.fixture
def begin(cluster: EmbeddedCluster) -> Iterator[object]:
    made: list[Progress] = []

    def start(**options: str) -> Progress:
        given = {"kafka.bootstrap.servers": cluster.bootstrap_servers, **options}
        made.append(Progress(plan_read(ReadOptions.parse(given)), 0.0))
        return made[-1]

    yield start
    for progress in made:
        progress.close()


def test_a_stream_begins_at_the_end_unless_it_is_told_otherwise(cluster: EmbeddedCluster, topic: str, begin) -> None:  # type: ignore[no-untyped-def]
    produce(cluster, topic, 3)
    assert begin(subscribe=topic).initial() == {topic: {"0": 3, "1": 0}}
    assert begin(subscribe=topic, startingOffsets="earliest").initial() == {topic: {"0": 0, "1": 0}}


def test_limits_hold_only_for_triggers_that_know_them(cluster: EmbeddedCluster, topic: str, begin) -> None:  # type: ignore[no-untyped-def]
    produce(cluster, topic, 90)
    produce(cluster, topic, 10, 1)
    progress = begin(subscribe=topic, maxOffsetsPerTrigger="20")
    start = {topic: {"0": 0, "1": 0}}
    assert progress.next_end(start, bounded=True, now_s=1.0) == {topic: {"0": 18, "1": 2}}
    assert progress.next_end(start, bounded=False, now_s=1.0) == {topic: {"0": 90, "1": 10}}
    assert progress.reported() == {topic: {"0": 90, "1": 10}}


def test_a_batch_is_bounded_by_bytes_about(cluster: EmbeddedCluster, topic: str, begin) -> None:  # type: ignore[no-untyped-def]
    produce(cluster, topic, 100, size=1_000)
    progress = begin(subscribe=topic, maxBytesPerTrigger="10000")
    end = progress.next_end({topic: {"0": 0, "1": 0}}, bounded=True, now_s=1.0)
    assert end == {topic: {"0": 10, "1": 0}}


def test_a_small_batch_waits(cluster: EmbeddedCluster, topic: str, begin) -> None:  # type: ignore[no-untyped-def]
    produce(cluster, topic, 5)
    progress = begin(subscribe=topic, minOffsetsPerTrigger="10", maxTriggerDelay="1m")
    start = {topic: {"0": 0, "1": 0}}
    assert progress.next_end(start, bounded=True, now_s=30.0) == start
    assert progress.next_end(start, bounded=True, now_s=61.0) == {topic: {"0": 5, "1": 0}}


def test_available_now_ends_at_what_was_there(cluster: EmbeddedCluster, topic: str, begin) -> None:  # type: ignore[no-untyped-def]
    produce(cluster, topic, 5)
    progress = begin(subscribe=topic, maxOffsetsPerTrigger="3", minOffsetsPerTrigger="2")
    progress.stop_at_what_is_there()
    produce(cluster, topic, 50)
    at: dict[str, dict[str, int]] = {topic: {"0": 0, "1": 0}}
    ends = []
    for _ in range(3):
        at = progress.next_end(at, bounded=True, now_s=0.0)
        ends.append(at[topic]["0"])
    assert ends == [3, 5, 5]


def test_what_comes_between_the_end_and_the_beginning_of_available_now_is_no_loss(  # type: ignore[no-untyped-def]
    cluster: EmbeddedCluster, topic: str, begin
) -> None:
    produce(cluster, topic, 2)
    progress = begin(subscribePattern=f"{topic}.*")
    progress.stop_at_what_is_there()
    produce(cluster, topic, 3)
    cluster.create_topic(f"{topic}-later", 1)
    start = progress.initial()  # Spark asks for it after the end
    assert start == {topic: {"0": 2, "1": 0}}
    assert progress.next_end(start, bounded=True, now_s=0.0) == start
    cluster.delete_topic(f"{topic}-later")


def test_new_partitions_and_topics_are_picked_up(cluster: EmbeddedCluster, topic: str, begin) -> None:  # type: ignore[no-untyped-def]
    progress = begin(subscribePattern=f"{topic}.*")
    start = progress.initial()
    other = f"{topic}-later"
    cluster.create_topic(other, 1)
    produce(cluster, other, 4)
    end = progress.next_end(start, bounded=True, now_s=0.0)
    assert end == {topic: {"0": 0, "1": 0}, other: {"0": 4}}
    assert progress.splits(start, end) == [Split(other, 0, 0, 4)]
    assert progress.splits(end, end) == []
    cluster.delete_topic(other)


TRIGGERS = pytest.mark.parametrize("available_now", [False, True], ids=["always", "available-now"])


@TRIGGERS
def test_offsets_that_went_back_are_a_loss(  # type: ignore[no-untyped-def]
    cluster: EmbeddedCluster, topic: str, begin, available_now: bool
) -> None:
    produce(cluster, topic, 4)
    start = {topic: {"0": 9, "1": 0}}
    strict, progress = begin(subscribe=topic), begin(subscribe=topic, failOnDataLoss="false")
    if available_now:
        strict.stop_at_what_is_there()
        progress.stop_at_what_is_there()
    with pytest.raises(
        PlanError, match=rf"{re.escape(topic)}\[0\] ends at offset 4, but was read to 9.*failOnDataLoss"
    ):
        strict.next_end(start, bounded=True, now_s=0.0)
    end = progress.next_end(start, bounded=True, now_s=0.0)
    assert end == {topic: {"0": 4, "1": 0}}
    assert progress.splits(start, end) == [Split(topic, 0, 0, 4)]
    assert progress.next_end(end, bounded=True, now_s=0.0) == end


@pytest.mark.parametrize("count", [2, 4, 9])
def test_a_topic_that_was_made_anew_is_a_loss_and_is_read_from_its_beginning(  # type: ignore[no-untyped-def]
    cluster: EmbeddedCluster, topic: str, begin, count: int
) -> None:
    produce(cluster, topic, 4)
    strict, progress = begin(subscribe=topic), begin(subscribePattern=topic, failOnDataLoss="false")
    start = {topic: {"0": 4, "1": 0}}
    for each in (strict, progress):
        assert each.initial() == each.next_end(start, bounded=True, now_s=0.0) == start
    cluster.delete_topic(topic)
    cluster.create_topic(topic, 2)
    produce(cluster, topic, count)
    with pytest.raises(PlanError, match=r"was deleted and created again.*new checkpoint.*failOnDataLoss"):
        strict.next_end(start, bounded=True, now_s=0.0)
    end = progress.next_end(start, bounded=True, now_s=0.0)
    assert end == {topic: {"0": count, "1": 0}}
    if count == 4:  # for Spark nothing has happened; the next record makes a batch of all
        assert end == start
        produce(cluster, topic, 1)
        end = progress.next_end(start, bounded=True, now_s=0.0)
    for _ in range(2):  # Spark may ask twice
        (split,) = progress.splits(start, end)
        assert split == Split(topic, 0, 0, end[topic]["0"])
        assert split.topic_id == progress._cluster.topic_ids[topic]
    produce(cluster, topic, 9)  # beyond the offset at which the former topic ended
    read = end[topic]["0"]
    while read < count + 9:
        start, end = end, {topic: {"0": read + 1, "1": 0}}
        progress.next_end(start, bounded=True, now_s=0.0)
        assert progress.splits(start, end) == [Split(topic, 0, read, read + 1)]
        read += 1


@TRIGGERS
def test_a_topic_that_is_gone_is_a_loss(  # type: ignore[no-untyped-def]
    cluster: EmbeddedCluster, topic: str, begin, available_now: bool
) -> None:
    start = {topic: {"0": 0, "1": 0}, "gone": {"0": 3}}
    strict, lenient = begin(subscribePattern=f"{topic}|gone"), begin(subscribe=f"{topic},gone", failOnDataLoss="false")
    if available_now:
        strict.stop_at_what_is_there()
        lenient.stop_at_what_is_there()
    with pytest.raises(PlanError, match=r"gone\[0\] is gone"):
        strict.next_end(start, bounded=True, now_s=0.0)
    assert lenient.next_end(start, bounded=True, now_s=0.0) == {topic: {"0": 0, "1": 0}}


def test_progress_is_committed_to_a_group(cluster: EmbeddedCluster, topic: str, begin) -> None:  # type: ignore[no-untyped-def]
    begin(subscribe=topic, commitProgressToGroup="lag-tools").done({topic: {"0": 7, "1": 2}})
    with Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "lag-tools"}) as consumer:
        found = consumer.committed([TopicPartition(topic, 0), TopicPartition(topic, 1)], timeout=60)
    assert [place.offset for place in found] == [7, 2]


def test_offsets_are_sorted_so_that_equal_ones_are_equal_text(cluster: EmbeddedCluster, begin) -> None:  # type: ignore[no-untyped-def]
    cluster.create_topic("b-many", 11)
    cluster.create_topic("a-few", 1)
    text = json.dumps(begin(subscribe="b-many,a-few").initial())
    assert text.index("a-few") < text.index("b-many")
    assert text.index('"9"') < text.index('"10"')


def test_an_end_is_for_batch_reads(begin) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(OptionError, match="a stream has no end"):
        begin(subscribe="t", endingOffsets="latest")
