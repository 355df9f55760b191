"""The options of the data source `kserdes`, parsed and checked once.

Names and meanings are those of Spark's own Kafka source where it has them. Must not know of Spark or open anything.
docs/configuration.md is generated from the table here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from kafka_core.config_table import TABLE as CLIENT
from kserdes_config.errors import PropertyError
from kserdes_config.properties import Kind, Property
from kserdes_config.reading import split, value_of
from kserdes_config.table import Table
from pipeline.errors import OptionError
from pipeline.splits import EARLIEST, LATEST, Offsets, offsets_from_json

__all__ = ["TABLE", "ReadOptions"]

MOST: Final = 2**31 - 1

CLIENT_PREFIX: Final = "kafka."
REFUSED: Final = {"kafka.group.id", "kafka.auto.offset.reset", "kafka.enable.auto.commit"}
OFFSETS: Final = 'or JSON: `{"flights": {"0": 123, "1": -2}}`'
TABLE: Final = Table(
    (
        Property("subscribe", Kind.LIST, None, "Topics to read; needed.", takes="topics with commas between them"),
        Property(
            "startingOffsets",
            Kind.STR,
            "earliest",
            f"Where to begin: `earliest` {OFFSETS}, where -2 is the earliest offset.",
        ),
        Property(
            "endingOffsets",
            Kind.STR,
            "latest",
            f"Where to end, exclusive: `latest` {OFFSETS}, where -1 is the latest offset.",
        ),
        Property(
            "timeoutSeconds",
            Kind.INT,
            60,
            "How long planning may wait for the cluster, and a read may make no progress, before it fails.",
            bounds=(1, MOST),
            loose=True,
        ),
        Property(
            "rowsPerBatch", Kind.INT, 50_000, "Rows of one Arrow batch at the most.", bounds=(1, MOST), loose=True
        ),
        Property(
            "bytesPerBatch",
            Kind.INT,
            32 * 2**20,
            "Bytes of one Arrow batch, about; one row is always taken.",
            bounds=(1, MOST),
            loose=True,
        ),
    ),
    noun="option",
    elsewhere={"path": 'load() takes no path: name the topic with the option "subscribe"'},
)
"""The options of the data source, beside those of the Kafka client (`kafka.…`)."""
_BY_LOWER: Final = {name.lower(): name for name in TABLE.by_name}


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options of a batch read.

    Attributes:
        client: configuration of the Kafka client, from the options `kafka.…` (may hold secrets: never shown).
        topics: option `subscribe`, comma-separated.
        starting: option `startingOffsets`: `earliest` (default) or JSON, where -2 stands for the earliest.
        ending: option `endingOffsets`: `latest` (default) or JSON, where -1 stands for the latest; exclusive.
        timeout_s: option `timeoutSeconds`, 60: how long planning may wait for the cluster, and a read make no progress.
        rows_per_batch: option `rowsPerBatch`, 50,000: the most rows of one Arrow batch.
        bytes_per_batch: option `bytesPerBatch`, 32 MiB: about the most bytes of one Arrow batch (one row at least).
    """

    client: Mapping[str, str] = field(repr=False)
    topics: tuple[str, ...]
    starting: Offsets
    ending: Offsets
    timeout_s: float = 60.0
    rows_per_batch: int = 50_000
    bytes_per_batch: int = 32 * 2**20

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> ReadOptions:
        """Reads Spark's option map (names in any case).

        Raises:
            OptionError: an option is unknown, missing or ill-formed.
        """
        try:
            client, given = _split(options)
            own = TABLE.read(given)
        except PropertyError as error:
            raise OptionError(
                str(error), property=error.property, accepted=error.accepted, nearest=error.nearest
            ) from None
        topics = tuple(dict.fromkeys(split(own["subscribe"] or "")))
        if not topics:
            raise OptionError(
                'option "subscribe" is needed: the topic to read (several: comma-separated)', property="subscribe"
            )
        if "bootstrap.servers" not in client:
            name = "kafka.bootstrap.servers"
            raise OptionError(f'option "{name}" is needed: host:port of a broker', property=name)
        return cls(
            client=client,
            topics=topics,
            starting=_offsets(own, "startingOffsets", topics, implied="earliest", senseless=LATEST),
            ending=_offsets(own, "endingOffsets", topics, implied="latest", senseless=EARLIEST),
            timeout_s=own["timeoutSeconds"],
            rows_per_batch=own["rowsPerBatch"],
            bytes_per_batch=own["bytesPerBatch"],
        )

    def client_config(self, purpose: str) -> dict[str, object]:
        """Configuration of a consumer that joins no group and commits nothing."""
        return {
            "client.id": f"kserdes-spark-{purpose}",
            **self.client,
            "group.id": f"kserdes-spark-{purpose}",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
        }


def _split(options: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The client's part (prefix cut off) and ours, with our spelling of the names.

    Raises:
        PropertyError: the client has no such property, or it has no meaning here.
    """
    client: dict[str, str] = {}
    own: dict[str, str] = {}
    for name, value in options.items():
        lower = name.lower()
        if lower in REFUSED:
            raise PropertyError(
                f"option {name!r} has no meaning here: offsets are planned by the driver, never committed",
                property=name,
            )
        if lower.startswith(CLIENT_PREFIX):
            client[_client_property(lower.removeprefix(CLIENT_PREFIX), value)] = value
        else:
            own[_BY_LOWER.get(lower, name)] = value
    return client, own


def _client_property(name: str, value: str) -> str:
    """The name of a property of the client that it knows, and whose value does.

    Raises:
        PropertyError: as the client's, with the option's name.
    """
    try:
        value_of(CLIENT.find(name), value, f"{CLIENT_PREFIX}{name}")
    except PropertyError as error:
        if error.accepted is not None:
            raise
        given = f"{CLIENT_PREFIX}{name}"
        near = None if error.nearest is None else f"{CLIENT_PREFIX}{error.nearest}"
        hint = "" if near is None else f"; did you mean {near!r}?"
        raise PropertyError(f"unknown option {given!r}{hint}", property=given, nearest=near) from None
    return name


def _offsets(own: Mapping[str, Any], name: str, topics: tuple[str, ...], *, implied: str, senseless: int) -> Offsets:
    """What `startingOffsets` or `endingOffsets` says; empty where it says `implied`."""
    text = own[name].strip()
    if text.lower() == implied:
        return {}
    if text.lower() in ("earliest", "latest"):
        raise OptionError(f"option {name!r} can't be {text!r} in a batch read: nothing would be read")
    offsets = offsets_from_json(text)
    strangers = sorted(offsets.keys() - set(topics))
    if strangers:
        raise OptionError(f'option {name!r} names the topic {strangers[0]!r}, which "subscribe" does not')
    for topic, parts in offsets.items():
        for partition, offset in parts.items():
            if offset == senseless:
                raise OptionError(f"option {name!r} can't be {offset} (of {topic}[{partition}]) in a batch read")
    return offsets
