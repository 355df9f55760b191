"""How an asyncio serializer waits: flows are answered with the registry client's coroutines.

Must not know of formats, schemas or frames: `serdes.engine.calls` has all that blocking and asyncio serializers share.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Self, TypeVar

from serdes.asks import SchemaSource
from serdes.context import SerializationContext
from serdes.engine.calls import Reading, Writing
from serdes.engine.plan import Flow

__all__ = ["AsyncDeserializer", "AsyncSerializer"]

T = TypeVar("T")


class AsyncSerializer(Writing):
    """Serializes for tasks of one event loop."""

    def __await__(self) -> Generator[Any, None, Self]:
        """Itself: in confluent_kafka the constructor is awaited."""
        yield from ()
        return self

    async def aclose(self) -> None:
        """As `close`."""
        self.close()

    async def __call__(self, obj: Any, ctx: SerializationContext | None = None) -> bytes | None:
        """Serializes one value; None stays None.

        Raises:
            SerializationError: the value does not fit (`path` says where), or there is no schema to write it with.
        """
        if obj is None:
            return None
        plan = self._known(ctx)
        if plan is None:
            plan = await drive(self._client, self._prepare(ctx))
        if plan.blocking:
            import asyncio  # at its first use: most plans never wait, and many programs have no event loop

            return await asyncio.to_thread(self._write, plan, obj, ctx)
        return self._write(plan, obj, ctx)


class AsyncDeserializer(Reading):
    """Deserializes for tasks of one event loop."""

    def __await__(self) -> Generator[Any, None, Self]:
        """Itself: in confluent_kafka the constructor is awaited."""
        yield from ()
        return self

    async def aclose(self) -> None:
        """As `close`."""
        self.close()

    async def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> Any:
        """Deserializes one frame; None stays None.

        Raises:
            SerializationError: not a frame, an unknown schema, or a payload that is not of its schema.
        """
        if value is None:
            return None
        key, frame = self._split(value, ctx)
        plan = self._known(key, ctx)
        if plan is None:
            plan = await drive(self._client, self._prepare(key, ctx))
        if plan.hooks is not None and plan.hooks.blocking:
            import asyncio  # at its first use: most plans never wait, and many programs have no event loop

            return await asyncio.to_thread(self._read, plan, frame, ctx)
        return self._read(plan, frame, ctx)


async def drive(client: SchemaSource, flow: Flow[T]) -> T:
    """Runs a flow to its end, with the client's methods, which are coroutines of a source's names."""
    outcome: Any = None
    error: Exception | None = None
    while True:
        try:
            ask = flow.send(outcome) if error is None else flow.throw(error)
        except StopIteration as stop:
            result: T = stop.value
            return result
        outcome, error = None, None
        try:
            outcome = await ask.call(client)
        except Exception as raised:  # the flow knows what was wanted
            error = raised
