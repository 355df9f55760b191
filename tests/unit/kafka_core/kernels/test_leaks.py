"""No compiled kernel of the client keeps memory: neither of what it did, nor of what it refused."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

from kafka_core.aio.producing.record_columns import record_columns
from kafka_core.errors import KafkaException
from kafka_core.records import NewRecord, build_batch
from tests.memory import kept

kernels = pytest.importorskip("kafka_core.kernels.native")

ROWS = pa.RecordBatch.from_pylist(
    [
        {"key": "k", "value": b"v" * 300, "partition": 1, "headers": [{"key": "h", "value": b"x"}]},
        {"key": None, "value": b"w", "partition": 0, "headers": None},
        {"key": "k", "value": b"x" * 3000, "partition": 1, "headers": None},
    ],
    schema=pa.schema(
        [
            ("key", pa.string()),
            ("value", pa.binary()),
            ("partition", pa.int32()),
            ("headers", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
        ]
    ),
)
BATCH = build_batch([NewRecord(b"v" * 50, b"k", [("h", b"x"), ("n", None)]) for _ in range(20)], base_offset=7)


def produce() -> None:
    """Records by one, as a list and as columns; refused ones; batches encoded, split, reported; a topic that fails."""
    memory = kernels.Accumulator(
        batch_size_bytes=1000, batch_max_records=5, max_queue_records=60, max_queue_bytes=10**6, max_message_bytes=2000
    )
    memory.set_partition_count("t", 2)
    for number in range(20):
        memory.produce("t", "v" * number, b"k", headers={"h": "x"}, on_delivery=lambda error, message: None)
        memory.produce("unknown", b"v", callback=print)
    messages = [{"value": "v", "key": b"k", "headers": [("h", b"x")]}, {"value": 5}, {"value": b"x" * 3000}]
    with contextlib.suppress(TypeError):
        memory.produce_batch("t", messages)
    memory.produce_batch("t", [messages[0], messages[2]])
    (columns,) = record_columns(ROWS)
    memory.produce_columns("t", columns, 0, 2)
    wrong = [
        {"value": 5},
        {"value": b"v", "headers": [("h", 5)]},
        {"value": b"x" * 3000},
        {"value": b"", "partition": 9},
    ]
    for options in wrong:
        with pytest.raises((TypeError, KafkaException)):
            memory.produce("t", **options)
    with pytest.raises(KafkaException):
        memory.produce_columns("t", columns, 2, 3)
    with pytest.raises(BufferError):
        for _ in range(60):
            memory.produce("t", b"v", b"k")
    for batch in memory.take_ready(0.0, 0.0, True)[0]:
        bytes(batch.encode(codec_id=2, compress=lambda data, *_: bytes(data), producer_id=5, base_sequence=1))
        batch.reports(None, 5)
        if batch.count > 1:
            [half.reports(ValueError(), -1, 5, 0.1) for half in batch.split()]
        memory.settle(batch.count, batch.size_bytes)
    memory.fail_topic("unknown")
    memory.produce("t", b"v", callback=print)
    memory.purge()


def consume() -> None:
    """Batches found, their records as messages and as columns; the same of damaged bytes."""
    for data in (BATCH, BATCH[:80] + b"\xff" * 40 + BATCH[120:], BATCH[:-5]):
        with contextlib.suppress(KafkaException):
            for header in kernels.scan_batches(data, check_crc=False):
                for sink in (None, kernels.ColumnSink()):
                    cursor = kernels.RecordCursor(data, 61, len(data), header, "t", 1, 3)
                    first, found = cursor.next(), []
                    if sink is None:
                        cursor.take(found, 5)
                    else:
                        cursor.take_columns(sink, 5)
                        [bytes(memoryview(column)) for column in sink.take() if not isinstance(column, int | list)]
                    found += [first, pickle.loads(pickle.dumps(first))]
                    assert [(repr(one), one.headers(), one.timestamp(), one.value()) for one in found]
    with pytest.raises(KafkaException):
        kernels.scan_batches(BATCH[:-1] + b"!")


def messages() -> None:
    """Messages that the application makes and changes, and the offsets stored behind them."""
    message = kernels.Message("t", 1, 5, b"k", b"v", [("h", b"x")])
    message.set_value({"a": [1]})
    message.set_key("k")
    message.set_headers([("n", None)])
    message.set_topic("u")
    message.set_error(ValueError("x"))
    kernels.set_delivery_count(message, 3)
    assert message == pickle.loads(pickle.dumps(kernels.Message("t"))) or message.delivery_count() == 3
    kernels.message_rows([kernels.Message(topic="t", headers={"h": b"x"}, value="v"), message])
    kernels.OffsetStore({("u", 1): SimpleNamespace(stored=None)}).forget()
    for wrong in ({"topic": 5}, {"headers": 5}, {"partition": "x"}):
        with contextlib.suppress(TypeError):
            kernels.Message(**wrong)


def hashes() -> None:
    """Check sums and hashes of any buffer."""
    for data in (b"", b"abc", memoryview(bytearray(5000))):
        kernels.crc32c(data), kernels.murmur2(data), kernels.fnv1a(data)


WORK: dict[Callable[[], None], str] = {
    produce: "accumulator record_columns",
    consume: "record_batch columns message",
    messages: "message",
    hashes: "record_batch",
}


@pytest.mark.parametrize("work", WORK)
def test_nothing_leaks(work: Callable[[], None]) -> None:
    found = kept(work)
    assert found.objects < 30
    assert found.malloc_bytes < 1_000


def test_every_kernel_is_among_them() -> None:
    sources = (Path(__file__).parents[4] / "kafka_core" / "kernels" / "native").glob("*.pyx")
    assert {path.stem for path in sources} == {name for names in WORK.values() for name in names.split()}
