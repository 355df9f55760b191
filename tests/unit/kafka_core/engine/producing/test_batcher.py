"""kafka_core.engine.producing.batcher and lane: what is sent when, in which order, under which numbers; verdicts."""

from dataclasses import replace
from uuid import UUID

import pytest

from kafka_core.engine.producing.batcher import LACKING_S, BatcherRules
from kafka_core.engine.producing.sequences import MAX_EPOCH, IdentityPhase, ProducerIdentity
from kafka_core.engine.producing.transactions import MARKERS_FIRST_S, MARKERS_MOST_S
from kafka_core.errors import AuthError, KafkaError
from kafka_core.protocol.messages.produce import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from tests.unit.kafka_core.engine.producer_parts import TOPIC, Driver, FakeBatch, names, numbers, view

PLAIN = BatcherRules(idempotent=False)
NOT_LEADER = KafkaError.NOT_LEADER_FOR_PARTITION
OUT_OF_ORDER = KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER
TIMED_OUT = KafkaError._MSG_TIMED_OUT


# ---- requests


def test_a_request_takes_one_batch_of_each_partition_of_its_broker() -> None:
    driver = Driver()
    driver.add("a", "b")
    driver.add("c", partition=1)
    driver.add("x", partition=2)
    assert names(driver.take(1)) == ["a", "c"]
    assert names(driver.take(1)) == ["b"]
    assert names(driver.take(2)) == ["x"]
    assert driver.nothing(1)
    assert driver.nothing(2)


def test_a_request_stays_within_its_size_and_partitions_take_turns() -> None:
    driver = Driver(BatcherRules(max_request_bytes=2500), leaders=dict.fromkeys(range(4), 1))
    for partition in range(4):
        driver.add(f"a{partition}", f"b{partition}", partition=partition)
    taken = [names(driver.take()) for _ in range(4)]
    assert taken == [["a0", "a1"], ["a2", "a3"], ["b0", "b1"], ["b2", "b3"]]


def test_a_batch_larger_than_a_request_goes_alone() -> None:
    driver = Driver(BatcherRules(max_request_bytes=10))
    driver.add("a")
    driver.add("b", partition=1)
    assert [names(driver.take()), names(driver.take())] == [["a"], ["b"]]


def test_no_more_requests_are_in_flight_than_allowed() -> None:
    driver = Driver(BatcherRules(max_in_flight=2))
    driver.add("a", "b", "c")
    first = driver.take()
    driver.take()
    assert driver.nothing()
    assert driver.batcher.requests_in_flight(1) == 2
    driver.answer(first)
    assert names(driver.take()) == ["c"]


def test_nothing_is_sent_without_a_leader_and_all_when_it_is_known() -> None:
    driver = Driver(leaders={0: None})
    driver.add("a")
    assert driver.batcher.nodes() == []
    assert driver.batcher.leaderless_topics() == {TOPIC}
    driver.batcher.use_view(view({0: 2}))
    assert driver.batcher.nodes() == [2]
    assert names(driver.take(2)) == ["a"]


def test_a_leader_that_is_no_known_broker_counts_as_none() -> None:
    driver = Driver(leaders={0: 5})
    driver.add("a")
    assert driver.batcher.nodes() == []
    assert driver.batcher.leaderless_topics() == {TOPIC}


def test_an_idempotent_producer_waits_for_its_id() -> None:
    driver = Driver()
    driver.batcher = type(driver.batcher)(driver.rules, driver.batcher._backoff)
    driver.batcher.use_view(view({0: 1}))
    assert not driver.batcher.needs_identity()
    driver.add("a")
    assert driver.batcher.needs_identity()
    assert driver.nothing()
    driver.batcher.ids.requested()
    assert not driver.batcher.needs_identity()
    driver.batcher.ids.granted(ProducerIdentity(9, 3))
    assert numbers(driver.take()) == [(3, 0)]


