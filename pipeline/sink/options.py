"""The options of the data source `kserdes` for writing, parsed and checked once.

Names and meanings are those of Spark's own Kafka sink where it has them. Must not know of Spark or open anything.
docs/configuration.md is generated from the table here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from kafka_core.config import Role
from kafka_core.config_table import TABLE as CLIENT
from kserdes_base.config.properties import Kind, Property
from kserdes_base.config.reading import value_of
from kserdes_base.config.table import Table
from pipeline.client.options import PREFIX, for_role
from pipeline.client.payloads import FORMATS, check_letters, payload_of, payload_rows, read_table
from pipeline.errors import OptionError

STRATEGIES: Final = ("topic", "record", "topic_record")
EXACTLY_ONCE: Final = "exactly-once"
IDEMPOTENCE: Final = "enable.idempotence"
TRANSACTION_MS: Final = 300_000
"""A task's rows come when Spark has them, so a transaction may take longer than a client's own would."""
TABLE: Final = Table(
    (
        Property("topic", Kind.STR, None, "Topic of all rows; overrides a column `topic`."),
        *payload_rows(
            "`bytes`: the column `value` is bytes or text. Otherwise it is a struct, and encoded here.",
            FORMATS,
            "that of `value.strategy`",
            "`map`: the entries of a map `additionalProperties` in the struct are members of the JSON object itself, as"
            " reading with `value.unnamed` = `map` makes them; default: the map is a member.",
            ("map",),
        ),
        Property(
            "value.strategy",
            Kind.ENUM,
            None,
            "Strategy for the subject of the values without `value.subject`: by their topic (the option `topic`, "
            "or the column of each row) and `-value`, by the schema's record, or by both; default: `topic`.",
            words=STRATEGIES,
        ),
        Property("key.strategy", Kind.ENUM, None, "The same of the key.", words=STRATEGIES),
        Property(
            "value.schema",
            Kind.STR,
            None,
            "Text of the schema values are written with; default: the subject's newest, or with `autoRegister` "
            "one made of the column's type (Avro and JSON).",
        ),
        Property("key.schema", Kind.STR, None, "The same of the key."),
        Property(
            "autoRegister",
            Kind.BOOL,
            False,
            "Whether the driver registers a schema that the subject lacks; otherwise it has to be there.",
            loose=True,
        ),
        Property(
            "delivery",
            Kind.ENUM,
            "at-least-once",
            "`at-least-once`: a task that is tried again writes its rows again. `exactly-once`: each task writes in a"
            " transaction, and readers with `read_committed` see every row once.",
            words=("at-least-once", EXACTLY_ONCE),
        ),
        Property(
            "deliveryId",
            Kind.STR,
            None,
            "Batches with `exactly-once`: a name for the delivery, the same when the job is run again and a new "
            "one for other rows; tasks that have written under this name do not write again. Default: a new one "
            "for each write, so that only tries within a job are known.",
        ),
        Property(
            "mode",
            Kind.ENUM,
            "FAILFAST",
            "Treatment of a row that can't be encoded: it stops the query, or goes to `deadLetterTopic`, as JSON.",
            words=("FAILFAST", "DEADLETTER"),
        ),
        Property("deadLetterTopic", Kind.STR, None, "Mode DEADLETTER: topic for rows that can't be encoded."),
        Property(
            "timeoutSeconds",
            Kind.INT,
            120,
            "Longest wait of a task for room or for its last records before it fails.",
            bounds=(1, 2**31 - 1),
            loose=True,
        ),
        Property("includeHeaders", Kind.BOOL, True, "Whether a column `headers` is written.", loose=True),
        Property("checkpointLocation", Kind.STR, None, "Spark's own: where a stream keeps its progress."),
        Property("queryName", Kind.STR, None, "Spark's own: the name of a stream."),
    ),
    unknown="unknown option {!r}",
    elsewhere={
        "path": 'save() takes no path: name the topic with the option "topic"',
        "subscribe": 'that is an option of reading: name where rows go with "topic"',
    },
)
"""The options of writing, beside those of the Kafka client (`kafka.…`) and of the registry (`schema.registry.…`)."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """Options of encoding structs as keys or values.

    Attributes:
        subject: of their schema; empty where `strategy` names it.
        format: AVRO, JSON or PROTOBUF.
        schema: its text; None for the newest, or one that is made of the column's type.
        message_type: Protobuf's; empty for the first.
        strategy: how topics and records name subjects.
        unnamed: whether entries of a map `additionalProperties` are members of JSON objects.
    """

    subject: str
    format: str
    schema: str | None = None
    message_type: str = ""
    strategy: str = "topic"
    unnamed: Literal["map"] | None = None


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
        exactly_once: whether tasks write in transactions.
        delivery_id: what a batch is called in all its tries; None: no other run of the job knows it.
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
    exactly_once: bool = False
    delivery_id: str | None = None
    timeout_s: float = 120.0
    headers: bool = True

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> WriteOptions:
        """Reads Spark's option map (names in any case).

        Raises:
            OptionError: an option is unknown, missing or ill-formed, or two are at odds.
        """
        client, registry, own = read_table(options, TABLE)
        exactly_once = own["delivery"] == EXACTLY_ONCE
        if own["deliveryId"] is not None and not exactly_once:
            raise OptionError(f'option "deliveryId" needs "delivery" to be "{EXACTLY_ONCE}"', property="deliveryId")
        if exactly_once and value_of(CLIENT.find(IDEMPOTENCE), client.get(IDEMPOTENCE, "true"), IDEMPOTENCE) is False:
            name = f"{PREFIX}{IDEMPOTENCE}"
            raise OptionError(f'delivery "{EXACTLY_ONCE}" and "{name}" = false are at odds', property=name)
        value, key = _encoding(own, "value", registry), _encoding(own, "key", registry)
        check_letters(own, structs=value is not None or key is not None)
        return cls(
            client=client,
            registry=registry,
            topic=own["topic"],
            value=value,
            key=key,
            auto_register=own["autoRegister"],
            dead_letter_topic=own["deadLetterTopic"],
            exactly_once=exactly_once,
            delivery_id=own["deliveryId"],
            timeout_s=own["timeoutSeconds"],
            headers=own["includeHeaders"],
        )

    def producer_config(self) -> dict[str, object]:
        """Configuration of a task's producer: idempotent, unless `kafka.enable.idempotence` says otherwise."""
        own: dict[str, object] = {"client.id": "kserdes-spark-sink"}
        if self.exactly_once:
            own["transaction.timeout.ms"] = TRANSACTION_MS
        return own | for_role(self.client, Role.PRODUCER)

    def admin_config(self) -> dict[str, object]:
        """Configuration of the client that reads records already written."""
        return {"client.id": "kserdes-spark-sink", **for_role(self.client, Role.ADMIN)}


def _encoding(own: Mapping[str, Any], field: str, registry: Mapping[str, str]) -> Encoding | None:
    payload = payload_of(own, field, registry, None, ("schema", "strategy"))
    if payload is None:
        return None
    strategy = own[f"{field}.strategy"]
    if payload.subject and strategy is not None:
        text = f'options "{field}.subject" and "{field}.strategy" are at odds: one of them names the subject'
        raise OptionError(text, property=f"{field}.strategy")
    schema = own[f"{field}.schema"]
    return Encoding(payload.subject, payload.format, schema, payload.message_type, strategy or "topic", payload.unnamed)
