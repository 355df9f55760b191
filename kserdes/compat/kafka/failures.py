"""Errors of our clients, as the errors of kafka-python.

Must not know which call failed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

from kafka_core import ConfigError, KafkaError, KafkaException
from kserdes.compat.kafka import errors

__all__ = ["error_class", "translated", "translating"]

OURS: Final[dict[int, type[errors.KafkaError]]] = {
    KafkaError._TIMED_OUT: errors.KafkaTimeoutError,
    KafkaError._MSG_TIMED_OUT: errors.KafkaTimeoutError,
    KafkaError._TIMED_OUT_QUEUE: errors.KafkaTimeoutError,
    KafkaError._TRANSPORT: errors.KafkaConnectionError,
    KafkaError._ALL_BROKERS_DOWN: errors.KafkaConnectionError,
    KafkaError._RESOLVE: errors.KafkaConnectionError,
    KafkaError._SSL: errors.KafkaConnectionError,
    KafkaError._AUTHENTICATION: errors.SaslAuthenticationFailedError,
    KafkaError._STATE: errors.IllegalStateError,
    KafkaError._NOT_CONFIGURED: errors.IllegalStateError,
    KafkaError._INVALID_ARG: errors.IllegalArgumentError,
    KafkaError._UNKNOWN_TOPIC: errors.UnknownTopicOrPartitionError,
    KafkaError._UNKNOWN_PARTITION: errors.UnknownTopicOrPartitionError,
    KafkaError._UNKNOWN_BROKER: errors.UnknownBrokerIdError,
    KafkaError._UNKNOWN_GROUP: errors.GroupIdNotFoundError,
    KafkaError._FENCED: errors.ProducerFencedError,
    KafkaError._PURGE_QUEUE: errors.Cancelled,
    KafkaError._PURGE_INFLIGHT: errors.Cancelled,
    KafkaError._NO_OFFSET: errors.NoOffsetForPartitionError,
    KafkaError._AUTO_OFFSET_RESET: errors.NoOffsetForPartitionError,
    KafkaError._UNSUPPORTED_FEATURE: errors.UnsupportedVersionError,
    KafkaError._BAD_COMPRESSION: errors.UnsupportedCodecError,
    KafkaError._BAD_MSG: errors.CorruptRecordError,
    KafkaError._ASSIGNMENT_LOST: errors.CommitFailedError,
}
"""Codes that our clients make themselves; those of brokers have classes of their own."""


def translated(failure: KafkaException | KafkaError) -> errors.KafkaError:
    """The error that kafka-python has for one of ours, with our text."""
    error = failure.error if isinstance(failure, KafkaException) else failure
    if isinstance(failure, ConfigError):
        return errors.KafkaConfigurationError(str(failure))
    code = error.code()
    if code >= -1:
        return errors.for_code(code)(error.str())
    return OURS.get(code, errors.KafkaError)(error.str())


def error_class(failure: KafkaException) -> type[errors.KafkaError]:
    """The class of kafka-python's that a failure of ours belongs to."""
    return type(translated(failure))


@contextlib.contextmanager
def translating() -> Iterator[None]:
    """A block in which our errors become kafka-python's."""
    try:
        yield
    except KafkaException as failure:
        raise translated(failure) from failure
