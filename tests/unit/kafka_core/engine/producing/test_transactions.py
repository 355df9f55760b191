"""The states of a transactional producer: allowed moves, what belongs to a transaction, what errors lead to."""

from __future__ import annotations

import itertools

import pytest

from kafka_core.engine.producing import transaction_requests as requests
from kafka_core.engine.producing.sequences import ProducerIdentity, ProducerIds
from kafka_core.engine.producing.transactions import (
    MOVES,
    Calls,
    Transactions,
    TransactionState,
    Verdict,
    verdict_on,
    verdict_on_records,
)
from kafka_core.errors import KafkaError, KafkaException, StateError
from kafka_core.model import ConsumerGroupMetadata, TopicPartition
from kafka_core.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopicResult,
)
from kafka_core.protocol.messages.txn_offset_commit import TxnOffsetCommitResponse

FIRST = ProducerIdentity(7, 0)
S = TransactionState


def ready(protocol: int = 1) -> Transactions:
    made = Transactions(ProducerIds())
    made.move(S.WAIT_PID)
    made.initialized(FIRST)
    made.protocol = protocol
    return made


def open_(protocol: int = 1) -> Transactions:
    made = ready(protocol)
    made.begin()
    return made


def refusal(call: object, *arguments: object) -> KafkaError:
    with pytest.raises(KafkaException) as raised:
        call(*arguments)  # type: ignore[operator]
    return raised.value.error


@pytest.mark.parametrize(("before", "after"), list(itertools.product(S, S)))
def test_only_moves_of_the_table_are_possible(before: S, after: S) -> None:
    made = Transactions(ProducerIds())
    made.state = before
    if after in MOVES[before]:
        made.move(after)
        assert made.state is after
    else:
        with pytest.raises(StateError, match=f"{before.value} to {after.value}"):
            made.move(after)


def test_every_state_but_the_last_can_fail_for_good() -> None:
    assert all(S.FATAL_ERROR in after for before, after in MOVES.items() if before is not S.FATAL_ERROR)
    assert MOVES[S.FATAL_ERROR] == frozenset()


def test_a_whole_transaction() -> None:
    made = ready()
    assert (made.takes_records, made.sends_records) == (False, False)
    made.begin()
    assert (made.takes_records, made.sends_records) == (True, True)
    assert not made.sends_all
    made.begin_commit()
    made.begin_commit()
    assert (made.takes_records, made.sends_records, made.sends_all) == (False, True, True)
    made.commit()
    made.commit()
    assert (made.sends_records, made.sends_all) == (False, False)
    made.ended()
    assert made.state is S.READY
    assert made.ids.identity == FIRST


def test_the_end_brings_the_next_identity() -> None:
    made = open_(2)
    made.begin_abort()
    made.abort()
    made.ended(ProducerIdentity(7, 1))
    assert made.ids.identity == ProducerIdentity(7, 1)
    assert made.ids.bump() is None


@pytest.mark.parametrize("call", ["begin", "begin_commit", "commit", "begin_abort", "abort"])
def test_calls_before_the_id_are_refused(call: str) -> None:
    error = refusal(getattr(Transactions(ProducerIds()), call))
    assert (error.code(), error.str()) == (KafkaError._STATE, "Operation not valid in state Init")


def test_in_the_first_protocol_a_partition_must_be_added() -> None:
    made = open_()
    assert not made.admits("t", 0)
    assert made.wanted == [("t", 0)]
    assert not made.touched
    made.adding()
    assert (made.touched, made.reached) == (True, False)
    made.added([("t", 0)])
    assert (made.touched, made.reached) == (True, True)
    assert (made.admits("t", 0), made.wanted) == (True, [])
    made.begin_commit()
    assert made.admits("t", 0)
    made.commit()
    assert not made.admits("t", 0)
    made.ended()
    made.begin()
    assert not made.admits("t", 0)


def test_in_the_second_protocol_writing_adds_it() -> None:
    made = open_(2)
    assert not made.touched
    assert made.admits("t", 0)
    assert (made.touched, made.wanted) == (True, [])


def test_failed_records_make_it_abortable_and_the_first_reason_stays() -> None:
    made = open_()
    assert made.records_failed(3, KafkaError(KafkaError.MSG_SIZE_TOO_LARGE), "3 records") is None
    made.abortable(KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED))
    assert made.state is S.ABORTABLE_ERROR
    error = refusal(made.begin_commit)
    assert (error.code(), error.txn_requires_abort(), error.fatal()) == (KafkaError.MSG_SIZE_TOO_LARGE, True, False)
    assert not made.needs_epoch
    made.begin_abort()
    assert made.records_failed(1, KafkaError(KafkaError._PURGE_QUEUE), "1 record") is None
    made.abort()
    made.ended()
    made.begin()
    made.begin_commit()
    made.commit()


