"""The error tree of the package.

Must not know of codecs. `SerializationError` carries what is known of the place: topic, field, schema id, and the
path inside the value.

SerializationError
├── KeySerializationError, ValueSerializationError        also kafka_core's ProduceError
└── KeyDeserializationError, ValueDeserializationError    also kafka_core's ConsumeError; hold the raw message
"""

from __future__ import annotations

from typing import Any

__all__ = ["SerializationError"]


class SerializationError(Exception):
    """Bytes could not be made of a value, or a value of bytes.

    Attributes:
        reason: what happened, without the place.
        topic: the topic, None where there was no context.
        field: `key` or `value`, None where there was no context.
        schema_id: the schema's id, None where it is not known yet.
        path: where in the value, e.g. `order.items[3].price`; None where it is not known.
        retriable: whether nothing is wrong with the value: the registry could not be reached.
    """

    def __init__(
        self,
        reason: str = "",
        *,
        topic: str | None = None,
        field: str | None = None,
        schema_id: int | None = None,
        path: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.topic = topic
        self.field = field
        self.schema_id = schema_id
        self.path = path
        self.retriable = False

    def located(self, topic: str | None, field: str | None, schema_id: int | None = None) -> SerializationError:
        """This error, knowing more of its place; what it knew already stays."""
        self.topic = topic if self.topic is None else self.topic
        self.field = field if self.field is None else self.field
        self.schema_id = schema_id if self.schema_id is None else self.schema_id
        return self

    def __str__(self) -> str:
        place = []
        if self.topic is not None:
            place.append(f"topic {self.topic}")
        if self.field is not None:
            place.append(self.field)
        if self.schema_id is not None:
            place.append(f"schema id {self.schema_id}")
        if self.path is not None:
            place.append(f"at {self.path}")
        return f"{', '.join(place)}: {self.reason}" if place else self.reason

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.reason,), self.__dict__)
