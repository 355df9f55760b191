"""Drivers of inquiries: their calls are made by the caller's thread, or awaited on its event loop.

Must not know of formats, schemas or frames.
"""

from __future__ import annotations

from typing import Any, TypeVar

from serdes.asks import Inquiry, SchemaSource

T = TypeVar("T")


def drive(client: SchemaSource, inquiry: Inquiry[T]) -> T:
    """Runs an inquiry to its end, with the client's methods."""
    outcome: Any = None
    error: Exception | None = None
    while True:
        try:
            ask = inquiry.send(outcome) if error is None else inquiry.throw(error)
        except StopIteration as stop:
            result: T = stop.value
            return result
        outcome, error = None, None
        try:
            outcome = ask.call(client)
        except Exception as raised:  # the inquiry knows what was wanted
            error = raised


async def drive_async(client: SchemaSource, inquiry: Inquiry[T]) -> T:
    """Runs an inquiry to its end, with the client's methods, which are coroutines of a source's names."""
    outcome: Any = None
    error: Exception | None = None
    while True:
        try:
            ask = inquiry.send(outcome) if error is None else inquiry.throw(error)
        except StopIteration as stop:
            result: T = stop.value
            return result
        outcome, error = None, None
        try:
            if ask.in_thread:
                import asyncio  # at its first use: most plans never wait, and many programs have no event loop

                outcome = await asyncio.to_thread(ask.call, client)
            else:
                outcome = await ask.call(client)
        except Exception as raised:  # the inquiry knows what was wanted
            error = raised
