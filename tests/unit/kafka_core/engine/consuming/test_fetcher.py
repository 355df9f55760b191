"""Planning fetches and reading their responses: sessions, epochs, hints, resets, corruption, transactions, ends."""

from __future__ import annotations

import contextlib
import random
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from kafka_core.engine.consuming.aborted import AbortedFilter
from kafka_core.engine.consuming.fetch_queue import FetchQueue, Marks
from kafka_core.engine.consuming.fetcher import Fetcher, FetchSettings, PlannedFetch, pieces
from kafka_core.engine.consuming.subscription import Assignment, PartitionState, Phase
from kafka_core.engine.metadata import BrokerAddress, ClusterView, PartitionView, TopicView
from kafka_core.engine.retry import Backoff
from kafka_core.errors import KafkaError, KafkaException
from kafka_core.model import OFFSET_END, OFFSET_INVALID, OFFSET_STORED, TopicPartition
from kafka_core.protocol.messages.fetch import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)
from kafka_core.records import Codec, ControlType, NewRecord, build_batch, control_key, control_value, open_batches

TOPIC_ID = UUID(int=7)


def view_of(leaders: dict[int, int], epoch: int = 1, topic_id: UUID = TOPIC_ID) -> ClusterView:
    partitions = {number: PartitionView(number, leader, epoch) for number, leader in leaders.items()}
    brokers = {node: BrokerAddress(node, "h", 9092 + node) for node in (1, 2)}
    return ClusterView(brokers=brokers, topics={"t": TopicView("t", topic_id, partitions)})


class Rig:
    """A fetcher with everything around it; `events` are (code, text, offset)."""

    def __init__(self, *starts: int, marks: Marks | None = None, **settings: Any) -> None:
        self.assignment = Assignment()
        self.states = self.assignment.add([TopicPartition("t", number, start) for number, start in enumerate(starts)])
        self.queue = FetchQueue(marks or Marks(1000, 10**6), contextlib.nullcontext(), lambda: None, lambda: None)
        self.events: list[tuple[int, str, int]] = []
        backoff = Backoff(100, 1000, random.Random(1))
        self.fetcher = Fetcher(
            FetchSettings(**settings), self.assignment, self.queue, open_batches, self.event, backoff
        )
        self.view = view_of(dict.fromkeys(range(len(starts)), 1))
        self.now_s = 100.0

    def event(self, state: PartitionState, error: KafkaError, offset: int) -> tuple[int, str, int]:
        self.events.append((error.code(), error.str(), offset))
        return self.events[-1]

    def plan(self, busy: tuple[int, ...] = ()) -> list[PlannedFetch]:
        return self.fetcher.plan(self.view, self.now_s, busy)[0]

    def one(self) -> PlannedFetch:
        (planned,) = self.plan()
        return planned

    def beside(self, *in_flight: PlannedFetch) -> list[PlannedFetch]:
        return self.fetcher.plan_beside(self.view, self.now_s, {item.node_id: item for item in in_flight})

    def answer_beside(self, planned: PlannedFetch, *rows: PartitionData, **top: Any) -> Any:
        topic = FetchableTopicResponse(topic_id=TOPIC_ID, partitions=list(rows))
        return self.fetcher.received_beside(planned, FetchResponse(responses=[topic], **top), self.now_s)

    def answer(self, planned: PlannedFetch, *rows: PartitionData, **top: Any) -> Any:
        topic = FetchableTopicResponse(topic_id=TOPIC_ID, partitions=list(rows))
        response = FetchResponse(responses=[topic], **{"session_id": 9, **top})
        return self.fetcher.received(planned, response, self.now_s)

    def take(self) -> list[Any]:
        out: list[Any] = []
        self.queue.take(out, 10**6)
        return [item if isinstance(item, tuple) else (item.partition(), item.offset(), item.value()) for item in out]


def records(base: int, *values: bytes, **options: Any) -> memoryview:
    rows = [NewRecord(value, timestamp_ms=1) for value in values]
    return memoryview(build_batch(rows, base_offset=base, partition_leader_epoch=1, **options))


def marker(base: int, kind: ControlType, producer_id: int) -> memoryview:
    row = NewRecord(control_value(0), control_key(kind), timestamp_ms=1)
    return memoryview(
        build_batch(
            [row], base_offset=base, producer_id=producer_id, producer_epoch=0, transactional=True, control=True
        )
    )


def row(partition: int = 0, *parts: memoryview, end: int = 100, **fields: Any) -> PartitionData:
    data = memoryview(b"".join(parts)) if parts else None
    defaults = {"high_watermark": end, "last_stable_offset": end, "log_start_offset": 0}
    return PartitionData(partition_index=partition, records=data, **{**defaults, **fields})


# ---- planning


