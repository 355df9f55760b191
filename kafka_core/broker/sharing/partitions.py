"""Partitions as share groups read them: where each group begins, its locks over time, and reading from the log.

Must not know: sessions, requests, sockets. `share_records.py` decides who gets what; here are its clock and its log.
Spec: KIP-932; `SharePartition`, `DelayedShareFetch` and the share coordinator of Apache Kafka 4.3.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias
from uuid import UUID

from kafka_core.broker.codes import Code
from kafka_core.broker.configs import GroupConfig, reset_age
from kafka_core.broker.parking import Timer, Timers
from kafka_core.broker.partitions.log import LogBatch
from kafka_core.broker.partitions.reading import first_at_time
from kafka_core.broker.partitions.topics import Partition
from kafka_core.broker.sharing.records import (
    Acknowledge,
    Acknowledgement,
    Acquired,
    Limits,
    Refusal,
    ShareRecords,
    Stretch,
)
from kafka_core.clock import Clock

#: (group, topic, partition).
ShareKey: TypeAlias = tuple[str, UUID, int]

UNKNOWN_OFFSET: Final = -1
_ATTRIBUTES: Final = struct.Struct(">h")
_ATTRIBUTES_POSITION: Final = 21
_PRODUCER_ID: Final = struct.Struct(">q")
_PRODUCER_ID_POSITION: Final = 43
_TRANSACTIONAL: Final = 0x10
_CONTROL: Final = 0x20


@dataclass(frozen=True, slots=True)
class Wanted:
    """The limits of a fetch for one partition."""

    max_bytes: int
    max_records: int
    batch_size: int
    strict: bool


@dataclass(frozen=True, slots=True)
class Given:
    """The result of a fetch for one partition: records, and the batches of the log that they lie in."""

    acquired: list[Acquired]
    chunks: list[memoryview]
    size_bytes: int

    @property
    def count(self) -> int:
        """The number of records."""
        return sum(item.last - item.first + 1 for item in self.acquired)


class SharePartition:
    """One partition in the eyes of one share group.

    Attributes:
        watchers: called when records come back, or room is made for new ones.
    """

    def __init__(self, partition: Partition, config: Callable[[], GroupConfig], timers: Timers, clock: Clock) -> None:
        self.partition = partition
        self.watchers: dict[Callable[[], None], None] = {}
        self._config = config
        self._timers = timers
        self._clock = clock
        self._start_offset = UNKNOWN_OFFSET
        self._told_offset = UNKNOWN_OFFSET
        self._records: ShareRecords | None = None
        self._leader_epoch = partition.leader_epoch
        self._is_written = False
        self._timer: Timer | None = None

    @property
    def limits(self) -> Limits:
        """The group's bounds as they are now."""
        config = self._config()
        return Limits(
            config.integer("share.delivery.count.limit"),
            self.lock_ms / 1000,
            config.integer("share.partition.max.record.locks"),
        )

    @property
    def lock_ms(self) -> int:
        """Milliseconds for which a member holds records it was given."""
        return self._config().integer("share.record.lock.duration.ms")

    @property
    def is_open(self) -> bool:
        """Whether somebody has read from it since it was begun, or moved."""
        return self._records is not None

    # ---- where the group is --------------------------------------------------------------------------------------

    @property
    def position(self) -> tuple[int, int]:
        """(start offset, records that are left) as administrators see them; UNKNOWN_OFFSET before the first change.

        What was only given out is no change. A change is written with the start offset of before it, so what is told is
        one change behind; the records that are left are those of after it.
        """
        records = self._records if self._is_written else None
        start = self._start_offset if records is None else records.start_offset
        if start == UNKNOWN_OFFSET:
            return UNKNOWN_OFFSET, -1
        done = 0 if records is None else records.done_count
        return start if records is None else self._told_offset, self.partition.log.end_offset - start - done

    def begin_at(self, offset: int) -> None:
        """An administrator moved the group."""
        self._start_offset, self._records, self._is_written = offset, None, False
        self._wake()

    def records(self) -> ShareRecords:
        """The leader's records; a new leader does not know which member has which."""
        log = self.partition.log
        if self._records is None:
            start = self._reset_offset() if self._start_offset == UNKNOWN_OFFSET else self._start_offset
            self._records = ShareRecords(max(start, log.start_offset))
        elif self._leader_epoch != self.partition.leader_epoch:
            self._records.forget_locks()
        self._leader_epoch = self.partition.leader_epoch
        self._records.begin_at(log.start_offset)
        return self._records

    def _reset_offset(self) -> int:
        log, reset = self.partition.log, self._config().text("share.auto.offset.reset")
        if reset == "earliest":
            return log.start_offset
        age = reset_age(reset)
        if age is None:
            return log.high_watermark
        found = first_at_time(self.partition, self._clock.time_ms() - round(age.total_seconds() * 1000))
        return log.high_watermark if found is None else found[0]

    # ---- reading -------------------------------------------------------------------------------------------------

    @property
    def _is_committed_only(self) -> bool:
        return self._config().text("share.isolation.level") == "read_committed"

    @property
    def _end_offset(self) -> int:
        log = self.partition.log
        return log.last_stable_offset if self._is_committed_only else log.high_watermark

    def available_bytes(self, limit: int) -> int:
        """About how many bytes a fetch could get, counted up to `limit`."""
        offset = self.records().next_offset(self.limits)
        if offset is None or offset >= self._end_offset:
            return 0
        return self.partition.log.available_bytes(offset, limit, self._end_offset)

    def acquire(self, member_id: str, wanted: Wanted, *, at_least_one: bool) -> Given:
        """Gives a member what there is, with whole batches of the log.

        Args:
            at_least_one: a first batch that is larger than `max_bytes` is given all the same.
        """
        records, limits = self.records(), self.limits
        while (offset := records.next_offset(limits)) is not None and offset < self._end_offset:
            stretches = list(self._stretches(offset, wanted, at_least_one=at_least_one))
            before = records.end_offset
            acquired = records.acquire(
                member_id,
                stretches,
                limits,
                self._clock.monotonic(),
                max_records=wanted.max_records,
                batch_size=wanted.batch_size,
                strict=wanted.strict,
            )
            if acquired:
                self._watch_locks()
                first, last = acquired[0].first, acquired[-1].last
                read = self.partition.log.read(first, 2**31 - 1, at_least_one=True, end_offset=last + 1)
                return Given(acquired, read.chunks, read.size_bytes)
            if records.end_offset == before:
                break
        return Given([], [], 0)

    def _stretches(self, offset: int, wanted: Wanted, *, at_least_one: bool) -> Iterator[Stretch]:
        """Batches of the log from `offset` on, within the limits and before the end."""
        end_offset, committed_only = self._end_offset, self._is_committed_only
        left_bytes, left_records = wanted.max_bytes, max(wanted.max_records, 0)
        for batch in self.partition.log.batches(offset):
            if batch.base_offset >= end_offset or left_records <= 0:
                return
            left_bytes -= len(batch.data)
            if left_bytes < 0 and not at_least_one:
                return
            at_least_one = False
            is_void = committed_only and self._is_void(batch)
            yield Stretch(batch.base_offset, batch.last_offset, is_void)

    def _is_void(self, batch: LogBatch) -> bool:
        """Whether a batch was aborted. Markers are given out as records are: members say that there is none."""
        (attributes,) = _ATTRIBUTES.unpack_from(batch.data, _ATTRIBUTES_POSITION)
        if attributes & (_CONTROL | _TRANSACTIONAL) != _TRANSACTIONAL:
            return False
        (producer_id,) = _PRODUCER_ID.unpack_from(batch.data, _PRODUCER_ID_POSITION)
        return self.partition.log.was_aborted(producer_id, batch.base_offset)

    # ---- what becomes of it --------------------------------------------------------------------------------------

    def acknowledge(self, member_id: str, acknowledgements: Iterable[Acknowledgement]) -> Refusal | None:
        """Takes a member's word for its records, or says why not."""
        acknowledgements = list(acknowledgements)
        renews = any(Acknowledge.RENEW in item.types for item in acknowledgements)
        if renews and not self._config().flag("share.renew.acknowledge.enable"):
            text = "Renewing acquisition locks is not enabled for the group."
            return Refusal(Code.INVALID_RECORD_STATE, text)
        records = self.records()
        start_offset = records.start_offset
        refusal = records.acknowledge(member_id, acknowledgements, self.limits, self._clock.monotonic())
        if refusal is None:
            self._written(start_offset)
        return refusal

    def release(self, member_id: str) -> None:
        """The member has gone: others may have its records."""
        records = self._records
        if records is None:
            return
        start_offset = records.start_offset
        if records.release(member_id, self.limits):
            self._written(start_offset)

    def _watch_locks(self) -> None:
        """Plans the moment when the first lock ends. A timer that rings too early looks again: most never need to."""
        end_s = None if self._records is None else self._records.next_lock_end_s
        if end_s is None:
            return
        if self._timer is not None and self._timer.active:
            if self._timer.deadline_s <= end_s:
                return
            self._timer.cancel()
        self._timer = self._timers.after(end_s - self._clock.monotonic(), self._look_at_locks)

    def _look_at_locks(self) -> None:
        records = self._records
        if records is not None:
            start_offset = records.start_offset
            if records.expire(self.limits, self._clock.monotonic()):
                self._written(start_offset)
        self._watch_locks()

    def _written(self, start_offset: int) -> None:
        """The state was written, with what was the start offset before."""
        self._is_written, self._told_offset = True, start_offset
        self._wake()

    def _wake(self) -> None:
        for watcher in list(self.watchers):
            watcher()


