"""The progress of one streaming query, on the driver: next offsets, lost records, new partitions.

Must not know of Spark: points come and go as its JSON has them (`points`). Admission is in `admission`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from kafka_core import Consumer, KafkaException, TopicPartition, Uuid
from pipeline.errors import PlanError
from pipeline.source.admission import Limits, Waiting, lag_of, shared_out
from pipeline.source.cluster import Cluster
from pipeline.source.formats import ReadPlan
from pipeline.source.planning import divided, lost, resolve_bound
from pipeline.source.points import Point, PointText
from pipeline.source.splits import LATEST, Place, Split

SAMPLE_ROWS: Final = 64
SAMPLE_S: Final = 2.0
SAMPLE_BYTES: Final = 2**20


class Progress:
    """The offsets of one query.

    Args:
        plan: of the read.
        now_s: monotonic seconds; the first batch is waited for from here on.
        told_starts: whether `next_end` is told where its batch begins. If not, as before Spark 4.2, what is lost
            between the two points of a batch is found by `splits`.

    Attributes:
        limits: what bounds a batch.

    Raises:
        OptionError: options that are for batch reads.
    """

    def __init__(self, plan: ReadPlan, now_s: float, *, told_starts: bool = True) -> None:
        options = plan.options
        options.check_stream()
        self._plan = plan
        self._options = options
        self._cluster = Cluster(options)
        self.limits = Limits(
            options.max_offsets_per_trigger,
            options.min_offsets_per_trigger,
            options.max_trigger_delay_s,
            options.max_bytes_per_trigger,
        )
        self._waiting = Waiting(self.limits, now_s)
        self._target: dict[Place, int] | None = None
        self._seen: dict[Place, int] = {}
        self._topic_ids: dict[str, Uuid] = {}
        self._of_former: dict[Place, int] = {}  # next offsets that belong to topics which are deleted
        self._told_starts = told_starts

    def initial(self) -> PointText:
        """The start of a query without a checkpoint.

        Raises:
            PlanError: the cluster can't be reached, or a topic is not there.
        """
        cluster = self._cluster
        places = cluster.partitions()
        self._note_new_topics(Point({}))
        late = LATEST if self._options.latest_if_too_young else None
        low, high = cluster.earliest(places), cluster.latest(places)
        start = resolve_bound(cluster, places, self._options.starting, LATEST, late=late, low=low, high=high)
        if self._target is not None:  # later records are for the next run
            start = {place: min(start[place], end) for place, end in self._target.items() if place in start}
        return self._named(start).text()

    def next_end(self, start: Mapping[str, Mapping[str, Any]] | None, *, bounded: bool, now_s: float) -> PointText:
        """The end of the next batch.

        Args:
            start: where it begins; None if Spark does not say.
            bounded: whether the limits of the options hold: not with a trigger that takes everything at once.
            now_s: monotonic seconds.

        Raises:
            PlanError: records or partitions are gone and `failOnDataLoss` is on; or a schema is newer than the plan and
                `evolution` is `restart`.
        """
        self._stop_if_newer()
        given = self._point(start)
        end = self._there(given)
        begun = self._with_new(given.offsets, end)
        if bounded:
            if self._target is None and not self._waiting.is_due(begun, end, now_s):
                return given.text()
            if self.limits.most is not None:
                end = shared_out(begun, end, self.limits.most)
            if self.limits.most_bytes is not None:
                end = shared_out(begun, end, self.limits.most_bytes, self._bytes_of_one(begun, end))
        made = self._named(end)
        if end == given.offsets and not any(made.is_of_another(topic, given) for topic, _ in end):
            return given.text()  # nothing came: ids that the checkpoint does not have yet are no reason for a batch
        return made.text()

    def stop_at_what_is_there(self) -> None:
        """Ends the query at the offsets of now, without partitions that are added later."""
        self._target = self._seen = self._cluster.latest(self._partitions())

    def reported(self) -> PointText | None:
        """The ends of the partitions when the last batch was planned, offsets alone; None before the first."""
        return Point(self._seen).text() if self._seen else None

    def splits(self, start: Mapping[str, Mapping[str, Any]], end: Mapping[str, Mapping[str, Any]]) -> list[Split]:
        """The splits between two points of this query.

        Raises:
            PlanError: records or partitions are gone, and `failOnDataLoss` is on.
        """
        begun, ends = self._point(start), self._point(end)
        moved = {
            place: offset
            for place, offset in ends.offsets.items()
            if begun.offsets.get(place) != offset or begun.is_of_another(place[0], ends)
        }
        low = self._cluster.earliest(moved)
        if not self._told_starts:
            self._check_between(begun, ends)
        self._check_new(begun.offsets, low)  # the batch may have been planned before the query was started
        found: list[Split] = []
        for place, offset in sorted(moved.items()):
            if place not in low:
                self._lost(f"{_name(place)} is gone")
                continue
            first = begun.offsets.get(place, low[place])
            if first > offset or self._is_former(place, begun, ends):
                first = low[place]  # a new topic of the old name: that was said before
            if first < low[place]:
                self._lost(f"{_name(place)}: the offsets {first} to {low[place]} were deleted before they were read")
            first = max(first, low[place])
            if first < offset:
                topic_id = ends.topic_ids.get(place[0], self._topic_ids.get(place[0]))
                found.append(Split(*place, first, offset, topic_id))
        return divided(found, self._options.min_partitions, self._options.max_records_per_partition)

    def done(self, end: Mapping[str, Mapping[str, Any]]) -> None:
        """A batch is done: tells the group, if one is named."""
        group = self._options.commit_progress_to_group
        if group is not None:
            self._cluster.commit(group, Point.of(end).offsets)

    def close(self) -> None:
        """Closes the connection."""
        self._cluster.close()

    def _partitions(self) -> list[Place]:
        return self._cluster.partitions(missing_fail=self._options.fail_on_data_loss)

    def _point(self, given: Mapping[str, Mapping[str, Any]] | None) -> Point:
        """A point of Spark's; without ids if they are not to be looked at."""
        found = Point.of(given)
        return found if self._options.check_topic_ids else Point(found.offsets)

    def _named(self, offsets: Mapping[Place, int]) -> Point:
        """A point of these offsets, with the ids of the topics that are there now."""
        return Point(offsets, self._topic_ids if self._options.check_topic_ids else {})

    def _note_new_topics(self, begun: Point) -> None:
        """Finds topics that were deleted and created again, for offsets alone don't show it once the new one is longer.

        Ids are compared with those of the point; where it has none, with those that this run of the query has seen.
        """
        offsets = begun.offsets
        self._of_former = {place: offset for place, offset in self._of_former.items() if offsets.get(place) == offset}
        known = {**self._topic_ids, **begun.topic_ids}
        self._topic_ids = {**known, **self._cluster.topic_ids}
        for topic in sorted({topic for topic, _ in offsets}):
            if topic in known and known[topic] != self._topic_ids[topic]:
                self._of_former.update({place: offset for place, offset in offsets.items() if place[0] == topic})
                self._lost_topic(topic, known[topic], self._topic_ids[topic])

    def _is_former(self, place: Place, begun: Point, ends: Point) -> bool:
        """Whether the offset at which a batch begins belongs to a topic that is deleted."""
        found = begun.is_of_another(place[0], ends)
        return self._of_former.get(place, -1) == begun.offsets.get(place) if found is None else found

    def _check_between(self, begun: Point, ends: Point) -> None:
        """Reports data lost between two points, the second of which was planned without the first."""
        for topic in sorted({topic for topic, _ in begun.offsets}):
            if begun.is_of_another(topic, ends):
                self._lost_topic(topic, begun.topic_ids[topic], ends.topic_ids[topic])
        for place, offset in sorted(begun.offsets.items()):
            if place not in ends.offsets:
                self._lost(f"{_name(place)} is gone")
            elif ends.offsets[place] < offset and not begun.is_of_another(place[0], ends):
                self._lost(_back(place, ends.offsets[place], offset))

    def _check_new(self, begun: Mapping[Place, int], low: Mapping[Place, int]) -> None:
        """Reports data lost from partitions that are new since a batch began: they are read from their first record.

        Args:
            begun: where the batch begins; where nothing was read yet, nothing is lost.
            low: the first offsets that are held.
        """
        for place, offset in sorted(low.items()):
            if begun and place not in begun and offset > 0:
                self._lost(_late(place, offset))

    def _there(self, begun: Point) -> dict[Place, int]:
        """The end of every partition, gone and new ones considered."""
        there = self._target
        if there is None:
            there = self._seen = self._cluster.latest(self._partitions())
        self._note_new_topics(begun)
        for place, offset in sorted(begun.offsets.items()):
            if place not in there:
                self._lost(f"{_name(place)} is gone")
            elif there[place] < offset:
                self._lost(_back(place, there[place], offset))
        return dict(there)

    def _with_new(self, begun: Mapping[Place, int], there: Mapping[Place, int]) -> dict[Place, int]:
        """The start of each partition of `there`; new ones start with their first record."""
        new = [place for place in there if place not in begun]
        low = self._cluster.earliest(new)
        self._check_new(begun, low)
        return {place: begun.get(place, low.get(place, 0)) for place in there}

    def _lost(self, what: str) -> None:
        lost(what, self._options.fail_on_data_loss)

    def _lost_topic(self, topic: str, former: Uuid, now: Uuid) -> None:
        self._lost(
            f"{topic} was deleted and created again (its id was {former} and is {now}): the offsets of the checkpoint"
            " are not its own, so start the query with a new checkpoint (or with"
            ' checkTopicIds="false", if this topic has the same records at the same offsets)'
        )

    def _stop_if_newer(self) -> None:
        if not self._options.stop_on_evolution:
            return
        from pipeline.source.decoding import newer_version

        sentence = newer_version(self._plan.fields, self._options)
        if sentence is not None:
            raise PlanError(sentence)

    def _bytes_of_one(self, start: Mapping[Place, int], end: Mapping[Place, int]) -> dict[Place, float]:
        """About the bytes of a record of each partition that lags, from the first ones of what comes next."""
        lagging = lag_of(start, end)
        sizes: dict[Place, list[int]] = {place: [] for place in lagging}
        conf = {**self._options.consumer_config(), "fetch.max.bytes": SAMPLE_BYTES}
        until_s = time.monotonic() + SAMPLE_S
        try:
            with Consumer(conf) as consumer:
                consumer.assign([TopicPartition(*place, start[place]) for place in lagging])
                while not all(sizes.values()) and time.monotonic() < until_s:
                    for record in consumer.consume(SAMPLE_ROWS, timeout=0.2):
                        if record.error() is None:
                            sizes[record.topic() or "", record.partition() or 0].append(len(record))
        except KafkaException as error:
            raise PlanError(f"records can't be measured for maxBytesPerTrigger: {error}") from error
        known = [size for found in sizes.values() for size in found]
        mean = sum(known) / len(known) if known else 1.0
        return {place: sum(found) / len(found) if found else mean for place, found in sizes.items()}


def _name(place: Place) -> str:
    return f"{place[0]}[{place[1]}]"


def _back(place: Place, end: int, read: int) -> str:
    return f"{_name(place)} ends at offset {end}, but was read to {read} already"


def _late(place: Place, first: int) -> str:
    return f"{_name(place)} is new, and its first offset is {first} already"
