"""Requests of a share group's member to brokers, and its reading of their answers."""

from __future__ import annotations

from kafka_core.engine.sharing.fetching import Delivery, Planned, ShareFetching
from kafka_core.engine.sharing.holdings import Acknowledged, Origin
from kafka_core.errors import KafkaError, NetworkError
from kafka_core.model import AcknowledgeType
from kafka_core.protocol.messages import share_acknowledge
from kafka_core.protocol.messages.share_acknowledge import ShareAcknowledgeRequest, ShareAcknowledgeResponse
from kafka_core.protocol.messages.share_fetch import LeaderIdAndEpoch, PartitionData, ShareFetchRequest
from tests.unit.kafka_core.engine.sharing.steps import TOPIC, TOPIC_ID, fetched, fetching, response, view

VIEW = view({0: 1, 1: 2})
ONE = view({0: 1, 1: 1})


def plan(made: ShareFetching, now_s: float = 0.0, wait_ms: int | None = 100, closes: bool = False) -> list[Planned]:
    return made.plan(ONE, now_s, wait_ms=wait_ms, closes=closes)[0]


def take(made: ShareFetching, now_s: float = 0.0) -> Delivery:
    delivery = made.take(now_s)
    assert delivery is not None
    return delivery


def words(delivery: Delivery, kind: AcknowledgeType) -> list[Acknowledged]:
    return [Acknowledged(origin, dict.fromkeys(offsets, kind)) for origin, offsets in delivery.held]


def batches(request: ShareFetchRequest | ShareAcknowledgeRequest) -> dict[int, list[tuple[int, int, list[int]]]]:
    return {
        part.partition_index: [
            (item.first_offset, item.last_offset, item.acknowledge_types) for item in part.acknowledgement_batches
        ]
        for topic in request.topics
        for part in topic.partitions
        if part.acknowledgement_batches
    }


def started() -> tuple[ShareFetching, Delivery]:
    """Records 0 to 2 of partition 0 are taken."""
    made = fetching()
    (first,) = plan(made)
    made.received(first, response(fetched(0, range(3), (0, 2, 1))), 0.0)
    return made, take(made)


def test_it_asks_every_leader_once_and_only_while_a_poll_waits() -> None:
    made = fetching()
    assert made.plan(VIEW, 0.0)[0] == []
    planned, leaderless, _ = made.plan(VIEW, 0.0, wait_ms=9000)
    assert [item.node_id for item in planned] == [1, 2]
    assert not leaderless
    assert isinstance(planned[0].request, ShareFetchRequest)
    assert planned[0].request.max_wait_ms == 500
    assert made.plan(VIEW, 0.0, wait_ms=9000)[0] == []
    made.received(planned[0], response(), 0.0)
    (again,) = made.plan(VIEW, 0.0, wait_ms=30)[0]
    assert isinstance(again.request, ShareFetchRequest)
    assert (again.node_id, again.request.share_session_epoch, again.request.max_wait_ms) == (1, 1, 30)


def test_topics_without_a_leader_are_named() -> None:
    made = fetching()
    assert made.plan(view({0: 1}), 0.0, wait_ms=0)[1] == {TOPIC}


def test_records_that_are_acquired_are_given_with_their_count_and_no_others() -> None:
    made = fetching()
    (first,) = plan(made)
    made.received(first, response(fetched(0, range(10), (2, 3, 1), (7, 8, 4))), 5.0)
    delivery = take(made, 5.0)
    assert [(item.offset(), item.value(), item.delivery_count()) for item in delivery.messages] == [
        (2, b"2", 1),
        (3, b"3", 1),
        (7, b"7", 4),
        (8, b"8", 4),
    ]
    assert delivery.held == [(Origin(TOPIC, 0, TOPIC_ID, 1, 0), [2, 3, 7, 8])]
    assert made.lock_timeout_ms == 30_000


