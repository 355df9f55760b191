"""Dead letters of a batch: bad rows as records for a dead-letter topic, with the headers that typed clients write.

Must not know of Spark. `letters` is for whoever holds the source's columns (the source and the sink of `kserdes`);
`pipeline.functions.splitting` makes the same of DataFrames. The headers are those of
`serdes.clients.poison.PoisonPolicy`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa

from pipeline.columns.modes import Fault

PREFIX: Final = "__dlq."
ERROR_CLASS: Final = "SerializationError"
HEADERS: Final = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
LETTERS: Final = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("headers", HEADERS),
        ("timestamp", pa.timestamp("us", tz="UTC")),
    ]
)
"""A dead letter: key and value as they came, the headers they came with and those that say why, and its timestamp."""


def letters(batch: pa.RecordBatch, faults: Sequence[Fault], field: str = "value") -> pa.RecordBatch:
    """The dead letters of a batch, in order of its rows; the columns are `LETTERS`.

    Headers added: `__dlq.topic`, `.partition`, `.offset`, `.timestamp` (ms since 1970), `.field`, `.error.class`,
    `.error.code` (a `RowCode`), `.error.message`, and if they are known `.schema.id` and `.path`, as texts.

    Args:
        batch: columns of the source: `key`, `value`, `topic`, `partition`, `offset`, `timestamp`, perhaps `headers`.
        faults: what is wrong with which rows; a row twice (key and value) is two letters.
        field: which of `key` and `value` could not be decoded.
    """
    rows = pa.array([fault.row for fault in faults], pa.int64())
    bad = batch.take(rows)
    origins = bad.select(["topic", "partition", "offset", "timestamp"]).to_pylist()
    had = bad.column("headers").to_pylist() if "headers" in bad.schema.names else [None] * len(faults)
    headers = [
        [*(given or []), *_told(fault, origin, field)]
        for fault, origin, given in zip(faults, origins, had, strict=True)
    ]
    columns = [bad.column("key"), bad.column("value"), pa.array(headers, HEADERS), bad.column("timestamp")]
    arrays = [column.cast(one.type) for column, one in zip(columns, LETTERS, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=LETTERS)


def _told(fault: Fault, origin: dict[str, Any], field: str) -> list[dict[str, Any]]:
    moment = origin["timestamp"]
    facts = {
        "topic": origin["topic"],
        "partition": origin["partition"],
        "offset": origin["offset"],
        "timestamp": None if moment is None else round(moment.timestamp() * 1000),
        "field": field,
        "error.class": ERROR_CLASS,
        "error.code": fault.code.value,
        "error.message": fault.reason,
        "schema.id": fault.schema_id,
        "path": fault.path,
    }
    return [{"key": f"{PREFIX}{name}", "value": str(fact).encode()} for name, fact in facts.items() if fact is not None]
