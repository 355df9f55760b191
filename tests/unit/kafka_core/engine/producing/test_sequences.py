"""kafka_core.engine.producing.sequences: identities move as the table allows, sequences wrap and are given back."""

import pytest

from kafka_core.engine.producing.sequences import (
    MAX_EPOCH,
    MAX_SEQUENCE,
    IdentityPhase,
    PartitionSequence,
    ProducerIdentity,
    ProducerIds,
    sequence_plus,
)
from kafka_core.errors import KafkaError, StateError


@pytest.mark.parametrize(
    ("sequence", "count", "after"),
    [(0, 5, 5), (MAX_SEQUENCE, 1, 0), (MAX_SEQUENCE - 2, 5, 2), (MAX_SEQUENCE, 0, MAX_SEQUENCE)],
)
def test_sequences_wrap_to_zero_after_the_largest_int32(sequence: int, count: int, after: int) -> None:
    assert sequence_plus(sequence, count) == after


def granted(epoch: int = 0) -> ProducerIds:
    ids = ProducerIds()
    ids.requested()
    ids.granted(ProducerIdentity(7, epoch))
    return ids


def test_the_epoch_is_raised_without_asking_anybody() -> None:
    ids = granted()
    assert ids.bump() == ProducerIdentity(7, 1)
    assert ids.identity == ProducerIdentity(7, 1)
    assert ids.phase is IdentityPhase.KNOWN


def test_when_epochs_run_out_a_new_id_is_needed() -> None:
    ids = granted(MAX_EPOCH)
    assert ids.bump() is None
    assert (ids.phase, ids.identity) == (IdentityPhase.MISSING, None)
    assert ids.bump() is None


def test_an_impossible_move_names_both_phases() -> None:
    with pytest.raises(StateError, match="from missing to known"):
        ProducerIds().granted(ProducerIdentity(7, 0))


def test_the_first_reason_of_a_failure_stays_and_ends_everything() -> None:
    ids = granted()
    ids.fail(KafkaError(KafkaError.CLUSTER_AUTHORIZATION_FAILED))
    ids.fail(KafkaError(KafkaError.PRODUCER_FENCED))
    assert ids.error == KafkaError.CLUSTER_AUTHORIZATION_FAILED
    assert ids.identity is None
    with pytest.raises(StateError, match="from failed to requested"):
        ids.requested()


def test_a_gap_is_what_was_given_out_and_not_acknowledged() -> None:
    sequence = PartitionSequence()
    sequence.restart(ProducerIdentity(7, 0))
    gaps = [sequence.gap]
    assert [sequence.take(5), sequence.take(3)] == [0, 5]
    gaps.append(sequence.gap)
    sequence.acknowledged(0, 5)
    gaps.append(sequence.gap)
    sequence.acknowledged(5, 3)
    gaps.append(sequence.gap)
    assert gaps == [False, True, True, False]


def test_only_the_last_sequence_can_be_given_back() -> None:
    sequence = PartitionSequence()
    sequence.take(5)
    sequence.take(3)
    assert not sequence.give_back(0, 5)
    assert sequence.give_back(5, 3)
    assert sequence.take(2) == 5


def test_a_restart_begins_at_zero_under_the_new_identity() -> None:
    sequence = PartitionSequence()
    sequence.take(5)
    sequence.restart(ProducerIdentity(7, 1))
    assert (sequence.identity, sequence.next, sequence.gap) == (ProducerIdentity(7, 1), 0, False)