def test_a_first_request_names_everything_and_later_ones_only_changes() -> None:
    rig = Rig(0, 10)
    planned = rig.one()
    assert (planned.request.session_id, planned.request.session_epoch) == (0, 0)
    assert [(item.partition, item.fetch_offset) for item in planned.request.topics[0].partitions] == [(0, 0), (1, 10)]
    assert planned.by_topic_id
    rig.answer(planned, row(0, records(0, b"a", b"b")), row(1))
    following = rig.one().request
    assert (following.session_id, following.session_epoch) == (9, 1)
    assert [(item.partition, item.fetch_offset) for item in following.topics[0].partitions] == [(0, 2)]


def test_a_broker_with_a_request_in_flight_is_left_alone() -> None:
    rig = Rig(0)
    assert rig.plan(busy=(1,)) == []


def test_each_leader_gets_its_partitions() -> None:
    rig = Rig(0, 0)
    rig.view = view_of({0: 1, 1: 2})
    assert {item.node_id: list(item.session.wanted) for item in rig.plan()} == {1: [("t", 0)], 2: [("t", 1)]}


def test_without_a_leader_the_topic_is_named() -> None:
    rig = Rig(0)
    rig.view = ClusterView()
    assert rig.fetcher.plan(rig.view, rig.now_s, ()) == ([], {"t"}, None)


def test_paused_and_revoked_partitions_are_forgotten_by_the_session() -> None:
    rig = Rig(0, 0, 0)
    rig.answer(rig.one(), row(0), row(1), row(2))
    rig.queue.pause(rig.states[0])
    rig.assignment.remove([("t", 1)])
    request = rig.one().request
    assert request.topics == []
    assert sorted(request.forgotten_topics_data[0].partitions) == [0, 1]


def test_a_topic_made_anew_is_another_topic_for_the_session() -> None:
    rig = Rig(0)
    rig.answer(rig.one(), row(0))
    rig.view = view_of({0: 1}, topic_id=UUID(int=8))
    assert rig.plan() == [], "where the new topic begins must be found out first"
    rig.states[0].found(0)
    request = rig.one().request
    assert [topic.topic_id for topic in request.topics] == [UUID(int=8)]
    assert [topic.topic_id for topic in request.forgotten_topics_data] == [TOPIC_ID]


def test_positions_and_requests_of_a_deleted_topic_do_not_apply_to_the_new_one() -> None:
    rig = Rig(40, 0)
    first, second = rig.states
    rig.answer(rig.one(), row(0, records(40, b"old")), row(1, records(0, b"old")))
    first.stored = first.committed = 41
    first.leader_epoch = 7
    out = rig.one()
    rig.view = view_of({0: 1, 1: 1}, epoch=0, topic_id=UUID(int=8))
    assert rig.plan() == []
    rig.answer(out, row(0, records(41, b"late")), row(1, error_code=KafkaError.OFFSET_OUT_OF_RANGE))
    assert rig.take() == [], "records of the old topic, and what is queued of it"
    for state in rig.states:
        assert (state.phase, state.lookup_timestamp, state.next_fetch_offset) == (Phase.LOOKUP, -2, OFFSET_INVALID)
        assert (state.stored, state.committed, state.leader_epoch) == (OFFSET_INVALID, OFFSET_INVALID, -1)
    first.found(0)
    second.found(0)
    wanted = rig.one().request.topics
    assert [(topic.topic_id, [item.fetch_offset for item in topic.partitions]) for topic in wanted] == [
        (UUID(int=8), [0, 0])
    ]


def test_a_broker_that_lags_behind_and_names_the_old_topic_makes_nobody_read_twice() -> None:
    rig = Rig(0)
    rig.answer(rig.one(), row(0, records(0, b"a", b"b")))
    rig.take()
    rig.view = view_of({0: 1}, topic_id=UUID(int=6))
    rig.plan()
    rig.view = view_of({0: 1}, topic_id=TOPIC_ID)
    assert rig.one().request.topics[0].partitions[0].fetch_offset == 2


@pytest.mark.parametrize(
    ("start", "phase", "timestamp"), [(OFFSET_STORED, Phase.COMMITTED, 0), (OFFSET_END, Phase.LOOKUP, -1)]
)
def test_a_start_that_was_not_found_yet_is_still_looked_for_in_the_new_topic(
    start: int, phase: Phase, timestamp: int
) -> None:
    rig = Rig(start)
    rig.plan()
    version = rig.states[0].version
    rig.view = view_of({0: 1}, topic_id=UUID(int=8))
    rig.plan()
    assert (rig.states[0].phase, rig.states[0].lookup_timestamp) == (phase, timestamp)
    assert rig.states[0].version > version, "what was asked about the old topic is void"


def test_a_topic_made_anew_is_an_error_if_the_reset_says_so() -> None:
    rig = Rig(5, reset=None)
    rig.plan()
    rig.view = view_of({0: 1}, topic_id=UUID(int=8))
    assert rig.plan() == []
    ((code, text, _),) = rig.take()
    assert (code, rig.states[0].phase) == (KafkaError._AUTO_OFFSET_RESET, Phase.HALTED)
    assert "created again" in text
    rig.queue.restart(rig.states[0], 0)
    assert rig.one().request.topics[0].topic_id == UUID(int=8)