def test_records_purged_by_the_application_are_missing_from_the_commit() -> None:
    made = open_()
    made.records_failed(2, KafkaError(KafkaError._PURGE_QUEUE), "2 records")
    assert refusal(made.begin_commit).txn_requires_abort()


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        (KafkaError.INVALID_PRODUCER_EPOCH, Verdict.ABORT_AND_BUMP),
        (KafkaError._MSG_TIMED_OUT, Verdict.ABORT_AND_BUMP),
        (KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER, Verdict.ABORT_AND_BUMP),
        (KafkaError.PRODUCER_FENCED, Verdict.FENCED),
        (KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, Verdict.FATAL),
        (KafkaError.TRANSACTION_ABORTABLE, Verdict.ABORT),
        (KafkaError.COORDINATOR_NOT_AVAILABLE, Verdict.ABORT),
    ],
)
def test_verdicts_on_failed_records(code: int, verdict: Verdict) -> None:
    assert verdict_on_records(KafkaError.standard(code)) is verdict


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        (KafkaError.CONCURRENT_TRANSACTIONS, Verdict.RETRY),
        (KafkaError.NOT_COORDINATOR, Verdict.FIND_COORDINATOR),
        (KafkaError.INVALID_PRODUCER_EPOCH, Verdict.FENCED),
        (KafkaError.ILLEGAL_GENERATION, Verdict.ABORT),
        (KafkaError.TRANSACTION_ABORTABLE, Verdict.ABORT),
        (KafkaError.INVALID_TXN_STATE, Verdict.FATAL),
        (KafkaError.NETWORK_EXCEPTION, Verdict.RETRY),
    ],
)
def test_verdicts_on_errors_of_requests(code: int, verdict: Verdict) -> None:
    assert verdict_on(KafkaError.standard(code)) is verdict


def test_a_fenced_producer_is_done_for() -> None:
    made = open_()
    fatal = made.records_failed(1, KafkaError(KafkaError.PRODUCER_FENCED), "1 record")
    assert fatal is not None
    assert (fatal.code(), fatal.fatal()) == (KafkaError._FENCED, True)
    for call in (made.begin, made.begin_commit, made.begin_abort):
        assert refusal(call).fatal()
    assert made.fail(KafkaError(KafkaError.INVALID_TXN_STATE)).code() == KafkaError._FENCED


def test_offsets_that_may_be_missing_are_not_committed() -> None:
    made = open_()
    made.offsets_open = True
    made.begin_commit()
    error = refusal(made.commit)
    assert (error.code(), error.txn_requires_abort()) == (KafkaError._INCONSISTENT, True)


def test_after_a_time_out_only_the_same_call_goes_on() -> None:
    calls = Calls()
    assert not calls.enter("commit_transaction")
    assert refusal(calls.enter, "commit_transaction").code() == KafkaError._PREV_IN_PROGRESS
    calls.leave(resumable=True)
    error = refusal(calls.enter, "begin_transaction")
    assert (error.code(), error.retriable()) == (KafkaError._CONFLICT, True)
    assert calls.enter("commit_transaction")
    calls.leave(resumable=True)
    calls.give_way("commit_transaction", to="abort_transaction", if_=False)
    assert refusal(calls.enter, "abort_transaction").code() == KafkaError._CONFLICT
    calls.give_way("commit_transaction", to="abort_transaction", if_=True)
    assert calls.enter("abort_transaction")
    calls.leave(resumable=False)
    assert not calls.enter("begin_transaction")


def test_requests_say_who_and_what() -> None:
    request = requests.add_partitions("tx", FIRST, [("a", 0), ("b", 1), ("a", 2)])
    topics = {item.name: item.partitions for item in request.v3_and_below_topics}
    assert topics == {"a": [0, 2], "b": [1]}
    group = ConsumerGroupMetadata("g", 3, "m", "i")
    positions = [TopicPartition("a", 0, 5, leader_epoch=2), TopicPartition("a", 1, 6, metadata="x")]
    old, new = (requests.offsets("tx", FIRST, group, positions, version) for version in (2, 3))
    assert (old.generation_id, old.member_id) == (-1, "")
    assert (new.generation_id, new.member_id, new.group_instance_id) == (3, "m", "i")
    (topic,) = new.topics
    assert [(item.committed_offset, item.committed_leader_epoch, item.committed_metadata) for item in topic.partitions]
    assert [item.committed_offset for item in topic.partitions] == [5, 6]


def test_the_error_that_is_to_blame_comes_first() -> None:
    codes = (KafkaError.OPERATION_NOT_ATTEMPTED, KafkaError.TOPIC_AUTHORIZATION_FAILED, 0)
    results = [AddPartitionsToTxnPartitionResult(index, code) for index, code in enumerate(codes)]
    response = AddPartitionsToTxnResponse(results_by_topic_v3_and_below=[AddPartitionsToTxnTopicResult("t", results)])
    error = requests.add_partitions_error([("t", index) for index in range(3)], response)
    assert error is not None
    assert (error.code(), error.str()[:4]) == (KafkaError.TOPIC_AUTHORIZATION_FAILED, "t[1]")
    assert requests.add_partitions_error([], AddPartitionsToTxnResponse()) is None


def test_what_an_answer_leaves_out_is_asked_again() -> None:
    error = requests.add_partitions_error([("t", 0)], AddPartitionsToTxnResponse())
    assert error is not None
    assert verdict_on(error) is Verdict.RETRY
    error = requests.offsets_error([TopicPartition("t", 0, 5)], TxnOffsetCommitResponse())
    assert error is not None
    assert verdict_on(error) is Verdict.RETRY
    assert "lacks t[0]" in error.str()


@pytest.mark.parametrize(("commit", "protocol", "abortable"), [(True, 2, True), (True, 1, False), (False, 2, False)])
def test_a_commit_that_came_too_late_can_be_aborted(commit: bool, protocol: int, abortable: bool) -> None:
    error = requests.end_error(KafkaError.INVALID_TXN_STATE, commit=commit, protocol=protocol)
    assert error.txn_requires_abort() is abortable
