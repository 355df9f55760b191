"""Functions that rules may call beside those of the CEL library, and some that it does not do as CEL says.

Must not know of rules. Tests of well-known forms of text: the names are protovalidate's, which Confluent's clients have
too. `format()` is that of CEL's extension for strings; `string()` and `timestamp()` are CEL's, and take epochs.
"""

from __future__ import annotations

import datetime
import ipaddress
import re
import uuid
from collections.abc import Callable
from email.utils import parseaddr
from typing import Any, Final
from urllib.parse import urlsplit

from kserdes_base.extras import needed
from serdes.rules.cel import decimals, variants
from serdes.rules.model import RuleError

MOST_DIGITS: Final = 1000
"""The most digits that a rule may ask for: a text of a billion is asked for in four letters."""
VERB = re.compile(r"%(?:\.([0-9]+))?(.?)", re.DOTALL)
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\Z")


def is_hostname(text: str) -> bool:
    """RFC 1123: labels of letters, digits and inner hyphens, 253 characters, the last one not all digits."""
    labels = text.removesuffix(".").split(".")
    return len(text) <= 253 and all(LABEL.match(label) for label in labels) and not labels[-1].isdigit()


def is_email(text: str) -> bool:
    """One address without a display name; the part after the @ is a host name, that before it may be empty."""
    local, at, host = text.partition("@")
    return bool(at) and parseaddr(text)[1] == text and len(local) <= 64 and len(text) <= 254 and is_hostname(host)


def is_ip(text: str, version: int) -> bool:
    """An address of IP version 4 or 6."""
    try:
        return ipaddress.ip_address(text).version == version
    except ValueError:
        return False


def is_uri(text: str) -> bool:
    """An absolute URI with a host and a path."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return bool(parts.scheme and parts.netloc and parts.path)


def is_uri_ref(text: str) -> bool:
    """A URI, or a reference relative to one; not a fragment alone."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return bool((parts.scheme and parts.path) or not parts.fragment)


def is_uuid(text: str) -> bool:
    """A UUID in one of its usual forms."""
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True


TESTS: Final[dict[str, Callable[[str], bool]]] = {
    "isEmail": is_email,
    "isHostname": is_hostname,
    "isIpv4": lambda text: is_ip(text, 4),
    "isIpv6": lambda text: is_ip(text, 6),
    "isUri": is_uri,
    "isUriRef": is_uri_ref,
    "isUuid": is_uuid,
}


def _function(name: str, test: Callable[[str], bool]) -> Callable[[Any], Any]:
    def call(value: Any) -> Any:
        if not isinstance(value, str):
            error: Exception = needed("celpy", "rules", RuleError).CELEvalError(f"{name} takes a string")
            raise error
        return needed("celpy.celtypes", "rules", RuleError).BoolType(test(str(value)))

    return call


def _types() -> Any:
    return needed("celpy.celtypes", "rules", RuleError)


def _refused(text: str) -> Exception:
    error: Exception = needed("celpy", "rules", RuleError).CELEvalError(text)
    return error


def to_string(value: Any) -> Any:
    """`string(value)`: truths in small letters, timestamps with their fraction."""
    types = _types()
    if isinstance(value, (bool, types.BoolType)):
        text = "true" if value else "false"
    elif isinstance(value, types.TimestampType):
        text = _timestamp_text(value)
    elif (number := decimals.known_decimal(value)) is not None:
        if not number.is_finite() or abs(number.adjusted()) > MOST_DIGITS:
            raise _refused(f"string() of a decimal of more than {MOST_DIGITS} digits")
        text = f"{number if number else abs(number):f}"
    elif value is None or isinstance(value, (list, dict)):
        raise _refused(f"string() takes no {type(value).__name__}")
    else:
        return types.StringType(value)
    return types.StringType(text)


def _timestamp_text(value: datetime.datetime) -> str:
    """RFC 3339 in UTC, with the fraction in as many groups of three digits as it needs."""
    utc = datetime.datetime.fromtimestamp(0, datetime.UTC) + (value - EPOCH)
    fraction = "" if not utc.microsecond else f".{utc.microsecond:06d}".removesuffix("000")
    return f"{utc.replace(microsecond=0, tzinfo=None).isoformat()}{fraction}Z"


def to_timestamp(value: Any, precision: Any = 0) -> Any:
    """`timestamp(text)`, `timestamp(seconds)`, or an epoch with its precision: 0, 3, 6 or 9 digits of a second."""
    types = _types()
    if isinstance(value, (bool, types.BoolType, types.UintType)) or precision not in (0, 3, 6, 9):
        raise _refused("timestamp() takes a text, or seconds, or an epoch and 0, 3, 6 or 9")
    if not isinstance(value, int):
        return types.TimestampType(value)
    try:
        return types.TimestampType(EPOCH + datetime.timedelta(microseconds=int(value) * 10**6 // 10 ** int(precision)))
    except (OverflowError, ValueError) as error:
        raise _refused(f"timestamp(): {int(value)} is out of range") from error


def format_text(text: Any, arguments: Any) -> Any:
    """`text.format([…])`: %s, %d, %f and %e (with a precision), %x, %X, %o, %b, %%."""
    if not isinstance(text, str) or not isinstance(arguments, list):
        raise _refused("format() takes a text and a list")
    left = list(arguments)

    def one(found: re.Match[str]) -> str:
        precision, verb = found[1], found[2]
        if verb == "%" and precision is None:
            return "%"
        if not left:
            raise _refused("format(): there are more verbs than values")
        return _formatted(left.pop(0), verb, min(int(precision or 6), MOST_DIGITS))

    made = VERB.sub(one, text)
    if left:
        raise _refused("format(): there are more values than verbs")
    return _types().StringType(made)


def _formatted(value: Any, verb: str, precision: int) -> str:
    types = _types()
    is_bool = isinstance(value, (bool, types.BoolType))
    whole = isinstance(value, int) and not is_bool
    if verb == "s":
        return _shown(value)
    if verb in ("f", "e") and isinstance(value, float):
        return f"{float(value):.{precision}{verb}}"
    if verb in ("d", "f", "e") and whole:
        return str(int(value))
    if verb in ("x", "X", "o", "b") and (whole or (is_bool and verb == "b")):
        return f"{int(value):{verb}}"
    if verb in ("x", "X") and isinstance(value, (str, bytes)):
        digits = (value.encode() if isinstance(value, str) else bytes(value)).hex()
        return digits.upper() if verb == "X" else digits
    raise _refused(f"format(): %{verb} takes no {type(value).__name__}")


def _shown(value: Any, inner: bool = False) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_shown(item, inner=True) for item in value) + "]"
    if isinstance(value, bytes):
        return bytes(value).hex()
    if isinstance(value, str):
        return f'"{value}"' if inner else str(value)
    return str(to_string(value))


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    **{name: _function(name, test) for name, test in TESTS.items()},
    "format": format_text,
    "string": to_string,
    "timestamp": to_timestamp,
    **decimals.FUNCTIONS,
    **variants.FUNCTIONS,
}
"""By the name that expressions use."""
