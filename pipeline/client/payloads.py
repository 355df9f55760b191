"""Common options of reading and writing: three kinds of names, and structs made of keys and values.

Must not know of Spark, of what is read or written, or open anything. docs/configuration.md is generated from the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from kserdes_base.config.errors import PropertyError
from kserdes_base.config.properties import Kind, Property
from kserdes_base.config.table import Table
from pipeline.client.options import PREFIX, client_properties
from pipeline.errors import OptionError

FIELDS: Final = ("value", "key")
FORMATS: Final = ("bytes", "avro", "json", "protobuf")
REGISTRY_PREFIX: Final = "schema.registry."
TABLES_OWN: Final = "provider"
"""The option that Spark adds to those of a `CREATE TABLE … USING`."""


def payload_rows(
    bytes_or_struct: str, formats: tuple[str, ...], default_topic: str, unnamed: str, words: tuple[str, ...]
) -> tuple[Property, ...]:
    """The options that say how keys and values become structs, or structs keys and values.

    Args:
        bytes_or_struct: what `value.format` does, for the documentation.
        formats: its words.
        default_topic: which topic gives the subject its name if no option does, in words.
        unnamed: what becomes of members of JSON objects that the schema does not name, in words.
        words: of the option that says so.
    """
    return (
        Property("value.format", Kind.ENUM, "bytes", bytes_or_struct, words=formats),
        Property("key.format", Kind.ENUM, "bytes", "The same of the key.", words=formats),
        *(
            Property(
                f"{field}.subject", Kind.STR, None, f"Subject of the {field}s; default: {default_topic} and `-{field}`."
            )
            for field in FIELDS
        ),
        Property("value.messageType", Kind.STR, "", "Full name of Protobuf's message type; default: the first."),
        Property("key.messageType", Kind.STR, "", "The same of the key."),
        Property("value.unnamed", Kind.ENUM, None, unnamed, words=words),
        Property("key.unnamed", Kind.ENUM, None, "The same of the key.", words=words),
    )


@dataclass(frozen=True, slots=True)
class Payload:
    """Options shared by decoding and encoding of keys or values.

    Attributes:
        subject: of their schemas; empty where neither an option nor a topic names one.
        format: AVRO, JSON or PROTOBUF; empty for the subject's own (reading).
        message_type: Protobuf's; empty for the first.
        unnamed: what becomes of members of JSON objects that the schema does not name; None for the default.
    """

    subject: str
    format: str = ""
    message_type: str = ""
    unnamed: Any = None


def payload_of(
    own: Mapping[str, Any],
    field: str,
    registry: Mapping[str, str],
    topic: Callable[[], str] | None,
    others: tuple[str, ...],
) -> Payload | None:
    """The options of keys or of values; None: they are bytes.

    Args:
        own: the options, read.
        field: `key` or `value`.
        registry: configuration of the registry client.
        topic: gives the topic that names the subject if no option does, or raises; None: the caller names it.
        others: further options that mean nothing of bytes, without the name of the field.

    Raises:
        OptionError: options that need a format stand without one, or a format without a registry.
    """
    wanted: str = own[f"{field}.format"]
    if wanted == "bytes":
        for name in ("subject", "messageType", "unnamed", *others):
            if own.get(f"{field}.{name}"):
                text = f'option "{field}.{name}" needs "{field}.format": {field}s are bytes otherwise'
                raise OptionError(text, property=f"{field}.{name}")
        return None
    if "url" not in registry:
        name = f"{REGISTRY_PREFIX}url"
        raise OptionError(f'option "{field}.format" needs "{name}": where the schemas are', property=name)
    subject: str | None = own[f"{field}.subject"]
    if subject is None and topic is not None:
        subject = f"{topic()}-{field}"
    kind = "" if wanted == "auto" else wanted.upper()
    return Payload(subject or "", kind, own[f"{field}.messageType"] or "", own[f"{field}.unnamed"])


def check_letters(own: Mapping[str, Any], *, structs: bool) -> None:
    """Refuses a dead-letter topic without its mode, the mode without its topic, and either where nothing can be bad.

    Args:
        own: the options, read.
        structs: whether keys or values become structs, or structs keys and values.

    Raises:
        OptionError: they don't fit.
    """
    if (own["mode"] == "DEADLETTER") != bool(own["deadLetterTopic"]):
        raise OptionError('mode DEADLETTER and the option "deadLetterTopic" need each other')
    if own["deadLetterTopic"] and not structs:
        raise OptionError('"deadLetterTopic" needs "value.format" or "key.format": bytes are never bad')


class Divided(NamedTuple):
    """Spark's option map, divided: configuration of the two clients (prefixes cut off), and our own options, read."""

    client: dict[str, str]
    registry: dict[str, str]
    own: dict[str, Any]


def read_table(options: Mapping[str, str], table: Table[Property]) -> Divided:
    """Reads Spark's option map (names in any case).

    Raises:
        OptionError: an option is unknown or ill-formed, or there is no broker to go to.
    """
    if TABLES_OWN in options:
        raise OptionError(
            "a topic can't be a table of Spark's catalog, which gives Python none of its options when it is read: use"
            " CREATE TEMPORARY VIEW … USING kserdes OPTIONS (…), or createOrReplaceTempView of a loaded frame"
        )
    client: dict[str, str] = {}
    registry: dict[str, str] = {}
    own: dict[str, str] = {}
    by_lower = {name.lower(): name for name in table.by_name}
    for name, value in options.items():
        lower = name.lower()
        if lower.startswith(PREFIX):
            client[lower.removeprefix(PREFIX)] = value
        elif lower.startswith(REGISTRY_PREFIX):
            registry[lower.removeprefix(REGISTRY_PREFIX)] = value
        else:
            own[by_lower.get(lower, name)] = value
    try:
        properties = client_properties(client)
        if "bootstrap.servers" not in properties:
            needed = "kafka.bootstrap.servers"
            raise PropertyError(f'option "{needed}" is needed: host:port of a broker', property=needed)
        return Divided(properties, registry, table.read(own))
    except PropertyError as error:
        raise OptionError(str(error), property=error.property, accepted=error.accepted, nearest=error.nearest) from None
