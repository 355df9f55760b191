"""Writes docs/configuration.md from the table in kafka_core/config_table.py.

Knows nothing of clients. Truth: the table; what librdkafka does otherwise stands in the rows' texts.
"""

from __future__ import annotations

import sys

from kafka_core.config import allowed
from kafka_core.config_option import Effect, Kind, Option, Role
from kafka_core.config_table import OPTIONS, SECTIONS
from tools.pages import ROOT, write_or_check

TARGET = ROOT / "docs" / "configuration.md"

HEAD = """<!-- Written by tools/generate_config_docs.py from kafka_core/config_table.py; do not edit. -->

# Configuration

Clients take a dict of these properties; names, types and ranges are librdkafka's, so a configuration of
confluent_kafka works as it is. Numbers and booleans may be given as text (`"5"`, `"true"`), lists as text with commas
or as Python lists. A property that does not exist, or a value that is not allowed, is refused with `ConfigError`
(which is a `KafkaException` and a `ValueError`) and the nearest name. Topic properties may also stand in a nested
`default.topic.config`.

A property of another role (a consumer's in a producer) is checked, logged once at WARNING, and has no effect.
A property under "Accepted without effect" is logged once at INFO by the logger `kafka_core`.
Secrets are never logged or shown.

Roles: P producer, C consumer, A admin.
"""


def shown_default(option: Option) -> str:
    """The default as a user would write it."""
    if option.default is None:
        return ""
    value = str(option.default).lower() if option.kind is Kind.BOOL else f"{option.default}"
    if option.producer_default is not None:
        return f"`{value}` (P: `{str(option.producer_default).lower()}`)"
    if option.kind is Kind.FLOAT:
        value = f"{option.default:g}"
    return f"`{value}`"


def row(option: Option) -> str:
    """A line of the table of properties that do something."""
    roles = "".join(role.value[0].upper() for role in Role if role in option.roles)
    aliases = f" Also: {', '.join(f'`{alias}`' for alias in option.aliases)}." if option.aliases else ""
    secret = " Secret." if option.secret else ""
    doc = f"{option.doc}{aliases}{secret}".replace("|", "\\|")
    return f"| `{option.name}` | {roles} | {allowed(option)} | {shown_default(option)} | {doc} |"


def short_row(option: Option) -> str:
    """A line of the tables of properties that do nothing, or are refused."""
    names = ", ".join(f"`{name}`" for name in (option.name, *option.aliases))
    return f"| {names} | {option.why} |"


def render() -> str:
    """The whole page."""
    lines = [HEAD]
    for title, section in SECTIONS:
        lines += [f"## {title}", "", "| property | roles | value | default | |", "|---|---|---|---|---|"]
        lines += [*(row(option) for option in section if option.effect is Effect.USED), ""]
    for title, effect, heading in (
        ("Accepted without effect", Effect.IGNORED, "why"),
        ("Refused", Effect.REFUSED, "why, and what to do instead"),
    ):
        lines += [f"## {title}", "", f"| property | {heading} |", "|---|---|"]
        lines += [*(short_row(option) for option in OPTIONS if option.effect is effect), ""]
    lines.append(f"{len(OPTIONS)} properties.\n")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(write_or_check(TARGET, render()))
