"""The reaction to a failure: the one place that turns an error into an action and a delay.

Must not know connections, loops or clocks: it answers, the caller acts and waits.
Spec: the broker's error codes (https://kafka.apache.org/protocol#protocol_error_codes) and what the Java client does
with each; KIP-580 for exponential back-off with jitter.

The whole table (a code that is not listed: REFRESH_AND_RETRY or RETRY when the generated error table calls it
retriable, FAIL when not):

======================  ==========================================================================================
action                  broker codes and local codes
======================  ==========================================================================================
DONE                    0 NO_ERROR, 46 DUPLICATE_SEQUENCE_NUMBER (the records are in the log already)
RETRY                   7 REQUEST_TIMED_OUT, 14 COORDINATOR_LOAD_IN_PROGRESS, 19 NOT_ENOUGH_REPLICAS,
                        20 NOT_ENOUGH_REPLICAS_AFTER_APPEND, 51 CONCURRENT_TRANSACTIONS, 78 OFFSET_NOT_AVAILABLE,
                        88 UNSTABLE_OFFSET_COMMIT, 89 THROTTLING_QUOTA_EXCEEDED,
                        _WAIT_COORD, _WAIT_CACHE, _RETRY, _IN_PROGRESS
REFRESH_AND_RETRY       3 UNKNOWN_TOPIC_OR_PART, 5 LEADER_NOT_AVAILABLE, 6 NOT_LEADER_FOR_PARTITION,
                        8 BROKER_NOT_AVAILABLE, 9 REPLICA_NOT_AVAILABLE, 13 NETWORK_EXCEPTION,
                        41 NOT_CONTROLLER, 56 KAFKA_STORAGE_ERROR, 72 LISTENER_NOT_FOUND,
                        74 FENCED_LEADER_EPOCH, 75 UNKNOWN_LEADER_EPOCH, 100 UNKNOWN_TOPIC_ID,
                        103 INCONSISTENT_TOPIC_ID, 129 REBOOTSTRAP_REQUIRED,
                        _TRANSPORT, _TIMED_OUT, _RESOLVE, _ALL_BROKERS_DOWN, _UNKNOWN_BROKER, _BAD_MSG (the stream
                        was not to be trusted, its connection is closed)
FIND_COORDINATOR        15 COORDINATOR_NOT_AVAILABLE, 16 NOT_COORDINATOR
REJOIN                  22 ILLEGAL_GENERATION, 25 UNKNOWN_MEMBER_ID, 27 REBALANCE_IN_PROGRESS,
                        79 MEMBER_ID_REQUIRED, 110 FENCED_MEMBER_EPOCH, 113 STALE_MEMBER_EPOCH
RESET_OFFSET            1 OFFSET_OUT_OF_RANGE
RESET_SESSION           70 FETCH_SESSION_ID_NOT_FOUND, 71 INVALID_FETCH_SESSION_EPOCH,
                        106 FETCH_SESSION_TOPIC_ID_ERROR
BUMP_EPOCH              45 OUT_OF_ORDER_SEQUENCE_NUMBER, 47 INVALID_PRODUCER_EPOCH, 59 UNKNOWN_PRODUCER_ID
ABORT                   120 TRANSACTION_ABORTABLE, and every error marked `txn_requires_abort`
FATAL                   48 INVALID_TXN_STATE, 49 INVALID_PRODUCER_ID_MAPPING, 52 TRANSACTION_COORDINATOR_FENCED,
                        53 TRANSACTIONAL_ID_AUTHORIZATION_FAILED, 82 FENCED_INSTANCE_ID, 90 PRODUCER_FENCED,
                        _FATAL, _FENCED, and every error marked `fatal`
FAIL                    84 ELECTION_NOT_NEEDED, a CorruptRecordError, _SSL, _AUTHENTICATION, _STATE, _INVALID_ARG,
                        _UNSUPPORTED_FEATURE, _BAD_COMPRESSION, and everything else: authorization, invalid
                        requests, configuration
======================  ==========================================================================================
"""

import enum
import math
import random
from typing import Final

from kafka_core.error_codes import FACTS
from kafka_core.errors import CorruptRecordError, KafkaError, KafkaException


class Action(enum.Enum):
    """The caller's next step for a failed request or partition."""

    DONE = "done"
    """Nothing failed, or the wanted effect is there already."""
    RETRY = "retry"
    """Wait for the back-off, then send the same again to the same broker."""
    REFRESH_AND_RETRY = "refresh_and_retry"
    """Get fresh metadata (`ClusterClient.invalidate` or `refresh_metadata`), wait, then send to the right broker."""
    FIND_COORDINATOR = "find_coordinator"
    """`ClusterClient.forget_coordinator`, wait, look the coordinator up again, then retry."""
    REJOIN = "rejoin"
    """The group membership is stale: join again (an offset commit of the old generation is lost)."""
    RESET_OFFSET = "reset_offset"
    """The position is not in the log: apply auto.offset.reset."""
    RESET_SESSION = "reset_session"
    """Start a new fetch session (KIP-227) and send the fetch again at once."""
    BUMP_EPOCH = "bump_epoch"
    """Idempotent producer: new epoch, restart sequences (KIP-360); inside a transaction: abort it."""
    ABORT = "abort"
    """The transaction can be aborted and done again; the producer stays usable."""
    FAIL = "fail"
    """Report to the caller; trying again would give the same answer."""
    FATAL = "fatal"
    """This client instance can never continue (fenced); report and refuse later calls."""

    @property
    def tries_again(self) -> bool:
        """Whether the same work is to be sent again (after what the action says)."""
        return self in _TRIES_AGAIN


