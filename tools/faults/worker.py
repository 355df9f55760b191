"""One client in a process of its own: a producer, or a member of a group. It writes what it sees, line by line.

One code serves both clients, since they have one API. It judges nothing: `tools.faults.judge` does. Each line of the
history is a JSON array, written before anything else is done, so that a kill loses none of it:

    ["sent", time, number]                                       a record was handed to produce()
    ["acked", time, number, partition, offset]                   its delivery report
    ["failed", time, number, error code]                         the same, without success
    ["got", time, partition, offset, source, number]             poll() returned a record
    ["assigned" | "revoked" | "lost", time, [partition, …]]      a rebalance callback ran
    ["committed", time, {partition: offset, …}]                  on_commit ran, without error
    ["error", time, name, text]                                  error_cb, a message with an error, a failed commit
    ["ready", time]                                              all is imported: it waits for `begin`
    ["end", time, records left]                                  the client was flushed or closed

Times are monotonic seconds of this machine. On stdin it takes a word a line: `begin` (make the client: its timers begin
now, as those of all others do), `stop` (flush or close, and end), `die` (kill -9 of itself, between two records).
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FLUSH_S = 120.0
KEYS = 200


class Words:
    """The words that came on stdin; the end of it means `stop`."""

    def __init__(self) -> None:
        self.stop = False
        self.die = False
        self.begun = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in sys.stdin:
            if line.strip() == "begin":
                self.begun.set()
            elif line.strip() == "die":
                self.die = True
        self.stop = True
        self.begun.set()


class History:
    """The file that the lines go to."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab", buffering=0)

    def write(self, kind: str, *rest: object) -> None:
        self._file.write(json.dumps([kind, round(time.monotonic(), 6), *rest]).encode() + b"\n")


def wait_for(words: Words, history: History) -> None:
    """Returns when it is told to begin."""
    history.write("ready")
    words.begun.wait()


def produce(make: Any, conf: dict[str, Any], topic: str, source: str, rate: int, history: History) -> None:
    """Produces `rate` records a second, numbered from 0, until it is told to stop."""
    words = Words()
    conf["error_cb"] = lambda error: history.write("error", error.name(), error.str())
    wait_for(words, history)
    producer = make(conf)

    def report(error: Any, message: Any) -> None:
        number = int(message.value().split(b":")[1])
        if error is None:
            history.write("acked", number, message.partition(), message.offset())
        else:
            history.write("failed", number, error.name())

    sent, start_s = 0, time.monotonic()
    while not words.stop:
        due = int((time.monotonic() - start_s) * rate)
        while sent < due:
            try:
                producer.produce(topic, b"%s:%d" % (source.encode(), sent), b"k%d" % (sent % KEYS), on_delivery=report)
            except BufferError:
                break  # full: what is due waits here
            history.write("sent", sent)
            sent += 1
        producer.poll(0.005)
        if words.die:
            os.kill(os.getpid(), signal.SIGKILL)
    history.write("end", producer.flush(FLUSH_S))


def consume(make: Any, conf: dict[str, Any], topic: str, history: History) -> None:
    """Reads as a member of the group until it is told to stop."""
    words = Words()

    def committed(error: Any, partitions: Any) -> None:
        if error is not None:
            history.write("error", error.name(), f"commit: {error.str()}")
            return
        done = [place for place in partitions if place.error is None and place.offset >= 0]
        history.write("committed", {place.partition: place.offset for place in done})

    def note(kind: str) -> Any:
        return lambda _consumer, places: history.write(kind, [place.partition for place in places])

    conf["error_cb"] = lambda error: history.write("error", error.name(), error.str())
    conf["on_commit"] = committed
    wait_for(words, history)
    consumer = make(conf)
    consumer.subscribe([topic], on_assign=note("assigned"), on_revoke=note("revoked"), on_lost=note("lost"))
    while not words.stop:
        message = consumer.poll(0.1)
        if message is not None and message.error() is not None:
            history.write("error", message.error().name(), message.error().str())
        elif message is not None:
            source, number = message.value().split(b":")
            history.write("got", message.partition(), message.offset(), source.decode(), int(number))
        if words.die:
            os.kill(os.getpid(), signal.SIGKILL)
    consumer.close()
    history.write("end", 0)


def main(argv: Sequence[str]) -> None:
    """`argv`: one JSON object with `module`, `role`, `conf`, `topic`, `history`, and `source` and `rate` to produce."""
    job: dict[str, Any] = json.loads(argv[0])
    module, history = importlib.import_module(job["module"]), History(Path(job["history"]))
    if job["role"] == "producer":
        produce(module.Producer, job["conf"], job["topic"], job["source"], job["rate"], history)
    else:
        consume(module.Consumer, job["conf"], job["topic"], history)


if __name__ == "__main__":
    main(sys.argv[1:])