def test_sequences_count_records_per_partition() -> None:
    driver = Driver()
    driver.add("a", "b", count=4)
    driver.add("c", partition=1, count=7)
    assert numbers(driver.take()) == [(0, 0), (0, 0)]
    assert numbers(driver.take()) == [(0, 4)]


def test_until_the_broker_knows_the_producer_there_is_one_batch_at_a_time() -> None:
    driver = Driver(fresh=True)
    driver.add("a", "b", "c")
    first = driver.take()
    assert driver.nothing(), "a broker that knows no sequence would take b even if it refused a"
    driver.answer(first, KafkaError.NOT_ENOUGH_REPLICAS)
    driver.back_off()
    first = driver.take()
    assert names(first) == ["a"]
    driver.answer(first)
    assert [names(driver.take()), names(driver.take())] == [["b"], ["c"]]


# ---- answers


def test_a_delivered_batch_has_its_offset_and_the_brokers_time() -> None:
    driver = Driver()
    driver.add("a")
    driver.answer(driver.take(), offset=42, log_append_time_ms=1234)
    verdict = driver.settled[0]
    assert (verdict.error, verdict.base_offset, verdict.log_append_time_ms) == (None, 42, 1234)
    assert driver.batcher.empty


def test_a_duplicate_is_delivered_with_its_offset_unknown() -> None:
    driver = Driver()
    driver.add("a")
    driver.answer(driver.take(), KafkaError.DUPLICATE_SEQUENCE_NUMBER, offset=-1)
    assert (driver.settled[0].error, driver.settled[0].base_offset) == (None, -1)


def test_without_acks_sent_is_delivered() -> None:
    driver = Driver(BatcherRules(acks=0, idempotent=False))
    driver.add("a")
    shipment = driver.take()
    driver.note(driver.batcher.answered(shipment, ProduceResponse(), driver.clock.monotonic()))
    assert (driver.outcome(), driver.settled[0].base_offset) == ([("a", 0)], -1)


def test_without_acks_a_broken_connection_is_a_failure() -> None:
    driver = Driver(BatcherRules(acks=0, idempotent=False))
    driver.add("a")
    driver.lose(driver.take())
    assert driver.outcome() == [("a", KafkaError._TRANSPORT)]
    assert driver.batcher.empty


def test_an_answer_that_lacks_a_partition_is_not_taken_for_success() -> None:
    driver = Driver()
    driver.add("a")
    driver.note(driver.batcher.answered(driver.take(), ProduceResponse(), driver.clock.monotonic()))
    assert driver.outcome() == []
    driver.back_off()
    assert names(driver.take()) == ["a"]


def test_an_answer_by_topic_id_is_understood() -> None:
    driver = Driver()
    driver.add("a")
    shipment = driver.take()
    topic_id = UUID(int=5)
    shipment.topic_ids = {topic_id: TOPIC}
    answer = TopicProduceResponse("", topic_id, [PartitionProduceResponse(0, 0, 3)])
    driver.note(driver.batcher.answered(shipment, ProduceResponse([answer]), driver.clock.monotonic()))
    assert [(str(item.batch), item.base_offset) for item in driver.settled] == [("a", 3)]


@pytest.mark.parametrize("code", [KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.INVALID_RECORD])
def test_an_error_that_will_not_pass_fails_the_batch_with_the_brokers_words(code: int) -> None:
    driver = Driver()
    driver.add("a")
    driver.answer(driver.take(), code, -1, error_message="because")
    assert driver.outcome() == [("a", code)]
    assert driver.settled[0].error is not None
    assert driver.settled[0].error.str() == "because"


def test_a_fenced_producer_cannot_go_on() -> None:
    driver = Driver()
    driver.add("a")
    driver.answer(driver.take(), KafkaError.PRODUCER_FENCED)
    assert driver.last.fatal == KafkaError.PRODUCER_FENCED


