"""The error of a call that no broker answered: librdkafka's code and words for that call first, then the cause.

Must not know any call. Applications compare codes: librdkafka gives each call one, whatever stands in the way of its
answer. Causes that waiting does not help against (names of hosts, TLS, credentials) keep codes of their own.
Source: observed behaviour of confluent_kafka 2.16, compared by tests/interop/test_without_brokers.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from kafka_core.errors import KafkaError, KafkaException, NetworkError

METADATA: Final = "Failed to get metadata"

CLUSTER_ID: Final = "Failed to retrieve cluster id"

_PASSING: Final = frozenset({KafkaError._TRANSPORT, KafkaError._TIMED_OUT, KafkaError._ALL_BROKERS_DOWN})


def unanswered(error: KafkaException, words: str, code: int = KafkaError._TIMED_OUT) -> KafkaException:
    """The error with that code, and those words before its own; the same error if somebody did answer."""
    if not isinstance(error, NetworkError) or error.code not in _PASSING:
        return error
    told = KafkaError.standard(code).str()
    found = NetworkError(f"{words}: {told}: {error}" if words else f"{told}: {error}", code, retriable=True)
    found.__cause__ = error
    return found


@contextmanager
def answering(words: str, code: int | Callable[[], int] = KafkaError._TIMED_OUT) -> Iterator[None]:
    """Raises network errors inside as `unanswered` puts them.

    Args:
        code: called when it has failed, if it depends on what holds then.
    """
    try:
        yield
    except NetworkError as error:
        told = unanswered(error, words, code() if callable(code) else code)
        if told is error:
            raise
        raise told from error
