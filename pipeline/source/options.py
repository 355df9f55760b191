"""The options of the data source `kserdes` for reading, parsed and checked once.

Names and meanings are those of Spark's own Kafka source where it has them. Must not know of Spark or open anything.
docs/configuration.md is generated from the table here.
Source: https://spark.apache.org/docs/latest/structured-streaming-kafka-integration.html.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from kafka_core.config import Role
from kserdes_base.config.properties import Kind, Property
from kserdes_base.config.reading import split
from kserdes_base.config.table import Table
from pipeline.client.options import for_role
from pipeline.client.payloads import FORMATS, check_letters, payload_of, payload_rows, read_table
from pipeline.errors import OptionError
from pipeline.source.splits import EARLIEST, LATEST, Offsets, offsets_from_json

MOST: Final = 2**31 - 1
MOST_LONG: Final = 2**63 - 1
MOST_BATCH_BYTES: Final = 64 * 2**20
OFFSETS: Final = 'or JSON: `{"flights": {"0": 123, "1": -2}}`'
TIMES: Final = 'JSON: `{"flights": {"0": 1700000000000}}`, milliseconds since 1970'
NO_EFFECT: Final = "Accepted for compatibility with Spark's source, without effect: "
DURATION: Final = re.compile(r"\s*(\d+)\s*(us|ms|s|m|min|h|d)?\s*", re.ASCII)
UNIT_S: Final = {None: 0.001, "us": 1e-6, "ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}

SELECTION: Final = (
    Property("subscribe", Kind.LIST, None, "Topics to read.", takes="topics with commas between them"),
    Property(
        "subscribePattern",
        Kind.STR,
        None,
        "Topics to read: those with a match anywhere in their name (`^` and `$` bind it to the ends), as in Spark; a"
        " stream picks up topics that come later.",
        takes="a regular expression",
    ),
    Property(
        "assign", Kind.STR, None, 'Partitions to read: `{"flights": [0, 1]}`.', takes="JSON: topics and partitions"
    ),
)
WHERE: Final = (
    Property(
        "startingOffsets",
        Kind.STR,
        None,
        f"Where to begin: `earliest`, `latest` (streams only) {OFFSETS}, where -2 is the earliest offset and -1 the"
        " latest. Default: `earliest`, of a stream `latest`. A stream that has a checkpoint goes on from there.",
    ),
    Property(
        "endingOffsets",
        Kind.STR,
        None,
        f"Where a batch read ends, exclusive: `latest` (default) {OFFSETS}, where -1 is the latest offset.",
    ),
    Property("startingTimestamp", Kind.INT, None, "Begin at this time, ms since 1970.", (0, MOST_LONG), loose=True),
    Property("endingTimestamp", Kind.INT, None, "End before this time, ms since 1970.", (0, MOST_LONG), loose=True),
    Property("startingOffsetsByTimestamp", Kind.STR, None, f"Begin at these times: {TIMES}.", takes="JSON of times"),
    Property("endingOffsetsByTimestamp", Kind.STR, None, f"End before these times: {TIMES}.", takes="JSON of times"),
    Property(
        "startingOffsetsByTimestampStrategy",
        Kind.ENUM,
        "error",
        "Effect if no record is as young as the starting time: the read fails, or begins at the end.",
        words=("error", "latest"),
    ),
)
SIZES: Final = (
    Property(
        "minPartitions",
        Kind.INT,
        None,
        "Least number of tasks: large ranges are divided.",
        (1, MOST),
        loose=True,
    ),
    Property(
        "maxRecordsPerPartition",
        Kind.INT,
        None,
        "Most offsets of one task: larger ranges are divided.",
        (1, MOST_LONG),
        loose=True,
    ),
    Property("rowsPerBatch", Kind.INT, 50_000, "Most rows of one Arrow batch.", bounds=(1, MOST), loose=True),
    Property(
        "bytesPerBatch",
        Kind.INT,
        32 * 2**20,
        "Most bytes of one Arrow batch; one row is always taken.",
        bounds=(1, MOST_BATCH_BYTES),
        loose=True,
    ),
    Property("includeHeaders", Kind.BOOL, False, "Whether there is a column `headers`.", loose=True),
)
TROUBLE: Final = (
    Property(
        "failOnDataLoss",
        Kind.BOOL,
        True,
        "Whether lost offsets and partitions stop the query; otherwise the remaining ones are read.",
        loose=True,
    ),
    Property(
        "timeoutSeconds",
        Kind.INT,
        60,
        "Longest wait of planning for the cluster, and longest time of a read without progress, before it fails.",
        bounds=(1, MOST),
        loose=True,
    ),
    Property(
        "kafkaConsumer.pollTimeoutMs",
        Kind.INT,
        None,
        "Longest time of a read without progress, in ms; overrides `timeoutSeconds`.",
        (1, MOST),
        loose=True,
    ),
    Property(
        "fetchOffset.numRetries", Kind.INT, None, f"{NO_EFFECT}the client tries again itself.", (0, MOST), loose=True
    ),
    Property(
        "fetchOffset.retryIntervalMs",
        Kind.INT,
        None,
        f"{NO_EFFECT}the client tries again itself.",
        (0, MOST),
        loose=True,
    ),
    Property(
        "groupIdPrefix",
        Kind.STR,
        "kserdes-source",
        "Beginning of the group name that brokers see in authorization; no group is joined. `kafka.group.id` gives the"
        " whole name.",
    ),
    Property(
        "pushFilters",
        Kind.BOOL,
        False,
        "Whether filters on `topic`, `partition`, `offset` and `timestamp` narrow the fetched range; needs "
        "`spark.sql.python.filterPushdown.enabled`.",
        loose=True,
    ),
)
STREAM: Final = (
    Property(
        "maxOffsetsPerTrigger",
        Kind.INT,
        None,
        "Most offsets of one batch of a stream, divided by lag; a partition with a lag gets at least one.",
        (1, MOST_LONG),
        loose=True,
    ),
    Property(
        "minOffsetsPerTrigger",
        Kind.INT,
        None,
        "Offsets that a batch of a stream waits for, at most for `maxTriggerDelay`.",
        (1, MOST_LONG),
        loose=True,
    ),
    Property("maxTriggerDelay", Kind.STR, "15m", "See `minOffsetsPerTrigger`.", takes="a time such as 90s, 15m or 1h"),
    Property(
        "maxBytesPerTrigger",
        Kind.INT,
        None,
        "Approximate bytes of one batch of a stream: records at the beginning of each range are measured.",
        (1, MOST_LONG),
        loose=True,
    ),
    Property(
        "checkTopicIds",
        Kind.BOOL,
        True,
        "Whether a stream's checkpoint keeps the ids of topics, so that a topic that was deleted and created again is"
        " known after a restart, too. If not, its offsets are Spark's own JSON, and hold for any topic of the name.",
        loose=True,
    ),
    Property(
        "commitProgressToGroup",
        Kind.STR,
        None,
        "Group to which a stream commits its progress, for tools that show lag; it never reads from there.",
        takes="the name of a group",
    ),
    Property(
        "evolution",
        Kind.ENUM,
        "ignore",
        "Reaction of a stream to a newer version of the subject than its columns were made of: it goes on, or "
        "stops between two batches, so that a restart has the new columns.",
        words=("ignore", "restart"),
    ),
)
DECODING: Final = (
    *payload_rows(
        "`bytes`: the value as it is. Otherwise it is decoded here, to a struct; `auto`: in the subject's format.",
        (FORMATS[0], "auto", *FORMATS[1:]),
        "the one topic",
        "Treatment of members of JSON objects that the schema does not name: `skip` them (default), `refuse` "
        "their rows, or keep them in a `map`: objects that admit them have one more field, "
        "`additionalProperties`.",
        ("skip", "refuse", "map"),
    ),
    Property(
        "value.columns",
        Kind.LIST,
        None,
        "The fields to decode; the rest is skipped.",
        takes="paths with commas between them, as `id,address.city`",
    ),
    Property("key.columns", Kind.LIST, None, "The same of the key.", takes="paths with commas between them"),
    Property("value.readerSchema", Kind.STR, None, "Text of the schema that values are read as; default: the newest."),
    Property(
        "mode",
        Kind.ENUM,
        "FAILFAST",
        "Treatment of a payload that can't be decoded: it stops the query, is null, or goes to `deadLetterTopic` "
        "and is left out.",
        words=("FAILFAST", "PERMISSIVE", "DEADLETTER"),
    ),
    Property("errorField", Kind.STR, None, "Mode PERMISSIVE: name of a column with the reason, null for good rows."),
    Property("deadLetterTopic", Kind.STR, None, "Mode DEADLETTER: topic for records that can't be decoded."),
)
TABLE: Final = Table(
    (*SELECTION, *WHERE, *SIZES, *TROUBLE, *STREAM, *DECODING),
    unknown="unknown option {!r}",
    elsewhere={
        "path": 'load() takes no path: name the topic with the option "subscribe"',
        "topic": 'that is an option of writing: name what is read with "subscribe"',
        "url": 'the registry\'s address is the option "schema.registry.url"',
    },
)
"""The options of reading, beside those of the Kafka client (`kafka.…`) and of the registry (`schema.registry.…`)."""


@dataclass(frozen=True, slots=True)
class Named:
    """Topics by name."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pattern:
    """All topics with a match anywhere in their name, internal ones left out."""

    text: str


