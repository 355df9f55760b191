"""The calls of a transactional producer, and a transaction as a block.

Knows nothing of threads or of how a call waits: the shell supplies that. `tools/generate_twins.py` writes the calls
that wait from those that await. Spec: confluent_kafka.Producer for names, arguments, time-outs and errors; KIP-98,
KIP-447.
"""

from __future__ import annotations

import logging
import time
from abc import abstractmethod
from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from types import TracebackType
from typing import Any, Final, Protocol, TypeVar

from kafka_core.aio.producing.core import ProducerCore
from kafka_core.aio.tasks.timeouts import check_limit
from kafka_core.errors import KafkaError, KafkaException
from kafka_core.model import ConsumerGroupMetadata, TopicPartition

T = TypeVar("T")

logger: Final = logging.getLogger("kafka_core.producer")


class AIOTransactionCalls:
    """The transaction methods that both producers share; the shell of each supplies the waiting."""

    _core: ProducerCore
    _left: AIOTransaction | None = None
    """The block that was broken off in its commit."""

    # ---- the shell

    @abstractmethod
    async def _transact(self, work: Callable[[], Coroutine[Any, Any, T]], timeout_s: float) -> T:
        """Runs a coroutine of the core on its loop, started."""

    @abstractmethod
    async def _step(self, call: Callable[[], None], timeout_s: float) -> None:
        """Runs a function of the core on its loop, started."""

    @abstractmethod
    async def _settle_records(self, deadline_s: float) -> int:
        """Waits for the verdicts on all records, serving reports; how many are left at that (monotonic) time."""

    # ---- calls

    async def init_transactions(self, timeout: float | None = None) -> None:
        """Make this producer the only one with its `transactional.id`; once, before anything else.

        Earlier producers with that id are fenced, and a transaction that one of them left open is aborted (or its
        commit completed, if that had begun).

        Args:
            timeout: Seconds; None or -1: twice transaction.timeout.ms. After a time-out the work goes on, and the call
                can be made again.

        Raises:
            KafkaException: _NOT_CONFIGURED without `transactional.id`; _TIMED_OUT (`retriable`); _STATE when called
                twice; everything else is fatal.
        """
        check_limit(timeout)
        transactor = self._core.transactor
        limit_s = transactor.limit_s(timeout)
        await self._transact(partial(transactor.init, limit_s), limit_s)

    async def begin_transaction(self) -> None:
        """Open a transaction: records produced and offsets sent from here on are committed or aborted as one.

        Raises:
            KafkaException: _STATE: not initialized, or a transaction is open; the standing error, fatal or with
                `txn_requires_abort`.
        """
        transactor = self._core.transactor
        await self._step(transactor.begin, transactor.limit_s(None))

    async def send_offsets_to_transaction(
        self, positions: Iterable[TopicPartition], group_metadata: ConsumerGroupMetadata, timeout: float | None = None
    ) -> None:
        """Commit offsets of a consumer's group as part of the transaction: they count if and when it is committed.

        Args:
            positions: The next offset to read per partition (`consumer.position(…)`); those without an offset are left
                out.
            group_metadata: `consumer.consumer_group_metadata()`. A member that was replaced meanwhile can't commit
                (KIP-447).
            timeout: Seconds; None or -1: twice transaction.timeout.ms. After a time-out the call can be made again,
                also with other offsets.

        Raises:
            KafkaException: `retriable`: try again; `txn_requires_abort`: the membership is stale, or something else
                that only an abort puts right; else fatal.
        """
        if not isinstance(group_metadata, ConsumerGroupMetadata):
            raise TypeError(
                f"group_metadata must be what consumer_group_metadata() gives, not {type(group_metadata).__name__}"
            )
        check_limit(timeout)
        transactor = self._core.transactor
        limit_s = transactor.limit_s(timeout)
        await self._transact(partial(transactor.send_offsets, list(positions), group_metadata, limit_s), limit_s)

    async def commit_transaction(self, timeout: float | None = None) -> None:
        """Send all records of the transaction, then make them, and its offsets, visible to `read_committed` readers.

        Delivery reports are served meanwhile.

        Args:
            timeout: Seconds; None or -1: twice transaction.timeout.ms. After a time-out the call must be made again: it
                resumes. (As long as records are being sent, `abort_transaction` may be called instead.)

        Raises:
            KafkaException: _TIMED_OUT (`retriable`); with `txn_requires_abort` if records failed, or the coordinator
                refused: `abort_transaction()`, then begin anew; else fatal.
        """
        check_limit(timeout)
        transactor = self._core.transactor
        limit_s = transactor.limit_s(timeout)
        deadline_s = time.monotonic() + limit_s
        await self._step(transactor.begin_commit, limit_s)
        if left := await self._settle_records(deadline_s):
            raise transactor.still_waiting(left)
        left_s = max(0.0, deadline_s - time.monotonic())
        await self._transact(partial(transactor.commit, left_s), left_s)

    async def abort_transaction(self, timeout: float | None = None) -> None:
        """Drop the transaction: readers with `read_committed` never see its records, its offsets are not committed.

        Records not sent yet are reported with _PURGE_QUEUE; the broker's answer to those in flight is awaited, and
        those that it did not take get _PURGE_INFLIGHT. Delivery reports are served meanwhile.

        Args:
            timeout: Seconds; None or -1: twice transaction.timeout.ms. After a time-out the call must be made again: it
                resumes.

        Raises:
            KafkaException: _TIMED_OUT (`retriable`); _STATE when there is nothing to abort; else fatal.
        """
        check_limit(timeout)
        transactor = self._core.transactor
        limit_s = transactor.limit_s(timeout)
        deadline_s = time.monotonic() + limit_s
        await self._step(transactor.begin_abort, limit_s)
        if left := await self._settle_records(deadline_s):
            raise transactor.still_waiting(left)
        left_s = max(0.0, deadline_s - time.monotonic())
        await self._transact(partial(transactor.abort, left_s), left_s)

    def transaction(self, consumer: Source | None = None, timeout: float | None = None) -> AIOTransaction:
        """A transaction as a block: committed at its end, aborted when an exception leaves it.

        confluent_kafka has no such method.

        Args:
            consumer: Its positions are committed with the records. When the transaction is aborted it goes back to
                what its group has committed, so that the records read in the block come again. It must not commit by
                itself (`enable.auto.commit=false`).
            timeout: Seconds for each call that the block makes.

        Raises:
            KafkaException: At the end of the block, as the calls that it makes; the transaction is aborted then, unless
                the error is fatal, or the commit is under way (a time-out): then the next block, or
                `commit_transaction()`, waits for its end. With `txn_requires_abort` the next block does the work again:
                records failed, or (ILLEGAL_GENERATION) partitions were taken from the consumer meanwhile.
        """
        return AIOTransaction(self, consumer, timeout)


