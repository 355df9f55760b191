"""JSON documents of schemas: read and written without the limits of Python's stack, refused where Java's parser would.

Must not know what a document means. Source: RFC 8259; how Jackson, the parser of Confluent's registry, reads (nesting
up to 1,000 levels, no NaN) and writes (compact, numbers as Java prints them).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NoReturn

from registry.limits import MAX_JSON_DEPTH


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _exact(literal: str) -> Decimal:
    try:
        return Decimal(literal)
    except InvalidOperation as error:
        raise ValueError(f"the number {literal[:40]} is out of range") from error


def whole(literal: str) -> int:
    """The value of an integer's digits.

    Raises:
        ValueError: there are more of them than Python converts.
    """
    try:
        return int(literal)
    except ValueError as error:
        raise ValueError(f"an integer of {len(literal.lstrip('-')):,} digits, {LONG}") from error


LONG: Final = "more than Python converts (sys.get_int_max_str_digits)"
DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_int=whole)
EXACT_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_exact, parse_int=whole)
BLANK = re.compile(r"[ \t\n\r]*")
# Strings are matched whole (to the end of the text if they do not end), so that what looks like a comment in one stays.
STRING_OR_COMMENT = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\Z)|/\*.*?(?:\*/|\Z)|//[^\n]*+', re.DOTALL)


def loads(text: str, *, exact: bool = False) -> Any:
    """The value of a document.

    Args:
        text: the document.
        exact: numbers with a point or an exponent become a `Decimal` with all their digits (1.0 is not 1.00).

    Raises:
        ValueError: it is not JSON, or nested deeper than `MAX_JSON_DEPTH`.
    """
    try:
        value = (EXACT_DECODER if exact else DECODER).decode(text)
    except RecursionError:
        return _loads_deep(text, EXACT_DECODER if exact else DECODER)
    if text.count("{") + text.count("[") > MAX_JSON_DEPTH and _depth(value) > MAX_JSON_DEPTH:
        raise ValueError(f"nested deeper than {MAX_JSON_DEPTH} levels")
    return value


def without_comments(text: str) -> str:
    """The text with `/* */` and `//` comments blanked out; Java's Avro parser takes them."""
    return STRING_OR_COMMENT.sub(lambda found: found[0] if found[0].startswith('"') else " ", text)


def _depth(value: Any) -> int:
    level, depth = [value], 0
    while level := [item for item in level if isinstance(item, (dict, list))]:
        depth += 1
        level = [item for parent in level for item in (parent.values() if isinstance(parent, dict) else parent)]
    return depth


def _loads_deep(text: str, decoder: json.JSONDecoder = DECODER) -> Any:
    """`loads` with a stack of its own; slower, so only for what Python's parser gives up on."""
    open_values: list[Any] = []
    keys: list[str] = []
    at = _skip(text, 0)
    while True:
        opening = text[at : at + 1]
        if opening in ("{", "["):
            if len(open_values) == MAX_JSON_DEPTH:
                raise ValueError(f"nested deeper than {MAX_JSON_DEPTH} levels")
            value: Any = {} if opening == "{" else []
            at = _skip(text, at + 1)
            if text[at : at + 1] != ("}" if opening == "{" else "]"):
                open_values.append(value)
                at = _key(text, at, keys) if opening == "{" else at
                continue
            at += 1
        else:
            value, at = decoder.raw_decode(text, at)
        while open_values:
            parent = open_values[-1]
            if isinstance(parent, dict):
                parent[keys.pop()] = value
            else:
                parent.append(value)
            at = _skip(text, at)
            mark = text[at : at + 1]
            if mark == ",":
                at = _skip(text, at + 1)
                at = _key(text, at, keys) if isinstance(parent, dict) else at
                break
            if mark != ("}" if isinstance(parent, dict) else "]"):
                raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
            value = open_values.pop()
            at += 1
        else:
            if _skip(text, at) != len(text):
                raise json.JSONDecodeError("Extra data", text, at)
            return value


def _skip(text: str, at: int) -> int:
    found = BLANK.match(text, at)
    return at if found is None else found.end()


def _key(text: str, at: int, keys: list[str]) -> int:
    """Reads `"key":`, returns where its value starts."""
    if text[at : at + 1] != '"':
        raise json.JSONDecodeError("Expecting property name enclosed in double quotes", text, at)
    key, at = DECODER.raw_decode(text, at)
    at = _skip(text, at)
    if text[at : at + 1] != ":":
        raise json.JSONDecodeError("Expecting ':' delimiter", text, at)
    keys.append(key)
    return _skip(text, at + 1)


ESCAPES: Final = {code: f"\\u{code:04X}" for code in range(32)} | {
    ord('"'): '\\"',
    ord("\\"): "\\\\",
    **{ord(char): f"\\{name}" for char, name in zip("\b\f\n\r\t", "bfnrt", strict=True)},
}


def quoted(text: str) -> str:
    """A JSON string."""
    return f'"{text.translate(ESCAPES)}"'


def dumps(value: Any) -> str:
    """The compact text of a value, members in their order."""
    return "".join(_pieces(value))


def _pieces(value: Any) -> Iterator[str]:
    todo: list[Any] = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, _Mark):
            yield item
        elif isinstance(item, dict):
            parts: list[Any] = [_Mark("{")]
            for name, member in item.items():
                parts += [_Mark(f"{',' if len(parts) > 1 else ''}{quoted(name)}:"), member]
            todo += reversed([*parts, _Mark("}")])
        elif isinstance(item, (list, tuple)):
            parts = [_Mark("[")]
            for member in item:
                parts += [_Mark(","), member] if len(parts) > 1 else [member]
            todo += reversed([*parts, _Mark("]")])
        else:
            yield _scalar(item)


class _Mark(str):
    """A piece of text that is finished, to tell it from a value."""

    __slots__ = ()


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return quoted(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _java_double(value) if isinstance(value, float) else str(value)


def _java_double(value: float) -> str:
    """As `Double.toString` writes it; what is no number as a string, as Jackson does."""
    if not math.isfinite(value):
        return '"NaN"' if math.isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    sign, digits, _ = Decimal(repr(value)).normalize().as_tuple()
    exponent = Decimal(repr(value)).adjusted()
    rest = "".join(map(str, digits[1:])) or "0"
    return f"{'-' if sign else ''}{digits[0]}.{rest}E{exponent}"