_TRIES_AGAIN: Final = frozenset(
    {Action.RETRY, Action.REFRESH_AND_RETRY, Action.FIND_COORDINATOR, Action.RESET_SESSION, Action.BUMP_EPOCH}
)

_BROKER_CODES: Final[dict[Action, tuple[int, ...]]] = {
    Action.DONE: (0, 46),
    Action.RETRY: (7, 14, 19, 20, 51, 78, 88, 89),
    Action.REFRESH_AND_RETRY: (3, 5, 6, 8, 9, 13, 41, 56, 72, 74, 75, 100, 103, 129),
    Action.FIND_COORDINATOR: (15, 16),
    Action.REJOIN: (22, 25, 27, 79, 110, 113),
    Action.RESET_OFFSET: (1,),
    Action.RESET_SESSION: (70, 71, 106),
    Action.BUMP_EPOCH: (45, 47, 59),
    Action.ABORT: (120,),
    Action.FATAL: (48, 49, 52, 53, 82, 90),
    Action.FAIL: (84,),
}

_LOCAL_CODES: Final[dict[Action, tuple[int, ...]]] = {
    Action.RETRY: (
        KafkaError._WAIT_COORD,
        KafkaError._WAIT_CACHE,
        KafkaError._RETRY,
        KafkaError._IN_PROGRESS,
    ),
    Action.REFRESH_AND_RETRY: (
        KafkaError._TRANSPORT,
        KafkaError._TIMED_OUT,
        KafkaError._RESOLVE,
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._UNKNOWN_BROKER,
        KafkaError._BAD_MSG,
    ),
    Action.FATAL: (KafkaError._FATAL, KafkaError._FENCED),
    Action.FAIL: (
        KafkaError._SSL,
        KafkaError._AUTHENTICATION,
        KafkaError._STATE,
        KafkaError._INVALID_ARG,
        KafkaError._UNSUPPORTED_FEATURE,
        KafkaError._BAD_COMPRESSION,
    ),
}

TABLE: Final[dict[int, Action]] = {
    code: action for table in (_BROKER_CODES, _LOCAL_CODES) for action, codes in table.items() for code in codes
}
"""Error code (broker's ≥ 0, local ones negative) → action; for what is missing the generated error table decides."""


def classify(error: KafkaError | KafkaException | int) -> Action:
    """The action for a failure.

    Args:
        error: A broker's error code, an error as a value (the client's own too), or the exception. 0 gives
            `Action.DONE`.

    An error that is marked fatal is FATAL and one that needs the transaction aborted is ABORT, whatever its code.
    """
    if isinstance(error, CorruptRecordError):
        return Action.FAIL  # the same bytes would come again; it shares its code with broken streams, which would not
    value = error.error if isinstance(error, KafkaException) else error
    if isinstance(value, int):
        value = KafkaError.from_code(value)
    if value.fatal():
        return Action.FATAL
    if value.txn_requires_abort():
        return Action.ABORT
    return TABLE.get(value.code()) or _by_facts(value)


def _by_facts(error: KafkaError) -> Action:
    facts = FACTS.get(error.code())
    if facts is not None and facts.refresh_metadata:
        return Action.REFRESH_AND_RETRY
    return Action.RETRY if error.retriable() else Action.FAIL


class Backoff:
    """Exponential back-off with jitter (KIP-580).

    Attempt 0 waits about `base_ms`, every further one twice as long, up to `max_ms`; jitter spreads each delay
    evenly over ±20 % so that many clients do not come back at the same instant. `max_ms` bounds the result, jitter
    included. Holds no state: the caller counts attempts.
    """

    __slots__ = ("_base_s", "_max_s", "_rng")

    JITTER: Final = 0.2

    def __init__(self, base_ms: float, max_ms: float, rng: random.Random) -> None:
        self._max_s = max(base_ms, max_ms) / 1000
        self._base_s = base_ms / 1000
        self._rng = rng

    def delay_s(self, attempt: int) -> float:
        """Seconds to wait before try number `attempt` + 1; `attempt` counts from 0."""
        doubled = math.ldexp(self._base_s, min(max(attempt, 0), 32))
        spread = self._rng.uniform(1 - self.JITTER, 1 + self.JITTER)
        return min(min(doubled, self._max_s) * spread, self._max_s)