def test_only_the_last_request_that_asks_for_a_partition_is_believed() -> None:
    rig = Rig(0)
    late = rig.one()
    rig.view = view_of({0: 2}, epoch=2)
    (planned,) = rig.plan(busy=(1,))
    assert planned.node_id == 2
    rig.answer(late, row(0, records(0, b"from the old leader")))
    assert rig.take() == []
    rig.answer(planned, row(0, error_code=KafkaError.OFFSET_OUT_OF_RANGE))
    rig.answer(late, row(0, error_code=KafkaError.OFFSET_OUT_OF_RANGE))
    rig.answer(late, row(0, records(0, b"from the old leader")))
    assert rig.states[0].phase is Phase.LOOKUP
    assert rig.take() == []


def test_log_ends_of_a_dropped_answer_are_kept_for_the_session() -> None:
    rig = Rig(3, partition_eof=True)
    late = rig.one()
    rig.queue.restart(rig.states[0], 3)
    rig.answer(late, row(0, end=3))  # the broker won't say it again in this session
    assert rig.take() == []
    rig.one()
    assert [code for code, _, _ in rig.take()] == [KafkaError._PARTITION_EOF]


def test_a_batch_found_broken_while_an_answer_is_read_voids_the_rest_of_that_answer() -> None:
    """The taker's thread halts the partition between the check of the answer and the queueing of its records."""
    rig = Rig(0)
    planned = rig.one()
    opened = rig.fetcher._open_batches

    def meanwhile(*args: Any, **options: Any) -> list[Any]:
        rig.states[0].void()
        rig.states[0].phase = Phase.HALTED
        return opened(*args, **options)

    rig.fetcher._open_batches = meanwhile
    rig.answer(planned, row(0, records(0, b"behind the broken batch")))
    assert rig.take() == []


def test_a_batch_found_broken_while_an_answer_is_judged_halts_the_partition_once() -> None:
    rig = Rig(0)
    rig.states[0].suspect = 0
    planned = rig.one()

    def meanwhile(*args: Any, **options: Any) -> list[Any]:
        rig.states[0].void()
        rig.states[0].phase = Phase.HALTED
        raise KafkaException(KafkaError(KafkaError._BAD_MSG, "the checksum is wrong"))

    rig.fetcher._open_batches = meanwhile
    rig.answer(planned, row(0, records(0, b"broken")))
    assert rig.take() == []
    assert rig.states[0].phase is Phase.HALTED


def test_a_partition_halted_while_its_new_leader_is_noticed_stays_halted() -> None:
    rig = Rig(0)
    rig.answer(rig.one(), row(0, records(0, b"read under epoch 1")))
    rig.states[0].fetch_epoch = 0
    known = view_of({0: 1}, epoch=5)

    class Meanwhile(ClusterView):
        def partition(self, topic: str, partition: int) -> PartitionView | None:
            rig.states[0].void()
            rig.states[0].phase = Phase.HALTED
            return known.partition(topic, partition)

    rig.view = Meanwhile(known.brokers, known.topics)
    assert rig.plan() == []
    assert rig.states[0].phase is Phase.HALTED


def test_without_topic_ids_only_versions_with_names_will_do() -> None:
    rig = Rig(0)
    rig.view = view_of({0: 1}, topic_id=UUID(int=0))
    assert not rig.one().by_topic_id


def test_while_a_partition_is_full_the_broker_may_not_wait_long() -> None:
    rig = Rig(0, 0, marks=Marks(2, 10**6))
    planned = rig.one()
    assert planned.request.max_wait_ms == 500
    rig.answer(planned, row(0, records(0, b"a", b"b")), row(1))
    waits = [rig.one().request.max_wait_ms for _ in range(8)]
    assert waits == [10, 20, 40, 80, 160, 320, 500, 500]
    rig.take()
    assert rig.one().request.max_wait_ms == 500


def test_settings_go_into_the_request() -> None:
    rig = Rig(0, min_bytes=5, max_bytes=6, partition_max_bytes=7, read_committed=False, rack="r")
    request = rig.one().request
    assert (request.min_bytes, request.max_bytes, request.isolation_level, request.rack_id) == (5, 6, 0, "r")
    assert request.topics[0].partitions[0].partition_max_bytes == 7


# ---- records


def test_records_are_queued_and_the_next_offset_moves() -> None:
    rig = Rig(1)
    outcome = rig.answer(rig.one(), row(0, records(0, b"a", b"b"), records(2, b"c", codec=Codec.GZIP)))
    assert rig.take() == [(0, 1, b"b"), (0, 2, b"c")]
    assert outcome.records[0][:3] == ("t", 0, 3)
    assert (rig.states[0].next_fetch_offset, rig.states[0].high_watermark) == (3, 100)


