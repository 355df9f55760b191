"""The options of the data source `kserdes`, parsed and checked once.

Names and meanings are those of Spark's own Kafka source where it has them. Must not know of Spark or open anything.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field

from pipeline.errors import OptionError
from pipeline.splits import EARLIEST, LATEST, Offsets, offsets_from_json

__all__ = ["ReadOptions"]

CLIENT_PREFIX = "kafka."
KNOWN = ("subscribe", "startingOffsets", "endingOffsets", "timeoutSeconds", "rowsPerBatch", "bytesPerBatch")
_BY_LOWER = {name.lower(): name for name in KNOWN}
_REFUSED = {"kafka.group.id", "kafka.auto.offset.reset", "kafka.enable.auto.commit"}


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
        client, own = _split(options)
        topics = tuple(dict.fromkeys(filter(None, (name.strip() for name in own.get("subscribe", "").split(",")))))
        if not topics:
            raise OptionError('option "subscribe" is needed: the topic to read (several: comma-separated)')
        if "bootstrap.servers" not in client:
            raise OptionError('option "kafka.bootstrap.servers" is needed: host:port of a broker')
        return cls(
            client=client,
            topics=topics,
            starting=_offsets(own, "startingOffsets", topics, implied="earliest", senseless=LATEST),
            ending=_offsets(own, "endingOffsets", topics, implied="latest", senseless=EARLIEST),
            timeout_s=_positive(own, "timeoutSeconds", 60),
            rows_per_batch=_positive(own, "rowsPerBatch", 50_000),
            bytes_per_batch=_positive(own, "bytesPerBatch", 32 * 2**20),
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
    """The client's part (prefix cut off) and ours, with our spelling of the names."""
    client: dict[str, str] = {}
    own: dict[str, str] = {}
    for name, value in options.items():
        lower = name.lower()
        if lower in _REFUSED:
            raise OptionError(
                f"option {name!r} has no meaning here: offsets are planned by the driver, never committed"
            )
        if lower.startswith(CLIENT_PREFIX):
            client[lower.removeprefix(CLIENT_PREFIX)] = value
        elif lower in _BY_LOWER:
            own[_BY_LOWER[lower]] = value
        elif lower == "path":
            raise OptionError(f'load() takes no path ({value!r}): name the topic with the option "subscribe"')
        else:
            near = difflib.get_close_matches(lower, _BY_LOWER, n=1)
            hint = f"; did you mean {_BY_LOWER[near[0]]!r}?" if near else f"; known: kafka.*, {', '.join(KNOWN)}"
            raise OptionError(f"option {name!r} is unknown{hint}")
    return client, own


def _offsets(own: Mapping[str, str], name: str, topics: tuple[str, ...], *, implied: str, senseless: int) -> Offsets:
    """What `startingOffsets` or `endingOffsets` says; empty where it says `implied`."""
    text = own.get(name, implied).strip()
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


def _positive(own: Mapping[str, str], name: str, default: int) -> int:
    text = own.get(name, str(default))
    if not (text.isascii() and text.isdigit()) or int(text) == 0:
        raise OptionError(f"option {name!r} must be a whole number above 0, not {text!r}")
    return int(text)
