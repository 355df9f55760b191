"""The errors of aiokafka 0.14: its names, codes and bases, and which of them an error of ours is.

Must not know clients. Texts are ours; codes are those of the protocol.
"""

from __future__ import annotations

from typing import ClassVar, Final

from kafka_core import ConfigError, KafkaException, StateError
from kafka_core import KafkaError as CoreError

__all__ = [
    "AuthenticationFailedError",
    "AuthenticationMethodNotSupported",
    "BrokerNotAvailableError",
    "BrokerResponseError",
    "Cancelled",
    "ClusterAuthorizationFailedError",
    "CommitFailedError",
    "ConcurrentTransactions",
    "ConsumerStoppedError",
    "CoordinatorLoadInProgressError",
    "CoordinatorNotAvailableError",
    "CorrelationIdError",
    "CorruptRecordException",
    "DelegationTokenAuthDisabled",
    "DelegationTokenAuthorizationFailed",
    "DelegationTokenExpired",
    "DelegationTokenNotFound",
    "DelegationTokenOwnerMismatch",
    "DelegationTokenRequestNotAllowed",
    "DuplicateSequenceNumber",
    "FetchSessionIdNotFound",
    "GroupAuthorizationFailedError",
    "GroupCoordinatorNotAvailableError",
    "GroupIdNotFound",
    "GroupLoadInProgressError",
    "IllegalArgumentError",
    "IllegalGenerationError",
    "IllegalOperation",
    "IllegalSaslStateError",
    "IllegalStateError",
    "IncompatibleBrokerVersion",
    "InconsistentGroupProtocolError",
    "InvalidCommitOffsetSizeError",
    "InvalidConfigurationError",
    "InvalidFetchRequestError",
    "InvalidFetchSessionEpoch",
    "InvalidGroupIdError",
    "InvalidMessageError",
    "InvalidPartitionsError",
    "InvalidPrincipalType",
    "InvalidProducerEpoch",
    "InvalidProducerIdMapping",
    "InvalidReplicationAssignmentError",
    "InvalidReplicationFactorError",
    "InvalidRequestError",
    "InvalidRequiredAcksError",
    "InvalidSessionTimeoutError",
    "InvalidTimestampError",
    "InvalidTopicError",
    "InvalidTransactionTimeout",
    "InvalidTxnState",
    "KafkaConfigurationError",
    "KafkaConnectionError",
    "KafkaError",
    "KafkaProtocolError",
    "KafkaStorageError",
    "KafkaTimeoutError",
    "KafkaUnavailableError",
    "LeaderNotAvailableError",
    "ListenerNotFound",
    "LogDirNotFound",
    "MemberIdRequired",
    "MessageSizeTooLargeError",
    "MetadataEmptyBrokerList",
    "NoBrokersAvailable",
    "NoError",
    "NoOffsetForPartitionError",
    "NodeNotReadyError",
    "NonEmptyGroup",
    "NotControllerError",
    "NotCoordinatorError",
    "NotCoordinatorForGroupError",
    "NotEnoughReplicasAfterAppendError",
    "NotEnoughReplicasError",
    "NotLeaderForPartitionError",
    "OffsetMetadataTooLargeError",
    "OffsetOutOfRangeError",
    "OperationNotAttempted",
    "OutOfOrderSequenceNumber",
    "PolicyViolationError",
    "ProducerClosed",
    "ProducerFenced",
    "QuotaViolationError",
    "ReassignmentInProgress",
    "RebalanceInProgressError",
    "RecordListTooLargeError",
    "RecordTooLargeError",
    "ReplicaNotAvailableError",
    "RequestTimedOutError",
    "SaslAuthenticationFailed",
    "SecurityDisabled",
    "StaleControllerEpochError",
    "StaleLeaderEpochCodeError",
    "StaleMetadata",
    "TooManyInFlightRequests",
    "TopicAlreadyExistsError",
    "TopicAuthorizationFailedError",
    "TransactionCoordinatorFenced",
    "TransactionIdAuthorizationFailed",
    "TransactionalIdAuthorizationFailed",
    "UnknownError",
    "UnknownMemberIdError",
    "UnknownProducerId",
    "UnknownTopicOrPartitionError",
    "UnrecognizedBrokerVersion",
    "UnsupportedCodecError",
    "UnsupportedForMessageFormatError",
    "UnsupportedSaslMechanismError",
    "UnsupportedVersionError",
    "for_code",
    "kafka_errors",
    "translated",
]


