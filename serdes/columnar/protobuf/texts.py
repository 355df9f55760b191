"""Messages of any content as JSON text, and back: Struct, Value, ListValue and Any.

Must not know of columns. Source: "ProtoJSON Format". Any of a type that the schema does not have keeps its bytes:
`{"@type": …, "value": base64}`.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any, Final

from google.protobuf import json_format
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from serdes.errors import SerializationError, foreign

ANY: Final = "google.protobuf.Any"
MAX_DEPTH: Final = 100
ENCODE: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")).encode
REFUSALS: Final = (json_format.Error, DecodeError, TypeError, ValueError, RecursionError, OverflowError, AttributeError)


def json_of(full_name: str, payload: bytes, pool: Any) -> str:
    """A message as JSON text.

    Args:
        full_name: the message type.
        payload: the message.
        pool: the descriptors in which its type, and types inside of Any, are looked up.

    Raises:
        SerializationError: it is no such message, or JSON can't say it (a number that is not finite).
    """
    try:
        message: Any = GetMessageClass(pool.FindMessageTypeByName(full_name)).FromString(payload)
        if full_name == ANY and message.type_url and _unknown(message.type_url, pool):
            value: Any = {"@type": message.type_url, "value": base64.b64encode(message.value).decode()}
        elif full_name in PLAIN:
            value = PLAIN[full_name](message)
        else:
            value = json_format.MessageToDict(message, descriptor_pool=pool)
        return ENCODE(value)
    except REFUSALS as error:
        raise foreign(f"the {full_name} can't be JSON text", error) from error


def payload_of(full_name: str, text: str, pool: Any) -> bytes:
    """The message that JSON text says.

    Raises:
        SerializationError: it is not JSON, or not the JSON of such a message.
    """
    made: Any = GetMessageClass(pool.FindMessageTypeByName(full_name))()
    try:
        if full_name == ANY:
            value = json.loads(text)
            if isinstance(value, dict) and set(value) == {"@type", "value"} and _unknown(value["@type"], pool):
                made.type_url, made.value = value["@type"], base64.b64decode(value["value"], validate=True)
                return bytes(made.SerializeToString())
        json_format.Parse(text, made, descriptor_pool=pool, max_recursion_depth=MAX_DEPTH)
        return bytes(made.SerializeToString(deterministic=True))
    except (*REFUSALS, binascii.Error) as error:
        raise SerializationError(f"the text is not the JSON of a {full_name}: {type(error).__name__}") from error


def _struct(message: Any) -> dict[str, Any]:
    return {key: _value(value) for key, value in message.fields.items()}


def _items(message: Any) -> list[Any]:
    return [_value(value) for value in message.values]


def _value(message: Any) -> Any:
    kind = message.WhichOneof("kind")
    if kind is None or kind == "null_value":
        return None
    if kind == "struct_value":
        return _struct(message.struct_value)
    return _items(message.list_value) if kind == "list_value" else getattr(message, kind)


PLAIN: Final = {
    "google.protobuf.Struct": _struct,
    "google.protobuf.ListValue": _items,
    "google.protobuf.Value": _value,
}
"""Functions that make plain values as `json_format.MessageToDict` does, which looks at each value's type first."""


def _unknown(type_url: str, pool: Any) -> bool:
    try:
        pool.FindMessageTypeByName(type_url.rpartition("/")[2])
    except KeyError:
        return True
    return False