@dataclass(frozen=True, slots=True)
class Assigned:
    """These partitions."""

    partitions: Mapping[str, tuple[int, ...]]


Topics: TypeAlias = Named | Pattern | Assigned


@dataclass(frozen=True, slots=True)
class Bound:
    """The beginning or end of a read.

    Attributes:
        word: `EARLIEST` or `LATEST`, for partitions that nothing else is said of; None: the default of the read.
        offsets: offsets, which may be `EARLIEST` or `LATEST`.
        times: milliseconds since 1970, for partitions.
        time_ms: the same for all partitions.
    """

    word: int | None = None
    offsets: Offsets = field(default_factory=dict)
    times: Offsets = field(default_factory=dict)
    time_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Decoding:
    """Options of decoding keys or values into structs.

    Attributes:
        subject: their subject.
        format: AVRO, JSON or PROTOBUF; empty for the subject's own.
        columns: the fields to decode, None for all.
        reader_schema: text of the schema they are read as, None for the newest.
        message_type: Protobuf's; empty for the first.
        unnamed: what becomes of members of JSON objects that the schema does not name.
    """

    subject: str
    format: str = ""
    columns: tuple[str, ...] | None = None
    reader_schema: str | None = None
    message_type: str = ""
    unnamed: Literal["skip", "refuse", "map"] = "skip"


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options of a read.

    Attributes:
        client: configuration of the Kafka client, from the options `kafka.…` (may hold secrets: never shown).
        registry: configuration of the registry client, from `schema.registry.…` (never shown either).
        topics: to read.
        starting: where it begins.
        ending: where it ends.
        value, key: how they are decoded; None: not.
        mode: `FAILFAST`, `PERMISSIVE` or `DEADLETTER`.

    The others are the options of the same names: see `TABLE`.
    """

    client: Mapping[str, str] = field(repr=False)
    topics: Topics
    starting: Bound
    ending: Bound
    registry: Mapping[str, str] = field(default_factory=dict, repr=False)
    latest_if_too_young: bool = False
    min_partitions: int | None = None
    max_records_per_partition: int | None = None
    include_headers: bool = False
    fail_on_data_loss: bool = True
    check_topic_ids: bool = True
    push_filters: bool = False
    group_id_prefix: str = "kserdes-source"
    timeout_s: float = 60.0
    idle_s: float = 60.0
    rows_per_batch: int = 50_000
    bytes_per_batch: int = 32 * 2**20
    max_offsets_per_trigger: int | None = None
    min_offsets_per_trigger: int | None = None
    max_bytes_per_trigger: int | None = None
    max_trigger_delay_s: float = 900.0
    commit_progress_to_group: str | None = None
    stop_on_evolution: bool = False
    value: Decoding | None = None
    key: Decoding | None = None
    mode: str = "FAILFAST"
    error_field: str | None = None
    dead_letter_topic: str | None = None

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> ReadOptions:
        """Reads Spark's option map (names in any case).

        What only a batch or only a stream refuses is checked by `check_batch` and `check_stream`.

        Raises:
            OptionError: an option is unknown, missing or ill-formed, or two are at odds.
        """
        client, registry, own = read_table(options, TABLE)
        topics = _topics(own)
        timeout_s: float = own["timeoutSeconds"]
        idle_ms: int | None = own["kafkaConsumer.pollTimeoutMs"]
        mode, dead_letter_topic = own["mode"], own["deadLetterTopic"]
        value, key = _decoding(own, "value", topics, registry), _decoding(own, "key", topics, registry)
        _check_mode(own, decoded=value is not None or key is not None)
        return cls(
            client=client,
            registry=registry,
            topics=topics,
            starting=_bound(own, "starting", topics),
            ending=_bound(own, "ending", topics),
            latest_if_too_young=own["startingOffsetsByTimestampStrategy"] == "latest",
            min_partitions=own["minPartitions"],
            max_records_per_partition=own["maxRecordsPerPartition"],
            include_headers=own["includeHeaders"],
            fail_on_data_loss=own["failOnDataLoss"],
            check_topic_ids=own["checkTopicIds"],
            push_filters=own["pushFilters"],
            group_id_prefix=own["groupIdPrefix"],
            timeout_s=timeout_s,
            idle_s=timeout_s if idle_ms is None else idle_ms / 1000,
            rows_per_batch=own["rowsPerBatch"],
            bytes_per_batch=own["bytesPerBatch"],
            max_offsets_per_trigger=own["maxOffsetsPerTrigger"],
            min_offsets_per_trigger=own["minOffsetsPerTrigger"],
            max_bytes_per_trigger=own["maxBytesPerTrigger"],
            max_trigger_delay_s=_duration_s("maxTriggerDelay", own["maxTriggerDelay"]),
            commit_progress_to_group=own["commitProgressToGroup"],
            stop_on_evolution=own["evolution"] == "restart",
            value=value,
            key=key,
            mode=mode,
            error_field=own["errorField"],
            dead_letter_topic=dead_letter_topic,
        )

    def check_batch(self) -> None:
        """Refuses options that only streams have.

        Raises:
            OptionError: the read begins at the end, or ends at the beginning.
        """
        _refuse("startingOffsets", self.starting, LATEST)
        _refuse("endingOffsets", self.ending, EARLIEST)

    def check_stream(self) -> None:
        """Refuses options that only batch reads have.

        Raises:
            OptionError: an end is given.
        """
        if self.ending != Bound():
            raise OptionError(
                'a stream has no end: "endingOffsets", "endingTimestamp" and the like are for batch reads'
            )
        low, high = self.min_offsets_per_trigger, self.max_offsets_per_trigger
        if low is not None and high is not None and low > high:
            raise OptionError(f'"minOffsetsPerTrigger" ({low}) is more than "maxOffsetsPerTrigger" ({high})')

    def consumer_config(self) -> dict[str, object]:
        """Configuration of a consumer that joins no group and commits nothing.

        Records of open and aborted transactions are read too, unless `kafka.isolation.level` says otherwise: that is
        what Spark's own source does, and not the default of our consumer.
        """
        return {
            "client.id": "kserdes-spark",
            "group.id": self.group_id_prefix,
            "isolation.level": "read_uncommitted",
            **for_role(self.client, Role.CONSUMER),
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
        }

    def admin_config(self) -> dict[str, object]:
        """Configuration of the client that plans."""
        return {"client.id": "kserdes-spark-plan", **for_role(self.client, Role.ADMIN)}

    @property
    def read_committed(self) -> bool:
        """Whether only committed records count."""
        return str(self.client.get("isolation.level", "")).strip().lower() == "read_committed"


def _topics(own: Mapping[str, Any]) -> Topics:
    given = [name for name in ("subscribe", "subscribePattern", "assign") if own[name]]
    if len(given) != 1:
        text = "give one of them only" if given else "say what to read"
        listed = " and ".join(f'"{name}"' for name in given) or '"subscribe", "subscribePattern" or "assign"'
        raise OptionError(
            f"option {listed}: {text}: topics with commas between them, a pattern, or partitions as JSON",
            property=given[-1] if given else "subscribe",
        )
    if own["subscribe"]:
        return Named(tuple(dict.fromkeys(split(own["subscribe"]))))
    if own["subscribePattern"]:
        try:
            re.compile(own["subscribePattern"])
        except re.error as error:
            text = f'option "subscribePattern" is no regular expression: {error}'
            raise OptionError(text, property="subscribePattern") from None
        return Pattern(own["subscribePattern"])
    return Assigned(_assigned(own["assign"]))


def _assigned(text: str) -> dict[str, tuple[int, ...]]:
    try:
        parsed = json.loads(text)
        found = {topic: tuple(sorted({_partition(number) for number in parts})) for topic, parts in parsed.items()}
        if not any(found.values()):
            raise ValueError("there is no partition in it")
    except (ValueError, AttributeError, TypeError) as error:
        form = '{"flights": [0, 1]}'
        raise OptionError(f'option "assign" must look like {form}, not {text!r}: {error}', property="assign") from None
    return found


def _partition(number: object) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise ValueError(f"{number!r} is no partition")
    return number


def _bound(own: Mapping[str, Any], side: str, topics: Topics) -> Bound:
    """The bound set by one side's options; of several the first counts, as in Spark: a time for all, times, offsets."""
    if own[f"{side}Timestamp"] is not None:
        return Bound(time_ms=own[f"{side}Timestamp"])
    name = f"{side}OffsetsByTimestamp"
    if own[name]:
        return Bound(times=_checked(name, offsets_from_json(own[name], lowest=0), topics))
    name = f"{side}Offsets"
    text = (own[name] or "").strip()
    if not text:
        return Bound()
    words = {"earliest": EARLIEST, "latest": LATEST}
    if text.lower() in words:
        return Bound(word=words[text.lower()])
    return Bound(offsets=_checked(name, offsets_from_json(text), topics))