def test_offsets_without_a_record_are_acknowledged_as_gaps() -> None:
    made = fetching()
    (first,) = plan(made)
    made.received(first, response(fetched(0, range(5, 8), (5, 11, 1))), 0.0)
    assert len(take(made).messages) == 3
    (gap,) = plan(made, wait_ms=None)
    assert isinstance(gap.request, ShareAcknowledgeRequest)
    assert batches(gap.request) == {0: [(8, 11, [0])]}


def test_words_ride_on_the_next_fetch_and_the_answer_settles_them() -> None:
    made, delivery = started()
    made.acknowledge(words(delivery, AcknowledgeType.ACCEPT))
    (second,) = plan(made)
    assert isinstance(second.request, ShareFetchRequest)
    assert batches(second.request) == {0: [(0, 2, [1])]}
    made.received(second, response(fetched(0, range(0), acknowledge_error=KafkaError.INVALID_RECORD_STATE)), 0.0)
    (settled,) = made.settled
    assert settled.error is not None
    assert settled.error.code() == KafkaError.INVALID_RECORD_STATE


def test_a_word_that_waits_while_its_record_is_acquired_again_is_not_sent() -> None:
    """It would be one about the new lock, and count before the application's next word."""
    made, delivery = started()
    (fetch,) = plan(made)
    first, second = (
        Acknowledged(delivery.held[0][0], dict.fromkeys(offsets, AcknowledgeType.ACCEPT)) for offsets in ([0, 1], [2])
    )
    made.acknowledge([first, second])  # while the fetch is under way
    made.received(fetch, response(fetched(0, range(1, 3), (1, 2, 2))), 0.0)
    late = KafkaError.INVALID_RECORD_STATE
    found = [(dict(item.acknowledged.types), item.error and item.error.code()) for item in made.settled]
    assert found == [({1: 1}, late), ({2: 1}, late)]
    assert [item.part_of for item in made.settled] == [first, None]
    made.settled.clear()
    assert [item.offset() for item in take(made).messages] == [1, 2]
    (alone,) = plan(made, wait_ms=None)
    assert batches(alone.request) == {0: [(0, 0, [1])]}
    assert alone.acknowledged == (first,)


def test_words_go_alone_when_nobody_polls() -> None:
    made, delivery = started()
    made.acknowledge(words(delivery, AcknowledgeType.REJECT))
    (alone,) = plan(made, wait_ms=None)
    assert isinstance(alone.request, ShareAcknowledgeRequest)
    answer = ShareAcknowledgeResponse(
        responses=[
            share_acknowledge.ShareAcknowledgeTopicResponse(
                topic_id=TOPIC_ID, partitions=[share_acknowledge.PartitionData(partition_index=0)]
            )
        ]
    )
    made.received(alone, answer, 0.0)
    assert [item.error for item in made.settled] == [None]


def test_renewals_and_words_about_other_partitions_do_not_ride() -> None:
    for kind, assigned in ((AcknowledgeType.RENEW, 0), (AcknowledgeType.ACCEPT, 1)):
        made, delivery = started()
        made.assign({(TOPIC, assigned): TOPIC_ID})
        made.acknowledge(words(delivery, kind))
        (alone,) = plan(made)
        assert isinstance(alone.request, ShareAcknowledgeRequest)


def test_nothing_is_fetched_while_something_is_at_hand() -> None:
    made, delivery = started()
    made.put_back(delivery)
    assert plan(made) == []
    assert take(made) is delivery


def test_records_whose_lock_has_ended_are_not_given_any_more() -> None:
    made, delivery = started()
    made.put_back(delivery)
    assert made.take(30.0) is None
    made.put_back(delivery)
    assert made.take(29.9) is delivery