class KafkaError(RuntimeError):
    """The root of what clients raise.

    Attributes:
        retriable: trying again may help. `invalid_metadata`: the metadata is out of date.
    """

    retriable: ClassVar[bool] = False
    invalid_metadata: ClassVar[bool] = False

    def __str__(self) -> str:
        if not self.args:
            return type(self).__name__
        return f"{type(self).__name__}: {super().__str__()}"


class IllegalOperation(Exception):
    """The client was not made for this call."""


class ConsumerStoppedError(Exception):
    """The consumer was stopped while it waited, or before."""


class IllegalStateError(KafkaError):
    """The call is not allowed in the client's state."""


class IllegalArgumentError(KafkaError):
    """An argument makes no sense."""


class NoBrokersAvailable(KafkaError):
    """No broker could be reached."""

    retriable = True
    invalid_metadata = True


class NodeNotReadyError(KafkaError):
    """The connection to the broker is not ready."""

    retriable = True


class KafkaProtocolError(KafkaError):
    """The other side does not keep to the protocol."""

    retriable = True


class CorrelationIdError(KafkaProtocolError):
    """An answer belongs to another request."""


class Cancelled(KafkaError):
    """The request was given up."""

    retriable = True


class TooManyInFlightRequests(KafkaError):
    """Too many requests wait for their answers."""

    retriable = True


class StaleMetadata(KafkaError):
    """The client's metadata of the cluster is out of date."""

    retriable = True
    invalid_metadata = True


class MetadataEmptyBrokerList(KafkaError):
    """The metadata names no broker."""

    retriable = True


class UnrecognizedBrokerVersion(KafkaError):
    """The version of the broker is not known."""


class IncompatibleBrokerVersion(KafkaError):
    """The broker is too old for this."""


class CommitFailedError(KafkaError):
    """The group has given the partitions to another member: nothing was committed."""

    def __init__(self, *args: object) -> None:
        super().__init__(
            "The group has rebalanced, and the partitions are another member's: nothing was committed. Calls of "
            "getmany() or getone() were further apart than max_poll_interval_ms, or a rebalance was not waited for: "
            "commit in on_partitions_revoked, or take fewer records at once (max_poll_records)",
            *args,
        )


class AuthenticationMethodNotSupported(KafkaError):
    """The broker does not know this SASL mechanism."""


class AuthenticationFailedError(KafkaError):
    """The broker did not accept the credentials."""


class KafkaUnavailableError(KafkaError):
    """Kafka can't be reached."""


class KafkaTimeoutError(KafkaError):
    """It was not done in time."""


class KafkaConnectionError(KafkaError):
    """A broker can't be reached, or the connection was lost."""

    retriable = True
    invalid_metadata = True


class UnsupportedCodecError(KafkaError):
    """This compression is not known."""


class KafkaConfigurationError(KafkaError):
    """The configuration is wrong."""


class QuotaViolationError(KafkaError):
    """A quota is used up."""


class NoOffsetForPartitionError(KafkaError):
    """Nothing says where to begin: no committed offset, and `auto_offset_reset` is none."""


class RecordTooLargeError(KafkaError):
    """A record is larger than a fetch may be."""


class ProducerClosed(KafkaError):
    """The producer is closed."""


class ProducerFenced(KafkaError):
    """Another producer has taken the transactional id, or the transaction took too long."""

    def __init__(
        self,
        msg: str = "Another producer uses this transactional_id, or the transaction took longer than "
        "transaction_timeout_ms",
    ) -> None:
        super().__init__(msg)


