"""kafka_core.kernels.Accumulator when the loop's thread gets its turn in the middle of a call.

A garbage collection inside `produce` may run Python code and so let another thread run. Here the collector's own
callback plays that thread, at every collection in turn.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from kafka_core.kernels import IMPL, Accumulator

pytestmark = pytest.mark.skipif(IMPL != "native", reason="the pure accumulator holds a lock instead")


def make(wake: Callable[[], object] | None = None) -> Accumulator:
    return Accumulator(
        batch_size_bytes=1000,
        batch_max_records=100,
        max_queue_records=1000,
        max_queue_bytes=1_000_000,
        max_message_bytes=10_000,
        partitioner="murmur2_random",
        wake=wake,
    )


@contextmanager
def in_collection(number: int, action: Callable[[], object]) -> Iterator[list[int]]:
    """Runs `action` inside the collection with that number; there is one at nearly every allocation.

    Yields a list that is not empty once it was run: a call may have fewer collections.
    """
    ran: list[int] = []
    seen = 0
    # Small tuples come from a list of freed ones, without a collection; while these are held, it is empty.
    held = [(size,) * size for size in range(2, 9) for _ in range(3000)]

    def callback(phase: str, _: object) -> None:
        nonlocal seen
        if phase == "start":
            seen += 1
            if seen == number:
                ran.append(number)
                action()

    thresholds = gc.get_threshold()
    gc.callbacks.append(callback)
    gc.set_threshold(1)
    try:
        yield ran
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(callback)
        held.clear()


@pytest.mark.parametrize("number", range(1, 9))
def test_a_record_is_not_forgotten_when_its_topic_is_found_meanwhile(number: int) -> None:
    accumulator = make()
    with in_collection(number, lambda: accumulator.set_partition_count("t", 1)) as ran:
        accumulator.produce("t", b"v")
    if not ran:
        accumulator.set_partition_count("t", 1)
    batches, _ = accumulator.take_ready(0.0, 0.0, True)
    assert [batch.count for batch in batches] == [1]
    assert not accumulator.has_open


@pytest.mark.parametrize("number", range(1, 9))
def test_records_that_move_are_not_overtaken(number: int) -> None:
    accumulator = make()
    for value in (b"1", b"2", b"3"):
        accumulator.produce("t", value)
    with in_collection(number, lambda: accumulator.produce("t", b"4")) as ran:
        accumulator.set_partition_count("t", 1)
    batches, _ = accumulator.take_ready(0.0, 0.0, True)
    values = [message.value() for batch in batches for _, message in batch.reports(None, 0)]
    assert values == [b"1", b"2", b"3", *([b"4"] if ran else [])]


@pytest.mark.parametrize("number", range(1, 9))
def test_batches_taken_in_the_middle_of_produce_leave_nothing_behind_unannounced(number: int) -> None:
    wakes: list[str] = []
    taken: list[bytes] = []
    accumulator = make(wake=lambda: wakes.append("wake"))
    accumulator.set_partition_count("t", 1)

    def take() -> None:
        wakes.clear()
        batches, _ = accumulator.take_ready(0.0, 0.0, True)
        taken.extend(message.value() for batch in batches for _, message in batch.reports(None, 0))

    values = [b"%d" % index for index in range(4)]
    with in_collection(number, take):
        for value in values:
            accumulator.produce("t", value, timestamp=1, headers=[("a", b"b")])
    announced = bool(wakes)
    before = len(taken)
    take()
    assert taken == values
    assert announced or len(taken) == before, "what is left must have woken the loop"
    assert not accumulator.has_open
