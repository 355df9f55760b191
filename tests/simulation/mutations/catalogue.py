"""The mutations: one defect each, of the kind that a change of the engine could bring."""

from __future__ import annotations

from typing import Final

from kafka_core.aio.consuming.assigning import Assigning
from kafka_core.aio.consuming.consumer_calls import AIOConsumerCalls
from kafka_core.aio.producing.producer import _Deliveries
from kafka_core.aio.producing.transaction_calls import AIOTransaction
from kafka_core.engine.consuming import offsets
from kafka_core.engine.consuming.fetch_queue import FetchQueue
from kafka_core.engine.consuming.fetch_session import FetchSession
from kafka_core.engine.consuming.fetcher import Fetcher
from kafka_core.engine.groups.classic import Membership
from kafka_core.engine.producing import transaction_requests
from kafka_core.engine.producing.batcher import Batcher
from kafka_core.engine.producing.lane import Lane
from kafka_core.engine.producing.sequences import PartitionSequence
from kafka_core.engine.producing.transactions import Transactions
from tests.simulation.mutations import Mutation

_ALL: Final = (
    Mutation(
        "version-again",
        "requests for a new assignment have the number of those for the old one (defect A1 in today's form)",
        Fetcher,
        "_planned",
        "number = new_version()",
        "number = 1",
    ),
    Mutation(
        "epoch-unchecked",
        "an answer to a fetch is taken whatever happened to the partition since",
        Fetcher,
        "_partitions",
        "state.request == planned.number and ",
        "",
    ),
    Mutation(
        "sequence-kept",
        "under a new epoch the sequence goes on instead of beginning at 0",
        PartitionSequence,
        "restart",
        "self.next = self.expected = 0",
        "self.expected = self.next",
    ),
    Mutation(
        "commit-early",
        "what a running consume() has taken is stored, and committed, before the application has it",
        FetchQueue,
        "_advance",
        "if self._draining or state in self._not_given:",
        "if False:",
    ),
    Mutation(
        "position-at-fetch",
        "the position to commit moves when records are fetched, not when they are handed out",
        FetchQueue,
        "push",
        "state.chunks.append(chunk)",
        "state.chunks.append(chunk); state.stored = chunk.end_offset",
    ),
    Mutation(
        "session-kept",
        "a fetch that got no answer leaves its session as it was",
        Fetcher,
        "failed",
        "self._session(planned.node_id).reset(keep_id=True)",
        "pass",
    ),
    Mutation(
        "session-forgets-nothing",
        "a session does not tell the broker which partitions it no longer wants",
        FetchSession,
        "next_request",
        "self._told = dict(wanted)",
        "self._told = dict(wanted) if self._epoch <= 1 else self._told | dict(wanted)",
    ),
    Mutation(
        "topic-anew",
        "batches for a topic made anew follow those that are on their way to the old one",
        Lane,
        "_same_place",
        " and self.flight_topic_id == self.topic_id",
        "",
    ),
    Mutation(
        "retry-behind",
        "a batch that is sent again queues behind those that came after it",
        Lane,
        "put_back",
        "self.queue.insert(later, delivery)",
        "self.queue.append(delivery)",
    ),
    Mutation(
        "retry-renumbered",
        "a batch that is sent again gets a new sequence number",
        Lane,
        "send",
        "delivery.sequence == NO_SEQUENCE",
        "True",
    ),
    Mutation(
        "pipeline-unknown",
        "a second batch goes out before the broker has acknowledged anything of this producer",
        Lane,
        "_align",
        "sound = sequence.known and ",
        "sound = ",
    ),
    Mutation(
        "overtaking",
        "new batches are sent while a failed one waits to be sent again",
        Lane,
        "may_send",
        "if self.in_flight and (self.failures or not self._same_place()):",
        "if False:",
    ),
    Mutation(
        "unanswered-is-delivered",
        "a batch whose answer was lost counts as delivered",
        Batcher,
        "_unsure",
        "reaction.stale_topics.add(lane.topic)",
        "return self._delivered(lane, delivery, None, reaction)",
    ),
    Mutation(
        "report-twice",
        "a batch that was given up is reported again when its answer comes",
        Batcher,
        "_delivered",
        "if delivery.reported:",
        "if False:",
    ),
    Mutation(
        "revoked-still-queued",
        "records of a partition that was given up stay in the queue",
        Assigning,
        "give_up",
        "self._queue.drop(state)",
        "pass",
    ),
    Mutation(
        "seek-keeps-queue",
        "a seek leaves what is queued",
        FetchQueue,
        "restart",
        "self.drop(state)",
        "pass",
    ),
    Mutation(
        "revoke-nothing",
        "a cooperative member gives nothing up",
        Membership,
        "_synced",
        "if given_up and self.cooperative:",
        "if False:",
    ),
    Mutation(
        "cancelled-records-lost",
        "what a cancelled consume() had taken is gone",
        AIOConsumerCalls,
        "consume",
        "self._undo(lambda: self._core.positions.hand_back(found))",
        "pass",
    ),
    Mutation(
        "commit-one-more",
        "commits name the offset behind the next record",
        offsets,
        "commit_request",
        "committed_offset=item.offset",
        "committed_offset=item.offset + 1",
    ),
    Mutation(
        "assignments-add-up",
        "overlapping calls of assign() do not wait for each other",
        Assigning,
        "replace",
        "async with self._changing:",
        "if True:",
    ),
    Mutation(
        "lost-wake-up",
        "records that arrive do not wake a consumer that waits for them",
        FetchQueue,
        "push",
        "if self.waiting:",
        "if False:",
    ),
    Mutation(
        "room-unseen",
        "a producer that waits for room is not told when there is some",
        _Deliveries,
        "on_settled",
        "self._changed is not None and not self._changed.done()",
        "False",
    ),
    Mutation(
        "block-not-undone",
        "a consumer does not go back when the transaction in which it read is aborted",
        AIOTransaction,
        "_abort_for",
        "await self._go_back(self._consumer)",
        "pass",
    ),
    Mutation(
        "rebalance-unseen",
        "a transaction is committed although partitions that were read in it were taken away",
        AIOTransaction,
        "_check_partitions",
        "consumer.partitions_given_up() != self._given_up",
        "False",
    ),
    Mutation(
        "abort-commits",
        "a transaction that is given up is committed",
        transaction_requests,
        "end",
        "identity.epoch, commit)",
        "identity.epoch, True)",
    ),
    Mutation(
        "next-epoch-lost",
        "the epoch that the end of a transaction brings is not used",
        Transactions,
        "ended",
        "self.ids.renew(identity)",
        "pass",
    ),
    Mutation(
        "partition-not-added",
        "in the first protocol records go out before their partition is part of the transaction",
        Transactions,
        "admits",
        "key in self._members",
        "True",
    ),
)

MUTATIONS: Final = {mutation.name: mutation for mutation in _ALL}
"""By name. The first is the defect that the simulator was asked to find; the others are held to 2,000 seeds."""