class BrokerResponseError(KafkaError):
    """A broker answered with an error.

    Attributes:
        errno: its code. `message`: the code's name. `description`: a sentence about it.
    """

    errno: ClassVar[int]
    message: ClassVar[str]
    description: ClassVar[str] = "A broker answered with an error."

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.description = (cls.__doc__ or "").strip()

    def __str__(self) -> str:
        return f"[Error {self.errno}] {super().__str__()}"


class NoError(BrokerResponseError):
    """All is well."""

    errno = 0
    message = "NO_ERROR"


class UnknownError(BrokerResponseError):
    """Unknown server error."""

    errno = -1
    message = "UNKNOWN"


class OffsetOutOfRangeError(BrokerResponseError):
    """Offset out of range."""

    errno = 1
    message = "OFFSET_OUT_OF_RANGE"


class CorruptRecordException(BrokerResponseError):
    """Corrupt message."""

    errno = 2
    message = "CORRUPT_MESSAGE"


class UnknownTopicOrPartitionError(BrokerResponseError):
    """Unknown topic or partition."""

    errno = 3
    message = "UNKNOWN_TOPIC_OR_PARTITION"
    retriable = True
    invalid_metadata = True


class InvalidFetchRequestError(BrokerResponseError):
    """Invalid fetch size."""

    errno = 4
    message = "INVALID_FETCH_SIZE"


class LeaderNotAvailableError(BrokerResponseError):
    """Leader not available."""

    errno = 5
    message = "LEADER_NOT_AVAILABLE"
    retriable = True
    invalid_metadata = True


class NotLeaderForPartitionError(BrokerResponseError):
    """Not leader or follower."""

    errno = 6
    message = "NOT_LEADER_FOR_PARTITION"
    retriable = True
    invalid_metadata = True


class RequestTimedOutError(BrokerResponseError):
    """Request timed out."""

    errno = 7
    message = "REQUEST_TIMED_OUT"
    retriable = True


class BrokerNotAvailableError(BrokerResponseError):
    """Broker not available."""

    errno = 8
    message = "BROKER_NOT_AVAILABLE"


class ReplicaNotAvailableError(BrokerResponseError):
    """Replica not available."""

    errno = 9
    message = "REPLICA_NOT_AVAILABLE"


class MessageSizeTooLargeError(BrokerResponseError):
    """Message too large."""

    errno = 10
    message = "MESSAGE_SIZE_TOO_LARGE"


class StaleControllerEpochError(BrokerResponseError):
    """Stale controller epoch."""

    errno = 11
    message = "STALE_CONTROLLER_EPOCH"


class OffsetMetadataTooLargeError(BrokerResponseError):
    """Offset metadata too large."""

    errno = 12
    message = "OFFSET_METADATA_TOO_LARGE"


class StaleLeaderEpochCodeError(BrokerResponseError):
    """Network exception."""

    errno = 13
    message = "STALE_LEADER_EPOCH_CODE"


class GroupLoadInProgressError(BrokerResponseError):
    """Coordinator load in progress."""

    errno = 14
    message = "COORDINATOR_LOAD_IN_PROGRESS"
    retriable = True


class GroupCoordinatorNotAvailableError(BrokerResponseError):
    """Coordinator not available."""

    errno = 15
    message = "COORDINATOR_NOT_AVAILABLE"
    retriable = True


class NotCoordinatorForGroupError(BrokerResponseError):
    """Not coordinator."""

    errno = 16
    message = "NOT_COORDINATOR"
    retriable = True


class InvalidTopicError(BrokerResponseError):
    """Invalid topic exception."""

    errno = 17
    message = "INVALID_TOPIC"


class RecordListTooLargeError(BrokerResponseError):
    """Record list too large."""

    errno = 18
    message = "RECORD_LIST_TOO_LARGE"


class NotEnoughReplicasError(BrokerResponseError):
    """Not enough replicas."""

    errno = 19
    message = "NOT_ENOUGH_REPLICAS"
    retriable = True


