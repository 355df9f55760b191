"""Requests that lack only their records: what `produce` sends itself, when it does, and what the loop finds then."""

from __future__ import annotations

import importlib
import socket
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from kafka_core.errors import StateError
from kafka_core.kernels import IMPL
from kafka_core.kernels.pure import Accumulator as PureAccumulator
from kafka_core.kernels.pure import PreparedRequest as PurePreparedRequest
from kafka_core.protocol.primitives import write_uvarint

HEAD, TAIL = b"head of the request", b"\0\0\0"


@pytest.fixture
def kernels() -> ModuleType:
    if IMPL != "native":
        pytest.skip("the pure kernels never send a prepared request")
    return importlib.import_module("kafka_core.kernels.native")


@pytest.fixture
def wires() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    with ours, theirs:
        yield ours, theirs


class Woken(list[None]):
    def __call__(self) -> None:
        self.append(None)


def accumulator(kernels: ModuleType, wake: Callable[[], object] | None = None) -> Any:
    memory = kernels.Accumulator(
        batch_size_bytes=100_000,
        batch_max_records=1000,
        max_queue_records=1000,
        max_queue_bytes=10_000_000,
        max_message_bytes=1_000_000,
        wake=wake,
        time_ms=lambda: 1_700_000_000_000,
    )
    memory.set_partition_count("t", 2)
    memory.produce("t", b"the first one makes the partitions", partition=1)
    memory.take_ready(0.0, 0.0, True)
    return memory


def prepared(kernels: ModuleType, fileno: Callable[[], int]) -> Any:
    return kernels.PreparedRequest(fileno, HEAD, TAIL, 7, 3, 42)


def received(wire: socket.socket) -> bytes:
    found = bytearray()
    while True:
        try:
            found += wire.recv(1 << 20)
        except BlockingIOError:
            return bytes(found)


def frame(batch: Any) -> bytes:
    """The bytes sent for a batch, put together the slow way."""
    records = bytes(batch.encode(producer_id=7, producer_epoch=3, base_sequence=42))
    body = bytearray(HEAD)
    write_uvarint(body, len(records) + 1)
    body += records + TAIL
    return len(body).to_bytes(4, "big") + body


def test_the_next_record_is_sent_by_produce(kernels: ModuleType, wires: Any) -> None:
    woken = Woken()
    memory = accumulator(kernels, woken)
    queued = memory.queued_records
    request = prepared(kernels, wires[0].fileno)
    assert memory.prepare("t", 1, request)
    woken.clear()
    memory.produce("t", b"value", b"key", 1, headers=[("h", b"x")])
    assert len(woken) == 1  # the loop must know that an answer is due
    sent = received(wires[1])
    twin = accumulator(kernels)
    twin.produce("t", b"value", b"key", 1, headers=[("h", b"x")])
    assert sent == frame(twin.take_ready(0.0, 0.0, True)[0][0])
    assert (request.frame, request.sent_bytes) == (sent, len(sent))
    assert (request.batch.topic, request.batch.partition, request.batch.count) == ("t", 1, 1)
    assert request.withdraw()
    assert memory.take_ready(0.0, 0.0, True)[0] == []  # it is nobody else's
    assert memory.queued_records == queued + 1  # until it is settled


def test_the_batch_is_as_any_other_one(kernels: ModuleType, wires: Any) -> None:
    """It is sent again under other numbers, and reported."""
    memory = accumulator(kernels)
    request = prepared(kernels, wires[0].fileno)
    assert memory.prepare("t", 1, request)
    callback = Woken()
    memory.produce("t", b"value", partition=1, on_delivery=callback)
    first = bytes(request.batch.encode(producer_id=7, producer_epoch=3, base_sequence=42))
    again = bytes(request.batch.encode(producer_id=7, producer_epoch=4, base_sequence=0))
    assert first != again
    assert len(first) == len(again)
    [(told, message)] = request.batch.reports(None, 5)
    assert (told, message.value(), message.offset()) == (callback, b"value", 5)


def test_it_is_used_once(kernels: ModuleType, wires: Any) -> None:
    memory = accumulator(kernels)
    request = prepared(kernels, wires[0].fileno)
    assert memory.prepare("t", 1, request)
    memory.produce("t", b"first", partition=1)
    size = len(received(wires[1]))
    memory.produce("t", b"second", partition=1)
    assert size == len(request.frame)
    assert received(wires[1]) == b""
    [batch] = memory.take_ready(0.0, 0.0, True)[0]
    assert [message.value() for _, message in batch.reports(None, 0)] == [b"second"]


def test_other_partitions_go_the_usual_way(kernels: ModuleType, wires: Any) -> None:
    memory = accumulator(kernels)
    request = prepared(kernels, wires[0].fileno)
    assert memory.prepare("t", 1, request)
    memory.produce("t", b"other", partition=0)
    assert request.batch is None
    memory.produce("t", b"own", partition=1)
    assert request.batch is not None
    [batch] = memory.take_ready(0.0, 0.0, True)[0]
    assert batch.partition == 0


