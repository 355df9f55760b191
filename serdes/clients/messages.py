"""Decides which consumed messages are handed out, raised or set aside.

Must not know of clients, threads or event loops: the shells in `serdes.clients` poll, seek and store. A message that
can't be read never disappears and never blocks silently: the position goes back to it, so that the next poll (or a
restart) sees it again, until somebody seeks past it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from kafka_core.errors import ConsumeError, KafkaError, KafkaException
from kafka_core.kernels import Message
from kafka_core.model import TopicPartition
from serdes.clients.fields import FieldDeserializers, Relay
from serdes.clients.poison import Letter, PoisonPolicy
from serdes.errors import FieldError
from serdes.kernels.fields import last_of_each

__all__ = ["PolledMessages", "TypedMessage", "last_of_each", "taking"]

K = TypeVar("K", covariant=True)
V = TypeVar("V", covariant=True)

if TYPE_CHECKING:

    class TypedMessage(Message[K, V]):
        """The messages of typed consumers: a `Message[K, V]` that came from a partition, since events are raised.

        Only type checkers know it; at run time it is Message.
        """

        def topic(self) -> str:
            """The topic it came from."""

        def partition(self) -> int:
            """The partition it came from."""

        def offset(self) -> int:
            """Its offset there."""

else:
    TypedMessage = Message


class Client(Protocol):
    """The consumer as `taking` uses it; each method returns a result, or an awaitable of it."""

    def go_back(self, place: TopicPartition) -> Any:
        """Sets the position; a partition that was revoked is passed over."""
        ...

    def keep(self, places: list[TopicPartition]) -> Any:
        """Stores offsets; partitions that were revoked are passed over."""
        ...

    def set_aside(self, letter: Letter) -> Any:
        """Delivers a dead letter, once for a message until that is let go.

        Raises:
            KafkaException: it was not delivered.
        """
        ...

    def let_go(self, letter: Letter) -> None:
        """Ends the work on a dead letter's message."""
        ...


def taking(
    raw: Iterable[Message],
    deserializers: FieldDeserializers,
    policy: PoisonPolicy,
    client: Client,
    stores: bool,
    good: int = 0,
    failed: FieldError | None = None,
) -> Relay[tuple[PolledMessages, Exception | None]]:
    """Reads messages that were polled together, goes back to what can't be read, stores what is handed out.

    Args:
        raw: the messages, in order.
        deserializers: read them.
        policy: what happens to those that can't be read.
        client: the consumer.
        stores: whether offsets are stored.
        good: so many of the messages have been read already.
        failed: what the message after those gave when it was read; None if nobody has tried.

    Returns:
        What is handed out, and what is to be raised instead, if anything.
    """
    polled, letters = PolledMessages(), list[Letter]()
    for count, message in enumerate(raw):
        if count < good:
            polled.good(message)
            continue
        if polled.skips(message):
            continue
        error = message.error()
        if error is not None:
            polled.event(message, error)
            continue
        poison, failed = failed, None
        if poison is None:
            poison = yield from _poison_of(deserializers, message)
        if poison is None:
            polled.good(message)
        else:
            yield from _poison(polled, message, poison, policy, client, letters)
    for place in polled.seeks:
        yield client.go_back(place)
    if stores and polled.stores:
        yield client.keep(polled.stores)
    for letter in letters:  # not before: a call that is interrupted hands all its messages back
        client.let_go(letter)
    return polled, polled.verdict()[0]


def _poison_of(deserializers: FieldDeserializers, message: Message) -> Relay[FieldError | None]:
    """Reads a message; gives why it can't be read, None if it was."""
    try:
        yield from deserializers.relay(message)
    except FieldError as poison:
        return poison
    return None


def _poison(
    polled: PolledMessages,
    message: Message,
    poison: FieldError,
    policy: PoisonPolicy,
    client: Client,
    letters: list[Letter],
) -> Relay[None]:
    if not policy.passes(poison):
        if poison.set_aside is None:
            polled.poison(message, poison)
        else:
            polled.told(message, poison)
        return
    letter = policy.letter(message, poison)
    if letter is not None:
        try:
            yield client.set_aside(letter)
        except KafkaException as error:
            poison.add_note(f"and the dead letter was not delivered to {letter.topic}: {error}")
            polled.poison(message, poison)
            return
    if policy.callback is not None:
        try:
            policy.callback(poison)
        except Exception as error:
            poison.add_note(f"and on.poison failed: {type(error).__name__}: {error}")
            polled.poison(message, poison)
            return
    if letter is not None:
        letters.append(letter)
    polled.passed(message)


@dataclass(slots=True)
class PolledMessages:
    """Sorts messages that were polled together. Feed it in order: `skips`, then one of `good`, `poison`, `event`.

    Attributes:
        messages: what is handed out.
        events: what is to be raised once, in order: errors of the client, and messages that a rule has set aside.
        poisons: the first message of each partition that could not be read.
    """

    messages: list[Message] = field(default_factory=list)
    events: list[ConsumeError | FieldError] = field(default_factory=list)
    poisons: list[FieldError] = field(default_factory=list)
    _order: list[Exception] = field(default_factory=list)
    _seeks: dict[tuple[str, int], TopicPartition] = field(default_factory=dict)
    _stores: dict[tuple[str, int], TopicPartition] = field(default_factory=dict)

    def skips(self, message: Message) -> bool:
        """Whether a message stands behind one of its partition that can't be read: it will come again."""
        return bool(self._seeks) and _place(message) in self._seeks

    def good(self, message: Message) -> None:
        """The message was read."""
        self.messages.append(message)
        self.passed(message)

    def passed(self, message: Message) -> None:
        """The message is done with: the offset behind it may be stored."""
        topic, partition = place = _place(message)
        offset, epoch = (message.offset() or 0) + 1, message.leader_epoch()
        self._stores[place] = TopicPartition(topic, partition, offset, leader_epoch=epoch)

    def poison(self, message: Message, error: FieldError) -> None:
        """The message can't be read."""
        topic, partition = place = _place(message)
        self.poisons.append(error)
        self._order.append(error)
        self._seeks[place] = TopicPartition(topic, partition, message.offset() or 0)

    def told(self, message: Message, error: FieldError) -> None:
        """The message can't be read, and a rule has set it aside: it need not come again, nor be set aside again."""
        self.events.append(error)
        self._order.append(error)
        self.passed(message)

    def event(self, message: Message, error: KafkaError) -> None:
        """The message is an error of the client."""
        made = ConsumeError(error, kafka_message=message)
        self.events.append(made)
        self._order.append(made)

    @property
    def seeks(self) -> list[TopicPartition]:
        """The positions to seek back to."""
        return list(self._seeks.values())

    @property
    def stores(self) -> list[TopicPartition]:
        """The offsets behind the messages that are handed out, to be stored."""
        return list(self._stores.values())

    def verdict(self) -> tuple[Exception | None, list[ConsumeError | FieldError]]:
        """The error to raise now (only if nothing is handed out), and the events to raise later.

        A poison that is not raised now needs no keeping: it comes again.
        """
        if self.messages or not self._order:
            return None, self.events
        first = self._order[0]
        return first, [event for event in self.events if event is not first]


def _place(message: Message) -> tuple[str, int]:
    partition = message.partition()
    return message.topic() or "", -1 if partition is None else partition