@pytest.mark.parametrize("change", ["seek", "revoke"])
def test_an_answer_to_an_older_question_is_dropped(change: str) -> None:
    rig = Rig(0)
    planned = rig.one()
    if change == "seek":
        rig.queue.restart(rig.states[0], 50)
    else:
        rig.assignment.remove([("t", 0)])
    rig.answer(planned, row(0, records(0, b"a")))
    assert rig.take() == []
    assert change == "revoke" or rig.states[0].next_fetch_offset == 50


def test_not_even_one_whole_batch_makes_the_next_request_larger() -> None:
    rig = Rig(0, partition_max_bytes=100)
    rig.answer(rig.one(), row(0, records(0, b"a" * 50)[:40]))
    assert rig.one().request.topics[0].partitions[0].partition_max_bytes == 200
    rig.answer(rig.one(), row(0, records(0, b"a")))
    assert rig.one().request.topics[0].partitions[0].partition_max_bytes == 100


def damaged(batch: memoryview) -> memoryview:
    bad = bytearray(batch)
    bad[-1] ^= 1
    return memoryview(bad)


def test_a_batch_that_was_damaged_on_its_way_is_read_again_and_nobody_is_told() -> None:
    rig = Rig(0)
    good, later = records(2, b"c", b"d"), records(4, b"e")
    rig.answer(rig.one(), row(0, records(0, b"a", b"b"), damaged(good), later))
    assert rig.take() == [(0, 0, b"a"), (0, 1, b"b")]
    planned, _, again_s = rig.fetcher.plan(rig.view, rig.now_s, ())
    assert (planned, again_s) == ([], rig.states[0].retry_at_s)
    rig.now_s += 1
    again = rig.one()
    assert again.session.wanted["t", 0].offset == 2
    rig.answer(again, row(0, good, later))
    assert rig.take() == [(0, 2, b"c"), (0, 3, b"d"), (0, 4, b"e")]
    assert rig.events == []


def test_each_batch_has_its_second_chance_also_after_a_seek() -> None:
    rig = Rig(0)
    for offset in (0, 1, 2):
        batch = records(offset, b"a")
        rig.answer(rig.one(), row(0, damaged(batch)))
        rig.now_s += 1
        rig.answer(rig.one(), row(0, batch))
        assert [found[1] for found in rig.take()] == [offset]
    rig.queue.restart(rig.states[0], 2)
    rig.answer(rig.one(), row(0, damaged(records(2, b"a"))))
    assert rig.states[0].phase is Phase.FETCH
    assert rig.events == []


def test_a_fetch_that_fails_between_is_no_second_reading() -> None:
    rig = Rig(0)
    rig.answer(rig.one(), row(0, damaged(records(0, b"a"))))
    rig.now_s += 1
    rig.fetcher.failed(rig.one(), rig.now_s)
    rig.now_s += 10
    rig.answer(rig.one(), row(0, records(0, b"a")))
    assert rig.take() == [(0, 0, b"a")]


def test_a_corrupt_batch_is_told_once_after_what_came_before_and_halts_the_partition() -> None:
    rig = Rig(0)
    bad, later = damaged(records(2, b"c", b"d")), records(4, b"e")
    rig.answer(rig.one(), row(0, records(0, b"a", b"b"), bad, later))
    rig.now_s += 1
    rig.answer(rig.one(), row(0, bad, later))
    found = rig.take()
    assert found[:2] == [(0, 0, b"a"), (0, 1, b"b")]
    code, text, offset = found[2]
    assert (code, offset) == (KafkaError._BAD_MSG, 2)
    assert "t[0]" in text
    assert "offset 2" in text
    assert "seek()" in text
    assert "before offset 4" in text
    assert rig.states[0].phase is Phase.HALTED
    assert rig.plan() == []
    assert rig.states[0].position == 2
    rig.queue.restart(rig.states[0], 4)
    assert rig.one().request.topics[0].partitions[0].fetch_offset == 4


def test_without_crc_checks_a_flipped_bit_goes_through() -> None:
    rig = Rig(0, check_crcs=False)
    bad = bytearray(records(0, b"abc"))
    bad[-2] ^= 1
    rig.answer(rig.one(), row(0, memoryview(bad)))
    assert len(rig.take()) == 1


def test_aborted_records_and_markers_are_skipped_and_the_position_passes_them() -> None:
    rig = Rig(0)
    options: dict[str, Any] = {"producer_epoch": 0, "base_sequence": 0, "transactional": True}
    log = [
        records(0, b"keep"),
        records(1, b"gone", producer_id=5, **options),
        records(2, b"other", producer_id=6, **options),
        marker(3, ControlType.ABORT, 5),
        records(4, b"again", producer_id=5, **options),
        marker(5, ControlType.COMMIT, 5),
        marker(6, ControlType.COMMIT, 6),
    ]
    aborted = [AbortedTransaction(producer_id=5, first_offset=1)]
    rig.answer(rig.one(), row(0, *log, aborted_transactions=aborted))
    assert [value for _, _, value in rig.take()] == [b"keep", b"other", b"again"]
    assert (rig.states[0].position, rig.states[0].next_fetch_offset) == (7, 7)


