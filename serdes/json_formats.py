"""Formats of JSON Schema: what `jsonschema` checks only with packages of others, or not strictly.

Must not know of schemas or values beyond a format's text. Source: JSON Schema 2020-12, "Vocabularies for Semantic
Content With format"; RFC 3339, RFC 3986 and RFC 6901.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from typing import Any

import jsonschema

__all__ = ["formats_of"]

TIME = r"(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)"
LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
DATE_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]" + TIME, re.ASCII)
FORMATS = {
    "time": re.compile(TIME, re.ASCII),
    "uri": re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]*"),
    "uri-reference": re.compile(r"[^\s<>\"{}|\\^`]*"),
    "hostname": re.compile(rf"(?=.{{1,253}}\Z){LABEL}(?:\.{LABEL})*"),
    "json-pointer": re.compile(r"(?:/(?:[^~/]|~[01])*)*"),
    "duration": re.compile(
        r"P(?!\Z)(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)", re.ASCII
    ),
}


def formats_of(kind: Any) -> Any:
    """What one of jsonschema's validator classes checks, and the formats that it leaves to packages of others."""
    checker = jsonschema.FormatChecker(())
    checker.checkers = {**kind.FORMAT_CHECKER.checkers}
    for name, pattern in FORMATS.items():
        checker.checkers.setdefault(name, (_matches(pattern), ValueError))
    checker.checkers["date-time"] = (_is_date_time, ValueError)
    return checker


def _matches(pattern: re.Pattern[str]) -> Callable[[Any], bool]:
    return lambda value: not isinstance(value, str) or pattern.fullmatch(value) is not None


def _is_date_time(value: Any) -> bool:
    """RFC 3339: a date and a time of day with an offset; second 60 is left to those who know leap seconds."""
    if not isinstance(value, str):
        return True
    return DATE_TIME.fullmatch(value) is not None and bool(datetime.date.fromisoformat(value[:10]))
