"""Variants in rules: `variant(…)`, `variants.path(…)` and the rest.

Must not know of rules. A variant is a `serdes.variants.Variant`; a message `confluent.type.Variant`, or a map of
`metadata` and `value`, counts as one, without metadata as null. What is not there is null, while a variant that holds
null is one: `variants.isNull` tells. Names and results are those of Confluent's clients.
"""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Callable
from typing import Any, Final

from kserdes_base.extras import needed
from serdes.rules.cel.decimals import is_whole, refused
from serdes.rules.model import RuleError
from serdes.variants import Variant, VariantError, VariantType, parse_json
from serdes.variants.reading import DECIMAL, STAMPS, WHOLE

MOST_INDEX: Final = 2**31 - 1
LONGEST: Final = 10_000
"""The most characters of a path."""
EPOCH: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
STEP: Final = re.compile(
    r"""\.(?P<name>\w+)|\[(?P<index>[0-9]+)\]|\[(?P<quote>["'])(?P<key>(?:(?!(?P=quote))[^\\]|\\.)*)(?P=quote)\]""",
    re.DOTALL,
)
ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
NAMES: Final = {
    **dict.fromkeys(WHOLE, "int"),
    **dict.fromkeys(DECIMAL, "decimal"),
    **dict.fromkeys(STAMPS, "timestamp"),
    VariantType.FLOAT: "double",
    VariantType.BINARY: "bytes",
}
"""The names in rules of types that are not called by their own name."""


def _types() -> Any:
    return needed("celpy.celtypes", "rules", RuleError)


def name_of(kind: VariantType) -> str:
    """The type's name in rules."""
    return NAMES.get(kind) or kind.value.lower()


def make(*given: Any) -> Variant | None:
    """`variant(what holds one)`, or `variant(value, metadata)`."""
    if len(given) == 2 and all(isinstance(one, (bytes, bytearray)) for one in given):
        return Variant(*given)
    if len(given) != 1:
        raise refused("variant() takes what holds a variant, or the bytes of a value and of its metadata")
    (value,) = given
    if value is None or isinstance(value, Variant):
        return value
    if isinstance(value, str):
        raise refused("variant() takes no text: variants.parseJson() does")
    if isinstance(value, dict):
        # dict's own way: the message's bytes as they are, not a copy for every call
        parts = [dict.get(value, name) for name in ("value", "metadata")]
        if hasattr(value, "msg") and value.msg.DESCRIPTOR.full_name == "confluent.type.Variant":
            parts = [b"" if one is None else one for one in parts]
        if all(isinstance(one, (bytes, bytearray)) for one in parts):
            return Variant(*parts) if parts[1] else None  # type: ignore[arg-type]
    raise refused(f"a {type(value).__name__} is no variant")


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise refused(f"{what} must be a text")
    return str(value)


def _parsed(text: Any) -> Variant:
    return parse_json(_text(text, "JSON"))


def _parsed_or_null(text: Any) -> Variant | None:
    given = _text(text, "JSON")
    try:
        return parse_json(given)
    except VariantError:
        return None


def _type(value: Any) -> Any:
    found = make(value)
    return None if found is None else _types().StringType(name_of(found.get_type()))


def _is_null(value: Any) -> Any:
    """True for a variant that holds null, false for anything else; never an error."""
    try:
        found = make(value)
        is_null = found is not None and found.get_type() is VariantType.NULL
    except (VariantError, needed("celpy", "rules", RuleError).CELEvalError):
        is_null = False
    return _types().BoolType(is_null)


# --- fields and elements


def _field_of(found: Variant | None, key: str) -> Variant | None:
    if found is None or found.get_type() is not VariantType.OBJECT:
        return None
    return found.get_field_by_key(key)


def _element_of(found: Variant | None, index: int) -> Variant | None:
    if found is None or found.get_type() is not VariantType.ARRAY:
        return None
    return found.get_element_at_index(index)


def _field(value: Any, key: Any) -> Variant | None:
    name = _text(key, "a key")
    return _field_of(make(value), name)


def _index(value: Any, index: Any) -> Variant | None:
    if not is_whole(index):
        raise refused("an index must be an int")
    return _element_of(make(value), int(index))


