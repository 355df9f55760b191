"""Requests, responses, metadata and errors of kafka-python 0.9.5, by the names that `kafka.common` had.

Must not hold behaviour. Topics in requests and responses are bytes, as they were there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple


class MetadataRequest(NamedTuple):
    topics: Sequence[str]


class MetadataResponse(NamedTuple):
    brokers: Sequence[BrokerMetadata]
    topics: Sequence[TopicMetadata]


class ConsumerMetadataRequest(NamedTuple):
    groups: str


class ConsumerMetadataResponse(NamedTuple):
    error: int
    nodeId: int
    host: str
    port: int


class ProduceRequest(NamedTuple):
    topic: str | bytes
    partition: int
    messages: Sequence[Message]


class ProduceResponse(NamedTuple):
    """`offset` is that of the request's first message."""

    topic: bytes
    partition: int
    error: int
    offset: int


class FetchRequest(NamedTuple):
    topic: str | bytes
    partition: int
    offset: int
    max_bytes: int


class FetchResponse(NamedTuple):
    topic: bytes
    partition: int
    error: int
    highwaterMark: int
    messages: Iterator[OffsetAndMessage]


class OffsetRequest(NamedTuple):
    """`time` in milliseconds; -1 asks for the end, -2 for the beginning."""

    topic: str | bytes
    partition: int
    time: int
    max_offsets: int


class OffsetResponse(NamedTuple):
    topic: bytes
    partition: int
    error: int
    offsets: Sequence[int]


class OffsetCommitRequest(NamedTuple):
    topic: str | bytes
    partition: int
    offset: int
    metadata: str | bytes | None


class OffsetCommitResponse(NamedTuple):
    topic: bytes
    partition: int
    error: int


class OffsetFetchRequest(NamedTuple):
    topic: str | bytes
    partition: int


class OffsetFetchResponse(NamedTuple):
    """`offset` is -1 if the group has committed none."""

    topic: bytes
    partition: int
    offset: int
    metadata: bytes
    error: int


class BrokerMetadata(NamedTuple):
    nodeId: int
    host: str
    port: int


class TopicMetadata(NamedTuple):
    topic: bytes
    error: int
    partitions: Sequence[PartitionMetadata]


class PartitionMetadata(NamedTuple):
    topic: bytes
    partition: int
    leader: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    error: int


class OffsetAndMessage(NamedTuple):
    offset: int
    message: Message


class Message(NamedTuple):
    """A record to send, or one that was read; `create_message` and its like make those to send.

    `attributes` is the codec of a set of messages in one (`protocol.CODEC_…`); `value` holds the set then.
    """

    magic: int
    attributes: int
    key: bytes | None
    value: Any


class TopicAndPartition(NamedTuple):
    topic: bytes
    partition: int


class KafkaMessage(NamedTuple):
    """A message from `KafkaConsumer`."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: Any


class RetryOptions(NamedTuple):
    """An asynchronous producer's retries of failed messages; `limit` None: it never gives up."""

    limit: int | None
    backoff_ms: int
    retry_on_timeouts: bool


class KafkaError(RuntimeError):
    """The root of all errors of this dialect."""


class BrokerResponseError(KafkaError):
    """An error code of a broker."""

    errno: ClassVar[int]
    message: ClassVar[str]


class UnknownError(BrokerResponseError):
    errno = -1
    message = "UNKNOWN"


class OffsetOutOfRangeError(BrokerResponseError):
    errno = 1
    message = "OFFSET_OUT_OF_RANGE"


class InvalidMessageError(BrokerResponseError):
    errno = 2
    message = "INVALID_MESSAGE"


class UnknownTopicOrPartitionError(BrokerResponseError):
    errno = 3
    message = "UNKNOWN_TOPIC_OR_PARTITION"


class InvalidFetchRequestError(BrokerResponseError):
    errno = 4
    message = "INVALID_FETCH_SIZE"