def _checked(name: str, offsets: Offsets, topics: Topics) -> Offsets:
    for topic, parts in offsets.items():
        if isinstance(topics, Named) and topic not in topics.names:
            raise OptionError(f'option {name!r} names the topic {topic!r}, which "subscribe" does not')
        if isinstance(topics, Pattern) and not re.search(topics.text, topic):
            raise OptionError(f'option {name!r} names the topic {topic!r}, which "subscribePattern" does not match')
        if isinstance(topics, Assigned):
            strangers = sorted(parts.keys() - set(topics.partitions.get(topic, ())))
            if strangers:
                raise OptionError(f'option {name!r} names {topic}[{strangers[0]}], which "assign" does not')
    return offsets


def _refuse(name: str, bound: Bound, senseless: int) -> None:
    if bound.word == senseless:
        word = "latest" if senseless == LATEST else "earliest"
        raise OptionError(f"option {name!r} can't be {word!r} in a batch read: nothing would be read")
    for topic, parts in bound.offsets.items():
        for partition, offset in parts.items():
            if offset == senseless:
                raise OptionError(f"option {name!r} can't be {offset} (of {topic}[{partition}]) in a batch read")


def _decoding(own: Mapping[str, Any], field: str, topics: Topics, registry: Mapping[str, str]) -> Decoding | None:
    payload = payload_of(own, field, registry, lambda: _one_topic(topics, field), ("columns", "readerSchema"))
    if payload is None:
        return None
    columns = tuple(split(own[f"{field}.columns"] or "")) or None
    reader_schema = own.get(f"{field}.readerSchema")
    unnamed: Any = payload.unnamed or "skip"
    return Decoding(payload.subject, payload.format, columns, reader_schema, payload.message_type, unnamed)


def _one_topic(topics: Topics, field: str) -> str:
    names = topics.names if isinstance(topics, Named) else ()
    names = tuple(topics.partitions) if isinstance(topics, Assigned) else names
    if len(names) != 1:
        raise OptionError(
            f'option "{field}.subject" is needed where several topics may be read: one struct has one schema',
            property=f"{field}.subject",
        )
    return names[0]


def _check_mode(own: Mapping[str, Any], *, decoded: bool) -> None:
    if own["errorField"] and own["mode"] != "PERMISSIVE":
        raise OptionError('option "errorField" is for mode PERMISSIVE: the other modes leave no bad row in the frame')
    check_letters(own, structs=decoded)
    if own["errorField"] and not decoded:
        raise OptionError('"errorField" needs "value.format" or "key.format": bytes are never bad')


def _duration_s(name: str, text: str) -> float:
    found = DURATION.fullmatch(text.lower())
    if found is None:
        raise OptionError(f"option {name!r} must be a time such as 90s, 15m or 1h, not {text!r}", property=name)
    return int(found[1]) * UNIT_S[found[2]]
