"""The payloads of one schema as the objects that its rules run over, and back again.

Must not know of rules, frames or columns. A payload says more than its objects do: which branch of an Avro union a
value is of, how a JSON number is written. So a payload whose object no rule has changed stays as it is, and a branch
that a changed object no longer says is told instead of guessed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from registry import Schema, SchemaReference
from serdes.errors import SerializationError

Resolve = Callable[[SchemaReference], Schema]
OTHER_BRANCH: Final = (
    "rules change this row, and would write a value of a union as another branch than the one it is of, for both hold"
    " it: use a union whose branches hold different values, or rules='ignore'"
)


class Objects:
    """Reads and writes the objects of one schema, without its rules.

    Args:
        schema: of the payloads, without rules.
        resolve: gives the schema behind a reference.
        message_type: the name of Protobuf's message type; empty for the first one.

    Attributes:
        read: a payload's object.
        write: an object's payload.
    """

    def __init__(self, schema: Schema, resolve: Resolve, message_type: str = "") -> None:
        self.read: Callable[[bytes], Any]
        self.write: Callable[[Any], bytes]
        self._with_branches: Callable[[bytes], Any] | None = None
        if schema.schema_type == "AVRO":
            from serdes.formats.avro.codec import Tags, decoder, encoder, load

            avro = load(schema, resolve)
            self.read, self.write = decoder(avro), encoder(avro)
            self._with_branches = decoder(avro, tags=Tags.PLACES)
        elif schema.schema_type == "JSON":
            from serdes.formats.json.codec import dumps, loads

            self.read, self.write = loads, dumps
        else:
            from serdes.columnar.protobuf.format import load_resolved

            loaded = load_resolved(schema, resolve)
            self.read = loaded.named(message_type or str(loaded.name)).FromString
            self.write = lambda message: bytes(message.SerializeToString())

    def kept(self, payload: bytes, ruled: bytes) -> bytes:
        """The payload to go on with: the given one if the rules have changed nothing, else theirs.

        Args:
            payload: of the row before the rules.
            ruled: of the object that the rules have made of it.

        Raises:
            SerializationError: the rules have changed it, and a value of a union is of another branch now.
        """
        plain = self.write(self.read(payload))
        if ruled == plain:
            return payload
        if self._with_branches is not None:
            before, after = self._with_branches(payload), self._with_branches(plain)
            if before != after and repr(before) != repr(after):  # NaN is like itself
                raise SerializationError(OTHER_BRANCH)
        return ruled
