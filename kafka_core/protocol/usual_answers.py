"""Answers in the form that nearly all of them have, read in one step; the compiled decoders read every form.

Knows the layout of few versions of two messages: what `ProduceResponse` v13 is when one batch was written to one
partition, and `FetchResponse` v13 to v18 with one partition, when nothing else is to be said. Who sends or is sent a
record at a time reads little else (decisions 0088, 0101).
Spec: these messages of the protocol; KIP-482 for lengths and empty tagged sections.
"""

from __future__ import annotations

import struct
from uuid import UUID

from kafka_core.protocol.frames import USUAL_FORMS
from kafka_core.protocol.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
    SnapshotId,
)
from kafka_core.protocol.messages.fetch import LeaderIdAndEpoch as FetchLeader
from kafka_core.protocol.messages.produce import (
    LeaderIdAndEpoch,
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from kafka_core.protocol.primitives import Malformed, read_uuid, read_uvarint

_ONE_WRITTEN = struct.Struct(">B16sBihqqqBBBBiB")
"""One topic by its id; one partition: index, error, base offset, append time, log start, no errors of records, no text,
no tagged fields; the end of the topic; throttle time, no tagged fields."""

_ENDS = bytes(3)
"""No tagged fields of the partition, the topic and the answer."""
_NOBODY = LeaderIdAndEpoch()
"""No hint at a leader; nobody changes it."""


def one_written(view: memoryview, position: int) -> ProduceResponse | None:
    """The answer whose body begins at that position and ends with the view; None if it has another form."""
    if len(view) - position != _ONE_WRITTEN.size:
        return None
    (
        topics,
        topic_id,
        partitions,
        index,
        error,
        base,
        appended_ms,
        start,
        records,
        text,
        tags,
        end,
        throttle_ms,
        last,
    ) = _ONE_WRITTEN.unpack_from(view, position)
    if topics != 2 or partitions != 2 or error or records != 1 or text or tags or end or last:
        return None
    row = PartitionProduceResponse(index, 0, base, appended_ms, start, [], None, _NOBODY)
    return ProduceResponse([TopicProduceResponse("", read_uuid(topic_id), [row])], throttle_ms)


_WRITTEN_START = struct.Struct(">i4sBB16sBih")
"""The frame's size, its correlation id, no tagged fields of the header; `_ONE_WRITTEN` up to the error."""
_PLACE = struct.Struct(">qqq")
_WRITTEN_END = bytes([1, 0, 0, 0, 0, 0, 0, 0, 0])
"""`_ONE_WRITTEN` behind the log start, if the broker does not throttle."""
_WRITTEN_BYTES = _WRITTEN_START.size + _PLACE.size + len(_WRITTEN_END)


def written_start(correlation_id: bytes, topic_id: UUID, partition: int) -> bytes:
    """The first bytes of a frame that `one_written` reads, its size included, if it is of this partition."""
    return _WRITTEN_START.pack(_WRITTEN_BYTES - 4, correlation_id, 0, 2, topic_id.bytes, 2, partition, 0)


def written_at(received: bytearray, size_bytes: int, start: bytes) -> tuple[int, int] | None:
    """Base offset and append time (ms), if the first bytes of `received` are that frame, and all that has come.

    None also for an answer by which the broker throttles.
    """
    if size_bytes != _WRITTEN_BYTES or not received.startswith(start):
        return None
    if not received.endswith(_WRITTEN_END, 0, size_bytes):
        return None
    base, appended_ms, _ = _PLACE.unpack_from(received, len(start))
    return base, appended_ms


_FETCH_VERSIONS = range(13, 19)
_ONE_FETCHED = struct.Struct(">ihiB16sBihqqqBi")
"""Throttle time, error and session; one topic by its id; one partition: index, error, high watermark, last stable
offset, log start, no aborted transactions, preferred replica. The length of the records follows."""
_NO_EPOCH, _NO_LEADER, _NO_SNAPSHOT = EpochEndOffset(), FetchLeader(), SnapshotId()


def one_fetched(view: memoryview, position: int) -> FetchResponse | None:
    """As `one_written`, for what one partition holds (or does not hold)."""
    end = len(view)
    start = position + _ONE_FETCHED.size
    if end < start + 4:
        return None
    throttle_ms, failed, session, topics, topic_id, partitions, index, error, high, stable, low, aborted, replica = (
        _ONE_FETCHED.unpack_from(view, position)
    )
    if failed or topics != 2 or partitions != 2 or error or aborted > 1 or view[end - 3 :] != _ENDS:
        return None
    length = view[start]
    if length <= 0x7F:
        start += 1
    else:
        try:
            length, start = read_uvarint(view, start, end)
        except Malformed:  # the decoder says what and where
            return None
    if start + max(length - 1, 0) != end - 3:
        return None
    records = view[start : end - 3] if length else None
    aborting: list[AbortedTransaction] | None = [] if aborted else None
    row = PartitionData(index, 0, high, stable, low, _NO_EPOCH, _NO_LEADER, _NO_SNAPSHOT, aborting, replica, records)
    return FetchResponse(throttle_ms, 0, session, [FetchableTopicResponse("", read_uuid(topic_id), [row])])


def use_for_writing() -> None:
    """Have answers to what was written read like this from now on; a producer calls it."""
    USUAL_FORMS[ProduceResponse, 13] = one_written


def use_for_reading() -> None:
    """Have answers to fetches read like this from now on; a consumer calls it."""
    for version in _FETCH_VERSIONS:
        USUAL_FORMS[FetchResponse, version] = one_fetched