def test_cluster_authorization_is_fatal_only_for_an_idempotent_producer() -> None:
    for rules, fatal in ((BatcherRules(), True), (PLAIN, False)):
        driver = Driver(rules)
        driver.add("a")
        driver.answer(driver.take(), KafkaError.CLUSTER_AUTHORIZATION_FAILED)
        assert driver.outcome() == [("a", KafkaError.CLUSTER_AUTHORIZATION_FAILED)]
        assert (driver.last.fatal is not None) is fatal


def test_fail_all_ends_everything() -> None:
    driver = Driver()
    driver.add("a", "b")
    driver.take()
    driver.note(driver.batcher.fail_all(KafkaError(KafkaError._FATAL)))
    assert driver.outcome() == [("a", KafkaError._FATAL), ("b", KafkaError._FATAL)]
    assert driver.batcher.ids.phase is IdentityPhase.FAILED
    driver.add("c")
    assert driver.nothing()


# ---- retries and order


def test_a_lost_connection_sends_again_in_order_one_at_a_time() -> None:
    driver = Driver()
    driver.add("a", "b", "c", "d")
    for shipment in [driver.take() for _ in range(3)]:
        driver.lose(shipment)
    assert driver.last.stale_topics == {TOPIC}
    assert driver.nothing(), "the back-off is not over"
    driver.back_off()
    again = driver.take()
    assert (names(again), numbers(again)) == (["a"], [(0, 0)])
    assert driver.nothing(), "one at a time until one succeeds"
    driver.answer(again)
    again = driver.take()
    assert (names(again), numbers(again)) == (["b"], [(0, 10)])
    driver.answer(again)
    third = driver.take()
    driver.answer(third)
    assert names(third) == ["c"]
    assert names(driver.take()) == ["d"]


def test_batches_that_fail_together_wait_once() -> None:
    driver = Driver()
    driver.add("a", "b", "c")
    shipments = [driver.take() for _ in range(3)]
    for shipment in shipments:
        driver.lose(shipment)
    due_s = driver.batcher.next_deadline_s()
    assert due_s is not None
    assert 0.07 < due_s - driver.clock.monotonic() < 0.13, "about retry.backoff.ms, not doubled per batch"


def test_a_retry_waits_for_the_rest_in_flight() -> None:
    driver = Driver()
    driver.add("a", "b")
    first, second = driver.take(), driver.take()
    driver.answer(first, NOT_LEADER)
    driver.back_off()
    assert driver.nothing(), "b's fate is open"
    driver.answer(second, OUT_OF_ORDER)
    driver.back_off()
    assert names(driver.take()) == ["a"]


def test_a_hint_names_the_new_leader_and_the_retry_goes_there_at_once() -> None:
    driver = Driver()
    driver.add("a")
    driver.hint(driver.take(), leader=2, epoch=5)
    assert driver.last.hints == [(TOPIC, 0, 2, 5)]
    assert [(item.node_id, item.host) for item in driver.last.endpoints] == [(2, "host2")]
    assert driver.last.stale_topics == set()
    driver.batcher.use_view(view({0: 2}, epoch=5))
    assert names(driver.take(2)) == ["a"]


def test_batches_refused_by_an_old_leader_go_to_a_known_new_one_at_once() -> None:
    """Found by `make faults` (reassign): each batch in flight counted as a failure, and the last one waited."""
    driver = Driver()
    driver.add(*"abcdef")
    sent = [driver.take() for _ in range(5)]
    driver.hint(sent[0], leader=2, epoch=5)
    driver.batcher.use_view(view({0: 2}, epoch=5))
    for shipment in sent[1:]:
        assert driver.nothing(2), "others are at broker 1 still"
        driver.hint(shipment, leader=2, epoch=5)
        assert driver.last.stale_topics == set()
    first = driver.take(2)
    assert (names(first), numbers(first)) == (["a"], [(0, 0)])
    driver.hint(first, leader=1, epoch=4)  # this one lags behind: now it takes time
    assert driver.last.stale_topics == {TOPIC}
    assert driver.nothing(2)
    driver.clock.advance(0.25)
    driver.expire()
    assert names(driver.take(2)) == ["a"], "they count as one failure: it waits twice retry.backoff.ms at most"


