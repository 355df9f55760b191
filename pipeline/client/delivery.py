"""A task's producer: sends columns, and ends with all of them delivered or with an error.

Must not know of Spark or schemas.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import pyarrow as pa

from kafka_core import KafkaException, Message, Producer
from kafka_core.errors import ConfigError, KafkaError
from pipeline.errors import OptionError, WriteError

WAIT_S = 1.0


class Delivery:
    """Sends columns; idempotent unless the configuration says otherwise.

    Args:
        conf: of the producer.
        timeout_s: how long it may make no progress.

    Raises:
        OptionError: the client refuses an option `kafka.…`.
    """

    def __init__(self, conf: Mapping[str, object], timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._failures: list[tuple[str, KafkaError]] = []
        mine = {"on_delivery": self._told, "delivery.report.only.error": True}  # the others cost an object each
        try:
            self._producer = Producer({"enable.idempotence": True, **conf, **mine})
        except ConfigError as error:
            raise OptionError(f"an option kafka.… is refused: {error}") from error

    def send(self, topic: str, records: pa.RecordBatch) -> None:
        """Queues all rows, and waits for room where there is none.

        Args:
            topic: where to.
            records: columns as `Producer.produce_arrow` takes them.

        Raises:
            WriteError: a row can't be sent, a record was not delivered, or nothing goes out for too long.
        """
        deadline_s = time.monotonic() + self._timeout_s
        while records.num_rows:
            try:
                queued = self._producer.produce_arrow(topic, records)
                self._producer.poll(0 if queued == records.num_rows else WAIT_S)
            except (KafkaException, ValueError, TypeError) as error:
                raise WriteError(f"topic {topic!r}: {error}") from error
            self._check()
            if queued:
                deadline_s = time.monotonic() + self._timeout_s
            elif time.monotonic() > deadline_s:
                raise WriteError(f"topic {topic!r}: the queue is full, and nothing was sent for {self._timeout_s:g} s")
            records = records.slice(queued)

    def finish(self) -> None:
        """Waits until everything is delivered, and closes.

        Raises:
            WriteError: a record was not delivered.
        """
        try:
            left = self._producer.flush(self._timeout_s)
            self._check()
            if left:
                raise WriteError(f"{left} records were not delivered within {self._timeout_s:g} s")
        except BaseException:
            self.abort()
            raise
        self._producer.close()

    def abort(self) -> None:
        """Drops the records that are not delivered yet, and closes."""
        try:
            self._producer.purge()
        finally:
            self._producer.close(0)

    def _told(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._failures.append((f"{message.topic()}[{message.partition()}]", error))

    def _check(self) -> None:
        if self._failures:
            place, error = self._failures[0]
            raise WriteError(f"{place}: a record was not delivered: {error}")
