"""Routing of requests to handlers; parts of the API are modules that bring their own routes.

Must not know what a handler does. Aliases and `/contexts/{context}/…` are resolved before a route is chosen. Source:
Confluent's `ContextFilter` and `AliasFilter`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

from registry.dev.handlers.requests import Call, Request, Response, answer, refused
from registry.dev.names import Name, context_name
from registry.dev.refusal import Refusal, malformed, no_route, wrong_method
from registry.dev.state.state import State

Handler = Callable[[Call], Any]
"""Answers with a `Response`, or with a value that becomes JSON; refuses by raising `Refusal`."""


class Routes:
    """The routes of one part of the API; a module makes one and decorates its handlers with `on`."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, tuple[str, ...], Handler]] = []

    def on(self, method: str, pattern: str) -> Callable[[Handler], Handler]:
        """Registers a handler for paths such as `/subjects/{subject}/versions`."""

        def add(handler: Handler) -> Handler:
            self.entries.append((method, tuple(part for part in pattern.split("/") if part), handler))
            return handler

        return add


class Router:
    """Finds the handler of a request among the routes of several parts."""

    def __init__(self, parts: Iterable[Routes]) -> None:
        self._by_length: dict[int, list[tuple[str, tuple[str, ...], Handler]]] = {}
        for part in parts:
            for entry in part.entries:
                self._by_length.setdefault(len(entry[1]), []).append(entry)

    def handle(self, state: State, request: Request) -> Response:
        """Answers one request; changes `state`. Never raises for what a client sends."""
        try:
            found = self._answer(state, _with_alias(state, _in_context(request)))
        except Refusal as refusal:
            return refused(refusal)
        return found if isinstance(found, Response) else answer(found)

    def _answer(self, state: State, request: Request) -> Any:
        allowed: list[str] = []
        for method, pattern, handler in self._by_length.get(len(request.path), ()):
            names = _match(pattern, request.path)
            if names is None:
                continue
            if method == request.method:
                request.check_media()
                return handler(Call(state, request, names))
            allowed.append(method)
        raise wrong_method(sorted(set(allowed))) if allowed else no_route()


def _match(pattern: tuple[str, ...], path: tuple[str, ...]) -> dict[str, str] | None:
    names: dict[str, str] = {}
    for wanted, part in zip(pattern, path, strict=True):
        if wanted.startswith("{"):
            if not part:
                return None
            names[wanted[1:-1]] = part
        elif wanted != part:
            return None
    return names


# --- names that stand for others


def _in_context(request: Request) -> Request:
    """Takes `/contexts/{context}` off the path, and says the context in the names instead."""
    path = request.path
    if len(path) < 3 or path[0] != "contexts":
        return request
    try:
        context = context_name(path[1])
    except ValueError as error:
        raise malformed(str(error)) from None
    home, rest, query = Name(context, ""), list(path[2:]), dict(request.query)
    for position, part in enumerate(rest[:-1]):
        if part in ("subjects", "deks") or (position == 0 and part in ("config", "mode")):
            rest[position + 1] = str(home.beside(rest[position + 1]))
            break
    if rest in (["config"], ["mode"]) and home.prefix:
        rest.append(home.prefix)
    if rest[:2] == ["schemas", "ids"]:
        query["subject"] = [str(home.beside(item)) for item in query.get("subject", [""])]
    elif rest in (["schemas"], ["subjects"]) or rest[0] == "keks":
        query["subjectPrefix"] = [str(home.beside(item)) for item in query.get("subjectPrefix", [""])]
    elif rest[0].startswith("associations"):
        query["context"] = [home.prefix]
    return dataclasses.replace(request, path=tuple(rest), query=query)


def _with_alias(state: State, request: Request) -> Request:
    """Puts subjects in the place of their aliases, but in settings: those are the alias's own."""
    path, query = list(request.path), dict(request.query)
    for position, part in enumerate(path[:-1]):
        if part == "subjects":
            path[position + 1] = _meant(state, path[position + 1])
            break
    if path[:2] == ["schemas", "ids"] and query.get("subject"):
        query["subject"] = [_meant(state, query["subject"][0])]
    return dataclasses.replace(request, path=tuple(path), query=query)


def _meant(state: State, text: str) -> str:
    name = Name.parse(text)
    settings = state.configs.get((str(name),)) if name.subject else None
    return text if settings is None or not settings.alias else str(name.beside(settings.alias))
