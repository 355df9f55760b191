"""The `KafkaConsumer` of 0.9.5: several topics, messages marked as done, no group to join.

Spec: the manual of kafka-python 0.9.5 (kafka.consumer.kafka).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, Self

from kafka_core import Consumer, KafkaException, TopicPartition
from kserdes.compat.simple.client import EARLIEST, LATEST, KafkaClient, error_code, raised
from kserdes.compat.simple.common import (
    ConsumerTimeout,
    KafkaConfigurationError,
    KafkaMessage,
    OffsetCommitRequest,
    OffsetFetchRequest,
    OffsetOutOfRangeError,
    OffsetRequest,
    UnknownError,
    UnknownTopicOrPartitionError,
    kafka_errors,
)
from kserdes.compat.simple.util import text

BATCH: Final = 500
STEP_S: Final = 0.1

Key = tuple[str, int]


class OffsetsStruct(NamedTuple):
    """(topic, partition) → offset, four times: to read next, the end, committed, marked as done."""

    fetch: dict[Key, int]
    highwater: dict[Key, int]
    commit: dict[Key, int]
    task_done: dict[Key, int]


def same(msg: Any) -> Any:
    """The value as it is."""
    return msg


class KafkaConsumer:
    """Reads topics, or partitions of them; `configure` and `set_topic_partitions` may also be called later.

    Args:
        topics: what `set_topic_partitions` takes.
        configs: see DEFAULT_CONFIG and `configure`.
    """

    DEFAULT_CONFIG: Final[Mapping[str, Any]] = {
        "client_id": "kafka.consumer.kafka",
        "group_id": None,
        "bootstrap_servers": [],
        "socket_timeout_ms": 30 * 1000,
        "fetch_message_max_bytes": 1024 * 1024,
        "auto_offset_reset": "largest",
        "fetch_min_bytes": 1,
        "fetch_wait_max_ms": 100,
        "refresh_leader_backoff_ms": 200,
        "deserializer_class": same,
        "auto_commit_enable": False,
        "auto_commit_interval_ms": 60 * 1000,
        "auto_commit_interval_messages": None,
        "consumer_timeout_ms": -1,
    }

    def __init__(self, *topics: Any, **configs: Any) -> None:
        self._config: dict[str, Any] = dict(self.DEFAULT_CONFIG)
        self._client: KafkaClient | None = None
        self._reader: Consumer | None = None
        self._topics: list[Key] = []
        self._offsets = OffsetsStruct({}, {}, {}, {})
        self._messages: Iterator[KafkaMessage] | None = None
        self._done_since_commit = 0
        self._commit_at_s = float("inf")
        self.configure(**configs)
        self.set_topic_partitions(*topics)

    def configure(self, **configs: Any) -> None:
        """Settings by the names of DEFAULT_CONFIG; connects to `bootstrap_servers`.

        Raises:
            KafkaConfigurationError: a setting is unknown, automatic commits have no group, or there are no servers.
            KafkaUnavailableError: none of them answers.
        """
        unknown = sorted(set(configs) - set(self.DEFAULT_CONFIG))
        if unknown:
            raise KafkaConfigurationError(f"KafkaConsumer has no setting {unknown[0]!r}")
        config = {**self._config, **configs}
        if config["auto_commit_enable"] and config["group_id"] is None:
            raise KafkaConfigurationError("auto_commit_enable needs a group_id")
        if not config["bootstrap_servers"]:
            raise KafkaConfigurationError("bootstrap_servers are needed")
        self.close()
        self._config = config
        timeout_ms = config["socket_timeout_ms"]
        self._client = KafkaClient(config["bootstrap_servers"], config["client_id"], timeout_ms / 1000)
        self._reader = self._client.consumer(
            config["group_id"],
            fetch_min_bytes=config["fetch_min_bytes"],
            fetch_wait_max_ms=config["fetch_wait_max_ms"],
            max_partition_fetch_bytes=config["fetch_message_max_bytes"],
            retry_backoff_ms=config["refresh_leader_backoff_ms"],
        )
        if config["auto_commit_enable"]:
            self._commit_at_s = time.monotonic() + config["auto_commit_interval_ms"] / 1000
        self._assign()

    @property
    def _connected(self) -> tuple[KafkaClient, Consumer]:
        if self._client is None or self._reader is None:
            raise KafkaConfigurationError("the consumer is closed: call configure()")
        return self._client, self._reader

    # ---- what is read

    def set_topic_partitions(self, *topics: Any) -> None:
        """Replaces the topics and partitions read.

        Args:
            topics: a topic; (topic, partition); (topic, partition, offset); {topic: partition or several};
                {(topic, partition): offset}. Without an offset: behind what the group has committed, or where
                auto_offset_reset says.

        Raises:
            UnknownTopicOrPartitionError: there is no such topic or partition. KafkaConfigurationError: something else
                was given, or auto_offset_reset says nothing where it must.
        """
        client, _ = self._connected
        wanted: dict[Key, int | None] = {}
        for each in topics:
            wanted.update(self._places(each))
        for topic, number in wanted:
            if number not in client.get_partition_ids_for_topic(topic):
                raise UnknownTopicOrPartitionError(f"there is no partition {number} of topic {topic!r}")
        self._messages = None  # before the offsets: what was taken and not given is sought back
        self._topics = list(wanted)
        self._offsets = OffsetsStruct({}, {}, {}, {})
        self._fetch_committed()
        for key, offset in wanted.items():
            if offset is not None:
                self._offsets.fetch[key] = offset
            elif key in self._offsets.commit:
                self._offsets.fetch[key] = self._offsets.commit[key]
            else:
                self._reset(key)
        self._assign()

    def _places(self, given: Any) -> dict[Key, int | None]:
        client, _ = self._connected
        if isinstance(given, (str, bytes)):
            name = text(given)
            client.ensure_topic_exists(name)
            return {(name, number): None for number in client.get_partition_ids_for_topic(name)}
        if isinstance(given, tuple) and len(given) in (2, 3):
            name, number, *offset = given
            self._know(text(name))
            return {(text(name), number): offset[0] if offset else None}
        if isinstance(given, Mapping):
            found: dict[Key, int | None] = {}
            for key, value in given.items():
                if isinstance(key, tuple):
                    found.update(self._places((*key, value)))
                else:
                    numbers = value if isinstance(value, (list, tuple)) else [value]
                    for number in numbers:
                        found.update(self._places((key, number)))
            return found
        raise KafkaConfigurationError(
            f"a topic, (topic, partition[, offset]) or a dict of them was expected, not {given!r}"
        )

    def _know(self, topic: str) -> None:
        client, _ = self._connected
        if not client.has_metadata_for_topic(topic):
            client.ensure_topic_exists(topic)

    def _fetch_committed(self) -> None:
        client, _ = self._connected
        group = self._config["group_id"]
        if group is None or not self._topics:
            return
        asked = [OffsetFetchRequest(topic, number) for topic, number in self._topics]
        for response in client.send_offset_fetch_request(group, asked):
            if response.offset >= 0:
                key = (text(response.topic), response.partition)
                self._offsets.commit[key] = self._offsets.task_done[key] = response.offset

    def _reset(self, key: Key) -> None:
        when = {"largest": LATEST, "smallest": EARLIEST}.get(self._config["auto_offset_reset"])
        if when is None:
            raise OffsetOutOfRangeError(
                f"{key[0]}[{key[1]}] has no offset to begin at, and auto_offset_reset is "
                f"{self._config['auto_offset_reset']!r}"
            )
        (self._offsets.fetch[key],) = self.get_partition_offsets(key[0], key[1], when, 1)

    def _assign(self) -> None:
        _, reader = self._connected
        fetch = self._offsets.fetch
        reader.assign([TopicPartition(topic, number, fetch[topic, number]) for topic, number in self._topics])

    def get_partition_offsets(
        self, topic: str | bytes, partition: int, request_time_ms: int, max_num_offsets: int
    ) -> list[int]:
        """Offsets by time: -1 for the end, -2 for the beginning, else where the messages before this time end."""
        client, _ = self._connected
        request = OffsetRequest(topic, partition, request_time_ms, max_num_offsets)
        (response,) = client.send_offset_request([request])
        return list(response.offsets)

    # ---- messages

    def fetch_messages(self) -> Iterator[KafkaMessage]:
        """The messages that have come; ends when there are no more for `fetch_wait_max_ms`."""
        _, reader = self._connected
        if not self._topics:
            raise KafkaConfigurationError("no topics or partitions are set")
        decode = self._config["deserializer_class"]
        try:
            messages = reader.consume(BATCH, max(self._config["fetch_wait_max_ms"] / 1000, STEP_S))
        except KafkaException as error:
            raise raised(error) from error
        for index, message in enumerate(messages):
            key = (message.topic() or "", message.partition() or 0)
            failed = message.error()
            if failed is not None:
                code = error_code(failed)
                if code != OffsetOutOfRangeError.errno:
                    self._again(reader, messages[index + 1 :])
                    raise kafka_errors.get(code, UnknownError)(str(failed))
                self._reset(key)
                reader.seek(TopicPartition(key[0], key[1], self._offsets.fetch[key]))
                continue
            offset = message.offset() or 0
            try:
                value = decode(message.value())
            except BaseException:
                self._again(reader, messages[index:])
                raise
            self._offsets.fetch[key] = offset + 1
            try:
                yield KafkaMessage(key[0], key[1], offset, message.key(), value)
            except GeneratorExit:
                self._again(reader, messages[index + 1 :])
                raise

    def _again(self, reader: Consumer, messages: list[Any]) -> None:
        """Goes back to messages that were taken from the reader and not given."""
        for topic, number in {(message.topic(), message.partition()) for message in messages}:
            reader.seek(TopicPartition(topic, number, self._offsets.fetch[topic, number]))

    def next(self) -> KafkaMessage:
        """The next message.

        Raises:
            ConsumerTimeout: none came within `consumer_timeout_ms` (-1: it waits for ever).
        """
        limit_ms = self._config["consumer_timeout_ms"]
        deadline_s = time.monotonic() + limit_ms / 1000 if limit_ms >= 0 else float("inf")
        while True:
            self._commit_in_time()
            self._messages = self._messages or self.fetch_messages()
            for message in self._messages:
                return message
            self._messages = None
            if time.monotonic() > deadline_s:
                raise ConsumerTimeout(f"no message within {limit_ms} ms")

    __next__ = next

    def __iter__(self) -> Self:
        return self

    # ---- done and committed

    def task_done(self, message: KafkaMessage) -> bool:
        """Marks a message, and with it all before it in its partition, as done; `commit` commits behind it.

        Returns:
            False if its partition is not read here.
        """
        key = (text(message.topic), message.partition)
        if key not in self._offsets.fetch:
            return False
        self._offsets.task_done[key] = message.offset + 1
        self._done_since_commit += 1
        every = self._config["auto_commit_interval_messages"]
        if self._config["auto_commit_enable"] and every and self._done_since_commit >= every:
            self.commit()
        self._commit_in_time()
        return True

    def _commit_in_time(self) -> None:
        if time.monotonic() >= self._commit_at_s:
            self.commit()

    def commit(self) -> bool:
        """Commits behind messages marked as done. False if none is, since the last time.

        Raises:
            KafkaConfigurationError: there is no group. KafkaError: the brokers refuse.
        """
        client, _ = self._connected
        group = self._config["group_id"]
        if group is None:
            raise KafkaConfigurationError("a commit needs a group_id")
        if self._config["auto_commit_enable"]:
            self._commit_at_s = time.monotonic() + self._config["auto_commit_interval_ms"] / 1000
        self._done_since_commit = 0
        known = self._offsets.commit
        moved = {key: offset for key, offset in self._offsets.task_done.items() if known.get(key) != offset}
        if not moved:
            return False
        asked = [OffsetCommitRequest(topic, number, offset, None) for (topic, number), offset in moved.items()]
        client.send_offset_commit_request(group, asked)
        known.update(moved)
        return True

    def offsets(self, group: str | None = None) -> Any:
        """A copy of the offsets: one of fetch, highwater, commit and task_done, or all of them."""
        _, reader = self._connected
        for topic, number in self._topics:
            _, end = reader.get_watermark_offsets(TopicPartition(topic, number), cached=True)
            if end >= 0:
                self._offsets.highwater[topic, number] = end
        if group is None:
            return OffsetsStruct(*(dict(each) for each in self._offsets))
        return dict(getattr(self._offsets, group))

    def close(self) -> None:
        """Closes all connections; what is marked as done and not committed is not committed by it."""
        self._messages = None
        reader, client = self._reader, self._client
        self._reader = self._client = None
        self._commit_at_s = float("inf")
        if reader is not None:
            reader.close()
        if client is not None:
            client.close()

    def __repr__(self) -> str:
        return f"<KafkaConsumer topics={self._topics}>"