def test_an_old_hint_is_not_believed() -> None:
    driver = Driver()
    driver.batcher.use_view(view({0: 1}, epoch=9))
    driver.add("a")
    driver.hint(driver.take(), leader=2, epoch=5)
    assert driver.last.hints == []
    assert driver.last.stale_topics == {TOPIC}


def test_markers_that_are_being_written_are_not_waited_for_as_long_as_a_failure() -> None:
    waits_s = []
    for code in (KafkaError.CONCURRENT_TRANSACTIONS, KafkaError.NOT_ENOUGH_REPLICAS):
        driver = Driver()
        driver.add("a")
        driver.answer(driver.take(), code)
        due_s = driver.batcher.next_deadline_s()
        assert due_s is not None
        waits_s.append(due_s - driver.clock.monotonic())
    assert waits_s[0] == pytest.approx(MARKERS_FIRST_S)
    assert waits_s[1] > MARKERS_MOST_S


def test_new_batches_wait_until_the_old_leader_has_answered() -> None:
    driver = Driver()
    driver.add("a", "b")
    first = driver.take(1)
    driver.batcher.use_view(view({0: 2}, epoch=1))
    assert driver.nothing(2), "a is still at broker 1: b could overtake it"
    driver.answer(first, NOT_LEADER)
    driver.back_off()
    again = driver.take(2)
    assert (names(again), numbers(again)) == (["a"], [(0, 0)])
    driver.answer(again)
    assert names(driver.take(2)) == ["b"]


def test_batches_for_a_topic_made_anew_wait_until_those_for_the_old_one_are_answered() -> None:
    driver = Driver()
    driver.batcher.use_view(view({0: 1}, topic_id=UUID(int=1)))
    driver.add("a", "b", "c")
    first = driver.take()
    driver.batcher.use_view(view({0: 1}, topic_id=UUID(int=2)))
    assert driver.nothing(), "the new topic would take b, and a would come behind it"
    driver.answer(first, KafkaError.UNKNOWN_TOPIC_ID)
    driver.back_off()
    again = driver.take()
    assert (names(again), numbers(again)) == (["a"], [(0, 0)])
    driver.answer(again)
    assert [names(driver.take()), names(driver.take())] == [["b"], ["c"]]


def test_the_first_batch_of_a_topic_made_anew_is_alone_until_it_is_acknowledged() -> None:
    driver = Driver()
    driver.batcher.use_view(view({0: 1}, topic_id=UUID(int=1)))
    driver.add("a")
    driver.answer(driver.take())
    driver.batcher.use_view(view({0: 1}, topic_id=UUID(int=2)))
    driver.add("b", "c")
    first = driver.take()
    assert names(first) == ["b"]
    assert driver.nothing(), "a log that knows no sequences of this producer would take c without b"
    driver.answer(first)
    assert names(driver.take()) == ["c"]


def test_a_topic_that_is_away_for_a_while_is_still_the_same() -> None:
    driver = Driver()
    driver.batcher.use_view(view({0: 1}, topic_id=UUID(int=1)))
    driver.add("a", "b")
    driver.take()
    driver.batcher.use_view(view({}, topic="another"))
    driver.batcher.use_view(view({0: 1}, topic_id=UUID(int=1)))
    assert names(driver.take()) == ["b"]


