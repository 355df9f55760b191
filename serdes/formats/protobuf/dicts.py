"""Dicts in Protobuf's JSON form, made into messages: what does not fit is refused with its path, never bent to fit.

Must not know of frames or registries. `google.protobuf.json_format` makes the messages; alone it takes bytes for base64
text, leaves out what is no base64, cuts or rounds numbers, and where two keys mean one field or one entry of a map it
keeps the last. Source: "ProtoJSON Format".
"""

from __future__ import annotations

import copy
import math
import re
import struct
from collections.abc import Mapping
from typing import Any, Final, NoReturn, cast

from google.protobuf import descriptor_pool, json_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

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
LARGEST: Final[Mapping[int, float]] = {
    FieldDescriptor.CPPTYPE_FLOAT: 3.4028234663852886e38,
    FieldDescriptor.CPPTYPE_DOUBLE: 1.7976931348623157e308,
}
LONGEST_NUMBER: Final = 100
SYMBOLS: Final = INTEGERS[FieldDescriptor.CPPTYPE_INT32]
DURATION = re.compile(r"-?\d+(?:\.\d{1,9})?s", re.ASCII)
KNOWN: Final = "google.protobuf."
OPEN: Final = frozenset(KNOWN + name for name in ("Struct", "Value", "ListValue"))
TEXTS: Final = frozenset(KNOWN + name for name in ("Timestamp", "Duration", "FieldMask"))


class _Types:
    """The sources of message types of an `Any`: first those of the schema, then the generated classes.

    Attributes:
        asked: whether there was an `Any`.
    """

    def __init__(self, schema: Any) -> None:
        self.asked = False
        self._pools = (schema, descriptor_pool.Default())

    def FindMessageTypeByName(self, full_name: str) -> Any:
        """The descriptor of a message type.

        Raises:
            KeyError: there is none.
        """
        for pool in self._pools:
            try:
                return pool.FindMessageTypeByName(full_name)
            except KeyError:
                continue
        raise KeyError(full_name)


def message_of(kind: type[Message], value: Mapping[str, Any]) -> Message:
    """A message of a dict.

    Args:
        kind: the class of the message.
        value: fields by their names in the schema, or in camelCase.

    Raises:
        UnfitError: a field is not there, or its value does not fit; `path` says which one.
    """
    descriptor = kind.DESCRIPTOR
    types = _Types(descriptor.file.pool)
    _check(descriptor, value, descriptor.name, 0, types)
    try:
        own = copy.deepcopy(dict(value)) if types.asked else dict(value)  # it takes '@type' out for a while
        return json_format.ParseDict(own, kind(), descriptor_pool=cast(Any, types))
    except (json_format.ParseError, RecursionError, TypeError, ValueError, OverflowError, AttributeError) as error:
        what = f"the dict does not fit message type {descriptor.full_name}"
        raise UnfitError(f"{what}: {type(error).__name__}") from error  # its text may quote the value


def _check(descriptor: Any, value: Any, path: str, depth: int, types: _Types) -> None:
    if depth > MAX_DEPTH:
        _fail(f"the dict is nested deeper than {MAX_DEPTH} levels", "")
    if not isinstance(value, Mapping):
        _fail(f"a dict is needed for message type {descriptor.full_name}, not {_kind(value)}", path)
    by_json_name = {field.json_name: field for field in descriptor.fields}
    spelt: dict[int, str] = {}
    chosen: dict[str, str] = {}
    for name, part in value.items():
        if not isinstance(name, str):
            _fail(f"names of fields are str, not {_kind(name)}", path)
        field = by_json_name.get(name) or descriptor.fields_by_name.get(name) or _extension(descriptor, name)
        if field is None:
            _fail(f"message type {descriptor.full_name} has no field {name!r}", path)
        if spelt.setdefault(field.number, name) != name:
            _fail(f"{spelt[field.number]!r} and {name!r} are one field: leave one of them out", path)
        if part is None and not _takes_null(field):
            continue
        oneof = field.containing_oneof
        if oneof is not None and chosen.setdefault(oneof.name, name) != name:
            _fail(f"{chosen[oneof.name]!r} and {name!r} are of the oneof {oneof.name!r}, which has one of them", path)
        if part is not None:
            _check_field(field, part, f"{path}.{name}", depth, types)


def _extension(descriptor: Any, name: str) -> Any:
    """The extension that a name in brackets means, as `json_format` finds it; None for none."""
    if not (name.startswith("[") and name.endswith("]") and descriptor.is_extendable):
        return None
    pool = descriptor.file.pool
    for full_name in (name[1:-1], name[1:-1].rpartition(".")[0]):
        try:
            found = pool.FindExtensionByName(full_name)
        except KeyError:
            continue
        if found.containing_type is descriptor:
            return found
    return None


