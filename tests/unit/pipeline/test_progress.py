"""pipeline.source.admission and pipeline.source.progress: what each batch of a stream takes, on the embedded broker."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_core import Consumer, Producer, TopicPartition, Uuid
from kafka_core.admin import AdminClient
from kafka_core.broker import EmbeddedCluster
from kafka_core.protocol.messages.metadata import MetadataRequest
from pipeline.errors import OptionError, PlanError
from pipeline.source.admission import Limits, Waiting, lag_of, shared_out
from pipeline.source.formats import plan_read
from pipeline.source.options import ReadOptions
from pipeline.source.progress import Progress
from pipeline.source.splits import TOPIC_IDS, Split

UNKNOWN_TOPIC_OR_PART = 3
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

    def start(*, told_starts: bool = True, **options: str) -> Progress:
        given = {"kafka.bootstrap.servers": cluster.bootstrap_servers, **options}
        made.append(Progress(plan_read(ReadOptions.parse(given)), 0.0, told_starts=told_starts))
        return made[-1]

    yield start
    for progress in made:
        progress.close()


def plain(point: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The offsets of a point, without ids."""
    return {topic: parts for topic, parts in point.items() if topic != TOPIC_IDS}


def remake(cluster: EmbeddedCluster, topic: str, count: int) -> None:
    """Deletes the topic, and makes another one of its name with so many records."""
    cluster.delete_topic(topic)
    cluster.create_topic(topic, 2)
    produce(cluster, topic, count)


def test_a_stream_begins_at_the_end_unless_it_is_told_otherwise(cluster: EmbeddedCluster, topic: str, begin) -> None:  # type: ignore[no-untyped-def]
    produce(cluster, topic, 3)
    assert plain(begin(subscribe=topic).initial()) == {topic: {"0": 3, "1": 0}}
    assert plain(begin(subscribe=topic, startingOffsets="earliest").initial()) == {topic: {"0": 0, "1": 0}}


def test_limits_hold_only_for_triggers_that_know_them(cluster: EmbeddedCluster, topic: str, begin) -> None:  # type: ignore[no-untyped-def]
    produce(cluster, topic, 90)
    produce(cluster, topic, 10, 1)
    progress = begin(subscribe=topic, maxOffsetsPerTrigger="20")
    start = {topic: {"0": 0, "1": 0}}
    assert plain(progress.next_end(start, bounded=True, now_s=1.0)) == {topic: {"0": 18, "1": 2}}
    assert plain(progress.next_end(start, bounded=False, now_s=1.0)) == {topic: {"0": 90, "1": 10}}
    assert progress.reported() == {topic: {"0": 90, "1": 10}}


def test_a_batch_is_bounded_by_bytes_about(cluster: EmbeddedCluster, topic: str, begin) -> None:  # type: ignore[no-untyped-def]
    produce(cluster, topic, 100, size=1_000)
    progress = begin(subscribe=topic, maxBytesPerTrigger="10000")
    end = progress.next_end({topic: {"0": 0, "1": 0}}, bounded=True, now_s=1.0)
    assert plain(end) == {topic: {"0": 10, "1": 0}}


def test_a_small_batch_waits(cluster: EmbeddedCluster, topic: str, begin) -> None:  # type: ignore[no-untyped-def]
    produce(cluster, topic, 5)
    progress = begin(subscribe=topic, minOffsetsPerTrigger="10", maxTriggerDelay="1m")
    start = {topic: {"0": 0, "1": 0}}
    assert progress.next_end(start, bounded=True, now_s=30.0) == start
    assert plain(progress.next_end(start, bounded=True, now_s=61.0)) == {topic: {"0": 5, "1": 0}}


def test_available_now_ends_at_what_was_there(cluster: EmbeddedCluster, topic: str, begin) -> None:  # type: ignore[no-untyped-def]
    produce(cluster, topic, 5)
    progress = begin(subscribe=topic, maxOffsetsPerTrigger="3", minOffsetsPerTrigger="2")
    progress.stop_at_what_is_there()
    produce(cluster, topic, 50)
    at: dict[str, dict[str, Any]] = {topic: {"0": 0, "1": 0}}
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
    assert plain(start) == {topic: {"0": 2, "1": 0}}
    assert progress.next_end(start, bounded=True, now_s=0.0) == start
    cluster.delete_topic(f"{topic}-later")


