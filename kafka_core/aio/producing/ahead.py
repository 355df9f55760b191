"""Lets `produce` send a record itself, on the caller's thread: the request is prepared here, and accounted for here.

Must not know threads: what the caller's thread does is one compiled step (`Accumulator.prepare`), which comes before or
after whatever the loop does. It must not know what a shipment leads to: it is told where to hand it.
Spec: decisions 0109 and 0107.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

from kafka_core.aio.net.answers import OnAnswer
from kafka_core.aio.net.connection import BrokerConnection
from kafka_core.aio.producing.requests import TOPIC_IDS_SINCE, OneBatch, ProduceRequests, RequestStart
from kafka_core.engine.producing.batcher import Batcher, Settled, Shipment
from kafka_core.engine.producing.lane import Lane
from kafka_core.engine.producing.sequences import NO_SEQUENCE, ProducerIdentity, sequence_plus
from kafka_core.kernels import Accumulator, PreparedRequest
from kafka_core.protocol.usual_writes import written_at, written_start


class Sender(Protocol):
    """The listener to records that `produce` has sent."""

    def sent_ahead(self, shipment: Shipment) -> OnAnswer:
        """A shipment is on its way; gives what is to be called with the answer."""
        ...

    def watched(self) -> bool:
        """Whether somebody wants to hear of each batch: then none goes the shortest way."""
        ...

    def count_written(self, verdict: Settled) -> None:
        """For the statistics."""
        ...


class _Prepared(NamedTuple):
    """A request, and what its answer begins with if the record is written."""

    request: PreparedRequest
    answer: bytes


class _Loan:
    """A connection that is lent to `produce`, for one partition.

    Attributes:
        fileno: gives its socket's descriptor.
        now: what `produce` may use, or has used. `then`: what it may use when that one has its answer.
        header, sequence: of the last one that was prepared.
    """

    __slots__ = ("connection", "fileno", "header", "identity", "lane", "now", "sequence", "start", "then")

    def __init__(
        self, connection: BrokerConnection, lane: Lane, start: RequestStart, fileno: Callable[[], int], header: bytes
    ) -> None:
        self.connection, self.lane, self.start, self.fileno, self.header = connection, lane, start, fileno, header
        self.identity, self.sequence = ProducerIdentity(), NO_SEQUENCE
        if lane.sequence is not None and lane.sequence.identity is not None:
            self.identity, self.sequence = lane.sequence.identity, lane.sequence.next
        self.now = self._prepared()
        self.then = self.prepared_next()

    def prepared_next(self) -> _Prepared:
        """A request behind the last one that was prepared: the next correlation id, and the sequence of one record
        more. Both are numbers of 31 bits, which begin at 0 again."""
        number = int.from_bytes(self.header[CORRELATION_ID], "big")
        id_bytes = sequence_plus(number, 1).to_bytes(4, "big")
        self.header = self.header[: CORRELATION_ID.start] + id_bytes + self.header[CORRELATION_ID.stop :]
        if self.sequence != NO_SEQUENCE:
            self.sequence = sequence_plus(self.sequence, 1)
        return self._prepared()

    def _prepared(self) -> _Prepared:
        start, identity, header = self.start, self.identity, self.header
        request = PreparedRequest(
            self.fileno, header + start.body, start.tail, identity.producer_id, identity.epoch, self.sequence
        )
        return _Prepared(request, written_start(header[CORRELATION_ID], start.topic_id, self.lane.partition))


LOOK_S: Final = 0.05
"""Seconds between the loop's looks whether a request was sent, while there are any. A late look delays only the
expectation of the answer: the answer itself wakes the loop. `produce` need not, which takes longer than to send the
record."""

CORRELATION_ID: Final = slice(4, 8)
"""Its place in a request's header, behind the API key and the version."""