class LeaderNotAvailableError(BrokerResponseError):
    errno = 5
    message = "LEADER_NOT_AVAILABLE"


class NotLeaderForPartitionError(BrokerResponseError):
    errno = 6
    message = "NOT_LEADER_FOR_PARTITION"


class RequestTimedOutError(BrokerResponseError):
    errno = 7
    message = "REQUEST_TIMED_OUT"


class BrokerNotAvailableError(BrokerResponseError):
    errno = 8
    message = "BROKER_NOT_AVAILABLE"


class ReplicaNotAvailableError(BrokerResponseError):
    errno = 9
    message = "REPLICA_NOT_AVAILABLE"


class MessageSizeTooLargeError(BrokerResponseError):
    errno = 10
    message = "MESSAGE_SIZE_TOO_LARGE"


class StaleControllerEpochError(BrokerResponseError):
    errno = 11
    message = "STALE_CONTROLLER_EPOCH"


class OffsetMetadataTooLargeError(BrokerResponseError):
    errno = 12
    message = "OFFSET_METADATA_TOO_LARGE"


class StaleLeaderEpochCodeError(BrokerResponseError):
    errno = 13
    message = "STALE_LEADER_EPOCH_CODE"


class OffsetsLoadInProgressCode(BrokerResponseError):
    errno = 14
    message = "OFFSETS_LOAD_IN_PROGRESS_CODE"


class ConsumerCoordinatorNotAvailableCode(BrokerResponseError):
    errno = 15
    message = "CONSUMER_COORDINATOR_NOT_AVAILABLE_CODE"


class NotCoordinatorForConsumerCode(BrokerResponseError):
    errno = 16
    message = "NOT_COORDINATOR_FOR_CONSUMER_CODE"


BrokerNotFoundError = BrokerNotAvailableError
ConsumerCoordinatorNotAvailable = ConsumerCoordinatorNotAvailableCode
InvalidFetchRequest = InvalidFetchRequestError
LeaderNotFoundError = LeaderNotAvailableError
OffsetOutOfRangeException = OffsetOutOfRangeError


class KafkaUnavailableError(KafkaError):
    """No broker can be reached."""


class KafkaTimeoutError(KafkaError):
    """Something did not happen in time."""


class FailedPayloadsError(KafkaError):
    """A request failed before a broker answered it; `payload` is the request."""

    def __init__(self, payload: object, *args: object) -> None:
        super().__init__(*args)
        self.payload = payload


class ConnectionError(KafkaError):
    """A connection failed."""


class BufferUnderflowError(KafkaError):
    """Data ends too early."""


class ChecksumError(KafkaError):
    """Data does not have its checksum."""


class ConsumerFetchSizeTooSmall(KafkaError):
    """A message is larger than a fetch may be. Brokers send such messages since Kafka 0.10.1: it is not raised."""


class ConsumerNoMoreData(KafkaError):
    """There is nothing more to read."""


class ConsumerTimeout(KafkaError):
    """No message came in time."""


class ProtocolError(KafkaError):
    """A response can't be understood."""


class UnsupportedCodecError(KafkaError):
    """There is no such codec."""


class KafkaConfigurationError(KafkaError):
    """A setting is unknown or can't be."""


class AsyncProducerQueueFull(KafkaError):
    """An asynchronous producer has no room; `failed_msgs` are the messages that were not taken."""

    def __init__(self, failed_msgs: Sequence[bytes], *args: object) -> None:
        super().__init__(*args)
        self.failed_msgs = failed_msgs


kafka_errors: dict[int, type[BrokerResponseError]] = {kind.errno: kind for kind in BrokerResponseError.__subclasses__()}


def check_error(response: Any) -> None:
    """Raises what a response says went wrong.

    Raises:
        KafkaError: the response is an error, or has an error code: the class of the code, or UnknownError.
    """
    if isinstance(response, Exception):
        raise response
    if response.error:
        raise kafka_errors.get(response.error, UnknownError)(response)
