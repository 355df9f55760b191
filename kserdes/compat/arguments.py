"""Keyword arguments of other clients as properties of ours: one typed row for each, and what is done with them.

Must not know any client. A dialect has a table of rows; a row says which property an argument sets and how its value
is written there, or that the dialect itself uses it, or why it has no effect (said once in the log).
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

__all__ = [
    "Argument",
    "Arguments",
    "addresses",
    "clamped",
    "host_check",
    "older",
    "own",
    "sets",
    "tls_context",
    "unused",
]

logger: Final = logging.getLogger("kserdes.compat")


@dataclass(frozen=True, slots=True)
class Argument:
    """A keyword argument of another client's class.

    Attributes:
        name: as that client spells it.
        meaning: what it says, in a few words.
        default: that client's default. None stands for "not set".
        properties: ours that it sets; none: the dialect reads the argument itself, or it has no effect.
        convert: makes the property's value; None as its result leaves the property alone.
        why_unused: why it has no effect; empty if it has one.
        older: whether only earlier versions of that client have it.
    """

    name: str
    meaning: str
    default: object
    properties: tuple[str, ...] = ()
    convert: Callable[[Any], object] | None = None
    why_unused: str = ""
    older: bool = False


def sets(
    name: str, default: object, properties: str, meaning: str, convert: Callable[[Any], object] | None = None
) -> Argument:
    """An argument that sets properties of ours (blanks between them)."""
    return Argument(name, meaning, default, tuple(properties.split()), convert)


def own(name: str, default: object, meaning: str) -> Argument:
    """An argument that the dialect itself uses."""
    return Argument(name, meaning, default)


def unused(name: str, default: object, meaning: str, why: str) -> Argument:
    """An argument that is accepted without effect."""
    return Argument(name, meaning, default, why_unused=why)


def older(name: str, default: object, meaning: str, why: str) -> Argument:
    """An argument of earlier versions, accepted without effect; it is not among the defaults."""
    return Argument(name, meaning, default, why_unused=why, older=True)


class Arguments:
    """The table of one class of a dialect.

    Args:
        rows: a row for each argument.
    """

    def __init__(self, rows: Sequence[Argument]) -> None:
        self.rows: Final = {row.name: row for row in rows}
        assert len(self.rows) == len(rows), "two rows have one name"
        self._said: set[str] = set()

    def defaults(self) -> dict[str, object]:
        """Every argument of today with its default, in the table's order."""
        return {name: row.default for name, row in self.rows.items() if not row.older}

    def unknown(self, given: Collection[str]) -> list[str]:
        """Names of which the table has no row."""
        return [name for name in given if name not in self.rows]

    def tell_unused(self, given: Mapping[str, object]) -> None:
        """Says, once per argument, that one which was set to something else than its default does nothing."""
        for name, value in given.items():
            row = self.rows[name]
            if row.why_unused and name not in self._said and value is not row.default and value != row.default:
                self._said.add(name)
                logger.info("%s has no effect: %s", name, row.why_unused)

    def properties(self, values: Mapping[str, object]) -> dict[str, object]:
        """The properties that these arguments set; an argument that is None sets none."""
        found: dict[str, object] = {}
        for name, row in self.rows.items():
            value = values.get(name)
            if row.properties and value is not None:
                value = value if row.convert is None else row.convert(value)
                if value is not None:
                    found.update(dict.fromkeys(row.properties, value))
        return found


# ---- ways to write a value


def addresses(value: str | Sequence[str]) -> str:
    """`host[:port]`, or a list of them, as one text; the port is 9092 if left out."""
    return value if isinstance(value, str) else ",".join(value)


def clamped(low: int, high: int) -> Callable[[float], int]:
    """A whole number within a property's range: what lies outside (infinity, too) becomes the nearest end."""

    def convert(value: float) -> int:
        return int(min(max(value, low), high))

    return convert


def host_check(value: bool) -> str:
    """`ssl_check_hostname` as ssl.endpoint.identification.algorithm."""
    return "https" if value else "none"


def tls_context(value: ssl.SSLContext) -> ssl.SSLContext:
    """A context as it is."""
    if not isinstance(value, ssl.SSLContext):
        raise TypeError(f"ssl_context must be an ssl.SSLContext, not {type(value).__name__}")
    return value
