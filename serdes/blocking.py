"""How a blocking serializer waits: flows are answered with the registry client's methods.

Must not know of formats, schemas or frames: `serdes.calls` has all that blocking and asyncio serializers share.
"""

from __future__ import annotations

from typing import Any, TypeVar

from registry import SchemaRegistryClient, SchemaRegistryError
from serdes.calls import Reading, Writing, blame
from serdes.context import SerializationContext
from serdes.errors import SerializationError
from serdes.plan import Flow

__all__ = ["BlockingDeserializer", "BlockingSerializer"]

T = TypeVar("T")


class BlockingSerializer(Writing):
    """Serializes on the caller's thread. Threads may share one."""

    def __call__(self, obj: Any, ctx: SerializationContext | None = None) -> bytes | None:
        """Serializes one value; None stays None.

        Raises:
            SerializationError: the value does not fit (`path` says where), or there is no schema to write it with.
        """
        if obj is None:
            return None
        quick = self._quick.get((None, None) if ctx is None else (ctx.topic, ctx.field))
        if quick is not None:
            try:
                return quick(obj)
            except SerializationError as error:
                blame(error, self._known(ctx), ctx)
                raise
        plan = self._known(ctx) or drive(self._client, self._prepare(ctx))
        return self._write(plan, obj, ctx)


class BlockingDeserializer(Reading):
    """Deserializes on the caller's thread. Threads may share one."""

    def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> Any:
        """Deserializes one frame; None stays None.

        Raises:
            SerializationError: not a frame, an unknown schema, or a payload that is not of its schema.
        """
        if value is None:
            return None
        if ctx is None or not ctx.headers:
            quick = self._quick.get(value[: self._quick_size])
            if quick is not None:
                try:
                    return quick(value)
                except SerializationError as error:
                    blame(error, self._known(value[: self._quick_size], ctx), ctx)
                    raise
        key, frame = self._split(value, ctx)
        plan = self._known(key, ctx) or drive(self._client, self._prepare(key, ctx))
        return self._read(plan, frame, ctx)


def drive(client: SchemaRegistryClient | None, flow: Flow[T]) -> T:
    """Runs a flow to its end, with the client's methods."""
    outcome: Any = None
    error: SchemaRegistryError | None = None
    while True:
        try:
            ask = flow.send(outcome) if error is None else flow.throw(error)
        except StopIteration as stop:
            result: T = stop.value
            return result
        outcome, error = None, None
        try:
            outcome = getattr(client, ask.operation)(*ask.arguments)
        except SchemaRegistryError as raised:
            error = raised
