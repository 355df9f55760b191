"""Dicts in Protobuf's JSON form, made into messages: what does not fit is refused with its path, never bent to fit.

Must not know of frames or registries. `google.protobuf.json_format` makes the messages; alone it takes bytes for base64
text, leaves out what is no base64, and cuts or rounds numbers of other Python types. Source: "ProtoJSON Format".
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from serdes.errors import UnfitError

MAX_DEPTH: Final = 100
"""Levels of messages, as many as `json_format` takes."""
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
BASE64 = re.compile(r"(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)={0,2}")
SURROGATE = re.compile("[\ud800-\udfff]")
INTEGERS: Final[Mapping[int, tuple[int, int]]] = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}
FLOATS: Final = frozenset((FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE))
WORDS: Final = {"Infinity", "-Infinity", "NaN"}
EXACT_FLOAT: Final = 2**53
LARGEST_FLOAT: Final = 3.4028234663852886e38
LONGEST_NUMBER: Final = 100
OWN_FORM: Final = "google.protobuf."
"""Types of this package have JSON forms of their own, which `json_format` checks."""


def message_of(kind: type[Message], value: Mapping[str, Any]) -> Message:
    """A message of a dict.

    Args:
        kind: the class of the message.
        value: fields by their names in the schema, or in camelCase.

    Raises:
        UnfitError: a field is not there, or its value does not fit; `path` says which one.
    """
    descriptor = kind.DESCRIPTOR
    _check(descriptor, value, descriptor.name, 0)
    try:
        return json_format.ParseDict(dict(value), kind())
    except (json_format.ParseError, RecursionError, TypeError, ValueError, OverflowError, AttributeError) as error:
        what = f"the dict does not fit message type {descriptor.full_name}"
        raise UnfitError(f"{what}: {type(error).__name__}") from error  # its text may quote the value


def _check(descriptor: Any, value: Any, path: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        _fail(f"the dict is nested deeper than {MAX_DEPTH} levels", "")
    if not isinstance(value, Mapping):
        _fail(f"a dict is needed for message type {descriptor.full_name}, not {_kind(value)}", path)
    by_json_name = {field.json_name: field for field in descriptor.fields}
    for name, part in value.items():
        if not isinstance(name, str):
            _fail(f"names of fields are str, not {_kind(name)}", path)
        field = by_json_name.get(name) or descriptor.fields_by_name.get(name)
        if field is None:
            if name.startswith("["):  # an extension, which json_format looks for
                continue
            _fail(f"message type {descriptor.full_name} has no field {name!r}", path)
        if part is not None:
            _check_field(field, part, f"{path}.{name}", depth)


def _check_field(field: Any, value: Any, path: str, depth: int) -> None:
    entry = field.message_type if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE else None
    if entry is not None and entry.GetOptions().map_entry:
        if not isinstance(value, Mapping):
            _fail(f"a dict is needed for a map, not {_kind(value)}", path)
        for key, part in value.items():
            _check_one(entry.fields_by_name["value"], part, f"{path}[{key!r}]", depth)
    elif field.is_repeated:
        if not isinstance(value, (list, tuple)):
            _fail(f"a list is needed, not {_kind(value)}", path)
        for at, part in enumerate(value):
            _check_one(field, part, f"{path}[{at}]", depth)
    else:
        _check_one(field, value, path, depth)


def _check_one(field: Any, value: Any, path: str, depth: int) -> None:
    kind = field.cpp_type
    if kind == FieldDescriptor.CPPTYPE_MESSAGE:
        if not field.message_type.full_name.startswith(OWN_FORM):
            _check(field.message_type, value, path, depth + 1)
        elif field.message_type.full_name.endswith("Value") and "value" in field.message_type.fields_by_name:
            _check_one(field.message_type.fields_by_name["value"], value, path, depth)  # a wrapper
    elif kind in INTEGERS:
        number = _integer(value)
        if number is None:
            _fail(f"an integer is needed, not {_kind(value)}", path)
        lowest, highest = INTEGERS[kind]
        if not lowest <= number <= highest:
            _fail(f"the integer is not in the range from {lowest} to {highest}", path)
    elif kind in FLOATS:
        if _is_int(value) and not (abs(value) < 10**308 and int(float(value)) == value):
            _fail("an integer that no float holds exactly", path)
        word = isinstance(value, str) and (value in WORDS or NUMBER.fullmatch(value))
        if not (_is_int(value) or isinstance(value, float) or word):
            _fail(f"a number is needed, not {_kind(value)}", path)
        if isinstance(value, float) and not math.isfinite(value):
            _fail("NaN and the infinities are written as text in dicts: 'NaN', 'Infinity', '-Infinity'", path)
        if kind == FieldDescriptor.CPPTYPE_FLOAT and value not in WORDS and abs(float(value)) > LARGEST_FLOAT:
            _fail("the number is too large for 32 bits", path)
    elif kind == FieldDescriptor.CPPTYPE_BOOL:
        if not isinstance(value, bool):
            _fail(f"a bool is needed, not {_kind(value)}", path)
    elif kind == FieldDescriptor.CPPTYPE_ENUM:
        if not (_is_int(value) or isinstance(value, str)):
            _fail(f"a symbol or a number of enum {field.enum_type.full_name} is needed, not {_kind(value)}", path)
        if isinstance(value, str) and not _is_symbol(field.enum_type, value):
            _fail(f"the text is no symbol of enum {field.enum_type.full_name}", path)
    elif field.type == FieldDescriptor.TYPE_BYTES:
        if not isinstance(value, str):
            _fail(f"bytes are written as base64 text in dicts, a str is needed and not {_kind(value)}", path)
        if not BASE64.fullmatch(value) or len(value.rstrip("=")) % 4 == 1:
            _fail("the text is not base64", path)
    elif not isinstance(value, str):
        _fail(f"a str is needed, not {_kind(value)}", path)
    elif SURROGATE.search(value):
        _fail("the text has half of a surrogate pair, which UTF-8 can't hold", path)


def _integer(value: Any) -> int | None:
    """The integer that is meant; None for what isn't one, or may not be the one that was meant."""
    if _is_int(value):
        return int(value)
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= EXACT_FLOAT else None
    if isinstance(value, str) and len(value) <= LONGEST_NUMBER and NUMBER.fullmatch(value):
        return int(value) if value.lstrip("-").isdecimal() else _integer(float(value))
    return None


def _is_symbol(enum: Any, text: str) -> bool:
    """Whether a text may be a symbol: options of a symbol can give it other names, which `json_format` knows."""
    renamed = any(symbol.has_options for symbol in enum.values)
    return renamed or text in enum.values_by_name or NUMBER.fullmatch(text) is not None


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _kind(value: Any) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"


def _fail(reason: str, path: str) -> NoReturn:
    raise UnfitError(reason, path=path or None)
