"""Functions that rules may call beside CEL's own: tests of well-known forms of text.

Must not know of rules. Names are those of protovalidate, which Confluent's clients have too: isEmail, isHostname,
isIpv4, isIpv6, isUri, isUriRef, isUuid.
"""

from __future__ import annotations

import ipaddress
import re
import uuid
from collections.abc import Callable
from email.utils import parseaddr
from typing import Any, Final
from urllib.parse import urlsplit

from serdes.extras import needed
from serdes.rules.model import RuleError

__all__ = ["FUNCTIONS"]

LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\Z")


def is_hostname(text: str) -> bool:
    """RFC 1123: labels of letters, digits and inner hyphens, 253 characters, the last one not all digits."""
    labels = text.removesuffix(".").split(".")
    return len(text) <= 253 and all(LABEL.match(label) for label in labels) and not labels[-1].isdigit()


def is_email(text: str) -> bool:
    """One address without a display name; the part after the @ is a host name."""
    local, at, host = text.partition("@")
    return bool(at) and parseaddr(text)[1] == text and 0 < len(local) <= 64 and len(text) <= 254 and is_hostname(host)


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


FUNCTIONS: Final = {name: _function(name, test) for name, test in TESTS.items()}
"""By the name that expressions use."""