def _takes_null(field: Any) -> bool:
    """Whether None is a value of a field, and not its absence."""
    kind = field.message_type or field.enum_type
    return kind is not None and kind.full_name in (f"{KNOWN}Value", f"{KNOWN}NullValue")


def _check_field(field: Any, value: Any, path: str, depth: int, types: _Types) -> None:
    entry = field.message_type if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE else None
    if entry is not None and entry.GetOptions().map_entry:
        if not isinstance(value, Mapping):
            _fail(f"a dict is needed for a map, not {_kind(value)}", path)
        spelt: dict[Any, Any] = {}
        for key, part in value.items():
            at = f"{path}[{key!r}]"
            meant = _key(entry.fields_by_name["key"], key, at)
            if meant in spelt:
                _fail(f"the key is there twice, as {spelt[meant]!r} too: leave one of them out", at)
            spelt[meant] = key
            _check_one(entry.fields_by_name["value"], part, at, depth, types)
    elif field.is_repeated:
        if not isinstance(value, (list, tuple)):
            _fail(f"a list is needed, not {_kind(value)}", path)
        for index, part in enumerate(value):
            _check_one(field, part, f"{path}[{index}]", depth, types)
    else:
        _check_one(field, value, path, depth, types)


def _key(field: Any, key: Any, path: str) -> Any:
    """The key that is meant in a map."""
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        if key not in ("true", "false"):
            _fail("keys that are bools are written as text in dicts: 'true', 'false'", path)
        return key
    _check_scalar(field, key, path)
    return _integer(key) if field.cpp_type in INTEGERS else key


def _check_one(field: Any, value: Any, path: str, depth: int, types: _Types) -> None:
    if field.cpp_type != FieldDescriptor.CPPTYPE_MESSAGE:
        _check_scalar(field, value, path)
        return
    _check_message(field.message_type, value, path, depth, types)


def _check_message(descriptor: Any, value: Any, path: str, depth: int, types: _Types) -> None:
    name = descriptor.full_name
    if name == f"{KNOWN}Any":
        _check_any(value, path, depth, types)
    elif name in OPEN:
        _check_open(name, value, path, depth)
    elif name in TEXTS:
        _check_text(descriptor, value, path)
    elif name.startswith(KNOWN) and name.endswith("Value") and "value" in descriptor.fields_by_name:  # a wrapper
        _check_scalar(descriptor.fields_by_name["value"], value, path)
    else:
        _check(descriptor, value, path, depth + 1, types)


def _check_any(value: Any, path: str, depth: int, types: _Types) -> None:
    types.asked = True
    if not isinstance(value, dict):
        _fail(f"a dict is needed for message type {KNOWN}Any, not {_kind(value)}", path)
    if not value:
        return
    url = value.get("@type")
    if not isinstance(url, str):
        _fail("'@type' names the message type of an Any, like 'type.googleapis.com/shop.Order'", path)
    try:
        descriptor = types.FindMessageTypeByName(url.rpartition("/")[2])
    except KeyError:
        _fail(f"neither the schema nor a generated class has message type {url!r}", f"{path}.@type")
    content = {name: part for name, part in value.items() if name != "@type"}
    if not descriptor.full_name.startswith(KNOWN) or not _has_own_form(descriptor):
        _check(descriptor, content, path, depth + 1, types)
        return
    if list(content) != ["value"]:
        _fail(f"an Any of message type {descriptor.full_name} has its value under 'value', and nothing else", path)
    _check_message(descriptor, content["value"], f"{path}.value", depth + 1, types)


def _has_own_form(descriptor: Any) -> bool:
    name = descriptor.full_name
    wrapper = name.endswith("Value") and "value" in descriptor.fields_by_name
    return wrapper or name in OPEN or name in TEXTS or name == f"{KNOWN}Any"


def _check_open(name: str, value: Any, path: str, depth: int) -> None:
    """Any JSON: numbers are doubles, and there is no NaN."""
    if depth > MAX_DEPTH:
        _fail(f"the dict is nested deeper than {MAX_DEPTH} levels", "")
    if name == f"{KNOWN}Struct" and not isinstance(value, dict):
        _fail(f"a dict is needed for message type {name}, not {_kind(value)}", path)
    if name == f"{KNOWN}ListValue" and not isinstance(value, (list, tuple)):
        _fail(f"a list is needed for message type {name}, not {_kind(value)}", path)
    if isinstance(value, dict):
        for key, part in value.items():
            if not isinstance(key, str):
                _fail(f"keys of a Struct are str, not {_kind(key)}", path)
            _refuse_surrogates(key, path)
            _check_open(f"{KNOWN}Value", part, f"{path}[{key!r}]", depth + 1)
    elif isinstance(value, (list, tuple)):
        for index, part in enumerate(value):
            _check_open(f"{KNOWN}Value", part, f"{path}[{index}]", depth + 1)
    elif isinstance(value, str):
        _refuse_surrogates(value, path)
    elif isinstance(value, float):
        if not math.isfinite(value):
            _fail(f"NaN and the infinities are not JSON, which message type {name} holds", path)
    elif _is_int(value):
        _refuse_inexact(value, FieldDescriptor.CPPTYPE_DOUBLE, path)
    elif value is not None and not isinstance(value, bool):
        _fail(f"JSON is needed for message type {name}, not {_kind(value)}", path)


