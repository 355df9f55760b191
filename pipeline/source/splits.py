"""Splits, each read by one Spark task, and offsets as JSON: `{"topic": {"0": 123}}`.

Must not know of Spark sessions or of clients: splits pickle, JSON is canonical (sorted, no spaces), so that
Spark, which compares offsets as text, sees equal offsets as equal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from kafka_core import Uuid
from pipeline.errors import OptionError, PlanError

EARLIEST, LATEST = -2, -1
TOPIC_IDS = "#topicIds"
"""The key beside topics in the offsets of a stream; no topic has such a name."""
Place: TypeAlias = tuple[str, int]
"""Topic and partition."""
Offsets = dict[str, dict[int, int]]
"""Topic → partition → offset."""


@dataclass(frozen=True, slots=True, order=True)
class Split:
    """A range of one topic partition: `start` inclusive, `end` exclusive, both real offsets.

    Attributes:
        topic_id: of the topic that the offsets belong to: one that is deleted and created again is another topic.
            None: not known, and the reader does not compare it.
    """

    topic: str
    partition: int
    start: int
    end: int
    topic_id: Uuid | None = field(default=None, compare=False)


def plan_split(
    topic: str, partition: int, held: tuple[int, int], wanted: tuple[int, int], *, fail: bool = True
) -> Split:
    """The split of one partition.

    Args:
        topic: its topic.
        partition: its number.
        held: first offset the broker holds, and the one after the last.
        wanted: start and end; `EARLIEST` and `LATEST` stand for those of `held`.
        fail: whether offsets that are not held are an error; else what is held of them is the split.

    Raises:
        PlanError: `wanted` is not within `held`, or ends before it starts: in what is held, whatever `fail` says.
    """
    low, high = held
    logical = {EARLIEST: low, LATEST: high}
    start, end = (logical.get(offset, offset) for offset in wanted)
    if not fail and not low <= end < start <= high:
        start, end = min(max(start, low), high), min(max(end, low), high)
        return Split(topic, partition, start, max(start, end))
    if start < low or start > high or end > high:
        raise PlanError(
            f"{topic}[{partition}] holds the offsets {low} to {high}, but {start} to {end} were asked for:"
            " records were deleted, or the offsets belong to another topic"
            ' (failOnDataLoss="false" would read what is left)'
        )
    if end < start:
        raise PlanError(f"{topic}[{partition}]: endingOffsets {end} is before startingOffsets {start}")
    return Split(topic, partition, start, end)


def offsets_to_json(offsets: Mapping[str, Mapping[int, int]]) -> str:
    """Canonical JSON text: topics and partitions in order."""
    ordered = {topic: {str(part): offsets[topic][part] for part in sorted(offsets[topic])} for topic in sorted(offsets)}
    return json.dumps(ordered, separators=(",", ":"))


def offsets_from_json(text: str, lowest: int = EARLIEST) -> Offsets:
    """Reads `{"topic": {"0": 123, "1": -2}}`; -2 is the earliest and -1 the latest offset.

    Offsets of a stream's progress may be given as they are: the ids of topics are passed over.

    Args:
        text: the JSON text.
        lowest: what no number may be below: 0 where they are times.

    Raises:
        OptionError: the text is not such JSON; the message shows the form that is meant.
    """
    try:
        parsed = json.loads(text)
        offsets = {
            topic: {int(part): _offset(value, lowest) for part, value in parts.items()}
            for topic, parts in parsed.items()
            if topic != TOPIC_IDS
        }
    except (ValueError, AttributeError, TypeError) as error:
        raise OptionError(f'offsets must look like {{"topic": {{"0": 123}}}}, not {text!r}: {error}') from error
    return offsets


def _offset(value: object, lowest: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < lowest:
        what = "offset (an integer, -2 for earliest, -1 for latest)" if lowest < 0 else "time (milliseconds since 1970)"
        raise ValueError(f"{value!r} is no {what}")
    return value
