"""Fetch sessions: epochs, what is said again, what is forgotten."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from kafka_core.engine.consuming.aborted import AbortedFilter
from kafka_core.engine.consuming.fetch_session import MAX_EPOCH, FetchSession, LogEnds, Wanted, uses_topic_ids
from kafka_core.engine.consuming.subscription import Key

ID = UUID(int=1)


def wanted(**offsets: int) -> dict[Key, Wanted]:
    return {(name[0], int(name[1:])): Wanted(ID, offset, 1, 100) for name, offset in offsets.items()}


def test_epochs_count_from_one_and_wrap_to_one() -> None:
    session = FetchSession()
    assert session.next_request(wanted(t0=0)).full
    session.succeeded(5)
    assert session.next_request(wanted(t0=0)).session_epoch == 1
    session.succeeded(5)
    assert session.next_request(wanted(t0=0)).session_epoch == 2
    session._epoch = MAX_EPOCH
    session.succeeded(5)
    assert session.next_request(wanted(t0=0)).session_epoch == 1


def test_a_broker_without_room_for_a_session_gets_full_requests() -> None:
    session = FetchSession()
    session.next_request(wanted(t0=0))
    session.succeeded(0)
    request = session.next_request(wanted(t0=0))
    assert request.full
    assert len(request.topics) == 1


def test_only_changes_are_said_and_what_is_gone_is_forgotten() -> None:
    session = FetchSession()
    session.next_request(wanted(t0=0, t1=0, u0=0))
    session.succeeded(5)
    request = session.next_request(wanted(t0=0, t1=9))
    assert [(topic.topic, [item.partition for item in topic.partitions]) for topic in request.topics] == [("t", [1])]
    assert [(topic.topic, topic.partitions) for topic in request.forgotten] == [("u", [0])]
    assert set(request.wanted) == {("t", 0), ("t", 1)}


def test_reset_begins_anew_and_keeps_the_id_only_if_asked() -> None:
    session = FetchSession()
    session.next_request(wanted(t0=0))
    session.succeeded(5)
    session.ends["t", 0] = LogEnds(1, 1, 0)
    session.reset(keep_id=True)
    request = session.next_request(wanted(t0=0))
    assert (request.session_id, request.session_epoch, len(request.topics)) == (5, 0, 1)
    assert session.ends == {}
    session.reset()
    assert session.next_request({}).session_id == 0


def test_knows_what_it_has_said() -> None:
    session = FetchSession()
    items = wanted(t0=0)
    session.next_request(items)
    assert not session.knows(("t", 0), items["t", 0])
    session.succeeded(5)
    assert session.knows(("t", 0), items["t", 0])
    assert not session.knows(("t", 0), wanted(t0=1)["t", 0])


def test_topic_ids_are_used_only_if_all_are_known() -> None:
    session = FetchSession()
    assert uses_topic_ids(session.next_request(wanted(t0=0)))
    nameless = {**wanted(t0=0), ("u", 0): Wanted(UUID(int=0), 0, 1, 100)}
    assert not uses_topic_ids(session.next_request(nameless))


# ---- aborted transactions


@dataclass
class Header:
    producer_id: int


@dataclass
class Batch:
    header: Header
    end_offset: int
    is_transactional: bool = True
    is_control: bool = False
    control_type: int | None = None


@dataclass
class Row:
    producer_id: int
    first_offset: int


def batch(producer_id: int, end: int, **fields: object) -> Batch:
    return Batch(Header(producer_id), end, **fields)  # type: ignore[arg-type]


def test_a_producer_is_dropped_from_its_first_aborted_offset_to_its_abort_marker() -> None:
    aborted = AbortedFilter([Row(1, 10), Row(1, 30)])
    assert aborted.keeps(batch(1, 10))
    assert not aborted.keeps(batch(1, 11))
    assert aborted.keeps(batch(2, 12))
    assert not aborted.keeps(batch(1, 13, is_control=True, control_type=0))
    assert aborted.keeps(batch(1, 20))
    assert not aborted.keeps(batch(1, 31))


def test_a_commit_marker_ends_nothing_and_plain_batches_pass() -> None:
    aborted = AbortedFilter([Row(1, 0)])
    assert aborted.keeps(batch(1, 1, is_transactional=False))
    assert not aborted.keeps(batch(1, 2, is_control=True, control_type=1))
    assert not aborted.keeps(batch(1, 3))
