"""Answers in the form that nearly all of them have, read in one step; the compiled decoders read every form.

Knows the layout of one version of one message: what `ProduceResponse` v13 is when one batch was written to one
partition and nothing is to be said about it. Who sends a record at a time reads little else (decision 0088).
Spec: ProduceResponse v13 of the protocol; KIP-482 for lengths and empty tagged sections.
"""

from __future__ import annotations

import struct

from kafka_core.protocol.frames import USUAL_FORMS
from kafka_core.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from kafka_core.protocol.primitives import read_uuid

_ONE_WRITTEN = struct.Struct(">B16sBihqqqBBBBiB")
"""One topic by its id; one partition: index, error, base offset, append time, log start, no errors of records, no text,
no tagged fields; the end of the topic; throttle time, no tagged fields."""


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
    row = PartitionProduceResponse(index, 0, base, appended_ms, start)
    return ProduceResponse([TopicProduceResponse("", read_uuid(topic_id), [row])], throttle_ms)


def use() -> None:
    """Have answers read like this from now on; a producer calls it, others need not load the module."""
    USUAL_FORMS[ProduceResponse, 13] = one_written