def test_withdrawn_it_sends_nothing(kernels: ModuleType, wires: Any) -> None:
    woken = Woken()
    memory = accumulator(kernels, woken)
    request = prepared(kernels, wires[0].fileno)
    assert memory.prepare("t", 1, request)
    woken.clear()
    assert not request.withdraw()
    memory.produce("t", b"value", partition=1)
    assert (received(wires[1]), request.batch) == (b"", None)
    assert len(woken) == 1
    assert len(memory.take_ready(0.0, 0.0, True)[0]) == 1


def test_where_records_wait_nothing_is_prepared(kernels: ModuleType, wires: Any) -> None:
    memory = accumulator(kernels)
    request = prepared(kernels, wires[0].fileno)
    memory.produce("t", b"waits", partition=1)
    assert not memory.prepare("t", 1, request)
    assert not memory.prepare("t", 2, request)
    assert not memory.prepare("t", -1, request)
    assert not memory.prepare("unknown", 0, request)
    memory.produce("t", b"waits, too", partition=1)
    assert received(wires[1]) == b""


def test_a_quiet_one_wakes_nobody(kernels: ModuleType, wires: Any) -> None:
    woken = Woken()
    memory = accumulator(kernels, woken)
    request = prepared(kernels, wires[0].fileno)
    request.quiet = True
    assert memory.prepare("t", 1, request)
    woken.clear()
    memory.produce("t", b"value", partition=1)
    assert request.batch is not None
    assert woken == []


def test_a_wake_that_failed_is_made_up_for(kernels: ModuleType, wires: Any) -> None:
    failures = [KeyboardInterrupt()]
    woken = Woken()

    def wake() -> None:
        if failures:
            raise failures.pop()
        woken.append(None)

    memory = kernels.Accumulator(
        batch_size_bytes=1000,
        batch_max_records=10,
        max_queue_records=100,
        max_queue_bytes=10_000,
        max_message_bytes=1000,
        wake=wake,
    )
    memory.set_partition_count("t", 2)
    with pytest.raises(KeyboardInterrupt):
        memory.produce("t", b"its wake fails", partition=0)
    memory.take_ready(0.0, 0.0, True)
    request = prepared(kernels, wires[0].fileno)
    request.quiet = True
    assert memory.prepare("t", 0, request)
    memory.produce("t", b"value", partition=0)
    assert request.batch is not None
    assert len(woken) == 1


def test_what_the_socket_does_not_take_is_left_to_the_loop(kernels: ModuleType, wires: Any) -> None:
    ours, theirs = wires
    while True:
        try:
            ours.send(b"x" * 65536)
        except BlockingIOError:
            break
    memory = accumulator(kernels)
    request = prepared(kernels, ours.fileno)
    assert memory.prepare("t", 1, request)
    memory.produce("t", b"v" * 10_000, partition=1)
    assert request.withdraw()
    assert request.sent_bytes < len(request.frame)
    assert received(theirs).endswith(b"x" + request.frame[: request.sent_bytes])


def test_a_socket_that_the_other_side_has_closed_is_the_loops_to_find(kernels: ModuleType, wires: Any) -> None:
    ours, theirs = wires
    theirs.close()
    memory = accumulator(kernels)
    request = prepared(kernels, ours.fileno)
    assert memory.prepare("t", 1, request)
    memory.produce("t", b"value", partition=1)
    assert (request.withdraw(), request.sent_bytes) == (True, 0)


def test_a_closed_socket_is_not_written_to(kernels: ModuleType, wires: Any) -> None:
    """Its number may be another socket's by now."""
    ours, _ = wires
    memory = accumulator(kernels)
    request = prepared(kernels, ours.fileno)
    assert memory.prepare("t", 1, request)
    ours.close()
    memory.produce("t", b"value", partition=1)
    assert request.batch is None
    assert len(memory.take_ready(0.0, 0.0, True)[0]) == 1


def test_a_large_record_goes_the_usual_way(kernels: ModuleType, wires: Any) -> None:
    memory = accumulator(kernels)
    request = prepared(kernels, wires[0].fileno)
    assert memory.prepare("t", 1, request)
    memory.produce("t", b"v" * 20_000, partition=1)
    assert (received(wires[1]), request.batch) == (b"", None)


def test_a_closed_producer_sends_nothing(kernels: ModuleType, wires: Any) -> None:
    memory = accumulator(kernels)
    request = prepared(kernels, wires[0].fileno)
    assert memory.prepare("t", 1, request)
    memory.closed_reason = "closed"
    with pytest.raises(StateError, match="closed"):
        memory.produce("t", b"value", partition=1)
    assert received(wires[1]) == b""


def test_the_pure_kernels_never_send_one() -> None:
    memory: Any = accumulator(importlib.import_module("kafka_core.kernels.pure"))
    assert isinstance(memory, PureAccumulator)
    request = PurePreparedRequest(lambda: -1, HEAD, TAIL, 7, 3, 42)
    assert not memory.prepare("t", 1, request)
    memory.produce("t", b"value", partition=1)
    assert not request.withdraw()
    assert (request.batch, request.frame, request.sent_bytes, request.quiet) == (None, None, 0, False)
