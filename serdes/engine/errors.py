"""Errors of serializers and deserializers: each says topic, field and schema id, whoever raised it.

Must not know of plans or formats.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from serdes.context import SerializationContext, place
from serdes.errors import SerializationError, foreign


def blame(what: str, error: Exception, ctx: SerializationContext | None, schema_id: int | None = None) -> None:
    """Tells an error where it happened.

    Args:
        what: what could not be done, if the error is not one of ours.
        error: the exception.
        ctx: topic and field.
        schema_id: the schema, None where it was not known yet.

    Raises:
        SerializationError: made of an error of another type; want of memory is nobody's value and stays as it is.
    """
    if isinstance(error, SerializationError):
        error.located(*place(ctx), schema_id)
    elif not isinstance(error, MemoryError):
        raise foreign(what, error).located(*place(ctx), schema_id) from error


def converted(name: str, function: Callable[[Any, Any], Any], value: Any, ctx: SerializationContext | None) -> Any:
    """The result of a user's function for a value.

    Raises:
        SerializationError: the function raised.
    """
    try:
        return function(value, ctx)
    except (SerializationError, MemoryError):
        raise
    except Exception as error:
        raise foreign(f"{name} failed", error) from error
