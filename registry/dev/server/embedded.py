"""A registry in this process: state, storage and routes behind one lock, comparisons of large schemas beside it.

Must not know of HTTP libraries. A change is answered only after it is stored; one that can't be stored is undone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from registry.compat import Level
from registry.dev.handlers import PARTS
from registry.dev.handlers.requests import Request, Response, refused
from registry.dev.handlers.routes import Router, Routes
from registry.dev.operations.comparison import Comparison
from registry.dev.refusal import Refusal, store_failed, too_large
from registry.dev.state.settings import DEFAULT_LEVEL
from registry.dev.state.state import LIST_LIMIT, State
from registry.dev.state.storage import MemoryStorage, SqliteStorage, Storage, StorageError
from registry.limits import MAX_BODY_BYTES

if TYPE_CHECKING:
    from registry.dev.server.transport import InProcessTransport

OVERTAKEN = 5
"""So many comparisons of one request run without the lock."""


class _NotJudged(Exception):
    """A handler needs the outcome of a comparison that has not run yet."""

    def __init__(self, comparison: Comparison) -> None:
        super().__init__("a comparison has to run first")
        self.comparison = comparison


class EmbeddedRegistry:
    """A schema registry with the REST API of Confluent's. Threads may share it.

    Use it in a `with` statement, or close it.

    Args:
        path: the file it is kept in, made if it is not there; None for a registry that ends with the process.
        parts: routes of further parts of the API.
        list_limit: entries of a list that are given at once; Confluent's default is 20,000.
        level: the level of compatibility if none is set; None for BACKWARD.

    Raises:
        StorageError: the file can't be used, or another process uses it.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        parts: Sequence[Routes] = (),
        *,
        list_limit: int = LIST_LIMIT,
        level: Level | None = None,
    ) -> None:
        self._storage: Storage = MemoryStorage() if path is None else SqliteStorage(path)
        self._router = Router([*PARTS, *parts])
        self._lock = threading.Lock()
        self._closed = False
        try:
            self._state = State(self._storage.load())
            self._state.list_limit = list_limit
            self._state.default_level = level or DEFAULT_LEVEL
        except BaseException:
            self._storage.close()
            raise

    def __enter__(self) -> EmbeddedRegistry:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def answer(self, request: Request) -> Response:
        """Answers one request; requests change the state one at a time.

        A comparison of large schemas takes seconds: it runs without the lock, and then the request is answered from its
        beginning. What another request changed meanwhile makes another comparison, so no verdict is used for a state
        that it is not about; who is overtaken again and again finishes with the lock held.
        """
        if len(request.body) > MAX_BODY_BYTES:
            return refused(too_large(MAX_BODY_BYTES))
        known: dict[Comparison, Any] = {}

        def judge(comparison: Comparison) -> Any:
            if comparison not in known:
                if len(known) < OVERTAKEN:
                    raise _NotJudged(comparison)
                known[comparison] = comparison.outcome()
            return known[comparison]

        while True:
            try:
                return self._locked(request, judge)
            except _NotJudged as pending:
                comparison = pending.comparison
            known[comparison] = comparison.outcome()

    def _locked(self, request: Request, judge: Callable[[Comparison], Any]) -> Response:
        with self._lock:
            if self._closed:
                return refused(store_failed("the registry is closed"))
            self._state.judge = judge
            try:
                return self._answer(request)
            except BaseException:
                if self._state.journal:
                    self._state.undo()
                raise

    def _answer(self, request: Request) -> Response:
        response = self._router.handle(self._state, request)
        if not self._state.journal:
            return response
        if response.status >= 400:
            self._state.undo()
            return response
        try:
            self._storage.commit(self._state.journal.rows())
        except StorageError as error:
            self._state.undo()
            return refused(store_failed(error.error_message))
        self._state.journal.clear()
        return response

    def respond(
        self,
        method: str,
        target: str,
        body: bytes = b"",
        content_type: str | None = None,
        accept: str | None = None,
    ) -> Response:
        """Answers a request given as its parts; `target` is the path with its query, still quoted.

        HEAD is answered like GET: leaving the body out is the server's.
        """
        try:
            request = Request.to("GET" if method == "HEAD" else method, target, body, content_type, accept)
        except Refusal as refusal:
            return refused(refusal)
        return self.answer(request)

    def transport(self) -> InProcessTransport:
        """A transport for `httpx.Client(transport=…)` or `httpx.AsyncClient(transport=…)`: no socket."""
        from registry.dev.server.transport import InProcessTransport

        return InProcessTransport(self)

    def close(self) -> None:
        """Closes the file; later requests are answered with 50001. May be called again."""
        with self._lock:
            self._closed = True
            self._storage.close()


_shared: dict[str, EmbeddedRegistry] = {}
_shared_lock = threading.Lock()


def shared(name: str, compares: bool = True) -> EmbeddedRegistry:
    """The embedded registry of this name: one per process, made at first use, what `mock://name` stands for.

    Args:
        name: the registry's name.
        compares: whether it begins with the level of any registry, else with NONE.
    """
    with _shared_lock:
        return _shared.setdefault(name, EmbeddedRegistry(level=None if compares else Level.NONE))
