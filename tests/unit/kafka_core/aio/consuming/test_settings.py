"""Properties as the consumer's parts want them, and checks of arguments."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_core.aio.consuming.settings import (
    MAX_CONSUME,
    callbacks_of,
    check_count,
    checked,
    chosen,
    fetch_settings,
    group_settings,
)
from kafka_core.aio.consuming.status import lag_of, partition_statistics
from kafka_core.config import Config, Role, parse
from kafka_core.engine.consuming.subscription import PartitionState
from kafka_core.engine.metadata import ClusterView, PartitionView, TopicView
from kafka_core.errors import KafkaError, KafkaException
from kafka_core.kernels import Message
from kafka_core.model import OFFSET_INVALID, TopicPartition

LEAST = {"bootstrap.servers": "h:1", "group.id": "g"}


def config(**more: Any) -> Config:
    conf = {
        "bootstrap.servers": "h:1",
        "group.id": "g",
        **{name.replace("_", "."): value for name, value in more.items()},
    }
    return parse(conf, Role.CONSUMER)


def test_fetch_settings_have_the_defaults_of_the_table() -> None:
    found = fetch_settings(config())
    assert (found.max_wait_ms, found.min_bytes, found.max_bytes) == (500, 1, 52_428_800)
    assert (found.read_committed, found.check_crcs, found.partition_eof, found.reset) == (True, True, False, -1)


@pytest.mark.parametrize(("word", "reset"), [("earliest", -2), ("largest", -1), ("error", None)])
def test_the_reset_policy_is_a_timestamp_or_none(word: str, reset: int | None) -> None:
    assert fetch_settings(config(auto_offset_reset=word)).reset == reset


def test_group_settings_are_in_seconds() -> None:
    found = group_settings(config(session_timeout_ms=7000, group_instance_id="i", client_rack="r"))
    assert (found.session_timeout_s, found.instance_id, found.rack) == (7.0, "i", "r")
    assert [assignor.name for assignor in found.assignors] == ["range", "roundrobin"]


def test_callbacks_come_from_the_configuration() -> None:
    def note(*_: Any) -> None:
        """A callback."""

    found = callbacks_of(parse({**LEAST, "error_cb": note, "on_commit": note}, Role.CONSUMER))
    assert (found.error_cb, found.on_commit, found.stats_cb) == (note, note, None)


@pytest.mark.parametrize("count", [-1, MAX_CONSUME + 1])
def test_counts_have_bounds(count: int) -> None:
    check_count(MAX_CONSUME)
    with pytest.raises(ValueError, match="num_messages"):
        check_count(count)


@pytest.mark.parametrize("wrong", ["t", 5, [1], TopicPartition("t", 0), None])
def test_partitions_are_a_list_of_them(wrong: Any) -> None:
    assert checked((TopicPartition("t", 0),)) == [TopicPartition("t", 0)]
    with pytest.raises(TypeError):
        checked(wrong)


def test_a_message_stands_for_the_offset_behind_it() -> None:
    message = Message(topic="t", partition=3, offset=9, leader_epoch=4)
    found = chosen(message, None, "commit")
    assert found is not None
    assert [(item.topic, item.partition, item.offset, item.leader_epoch) for item in found] == [("t", 3, 10, 4)]
    assert chosen(None, None, "commit") is None
    assert chosen(None, [TopicPartition("t", 0, 1)], "commit") == [TopicPartition("t", 0)]
    with pytest.raises(ValueError, match="exclusive"):
        chosen(message, [], "commit")


@pytest.mark.parametrize("offset", [None, -1, OFFSET_INVALID])
def test_a_message_without_an_offset_stands_for_none(offset: int | None) -> None:
    found = chosen(Message(topic="t", partition=3, offset=offset), None, "commit")
    assert found is not None
    assert [(item.partition, item.offset) for item in found] == [(3, OFFSET_INVALID)]


@pytest.mark.parametrize(
    ("message", "says"),
    [
        (Message(error=KafkaError(KafkaError._PARTITION_EOF, "the end")), "Cannot store .* with error: 'the end'"),
        (Message("t", 0, 5, error=KafkaError(3, "gone")), "Cannot store .* with error: 'gone'"),
        (Message(offset=5), "no topic or partition"),
        (Message("t", offset=5), "no topic or partition"),
    ],
)
def test_a_message_that_stands_for_no_position_is_refused(message: Message, says: str) -> None:
    with pytest.raises(KafkaException, match=says) as caught:
        chosen(message, None, "store")
    assert caught.value.code == KafkaError._INVALID_ARG


def test_values_that_are_no_message_are_refused() -> None:
    with pytest.raises(TypeError, match="expected a Message, not str"):
        chosen("t", None, "commit")


# ---- lag


VIEW = ClusterView(topics={"t": TopicView("t", partitions={0: PartitionView(0, 1, 2, (1,), (1,))})})


@pytest.mark.parametrize(("position", "end", "lag"), [(-1001, 5, None), (3, -1001, None), (3, 5, 2), (7, 5, 0)])
def test_lag_is_what_is_left_to_the_end(position: int, end: int, lag: int | None) -> None:
    state = PartitionState("t", 0, position=position, high_watermark=end)
    assert lag_of(state) == lag
    assert partition_statistics(state, VIEW)["consumer_lag"] == (-1 if lag is None else lag)
    state.stored = position
    assert partition_statistics(state, VIEW)["consumer_lag_stored"] == (-1 if lag is None else end - position)
