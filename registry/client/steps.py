"""The steps of flows: what an operation may ask of the shell that runs it.

Must not know of HTTP libraries, threads or event loops. A flow is a generator: it yields a step and is sent the
outcome (or has a `SchemaRegistryError` thrown in). See DESIGN §11.

Operations (`registry.client.flows`) yield `Call` and `Share`; `registry.client.delivery` turns every `Call` into `Send`
and `Wait` steps, so a shell knows four steps only: `Send` → Reply or Unreachable, `Wait` → None, `Share` → the
flow's result, `Invoke` → what a user's function returns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar
from urllib.parse import quote

from registry.errors import UnexpectedAnswerError

T = TypeVar("T")
TITLE = re.compile(rb"<title[^>]*>([^<]*)</title>", re.IGNORECASE)
PAGE_HEAD = 16_384
SHORT_TITLE = 80
SHOWN = 120
PAGES = (b"<!doctype html", b"<html", b"<head", b"<body", b"<h1")


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the REST API.

    Attributes:
        method: `GET`, `POST`, `PUT` or `DELETE`.
        path: below the base URL, quoted, with its first slash.
        query: parameters; booleans are written as the registry does, lists as repeated parameters.
        body: JSON value, None for none.
        repeatable: whether it may be sent again when nobody knows if the first one was carried out.
    """

    method: str
    path: str
    query: Mapping[str, object] = field(default_factory=dict)
    body: Any = None
    repeatable: bool = True


@dataclass(frozen=True, slots=True)
class Reply:
    """A server's answer.

    Attributes:
        status: HTTP status.
        body: as it came.
        headers: names in any case.
        request: method and URL of the call it answers, as they may be shown; None where nobody said.
    """

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    request: str | None = field(default=None, compare=False)

    def json(self) -> Any:
        """The body as a JSON value.

        Raises:
            UnexpectedAnswerError: it is not JSON (a proxy's page, another service on this port).
        """
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError) as error:
            text = f"the answer is not JSON but {self.described()}: is this a schema registry?"
            raise self.unexpected(text) from error

    def unexpected(self, reason: str, code: int = -1) -> UnexpectedAnswerError:
        """The error of an answer that no registry gives."""
        error = UnexpectedAnswerError(self.status, code, reason)
        error.request = self.request
        error.page = self._is_page()
        return error

    def _is_page(self) -> bool:
        start = self.body.lstrip()[:32].lower()
        kind = str(self.headers.get("content-type", "")).lower()
        return ("html" in kind and bool(start)) or start.startswith(PAGES)

    def described(self) -> str:
        """The body described in a few words; of an HTML page the title only."""
        if self._is_page():
            title = TITLE.search(self.body[:PAGE_HEAD])
            text = "" if title is None else " ".join(title[1].decode("utf-8", "replace").split())
            named = f" titled {text!r}" if 0 < len(text) <= SHORT_TITLE else ""
            return f"an HTML page of {len(self.body):,} bytes{named}"
        if not self.body.strip():
            return "empty"
        shown = " ".join(self.body[:SHOWN].decode("utf-8", "replace").split())
        printable = "".join(char if char.isprintable() else "\ufffd" for char in shown)
        return f"{printable!r}" if len(self.body) <= SHOWN else f"{printable!r}… ({len(self.body):,} bytes)"


@dataclass(frozen=True, slots=True)
class Unreachable:
    """Why there was no answer.

    Attributes:
        reason: one sentence.
        sent: whether the server may have carried out the request.
        cause: the HTTP library's error.
    """

    reason: str
    sent: bool
    cause: BaseException | None = None


@dataclass(frozen=True, slots=True)
class Send:
    """Send one HTTP request, once. Outcome: `Reply | Unreachable`.

    Attributes:
        to_registry: whether it is for a registry: another server is not shown the user's own authentication.
    """

    method: str
    url: str
    query: Mapping[str, str | list[str]]
    headers: Mapping[str, str] = field(repr=False)
    content: bytes | None = field(repr=False)
    to_registry: bool = True


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait so many seconds. Outcome: None."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Share:
    """Run a flow, unless one with the same key runs already: then share its result or error. Outcome: the result."""

    key: Hashable
    start: Callable[[], Flow[Any]]


@dataclass(frozen=True, slots=True)
class Invoke:
    """Call a user's function; an asyncio shell awaits an awaitable result. Outcome: its result."""

    function: Callable[[], Any]


def segment(name: str) -> str:
    """A name as one segment of a path: quoted, and never one that HTTP takes for a step up or for nothing.

    Args:
        name: of a subject, a key, a resource.

    Raises:
        ValueError: it is empty: the path would be that of something larger, of the whole registry's settings say.
        TypeError: it is no text.
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a subject, a key or a resource is a text, not {type(name).__name__}")
    if not name:
        raise ValueError("a name is empty: of a subject, a key or a resource")
    return name.replace(".", "%2E") if name in (".", "..") else quote(name, safe="")


Flow: TypeAlias = Generator[Call | Send | Wait | Share | Invoke, Any, T]
Steps: TypeAlias = Generator[Send | Wait | Share | Invoke, Any, T]


def send(call: Call) -> Flow[Reply]:
    """Yields a call; returns the reply, which is never an error status (delivery raises those)."""
    reply: Reply = yield call
    return reply


def share(key: Hashable, start: Callable[[], Flow[T]]) -> Flow[T]:
    """Yields a share; returns the flow's result."""
    result: T = yield Share(key, start)
    return result
