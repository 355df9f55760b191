"""Transactions in kafka-python 3.0's administration, on `kafka_core.admin`.

Must not hold any protocol. Spec: KIP-664; `kafka.admin`'s names.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, Final

from kafka_core import TopicPartition as Place
from kafka_core import admin as ours
from kserdes.compat.kafka.admin.base import AdminBase
from kserdes.compat.kafka.admin.values import (
    PartitionProducerState,
    ProducerState,
    TransactionDescription,
    TransactionListing,
    TransactionState,
)
from kserdes.compat.kafka.failures import translating
from kserdes.compat.kafka.structs import TopicPartition

__all__ = ["TransactionCalls"]

GRACE_MS: Final = 300_000
OPEN: Final = (TransactionState.ONGOING, TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT)


class TransactionCalls(AdminBase):
    """The calls about transactions and producers."""

    def list_transactions(
        self,
        broker_ids: Sequence[int] | None = None,
        producer_id_filters: Sequence[int] | None = None,
        state_filters: Sequence[TransactionState | str] | None = None,
        duration_filter_ms: int | None = None,
        transactional_id_pattern: str | None = None,
    ) -> dict[int, list[TransactionListing]]:
        """Transactional ids that pass every filter, by the broker that coordinates them."""
        with translating():
            answers = self._client.list_transactions(
                states=[getattr(each, "value", each) for each in state_filters or ()],
                producer_ids=list(producer_id_filters or ()),
                longer_than_ms=-1 if duration_filter_ms is None else duration_filter_ms,
                transactional_id_pattern=transactional_id_pattern,
                brokers=broker_ids,
            ).result()
            return {
                node_id: [
                    TransactionListing(each.transactional_id, each.producer_id, state_of(each.state))
                    for each in answer.result() or ()
                ]
                for node_id, answer in answers.items()
            }

    def describe_transactions(self, transactional_ids: Iterable[str]) -> dict[str, TransactionDescription]:
        """The coordinators' descriptions of transactional ids.

        Raises:
            TransactionalIdNotFoundError: one is not known.
        """
        wanted = list(dict.fromkeys(transactional_ids))
        with translating():
            answers = self._client.describe_transactions(wanted) if wanted else {}
            return {name: description(answer.result()) for name, answer in answers.items()}

    def describe_producers(
        self, partitions: Iterable[TopicPartition], broker_id: int | None = None
    ) -> dict[TopicPartition, PartitionProducerState]:
        """The producers of partitions, as their leaders or one replica know them.

        Raises:
            BrokerResponseError: a partition is not there, or not on that broker.
        """
        with translating():
            answers = self._client.describe_producers([Place(*each) for each in partitions], broker_id=broker_id)
            return {
                TopicPartition(place.topic, place.partition): PartitionProducerState(
                    [producer(each) for each in answer.result()]
                )
                for place, answer in answers.items()
            }

    def find_hanging_transactions(
        self, broker_ids: Sequence[int] | None = None, max_transaction_timeout_ms: int = 900_000
    ) -> list[dict[str, Any]]:
        """Open transactions that are older than that and five minutes."""
        names = [each.transactional_id for found in self.list_transactions(broker_ids).values() for each in found]
        now_ms = int(time.time() * 1000)
        hanging = []
        for name, found in self.describe_transactions(names).items():
            age_ms = now_ms - found.transaction_start_time_ms
            if found.transaction_start_time_ms < 0 or found.state not in OPEN:
                continue
            if age_ms > max_transaction_timeout_ms + GRACE_MS:
                hanging.append(
                    {
                        "transactional_id": name,
                        "producer_id": found.producer_id,
                        "producer_epoch": found.producer_epoch,
                        "state": found.state.value,
                        "age_ms": age_ms,
                        "coordinator_id": found.coordinator_id,
                        "topic_partitions": sorted(found.topic_partitions),
                    }
                )
        return hanging


def state_of(word: str) -> TransactionState:
    """The member that a broker names; UNKNOWN for a word that is new."""
    return TransactionState(word) if word in TransactionState._value2member_map_ else TransactionState.UNKNOWN


def number(value: int | None) -> int:
    """-1 for nothing, as there."""
    return -1 if value is None else value


def description(found: ours.TransactionDescription) -> TransactionDescription:
    """As kafka-python shows it."""
    return TransactionDescription(
        found.coordinator_id,
        state_of(found.state),
        found.producer_id,
        found.producer_epoch,
        found.timeout_ms,
        number(found.start_time_ms),
        {TopicPartition(each.topic, each.partition) for each in found.partitions},
    )


def producer(found: ours.ProducerState) -> ProducerState:
    """As kafka-python shows it."""
    return ProducerState(
        found.producer_id,
        found.producer_epoch,
        found.last_sequence,
        found.last_timestamp,
        number(found.coordinator_epoch),
        number(found.current_transaction_start_offset),
    )
