"""Requests, responses, and what a handler asks of a request: parameters, names in the path, the JSON body.

Must not know of sockets or HTTP libraries, nor of state. Source: Confluent's REST API; media type
`application/vnd.schemaregistry.v1+json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import parse_qs, unquote

from registry.dev.names import Name
from registry.dev.refusal import Refusal, invalid_version, malformed, no_route
from registry.dev.shapes import SchemaRequest, schema_request
from registry.dev.state.state import State
from registry.limits import MAX_PARAMETERS

T = TypeVar("T")
MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
BAD_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


MEDIA_TYPES = (MEDIA_TYPE, "application/vnd.schemaregistry+json", "application/json")
TAKEN = (*MEDIA_TYPES, "application/octet-stream")
"""Of bodies; the last one is what a body without a type is (Confluent's `Versions.GENERIC_REQUEST`)."""


def _media(text: str) -> str:
    """A media type without its parameters."""
    name = text.partition(";")[0].strip().lower()
    if name.count("/") != 1:
        raise malformed(f"HTTP 400 Bad Request: {name!r} is no media type")
    return name


def _acceptable(item: str) -> bool:
    if not item.strip() or re.search(r";\s*q\s*=\s*0(\.0*)?\s*(;|$)", item):
        return not item.strip()
    return _media(item) in (*MEDIA_TYPES, "*/*", "application/*")


@dataclass(frozen=True, slots=True)
class Request:
    """A request.

    Attributes:
        method: in capitals.
        path: its segments, unquoted, without the slashes between them.
        query: parameter → values, unquoted.
        body: at most `MAX_BODY_BYTES`; the mount sees to it.
        content_type: the header's value, None where there is none.
        accept: the same.
    """

    method: str
    path: tuple[str, ...]
    query: Mapping[str, Sequence[str]] = field(default_factory=dict)
    body: bytes = b""
    content_type: str | None = None
    accept: str | None = None

    @classmethod
    def to(
        cls, method: str, target: str, body: bytes = b"", content_type: str | None = None, accept: str | None = None
    ) -> Request:
        """Reads a target as it stands in the request line, `/path?query`.

        Raises:
            Refusal: 400, it is not percent-encoded UTF-8.
        """
        path, _, query = target.partition("?")
        if BAD_PERCENT.search(target):
            raise malformed("Bad percent-encoding in the URL")
        try:
            segments = tuple(unquote(part, errors="strict") for part in path.strip("/").split("/"))
            found = parse_qs(query, keep_blank_values=True, errors="strict", max_num_fields=MAX_PARAMETERS)
        except ValueError as error:
            raise malformed(f"The URL can't be read: {error}") from None
        return cls(method, () if segments == ("",) else segments, found, body, content_type, accept)

    def check_media(self) -> None:
        """Whether the body is said to be JSON, and JSON may be answered; no header says nothing against either.

        Raises:
            Refusal: 415, 406, or 400 for a header that can't be read.
        """
        if self.body and self.content_type is not None and _media(self.content_type) not in TAKEN:
            raise Refusal(415, 415, "HTTP 415 Unsupported Media Type")
        if self.accept is not None and not any(_acceptable(item) for item in self.accept.split(",")):
            raise Refusal(406, 406, "HTTP 406 Not Acceptable")


@dataclass(frozen=True, slots=True)
class Response:
    """An answer: JSON, but for the few that are a schema's text.

    Attributes:
        headers: beside the usual ones.
    """

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


def answer(value: object, status: int = 200) -> Response:
    """An answer in JSON."""
    return Response(status, json.dumps(value, ensure_ascii=False).encode("utf-8", errors="surrogatepass"))


def refused(refusal: Refusal) -> Response:
    """An error answer."""
    body = json.dumps({"error_code": refusal.code, "message": refusal.message})
    return Response(refusal.status, body.encode(), refusal.headers)


@dataclass(frozen=True, slots=True)
class Call:
    """A request on its way through a handler.

    Attributes:
        state: what the registry knows.
        names: the variable parts of the path.
    """

    state: State
    request: Request
    names: Mapping[str, str]

    # --- parameters

    def text(self, name: str) -> str | None:
        """The first value of a parameter; None if it was not given."""
        found = self.request.query.get(name)
        return found[0] if found else None

    def texts(self, name: str) -> Sequence[str]:
        """All values of a parameter."""
        return self.request.query.get(name, ())

    def flag(self, name: str) -> bool:
        """Whether a parameter is `true`, in any case."""
        return (self.text(name) or "").lower() == "true"

    def number(self, name: str, default: int) -> int:
        """A parameter that is a number."""
        found = self.text(name)
        if found is None or not found.strip():
            return default
        if not re.fullmatch(r"[+-]?\d{1,10}", found.strip(), re.ASCII):
            raise no_route()
        return int(found)

    def page(self, items: Sequence[T], bound: int | None = None) -> list[T]:
        """The part of a list that `offset` and `limit` ask for.

        No limit, one that is not above 0, or one above the bound is the bound (Confluent's `normalizeLimit`).
        """
        most = self.state.list_limit if bound is None else min(bound, self.state.list_limit)
        offset, limit = max(self.number("offset", 0), 0), self.number("limit", -1)
        return list(items[offset : offset + (limit if 0 < limit <= most else most)])

    # --- names in the path

    @property
    def subject(self) -> str:
        """The subject in the path, written in the one way in which it is kept."""
        return str(Name.parse(self.names["subject"]))

    @property
    def schema_id(self) -> int:
        """The id in the path."""
        found = self.names["id"]
        if not re.fullmatch(r"-?\d{1,10}", found, re.ASCII):
            raise no_route()
        return int(found)

    @property
    def version(self) -> int:
        """The version in the path; -1 for the newest."""
        found = self.names["version"].strip()
        if found.lower() == "latest" or found == "-1":
            return -1
        if re.fullmatch(r"\d{1,10}", found, re.ASCII) and 1 <= int(found) < 2**31:
            return int(found)
        raise invalid_version(found)

    # --- the body

    def body(self) -> Mapping[str, Any]:
        """The body's JSON object."""
        if not self.request.body.strip():
            raise Refusal(422, 422, "The request body must not be empty")
        try:
            found = json.loads(self.request.body)
        except RecursionError:
            raise malformed("Unable to process JSON: it is nested too deeply") from None
        except ValueError as error:
            raise malformed(f"Unable to process JSON: {error}") from None
        if not isinstance(found, dict):
            raise malformed("Unable to process JSON: an object is needed")
        return found

    def schema(self) -> SchemaRequest:
        """The body's schema."""
        return schema_request(self.body())