class NotEnoughReplicasAfterAppendError(BrokerResponseError):
    """Not enough replicas after append."""

    errno = 20
    message = "NOT_ENOUGH_REPLICAS_AFTER_APPEND"
    retriable = True


class InvalidRequiredAcksError(BrokerResponseError):
    """Invalid required acks."""

    errno = 21
    message = "INVALID_REQUIRED_ACKS"


class IllegalGenerationError(BrokerResponseError):
    """Illegal generation."""

    errno = 22
    message = "ILLEGAL_GENERATION"


class InconsistentGroupProtocolError(BrokerResponseError):
    """Inconsistent group protocol."""

    errno = 23
    message = "INCONSISTENT_GROUP_PROTOCOL"


class InvalidGroupIdError(BrokerResponseError):
    """Invalid group ID."""

    errno = 24
    message = "INVALID_GROUP_ID"


class UnknownMemberIdError(BrokerResponseError):
    """Unknown member ID."""

    errno = 25
    message = "UNKNOWN_MEMBER_ID"


class InvalidSessionTimeoutError(BrokerResponseError):
    """Invalid session timeout."""

    errno = 26
    message = "INVALID_SESSION_TIMEOUT"


class RebalanceInProgressError(BrokerResponseError):
    """Rebalance in progress."""

    errno = 27
    message = "REBALANCE_IN_PROGRESS"


class InvalidCommitOffsetSizeError(BrokerResponseError):
    """Invalid commit offset size."""

    errno = 28
    message = "INVALID_COMMIT_OFFSET_SIZE"


class TopicAuthorizationFailedError(BrokerResponseError):
    """Topic authorization failed."""

    errno = 29
    message = "TOPIC_AUTHORIZATION_FAILED"


class GroupAuthorizationFailedError(BrokerResponseError):
    """Group authorization failed."""

    errno = 30
    message = "GROUP_AUTHORIZATION_FAILED"


class ClusterAuthorizationFailedError(BrokerResponseError):
    """Cluster authorization failed."""

    errno = 31
    message = "CLUSTER_AUTHORIZATION_FAILED"


class InvalidTimestampError(BrokerResponseError):
    """Invalid timestamp."""

    errno = 32
    message = "INVALID_TIMESTAMP"


class UnsupportedSaslMechanismError(BrokerResponseError):
    """Unsupported SASL mechanism."""

    errno = 33
    message = "UNSUPPORTED_SASL_MECHANISM"


class IllegalSaslStateError(BrokerResponseError):
    """Illegal SASL state."""

    errno = 34
    message = "ILLEGAL_SASL_STATE"


class UnsupportedVersionError(BrokerResponseError):
    """Unsupported version."""

    errno = 35
    message = "UNSUPPORTED_VERSION"


class TopicAlreadyExistsError(BrokerResponseError):
    """Topic already exists."""

    errno = 36
    message = "TOPIC_ALREADY_EXISTS"


class InvalidPartitionsError(BrokerResponseError):
    """Invalid partitions."""

    errno = 37
    message = "INVALID_PARTITIONS"


class InvalidReplicationFactorError(BrokerResponseError):
    """Invalid replication factor."""

    errno = 38
    message = "INVALID_REPLICATION_FACTOR"


class InvalidReplicationAssignmentError(BrokerResponseError):
    """Invalid replica assignment."""

    errno = 39
    message = "INVALID_REPLICATION_ASSIGNMENT"


class InvalidConfigurationError(BrokerResponseError):
    """Invalid config."""

    errno = 40
    message = "INVALID_CONFIG"


class NotControllerError(BrokerResponseError):
    """Not controller."""

    errno = 41
    message = "NOT_CONTROLLER"
    retriable = True


class InvalidRequestError(BrokerResponseError):
    """Invalid request."""

    errno = 42
    message = "INVALID_REQUEST"


class UnsupportedForMessageFormatError(BrokerResponseError):
    """Unsupported for message format."""

    errno = 43
    message = "UNSUPPORTED_FOR_MESSAGE_FORMAT"


