"""The errors of the registry's clients and of the compatibility check.

Must not know of HTTP libraries. Source: the error codes of Confluent's Schema Registry REST API.

SchemaRegistryError(http_status_code, error_code, error_message)
├── TransportError            no usable answer: DNS, refused, TLS, timed out, closed; status and code are -1
│   └── OAuthTokenError           no token, so that the registry was not even asked
└── ResponseError             the registry answered with an error
    ├── IncompatibleSchemaError   409 (or a local verdict): carries the reasons
    ├── InvalidSchemaError        42201 (or a local parser): the schema can't be used
    └── UnexpectedAnswerError     what answered is no registry, or not in its API: a page, a redirect, other JSON
"""

from __future__ import annotations

from collections.abc import Sequence

from kserdes_base.retries import MAY_PASS

INVALID_SCHEMA = 42201
NOT_FOUND_CODES = range(40401, 40500)
"""Subject, version, schema and so on: each kind has its code."""
RETRIABLE_STATUSES = MAY_PASS - {501, 505}
"""Statuses after which the same call may go well; what a server has no notion of (501, 505) it will not have later."""


class SchemaRegistryError(Exception):
    """Root of the package's errors, with the constructor of confluent_kafka's class of this name.

    Attributes:
        http_status_code: HTTP status, or -1 where there was no answer.
        error_code: the registry's own code (five digits, or the status again), or -1.
        error_message: the registry's text.
        request: method and URL of the call, without credentials and query; None where there was none.
        unsure: whether an earlier try of the same call had no answer, so that it may have been carried out.
    """

    UNKNOWN = -1
    request: str | None = None

    def __init__(self, http_status_code: int, error_code: int, error_message: str) -> None:
        super().__init__(http_status_code, error_code, error_message)
        self.http_status_code = http_status_code
        self.error_code = error_code
        self.error_message = error_message
        self.unsure = False

    @property
    def retriable(self) -> bool:
        """Whether the same call may succeed later, with nothing changed by the caller."""
        return self.http_status_code in RETRIABLE_STATUSES

    @property
    def not_found(self) -> bool:
        """Whether the registry itself, by its own code, answers that the schema, version or subject does not exist.

        A status 404 alone says nothing: so answer a proxy, a wrong URL and other services.
        """
        return self.http_status_code == 404 and self.error_code in NOT_FOUND_CODES

    def __str__(self) -> str:
        facts = f"HTTP status code {self.http_status_code}, SR code {self.error_code}"
        return f"{self.error_message} ({facts}{'' if self.request is None else f'; {self.request}'})"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class TransportError(SchemaRegistryError):
    """No usable answer from any of the configured registries; the text names the last cause.

    The cause itself is `__cause__` where there was one (it does not pickle with the error).
    """

    @property
    def retriable(self) -> bool:
        """Always: nothing is known to be wrong with the call."""
        return True

    def __str__(self) -> str:
        return self.error_message


class OAuthTokenError(TransportError):
    """There is no token: its endpoint refuses, cannot be reached, or gave none.

    Attributes:
        message: what happened.
        status_code: the HTTP status of the endpoint; None where it did not answer.
        response_text: its answer, if it may be shown.
    """

    def __init__(self, message: str, status_code: int | None = None, response_text: str | None = None) -> None:
        status = "" if status_code is None else f" (HTTP {status_code})"
        super().__init__(-1, -1, f"{message}{status}{'' if response_text is None else f': {response_text}'}")
        self.message = message
        self.status_code = status_code
        self.response_text = response_text

    def __reduce__(self) -> tuple[type[OAuthTokenError], tuple[str, int | None, str | None], dict[str, object]]:
        return OAuthTokenError, (self.message, self.status_code, self.response_text), self.__dict__


class ResponseError(SchemaRegistryError):
    """The registry answered with an error status, or with something that is not the registry's JSON."""


class UnexpectedAnswerError(ResponseError):
    """An answer that no registry gives to this call: a web page, a redirect, another service's JSON, a bare 404.

    The URL may be wrong, something may stand between (a proxy, a login page), or the registry lacks the call.

    Attributes:
        page: whether it is a web page: then no registry has answered, not even one that lacks the call.
        lacks_call: whether a registry says, in its own form, that it has no such call (older ones lack newer calls).
            A page, an empty answer and another service's JSON do not say that.
    """

    page: bool = False
    lacks_call: bool = False


class IncompatibleSchemaError(ResponseError):
    """A schema was refused because it is incompatible with registered ones.

    Attributes:
        differences: one readable reason each, as the server (or the local engine) gave them; may be empty
            where a server only gave its one message.
    """

    def __init__(
        self, http_status_code: int, error_code: int, error_message: str, differences: Sequence[str] = ()
    ) -> None:
        super().__init__(http_status_code, error_code, error_message)
        self.differences = tuple(differences)
        self.args = (http_status_code, error_code, error_message, self.differences)


class InvalidSchemaError(ResponseError):
    """A schema that can't be parsed, or is not valid in its format."""

    @classmethod
    def local(cls, reason: str) -> InvalidSchemaError:
        """The error of our own parsers, with the status and code a registry would have answered."""
        return cls(422, INVALID_SCHEMA, reason)
