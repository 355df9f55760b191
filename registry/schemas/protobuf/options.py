"""Options as text, and the one order and form that options have in a normalized schema.

Must not know what carries the options. Source: Confluent's registry (`ProtobufSchemaUtils`: `FormatContext`,
`formatOptionMap`; `ProtobufSchema.merge`).
"""

from __future__ import annotations

import itertools
import math
import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import Any, Final

from registry.schemas.protobuf.model import Field, Option, OptionKind, Primitive

ESCAPES: Final = str.maketrans(
    {
        "\a": "\\a",
        "\b": "\\b",
        "\f": "\\f",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        "\v": "\\v",
        "\\": "\\\\",
        "'": "\\'",
        '"': '\\"',
    }
)
INTEGER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|\d+)")
DECIMAL = re.compile(r"-?(\d+(?:\.(\d*))?|\.(\d+))(?:[eE]([+-]?\d+))?")
FLOAT_DIGITS, DOUBLE_DIGITS = 7, 16
MAX_EXPONENT: Final = 400


@dataclass(frozen=True, slots=True)
class Names:
    """Functions that resolve the names of custom options.

    Attributes:
        resolve: the full name of an extension, None if there is none.
        find: the extension of a full name.
    """

    resolve: Callable[[str], str | None]
    find: Callable[[str], Field | None]


def indented(text: str) -> str:
    """Every line two blanks further in, with a line end; empty lines at the end are dropped."""
    lines = text.rstrip("\n").split("\n")
    return "".join(f"  {line}\n" for line in lines)


# --- text


def option_text(option: Option, names: Names | None) -> str:
    """`name = value`, without `option` and semicolon.

    Args:
        option: the option.
        names: given if the text is to be normalized.
    """
    name = f"({option.name})" if option.parenthesized else option.name
    if option.kind is OptionKind.OPTION:
        return f"{name}.{option_text(option.value, names)}"
    if option.kind is OptionKind.MAP:
        return f"{name} = {_map_text(option.value, names)}"
    if option.kind is OptionKind.LIST:
        return f"{name} = {_bracketed([_value_text(item, names) for item in option.value])}"
    return f"{name} = {_plain_text(option.kind, option.value, names)}"


def option_list(options: Sequence[Option], names: Names | None) -> str:
    """Options in brackets, as they follow a field: one of them on the line, more on lines of their own."""
    return _bracketed([option_text(option, names) for option in options])


def _bracketed(items: list[str]) -> str:
    if len(items) == 1:
        return f"[{items[0]}]"
    return "[\n" + "".join(indented(item) for item in _with_commas(items)) + "]"


def _with_commas(items: list[str]) -> list[str]:
    return [f"{item}," for item in items[:-1]] + items[-1:]


def _plain_text(kind: OptionKind, value: str, names: Names | None) -> str:
    if kind is OptionKind.STRING:
        return f'"{value.translate(ESCAPES)}"'
    return _number(value) if kind is OptionKind.NUMBER and names is not None else value


def _value_text(value: Any, names: Names | None) -> str:
    if isinstance(value, dict):
        return _map_text(value, names)
    if isinstance(value, list):
        if names is not None and len(value) == 1:
            return _value_text(value[0], names)
        return (
            "[\n" + "".join(indented(item) for item in _with_commas([_value_text(item, names) for item in value])) + "]"
        )
    if isinstance(value, Primitive):
        return _plain_text(value.kind, value.text, names)
    if isinstance(value, Option):
        return option_text(value, names)
    return _plain_text(OptionKind.STRING, str(value), names)


def _map_text(value: dict[str, Any], names: Names | None) -> str:
    if names is not None:
        value = dict(sorted((_key(key, names), item) for key, item in value.items() if item != []))
    entries = _with_commas([f"{key}: {_value_text(item, names)}" for key, item in value.items()])
    return "{\n" + "".join(indented(entry) for entry in entries) + "}"


