"""Exactly once: a task's records and the mark that says they are written are one transaction.

Must not know of Spark or schemas. The protocol (decision 0067):

1. `init_transactions` with the task's own id: an earlier try of the task is fenced, what it left open is aborted.
2. Only then the mark is read, an offset of a group of the task's own. No earlier try can set it any more.
3. If it says that this turn is written, rows are counted, not sent; else they are sent with the mark, and committed.

A try that dies at any point leaves either nothing or everything. Spec: KIP-98, KIP-447 (stable offsets).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Self

import pyarrow as pa

from kafka_core import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from kafka_core.admin import AdminClient
from kafka_core.errors import KafkaError
from kafka_core.model import ConsumerGroupMetadata
from pipeline.client.delivery import Delivery
from pipeline.errors import WriteError

logger: Final = logging.getLogger("pipeline")
ABORT_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Turn:
    """One task's part of one write.

    Attributes:
        write: what the write is called, the same in all its tries: a stream's query, a batch's id.
        part: number of the task in it.
        number: of the turn, counted from 1; a stream's grow with its batches, a batch has one.
        run: what is the same as long as nothing is started anew; empty if it is not known.
    """

    write: str
    part: int
    number: int
    run: str = ""

    @property
    def name(self) -> str:
        """The transactional id, and the group of the mark."""
        return f"{self.write}-{self.part}"


@dataclass(slots=True)
class Mark:
    """The records a task has written in a turn.

    Attributes:
        number: of the turn.
        rows: records, letters too.
        size_bytes: of their keys and values.
        run: see `Turn`.
    """

    number: int
    rows: int = 0
    size_bytes: int = 0
    run: str = ""

    def count(self, records: pa.RecordBatch) -> None:
        """Counts records in; in any order they give the same."""
        self.rows += records.num_rows
        names = ("key", "value")
        self.size_bytes += sum(_size(records.column(name)) for name in names if name in records.schema.names)

    def as_position(self, topic: str) -> TopicPartition:
        """The mark as an offset to commit."""
        return TopicPartition(topic, 0, self.number, metadata=f"{self.rows} {self.size_bytes} {self.run}")

    @classmethod
    def of(cls, position: TopicPartition) -> Self:
        """The mark that was committed.

        Raises:
            WriteError: something else has committed there.
        """
        try:
            rows, size, run = (position.metadata or "").split(" ", 2)
            return cls(position.offset, int(rows), int(size), run)
        except ValueError:
            raise WriteError(f"the offset {position} of the group was not committed by this sink") from None


def _size(column: pa.Array) -> int:
    """Bytes of what a column of bytes or text holds."""
    import pyarrow.compute as pc

    if pa.types.is_null(column.type):
        return 0
    return pc.sum(pc.binary_length(column)).as_py() or 0


class OnceDelivery(Delivery):
    """Sends columns in a transaction, unless an earlier try of the same turn has committed them.

    Args:
        conf: of the producer; what concerns the connection is used for the mark, too.
        timeout_s: how long it may make no progress, and how long each call of the transaction may take.
        turn: the one written.
        admin_conf: of the client that reads the mark.

    Attributes:
        found: the last mark of an earlier turn, or of an earlier try of this one; None if there is none.

    Raises:
        OptionError: the client refuses an option `kafka.…`.
        WriteError: the transaction can't be had, or a later turn than this one is written already.
    """

    def __init__(
        self, conf: Mapping[str, object], timeout_s: float, turn: Turn, admin_conf: Mapping[str, object]
    ) -> None:
        super().__init__({**conf, "transactional.id": turn.name}, timeout_s)
        self._turn = turn
        self._mark = Mark(turn.number, run=turn.run)
        self._topic: str | None = None  # the first one written to; None: no transaction is open
        try:
            self._producer.init_transactions(timeout_s)
            self.found = read_mark(admin_conf, turn.name, timeout_s)
            if self.found is not None and self.found.number > turn.number:
                raise WriteError(
                    f"turn {self.found.number} of {turn.name} is in the topic already, and this is turn {turn.number}:"
                    " the checkpoint is older than what was written; begin with a new checkpoint where the topic ends"
                )
        except KafkaException as error:
            self.abort()
            raise self._failed("can't begin", error) from error
        except BaseException:
            self.abort()
            raise

    @property
    def written_before(self) -> bool:
        """Whether an earlier try has committed this turn: rows are only counted now."""
        return self.found is not None and self.found.number == self._turn.number

    @property
    def begins_a_run(self) -> bool:
        """Whether the task's last turn, if it had one, was in another run: a try may have been cut off since."""
        return self.found is None or self.found.run != self._turn.run

    def send(self, topic: str, records: pa.RecordBatch) -> None:
        """As `Delivery.send`; the first rows begin the transaction."""
        if not records.num_rows:
            return
        self._mark.count(records)
        if self.written_before:
            return
        if self._topic is None:
            try:
                self._producer.begin_transaction()
            except KafkaException as error:
                raise self._failed("can't begin", error) from error
            self._topic = topic
        super().send(topic, records)

    def finish(self) -> None:
        """Commits records and mark, and closes; without records there is nothing to do.

        Raises:
            WriteError: the transaction was not committed, or it is not known whether it was (another try finds out);
                or an earlier try has written other rows than this one.
        """
        try:
            if self.written_before:
                self._check_same()
            elif self._topic is not None:
                self._commit(self._topic)
        except BaseException:
            self.abort()
            raise
        self._producer.close()

    def abort(self) -> None:
        """Aborts what is open, and closes; if that fails the next try of the task does it."""
        topic, self._topic = self._topic, None
        try:
            if topic is not None:
                self._producer.abort_transaction(min(self._timeout_s, ABORT_S))
        except KafkaException as error:
            logger.warning("the transaction %s could not be aborted: %s", self._turn.name, error)
        finally:
            super().abort()

    def _commit(self, topic: str) -> None:
        deadline_s = time.monotonic() + self._timeout_s
        group = ConsumerGroupMetadata(self._turn.name)
        try:
            self._producer.send_offsets_to_transaction([self._mark.as_position(topic)], group, self._timeout_s)
            self._producer.commit_transaction(max(0.0, deadline_s - time.monotonic()))
        except KafkaException as error:
            self._check()  # names the failed record
            raise self._failed("was not committed", error) from error

    def _check_same(self) -> None:
        found = self.found
        assert found is not None
        if (found.rows, found.size_bytes) != (self._mark.rows, self._mark.size_bytes):
            raise WriteError(
                f"an earlier try of {self._turn.name} has written {found.rows} records of {found.size_bytes} bytes, and"
                f" now there are {self._mark.rows} of {self._mark.size_bytes}: a try must have the same rows in the"
                " same tasks, or rows are lost or doubled (rand(), now(), other numbers of partitions?)"
            )

    def _failed(self, what: str, error: KafkaException) -> WriteError:
        reason = error.args[0]
        hint = ""
        if isinstance(reason, KafkaError) and reason.code() in (KafkaError._FENCED, KafkaError.INVALID_PRODUCER_EPOCH):
            hint = " (another try of the task has taken over, or the time was over: kafka.transaction.timeout.ms)"
        return WriteError(f"the transaction {self._turn.name} {what}: {error}{hint}")


