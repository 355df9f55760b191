"""The dead-letter topic, where an executor posts records that can't be decoded or encoded.

Must not know of Spark or schemas. What a letter is, `dead_letters` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Self

import pyarrow as pa

from pipeline.client.delivery import Delivery


class LetterBox:
    """Posts letters; the producer is made with the first one, and `close` waits until all are delivered.

    Args:
        conf: of the producer.
        topic: where letters go.
        timeout_s: how long posting and `close` may make no progress.
        shared: what sends the letters instead of a producer of their own; who gives it finishes or aborts it.
    """

    def __init__(
        self, conf: Mapping[str, object], topic: str, timeout_s: float, *, shared: Delivery | None = None
    ) -> None:
        self._conf = dict(conf)
        self._topic = topic
        self._timeout_s = timeout_s
        self._shared = shared
        self._delivery: Delivery | None = None

    def post(self, letters: pa.RecordBatch) -> None:
        """Posts letters (`dead_letters.LETTERS`).

        Raises:
            WriteError: one can't be queued, or one was not delivered.
        """
        if self._shared is None and self._delivery is None:
            self._delivery = Delivery(self._conf, self._timeout_s)
        delivery = self._shared or self._delivery
        assert delivery is not None
        delivery.send(self._topic, letters)

    def close(self) -> None:
        """Waits until every letter is delivered.

        Raises:
            WriteError: one was not: the task must fail, or a record would be lost.
        """
        delivery, self._delivery = self._delivery, None
        if delivery is not None:
            delivery.finish()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None or isinstance(error, GeneratorExit):
            self.close()
            return
        delivery, self._delivery = self._delivery, None
        if delivery is not None:
            delivery.abort()