def test_a_lost_connection_ends_the_session_with_all_that_was_acquired_in_it() -> None:
    made, delivery = started()
    made.put_back(delivery)
    made.acknowledge(words(delivery, AcknowledgeType.ACCEPT))
    (sent,) = plan(made, wait_ms=None)
    news = made.failed(sent, NetworkError("gone"), 1.0)
    assert news.stale_topics == {TOPIC}
    assert not news.errors
    assert [item.error and item.error.code() for item in made.settled] == [KafkaError._TRANSPORT]
    assert made.take(1.0) is None
    made.settled.clear()
    made.acknowledge(words(delivery, AcknowledgeType.ACCEPT))
    assert [item.error and item.error.code() for item in made.settled] == [KafkaError.SHARE_SESSION_NOT_FOUND]
    assert plan(made, 1.0) == []
    assert made.plan(ONE, 1.0, wait_ms=0)[2] is not None  # the back-off, then again
    (again,) = plan(made, 3.0)
    assert again.request.share_session_epoch == 0


def test_a_session_that_the_broker_forgot_begins_anew_at_once() -> None:
    made, _ = started()
    (second,) = plan(made)
    news = made.received(second, response(error_code=KafkaError.SHARE_SESSION_NOT_FOUND), 1.0)
    assert not news.errors
    (again,) = plan(made, 1.0)
    assert again.request.share_session_epoch == 0


def test_errors_that_waiting_does_not_mend_are_told_once() -> None:
    made = fetching()
    found = []
    for now_s in (0.0, 10.0):
        (sent,) = plan(made, now_s)
        answer = response(fetched(0, range(0), error_code=KafkaError.TOPIC_AUTHORIZATION_FAILED))
        found += made.received(sent, answer, now_s).errors
    assert [(item.topic(), item.error().code()) for item in found] == [(TOPIC, KafkaError.TOPIC_AUTHORIZATION_FAILED)]  # type: ignore[union-attr]


def test_a_new_leader_is_told_and_the_metadata_is_old() -> None:
    made = fetching()
    (sent,) = plan(made)
    part = PartitionData(
        partition_index=0, error_code=KafkaError.NOT_LEADER_FOR_PARTITION, current_leader=LeaderIdAndEpoch(2, 5)
    )
    news = made.received(sent, response(part), 0.0)
    assert (news.stale_topics, news.leaders, news.errors) == ({TOPIC}, [(TOPIC, 0, 2, 5)], [])


def test_a_damaged_batch_is_released_and_told_never_accepted() -> None:
    made = fetching()
    (sent,) = plan(made)
    part = fetched(0, range(3), (0, 2, 1))
    data = bytearray(part.records or b"")
    data[-1] ^= 0xFF
    part.records = memoryview(data)
    news = made.received(sent, response(part), 0.0)
    assert made.take(0.0) is None
    assert [error.error() is not None for error in news.errors] == [True]
    (alone,) = plan(made, wait_ms=None)
    assert batches(alone.request) == {0: [(0, 2, [AcknowledgeType.RELEASE])]}


def test_what_nobody_has_polled_can_be_released() -> None:
    made, delivery = started()
    made.put_back(delivery)
    made.release()
    assert made.take(0.0) is None
    (alone,) = plan(made, wait_ms=None)
    assert batches(alone.request) == {0: [(0, 2, [AcknowledgeType.RELEASE])]}


def test_closing_waits_for_the_fetch_under_way_and_then_ends_every_session() -> None:
    made, delivery = started()
    (fetch,) = plan(made)
    made.acknowledge(words(delivery, AcknowledgeType.ACCEPT))
    assert plan(made, wait_ms=None, closes=True) == []
    assert not made.idle
    made.received(fetch, response(fetched(0, range(5, 6), (5, 5, 1))), 0.0)
    (last,) = plan(made, wait_ms=None, closes=True)
    assert last.request.share_session_epoch == -1
    assert batches(last.request) == {0: [(0, 2, [1])]}
    made.received(last, ShareAcknowledgeResponse(), 0.0)
    assert made.idle
    assert made.take(0.0) is None