def test_new_partitions_and_topics_are_picked_up(cluster: EmbeddedCluster, topic: str, begin) -> None:  # type: ignore[no-untyped-def]
    progress = begin(subscribePattern=f"{topic}.*")
    start = progress.initial()
    other = f"{topic}-later"
    cluster.create_topic(other, 1)
    produce(cluster, other, 4)
    end = progress.next_end(start, bounded=True, now_s=0.0)
    assert plain(end) == {topic: {"0": 0, "1": 0}, other: {"0": 4}}
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
    assert plain(end) == {topic: {"0": 4, "1": 0}}
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
        assert plain(each.initial()) == each.next_end(start, bounded=True, now_s=0.0) == start
    remake(cluster, topic, count)
    with pytest.raises(PlanError, match=r"was deleted and created again.*new checkpoint.*failOnDataLoss"):
        strict.next_end(start, bounded=True, now_s=0.0)
    end = progress.next_end(start, bounded=True, now_s=0.0)
    assert plain(end) == {topic: {"0": count, "1": 0}}
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
@pytest.mark.parametrize("count", [2, 4, 9])
def test_a_topic_that_was_made_anew_while_the_query_was_down_is_known_by_its_id(  # type: ignore[no-untyped-def]
    cluster: EmbeddedCluster, topic: str, begin, count: int, available_now: bool
) -> None:
    """The ids are in the checkpoint; however many records the new topic has, none is passed over or read twice."""
    produce(cluster, topic, 4)
    first = begin(subscribe=topic, startingOffsets="earliest")
    checkpoint = json.loads(json.dumps(first.next_end(first.initial(), bounded=True, now_s=0.0)))
    assert plain(checkpoint) == {topic: {"0": 4, "1": 0}}
    remake(cluster, topic, count)
    strict, lenient = begin(subscribe=topic), begin(subscribe=topic, failOnDataLoss="false")
    if available_now:
        strict.stop_at_what_is_there()
        lenient.stop_at_what_is_there()
    with pytest.raises(PlanError, match=r"was deleted and created again.*new checkpoint.*failOnDataLoss"):
        strict.next_end(checkpoint, bounded=True, now_s=0.0)
    end = lenient.next_end(checkpoint, bounded=True, now_s=0.0)
    assert end != checkpoint  # for Spark something has happened, even if the offsets are the same
    (split,) = lenient.splits(checkpoint, end)
    assert split == Split(topic, 0, 0, count)
    assert split.topic_id == lenient._cluster.topic_ids[topic]
    assert lenient.next_end(end, bounded=True, now_s=0.0) == end
    (again,) = begin(subscribe=topic).splits(checkpoint, end)  # a batch that was planned, after a restart
    assert (again, again.topic_id) == (split, split.topic_id)


def test_ids_need_not_be_kept_and_need_not_be_there(cluster: EmbeddedCluster, topic: str, begin) -> None:  # type: ignore[no-untyped-def]
    """A checkpoint of an earlier version or of Spark's own source has none; with the option off none is looked at."""
    produce(cluster, topic, 4)
    spark: dict[str, dict[str, Any]] = {topic: {"0": 4, "1": 0}}
    kept = begin(subscribe=topic).initial()
    assert kept[TOPIC_IDS].keys() == {topic}
    old, off = begin(subscribe=topic), begin(subscribe=topic, checkTopicIds="false")
    assert off.initial() == spark
    for each in (old, off):
        assert each.next_end(spark, bounded=True, now_s=0.0) == spark  # no batch for ids alone
    assert off.next_end(kept, bounded=True, now_s=0.0) == spark
    produce(cluster, topic, 1)
    assert old.next_end(spark, bounded=True, now_s=0.0) == {**kept, topic: {"0": 5, "1": 0}}
    remake(cluster, topic, 6)
    moved = begin(subscribe=topic, checkTopicIds="false")
    end = moved.next_end(kept, bounded=True, now_s=0.0)
    assert end == {topic: {"0": 6, "1": 0}}
    assert moved.splits(kept, end) == [Split(topic, 0, 4, 6)]


def test_offsets_that_are_none_are_told(begin) -> None:  # type: ignore[no-untyped-def]
    for text in ({"t": 5}, {"t": {"0": None}}, {TOPIC_IDS: {"t": "short"}}, {TOPIC_IDS: {"t": 5}}):
        with pytest.raises(PlanError, match="the checkpoint's offsets can't be read"):
            begin(subscribe="t").splits({}, text)