def test_records_for_partitions_a_recreated_topic_lacks_fail_after_two_views() -> None:
    driver = Driver()
    driver.batcher.use_view(view({0: 1, 1: 1}, topic_id=UUID(int=1)))
    driver.add("a", "b", partition=1)
    driver.add("c")
    driver.take()
    for seen_s in (0.0, LACKING_S / 2, LACKING_S / 2):
        driver.clock.advance(seen_s)
        assert driver.settled == []
        driver.batcher.use_view(view({0: 1}, topic_id=UUID(int=2)))
        driver.note(driver.batcher.fail_lacking(driver.clock.monotonic()))
    assert driver.outcome() == [("a", KafkaError._UNKNOWN_PARTITION), ("b", KafkaError._UNKNOWN_PARTITION)]
    driver.batcher.use_view(view({0: 1, 1: 1}, topic_id=UUID(int=2)))
    assert driver.batcher.leaderless_topics() == set()


@pytest.mark.parametrize("views", [[{0: 1}, {0: 1, 1: 1}, {0: 1}], [{0: 1}, {}, {0: 1}]], ids=["lagging", "away"])
def test_a_partition_that_one_view_lacks_is_waited_for(views: list[dict[int, int | None]]) -> None:
    driver = Driver()
    driver.batcher.use_view(view({0: 1, 1: 1}, topic_id=UUID(int=1)))
    driver.add("a", partition=1)
    for leaders in views:
        driver.batcher.use_view(view(leaders, topic_id=UUID(int=2), topic=TOPIC if leaders else "another"))
        driver.note(driver.batcher.fail_lacking(driver.clock.monotonic()))
        driver.clock.advance(LACKING_S)
    assert driver.settled == []


def test_a_topic_that_is_the_same_is_believed_to_keep_its_partitions() -> None:
    driver = Driver()
    driver.add("a", partition=1)
    for _ in range(3):
        driver.batcher.use_view(view({0: 1}, topic_id=UUID(int=1)))  # the first id: from a broker that lags behind
        driver.note(driver.batcher.fail_lacking(driver.clock.monotonic()))
        driver.clock.advance(LACKING_S)
    assert driver.settled == []


def test_retries_end_with_the_last_error() -> None:
    driver = Driver(replace(PLAIN, retries=1))
    driver.add("a")
    driver.answer(driver.take(), KafkaError.NOT_ENOUGH_REPLICAS)
    driver.back_off()
    driver.answer(driver.take(), KafkaError.NOT_ENOUGH_REPLICAS)
    assert driver.outcome() == [("a", KafkaError.NOT_ENOUGH_REPLICAS)]
    assert driver.batcher.empty


def test_an_error_of_ours_that_will_not_pass_is_not_tried_again() -> None:
    driver = Driver()
    driver.add("a")
    driver.note(driver.batcher.failed(driver.take(), AuthError("wrong password"), driver.clock.monotonic()))
    assert driver.outcome() == [("a", KafkaError._AUTHENTICATION)]
    assert driver.batcher.requests_in_flight(1) == 0


def test_the_encoded_bytes_are_kept_for_a_retry_under_the_same_numbers() -> None:
    driver = Driver()
    driver.add("a")
    shipment = driver.take()
    shipment.items[0][1].encoded = b"bytes"
    driver.lose(shipment)
    driver.back_off()
    assert driver.take().items[0][1].encoded == b"bytes"


# ---- too large


def test_a_batch_that_is_too_large_goes_as_two_halves_in_its_place() -> None:
    driver = Driver()
    driver.add("a", count=5)
    driver.add("b", count=5)
    first, second = driver.take(), driver.take()
    driver.answer(first, KafkaError.MSG_SIZE_TOO_LARGE)
    driver.answer(second, OUT_OF_ORDER)
    driver.back_off()
    sent = []
    while driver.batcher.nodes() and (shipment := driver.take()):
        sent.append((names(shipment), numbers(shipment)))
        driver.answer(shipment)
    assert sent == [(["aa"], [(0, 0)]), (["ab"], [(0, 2)]), (["b"], [(0, 5)])]


