"""Reads long lists page by page: registries cut them silently at a number of entries.

Must not know of HTTP libraries, nor what the entries are. Source: Confluent's `subject.search.max.limit` and its like
(20,000 entries, 1,000 schemas; a `limit` above counts as none); Apicurio 3.0.9 (`apicurio.ccompat.max-subjects`, 1,000
entries, `offset` and `limit` are ignored).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TypeVar

from registry.client.steps import Call, Flow, Reply, send
from registry.errors import UnexpectedAnswerError

T = TypeVar("T")
NO_LIMIT = -1
SMALLEST_BOUND = 10
"""A first page of fewer entries is the whole list: nobody sets a bound that is so low."""
ROUND = 500
"""A list whose length is a multiple of this, from a registry that gives no second page, was probably cut."""
TRIES = 4
FAR = 10**9


def entries(
    path: str,
    query: Mapping[str, object],
    read: Callable[[Reply], list[T]],
    offset: int = 0,
    limit: int = NO_LIMIT,
    never_empty: bool = False,
) -> Flow[list[T]]:
    """All entries of a list from `offset` on, or the first `limit` of them, in as many requests as it takes.

    That a page is the last one is only known when nothing comes after it, unless it is a short first one. Each page
    begins with the last entry of the one before: where that is gone, entries were deleted meanwhile and others have
    moved to places that were read already, so the list is read anew.

    Args:
        path: where the list is.
        query: what is asked for; `offset` and `limit` stand where they are in it, or else at its end if they say more
            than that everything is wanted.
        read: the entries of an answer.
        offset: how many to pass over.
        limit: how many at the most; 0 or less for all.
        never_empty: whether a registry never answers an empty list here, but that there is no such thing.

    Raises:
        UnexpectedAnswerError: the list is cut, changes all the time, or is empty though it can't be.
    """
    for _ in range(TRIES):
        found = yield from _attempt(path, query, read, max(offset, 0), limit)
        if found is not None:
            if never_empty and not found and offset <= 0:
                raise _error(path, "the answer is an empty list, which a schema registry does not give here")
            return found
    raise _error(path, f"the list changed each of {TRIES} times while it was read: try again when less is deleted")


def _attempt(
    path: str, query: Mapping[str, object], read: Callable[[Reply], list[T]], offset: int, limit: int
) -> Flow[list[T] | None]:
    """The entries; None if they were not the same from one page to the next."""
    found: dict[str, T] = {}
    again = beyond = 0
    while True:
        at = offset + len(found) - again + beyond
        asked = {"offset": at, "limit": limit - len(found) + again if limit > 0 else NO_LIMIT}
        asked = {name: value for name, value in asked.items() if name in query or value not in (0, NO_LIMIT)}
        reply = yield from send(Call("GET", path, {**query, **asked}))
        page = {_key(item): item for item in read(reply)}
        new = {key: item for key, item in page.items() if key not in found}
        if again and not beyond and len(new) == len(page):
            return None
        repeated = not new and len(page) > again
        found |= new
        whole = len(found) == len(page) < SMALLEST_BOUND
        if not (new or repeated) or whole or 0 < limit <= len(found):
            return list(found.values())[: limit if limit > 0 else None]
        if repeated and not beyond and (yield from _ignores_offsets(path, query, read, len(found))):
            return list(found.values())
        # If more than the last entry comes again, offsets count hidden entries too (Apicurio 3.1).
        beyond = beyond + len(page) if repeated else 0
        again = 1 if len(page) > 1 else 0


def _ignores_offsets(
    path: str, query: Mapping[str, object], read: Callable[[Reply], list[T]], count: int
) -> Flow[bool]:
    """Whether the registry gives entries whatever the offset; then all there are, or as many as it ever gives."""
    reply = yield from send(Call("GET", path, {**query, "offset": FAR, "limit": NO_LIMIT}))
    if not read(reply):
        return False
    if count % ROUND == 0:
        raise reply.unexpected(
            f"the registry gives these {count:,} entries whatever the offset, there may be more of them:"
            " raise the number it lists (Apicurio: apicurio.ccompat.max-subjects)"
        )
    return True


def _key(item: object) -> str:
    return json.dumps(item, sort_keys=True, default=repr)


def _error(path: str, reason: str) -> UnexpectedAnswerError:
    error = UnexpectedAnswerError(200, -1, reason)
    error.request = f"GET {path}"
    return error
