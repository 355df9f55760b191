"""Writes docs/configuration.md from the four tables: the client's, the registry client's, the serializers', Spark's.

Knows nothing of clients. Truth: the tables; what librdkafka does otherwise stands in the rows' texts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from kafka_core.config_option import Effect, Option, Role
from kafka_core.config_table import OPTIONS, SECTIONS
from kserdes_base.config.properties import Kind, Property
from kserdes_base.config.reading import accepted
from pipeline.sink.options import TABLE as SPARK_WRITE
from pipeline.source.options import TABLE as SPARK_READ
from registry.client.config_table import TABLE as REGISTRY
from serdes import options as serializers
from tools.pages import ROOT, write_or_check

TARGET = ROOT / "docs" / "configuration.md"

HEAD = """<!-- Written by tools/generate_config_docs.py from the tables; do not edit. -->

# Configuration

Four things are configured by properties: [Kafka clients](#kafka-clients), [the registry client](#registry-client),
[serializers](#serializers) and [Spark's data source](#spark). A property that does not exist is refused with the
nearest name, a value that does not do with what is accepted and what was given. The error is a `PropertyError` (of
`kserdes`; a `ValueError`), of a client also a `KafkaException` (`ConfigError`), of Spark also a `PipelineError`
(`OptionError`); a value of a wrong type is a `TypeError` too, except in these two. Its attributes are `property`,
`accepted` and `nearest`. Secrets are never logged or shown.
"""

CLIENTS = """## Kafka clients

Clients take a dict of these properties; names, types and ranges are librdkafka's, so a configuration of
confluent_kafka works as it is. Numbers and booleans may be given as text (`"5"`, `"true"`), lists as text with commas
or as Python lists. Topic properties may also stand in a nested `default.topic.config`.

A property of another role (a consumer's in a producer) is checked, logged once at WARNING, and has no effect.
A property under "Accepted without effect" is logged once at INFO by the logger `kafka_core`.

Roles: P producer, C consumer, S share consumer, A admin.
"""

REGISTRY_CLIENT = """## Registry client

`SchemaRegistryClient` and `AsyncSchemaRegistryClient` take a dict of these; `url` is needed. None stands for the
default.
"""

SERIALIZERS = """## Serializers

The argument `conf` of serializers and deserializers.
"""

SOURCE = """## Spark

Options of the data source `kserdes`, in upper or lower case. Every `kafka.…` option is a property of the
[Kafka client](#kafka-clients), in librdkafka's name or in Java's (`kafka.sasl.jaas.config` too);
`kafka.bootstrap.servers` is needed, and `kafka.auto.offset.reset` and `kafka.enable.auto.commit` are refused: offsets
are planned by the driver. Every `schema.registry.…` option is a property of the
[registry client](#registry-client).
"""

FORMATS = (
    ("All serializers", serializers.WRITE),
    ("All deserializers", serializers.READ),
    ("AvroSerializer", serializers.AVRO_WRITE),
    ("AvroDeserializer", serializers.AVRO_READ),
    ("JSONSerializer and JSONDeserializer", serializers.JSON),
    ("ProtobufSerializer", serializers.PROTOBUF_WRITE),
    ("ProtobufDeserializer", serializers.PROTOBUF_READ),
)


def shown_default(row: Property) -> str:
    """The default as a user would write it."""
    if row.default is None or row.default == "":
        return ""
    if callable(row.default):
        return f"`{row.default.__name__}`"
    value = str(row.default).lower() if row.kind is Kind.BOOL else f"{row.default}"
    if isinstance(row, Option) and row.producer_default is not None:
        return f"`{value}` (P: `{str(row.producer_default).lower()}`)"
    if row.kind is Kind.FLOAT:
        value = f"{row.default:g}"
    return f"`{value}`"


def line(row: Property, *more: str) -> str:
    """A line of a table of properties that do something."""
    aliases = f" Also: {', '.join(f'`{alias}`' for alias in row.aliases)}." if row.aliases else ""
    secret = " Secret." if row.secret else ""
    doc = f"{row.doc}{aliases}{secret}".replace("|", "\\|")
    return " | ".join((f"| `{row.name}`", *more, accepted(row), shown_default(row), f"{doc} |"))


def table(rows: Iterable[Property]) -> list[str]:
    """A table of properties."""
    return ["| property | value | default | |", "|---|---|---|---|", *map(line, rows), ""]


def short_line(option: Option) -> str:
    """A line of the tables of properties that do nothing, or are refused."""
    names = ", ".join(f"`{name}`" for name in (option.name, *option.aliases))
    return f"| {names} | {option.why} |"


def roles(option: Option) -> str:
    """The initials of the clients that use a property."""
    return "".join(role.value[0].upper() for role in Role if role in option.roles)


def clients() -> list[str]:
    """The lines on Kafka clients."""
    lines = [CLIENTS]
    for title, section in SECTIONS:
        used = [option for option in section if option.effect is Effect.USED]
        lines += [f"### {title}", "", "| property | roles | value | default | |", "|---|---|---|---|---|"]
        lines += [*(line(option, roles(option)) for option in used), ""]
    for title, effect, heading in (
        ("Accepted without effect", Effect.IGNORED, "why"),
        ("Refused", Effect.REFUSED, "why, and what to do instead"),
    ):
        lines += [f"### {title}", "", f"| property | {heading} |", "|---|---|"]
        lines += [*(short_line(option) for option in OPTIONS if option.effect is effect), ""]
    return [*lines, f"{len(OPTIONS)} properties.\n"]


def render() -> str:
    """The whole page."""
    lines = [HEAD, *clients(), REGISTRY_CLIENT, *table(REGISTRY.rows), SERIALIZERS]
    for title, rows in FORMATS:
        lines += [f"### {title}", "", *table(rows)]
    lines += [SOURCE, "### Reading", "", *table(SPARK_READ.rows), "### Writing", "", *table(SPARK_WRITE.rows)]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(write_or_check(TARGET, render()))