def test_halves_are_halved_again_in_order() -> None:
    driver = Driver()
    driver.add("a", count=4)
    driver.answer(driver.take(), KafkaError.MSG_SIZE_TOO_LARGE)
    driver.answer(driver.take(), KafkaError.MSG_SIZE_TOO_LARGE)
    order = []
    while driver.batcher.nodes() and not driver.batcher.empty:
        shipment = driver.take()
        order.append((names(shipment)[0], numbers(shipment)[0][1]))
        driver.answer(shipment)
    assert order == [("aaa", 0), ("aab", 1), ("ab", 2)]


def test_a_single_record_that_is_too_large_fails_and_the_next_takes_its_sequence() -> None:
    driver = Driver()
    driver.add("a", count=1)
    driver.answer(driver.take(), KafkaError.MSG_SIZE_TOO_LARGE)
    assert driver.outcome() == [("a", KafkaError.MSG_SIZE_TOO_LARGE)]
    driver.add("b")
    assert numbers(driver.take()) == [(0, 0)], "the broker never saw sequence 0"


# ---- time-outs


def test_a_batch_that_is_never_sent_times_out() -> None:
    driver = Driver(BatcherRules(message_timeout_s=10), leaders={0: None})
    driver.add("a")
    driver.clock.advance(5)
    driver.add("b")
    assert driver.batcher.next_deadline_s() == 1010.0
    driver.clock.advance(4.9)
    driver.expire()
    assert driver.outcome() == []
    driver.clock.advance(0.1)
    driver.expire()
    assert driver.outcome() == [("a", TIMED_OUT)]
    assert "not sent yet" in driver.settled[0].error.str()
    assert driver.batcher.next_deadline_s() == 1015.0


def test_the_text_of_a_time_out_names_the_last_error_or_the_first_cause() -> None:
    driver = Driver(BatcherRules(message_timeout_s=10))
    driver.add("a")
    driver.lose(driver.take())
    driver.add("x", partition=2)
    driver.clock.advance(10)
    cause = AuthError("wrong password for alice")
    driver.note(driver.batcher.expire(driver.clock.monotonic(), cause))
    texts = {str(item.batch): item.error.str() for item in driver.settled if item.error}
    assert "1 try; last error: connection lost" in texts["a"]
    assert "first cause: wrong password for alice" in texts["x"]


def test_a_batch_that_waits_behind_failures_names_them() -> None:
    driver = Driver(BatcherRules(message_timeout_s=10))
    driver.add("a", "b")
    driver.answer(driver.take(), KafkaError.NOT_ENOUGH_REPLICAS)
    driver.clock.advance(10)
    driver.expire()
    texts = {str(item.batch): item.error.str() for item in driver.settled if item.error}
    assert "it waited behind batches that failed: Broker: Not enough in-sync replicas" in texts["b"]
    driver.back_off()
    driver.add("c")
    driver.answer(driver.take())
    assert driver.outcome()[-1] == ("c", 0)
    driver.leaders[0] = None
    driver.batcher.use_view(view(driver.leaders))
    driver.add("d")
    driver.clock.advance(10)
    driver.expire()
    assert driver.settled[-1].error is not None
    assert "it was not sent yet" in driver.settled[-1].error.str(), "that is over since c succeeded"


def test_a_refused_batch_times_out_although_a_younger_one_is_in_flight() -> None:
    driver = Driver(BatcherRules(message_timeout_s=10))
    driver.add("a")
    first = driver.take()
    driver.clock.advance(5)
    driver.add("b")
    driver.take()
    driver.answer(first, KafkaError.NOT_ENOUGH_REPLICAS)
    driver.clock.advance(5)
    driver.expire()
    assert driver.outcome() == [("a", TIMED_OUT)]
    assert driver.batcher.next_deadline_s() == 1015.0


def test_a_batch_in_flight_times_out_and_its_late_success_closes_the_gap() -> None:
    driver = Driver(BatcherRules(message_timeout_s=10))
    driver.add("a")
    shipment = driver.take()
    driver.clock.advance(10)
    driver.expire()
    assert driver.outcome() == [("a", TIMED_OUT)]
    driver.add("b")
    assert driver.nothing(), "whether a is in the log is not known yet"
    driver.answer(shipment, offset=3)
    assert driver.outcome() == [("a", TIMED_OUT)], "no second verdict"
    assert numbers(driver.take()) == [(0, 10)]


