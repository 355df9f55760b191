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
KNOWN = ("subscribe", "startingOffsets", "endingOffsets", "timeoutSeconds", "rowsPerBatch")
_BY_LOWER = {name.lower(): name for name in KNOWN}
_REFUSED = {"kafka.group.id", "kafka.auto.offset.reset", "kafka.enable.auto.commit"}


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options of a batch read.

    Attributes:
        client: configuration of the Kafka client, from the options `kafka.…` (may hold secrets: never shown).
        topics: option `subscribe`, comma-separated.
        starting: option `startingOffsets`: `earliest` (default) or JSON; -2 earliest, -1 latest.
        ending: option `endingOffsets`: `latest` (default) or JSON.
        default_start: where partitions start that `starting` does not name.
        timeout_s: option `timeoutSeconds`, 120: how long a read may make no progress.
        rows_per_batch: option `rowsPerBatch`, 50,000: the most rows of one Arrow batch.
    """

    client: Mapping[str, str] = field(repr=False)
    topics: tuple[str, ...]
    starting: Offsets
    ending: Offsets
    default_start: int = EARLIEST
    timeout_s: float = 120.0
    rows_per_batch: int = 50_000

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> ReadOptions:
        """Reads Spark's option map (names in any case).

        Raises:
            OptionError: an option is unknown, missing or ill-formed.
        """
        client, own = _split(options)
        topics = tuple(filter(None, (name.strip() for name in own.get("subscribe", "").split(","))))
        if not topics:
            raise OptionError('option "subscribe" is needed: the topic to read (several: comma-separated)')
        if "bootstrap.servers" not in client:
            raise OptionError('option "kafka.bootstrap.servers" is needed: host:port of a broker')
        start, end = own.get("startingOffsets", "earliest"), own.get("endingOffsets", "latest")
        named = {"earliest": EARLIEST, "latest": LATEST}
        if end == "earliest":
            raise OptionError('option "endingOffsets" can\'t be "earliest": nothing would be read')
        return cls(
            client=client,
            topics=topics,
            starting={} if start in named else offsets_from_json(start),
            ending={} if end in named else offsets_from_json(end),
            default_start=named.get(start, EARLIEST),
            timeout_s=_positive(own, "timeoutSeconds", 120),
            rows_per_batch=_positive(own, "rowsPerBatch", 50_000),
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
        elif lower != "path":
            near = difflib.get_close_matches(lower, _BY_LOWER, n=1)
            hint = f"; did you mean {_BY_LOWER[near[0]]!r}?" if near else f"; known: kafka.*, {', '.join(KNOWN)}"
            raise OptionError(f"option {name!r} is unknown{hint}")
    return client, own


def _positive(own: Mapping[str, str], name: str, default: int) -> int:
    text = own.get(name, str(default))
    if not text.isdigit() or int(text) == 0:
        raise OptionError(f"option {name!r} must be a whole number above 0, not {text!r}")
    return int(text)