def test_read_uncommitted_sees_aborted_records_but_no_markers() -> None:
    rig = Rig(0, read_committed=False)
    options: dict[str, Any] = {"producer_id": 5, "producer_epoch": 0, "base_sequence": 0, "transactional": True}
    rig.answer(rig.one(), row(0, records(0, b"a", **options), marker(1, ControlType.ABORT, 5)))
    assert rig.take() == [(0, 0, b"a")]


def test_a_filter_starts_at_the_offset_that_the_broker_names() -> None:
    options: dict[str, Any] = {"producer_id": 5, "producer_epoch": 0, "base_sequence": 0, "transactional": True}
    before, after = open_batches(b"".join([records(0, b"a", **options), records(9, b"b", **options)]), "t", 0, 0)
    aborted = AbortedFilter([AbortedTransaction(producer_id=5, first_offset=9)])
    assert aborted.keeps(before)
    assert not aborted.keeps(after)


# ---- ends


def test_the_end_of_a_partition_is_told_once_per_offset_if_wanted() -> None:
    rig = Rig(0, partition_eof=True)
    rig.answer(rig.one(), row(0, records(0, b"a"), end=1))
    rig.answer(rig.one(), row(0, end=1))
    assert [(item[0], item[2]) for item in rig.take()[1:]] == [(KafkaError._PARTITION_EOF, 1)]
    rig.answer(rig.one(), row(0, records(1, b"b"), end=2))
    assert [item[0] for item in rig.take()] == [0, KafkaError._PARTITION_EOF]


def test_with_read_committed_the_end_is_the_last_stable_offset() -> None:
    rig = Rig(0, partition_eof=True)
    rig.answer(rig.one(), row(0, end=5, last_stable_offset=0))
    assert [item[0] for item in rig.take()] == [KafkaError._PARTITION_EOF]


def test_a_partition_that_comes_back_uses_what_its_session_knows() -> None:
    rig = Rig(4, partition_eof=True)
    rig.answer(rig.one(), row(0, end=4))
    rig.one()  # the session now has the same offset again
    rig.take()
    rig.assignment.remove([("t", 0)])
    (state,) = rig.assignment.add([TopicPartition("t", 0, 4)])
    state.leader_epoch = 1
    rig.one()
    assert state.high_watermark == 4
    assert [item[0] for item in rig.take()] == [KafkaError._PARTITION_EOF]


# ---- errors


@pytest.mark.parametrize(
    "code", [KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.FENCED_LEADER_EPOCH, KafkaError.UNKNOWN_TOPIC_ID]
)
def test_a_wrong_leader_is_reported_as_stale_and_tried_again_after_a_pause(code: int) -> None:
    rig = Rig(0)
    outcome = rig.answer(rig.one(), row(0, error_code=code))
    assert outcome.stale_topics == {"t"}
    assert rig.plan() == []
    assert rig.events == []
    rig.now_s += 2
    assert len(rig.plan()) == 1


def test_a_leader_hint_is_passed_on_and_followed_at_once() -> None:
    rig = Rig(0)
    hint = LeaderIdAndEpoch(leader_id=2, leader_epoch=4)
    endpoint = NodeEndpoint(node_id=2, host="h", port=1)
    answer = row(0, error_code=KafkaError.NOT_LEADER_FOR_PARTITION, current_leader=hint)
    outcome = rig.answer(rig.one(), answer, node_endpoints=[endpoint])
    assert outcome.leaders == [("t", 0, 2, 4)]
    assert outcome.brokers == [BrokerAddress(2, "h", 1)]
    rig.view = view_of({0: 2}, epoch=4)
    assert rig.one().node_id == 2


@pytest.mark.parametrize(("reset", "timestamp"), [(-2, -2), (-1, -1)])
def test_an_offset_out_of_range_is_looked_up_anew(reset: int, timestamp: int) -> None:
    rig = Rig(500, reset=reset)
    rig.answer(rig.one(), row(0, error_code=KafkaError.OFFSET_OUT_OF_RANGE))
    assert (rig.states[0].phase, rig.states[0].lookup_timestamp) == (Phase.LOOKUP, timestamp)
    assert rig.plan() == []


def test_an_offset_out_of_range_is_an_error_if_the_reset_says_so() -> None:
    rig = Rig(500, reset=None)
    rig.answer(rig.one(), row(0, error_code=KafkaError.OFFSET_OUT_OF_RANGE, log_start_offset=600))
    ((code, text, offset),) = rig.take()
    assert (code, offset, rig.states[0].phase) == (KafkaError._AUTO_OFFSET_RESET, 500, Phase.HALTED)
    assert "600" in text
    assert "seek()" in text