def test_a_retry_past_its_time_is_reported_when_its_answer_comes() -> None:
    driver = Driver(BatcherRules(message_timeout_s=10))
    driver.add("a")
    shipment = driver.take()
    driver.clock.advance(11)
    driver.lose(shipment)
    assert driver.outcome() == [("a", TIMED_OUT)]
    assert driver.batcher.empty


def test_no_time_out_when_it_is_infinite() -> None:
    driver = Driver(BatcherRules(message_timeout_s=float("inf")), leaders={0: None})
    driver.add("a")
    assert driver.batcher.next_deadline_s() is None


# ---- epochs (KIP-360)


def test_after_a_gap_new_batches_begin_a_new_epoch() -> None:
    driver = Driver(BatcherRules(message_timeout_s=10))
    driver.add("a")
    shipment = driver.take()
    driver.clock.advance(11)
    driver.lose(shipment)
    driver.add("b")
    assert numbers(driver.take()) == [(1, 0)]


def test_batches_behind_a_timed_out_one_are_tried_then_renumbered_in_order() -> None:
    driver = Driver(BatcherRules(message_timeout_s=10))
    driver.add("a")
    driver.clock.advance(5)
    driver.add("b", "c")
    first, second, third = (driver.take() for _ in range(3))
    for shipment in (first, second, third):
        driver.lose(shipment)
    driver.clock.advance(5)
    driver.expire()
    assert driver.outcome() == [("a", TIMED_OUT)]
    again = driver.take()
    assert (names(again), numbers(again)) == (["b"], [(0, 10)]), "a may be in the log: then b is in order"
    driver.answer(again, OUT_OF_ORDER)
    driver.back_off()
    again = driver.take()
    assert (names(again), numbers(again)) == (["b"], [(1, 0)])
    driver.answer(again)
    again = driver.take()
    assert (names(again), numbers(again)) == (["c"], [(1, 10)])


def test_out_of_order_behind_a_failed_batch_is_only_a_retry() -> None:
    driver = Driver()
    driver.add("a", "b")
    first, second = driver.take(), driver.take()
    driver.answer(first, KafkaError.NOT_ENOUGH_REPLICAS)
    driver.answer(second, OUT_OF_ORDER)
    driver.back_off()
    again = driver.take()
    driver.answer(again)
    assert (names(again), numbers(again)) == (["a"], [(0, 0)])
    assert numbers(driver.take()) == [(0, 10)]


def test_a_broker_that_lost_its_log_gets_a_new_epoch() -> None:
    driver = Driver()
    driver.add("a")
    driver.answer(driver.take())
    driver.add("b")
    driver.answer(driver.take(), KafkaError.UNKNOWN_PRODUCER_ID)
    driver.back_off()
    assert numbers(driver.take()) == [(1, 0)]


def test_batches_behind_a_refused_one_go_under_a_new_epoch() -> None:
    driver = Driver()
    driver.add("a", "b")
    first, second = driver.take(), driver.take()
    driver.answer(first, KafkaError.INVALID_RECORD)
    driver.answer(second, OUT_OF_ORDER)
    driver.back_off()
    again = driver.take()
    assert (names(again), numbers(again)) == (["b"], [(1, 0)])


def test_an_old_epoch_fails_the_batch_and_the_next_has_a_new_one() -> None:
    driver = Driver()
    driver.add("a")
    driver.answer(driver.take(), KafkaError.INVALID_PRODUCER_EPOCH)
    assert driver.outcome() == [("a", KafkaError.INVALID_PRODUCER_EPOCH)]
    driver.add("b")
    assert numbers(driver.take()) == [(1, 0)]


