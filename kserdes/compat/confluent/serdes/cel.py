"""Functions and values of CEL rules, by the names of confluent_kafka's modules `rules.cel.*`.

Must not hold anything that rules of ours need. The functions take and give cel-python's types. Needs the extra `rules`.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any, Final

from kserdes_base.extras import needed
from serdes.rules import RuleError
from serdes.rules.cel import decimals, executor, functions, values, variants

__all__ = [
    "DECIMAL_FUNCS",
    "DECIMAL_OPERATOR_FUNCS",
    "EXTRA_FUNCS",
    "QUOTE_TRANS",
    "TIMESTAMP_FUNCS",
    "VARIANT_FUNCS",
    "CompilationError",
    "StringFormat",
    "check_field_type",
    "convert",
    "decimal_boundary_value",
    "field_value_to_cel",
    "format_timestamp",
    "format_value",
    "in_has",
    "is_email",
    "is_hostname",
    "is_ipv4",
    "is_ipv6",
    "is_uri",
    "is_uri_ref",
    "is_uuid",
    "make_duration",
    "make_extra_funcs",
    "make_key_path",
    "make_timestamp",
    "msg_to_cel",
    "quote",
    "unwrap",
    "validate_email",
    "validate_host_and_port",
    "validate_ip",
    "validate_port",
    "validate_uuid",
    "walk",
]

Function = Callable[..., Any]

EXTRA_FUNCS: Final[dict[str, Function]] = dict(functions.FUNCTIONS)
DECIMAL_OPERATOR_FUNCS: Final[dict[str, Function]] = {
    name: call for name, call in decimals.FUNCTIONS.items() if name.startswith("_")
}
DECIMAL_FUNCS: Final[dict[str, Function]] = {
    **{name: call for name, call in decimals.FUNCTIONS.items() if name not in DECIMAL_OPERATOR_FUNCS},
    "string": functions.to_string,
}
TIMESTAMP_FUNCS: Final[dict[str, Function]] = {"timestamp": functions.to_timestamp}
VARIANT_FUNCS: Final[dict[str, Function]] = dict(variants.FUNCTIONS)

is_email: Final = EXTRA_FUNCS["isEmail"]
is_hostname: Final = EXTRA_FUNCS["isHostname"]
is_ipv4: Final = EXTRA_FUNCS["isIpv4"]
is_ipv6: Final = EXTRA_FUNCS["isIpv6"]
is_uri: Final = EXTRA_FUNCS["isUri"]
is_uri_ref: Final = EXTRA_FUNCS["isUriRef"]
is_uuid: Final = EXTRA_FUNCS["isUuid"]
decimal_boundary_value: Final = decimals.known_decimal
validate_email: Final = functions.is_email
validate_uuid: Final = functions.is_uuid
msg_to_cel: Final = values.to_cel
convert: Final = values.from_cel
make_duration: Final = values.message_to_cel
make_timestamp: Final = values.message_to_cel
unwrap: Final = values.message_to_cel
DAYS_SHIFT: Final = values.EPOCH_DAY

QUOTE_TRANS: Final = str.maketrans(
    {"\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v", "\\": r"\\", '"': r"\""}
)


def make_extra_funcs(locale: str) -> dict[str, Function]:
    """All functions; texts are the same in every locale."""
    return dict(EXTRA_FUNCS)


def validate_port(val: str) -> bool:
    """Whether this is a number that is no more than the last port."""
    try:
        return int(val) <= 65535
    except ValueError:
        return False


def validate_host_and_port(string: str, *, port_required: bool) -> bool:
    """Whether this is a host's name or address (in brackets, too), and a port, which may be left out where it may."""
    if string.startswith("["):
        host, closed, port = string[1:].partition("]")
        if not closed or not validate_ip(host) or port[:1] not in ("", ":"):
            return False
        colon, port = port[:1], port[1:]
    else:
        host, colon, port = string.partition(":")
        if not (functions.is_hostname(host) or validate_ip(host, 4)):
            return False
    return validate_port(port) if colon else not port_required