def test_an_error_that_retrying_will_not_mend_is_told_once_until_it_is_over() -> None:
    rig = Rig(0)
    for _ in range(3):
        rig.answer(rig.one(), row(0, error_code=KafkaError.TOPIC_AUTHORIZATION_FAILED))
        rig.now_s += 5
    assert [code for code, _, _ in rig.take()] == [KafkaError.TOPIC_AUTHORIZATION_FAILED]
    rig.answer(rig.one(), row(0))
    rig.answer(rig.one(), row(0, error_code=KafkaError.TOPIC_AUTHORIZATION_FAILED))
    assert len(rig.take()) == 1


def test_a_lost_session_is_begun_anew_at_once() -> None:
    rig = Rig(0)
    rig.answer(rig.one(), row(0))
    rig.answer(rig.one(), error_code=KafkaError.FETCH_SESSION_ID_NOT_FOUND)
    request = rig.one().request
    assert (request.session_id, request.session_epoch) == (0, 0)
    assert len(request.topics) == 1


def test_a_wrong_session_epoch_replaces_the_session() -> None:
    rig = Rig(0)
    rig.answer(rig.one(), row(0))
    rig.answer(rig.one(), error_code=KafkaError.INVALID_FETCH_SESSION_EPOCH)
    assert (rig.one().request.session_id, rig.one().request.session_epoch) == (9, 0)


def test_no_answer_at_all_delays_the_broker_more_each_time() -> None:
    rig = Rig(0)
    delays = []
    for _ in range(3):
        assert rig.fetcher.failed(rig.one(), rig.now_s).stale_topics == {"t"}
        planned, _, again_s = rig.fetcher.plan(rig.view, rig.now_s, ())
        assert planned == []
        assert again_s is not None
        delays.append(again_s - rig.now_s)
        rig.now_s = again_s
    assert delays == sorted(delays)
    assert delays[0] < delays[-1]
    assert rig.one().request.session_epoch == 0


def test_after_a_lost_connection_the_broker_is_asked_at_once_but_only_the_first_time() -> None:
    rig = Rig(0)
    assert rig.fetcher.failed(rig.one(), rig.now_s, lost=True).stale_topics == {"t"}
    rig.fetcher.failed(rig.one(), rig.now_s, lost=True)
    planned, _, again_s = rig.fetcher.plan(rig.view, rig.now_s, ())
    assert planned == []
    assert again_s is not None
    rig.now_s = again_s
    rig.answer(rig.one(), row(0))
    rig.fetcher.failed(rig.one(), rig.now_s, lost=True)
    assert rig.one().node_id == 1, "an answer between makes it the first time again"


def test_a_broker_that_leaves_the_cluster_is_forgotten_and_begins_a_new_session_when_it_comes_back() -> None:
    rig = Rig(0, 0)
    rig.answer(rig.one(), row(0), row(1))
    there, gone = rig.view, view_of({0: 2, 1: 2})
    rig.view = replace(gone, brokers={2: gone.brokers[2]})
    assert [item.node_id for item in rig.plan(busy=(1,))] == [2], "its last answer is under way: it is kept until then"
    assert set(rig.fetcher._brokers) == {1, 2}
    rig.plan()
    assert set(rig.fetcher._brokers) == {2}
    rig.view = there
    assert (rig.one().request.session_id, rig.one().request.session_epoch) == (0, 0)


def test_a_leader_that_the_brokers_do_not_list_keeps_its_back_off() -> None:
    rig = Rig(0)
    rig.view = replace(rig.view, brokers={})
    for attempt in range(3):
        rig.fetcher.failed(rig.one(), rig.now_s)
        assert rig.plan() == []
        assert rig.fetcher._brokers[1].attempt == attempt + 1
        rig.now_s += 10.0


# ---- leaders


def test_a_new_leader_is_asked_at_once_whatever_the_old_one_said_last() -> None:
    rig = Rig(0)
    rig.answer(rig.one(), row(0, error_code=KafkaError.NOT_LEADER_FOR_PARTITION))
    assert rig.plan() == []
    rig.view = view_of({0: 2}, epoch=5)
    assert rig.one().node_id == 2


def test_a_new_leader_epoch_sends_what_was_read_to_be_validated() -> None:
    rig = Rig(0)
    rig.answer(rig.one(), row(0, records(0, b"a")))
    rig.view = view_of({0: 2}, epoch=2)
    assert rig.plan() == []
    assert (rig.states[0].phase, rig.states[0].leader_epoch, rig.states[0].fetch_epoch) == (Phase.VALIDATE, 2, 1)


