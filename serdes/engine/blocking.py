"""How a blocking serializer waits: flows are answered with the registry client's methods.

Must not know of formats, schemas or frames: `serdes.engine.calls` has all that blocking and asyncio serializers share.
"""

from __future__ import annotations

from typing import Any, TypeVar

from serdes.asks import SchemaSource
from serdes.context import SerializationContext
from serdes.engine.calls import Reading, Writing, blame
from serdes.engine.plan import Flow
from serdes.kernels import ReadCall, WriteCall

__all__ = ["BlockingDeserializer", "BlockingSerializer"]

T = TypeVar("T")


class BlockingSerializer(WriteCall, Writing):
    """Serializes on the caller's thread. Threads may share one."""

    def _long_way(self, obj: Any, ctx: SerializationContext | None) -> bytes:
        plan = self._known(ctx) or drive(self._client, self._prepare(ctx))
        return self._write(plan, obj, ctx)

    def _blame(self, error: Exception, value: Any, ctx: SerializationContext | None) -> None:
        blame("the value can't be encoded", error, self._known(ctx), ctx)


class BlockingDeserializer(ReadCall, Reading):
    """Deserializes on the caller's thread. Threads may share one."""

    def _long_way(self, value: bytes, ctx: SerializationContext | None) -> Any:
        key, frame = self._split(value, ctx)
        plan = self._known(key, ctx) or drive(self._client, self._prepare(key, ctx))
        return self._read(plan, frame, ctx)

    def _blame(self, error: Exception, value: bytes, ctx: SerializationContext | None) -> None:
        blame("the payload can't be decoded", error, self._known(value[: self._quick_size], ctx), ctx)


def drive(client: SchemaSource, flow: Flow[T]) -> T:
    """Runs a flow to its end, with the client's methods."""
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
            outcome = ask.call(client)
        except Exception as raised:  # the flow knows what was wanted
            error = raised