class Source(Protocol):
    """The part of a consumer that a transaction uses."""

    async def assignment(self) -> list[TopicPartition]:
        """The assigned partitions."""
        ...

    async def position(self, partitions: list[TopicPartition]) -> list[TopicPartition]:
        """The offsets behind the last records taken."""
        ...

    async def committed(self, partitions: list[TopicPartition], timeout: float = ...) -> list[TopicPartition]:
        """The offsets that the group has committed."""
        ...

    async def seek(self, partition: TopicPartition) -> None:
        """Go on there."""
        ...

    async def consumer_group_metadata(self) -> ConsumerGroupMetadata:
        """The membership."""
        ...

    def partitions_given_up(self) -> int:
        """The number of partitions taken away so far."""
        ...


class AIOTransaction:
    """One transaction as a block; see `AIOTransactionCalls.transaction`."""

    def __init__(self, producer: AIOTransactionCalls, consumer: Source | None, timeout: float | None) -> None:
        self._producer = producer
        self._consumer = consumer
        self._timeout = timeout
        self._start: dict[tuple[str, int], int] = {}
        self._given_up = 0

    async def __aenter__(self) -> AIOTransactionCalls:
        left, self._producer._left = self._producer._left, None
        if left is not None and self._producer._core.transactor.commit_left:
            await left._commit(self._timeout)
        await self._producer.begin_transaction()
        if self._consumer is not None:
            self._given_up = self._consumer.partitions_given_up()
            self._start = {(item.topic, item.partition): item.offset for item in await self._positions(self._consumer)}
        return self._producer

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None:
            await self._abort_for(error)
            return
        try:
            if self._consumer is not None:
                group = await self._consumer.consumer_group_metadata()
                positions = await self._positions(self._consumer)
                self._check_partitions(self._consumer)
                await self._producer.send_offsets_to_transaction(positions, group, self._timeout)
        except BaseException as failure:
            await self._abort_for(failure)
            raise
        await self._commit(self._timeout)

    async def _commit(self, timeout: float | None) -> None:
        try:
            await self._producer.commit_transaction(timeout)
        except BaseException as failure:
            await self._abort_for(failure)
            raise

    async def _abort_for(self, reason: BaseException) -> None:
        """Abort because of that; if it fails, too, the first reason is the one that is raised, with a note.

        When the coordinator was asked to commit already, the next block waits for its answer (`commit_left`).
        """
        if isinstance(reason, KafkaException) and reason.fatal:
            return
        if self._producer._core.transactor.commit_left:
            self._producer._left = self
            reason.add_note("the commit is under way: the next block waits for its end")
            return
        try:
            await self._producer.abort_transaction(self._timeout)
            if self._consumer is not None:
                await self._go_back(self._consumer)
        except KafkaException as failure:
            logger.warning("a transaction could not be aborted: %s", failure)
            reason.add_note(f"the transaction could not be aborted: {failure}")

    def _check_partitions(self, consumer: Source) -> None:
        """Fails if a partition was revoked during the block: another member reads its records again."""
        if consumer.partitions_given_up() != self._given_up:
            text = (
                "partitions were taken from the consumer while the transaction was open: it is aborted, begin another "
                "one (its records come again, here or elsewhere)"
            )
            raise KafkaException(KafkaError(KafkaError.ILLEGAL_GENERATION, text, txn_requires_abort=True))

    async def _positions(self, consumer: Source) -> list[TopicPartition]:
        found = await consumer.position(await consumer.assignment())
        return [item for item in found if item.offset >= 0]

    async def _go_back(self, consumer: Source) -> None:
        """Read the block's records again."""
        partitions = await self._positions(consumer)
        if not partitions:
            return
        limit_s = self._producer._core.transactor.limit_s(self._timeout)
        for item in await consumer.committed(partitions, limit_s):
            offset = item.offset if item.offset >= 0 else self._start.get((item.topic, item.partition), -1001)
            await consumer.seek(TopicPartition(item.topic, item.partition, offset))