def _check_text(descriptor: Any, value: Any, path: str) -> None:
    name = descriptor.full_name
    if not isinstance(value, str):
        _fail(f"a text is needed for message type {name}, not {_kind(value)}", path)
    if name == f"{KNOWN}Duration" and not DURATION.fullmatch(value):
        _fail("durations are seconds with nine digits after the point at most, like '-1.5s'", path)
    made: Any = GetMessageClass(descriptor)()
    try:
        made.FromJsonString(value)
    except (ValueError, OverflowError) as error:
        raise UnfitError(f"the text is no {name}", path=path) from error


def _check_scalar(field: Any, value: Any, path: str) -> None:
    kind = field.cpp_type
    if kind in INTEGERS:
        number = _integer(value)
        if number is None:
            _fail(f"an integer is needed, not {_kind(value)}", path)
        lowest, highest = INTEGERS[kind]
        if not lowest <= number <= highest:
            _fail(f"the integer is not in the range from {lowest} to {highest}", path)
    elif kind in FLOATS:
        if _is_int(value):
            _refuse_inexact(value, kind, path)
        word = isinstance(value, str) and (value in WORDS or NUMBER.fullmatch(value))
        if not (_is_int(value) or isinstance(value, float) or word):
            _fail(f"a number is needed, not {_kind(value)}", path)
        if isinstance(value, float) and not math.isfinite(value):
            _fail("NaN and the infinities are written as text in dicts: 'NaN', 'Infinity', '-Infinity'", path)
        if value not in WORDS and abs(float(value)) > LARGEST[kind]:
            _fail(f"the number is too large for {32 if kind == FieldDescriptor.CPPTYPE_FLOAT else 64} bits", path)
    elif kind == FieldDescriptor.CPPTYPE_BOOL:
        if not isinstance(value, bool):
            _fail(f"a bool is needed, not {_kind(value)}", path)
    elif kind == FieldDescriptor.CPPTYPE_ENUM:
        if not (_is_int(value) or isinstance(value, str)):
            _fail(f"a symbol or a number of enum {field.enum_type.full_name} is needed, not {_kind(value)}", path)
        if isinstance(value, str) and not _is_symbol(field.enum_type, value):
            _fail(f"the text is no symbol of enum {field.enum_type.full_name}", path)
        number = _integer(value)
        if number is not None and not SYMBOLS[0] <= number <= SYMBOLS[1]:
            _fail(f"numbers of enums are in the range from {SYMBOLS[0]} to {SYMBOLS[1]}", path)
        if number is not None and field.enum_type.is_closed and number not in field.enum_type.values_by_number:
            _fail(f"enum {field.enum_type.full_name} is closed and has no symbol of this number", path)
    elif field.type == FieldDescriptor.TYPE_BYTES:
        if not isinstance(value, str):
            _fail(f"bytes are written as base64 text in dicts, a str is needed and not {_kind(value)}", path)
        if not BASE64.fullmatch(value) or len(value.rstrip("=")) % 4 == 1:
            _fail("the text is not base64", path)
    elif not isinstance(value, str):
        _fail(f"a str is needed, not {_kind(value)}", path)
    else:
        _refuse_surrogates(value, path)


def _refuse_surrogates(text: str, path: str) -> None:
    if SURROGATE.search(text):
        _fail("the text has half of a surrogate pair, which UTF-8 can't hold", path)


def _refuse_inexact(number: int, kind: int, path: str) -> None:
    """Integers are of one exact value, other numbers are rounded in every language."""
    held = abs(number) < 10**308 and int(float(number)) == number
    if held and kind == FieldDescriptor.CPPTYPE_FLOAT and abs(number) <= LARGEST[kind]:
        held = int(struct.unpack("<f", struct.pack("<f", number))[0]) == number
    if not held:
        _fail("an integer that no float holds exactly", path)


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
    return renamed or text in enum.values_by_name or text.removeprefix("-").isdecimal()


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _kind(value: Any) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"


def _fail(reason: str, path: str) -> NoReturn:
    raise UnfitError(reason, path=path or None)
