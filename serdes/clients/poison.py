"""Policies for a message that can't be read: raise, skip, or set it aside in a dead-letter topic.

Must not know of clients. Whatever the policy, a message is never lost: it is raised again, reported to a callback, or
delivered elsewhere before its offset is stored. If only the registry or a key service is away, messages are raised
and wait.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from kafka_core.kernels import Message
from serdes.errors import FieldError

KEYS: Final = ("poison.policy", "on.poison", "dead.letter.topic", "dead.letter.conf")
CONSUMER_ONLY: Final = ("group.", "auto.", "enable.", "fetch.", "max.poll.", "session.", "heartbeat.", "partition.")
CONSUMER_WORDS: Final = ("isolation.level", "check.crcs", "queued.", "consume.", "topic.", "offset.", "rebalance_cb")
DELIVERY_S: Final = 60.0
"""Seconds allowed for the delivery of a dead letter."""
MOST_LETTERS: Final = 1000
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Letter:
    """A record for the dead-letter topic: key and value as they came, and headers that say why it is here.

    Attributes:
        origin: topic, partition and offset of the message that could not be read.
    """

    origin: tuple[str, int, int]
    topic: str
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, Any]]
    timestamp: int


class SentLetters(Generic[T]):
    """Deliveries of letters whose messages may come again, since a call was interrupted: none is sent twice for it."""

    def __init__(self) -> None:
        self._deliveries: dict[tuple[str, int, int], T] = {}

    def of(self, letter: Letter) -> T | None:
        """The delivery that was begun, if one was."""
        return self._deliveries.get(letter.origin)

    def begun(self, letter: Letter, delivery: T) -> None:
        """A letter is on its way."""
        if len(self._deliveries) >= MOST_LETTERS:  # of messages that nobody wanted again
            del self._deliveries[next(iter(self._deliveries))]
        self._deliveries[letter.origin] = delivery

    def forget(self, letter: Letter) -> None:
        """It failed, or the message is done with: where it is read again, it is set aside again."""
        self._deliveries.pop(letter.origin, None)


@dataclass(frozen=True, slots=True)
class PoisonPolicy:
    """The treatment of messages that can't be read.

    Attributes:
        skips: whether the consumer goes on behind them.
        callback: told of each message that is passed over.
        topic: the dead-letter topic, None for none.
        producer_conf: properties of the producer of dead letters.
    """

    skips: bool = False
    callback: Callable[[FieldError], object] | None = None
    topic: str | None = None
    producer_conf: Mapping[str, object] | None = None

    @classmethod
    def take(cls, conf: Mapping[str, object]) -> tuple[dict[str, object], PoisonPolicy]:
        """Splits a configuration into the consumer's part and the policy.

        Args:
            conf: `poison.policy` (`raise`, the default, or `skip`), `on.poison` (called with the error),
                `dead.letter.topic`, `dead.letter.conf` (properties of its producer beyond the consumer's own).

        Raises:
            ValueError: wrong type or unknown policy.
        """
        rest = {key: value for key, value in conf.items() if key not in KEYS}
        name, callback, topic, extra = (conf.get(key) for key in KEYS)
        if name not in (None, "raise", "skip"):
            raise ValueError(f"poison.policy {name!r} is not supported: raise, skip")
        if callback is not None and not callable(callback):
            raise ValueError("on.poison must be callable with the signature on_poison(error)")
        if topic is not None and (not isinstance(topic, str) or not topic):
            raise ValueError("dead.letter.topic must be the name of a topic")
        if extra is not None and not isinstance(extra, Mapping):
            raise ValueError("dead.letter.conf must be a dict of producer properties")
        if topic is not None and name == "raise":
            raise ValueError("poison.policy raise and dead.letter.topic contradict each other")
        producer_conf = {**_shared(rest), **DELIVERY, **(extra or {})} if topic is not None else None
        return rest, cls(name == "skip" or topic is not None, callback, topic, producer_conf)

    def passes(self, error: FieldError) -> bool:
        """Whether the consumer goes on behind a message; not if it could be read later and is set aside nowhere."""
        return self.skips and (not error.registry_away or error.set_aside is not None)

    def letter(self, message: Message, error: FieldError) -> Letter | None:
        """The record to deliver before the message is passed over, None for none, or if a rule has put one there."""
        if self.topic is None or self.topic == error.set_aside:
            return None
        timestamp = message.timestamp()[1]
        headers: list[tuple[str, Any]] = list(message.headers() or [])
        facts = {
            "topic": message.topic(),
            "partition": message.partition(),
            "offset": message.offset(),
            "timestamp": timestamp,
            "field": error.field,
            "error.class": type(error.__cause__ or error).__qualname__,
            "error.message": error.reason,
            "schema.id": error.schema_id,
            "path": error.path,
        }
        headers += [(f"__dlq.{name}", _told(fact)) for name, fact in facts.items() if fact is not None]
        origin = message.topic() or "", message.partition() or 0, message.offset() or 0
        return Letter(origin, self.topic, _raw(message.key()), _raw(message.value()), headers, max(timestamp, 0))


DELIVERY: Final[Mapping[str, object]] = {"acks": "all", "enable.idempotence": True}


def _shared(conf: Mapping[str, object]) -> dict[str, object]:
    """The properties that the producer of dead letters shares: brokers and security."""
    return {key: value for key, value in conf.items() if not key.startswith((*CONSUMER_ONLY, *CONSUMER_WORDS))}


def _told(fact: object) -> bytes:
    return str(fact).encode(errors="backslashreplace")  # an error's text may have lone surrogates


def _raw(value: Any) -> bytes | None:
    return None if value is None else bytes(value)