@functools.lru_cache(1024)
def steps(path: str) -> tuple[str | int, ...]:
    """The keys and indexes of a path: `$`, then `.name`, `[0]`, `["key"]` or `['key']`, any number of them.

    Raises:
        ValueError: it is no such path.
    """
    if len(path) > LONGEST:
        raise ValueError(f"a path of more than {LONGEST:,} characters")
    if not path.startswith("$"):
        raise ValueError(f"a path begins with $: {path!r}")
    made: list[str | int] = []
    at = 1
    while at < len(path):
        found = STEP.match(path, at)
        if found is None:
            raise ValueError(f"a path goes on with .name, [0] or ['key'], not as at {at}: {path!r}")
        made.append(_step(found, path))
        at = found.end()
    return tuple(made)


def _step(found: re.Match[str], path: str) -> str | int:
    name, digits, key = found["name"], found["index"], found["key"]
    if name is not None:
        if not (name[0].isalpha() or name[0] == "_"):
            raise ValueError(f"a name begins with a letter or _: {path!r}")
        return name
    if digits is not None:
        number = digits.lstrip("0") or "0"
        if len(number) > 10 or int(number) > MOST_INDEX:
            raise ValueError(f"an index of more than 31 bits: {path!r}")
        return int(number)
    if any(escaped not in ("\\", found["quote"]) for escaped in ESCAPE.findall(key)):
        raise ValueError(f"a key's \\ stands before another, or its quote: {path!r}")
    return ESCAPE.sub(r"\1", key)


def _path(value: Any, path: Any) -> Variant | None:
    given = _text(path, "a path")
    found = make(value)
    return None if found is None else followed(found, given)


def followed(root: Variant, path: str) -> Variant | None:
    """The variant at a path; None if there is none.

    Raises:
        ValueError: it is no path.
    """
    found: Variant | None = root
    for step in steps(path):
        found = _field_of(found, step) if isinstance(step, str) else _element_of(found, step)
    return found


# --- values


def _stamp(found: Variant) -> Any:
    number = found.get_long()
    micros = number if found.get_type() in STAMPS[:2] else number // 1000
    try:
        return _types().TimestampType(EPOCH + datetime.timedelta(microseconds=micros))
    except OverflowError:
        raise VariantError(f"a timestamp of {number} is outside the years 1 to 9999") from None


GETTERS: Final[dict[str, Callable[[Variant], Any]]] = {
    "string": lambda found: _types().StringType(found.get_string()),
    "int": lambda found: _types().IntType(found.get_long()),
    "double": lambda found: _types().DoubleType(
        found.get_float() if found.get_type() is VariantType.FLOAT else found.get_double()
    ),
    "boolean": lambda found: _types().BoolType(found.get_boolean()),
    "decimal": Variant.get_decimal,
    "timestamp": _stamp,
    "bytes": lambda found: _types().BytesType(found.get_binary()),
}
WITHOUT: Final = ("object", "array", "null", "date", "time", "uuid")
"""Types for which CEL has no value."""


def _as(value: Any, kind: Any) -> Any:
    name = _text(kind, "a type's name")
    found = make(value)
    if found is None:
        return None
    if name not in GETTERS:
        raise refused(f"variants.as() gives {', '.join(GETTERS)}, not {name!r}")
    if name_of(found.get_type()) != name:
        raise refused(f"the variant is {found.get_type().value}, not {name}")
    return GETTERS[name](found)


def _as_or_null(value: Any, kind: Any) -> Any:
    """The value; null if the variant is of another type, or a timestamp that CEL can't have."""
    name = _text(kind, "a type's name")
    found = make(value)
    if found is None or name in WITHOUT:
        return _as(found, name)
    if name_of(found.get_type()) != name:
        return None
    if name != "timestamp":
        return GETTERS[name](found)
    found.get_long()  # malformed bytes are an error
    try:
        return _stamp(found)
    except VariantError:
        return None


def _json(value: Any) -> Any:
    found = make(value)
    return None if found is None else _types().StringType(found.to_json())


def _function(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    def checked(*given: Any) -> Any:
        try:
            return call(*given)
        except ValueError as error:
            raise refused(f"{name}: {error}") from error

    return checked


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    name: _function(name, call)
    for name, call in {
        "variant": make,
        "variants.parseJson": _parsed,
        "variants.tryParseJson": _parsed_or_null,
        "variants.type": _type,
        "variants.isNull": _is_null,
        "variants.path": _path,
        "variants.field": _field,
        "variants.index": _index,
        "variants.as": _as,
        "variants.tryAs": _as_or_null,
        "variants.toJson": _json,
    }.items()
}
"""By the name that expressions use."""