def test_other_partitions_finish_the_old_epoch_before_they_take_the_new_one() -> None:
    driver = Driver()
    driver.add("p")
    driver.answer(driver.take())
    driver.add("q", partition=1)
    at_old = driver.take()
    driver.add("r", partition=0)
    driver.answer(driver.take(), OUT_OF_ORDER)
    driver.back_off()
    driver.add("s", partition=1)
    bumped = driver.take()
    assert (names(bumped), numbers(bumped)) == (["r"], [(1, 0)])
    assert driver.nothing(), "q is in flight under epoch 0"
    driver.answer(at_old)
    assert numbers(driver.take()) == [(1, 0)]


def test_a_second_broken_partition_uses_the_epoch_that_the_first_one_began() -> None:
    driver = Driver()
    driver.add("a")
    driver.add("b", partition=1)
    driver.answer(driver.take())
    driver.add("c")
    driver.add("d", partition=1)
    driver.answer(driver.take(), OUT_OF_ORDER)
    driver.back_off()
    assert numbers(driver.take()) == [(1, 0), (1, 0)]


def test_when_epochs_run_out_sending_waits_for_a_new_id() -> None:
    driver = Driver()
    driver.batcher.ids.identity = ProducerIdentity(7, MAX_EPOCH)
    driver.add("a")
    driver.answer(driver.take(), OUT_OF_ORDER)
    driver.back_off()
    assert driver.nothing()
    assert driver.batcher.needs_identity()
    driver.batcher.ids.requested()
    driver.batcher.ids.granted(ProducerIdentity(8, 0))
    shipment = driver.take()
    assert shipment.items[0][1].identity == ProducerIdentity(8, 0)
    assert numbers(shipment) == [(0, 0)]


# ---- purge


def test_purge_tells_what_was_sent_from_what_was_not() -> None:
    driver = Driver()
    driver.add("a", "b")
    driver.take()
    driver.note(driver.batcher.purge(queued=True, sent=True))
    assert driver.outcome() == [("a", KafkaError._PURGE_INFLIGHT), ("b", KafkaError._PURGE_QUEUE)]


def test_purge_of_the_queue_leaves_what_was_sent() -> None:
    driver = Driver()
    driver.add("a", "b", "c")
    first = driver.take()
    second = driver.take()
    driver.lose(second)
    driver.note(driver.batcher.purge(queued=True, sent=False))
    assert driver.outcome() == [("c", KafkaError._PURGE_QUEUE)]
    driver.answer(first)
    driver.back_off()
    assert names(driver.take()) == ["b"]


def test_after_a_purge_in_flight_the_sequence_is_sound_again() -> None:
    driver = Driver()
    driver.add("a")
    shipment = driver.take()
    driver.note(driver.batcher.purge(queued=False, sent=True))
    driver.lose(shipment)
    driver.add("b")
    assert numbers(driver.take()) == [(1, 0)]


def test_a_topic_that_is_gone_fails_only_its_own_batches() -> None:
    driver = Driver()
    driver.add("a")
    driver.batcher.add([FakeBatch("x", topic="other")])
    driver.note(driver.batcher.fail_topic("other", KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART)))
    assert driver.outcome() == [("x", KafkaError.UNKNOWN_TOPIC_OR_PART)]
    assert names(driver.take()) == ["a"]


# ---- without idempotence


def test_without_idempotence_batches_have_no_numbers() -> None:
    driver = Driver(PLAIN)
    driver.add("a")
    assert numbers(driver.take()) == [(-1, -1)]
    assert not driver.batcher.needs_identity()


def test_without_idempotence_batches_behind_a_lost_one_go_on() -> None:
    driver = Driver(replace(PLAIN, message_timeout_s=10))
    driver.add("a")
    shipment = driver.take()
    driver.clock.advance(10)
    driver.expire()
    driver.add("b")
    assert names(driver.take()) == ["b"]
    driver.lose(shipment)
    assert driver.outcome() == [("a", TIMED_OUT)]
