"""The cost of one call of a kernel: the budgets of DESIGN §8 (produce, decode), hashing, encoding, columns.

`python -m benchmarks.micro_kernels [native|pure] [--check]` prints ns per record (or per KiB) as the best of several
rounds, the cost of an empty loop taken off. `--check` fails over budget; that means little on a busy machine.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

RECORDS = 50_000
ROUNDS = 7
VALUES = [b"%0100d" % number for number in range(1000)]
KEY = b"customer-7"
BUDGET_NS = {"produce": 200, "produce, callback": 250, "produce, bound method": 300, "decode + value()": 130}
"""Of the native kernels, per record of 100 bytes."""


class Cost(NamedTuple):
    """One line of the report."""

    name: str
    ns: float
    unit: str


class Listener:
    """An application's on_delivery: a method of some object."""

    def done(self, error: object, message: object) -> None: ...


def ignore(error: object, message: object) -> None: ...


def best_s(work: Callable[[], object]) -> float:
    """Seconds of the fastest round."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def filled(kernels: ModuleType, *arguments: Any, listener: Listener | None = None, **options: Any) -> Any:
    """An accumulator with RECORDS records; `listener.done` is looked up for each, as applications do."""
    memory = kernels.Accumulator(
        batch_size_bytes=131_072,
        batch_max_records=100_000,
        max_queue_records=0,
        max_queue_bytes=1 << 40,
        max_message_bytes=1_000_000,
    )
    memory.set_partition_count("topic", 4)
    produce = memory.produce
    if listener is not None:
        for number in range(RECORDS):
            produce("topic", VALUES[number % 1000], on_delivery=listener.done)
    else:
        for number in range(RECORDS):
            produce("topic", VALUES[number % 1000], *arguments, **options)
    return memory


def loop_s() -> float:
    """Seconds of a loop like the one in `filled`, without the call."""

    def nothing() -> None:
        for number in range(RECORDS):
            VALUES[number % 1000]

    return best_s(nothing)


def produce_costs(kernels: ModuleType) -> Iterator[Cost]:
    """Each includes the share of a batch's making and of its sealing."""
    empty_s = loop_s()
    ways: dict[str, Callable[[], object]] = {
        "produce": lambda: filled(kernels),
        "produce, key": lambda: filled(kernels, KEY),
        "produce, callback": lambda: filled(kernels, None, -1, ignore),
        "produce, bound method": lambda: filled(kernels, listener=Listener()),
        "produce, header": lambda: filled(kernels, headers=[("trace", KEY)]),
    }
    for name, work in ways.items():
        yield Cost(name, (best_s(work) - empty_s) / RECORDS * 1e9, "record")


def batch_costs(kernels: ModuleType) -> Iterator[Cost]:
    """A batch on its way out, and the same one coming in."""
    batches, _ = filled(kernels, KEY).take_ready(0.0, 0.0, True)
    batch = max(batches, key=lambda found: int(found.count))
    encoded = bytes(batch.encode())
    (header,) = kernels.scan_batches(encoded)

    def cursor() -> Any:
        return kernels.RecordCursor(encoded, header.payload_position, len(encoded), header, "topic", 0, 0)

    def read() -> None:
        out: list[Any] = []
        cursor().take(out, header.count)
        for message in out:
            message.value()

    ways: dict[str, Callable[[], object]] = {
        "reports()": lambda: batch.reports(None, 0),
        "decode": lambda: cursor().take([], header.count),
        "decode + value()": read,
        "decode to columns": lambda: kernels.ColumnSink().fill(cursor(), header.count),
        "scan_batches(), CRC": lambda: kernels.scan_batches(encoded),
    }
    for name, work in ways.items():
        yield Cost(name, best_s(work) / header.count * 1e9, "record")


def hash_costs(kernels: ModuleType) -> Iterator[Cost]:
    """Per KiB of 100 KiB."""
    data = bytes(range(256)) * 400
    for name in ("crc32c", "murmur2", "fnv1a"):
        yield Cost(name, best_s(partial(getattr(kernels, name), data)) / (len(data) / 1024) * 1e9, "KiB")


def main(arguments: list[str]) -> int:
    """Prints the table; 1 if `--check` was given and something is over budget."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("implementation", nargs="?", choices=("native", "pure"), default="native")
    parser.add_argument("--check", action="store_true", help="fail if a budget is exceeded")
    options = parser.parse_args(arguments)
    kernels = importlib.import_module(f"kafka_core.kernels.{options.implementation}")
    over = []
    for costs in (produce_costs(kernels), batch_costs(kernels), hash_costs(kernels)):
        for cost in costs:
            budget = BUDGET_NS.get(cost.name) if options.implementation == "native" else None
            print(f"{cost.name:24}{cost.ns:10.0f} ns/{cost.unit}" + (f"   budget {budget}" if budget else ""))
            if budget is not None and cost.ns > budget:
                over.append(cost.name)
    if options.check and over:
        print(f"over budget: {', '.join(over)}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