@pytest.mark.parametrize("strict", [False, True])
def test_without_starts_losses_are_found_between_the_points_of_a_batch(  # type: ignore[no-untyped-def]
    cluster: EmbeddedCluster, topic: str, begin, strict: bool
) -> None:
    """Before Spark 4.2 `latestOffset` is not told where the batch begins."""
    produce(cluster, topic, 4)
    cluster.create_topic(f"{topic}-late", 1)
    produce(cluster, f"{topic}-late", 3)
    with AdminClient({"bootstrap.servers": cluster.bootstrap_servers}) as admin:
        for answer in admin.delete_records([TopicPartition(f"{topic}-late", 0, 2)]).values():
            answer.result(60)
    progress = begin(subscribePattern=f"^{topic}", failOnDataLoss=str(strict).lower(), told_starts=False)
    end = progress.next_end(None, bounded=False, now_s=0.0)
    ids = {topic: str(Uuid(1, 2))}
    late = {f"{topic}-late": end[f"{topic}-late"]}
    for start, told, expected in (
        ({topic: {"0": 2, "1": 0}, **late}, None, [(0, 2, 4)]),
        ({topic: {"0": 9, "1": 0}, **late}, r"ends at offset 4, but was read to 9", [(0, 0, 4)]),
        ({topic: {"0": 4, "1": 0}, **late, TOPIC_IDS: ids}, r"was deleted and created again", [(0, 0, 4)]),
        ({topic: {"0": 4, "1": 0, "2": 1}, **late}, r"\[2\] is gone", []),
        ({topic: {"0": 4, "1": 0}}, r"late\[0\] is new, and its first offset is 2", []),
    ):
        if strict and told is not None:
            with pytest.raises(PlanError, match=told):
                progress.splits(start, end)
        else:
            found = [split for split in progress.splits(start, end) if split.topic == topic]
            assert [(split.partition, split.start, split.end) for split in found] == expected
    cluster.delete_topic(f"{topic}-late")


@pytest.mark.parametrize("deleted", [2, 5], ids=["some", "all"])
@pytest.mark.parametrize("told_starts", [True, False])
def test_what_a_new_partition_loses_before_its_splits_are_made_is_a_loss(  # type: ignore[no-untyped-def]
    cluster: EmbeddedCluster, topic: str, begin, deleted: int, told_starts: bool
) -> None:
    """Retention moves between the plan of a batch and its splits; the query may have been down in between."""
    start, late = {topic: {"0": 0, "1": 0}}, f"{topic}-late"
    cluster.create_topic(late, 1)
    produce(cluster, late, 5)
    end = begin(subscribePattern=f"^{topic}").next_end(start, bounded=True, now_s=0.0)
    with AdminClient({"bootstrap.servers": cluster.bootstrap_servers}) as admin:
        for answer in admin.delete_records([TopicPartition(late, 0, deleted)]).values():
            answer.result(60)
    options = {"subscribePattern": f"^{topic}", "told_starts": told_starts}
    with pytest.raises(PlanError, match=rf"late\[0\] is new, and its first offset is {deleted}"):
        begin(**options).splits(start, end)
    left = [Split(late, 0, deleted, 5)] if deleted < 5 else []
    assert begin(**options, failOnDataLoss="false").splits(start, end) == left
    cluster.delete_topic(late)


@pytest.mark.parametrize("strict", ["true", "false"])
@pytest.mark.parametrize("way", ["subscribe", "subscribePattern", "assign"])
def test_a_topic_that_a_broker_does_not_know_for_a_moment_is_not_gone(  # type: ignore[no-untyped-def]
    cluster: EmbeddedCluster, topic: str, begin, way: str, strict: str
) -> None:
    """It would be read again from its first record when it is back."""
    named = {"subscribe": topic, "subscribePattern": re.escape(topic), "assign": f'{{"{topic}": [0, 1]}}'}
    progress = begin(**{way: named[way]}, failOnDataLoss=strict)
    start = progress.initial()
    produce(cluster, topic, 4)
    rule = cluster.intercept(MetadataRequest, lambda request, context: UNKNOWN_TOPIC_OR_PART, times=2)
    end = progress.next_end(start, bounded=True, now_s=0.0)
    assert rule.seen == 2
    assert plain(end) == {topic: {"0": 4, "1": 0}}


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
    assert plain(lenient.next_end(start, bounded=True, now_s=0.0)) == {topic: {"0": 0, "1": 0}}


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