def _key(key: str, names: Names) -> str:
    """Extensions inside a map by their full name."""
    resolved = names.resolve(key[1:-1]) if key.startswith("[") and key.endswith("]") else None
    return key if resolved is None else f"[{resolved}]"


def _number(text: str) -> str:
    """As Java's `DecimalFormat` prints what commons-lang's `NumberUtils` reads: no exponent, at most 3 decimals."""
    if len(text) <= MAX_EXPONENT and INTEGER.fullmatch(text):
        digits = text.lstrip("-")
        octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
        try:
            value = int(digits, 8 if octal else 16 if "x" in digits.lower() else 10)
        except ValueError:
            return text  # a digit that is not octal
        return str(-value if text.startswith("-") else value)
    found = DECIMAL.fullmatch(text)
    if found is None or len(text) > MAX_EXPONENT or abs(int(found[4] or 0)) > MAX_EXPONENT:
        return text
    held = _as_java_holds(text, len(found[2] or found[3] or ""))
    with localcontext() as context:
        context.prec = 1000
        rounded = held.quantize(Decimal("0.001"), ROUND_HALF_EVEN)
    shown = f"{rounded:f}".rstrip("0").rstrip(".")
    return shown or "0"


def _as_java_holds(text: str, decimals: int) -> Decimal:
    """Few digits behind the point: a `float`; more: a `double`; else exact."""
    if decimals <= FLOAT_DIGITS:
        try:
            (single,) = struct.unpack("f", struct.pack("f", float(text)))
        except OverflowError:
            single = 0.0
        if math.isfinite(single) and (single != 0 or float(text) == 0):
            return Decimal(single)
    return Decimal(float(text)) if decimals <= DOUBLE_DIGITS and abs(float(text)) < float("inf") else Decimal(text)


# --- normal form


def normalized(options: Sequence[Option], names: Names) -> list[Option]:
    """Options by name; custom ones under their full name, those that are not repeated merged into one."""
    if not options:
        return []
    by_name: dict[str, list[Option]] = {}
    for option in sorted((_qualified(option, names) for option in options), key=lambda option: option.name):
        by_name.setdefault(option.name, []).append(option)
    result: list[Option] = []
    for name, same in by_name.items():
        extension = names.find(name)
        if extension is None or extension.label == "repeated":
            result += same
            continue
        result.append(_merged([_as_map(option) for option in same]))
    return result


def _qualified(option: Option, names: Names) -> Option:
    resolved = names.resolve(option.name) if option.parenthesized else None
    if resolved is None:
        return option
    return _as_map(Option(resolved, option.kind, option.value, option.parenthesized))


def _as_map(option: Option) -> Option:
    """`(a).b = 1` as `(a) = {b: 1}`."""
    if option.kind is not OptionKind.OPTION:
        return option
    return Option(option.name, OptionKind.MAP, _inner_map(option.value), option.parenthesized)


def _inner_map(option: Option) -> dict[str, Any]:
    if option.kind is OptionKind.OPTION:
        return {option.name: _inner_map(option.value)}
    plain = option.kind in (OptionKind.BOOLEAN, OptionKind.ENUM, OptionKind.NUMBER)
    return {option.name: Primitive(option.kind, option.value) if plain else option.value}


def _merged(options: list[Option]) -> Option:
    """Maps key by key, equal values once; of anything else the last."""
    last = options[-1]
    maps = list(itertools.takewhile(lambda option: option.kind is OptionKind.MAP, reversed(options)))
    if len(maps) < 2:
        return last
    values: dict[str, dict[str, Any]] = {}
    lists: set[str] = set()
    for option in reversed(maps):
        for key, value in option.value.items():
            parts = value if isinstance(value, list) else [value]
            if key in values or isinstance(value, list):
                lists.add(key)
            values.setdefault(key, {}).update({repr(part): part for part in parts if repr(part) not in values[key]})
    result = {
        key: list(found.values()) if key in lists else next(iter(found.values())) for key, found in values.items()
    }
    return Option(last.name, OptionKind.MAP, result, last.parenthesized)