class SendingAhead:
    """At most one request at a time is prepared, for a partition of which nothing is on its way.

    Args:
        on_written: told of a record that is written, before the engine is (`Batcher.wrote_alone`).

    Nothing that the request says may change until it is taken back: whoever changes lanes, identities or what is known
    of the cluster calls `take_back` first, and so does the connection before anything else happens on it.
    """

    def __init__(
        self,
        accumulator: Accumulator,
        batcher: Batcher,
        requests: ProduceRequests,
        sender: Sender,
        on_written: Callable[[Settled], object],
    ) -> None:
        self._accumulator = accumulator
        self._batcher = batcher
        self._requests = requests
        self._sender = sender
        self._on_written = on_written
        self._loan: _Loan | None = None
        self._looks: asyncio.TimerHandle | None = None
        self._idle = False  # nothing was sent since the last look

    def offer(self, lane: Lane, connection: BrokerConnection, start: RequestStart) -> None:
        """Prepare the next request for this lane, which must be at rest; does nothing where that is not possible."""
        if self._loan is not None:
            return
        lent = connection.lend(OneBatch, start.version, self.take_back, self._glance)
        if lent is None:
            return
        self._loan = _Loan(connection, lane, start, *lent)
        if self._hand_out(self._loan):
            self._begin_to_look()
        else:
            self.take_back()

    def _hand_out(self, loan: _Loan) -> bool:
        """Gives the request to `produce`; whether it takes it."""
        return self._accumulator.prepare(loan.lane.topic, loan.lane.partition, loan.now.request)

    def _begin_to_look(self) -> None:
        if self._looks is None:
            self._looks = asyncio.get_running_loop().call_later(LOOK_S, self._look)
        if self._loan is not None:
            self._loan.now.request.quiet = True

    def take_back(self) -> None:
        """`produce` sends nothing itself from here on; what it has sent is accounted for, as if it were sent now."""
        loan, self._loan = self._loan, None
        if loan is None:
            return
        loan.connection.given_back()
        request = loan.now.request
        if not request.withdraw():
            return
        self._idle = False
        assert request.batch is not None
        assert request.frame is not None
        shipment = self._batcher.take_alone(loan.lane, request.batch, request.batch.opened_at_s)
        shipment.topic_ids = {loan.start.topic_id: loan.lane.topic}
        self._requests.encode(shipment.items[0][1])
        on_answer = self._sender.sent_ahead(shipment)
        loan.connection.sent_ahead(OneBatch, TOPIC_IDS_SINCE, request.frame, request.sent_bytes, on_answer)

    def _glance(self, received: bytearray, size_bytes: int) -> bool:
        """Bytes have come. If they say that the record which was sent is written, and nothing else, `produce` gets the
        next request, who waits for the record is told, and then all is accounted for. Anything else is left alone.
        """
        loan = self._loan
        assert loan is not None
        used = loan.now
        batch, frame = used.request.batch, used.request.frame
        if batch is None or frame is None or used.request.sent_bytes < len(frame) or self._sender.watched():
            return False
        written = written_at(received, size_bytes, used.answer)
        if written is None:
            return False
        took_s = time.monotonic() - batch.opened_at_s
        verdict = Settled(batch, None, *written)
        loan.now = loan.then
        goes_on = self._hand_out(loan)
        self._begin_to_look()
        try:
            self._on_written(verdict)
        finally:
            self._idle = False
            loan.connection.passed(size_bytes)
            self._batcher.wrote_alone(loan.lane, batch, took_s)
            self._sender.count_written(verdict)
            if goes_on:
                loan.then = loan.prepared_next()
            else:
                self.take_back()
        return True

    def stop(self) -> None:
        """Look no more. What was prepared has been taken back."""
        if self._looks is not None:
            self._looks.cancel()

    def _look(self) -> None:
        """Accounts for requests sent. If there were none since the last look, `produce` wakes the loop from now on.

        That is said before it is looked at: a request that is used between the two was not quiet.
        """
        self._looks = None
        loan = self._loan
        if loan is None:
            return
        if self._idle:
            loan.now.request.quiet = False
        if loan.now.request.batch is not None:
            self.take_back()
        elif not self._idle:
            self._idle = True
            self._looks = asyncio.get_running_loop().call_later(LOOK_S, self._look)
