"""The errors of kafka_core: one value (`KafkaError`) and one exception tree around it.

Knows only the generated code table and the root of errors of configurations; nothing of sockets, messages or clients.
Truth: org.apache.kafka.common.protocol.Errors for the codes, confluent_kafka for names and methods.

    KafkaException            args[0] is the KafkaError
    ├── ConfigError           (also PropertyError, a ValueError) a wrong property or argument
    │   └── CallbackError     (also TypeError) a callback that cannot be called
    ├── StateError            (also RuntimeError) closed client, forked client, wrong order of calls
    ├── NetworkError          resolve, connect, TLS, lost, timed out
    ├── ProtocolError         bytes or versions that make no sense
    │   ├── CorruptRecordError
    │   ├── UnsupportedVersionError
    │   └── UnknownCodecError
    ├── AuthError             the broker refused who we say we are, or we do not believe the broker
    ├── BrokerError           a broker answered with an error code
    ├── ConsumeError          carries the message it is about
    └── ProduceError
"""

from __future__ import annotations

from functools import total_ordering
from operator import index
from typing import Any

from kafka_core.error_codes import FACTS, ErrorCodes
from kserdes_base.config.errors import PropertyError

__all__ = [
    "AuthError",
    "BrokerError",
    "CallbackError",
    "ConfigError",
    "ConsumeError",
    "CorruptRecordError",
    "ErrorCodes",
    "KafkaError",
    "KafkaException",
    "NetworkError",
    "ProduceError",
    "ProtocolError",
    "StateError",
    "UnknownCodecError",
    "UnsupportedVersionError",
]

# Local codes have no row in the Java table: these conditions pass by themselves.
LOCAL_RETRIABLE = frozenset(
    {
        ErrorCodes._TRANSPORT,
        ErrorCodes._RESOLVE,
        ErrorCodes._ALL_BROKERS_DOWN,
        ErrorCodes._TIMED_OUT,
        ErrorCodes._TIMED_OUT_QUEUE,
        ErrorCodes._QUEUE_FULL,
        ErrorCodes._WAIT_COORD,
        ErrorCodes._WAIT_CACHE,
        ErrorCodes._RETRY,
    }
)


# The text of a closed client's error, in confluent_kafka's words, which applications look for.
PRODUCER_CLOSED = "Producer has been closed"
CONSUMER_CLOSED = "Consumer closed"
HANDLE_CLOSED = "Handle has been closed"

Text = str  # `str` is a method inside KafkaError, as in the reference API


