"""The options of the data source `kserdes` for writing, parsed and checked once.

Names and meanings are those of Spark's own Kafka sink where it has them. Must not know of Spark or open anything.
docs/configuration.md is generated from the table here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from kafka_core.config import Role
from kserdes_config.errors import PropertyError
from kserdes_config.properties import Kind, Property
from kserdes_config.table import Table
from pipeline.client_options import for_role
from pipeline.errors import OptionError
from pipeline.options import divide_options

__all__ = ["TABLE", "Encoding", "WriteOptions"]

FORMATS: Final = ("bytes", "avro", "json", "protobuf")
TABLE: Final = Table(
    (
        Property("topic", Kind.STR, None, "Where rows go; stands above a column `topic`."),
        Property(
            "value.format",
            Kind.ENUM,
            "bytes",
            "`bytes`: the column `value` is bytes or text. Else it is a struct, and encoded here.",
            words=FORMATS,
        ),
        Property("key.format", Kind.ENUM, "bytes", "The same of the key.", words=FORMATS),
        Property("value.subject", Kind.STR, None, "Subject of the values; default: the option `topic` and `-value`."),
        Property("key.subject", Kind.STR, None, "Subject of the keys; default: the option `topic` and `-key`."),
        Property(
            "value.schema",
            Kind.STR,
            None,
            "Text of the schema values are written with; default: the subject's newest, or with `autoRegister` one that"
            " is made of the column's type (Avro and JSON).",
        ),
        Property("key.schema", Kind.STR, None, "The same of the key."),
        Property("value.messageType", Kind.STR, "", "Full name of Protobuf's message type; default: the first."),
        Property("key.messageType", Kind.STR, "", "The same of the key."),
        Property(
            "autoRegister",
            Kind.BOOL,
            False,
            "Whether the driver registers the schema if the subject has it not; else it has to be there.",
            loose=True,
        ),
        Property(
            "delivery",
            Kind.ENUM,
            "at-least-once",
            "`at-least-once`: a task that is tried again writes its rows again.",
            words=("at-least-once", "exactly-once"),
        ),
        Property(
            "mode",
            Kind.ENUM,
            "FAILFAST",
            "What becomes of a row that can't be encoded: it stops the query, or goes to `deadLetterTopic`, as JSON.",
            words=("FAILFAST", "DEADLETTER"),
        ),
        Property("deadLetterTopic", Kind.STR, None, "Mode DEADLETTER: where rows that can't be encoded go."),
        Property(
            "timeoutSeconds",
            Kind.INT,
            120,
            "How long a task may wait for room or for its last records before it fails.",
            bounds=(1, 2**31 - 1),
            loose=True,
        ),
        Property("includeHeaders", Kind.BOOL, True, "Whether a column `headers` is written.", loose=True),
        Property("checkpointLocation", Kind.STR, None, "Spark's own: where a stream keeps its progress."),
        Property("queryName", Kind.STR, None, "Spark's own: the name of a stream."),
    ),
    noun="option",
    elsewhere={
        "path": 'save() takes no path: name the topic with the option "topic"',
        "subscribe": 'that is an option of reading: name where rows go with "topic"',
    },
)
"""The options of writing, beside those of the Kafka client (`kafka.…`) and of the registry (`schema.registry.…`)."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """How structs become keys or values.

    Attributes:
        subject: of their schema.
        format: AVRO, JSON or PROTOBUF.
        schema: its text; None for the newest, or one that is made of the column's type.
        message_type: Protobuf's; empty for the first.
    """

    subject: str
    format: str
    schema: str | None = None
    message_type: str = ""


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """Options of a write.

    Attributes:
        client: configuration of the Kafka client, from the options `kafka.…` (may hold secrets: never shown).
        registry: configuration of the registry client, from `schema.registry.…` (never shown either).
        topic: where all rows go; None: a column says.
        value, key: how they are encoded; None: not.
        auto_register: whether schemas are registered.
        dead_letter_topic: where rows go that can't be encoded; None: they stop the query.
        timeout_s: how long a task may make no progress.
        headers: whether headers are written.
    """

    client: Mapping[str, str] = field(repr=False)
    registry: Mapping[str, str] = field(default_factory=dict, repr=False)
    topic: str | None = None
    value: Encoding | None = None
    key: Encoding | None = None
    auto_register: bool = False
    dead_letter_topic: str | None = None
    timeout_s: float = 120.0
    headers: bool = True

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> WriteOptions:
        """Reads Spark's option map (names in any case).

        Raises:
            OptionError: an option is unknown, missing or ill-formed, or two are at odds.
        """
        try:
            client, registry, given = divide_options(options, TABLE)
            own = TABLE.read(given)
        except PropertyError as error:
            raise OptionError(
                str(error), property=error.property, accepted=error.accepted, nearest=error.nearest
            ) from None
        if own["delivery"] == "exactly-once":
            raise OptionError(
                'delivery="exactly-once" needs transactions, which this version\'s sink has not: rows are written at'
                " least once, so give each a key by which readers know it again",
                property="delivery",
            )
        if (own["mode"] == "DEADLETTER") != bool(own["deadLetterTopic"]):
            raise OptionError('mode DEADLETTER and the option "deadLetterTopic" need each other')
        value, key = _encoding(own, "value", registry), _encoding(own, "key", registry)
        if own["deadLetterTopic"] and value is None and key is None:
            raise OptionError('"deadLetterTopic" needs "value.format" or "key.format": bytes are written as they are')
        return cls(
            client=client,
            registry=registry,
            topic=own["topic"],
            value=value,
            key=key,
            auto_register=own["autoRegister"],
            dead_letter_topic=own["deadLetterTopic"],
            timeout_s=own["timeoutSeconds"],
            headers=own["includeHeaders"],
        )

    def producer_config(self) -> dict[str, object]:
        """Configuration of a task's producer: idempotent, unless `kafka.enable.idempotence` says otherwise."""
        return {"client.id": "kserdes-spark-sink", **for_role(self.client, Role.PRODUCER)}


def _encoding(own: Mapping[str, Any], field: str, registry: Mapping[str, str]) -> Encoding | None:
    wanted: str = own[f"{field}.format"]
    if wanted == "bytes":
        for name in ("subject", "schema", "messageType"):
            if own[f"{field}.{name}"]:
                raise OptionError(f'option "{field}.{name}" needs "{field}.format": {field}s are bytes otherwise')
        return None
    if "url" not in registry:
        name = "schema.registry.url"
        raise OptionError(f'option "{field}.format" needs "{name}": where the schemas are', property=name)
    subject: str | None = own[f"{field}.subject"]
    if subject is None:
        if own["topic"] is None:
            raise OptionError(f'option "{field}.subject" is needed where a column names the topic')
        subject = f"{own['topic']}-{field}"
    return Encoding(subject, wanted.upper(), own[f"{field}.schema"], own[f"{field}.messageType"] or "")