class PolicyViolationError(BrokerResponseError):
    """Policy violation."""

    errno = 44
    message = "POLICY_VIOLATION"


class OutOfOrderSequenceNumber(BrokerResponseError):
    """Out of order sequence number."""

    errno = 45
    message = "OUT_OF_ORDER_SEQUENCE_NUMBER"


class DuplicateSequenceNumber(BrokerResponseError):
    """Duplicate sequence number."""

    errno = 46
    message = "DUPLICATE_SEQUENCE_NUMBER"


class InvalidProducerEpoch(BrokerResponseError):
    """Invalid producer epoch."""

    errno = 47
    message = "INVALID_PRODUCER_EPOCH"


class InvalidTxnState(BrokerResponseError):
    """Invalid transaction state."""

    errno = 48
    message = "INVALID_TXN_STATE"


class InvalidProducerIdMapping(BrokerResponseError):
    """Invalid producer ID mapping."""

    errno = 49
    message = "INVALID_PRODUCER_ID_MAPPING"


class InvalidTransactionTimeout(BrokerResponseError):
    """Invalid transaction timeout."""

    errno = 50
    message = "INVALID_TRANSACTION_TIMEOUT"


class ConcurrentTransactions(BrokerResponseError):
    """Concurrent transactions."""

    errno = 51
    message = "CONCURRENT_TRANSACTIONS"


class TransactionCoordinatorFenced(BrokerResponseError):
    """Transaction coordinator fenced."""

    errno = 52
    message = "TRANSACTION_COORDINATOR_FENCED"


class TransactionalIdAuthorizationFailed(BrokerResponseError):
    """Transactional ID authorization failed."""

    errno = 53
    message = "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"


class SecurityDisabled(BrokerResponseError):
    """Security disabled."""

    errno = 54
    message = "SECURITY_DISABLED"


class OperationNotAttempted(BrokerResponseError):
    """Operation not attempted."""

    errno = 55
    message = "OPERATION_NOT_ATTEMPTED"


class KafkaStorageError(BrokerResponseError):
    """Kafka storage error."""

    errno = 56
    message = "KAFKA_STORAGE_ERROR"
    retriable = True
    invalid_metadata = True


class LogDirNotFound(BrokerResponseError):
    """Log dir not found."""

    errno = 57
    message = "LOG_DIR_NOT_FOUND"


class SaslAuthenticationFailed(BrokerResponseError):
    """SASL authentication failed."""

    errno = 58
    message = "SASL_AUTHENTICATION_FAILED"


class UnknownProducerId(BrokerResponseError):
    """Unknown producer ID."""

    errno = 59
    message = "UNKNOWN_PRODUCER_ID"


class ReassignmentInProgress(BrokerResponseError):
    """Reassignment in progress."""

    errno = 60
    message = "REASSIGNMENT_IN_PROGRESS"


class DelegationTokenAuthDisabled(BrokerResponseError):
    """Delegation token authentication disabled."""

    errno = 61
    message = "DELEGATION_TOKEN_AUTH_DISABLED"


class DelegationTokenNotFound(BrokerResponseError):
    """Delegation token not found."""

    errno = 62
    message = "DELEGATION_TOKEN_NOT_FOUND"


class DelegationTokenOwnerMismatch(BrokerResponseError):
    """Delegation token owner mismatch."""

    errno = 63
    message = "DELEGATION_TOKEN_OWNER_MISMATCH"


class DelegationTokenRequestNotAllowed(BrokerResponseError):
    """Delegation token request not allowed."""

    errno = 64
    message = "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED"


class DelegationTokenAuthorizationFailed(BrokerResponseError):
    """Delegation token authorization failed."""

    errno = 65
    message = "DELEGATION_TOKEN_AUTHORIZATION_FAILED"


class DelegationTokenExpired(BrokerResponseError):
    """Delegation token expired."""

    errno = 66
    message = "DELEGATION_TOKEN_EXPIRED"