def test_the_epoch_of_the_view_counts_also_when_it_is_an_older_one() -> None:
    """The one before came with a damaged answer: a leader refuses requests with an epoch that it has not heard of."""
    rig = Rig(0)
    rig.view = view_of({0: 1}, epoch=2**24)
    rig.answer(rig.one(), row(0, records(0, b"a")))
    rig.view = view_of({0: 1}, epoch=1)
    assert rig.plan() == []
    state = rig.states[0]
    assert (state.phase, state.leader_epoch) == (Phase.VALIDATE, 1)
    state.move(Phase.FETCH)
    assert rig.one().request.topics[0].partitions[0].current_leader_epoch == 1


def test_a_preferred_replica_is_used_for_a_while_and_left_when_it_fails() -> None:
    rig = Rig(0, rack="r")
    rig.answer(rig.one(), row(0, preferred_read_replica=2))
    planned = rig.one()
    assert planned.node_id == 2
    rig.answer(planned, row(0, error_code=KafkaError.OFFSET_OUT_OF_RANGE))
    assert rig.states[0].phase is Phase.FETCH
    assert rig.one().node_id == 1
    rig.answer(rig.one(), row(0, preferred_read_replica=2))
    rig.now_s += 301
    assert rig.one().node_id == 1


def test_a_preferred_replica_that_is_not_known_is_looked_for() -> None:
    """The leader gives nothing to this rack, and the next periodic refresh may be minutes away."""
    rig = Rig(0, rack="r")
    rig.answer(rig.one(), row(0, preferred_read_replica=9))
    planned, unknown, again_s = rig.fetcher.plan(rig.view, rig.now_s, ())
    assert (planned, unknown) == ([], {"t"})
    assert again_s is not None
    assert again_s > rig.now_s  # not as fast as the leader answers
    rig.now_s = again_s
    assert rig.one().node_id == 1


@pytest.mark.parametrize("way", ["lost", "refused", "not reached"])
def test_a_preferred_replica_that_does_not_answer_is_left_for_the_leader_at_once(way: str) -> None:
    rig = Rig(0, rack="r")
    rig.answer(rig.one(), row(0, preferred_read_replica=2))
    planned = rig.one()
    assert planned.node_id == 2
    if way == "lost":
        rig.fetcher.failed(planned, rig.now_s)
    elif way == "refused":
        refusal = FetchResponse(error_code=KafkaError.CLUSTER_AUTHORIZATION_FAILED)
        rig.fetcher.received(planned, refusal, rig.now_s)
    else:
        assert rig.fetcher.leave_follower(planned)
        assert not rig.fetcher.leave_follower(planned)
    found, _, _ = rig.fetcher.plan(rig.view, rig.now_s, {2})
    assert [item.node_id for item in found] == [1]


def test_a_request_to_a_leader_leaves_no_follower() -> None:
    rig = Rig(0, rack="r")
    planned = rig.one()
    rig.states[0].preferred_replica = 2
    assert not rig.fetcher.leave_follower(planned)
    assert rig.states[0].preferred_replica == 2


# ---- pieces


def test_pieces_cuts_batches_apart_and_leaves_a_cut_one_out() -> None:
    first, second = records(0, b"a", b"b"), records(2, b"c")
    whole = memoryview(b"".join([first, second, bytes(second)[:20]]))
    assert [(base, end, bytes(piece)) for base, end, piece in pieces(whole)] == [
        (0, 2, bytes(first)),
        (2, 3, bytes(second)),
    ]


def test_pieces_gives_the_rest_once_when_a_length_is_impossible() -> None:
    bad = bytearray(records(0, b"a"))
    bad[8:12] = b"\xff\xff\xff\xff"
    assert [(base, end) for base, end, _ in pieces(memoryview(bytes(bad)))] == [(0, 0)]


# ---- requests beside the session's


def test_a_seek_is_fetched_beside_the_request_that_is_out() -> None:
    rig = Rig(0, 0)
    out = rig.one()
    assert rig.beside(out) == [], "what is out already asks for it"
    rig.queue.restart(rig.states[0], 50)
    (planned,) = rig.beside(out)
    request = planned.request
    assert (request.session_id, request.session_epoch, request.max_wait_ms) == (0, -1, 0)
    assert [(item.partition, item.fetch_offset) for item in request.topics[0].partitions] == [(0, 50)]
    rig.answer_beside(planned, row(0, records(50, b"a", b"b")))
    assert rig.take() == [(0, 50, b"a"), (0, 51, b"b")]
    (following,) = rig.beside(out)
    assert following.request.topics[0].partitions[0].fetch_offset == 52, "as long as there is more"
    rig.answer_beside(following, row(0))
    assert rig.beside(out) == [], "the session waits for more"
    rig.answer(out, row(0, records(0, b"old")), row(1, records(0, b"other")))
    assert rig.take() == [(1, 0, b"other")], "the answer from before the seek is dropped"
    (regular,) = rig.plan()
    assert {item.partition: item.fetch_offset for item in regular.request.topics[0].partitions} == {0: 52, 1: 1}