class SharePartitions:
    """All partitions that share groups read, from their first subscription to it until somebody forgets it."""

    def __init__(self, config_of: Callable[[str], GroupConfig], timers: Timers, clock: Clock) -> None:
        self._config_of = config_of
        self._timers = timers
        self._clock = clock
        self._parts: dict[ShareKey, SharePartition] = {}

    def begin(self, group_id: str, partition: Partition) -> SharePartition:
        """The group's view of a partition; a new one if it had none."""
        key = (group_id, partition.topic.topic_id, partition.index)
        found = self._parts.get(key)
        if found is None:
            found = self._parts[key] = SharePartition(
                partition, lambda: self._config_of(group_id), self._timers, self._clock
            )
        return found

    def get(self, group_id: str, topic_id: UUID, index: int) -> SharePartition | None:
        """The group's view of a partition, if it has one."""
        return self._parts.get((group_id, topic_id, index))

    def of_group(self, group_id: str) -> list[SharePartition]:
        """All that a group reads, by topic and partition."""
        found = [part for key, part in self._parts.items() if key[0] == group_id]
        return sorted(found, key=lambda part: (part.partition.topic.name, part.partition.index))

    def forget(self, *, group_id: str | None = None, topic_id: UUID | None = None) -> bool:
        """Drops what is kept of a group, of a topic, or of a topic in a group; False if that was nothing."""
        kept = {
            key: part
            for key, part in self._parts.items()
            if group_id not in (None, key[0]) or topic_id not in (None, key[1])
        }
        changed = len(kept) < len(self._parts)
        self._parts = kept
        return changed
