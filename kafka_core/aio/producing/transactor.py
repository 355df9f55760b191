"""Carries out what kafka_core.engine.producing.transactions decides: asks the coordinators, and waits for them.

Must not know batches or who calls: the producer's core sends the records, the faces wait for their verdicts between
`begin_commit` and `commit`, and between `begin_abort` and `abort`.
Spec: KIP-98, KIP-360, KIP-447, KIP-588, KIP-890; confluent_kafka.Producer for calls, time-outs and error codes.

A call that times out does not end what it began: the work goes on in a task, and the same call, made again, waits for
it further.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, Final, Protocol, TypeVar

from kafka_core.aio.cluster.client import ClusterClient, CoordinatorKind
from kafka_core.aio.net.connection import BrokerConnection
from kafka_core.aio.tasks.background import background
from kafka_core.clock import Clock
from kafka_core.engine.consuming.offsets import can_be_committed
from kafka_core.engine.producing import transaction_requests as requests
from kafka_core.engine.producing.lane import NEVER_S
from kafka_core.engine.producing.sequences import ProducerIdentity
from kafka_core.engine.producing.transactions import (
    FEATURE,
    SECOND_PROTOCOL,
    Transactions,
    TransactionState,
    Verdict,
    marker_delay_s,
    verdict_on,
)
from kafka_core.engine.retry import Backoff
from kafka_core.errors import KafkaError, KafkaException, NetworkError, StateError, UnsupportedVersionError
from kafka_core.model import ConsumerGroupMetadata, TopicPartition
from kafka_core.protocol import ApiMessage, ApiRequest, negotiate
from kafka_core.protocol.messages.init_producer_id import InitProducerIdRequest

logger: Final = logging.getLogger("kafka_core.producer")

T = TypeVar("T")
ResponseT = TypeVar("ResponseT", bound=ApiMessage)

RESUME: Final = "Timed out waiting for operation to finish, retry call to resume"
LAST_WORD_S: Final = 0.05
"""So much before the time of a call is over, the last reason why it does not succeed is judged."""
INIT, COMMIT, ABORT, SEND_OFFSETS = (
    "init_transactions",
    "commit_transaction",
    "abort_transaction",
    "send_offsets_to_transaction",
)


_ENDING: Final = frozenset({TransactionState.BEGIN_ABORT, TransactionState.ABORTING})
_LEFT_OPEN: Final = _ENDING | {
    TransactionState.IN_TRANSACTION,
    TransactionState.BEGIN_COMMIT,
    TransactionState.ABORTABLE_ERROR,
}


class RecordSender(Protocol):
    """The part of the producer's core that the transactor uses."""

    def send_waiting(self) -> None:
        """Something changed: batches that waited may go out now."""
        ...

    def give_up_waiting(self) -> None:
        """Records that are not in flight get _PURGE_QUEUE, those that were sent and wait for another try
        _PURGE_INFLIGHT."""
        ...

    def in_flight(self) -> bool:
        """Whether any broker owes an answer to records."""
        ...

    def sequences_have_gaps(self) -> bool:
        """Whether some partition's sequence is not known to be where ours is."""
        ...

    def gate(self) -> None:
        """Whether the application may produce has changed."""
        ...

    def fail(self, error: KafkaError) -> None:
        """The producer can't go on."""
        ...