@total_ordering
class KafkaError(ErrorCodes):
    """An error as a value: what delivery reports, `Message.error()` and `error_cb` carry.

    Immutable, hashable, comparable with another KafkaError or a plain code; pickles.

    Args:
        error: a code; one of the constants of this class.
        reason: a sentence for this occurrence; the standing text of the code if None.
        fatal: the client instance can't go on.
        retriable: the same operation may succeed later.
        txn_requires_abort: the current transaction must be aborted.
    """

    __slots__ = ("_code", "_fatal", "_reason", "_retriable", "_txn_requires_abort")

    def __init__(
        self,
        error: int,
        reason: Text | None = None,
        fatal: bool = False,
        retriable: bool = False,
        txn_requires_abort: bool = False,
    ) -> None:
        if reason is not None and not isinstance(reason, str):
            raise TypeError(f"reason must be str, not {type(reason).__name__}")
        self._code = index(error)
        self._reason = reason
        self._fatal = bool(index(fatal))
        self._retriable = bool(index(retriable))
        self._txn_requires_abort = bool(index(txn_requires_abort))

    @classmethod
    def from_code(cls, code: int, reason: Text | None = None) -> KafkaError:
        """The error of a broker's code, retriable by the table.

        A code that no broker sends (from a newer one, or damaged on its way) is UNKNOWN, as in the Java client; so are
        the client's own codes below -1, which must not pass for something that the client found out.
        """
        if code not in FACTS or code < cls.UNKNOWN:
            text = f"the broker answered with the error code {code}, which this client does not know"
            return KafkaError(cls.UNKNOWN, text if reason is None else f"{text}: {reason}")
        return cls.standard(code, reason)

    @classmethod
    def standard(cls, code: int, reason: Text | None = None) -> KafkaError:
        """The error of any code, a broker's or the client's own, retriable by the table.

        confluent_kafka has no such method. For a number that came from a broker use `from_code`: it lets none pass for
        one of the client's own codes.

        Args:
            code: one of the constants of this class.
            reason: a sentence for this occurrence; the standing text of the code if None.
        """
        facts = FACTS.get(code)
        retriable = code in LOCAL_RETRIABLE or (facts is not None and facts.retriable)
        return KafkaError(code, reason, retriable=retriable, txn_requires_abort=code == cls.TRANSACTION_ABORTABLE)

    def code(self) -> int:
        """The code: negative if made by the client, else the broker's."""
        return self._code

    def name(self) -> Text:
        """The constant's name; `ERR_<code>?` for an unknown code."""
        facts = FACTS.get(self._code)
        return facts.name if facts else f"ERR_{self._code}?"

    def str(self) -> Text:
        """The sentence for people: the reason if there is one, else the fixed text of the code."""
        if self._reason is not None:
            return self._reason
        facts = FACTS.get(self._code)
        return facts.text if facts else f"Err-{self._code}?"

    def fatal(self) -> bool:
        """True if the client instance is of no further use."""
        return self._fatal

    def retriable(self) -> bool:
        """True if the operation may be tried again."""
        return self._retriable

    def txn_requires_abort(self) -> bool:
        """True if the application must abort the current transaction."""
        return self._txn_requires_abort

    def __eq__(self, other: object) -> bool:
        if isinstance(other, KafkaError):
            return self._code == other._code
        return self._code == other if isinstance(other, int) else NotImplemented

    def __lt__(self, other: KafkaError | int) -> bool:
        return self._code < (other._code if isinstance(other, KafkaError) else other)

    def __hash__(self) -> int:
        return hash(self._code)

    def __repr__(self) -> Text:
        fatal = "FATAL," if self._fatal else ""
        return f'KafkaError{{{fatal}code={self.name()},val={self._code},str="{self.str()}"}}'

    __str__ = __repr__

    def __reduce__(self) -> tuple[type[KafkaError], tuple[object, ...]]:
        return KafkaError, (self._code, self._reason, self._fatal, self._retriable, self._txn_requires_abort)


def rebuild(cls: type[KafkaException], args: tuple[Any, ...], state: dict[str, Any]) -> KafkaException:
    """Unpickles an exception without calling its constructor, whose arguments differ from `args`."""
    exception = cls.__new__(cls, *args)
    exception.args = args
    exception.__dict__.update(state)
    return exception


class KafkaException(Exception):
    """Root of everything that kafka_core raises; `args[0]` is a `KafkaError`.

    As in confluent_kafka it may be made of anything, or nothing, in code of one's own and in tests: of an error, of a
    bare code, which stands for the standard error of that code, or of whatever else.
    """

    @property
    def error(self) -> KafkaError:
        """The error as a value; `_FAIL` with the text of an exception that was made without one."""
        first = self.args[0] if self.args else None
        if isinstance(first, int) and not isinstance(first, bool):
            return KafkaError.standard(first)
        return first if isinstance(first, KafkaError) else KafkaError(KafkaError._FAIL, str(self) or None)

    @property
    def code(self) -> int:
        """The error's code."""
        return self.error.code()

    @property
    def name(self) -> str:
        """The name of the error's constant."""
        return self.error.name()

    @property
    def retriable(self) -> bool:
        """True if trying again may help."""
        return self.error.retriable()

    @property
    def fatal(self) -> bool:
        """True if the client instance can't go on."""
        return self.error.fatal()

    @property
    def abortable(self) -> bool:
        """True if the current transaction must be aborted (and may then be tried anew)."""
        return self.error.txn_requires_abort()

    @property
    def refresh_metadata(self) -> bool:
        """True if the cause is an outdated view of the cluster: refresh before trying again."""
        facts = FACTS.get(self.code)
        return facts is not None and facts.refresh_metadata

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuild, (type(self), self.args, self.__dict__)


