"""Answers to produce requests in the form that nearly all of them have, read in one step.

Knows the layout of one version of one message: what `ProduceResponse` v13 is when one batch was written to one
partition and nothing else is to be said; the compiled decoders read every form. Who sends a record at a time reads
little else (decisions 0088, 0101). `usual_fetches` has the other usual answer.
Spec: this message of the protocol; KIP-482 for lengths and empty tagged sections.
"""

from __future__ import annotations

import struct
from uuid import UUID

from kafka_core.protocol.frames import USUAL_FORMS
from kafka_core.protocol.messages.produce import (
    LeaderIdAndEpoch,
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from kafka_core.protocol.primitives import read_uuid

_ONE_WRITTEN = struct.Struct(">B16sBihqqqBBBBiB")
"""One topic by its id; one partition: index, error, base offset, append time, log start, no errors of records, no text,
no tagged fields; the end of the topic; throttle time, no tagged fields."""

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


def use_for_writing() -> None:
    """Have answers to what was written read like this from now on; a producer calls it."""
    USUAL_FORMS[ProduceResponse, 13] = one_written
