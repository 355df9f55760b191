"""Topics and options to splits: where each partition begins and ends, and how ranges are divided among tasks.

Must not know of Spark. Rules are those of Spark's own Kafka source (`KafkaOffsetReader`, `KafkaOffsetRangeCalculator`).
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from kafka_core.admin import OffsetSpec
from pipeline.errors import PlanError
from pipeline.source.cluster import Cluster, at_time
from pipeline.source.filters import Narrowing
from pipeline.source.options import Bound, ReadOptions
from pipeline.source.splits import EARLIEST, LATEST, Place, Split, plan_split

logger: Final = logging.getLogger("pipeline")
EVERYTHING: Final = Narrowing()


def plan_splits(options: ReadOptions, narrowing: Narrowing = EVERYTHING) -> list[Split]:
    """The splits of a batch read: what each topic partition holds between its start and its end, divided.

    Args:
        options: of the read.
        narrowing: what Spark's filters leave of it.

    Raises:
        PlanError: the cluster can't be reached, a topic or partition is not there, offsets are not held (with
            `failOnDataLoss`), or no record is as young as the time to begin at.
        OptionError: the client refuses an option `kafka.…`, or options that are for streams.
    """
    options.check_batch()
    with Cluster(options) as cluster:
        places = cluster.partitions()
        low, high = cluster.earliest(places), cluster.latest(places)
        known = {"low": low, "high": high}
        _check_named((options.starting, options.ending), places)
        for topic, number in places:
            if (topic, number) not in low or (topic, number) not in high:
                lost(f"{topic}[{number}] is gone", options.fail_on_data_loss)
        starts = resolve_bound(cluster, places, options.starting, EARLIEST, late=_late(options), **known)
        ends = resolve_bound(cluster, places, options.ending, LATEST, late=LATEST, **known)
        splits = [
            replace(
                plan_split(
                    *place,
                    held=(low[place], high[place]),
                    wanted=(starts[place], ends[place]),
                    fail=options.fail_on_data_loss,
                ),
                topic_id=cluster.topic_ids.get(place[0]),
            )
            for place in places
            if place in low and place in high
        ]
        splits = _narrowed(cluster, splits, narrowing)
    return divided(
        [split for split in splits if split.start < split.end],
        options.min_partitions,
        options.max_records_per_partition,
    )


def _narrowed(cluster: Cluster, splits: Sequence[Split], narrowing: Narrowing) -> list[Split]:
    """The splits that the filters leave. A time is sought only where a record so young exists: times may be out of
    order, and the first offset so young is the first one that can match."""
    kept = [
        split
        for split in splits
        if (narrowing.topics is None or split.topic in narrowing.topics)
        and (narrowing.partitions is None or split.partition in narrowing.partitions)
    ]
    young: dict[Place, int] = {}
    if narrowing.first_ms is not None and narrowing.first_ms > 0:
        young = cluster.offsets({(split.topic, split.partition): at_time(narrowing.first_ms) for split in kept})
    found: list[Split] = []
    for split in kept:
        first = young.get((split.topic, split.partition), split.start)
        first = split.end if first < 0 else first
        start = max(split.start, first, narrowing.first_offset or 0)
        end = split.end if narrowing.end_offset is None else min(split.end, narrowing.end_offset)
        found.append(replace(split, start=start, end=end))
    return found


def _late(options: ReadOptions) -> int | None:
    return LATEST if options.latest_if_too_young else None


def _check_named(bounds: Sequence[Bound], places: Sequence[Place]) -> None:
    """Refuses offsets and times of partitions that are not there."""
    named = {
        (topic, number)
        for bound in bounds
        for offsets in (bound.offsets, bound.times)
        for topic, parts in offsets.items()
        for number in parts
    }
    unknown = sorted(named - set(places))
    if unknown:
        topic = unknown[0][0]
        count = sum(place[0] == topic for place in places)
        numbers = [number for name, number in unknown if name == topic]
        raise PlanError(f"topic {topic!r} has {count} partitions, but offsets name {numbers}")


def resolve_bound(
    cluster: Cluster,
    places: Sequence[Place],
    bound: Bound,
    default: int,
    *,
    late: int | None,
    low: Mapping[Place, int],
    high: Mapping[Place, int],
) -> dict[Place, int]:
    """The offset of each partition at which reading begins or ends.

    Args:
        cluster: what is asked for times.
        places: the partitions.
        bound: of the options.
        default: `EARLIEST` or `LATEST`, for partitions of which they say nothing.
        late: what stands for a time that is after every record; None: that fails.
        low, high: first offset of each partition, and the one after its last.

    Raises:
        PlanError: no record is so young.
    """
    word = default if bound.word is None else bound.word
    logical = {EARLIEST: low, LATEST: high}
    wanted: dict[Place, int] = {place: bound.offsets.get(place[0], {}).get(place[1], word) for place in places}
    found = {place: logical[offset].get(place, 0) if offset < 0 else offset for place, offset in wanted.items()}
    times: dict[Place, OffsetSpec] = {}
    for place in places:
        time_ms = bound.time_ms if bound.time_ms is not None else bound.times.get(place[0], {}).get(place[1])
        if time_ms is not None:
            times[place] = at_time(time_ms)
    for place, offset in cluster.offsets(times).items():
        if offset < 0 and late is None:
            raise PlanError(
                f"{place[0]}[{place[1]}] has no record at or after {times[place].timestamp} ms:"
                ' startingOffsetsByTimestampStrategy="latest" would begin at the end'
            )
        found[place] = offset if offset >= 0 else high.get(place, 0)
    return found


def lost(what: str, fail: bool) -> None:
    """Records that should be there are not: an error, or a line in the log.

    Raises:
        PlanError: the option `failOnDataLoss` is on.
    """
    if fail:
        raise PlanError(f'{what} (failOnDataLoss="false" would go on with what is left)')
    logger.warning("%s; going on with what is left, for failOnDataLoss is off", what)


def divided(splits: Sequence[Split], least: int | None, most_records: int | None) -> list[Split]:
    """The splits, large ones divided so that none has more records and there are enough of them.

    Args:
        splits: ranges that are not empty.
        least: how many there should be (option `minPartitions`); None: as many as there are.
        most_records: offsets of one at the most (option `maxRecordsPerPartition`).
    """
    found = list(splits)
    if most_records is not None:
        found = [part for split in found for part in _parts(split, -(-(split.end - split.start) // most_records))]
    if least is not None and found and len(found) < least:
        total = sum(split.end - split.start for split in found)
        small = [split for split in found if _share(split, total, least) == 1]
        rest = total - sum(split.end - split.start for split in small)
        tasks = max(least - len(small), 1)
        found = [
            part
            for split in found
            for part in ([split] if split in small else _parts(split, _share(split, rest, tasks)))
        ]
    return found


def _share(split: Split, total: int, tasks: int) -> int:
    """The number of tasks for a range, by its size."""
    return max(int((split.end - split.start) / total * tasks + 0.5), 1)


def _parts(split: Split, count: int) -> list[Split]:
    """A range in equal parts, none of them empty."""
    size = split.end - split.start
    count = min(count, size)
    borders = [split.start + size * at // count for at in range(count + 1)]
    return [replace(split, start=start, end=end) for start, end in itertools.pairwise(borders)]