@pytest.mark.parametrize("seeks", [0, 1, 2])
def test_the_answer_to_an_older_assignments_request_is_not_taken_for_the_new_ones(seeks: int) -> None:
    rig = Rig(0)
    for _ in range(seeks):
        rig.queue.restart(rig.states[0], 0)
    out = rig.one()
    rig.assignment.clear()
    rig.states = rig.assignment.add([TopicPartition("t", 0, 10)])
    for _ in range(seeks):
        rig.queue.restart(rig.states[0], 10)
    rig.answer(out, row(0, records(40, b"a later record")))
    assert rig.take() == [], "everything from 10 to 40 would be skipped"
    assert rig.states[0].next_fetch_offset == rig.states[0].position == 10
    planned = rig.one()
    assert planned.request.topics[0].partitions[0].fetch_offset == 10
    rig.answer(planned, row(0, records(10, b"the next one")))
    assert rig.take() == [(0, 10, b"the next one")]


def test_a_request_of_an_older_assignment_does_not_count_as_one_of_the_new() -> None:
    rig = Rig(0)
    out = rig.one()
    rig.assignment.clear()
    rig.assignment.add([TopicPartition("t", 0, 10)])
    (planned,) = rig.beside(out)
    assert planned.request.topics[0].partitions[0].fetch_offset == 10


def test_without_a_request_that_is_out_nothing_goes_beside_it() -> None:
    rig = Rig(0)
    assert rig.beside() == []
    out = rig.one()
    rig.answer(out, row(0))
    rig.queue.restart(rig.states[0], 50)
    assert rig.beside() == [], "the session's next request is free to go"
    assert rig.one().request.topics[0].partitions[0].fetch_offset == 50


def test_partitions_that_come_or_are_resumed_do_not_wait_either() -> None:
    rig = Rig(0, 0)
    rig.queue.pause(rig.states[1])
    out = rig.one()
    rig.queue.resume(rig.states[1])
    rig.view = view_of({0: 1, 1: 1, 2: 1, 3: 2})
    rig.states += rig.assignment.add([TopicPartition("t", 2, 7), TopicPartition("t", 3, 7)])
    (planned,) = rig.beside(out)
    assert sorted(planned.session.wanted) == [("t", 1), ("t", 2)], "partition 3 has another leader, which is free"


def test_a_partition_that_was_resumed_in_time_is_in_the_request_that_is_out() -> None:
    rig = Rig(0)
    out = rig.one()
    rig.queue.pause(rig.states[0])
    rig.queue.resume(rig.states[0])
    assert rig.beside(out) == []


@pytest.mark.parametrize("fails", [True, False])
def test_a_request_beside_that_fails_leaves_it_to_the_session(fails: bool) -> None:
    rig = Rig(0)
    out = rig.one()
    rig.queue.restart(rig.states[0], 50)
    (planned,) = rig.beside(out)
    if fails:
        rig.fetcher.received_beside(planned, None, rig.now_s)
    else:
        rig.answer_beside(planned, error_code=KafkaError.KAFKA_STORAGE_ERROR)
    assert rig.beside(out) == []
    assert rig.events == []
    rig.answer(out, row(0))
    assert rig.one().request.topics[0].partitions[0].fetch_offset == 50


def test_a_second_seek_while_the_first_is_fetched_beside_goes_on() -> None:
    rig = Rig(0)
    out = rig.one()
    rig.queue.restart(rig.states[0], 50)
    (planned,) = rig.beside(out)
    rig.queue.restart(rig.states[0], 70)
    rig.answer_beside(planned, row(0, records(50, b"a")))
    assert rig.take() == []
    (following,) = rig.beside(out)
    assert following.request.topics[0].partitions[0].fetch_offset == 70


def test_a_full_queue_and_a_back_off_hold_requests_beside_back_too() -> None:
    rig = Rig(0, marks=Marks(1, 10**6))
    out = rig.one()
    rig.queue.restart(rig.states[0], 50)
    rig.states[0].retry_at_s = rig.now_s + 1
    assert rig.beside(out) == []
    rig.now_s += 2
    (planned,) = rig.beside(out)
    rig.answer_beside(planned, row(0, records(50, b"a", b"b")))
    assert rig.beside(out) == [], "the application must take some first"


def test_an_error_in_an_answer_beside_is_treated_as_ever() -> None:
    rig = Rig(0, reset=None)
    out = rig.one()
    rig.queue.restart(rig.states[0], 500)
    (planned,) = rig.beside(out)
    rig.answer_beside(planned, row(0, error_code=KafkaError.OFFSET_OUT_OF_RANGE))
    assert rig.states[0].phase is Phase.HALTED
    assert rig.events[0][0] == KafkaError._AUTO_OFFSET_RESET
