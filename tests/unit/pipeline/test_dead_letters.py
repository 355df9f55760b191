"""pipeline.columns.dead_letters: bad rows carry the headers that typed clients write."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa

from kafka_core.kernels import Message
from pipeline.columns.dead_letters import LETTERS, letters
from pipeline.columns.modes import Fault, RowCode
from serdes import SerializationError
from serdes.clients.poison import PoisonPolicy
from serdes.errors import ValueDeserializationError

AT = datetime(2026, 11, 22, 1, 2, 3, 456_000, UTC)


def batch() -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {
            "key": [b"k0", None],
            "value": [b"v0", b"v1"],
            "topic": ["t", "t"],
            "partition": pa.array([3, 3], pa.int32()),
            "offset": [7, 8],
            "timestamp": pa.array([AT, AT], pa.timestamp("us", tz="UTC")),
            "headers": [None, [{"key": "h", "value": b"x"}]],
        }
    )


def test_a_letter_is_what_a_typed_consumer_would_have_written() -> None:
    fault = Fault(1, RowCode.BAD_PAYLOAD, "the text", 5, "a[3].b")
    found = letters(batch(), [fault])
    assert found.schema == LETTERS
    (letter,) = found.to_pylist()
    millis = int(AT.timestamp() * 1000)
    message = Message("t", 3, offset=8, value=b"v1", headers=[("h", b"x")], timestamp=(1, millis))
    cause = SerializationError("the text", schema_id=5, path="a[3].b")
    error = ValueDeserializationError(cause, message)
    error.__cause__ = cause
    _, policy = PoisonPolicy.take({"dead.letter.topic": "dead"})
    expected = policy.letter(message, error)
    assert expected is not None
    ours = {one["key"]: one["value"] for one in letter["headers"]}
    assert ours.pop("__dlq.error.code") == b"BAD_PAYLOAD"
    assert ours == dict(expected.headers)
    assert (letter["key"], letter["value"], letter["timestamp"]) == (expected.key, expected.value, AT)


def test_what_is_not_known_is_left_out_and_order_is_kept() -> None:
    faults = [Fault(0, RowCode.NOT_FRAMED, "r0"), Fault(1, RowCode.UNKNOWN_SCHEMA, "r1", 9)]
    found = letters(batch(), faults, "key").to_pylist()
    assert [one["value"] for one in found] == [b"v0", b"v1"]
    names = [{header["key"] for header in one["headers"]} for one in found]
    assert "__dlq.schema.id" not in names[0]
    assert "__dlq.schema.id" in names[1]
    assert {header["key"]: header["value"] for header in found[0]["headers"]}["__dlq.field"] == b"key"
    assert letters(batch(), []).num_rows == 0
