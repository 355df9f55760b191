"""Hypothesis strategies for records and batches, valid and damaged."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from kafka_core.records import Codec, NewRecord, build_batch

DAY_MS = 86_400_000
NOW_MS = 1_700_000_000_000

payloads = st.none() | st.binary(max_size=40) | st.binary(min_size=120, max_size=140)
names = st.text(max_size=8)
headers = st.lists(st.tuples(names, payloads), max_size=3)
codecs = st.sampled_from(Codec)


@st.composite
def record_lists(draw: st.DrawFn, *, min_size: int = 0, max_size: int = 12, gaps: bool = True) -> list[NewRecord]:
    """Records of one batch, with rising offset deltas; `gaps` as compaction leaves them."""
    rows = draw(st.lists(st.tuples(payloads, payloads, headers, st.integers(-DAY_MS, DAY_MS)), max_size=max_size,
                         min_size=min_size))  # fmt: skip
    found, delta = [], -1
    for value, key, pairs, time_delta in rows:
        delta += draw(st.integers(1, 200)) if gaps else 1
        found.append(NewRecord(value, key, pairs, NOW_MS + time_delta, delta))
    return found


@st.composite
def batches(draw: st.DrawFn, *, codec: st.SearchStrategy[Codec] = codecs, min_size: int = 0) -> bytes:
    """Whole batches of format 2."""
    records = draw(record_lists(min_size=min_size))
    last = max((record.offset_delta or 0 for record in records), default=0)
    return build_batch(
        records,
        base_offset=draw(st.integers(0, 2**40)),
        codec=draw(codec),
        last_offset_delta=last + draw(st.integers(0, 5)),
        partition_leader_epoch=draw(st.integers(-1, 100)),
        producer_id=draw(st.integers(-1, 2**40)),
        producer_epoch=draw(st.integers(-1, 2**15 - 1)),
        base_sequence=draw(st.integers(-1, 2**31 - 1)),
        transactional=draw(st.booleans()),
        log_append_time_ms=draw(st.none() | st.integers(0, 2 * NOW_MS)),
    )


@st.composite
def damaged(draw: st.DrawFn, whole: st.SearchStrategy[bytes]) -> bytes:
    """Bytes of `whole` that were cut, changed in some places, or prolonged."""
    data = bytearray(draw(whole))
    for _ in range(draw(st.integers(0, 4))):
        if data:
            data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    if draw(st.booleans()):
        del data[draw(st.integers(0, len(data))) :]
    return bytes(data) + draw(st.binary(max_size=3))


def plain(message: Any) -> tuple[Any, ...]:
    """Everything a message says."""
    return (
        message.topic(),
        message.partition(),
        message.offset(),
        message.key(),
        message.value(),
        message.headers(),
        message.error(),
        message.timestamp(),
        message.latency(),
        message.leader_epoch(),
        len(message),
    )
