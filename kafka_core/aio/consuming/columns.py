"""Taking records as Arrow columns, for `consume_arrow` of both faces.

Must not know threads or how columns are kept: the sink is the kernel's.
Spec: DESIGN §4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafka_core.aio.consuming.events import Notice
from kafka_core.engine.consuming.subscription import Key
from kafka_core.errors import ConsumeError, KafkaError
from kafka_core.kernels import Message

if TYPE_CHECKING:
    from kafka_core.aio.consuming.core import ConsumerCore


class ColumnTaker:
    """One `consume_arrow`: takes into columns until there are enough rows or an event stands in the way.

    Attributes:
        sink: the columns.
        first: where each partition in them stood before; a call that is broken off hands these back.
    """

    def __init__(self, core: ConsumerCore, sink: Any, limit: int) -> None:
        self.sink = sink
        self.first: dict[Key, int] = {}
        self._core = core
        self._left = limit
        self._empty = True

    def attempt(self, notice: Message | None) -> bool:
        """Takes what there is; whether that is enough. An event is raised if it comes first, else kept for later.

        Raises:
            ConsumeError: see above.
        """
        core = self._core
        if notice is not None:
            if self._empty:
                raise ConsumeError(error_of(notice), kafka_message=notice)
            core.inbox.appendleft(Notice(notice))
            return True
        while self._left > 0:
            taken = core.queue.take_columns(self.sink, self._left, self.first)
            self._left -= taken
            self._empty = self._empty and not taken
            event = core.queue.peek_event()
            if event is None:
                break
            error = error_of(event)
            if error.code() != KafkaError._PARTITION_EOF:
                if not self._empty:
                    return True
                core.queue.next()
                raise ConsumeError(error, kafka_message=event)
            core.queue.next()
        return self._left == 0 or (not self._empty and not core.positions.more_expected())


def error_of(message: Message) -> KafkaError:
    """The error that a notice or event carries."""
    error = message.error()
    return error if error is not None else KafkaError(KafkaError._FAIL, "an event without an error")
