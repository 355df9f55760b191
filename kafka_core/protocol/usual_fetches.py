"""Answers to fetches in the form that nearly all of them have, read in one step.

Knows the layout of few versions of one message: what `FetchResponse` v13 to v18 is with one partition, when nothing
else is to be said; the compiled decoders read every form. Who is sent a record at a time reads little else
(decisions 0088, 0101). `usual_writes` has the other usual answer.
Spec: this message of the protocol; KIP-482 for lengths and empty tagged sections.
"""

from __future__ import annotations

import struct

from kafka_core.protocol.frames import USUAL_FORMS
from kafka_core.protocol.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    PartitionData,
    SnapshotId,
)
from kafka_core.protocol.primitives import Malformed, read_uuid, read_uvarint

_ENDS = bytes(3)
"""No tagged fields of the partition, the topic and the answer."""
_FETCH_VERSIONS = range(13, 19)
_ONE_FETCHED = struct.Struct(">ihiB16sBihqqqBi")
"""Throttle time, error and session; one topic by its id; one partition: index, error, high watermark, last stable
offset, log start, no aborted transactions, preferred replica. The length of the records follows."""
_NO_EPOCH, _NO_LEADER, _NO_SNAPSHOT = EpochEndOffset(), LeaderIdAndEpoch(), SnapshotId()


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


def use_for_reading() -> None:
    """Have answers to fetches read like this from now on; a consumer calls it."""
    for version in _FETCH_VERSIONS:
        USUAL_FORMS[FetchResponse, version] = one_fetched