def read_mark(conf: Mapping[str, object], group: str, timeout_s: float) -> Mark | None:
    """The mark of a task; None if it has written nothing yet.

    Raises:
        KafkaException: the group's coordinator does not answer, or refuses.
        WriteError: as `Mark.of`.
    """
    with AdminClient(dict(conf)) as admin:
        return _marks(admin, [group], timeout_s).get(group)


def _marks(admin: AdminClient, groups: Iterable[str], timeout_s: float) -> dict[str, Mark]:
    """The newest mark of each group that has one: it may have been committed for several topics."""
    found = {}
    for group in groups:
        request = [ConsumerGroupTopicPartitions(group)]
        answer = admin.list_consumer_group_offsets(request, require_stable=True, request_timeout=timeout_s)
        positions = [one for one in answer[group].result().topic_partitions or () if one.offset >= 0]
        if positions:
            found[group] = Mark.of(max(positions, key=lambda one: one.offset))
    return found


def check_parts(conf: Mapping[str, object], write: str, number: int, parts: int, timeout_s: float) -> None:
    """Checks that no earlier try of a turn had more tasks than the one that has ended.

    Args:
        conf: of the client.
        write, number: of the turns.
        parts: how many tasks there are now.
        timeout_s: for each question.

    Raises:
        WriteError: a task of an earlier try that is not there now has committed: its rows are in the topic twice.
    """
    try:
        with AdminClient(dict(conf)) as admin:
            answer = admin.list_consumer_groups(request_timeout=timeout_s).result()
            if answer.errors:
                raise answer.errors[0]
            begin = f"{write}-"
            names = [one.group_id for one in answer.valid if one.group_id.startswith(begin)]
            more = [name for name in names if name[len(begin) :].isdecimal() and int(name[len(begin) :]) >= parts]
            twice = sorted(name for name, mark in _marks(admin, more, timeout_s).items() if mark.number == number)
    except KafkaException as error:
        raise WriteError(f"whether an earlier try of {write} had other tasks can't be found out: {error}") from error
    if twice:
        raise WriteError(
            f"an earlier try of turn {number} had more than {parts} tasks, and {', '.join(twice)} of them have"
            " committed: their rows are in the topic twice. A try must have the same number of partitions"
        )
