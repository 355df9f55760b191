"""Lets `produce` send a record itself, on the caller's thread: the request is prepared here, and accounted for here.

Must not know threads: what the caller's thread does is one compiled step (`Accumulator.prepare`), which comes before or
after whatever the loop does. It must not know what a shipment leads to: it is told where to hand it.
Spec: decision 0109.
"""

import asyncio
from collections.abc import Callable
from typing import Final, NamedTuple
from uuid import UUID

from kafka_core.aio.net.answers import OnAnswer
from kafka_core.aio.net.connection import BrokerConnection
from kafka_core.aio.producing.requests import TOPIC_IDS_SINCE, OneBatch, ProduceRequests, RequestStart
from kafka_core.engine.producing.batcher import Batcher, Shipment
from kafka_core.engine.producing.lane import Lane
from kafka_core.engine.producing.sequences import NO_SEQUENCE, ProducerIdentity
from kafka_core.kernels import Accumulator, PreparedRequest

OnSent = Callable[[Shipment], OnAnswer]
"""Told of a shipment that is on its way, with the size of its batch; gives what is to be called with the answer."""


class _Loan(NamedTuple):
    """A connection that is lent to `produce`."""

    connection: BrokerConnection
    lane: Lane
    topic_id: UUID
    request: PreparedRequest


LOOK_S: Final = 0.05
"""Seconds between the loop's looks whether a request was sent, while there are any. A late look delays only the
expectation of the answer: the answer itself wakes the loop. `produce` need not, which takes longer than to send the
record."""


class SendingAhead:
    """At most one request at a time is prepared, for a partition of which nothing is on its way.

    Nothing that the request says may change until it is taken back: whoever changes lanes, identities or what is known
    of the cluster calls `take_back` first, and so does the connection before anything else happens on it.
    """

    def __init__(self, accumulator: Accumulator, batcher: Batcher, requests: ProduceRequests, on_sent: OnSent) -> None:
        self._accumulator = accumulator
        self._batcher = batcher
        self._requests = requests
        self._on_sent = on_sent
        self._loan: _Loan | None = None
        self._looks: asyncio.TimerHandle | None = None
        self._idle = False  # nothing was sent since the last look

    def offer(self, lane: Lane, connection: BrokerConnection, start: RequestStart) -> None:
        """Prepare the next request for this lane, which must be at rest; does nothing where that is not possible."""
        if self._loan is not None:
            return
        lent = connection.lend(OneBatch, start.version, self.take_back)
        if lent is None:
            return
        fileno, header = lent
        identity, sequence = ProducerIdentity(), NO_SEQUENCE
        if lane.sequence is not None and lane.sequence.identity is not None:
            identity, sequence = lane.sequence.identity, lane.sequence.next
        request = PreparedRequest(
            fileno, header + start.body, start.tail, identity.producer_id, identity.epoch, sequence
        )
        self._loan = _Loan(connection, lane, start.topic_id, request)
        if not self._accumulator.prepare(lane.topic, lane.partition, request):
            self.take_back()
            return
        if self._looks is None:
            self._looks = asyncio.get_running_loop().call_later(LOOK_S, self._look)
        request.quiet = True

    def take_back(self) -> None:
        """`produce` sends nothing itself from here on; what it has sent is accounted for, as if it were sent now."""
        loan, self._loan = self._loan, None
        if loan is None:
            return
        loan.connection.given_back()
        request = loan.request
        if not request.withdraw():
            return
        self._idle = False
        assert request.batch is not None
        assert request.frame is not None
        shipment = self._batcher.take_alone(loan.lane, request.batch, request.batch.opened_at_s)
        shipment.topic_ids = {loan.topic_id: loan.lane.topic}
        self._requests.encode(shipment.items[0][1])
        on_answer = self._on_sent(shipment)
        loan.connection.sent_ahead(OneBatch, TOPIC_IDS_SINCE, request.frame, request.sent_bytes, on_answer)

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
            loan.request.quiet = False
        if loan.request.batch is not None:
            self.take_back()
        elif not self._idle:
            self._idle = True
            self._looks = asyncio.get_running_loop().call_later(LOOK_S, self._look)
