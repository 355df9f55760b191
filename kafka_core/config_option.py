"""A row of the clients' table: its columns beside those that every property has, and short ways to write one.

Knows nothing of particular properties (config_table.py) or of parsing (config.py); see kserdes_base.config.properties.
Spec: the kinds of values librdkafka's CONFIGURATION.md knows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from kserdes_base.config.properties import Kind, Property

__all__ = ["Default", "Effect", "Kind", "Option", "Role"]


class Role(Enum):
    """The kind of client that a configuration is for."""

    PRODUCER = "producer"
    CONSUMER = "consumer"
    SHARE = "share consumer"
    ADMIN = "admin"


class Effect(Enum):
    """The effect of setting a property."""

    USED = "used"
    IGNORED = "accepted, no effect"
    REFUSED = "refused"


Default = int | float | bool | str | None
Roles = frozenset[Role]
ALL: Final = frozenset(Role)
P: Final = frozenset({Role.PRODUCER})
C: Final = frozenset({Role.CONSUMER})
S: Final = frozenset({Role.SHARE})
CS: Final = C | S
INT32_MAX: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Option(Property):
    """One property of a client.

    Attributes:
        loose: always: librdkafka takes every value as text.
        roles: the clients that use it.
        effect: what setting it does.
        why: for an effect other than USED: the reason, and what to use instead.
        producer_default: the producer's default where it differs.
    """

    loose: bool = True
    roles: Roles = ALL
    effect: Effect = Effect.USED
    why: str = ""
    producer_default: Default = None

    def default_for(self, role: Role) -> Default:
        """The default in a client of this role."""
        if role is Role.PRODUCER and self.producer_default is not None:
            return self.producer_default
        default: Default = self.default
        return default


def integer(
    name: str, default: int, low: int, high: int, doc: str, *, roles: Roles = ALL, aliases: tuple[str, ...] = ()
) -> Option:
    """A whole number from `low` to `high`."""
    return Option(name, Kind.INT, default, doc, bounds=(low, high), roles=roles, aliases=aliases)


def number(
    name: str, default: float, low: float, high: float, doc: str, *, roles: Roles = ALL, aliases: tuple[str, ...] = ()
) -> Option:
    """A number from `low` to `high` that may have a fraction."""
    return Option(name, Kind.FLOAT, default, doc, bounds=(low, high), roles=roles, aliases=aliases)


def flag(name: str, default: bool, doc: str, *, roles: Roles = ALL) -> Option:
    """True or false."""
    return Option(name, Kind.BOOL, default, doc, roles=roles)


def text(
    name: str,
    default: str | None,
    doc: str,
    *,
    roles: Roles = ALL,
    aliases: tuple[str, ...] = (),
    secret: bool = False,
) -> Option:
    """Any text; None means that it is not set."""
    return Option(name, Kind.STR, default, doc, roles=roles, aliases=aliases, secret=secret)


def choice(
    name: str, default: str, allowed: str, doc: str, *, roles: Roles = ALL, aliases: tuple[str, ...] = ()
) -> Option:
    """One word of `allowed` (blanks between them), in upper or lower case."""
    return Option(name, Kind.ENUM, default, doc, roles=roles, words=tuple(allowed.split()), aliases=aliases)


def words(
    name: str,
    default: str | None,
    allowed: str,
    doc: str,
    *,
    roles: Roles = ALL,
    aliases: tuple[str, ...] = (),
) -> Option:
    """Words with commas between them, or a Python list of them; any word where `allowed` is empty."""
    return Option(name, Kind.LIST, default, doc, roles=roles, words=tuple(allowed.split()), aliases=aliases)


def callback(name: str, doc: str, *, roles: Roles = ALL, aliases: tuple[str, ...] = ()) -> Option:
    """A callable or None."""
    return Option(name, Kind.CALLBACK, None, doc, roles=roles, aliases=aliases)


def unused(option: Option, why: str) -> Option:
    """The row as one that is accepted without effect."""
    return replace(option, effect=Effect.IGNORED, why=why)


def refused(option: Option, why: str) -> Option:
    """The row as one that is refused unless it has its default value."""
    return replace(option, effect=Effect.REFUSED, why=why)