class SentenceError(KafkaException):
    """An exception whose text is the sentence of its error, where KafkaException's is all of the error."""

    def __str__(self) -> str:
        """The sentence of the error; with more arguments, all of them."""
        if not self.args or not isinstance(self.args[0], KafkaError):
            return super().__str__()
        return ", ".join([self.args[0].str(), *map(str, self.args[1:])])


class TextError(SentenceError):
    """Shared base of the exceptions made by the client: a sentence, a code, and facts of the cause.

    Args:
        text: one sentence: what happened, to what, what to try.
        code: a KafkaError constant; the class's own by default.
        retriable: whether trying again may help; by default by the code.
        fatal: the client instance can't go on.
        facts: anything worth keeping about the cause, in `.facts` by name.
    """

    DEFAULT_CODE: int = ErrorCodes._FAIL

    def __init__(
        self,
        text: str,
        code: int | None = None,
        *,
        retriable: bool | None = None,
        fatal: bool = False,
        **facts: object,
    ) -> None:
        number = self.DEFAULT_CODE if code is None else code
        known = KafkaError.standard(number).retriable() if retriable is None else retriable
        super().__init__(KafkaError(number, text, fatal=fatal, retriable=known))
        self.facts = facts


class ConfigError(TextError, PropertyError):
    """A property or argument is unknown, ill-typed, out of range or at odds with another one.

    A `PropertyError`, as what the other packages raise for theirs, with its attributes.
    """

    DEFAULT_CODE = ErrorCodes._INVALID_ARG

    def __init__(self, text: str, code: int | None = None, **facts: Any) -> None:
        super().__init__(text, code, **facts)
        self.property = facts.get("property")
        self.accepted = facts.get("accepted")
        self.nearest = facts.get("nearest")


class CallbackError(ConfigError, TypeError):
    """A property or argument that must be callable is not; a TypeError too, as confluent_kafka raises it."""


class StateError(TextError, RuntimeError):
    """The client can't do this now: closed, forked, or called in the wrong order."""

    DEFAULT_CODE = ErrorCodes._STATE


class IllegalStateException(StateError):
    """A share consumer can't do this now: closed, not subscribed, the wrong mode, a record that is not in its hands."""


class ConcurrentModificationException(StateError):
    """A share consumer was called while another thread (or task) was inside one of its methods."""


class NetworkError(TextError):
    """No answer: the host could not be resolved or reached, TLS failed, the connection was lost or timed out."""

    DEFAULT_CODE = ErrorCodes._TRANSPORT


class ProtocolError(TextError):
    """The peer's bytes or versions make no sense."""

    DEFAULT_CODE = ErrorCodes._BAD_MSG


class CorruptRecordError(ProtocolError):
    """A record batch whose length, checksum or content is wrong; the text names its base offset."""


class UnsupportedVersionError(ProtocolError):
    """Client and broker share no version of an API; the text names the API and both ranges."""

    DEFAULT_CODE = ErrorCodes._UNSUPPORTED_FEATURE


class UnknownCodecError(ProtocolError):
    """A batch is compressed with an unknown codec."""

    DEFAULT_CODE = ErrorCodes._BAD_COMPRESSION


class AuthError(TextError):
    """Authentication failed; the text says who, with which mechanism, and the broker's reason."""

    DEFAULT_CODE = ErrorCodes._AUTHENTICATION


class BrokerError(SentenceError):
    """A broker answered with an error code.

    Args:
        error: the error, or the bare code (retriable as the table says).
        reason: the broker's own sentence or ours; only with a bare code.
    """

    def __init__(self, error: KafkaError | int, reason: str | None = None) -> None:
        super().__init__(error if isinstance(error, KafkaError) else KafkaError.from_code(error, reason))


class MessageError(KafkaException):
    """Shared base of `ConsumeError` and `ProduceError`.

    Args:
        kafka_error: what went wrong.
        exception: the exception behind it, if any.
        kafka_message: the Message it is about, if any.
    """

    def __init__(
        self, kafka_error: KafkaError | int, exception: BaseException | None = None, kafka_message: Any = None
    ) -> None:
        super().__init__(kafka_error)
        self.exception = exception
        self.kafka_message = kafka_message


class ConsumeError(MessageError):
    """A message could not be consumed; `kafka_message` holds it as it came, if it came."""


class ProduceError(MessageError):
    """A message could not be produced."""