class Transactor:
    """One producer's transactions on its loop.

    Args:
        timeout_ms: transaction.timeout.ms.
    """

    def __init__(
        self,
        transactional_id: str,
        timeout_ms: int,
        transactions: Transactions,
        client: ClusterClient,
        clock: Clock,
        backoff: Backoff,
        sender: RecordSender,
    ) -> None:
        self.transactional_id = transactional_id
        self.transactions = transactions
        self._timeout_ms = timeout_ms
        self._client = client
        self._clock = clock
        self._backoff = backoff
        self._sender = sender
        self._work: asyncio.Task[KafkaError | None] | None = None
        self._adding: asyncio.Task[None] | None = None
        self._offsets: asyncio.Task[KafkaError | None] | None = None
        self._landed: asyncio.Future[None] | None = None
        self._last_error: KafkaError | None = None

    def limit_s(self, timeout: float | None) -> float:
        """The time limit of a call in seconds; without one of its own, twice transaction.timeout.ms."""
        return 2 * self._timeout_ms / 1000 if timeout is None or timeout < 0 else timeout

    # ---- calls; each raises KafkaException

    async def init(self, timeout_s: float) -> None:
        """Get an id; ends what an earlier producer with this transactional id left open."""
        calls = self.transactions.calls
        resumes = calls.enter(INIT)
        try:
            if not resumes:
                self.transactions.require(TransactionState.INIT)
                self.transactions.move(TransactionState.WAIT_PID)
            await self._finish(self._init(), timeout_s)
        except BaseException as error:
            calls.leave(resumable=_resumable(error))
            raise
        calls.leave(resumable=False)

    @property
    def commit_left(self) -> bool:
        """Whether a commit timed out, or was interrupted, when the coordinator was asked: it has to be resumed."""
        return self._work is not None and self.transactions.calls.left == COMMIT

    def begin(self) -> None:
        """Open a transaction."""
        calls = self.transactions.calls
        calls.enter("begin_transaction")
        try:
            self.transactions.begin()
        finally:
            calls.leave(resumable=False)
        self._sender.gate()

    def begin_commit(self) -> None:
        """Take no more records, and send those there are without lingering; the caller then waits for them."""
        self._begin(COMMIT, self.transactions.begin_commit)
        self._sender.send_waiting()

    def begin_abort(self) -> None:
        """Take no more records and give up those not in flight; the caller then waits for the others."""
        self.transactions.calls.give_way(COMMIT, to=ABORT, if_=self.transactions.state is TransactionState.BEGIN_COMMIT)
        self._begin(ABORT, self.transactions.begin_abort)
        if self.transactions.state is TransactionState.BEGIN_ABORT:
            self._sender.give_up_waiting()

    def _begin(self, name: str, move: Callable[[], None]) -> None:
        calls = self.transactions.calls
        resumes = calls.enter(name)
        try:
            if not (resumes and self._work is not None):  # its outcome is there, or will be: the state may be the next
                move()
        except BaseException:
            calls.leave(resumable=False)
            raise
        calls.leave(resumable=True)
        self._sender.gate()

    def still_waiting(self, left: int) -> KafkaException:
        """The error for records that have no verdict when a commit's or abort's time is over."""
        text = f"Failed to flush all outstanding messages within the API timeout: {left} message(s) remaining"
        return KafkaException(KafkaError(KafkaError._TIMED_OUT, text, retriable=True))

    async def commit(self, timeout_s: float) -> None:
        """All records have their verdict: make them, and the offsets, visible."""
        await self._end(COMMIT, self.transactions.commit, lambda: self._end_transaction(commit=True), timeout_s)

    async def abort(self, timeout_s: float) -> None:
        """All records have their verdict: have the transaction dropped."""
        await self._end(ABORT, lambda: None, self._abort, timeout_s)

    async def _end(
        self,
        name: str,
        move: Callable[[], None],
        work: Callable[[], Coroutine[Any, Any, KafkaError | None]],
        timeout_s: float,
    ) -> None:
        calls = self.transactions.calls
        calls.enter(name)
        try:
            if self._work is None:
                move()
            await self._finish(work() if self._work is None else None, timeout_s)
        except BaseException as error:
            calls.leave(resumable=_resumable(error))
            raise
        calls.leave(resumable=False)

    async def send_offsets(
        self, positions: Iterable[TopicPartition], group: ConsumerGroupMetadata, timeout_s: float
    ) -> None:
        """Commit offsets of a group with the transaction. After a time-out it may be called again, with others, too.

        Without an offset there is nothing to do, in any state.
        """
        offsets = [item for item in positions if can_be_committed(item)]
        if not offsets:
            return
        calls = self.transactions.calls
        calls.enter(SEND_OFFSETS)
        try:
            self.transactions.require(TransactionState.IN_TRANSACTION)
            self._last_error = None
            self.transactions.offsets_open = True
            until_s = self._clock.monotonic() + timeout_s - min(LAST_WORD_S, timeout_s / 10)
            work = self._send_offsets(self._offsets, offsets, group, until_s)
            task = self._offsets = background(work, "kafka-core-transaction-offsets")
            await self._wait(task, timeout_s)
        finally:
            calls.leave(resumable=False)

    async def abort_open(self, limit_s: float) -> None:
        """The producer closes: drop a transaction that is open, if that goes quickly; else its time-out does it."""
        transactions = self.transactions
        if transactions.state in _LEFT_OPEN and (transactions.touched or transactions.state in _ENDING):
            try:
                async with asyncio.timeout(limit_s):
                    if transactions.state is not TransactionState.ABORTING:
                        transactions.begin_abort()
                        self._sender.give_up_waiting()
                    if self._work is None:
                        self._work = background(self._abort(), "kafka-core-transaction")
                    await asyncio.wait([self._work])
            except TimeoutError:
                logger.warning("the transaction that was open at close() was not aborted within %g s", limit_s)

    # ---- what the core tells

    def look(self) -> None:
        """Batches wait for partitions that are not part of the transaction yet: add them."""
        if self.transactions.wanted and (self._adding is None or self._adding.done()):
            self._adding = background(self._add_partitions(), "kafka-core-transaction-partitions")

    def landed(self) -> None:
        """An answer to records came."""
        if self._landed is not None and not self._landed.done() and not self._sender.in_flight():
            self._landed.set_result(None)

    def close(self) -> list[asyncio.Task[Any]]:
        """The producer ends; gives the tasks that are cancelled."""
        tasks = [task for task in (self._work, self._adding, self._offsets) if task is not None and not task.done()]
        for task in tasks:
            task.cancel()
        return tasks

    # ---- waiting

    async def _finish(self, work: Coroutine[Any, Any, KafkaError | None] | None, timeout_s: float) -> None:
        """Wait for the work that a call began, or began before."""
        if self._work is None:
            assert work is not None
            self._last_error = None
            self._work = background(work, "kafka-core-transaction")
        elif work is not None:
            work.close()
        task = self._work
        await self._wait(task, timeout_s)

    async def _wait(self, task: "asyncio.Task[KafkaError | None]", timeout_s: float) -> None:
        await asyncio.wait([task], timeout=timeout_s)
        if not task.done():
            cause = self._last_error or (self._client.last_error.error if self._client.last_error is not None else None)
            text = RESUME if cause is None else f"{RESUME}; last error: {cause.str()}"
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT, text, retriable=True))
        if self._work is task:
            self._work = None
        if task.cancelled():
            raise StateError("the producer was closed while the call was waiting")
        error = task.result()
        if error is not None:
            raise KafkaException(error)

    # ---- work; each gives the error that ended it

    async def _init(self) -> KafkaError | None:
        error = await self._get_identity(ProducerIdentity(), self.transactions.initialized)
        if error is not None and self.transactions.state is TransactionState.WAIT_PID:
            return self._fail(error, fenced=False)
        return error

    async def _get_identity(
        self, former: ProducerIdentity, take: Callable[[ProducerIdentity], None]
    ) -> KafkaError | None:
        async def attempt() -> KafkaError | None:
            request = InitProducerIdRequest(self.transactional_id, self._timeout_ms, former.producer_id, former.epoch)
            response, version, connection = await self._ask(CoordinatorKind.TRANSACTION, self.transactional_id, request)
            if former.producer_id >= 0 and version < requests.BUMPING_SINCE:
                text = "the broker can't give a transactional producer another epoch (Kafka 2.5 is needed, KIP-360)"
                return KafkaError(KafkaError._UNSUPPORTED_FEATURE, text)
            if response.error_code:
                return KafkaError.from_code(response.error_code)
            self._note_protocol(connection)
            take(ProducerIdentity(response.producer_id, response.producer_epoch))
            return None

        return await self._persist("Failed to acquire transactional PID", attempt)

    async def _end_transaction(self, *, commit: bool) -> KafkaError | None:
        for other in (self._adding, self._offsets):
            if other is not None and not other.done():
                await asyncio.wait([other])
        transactions = self.transactions
        if transactions.error is not None:
            return transactions.error
        if not transactions.touched:
            transactions.ended()
            return None

        async def attempt() -> KafkaError | None:
            identity = transactions.ids.identity or ProducerIdentity()
            request = requests.end(self.transactional_id, identity, commit=commit)
            limit = None if transactions.protocol >= SECOND_PROTOCOL else requests.FIRST_PROTOCOL_END
            response, _, connection = await self._ask(
                CoordinatorKind.TRANSACTION, self.transactional_id, request, max_version=limit
            )
            first = transactions.protocol < SECOND_PROTOCOL
            if response.error_code == KafkaError.INVALID_TXN_STATE and first and not (commit or transactions.reached):
                transactions.ended()  # the coordinator took none of what was to be added: there is nothing to abort
                return None
            if response.error_code:
                return requests.end_error(response.error_code, commit=commit, protocol=transactions.protocol)
            next_ = ProducerIdentity(response.producer_id, response.producer_epoch)
            self._note_protocol(connection)
            transactions.pause.ended(self._clock.monotonic())
            transactions.ended(next_ if next_.producer_id >= 0 else None)
            return None

        return await self._persist("Failed to end transaction", attempt)

    async def _abort(self) -> KafkaError | None:
        """Wait for records in flight (brokers may still write them), then have the transaction dropped."""
        transactions = self.transactions
        if transactions.state is TransactionState.BEGIN_ABORT:
            while self._sender.in_flight():
                self._landed = asyncio.get_running_loop().create_future()
                await self._landed
            if self._sender.sequences_have_gaps():
                transactions.needs_epoch = True
            transactions.abort()
        error = transactions.error = None  # the error that made it abortable is done with; a new one counts
        bumped_by_end = transactions.protocol >= SECOND_PROTOCOL and transactions.touched
        if not transactions.needs_epoch or bumped_by_end:
            error = await self._end_transaction(commit=False)
            if error is None or error.fatal():
                return error
        return await self._get_identity(transactions.ids.identity or ProducerIdentity(), transactions.ended)

    async def _add_partitions(self) -> None:
        transactions = self.transactions
        while wanted := transactions.wanted:
            transactions.adding()

            async def attempt(wanted: list[tuple[str, int]] = wanted) -> KafkaError | None:
                if not transactions.sends_records:
                    return None
                identity = transactions.ids.identity or ProducerIdentity()
                request = requests.add_partitions(self.transactional_id, identity, wanted)
                response, _, _ = await self._ask(
                    CoordinatorKind.TRANSACTION,
                    self.transactional_id,
                    request,
                    max_version=requests.CLIENTS_ADD_PARTITIONS,
                )
                error = requests.add_partitions_error(wanted, response)
                if error is None:
                    transactions.added(wanted)
                return error

            if await self._persist("Failed to add partitions to transaction", attempt) is not None:
                return
            self._sender.send_waiting()

    async def _send_offsets(
        self,
        former: "asyncio.Task[KafkaError | None] | None",
        offsets: list[TopicPartition],
        group: ConsumerGroupMetadata,
        until_s: float,
    ) -> KafkaError | None:
        if former is not None and not former.done():
            await asyncio.wait([former])  # it timed out for its caller; it must not come behind this one
        transactions = self.transactions
        identity = transactions.ids.identity or ProducerIdentity()
        first = transactions.protocol < SECOND_PROTOCOL
        transactions.adding()
        if first and not transactions.knows_group(group.group_id):

            async def add() -> KafkaError | None:
                request = requests.add_offsets(self.transactional_id, identity, group.group_id)
                response, _, _ = await self._ask(CoordinatorKind.TRANSACTION, self.transactional_id, request)
                return KafkaError.from_code(response.error_code) if response.error_code else None

            error = await self._persist("Failed to add offsets to transaction", add, until_s=until_s)
            if error is not None:
                return error
            transactions.group_added(group.group_id)

        async def commit() -> KafkaError | None:
            limit = requests.FIRST_PROTOCOL_OFFSETS if first else None
            response, _, _ = await self._ask(
                CoordinatorKind.GROUP,
                group.group_id,
                lambda version: requests.offsets(self.transactional_id, identity, group, offsets, version),
                kind_of=requests.OFFSETS,
                max_version=limit,
            )
            return requests.offsets_error(offsets, response)

        what = "Failed to commit offsets to transaction"
        error = await self._persist(what, commit, group_id=group.group_id, until_s=until_s)
        if error is None:
            transactions.offsets_open = False
        return error

    # ---- asking

    async def _ask(
        self,
        kind: CoordinatorKind,
        key: str,
        request: "ApiRequest[ResponseT] | Callable[[int], ApiRequest[ResponseT]]",
        *,
        kind_of: "type[ApiRequest[ResponseT]] | None" = None,
        max_version: int | None = None,
    ) -> tuple[ResponseT, int, BrokerConnection]:
        """One try with the coordinator: the answer, the version it was asked in, and the connection."""
        node_id = await self._client.coordinator(kind, key)
        connection = await self._client.connection(node_id)
        await connection.drain()
        asked = kind_of if kind_of is not None else type(request)
        version = negotiate(asked, connection.versions, max_version=max_version)  # type: ignore[arg-type]
        made = request(version) if callable(request) else request
        return await connection.send(made, version=version), version, connection

    async def _persist(
        self,
        what: str,
        attempt: Callable[[], Awaitable[KafkaError | None]],
        *,
        group_id: str | None = None,
        until_s: float = NEVER_S,
    ) -> KafkaError | None:
        """Try until it works, an error ends it (it is applied to the state then), or the time is over."""
        tries = 0
        while True:
            try:
                error = await attempt()
                if error is None:
                    return None
                verdict = verdict_on(error)
            except StateError as failure:
                return failure.error
            except UnsupportedVersionError as failure:
                error, verdict = failure.error, Verdict.FATAL
            except NetworkError as failure:
                error, verdict = failure.error, Verdict.FIND_COORDINATOR
            except KafkaException as failure:
                error, verdict = failure.error, verdict_on(failure.error)
            late = self._clock.monotonic() >= until_s
            if late and error.code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                return KafkaError(KafkaError._TIMED_OUT, f"{RESUME}; last error: {what}: {error.str()}", retriable=True)
            if late:
                verdict = Verdict.ABORT
            if verdict not in (Verdict.RETRY, Verdict.FIND_COORDINATOR):
                return self._apply(KafkaError(error.code(), f"{what}: {error.str()}"), verdict)
            logger.debug("%s: %s (try %d)", what, error, tries + 1)
            self._last_error = KafkaError(error.code(), f"{what}: {error.str()}")
            if verdict is Verdict.FIND_COORDINATOR:
                self._client.forget_coordinator(CoordinatorKind.TRANSACTION, self.transactional_id)
                if group_id is not None:
                    self._client.forget_coordinator(CoordinatorKind.GROUP, group_id)
            delay_s = self._backoff.delay_s(tries)
            if error.code() == KafkaError.CONCURRENT_TRANSACTIONS:
                delay_s = marker_delay_s(tries)
            await asyncio.sleep(max(0.0, min(delay_s, until_s - self._clock.monotonic())))
            tries += 1

    def _apply(self, error: KafkaError, verdict: Verdict) -> KafkaError:
        transactions = self.transactions
        if verdict in (Verdict.FENCED, Verdict.FATAL):
            return self._fail(error, fenced=verdict is Verdict.FENCED)
        if verdict is Verdict.ABORT_AND_BUMP:
            transactions.needs_epoch = True
        transactions.abortable(error)
        self._sender.gate()
        self._sender.give_up_waiting()
        return transactions.error or error

    def _fail(self, error: KafkaError, *, fenced: bool) -> KafkaError:
        fatal = self.transactions.fail(error, fenced=fenced)
        self._sender.fail(fatal)
        return fatal

    def _note_protocol(self, connection: BrokerConnection) -> None:
        """Notes the protocol of the next transaction: brokers may be upgraded between two."""
        level = connection.versions.finalized_features.get(FEATURE, (0, 0))[1]
        self.transactions.protocol = SECOND_PROTOCOL if level >= SECOND_PROTOCOL else 1


def _resumable(error: BaseException) -> bool:
    """Whether the work goes on: the call's time is over, or its caller is gone."""
    if isinstance(error, KafkaException):
        return error.retriable
    return not isinstance(error, Exception)
