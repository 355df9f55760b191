"""The requests of a transactional producer and what their answers say.

Must not know connections or states: facts in, messages out.
Spec: AddPartitionsToTxn, AddOffsetsToTxn, TxnOffsetCommit, EndTxn; KIP-98, KIP-447, KIP-890 for versions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kafka_core.engine.producing.sequences import ProducerIdentity
from kafka_core.errors import KafkaError
from kafka_core.model import ConsumerGroupMetadata, TopicPartition
from kafka_core.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from kafka_core.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from kafka_core.protocol.messages.end_txn import EndTxnRequest
from kafka_core.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)

BUMPING_SINCE: Final = 3
"""InitProducerId that takes the id and epoch so far (KIP-360)."""
CLIENTS_ADD_PARTITIONS: Final = 3
"""The last AddPartitionsToTxn for clients; later ones are for brokers among themselves."""
FIRST_PROTOCOL_END: Final = 4
FIRST_PROTOCOL_OFFSETS: Final = 4
"""The last versions of EndTxn and TxnOffsetCommit that mean the first protocol; `transactions` has that of Produce."""
MEMBERS_SINCE: Final = 3
"""TxnOffsetCommit that says which member commits (KIP-447)."""
OFFSETS: Final = TxnOffsetCommitRequest
_SECONDARY: Final = frozenset({KafkaError.OPERATION_NOT_ATTEMPTED})
"""Errors of partitions that others are to blame for."""


def add_partitions(
    transactional_id: str, identity: ProducerIdentity, partitions: Iterable[tuple[str, int]]
) -> AddPartitionsToTxnRequest:
    """Makes partitions part of the transaction."""
    topics: dict[str, AddPartitionsToTxnTopic] = {}
    for topic, partition in partitions:
        topics.setdefault(topic, AddPartitionsToTxnTopic(topic)).partitions.append(partition)
    return AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=transactional_id,
        v3_and_below_producer_id=identity.producer_id,
        v3_and_below_producer_epoch=identity.epoch,
        v3_and_below_topics=list(topics.values()),
    )


def add_partitions_error(
    partitions: Iterable[tuple[str, int]], response: AddPartitionsToTxnResponse
) -> KafkaError | None:
    """The first error that is to blame; None if all partitions were added."""
    codes = {
        f"{topic.name}[{item.partition_index}]": item.partition_error_code
        for topic in response.results_by_topic_v3_and_below
        for item in topic.results_by_partition
    }
    return _first([f"{topic}[{partition}]" for topic, partition in partitions], codes)


def add_offsets(transactional_id: str, identity: ProducerIdentity, group_id: str) -> AddOffsetsToTxnRequest:
    """Makes a group's offsets part of the transaction."""
    return AddOffsetsToTxnRequest(transactional_id, identity.producer_id, identity.epoch, group_id)


def offsets(
    transactional_id: str,
    identity: ProducerIdentity,
    group: ConsumerGroupMetadata,
    positions: Iterable[TopicPartition],
    version: int,
) -> TxnOffsetCommitRequest:
    """Commits offsets with the transaction, in the name of a member where the version can say that."""
    topics: dict[str, TxnOffsetCommitRequestTopic] = {}
    for item in positions:
        epoch = -1 if item.leader_epoch is None else item.leader_epoch
        topics.setdefault(item.topic, TxnOffsetCommitRequestTopic(item.topic)).partitions.append(
            TxnOffsetCommitRequestPartition(item.partition, item.offset, epoch, item.metadata or "")
        )
    request = TxnOffsetCommitRequest(
        transactional_id, group.group_id, identity.producer_id, identity.epoch, topics=list(topics.values())
    )
    if version >= MEMBERS_SINCE:
        request.generation_id, request.member_id = group.generation_id, group.member_id
        request.group_instance_id = group.instance_id
    return request


def offsets_error(positions: Iterable[TopicPartition], response: TxnOffsetCommitResponse) -> KafkaError | None:
    """The first error; None if all offsets were taken."""
    codes = {
        f"{topic.name}[{item.partition_index}]": item.error_code
        for topic in response.topics
        for item in topic.partitions
    }
    return _first([f"{item.topic}[{item.partition}]" for item in positions], codes)


def end(transactional_id: str, identity: ProducerIdentity, *, commit: bool) -> EndTxnRequest:
    """Ends the transaction."""
    return EndTxnRequest(transactional_id, identity.producer_id, identity.epoch, commit)


def end_error(code: int, *, commit: bool, protocol: int) -> KafkaError:
    """Why it could not be ended.

    In the second protocol the coordinator that has aborted a transaction whose time was over answers a commit with
    INVALID_TXN_STATE: an abort brings the next epoch then.
    """
    known = KafkaError.from_code(code)
    over = commit and protocol > 1 and code == KafkaError.INVALID_TXN_STATE
    if not over:
        return known
    text = f"{known.str()}: the broker has aborted the transaction, maybe its time was over (transaction.timeout.ms)"
    return KafkaError(code, text, txn_requires_abort=True)


def _first(asked: list[str], codes: dict[str, int]) -> KafkaError | None:
    """The first error. What an answer leaves out is asked again, unless another error ends that."""
    failed = [(name, code) for name, code in codes.items() if code]
    for name, code in sorted(failed, key=lambda item: item[1] in _SECONDARY):
        known = KafkaError.from_code(code)
        return KafkaError(
            known.code(),
            f"{name}: {known.str()}",
            retriable=known.retriable(),
            txn_requires_abort=known.txn_requires_abort(),
        )
    for name in asked:
        if name not in codes:
            return KafkaError(KafkaError._BAD_MSG, f"the coordinator's answer lacks {name}", retriable=True)
    return None