def validate_ip(val: str, version: int | None = None) -> bool:
    """Whether this is an address of version 4 or 6, or of any (None).

    Raises:
        CELEvalError: no such version.
    """
    if version not in (4, 6, None):
        raise _refused("the version of an address is 4 or 6")
    return any(functions.is_ip(val, each) for each in (4, 6) if version in (each, None))


def field_value_to_cel(value: Any, fd: Any = None) -> Any:
    """A field's value as CEL's type for it; `fd` is Protobuf's descriptor of the field."""
    return None if value is None else values.field_to_cel(value, fd)


def format_timestamp(t: datetime.datetime) -> str:
    """RFC 3339 in UTC, as `string()` writes it."""
    types = needed("celpy.celtypes", "rules", RuleError)
    return str(functions.to_string(t if isinstance(t, types.TimestampType) else types.TimestampType(t)))


class CompilationError(Exception):
    """A field of Protobuf is not of the type that a rule is for."""


def make_key_path(field_name: str, key: Any) -> str:
    """The path of an item of a map."""
    return f"{field_name}[{format_value(key)}]"


def check_field_type(field: Any, expected: int, wrapper_name: str | None = None) -> None:
    """Looks whether a field has a type, or that type's wrapper.

    Raises:
        CompilationError: it has another one.
    """
    wrapped = field.message_type is not None and field.message_type.full_name == wrapper_name
    if field.type != expected and not wrapped:
        raise CompilationError(f"field {field.name} has type {field.type} but expected {expected}")


def in_has() -> bool:
    """Whether a value is being looked at by `has()`."""
    return values.asking.get()


def walk(root: Any, path: str) -> Any:
    """The variant at a path (`$.a[0]`); None if there is none.

    Raises:
        ValueError: it is no such path.
    """
    return variants.followed(root, path)


def quote(s: str) -> str:
    """A text between quotes, with what needs one behind a backslash."""
    return f'"{s.translate(QUOTE_TRANS)}"'


class StringFormat:
    """The formatting of values by the verbs of `format()`; locales make no difference.

    Args:
        locale: not used.

    Wrong values raise `CELEvalError`.
    """

    def __init__(self, locale: str = "en_US") -> None:
        self.locale = locale

    def format(self, fmt: Any, args: Any) -> Any:
        """A text with its verbs filled in."""
        return functions.format_text(fmt, args)

    def format_float(self, arg: Any, precision: int = 6) -> Any:
        """`%f`."""
        return self._one("f", arg, precision)

    def format_exponential(self, arg: Any, precision: int = 6) -> Any:
        """`%e`."""
        return self._one("e", arg, precision)

    def format_int(self, arg: Any) -> Any:
        """`%d`."""
        return self._one("d", arg)

    def format_hex(self, arg: Any) -> Any:
        """`%x`."""
        return self._one("x", arg)

    def format_oct(self, arg: Any) -> Any:
        """`%o`."""
        return self._one("o", arg)

    def format_bin(self, arg: Any) -> Any:
        """`%b`."""
        return self._one("b", arg)

    def format_string(self, arg: Any) -> Any:
        """`%s`."""
        return self._one("s", arg)

    def format_value(self, arg: Any) -> Any:
        """`%s` of what stands inside a list: texts are quoted."""
        if isinstance(arg, str):
            return needed("celpy.celtypes", "rules", RuleError).StringType(quote(str(arg)))
        return self._one("s", arg)

    def format_list(self, arg: Any) -> Any:
        """`%s` of a list."""
        inner = ", ".join(str(self.format_value(each)) for each in arg)
        return needed("celpy.celtypes", "rules", RuleError).StringType(f"[{inner}]")

    def _one(self, verb: str, arg: Any, precision: int = 6) -> Any:
        text = f"%.{precision}{verb}" if verb in "fe" else f"%{verb}"
        return functions.format_text(text, [arg])


_default_format = StringFormat()
format = _default_format.format
format_value = _default_format.format_value


def _refused(text: str) -> Exception:
    error: Exception = needed("celpy", "rules", RuleError).CELEvalError(text)
    return error


def __getattr__(name: str) -> Any:
    if name == "InterpretedRunner":
        return executor.runner()
    if name == "MessageType":
        return values.message_map()
    if name == "parse":
        return variants.steps
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