class InvalidPrincipalType(BrokerResponseError):
    """Invalid principal type."""

    errno = 67
    message = "INVALID_PRINCIPAL_TYPE"


class NonEmptyGroup(BrokerResponseError):
    """Non empty group."""

    errno = 68
    message = "NON_EMPTY_GROUP"


class GroupIdNotFound(BrokerResponseError):
    """Group ID not found."""

    errno = 69
    message = "GROUP_ID_NOT_FOUND"


class FetchSessionIdNotFound(BrokerResponseError):
    """Fetch session ID not found."""

    errno = 70
    message = "FETCH_SESSION_ID_NOT_FOUND"


class InvalidFetchSessionEpoch(BrokerResponseError):
    """Invalid fetch session epoch."""

    errno = 71
    message = "INVALID_FETCH_SESSION_EPOCH"


class ListenerNotFound(BrokerResponseError):
    """Listener not found."""

    errno = 72
    message = "LISTENER_NOT_FOUND"


class MemberIdRequired(BrokerResponseError):
    """Member ID required."""

    errno = 79
    message = "MEMBER_ID_REQUIRED"


InvalidMessageError = CorruptRecordException
CoordinatorLoadInProgressError = GroupLoadInProgressError
CoordinatorNotAvailableError = GroupCoordinatorNotAvailableError
NotCoordinatorError = NotCoordinatorForGroupError
TransactionIdAuthorizationFailed = TransactionalIdAuthorizationFailed  # as aiokafka 0.8 spells it

kafka_errors: Final = {kind.errno: kind for kind in BrokerResponseError.__subclasses__()}
"""Code of the protocol -> class."""


def for_code(error_code: int) -> type[BrokerResponseError]:
    """The class of a code; UnknownError for one that has none."""
    return kafka_errors.get(error_code, UnknownError)


LOCAL: Final[dict[int, type[Exception]]] = {
    CoreError._ALL_BROKERS_DOWN: KafkaConnectionError,
    CoreError._TRANSPORT: KafkaConnectionError,
    CoreError._RESOLVE: KafkaConnectionError,
    CoreError._SSL: KafkaConnectionError,
    CoreError._AUTHENTICATION: AuthenticationFailedError,
    CoreError._TIMED_OUT: KafkaTimeoutError,
    CoreError._TIMED_OUT_QUEUE: KafkaTimeoutError,
    CoreError._MSG_TIMED_OUT: KafkaTimeoutError,
    CoreError._QUEUE_FULL: KafkaTimeoutError,
    CoreError._UNKNOWN_TOPIC: UnknownTopicOrPartitionError,
    CoreError._UNKNOWN_PARTITION: UnknownTopicOrPartitionError,
    CoreError._FENCED: ProducerFenced,
    CoreError._STATE: IllegalStateError,
    CoreError._UNSUPPORTED_FEATURE: UnsupportedVersionError,
    CoreError._BAD_MSG: CorruptRecordException,
    CoreError._BAD_COMPRESSION: UnsupportedCodecError,
    CoreError._PURGE_QUEUE: ProducerClosed,
    CoreError._PURGE_INFLIGHT: ProducerClosed,
    CoreError.INVALID_PRODUCER_EPOCH: ProducerFenced,
    CoreError.PRODUCER_FENCED: ProducerFenced,
}
"""Codes of ours, and those of the protocol that aiokafka gives another class."""


def translated(error: CoreError | KafkaException) -> Exception:
    """The error that aiokafka has for one of ours; ours is its cause if it was raised."""
    if isinstance(error, ConfigError):
        found: Exception = ValueError(str(error))
    elif isinstance(error, StateError):
        found = IllegalStateError(str(error))
    else:
        value = error.error if isinstance(error, KafkaException) else error
        code = value.code()
        kind = LOCAL.get(code) or (for_code(code) if code in kafka_errors or code > 0 else KafkaError)
        text = value.str() if code in kafka_errors or code in LOCAL else f"{value.name()}: {value.str()}"
        found = kind(text)
    if isinstance(error, KafkaException):
        found.__cause__ = error
    return found
