"""`KafkaClient` of kafka-python 0.9.5: metadata, and requests as tuples, sent through producers and consumers of ours.

It speaks today's protocol to today's brokers. One client may be used by several threads.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final, TypeVar

from kafka_core import ConfigError, Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from kafka_core.admin import AdminClient
from kserdes.compat.simple import common
from kserdes.compat.simple.conn import DEFAULT_SOCKET_TIMEOUT_SECONDS, collect_hosts
from kserdes.compat.simple.protocol import ATTRIBUTE_CODEC_MASK, CODEC_GZIP, CODEC_NONE, CODEC_SNAPPY
from kserdes.compat.simple.util import kafka_bytestring, text

logger: Final = logging.getLogger("kserdes.compat")

COMPRESSION: Final = {CODEC_NONE: "none", CODEC_GZIP: "gzip", CODEC_SNAPPY: "snappy"}
LATEST, EARLIEST = -1, -2
POLL_S = 0.1
RETRY_S = 0.1
QUEUE_MESSAGES = 10_000_000

Response = TypeVar("Response")
Callback = Callable[[Any], Any] | None


def error_code(error: KafkaError) -> int:
    """The code of an error as brokers of that time gave it; -1 for what they did not know."""
    code = error.code()
    local = {
        KafkaError._TIMED_OUT: common.RequestTimedOutError.errno,
        KafkaError._MSG_TIMED_OUT: common.RequestTimedOutError.errno,
        KafkaError._UNKNOWN_TOPIC: common.UnknownTopicOrPartitionError.errno,
        KafkaError._UNKNOWN_PARTITION: common.UnknownTopicOrPartitionError.errno,
        KafkaError._AUTO_OFFSET_RESET: common.OffsetOutOfRangeError.errno,
    }
    code = local.get(code, code)
    return code if code in common.kafka_errors else common.UnknownError.errno


def raised(error: KafkaException) -> common.KafkaError:
    """The error of this dialect for one of ours."""
    if isinstance(error, ConfigError):
        return common.KafkaConfigurationError(str(error))
    first = error.args[0] if error.args else None
    if isinstance(first, KafkaError):
        if first.code() in (KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._RESOLVE):
            return common.KafkaUnavailableError(str(error))
        if first.code() == KafkaError._TIMED_OUT:
            return common.KafkaTimeoutError(str(error))
        return common.kafka_errors.get(error_code(first), common.UnknownError)(str(error))
    return common.UnknownError(str(error))


class KafkaClient:
    """A connection to a cluster.

    Args:
        hosts: `host[:port],…`, or a list of them.
        client_id: what brokers log.
        timeout: seconds for an answer; None: no limit.
        correlation_id: is not used.

    Raises:
        KafkaUnavailableError: no broker answers within the time-out.
    """

    CLIENT_ID = "kafka-python"

    def __init__(
        self,
        hosts: str | Sequence[str],
        client_id: str | bytes = CLIENT_ID,
        timeout: float | None = DEFAULT_SOCKET_TIMEOUT_SECONDS,
        correlation_id: int = 0,
    ) -> None:
        self.hosts = collect_hosts(hosts, randomize=False)
        self.client_id = kafka_bytestring(client_id)
        self.timeout = timeout
        self.correlation_id = correlation_id
        self._prepare()
        self.load_metadata_for_topics()

    def _prepare(self) -> None:
        self.brokers: dict[int, common.BrokerMetadata] = {}
        self.topic_partitions: dict[bytes, dict[int, common.PartitionMetadata]] = {}
        self.topics_to_brokers: dict[common.TopicAndPartition, common.BrokerMetadata | None] = {}
        self._lock = threading.RLock()
        self._producers: dict[tuple[int, int, int, int | None], Producer] = {}
        self._groups: dict[str, Consumer] = {}
        self._reader: Consumer | None = None
        self._admin: AdminClient | None = None

    # ---- clients of ours, made when they are needed

    def configuration(self) -> dict[str, Any]:
        """The properties that all clients of ours share, which work for this one."""
        servers = ",".join(f"{host}:{port}" for host, port in self.hosts)
        return {"bootstrap.servers": servers, "client.id": text(self.client_id)}

    def _timeout_s(self) -> float:
        return -1 if self.timeout is None else self.timeout

    def _producer(self, acks: int = 1, timeout_ms: int = 1000, codec: int = 0, level: int | None = None) -> Producer:
        with self._lock:
            key = (acks, timeout_ms, codec, level)
            if key not in self._producers:
                conf = {
                    **self.configuration(),
                    "acks": acks if acks in (0, 1) else -1,
                    "request.timeout.ms": timeout_ms,
                    "message.timeout.ms": 0 if self.timeout is None else int(self.timeout * 1000),
                    "enable.idempotence": False,
                    "compression.type": COMPRESSION[codec],
                    "queue.buffering.max.messages": QUEUE_MESSAGES,
                }
                self._producers[key] = Producer(conf if level is None else {**conf, "compression.level": level})
            return self._producers[key]

    def consumer(self, group: str | bytes | None = None, **properties: Any) -> Consumer:
        """A consumer of ours for this cluster, that commits nothing by itself; the caller closes it."""
        own = {name.replace("_", "."): value for name, value in properties.items()}
        quiet = {"enable.auto.commit": False, "enable.auto.offset.store": False, "auto.offset.reset": "error"}
        return Consumer({**self.configuration(), "group.id": text(group or self.client_id), **quiet, **own})

    def _fetching(self) -> Consumer:
        with self._lock:
            if self._reader is None:
                self._reader = self.consumer(enable_partition_eof=True)
            return self._reader

    def _commit_code(self, group: str | bytes, place: TopicPartition) -> int:
        """The outcome of one of several commits that failed."""
        try:
            self._group(group).commit(offsets=[place], asynchronous=False)
        except KafkaException as failed:
            return error_code(failed.args[0])
        return 0

    def _group(self, group: str | bytes) -> Consumer:
        with self._lock:
            name = text(group)
            if name not in self._groups:
                self._groups[name] = self.consumer(name)
            return self._groups[name]

    def close(self) -> None:
        """Ends all connections. What is used afterwards makes new ones."""
        with self._lock:
            consumers = [*self._groups.values(), *([self._reader] if self._reader else [])]
            producers = list(self._producers.values())
            self._groups, self._producers, self._reader, self._admin = {}, {}, None, None
        for each in consumers:
            each.close()
        for producer in producers:
            producer.flush(self._timeout_s())
            producer.close()

    def copy(self) -> KafkaClient:
        """Another client of the same cluster, which `reinit` connects."""
        other = KafkaClient.__new__(KafkaClient)
        other.hosts, other.client_id, other.timeout = list(self.hosts), self.client_id, self.timeout
        other.correlation_id = self.correlation_id
        other._prepare()
        return other

    def reinit(self) -> None:
        """Connects anew and learns the cluster's metadata."""
        self.close()
        self.load_metadata_for_topics()

    # ---- metadata

    @property
    def topics(self) -> list[bytes]:
        """The topics that are known here."""
        return list(self.topic_partitions)

    def has_metadata_for_topic(self, topic: str | bytes) -> bool:
        """Whether the topic is known here and has partitions."""
        return bool(self.topic_partitions.get(kafka_bytestring(topic)))

    def get_partition_ids_for_topic(self, topic: str | bytes) -> list[int]:
        """The topic's partitions, sorted; empty if it is not known here."""
        return sorted(self.topic_partitions.get(kafka_bytestring(topic), ()))

    def reset_topic_metadata(self, *topics: str | bytes) -> None:
        """Forgets these topics."""
        for topic in map(kafka_bytestring, topics):
            for number in self.topic_partitions.pop(topic, {}):
                self.topics_to_brokers.pop(common.TopicAndPartition(topic, number), None)

    def reset_all_metadata(self) -> None:
        """Forgets all topics."""
        self.topics_to_brokers.clear()
        self.topic_partitions.clear()

    def ensure_topic_exists(self, topic: str | bytes, timeout: float = 30) -> None:
        """Waits until the topic has partitions; the brokers may make it because it is asked for.

        Raises:
            KafkaTimeoutError: it has none in time.
        """
        deadline_s = time.monotonic() + timeout
        while not self.has_metadata_for_topic(topic):
            if time.monotonic() > deadline_s:
                raise common.KafkaTimeoutError(f"topic {text(topic)!r} has no partitions after {timeout} s")
            try:
                self.load_metadata_for_topics(topic)
            except (common.UnknownTopicOrPartitionError, common.LeaderNotAvailableError):
                time.sleep(RETRY_S)

    def load_metadata_for_topics(self, *topics: str | bytes) -> None:
        """Learns these topics, or the whole cluster.

        Raises:
            UnknownTopicOrPartitionError: one of these topics is not there. KafkaUnavailableError: nobody answers.
        """
        if topics:
            self.reset_topic_metadata(*topics)
        else:
            self.reset_all_metadata()
        response = self.send_metadata_request([text(topic) for topic in topics])
        for topic in response.topics:
            if topic.error:
                if topics:
                    common.check_error(topic)
                logger.error("topic %r: error %d", topic.topic, topic.error)
                continue
            self.topic_partitions[topic.topic] = {each.partition: each for each in topic.partitions}
            for each in topic.partitions:
                place = common.TopicAndPartition(topic.topic, each.partition)
                self.topics_to_brokers[place] = self.brokers.get(each.leader)

    def send_metadata_request(
        self, payloads: Sequence[str | bytes] = (), fail_on_error: bool = True, callback: Callback = None
    ) -> Any:
        """Brokers, and these topics or all. Topics that are not there may be made by that."""
        try:
            views = [self._producer().list_topics(text(topic), self._timeout_s()) for topic in payloads]
            views = views or [self._producer().list_topics(timeout=self._timeout_s())]
        except KafkaException as error:
            failed = raised(error)
            if isinstance(failed, common.KafkaTimeoutError):
                failed = common.KafkaUnavailableError(f"no broker of {self.hosts} has answered: {error}")
            raise failed from error
        self.brokers = {
            one.id: common.BrokerMetadata(one.id, one.host or "", one.port) for one in views[-1].brokers.values()
        }
        found = [_topic_metadata(topic) for view in views for topic in view.topics.values()]
        response = common.MetadataResponse(list(self.brokers.values()), found)
        return response if callback is None else callback(response)

    def send_consumer_metadata_request(
        self, payloads: Sequence[str | bytes] = (), fail_on_error: bool = True, callback: Callback = None
    ) -> list[Any]:
        """The address of each group's coordinator, as far as groups exist (error 15 for others)."""
        with self._lock:
            self._admin = self._admin or AdminClient(self.configuration())
        found = []
        names = [text(group) for group in payloads]
        for name, future in self._admin.describe_consumer_groups(names).items() if names else ():
            try:
                node = future.result(self.timeout).coordinator
                host, port = (node.host or "", node.port) if node is not None else ("", -1)
                response = common.ConsumerMetadataResponse(0, -1 if node is None else node.id, host, port)
            except KafkaException as error:
                logger.info("group %s: %s", name, error)
                response = common.ConsumerMetadataResponse(common.ConsumerCoordinatorNotAvailableCode.errno, -1, "", -1)
            found.append(response)
        return _answers(found, fail_on_error, callback)

    # ---- records

    def send_produce_request(
        self,
        payloads: Sequence[common.ProduceRequest] = (),
        acks: int = 1,
        timeout: int = 1000,
        fail_on_error: bool = True,
        callback: Callback = None,
        compresslevel: int | None = None,
    ) -> list[Any]:
        """Sends messages and waits for the brokers' answers.

        Args:
            payloads: one for each partition at most.
            acks: 0: no answer is waited for, and none is given; 1: the leader's; -1 (or more than 1): that of all in
                sync.
            timeout: milliseconds that the broker may take for acknowledgements.
            fail_on_error: raise the first error; else a response has its code, or is a FailedPayloadsError.
            callback: is given each response; its results are returned instead.
            compresslevel: for messages that hold others, compressed.

        Returns:
            A response for each payload, in their order.

        Raises:
            KafkaError: what a broker refused. FailedPayloadsError: no broker has answered.
        """
        outcomes = [_Outcome(payload) for payload in payloads]
        if len({(kafka_bytestring(one.topic), one.partition) for one in payloads}) != len(payloads):
            raise ValueError("two requests are for the same partition")
        for codec, runs in groupby(_runs(outcomes), key=lambda run: run[1]):
            producer = self._producer(acks, timeout, codec, compresslevel if codec else None)
            for outcome, _, messages in runs:
                for message in messages:
                    _produce(producer, outcome, message)
            if producer.flush(self._timeout_s()):
                raise common.KafkaTimeoutError(f"messages are not acknowledged after {self.timeout} s")
        if acks == 0:
            return []
        return _answers([outcome.response() for outcome in outcomes], fail_on_error, callback)

    def send_fetch_request(
        self,
        payloads: Sequence[common.FetchRequest] = (),
        fail_on_error: bool = True,
        callback: Callback = None,
        max_wait_time: int = 100,
        min_bytes: int = 4096,
    ) -> list[Any]:
        """Reads from offsets on.

        Args:
            payloads: one for each partition at most; at least one message comes, however small `max_bytes` is.
            fail_on_error: raise the first error; else a response has its code.
            callback: is given each response; its results are returned instead.
            max_wait_time: milliseconds to wait if there is nothing.
            min_bytes: is not used: what is there comes.
        """
        reading = [_Reading(payload) for payload in payloads]
        with self._lock:
            self._read(reading, max_wait_time / 1000)
        return _answers([one.response() for one in reading], fail_on_error, callback)

    def _read(self, reading: Sequence[_Reading], wait_s: float) -> None:
        for one in reading:
            if not self.has_metadata_for_topic(one.topic):
                self._know(one.topic)
            if one.partition not in self.topic_partitions.get(kafka_bytestring(one.topic), {}):
                one.error = common.UnknownTopicOrPartitionError.errno
        open_ = {(one.topic, one.partition): one for one in reading if not one.error}
        if not open_:
            return
        reader = self._fetching()
        reader.assign([TopicPartition(one.topic, one.partition, one.offset) for one in open_.values()])
        deadline_s = time.monotonic() + wait_s
        limit_s = time.monotonic() + (self.timeout or DEFAULT_SOCKET_TIMEOUT_SECONDS)
        while (now_s := time.monotonic()) < limit_s:
            answered = all(one.answered for one in open_.values())
            if answered and (now_s > deadline_s or any(one.error or one.messages for one in open_.values())):
                break
            for message in reader.consume(500, POLL_S):
                open_[message.topic() or "", message.partition() or 0].take(message)
        for one in open_.values():
            _, one.high = reader.get_watermark_offsets(TopicPartition(one.topic, one.partition), self._timeout_s())
        reader.unassign()

    def _know(self, topic: str) -> None:
        try:
            self.load_metadata_for_topics(topic)
        except common.BrokerResponseError as error:
            logger.info("topic %s: %s", topic, error)

    # ---- offsets

    def send_offset_request(
        self, payloads: Sequence[common.OffsetRequest] = (), fail_on_error: bool = True, callback: Callback = None
    ) -> list[Any]:
        """Offsets by time, in descending order: -1 for the end (then, if there is room, the beginning), -2 for the
        beginning, else where the messages before this time end."""
        found = []
        for one in payloads:
            place = TopicPartition(text(one.topic), one.partition)
            error, offsets = 0, []
            try:
                low, high = self._fetching().get_watermark_offsets(place, self._timeout_s())
                if one.time == EARLIEST:
                    offsets = [low]
                elif one.time == LATEST:
                    offsets = [high] if high == low else [high, low]
                else:
                    place.offset = one.time
                    at = self._fetching().offsets_for_times([place], self._timeout_s())[0].offset
                    end = high if at < 0 else at
                    offsets = [end] if end == low else [end, low]
            except KafkaException as failed:
                error = error_code(failed.args[0])
            found.append(
                common.OffsetResponse(
                    kafka_bytestring(one.topic), one.partition, error, offsets[: max(one.max_offsets, 0)]
                )
            )
        return _answers(found, fail_on_error, callback)

    def send_offset_commit_request(
        self,
        group: str | bytes,
        payloads: Sequence[common.OffsetCommitRequest] = (),
        fail_on_error: bool = True,
        callback: Callback = None,
    ) -> list[Any]:
        """Commits offsets for a group that has no members; the brokers keep them (not ZooKeeper)."""
        places = [
            TopicPartition(text(one.topic), one.partition, one.offset, metadata=text(one.metadata or ""))
            for one in payloads
        ]
        try:
            if places:
                self._group(group).commit(offsets=places, asynchronous=False)
            codes = {(one.topic, one.partition): 0 for one in places}
        except KafkaException as failed:
            if not isinstance(failed.args[0], KafkaError):
                raise raised(failed) from failed
            codes = {(one.topic, one.partition): self._commit_code(group, one) for one in places}
        found = [
            common.OffsetCommitResponse(kafka_bytestring(one.topic), one.partition, codes[one.topic, one.partition])
            for one in places
        ]
        return _answers(found, fail_on_error, callback)

    def send_offset_fetch_request(
        self,
        group: str | bytes,
        payloads: Sequence[common.OffsetFetchRequest] = (),
        fail_on_error: bool = True,
        callback: Callback = None,
    ) -> list[Any]:
        """A group's committed offsets, from the brokers: those kept in ZooKeeper by clients can't be read any more."""
        places = [TopicPartition(text(one.topic), one.partition) for one in payloads]
        try:
            known = self._group(group).committed(places, self._timeout_s()) if places else []
        except KafkaException as failed:
            raise raised(failed) from failed
        found = [
            common.OffsetFetchResponse(
                kafka_bytestring(one.topic),
                one.partition,
                max(one.offset, -1),
                kafka_bytestring(one.metadata or ""),
                error_code(one.error) if one.error else 0,
            )
            for one in known
        ]
        return _answers(found, fail_on_error, callback)

    send_offset_fetch_request_kafka = send_offset_fetch_request


class _Outcome:
    """The result of one ProduceRequest."""

    def __init__(self, request: common.ProduceRequest) -> None:
        self.request = request
        self.offset = -1
        self.error: KafkaError | None = None

    def settle(self, error: KafkaError | None, message: Message) -> None:
        """A delivery report."""
        if error is not None:
            self.error = self.error or error
            return
        offset = message.offset()
        if offset is not None and offset >= 0 and (self.offset < 0 or offset < self.offset):
            self.offset = offset

    def response(self) -> common.ProduceResponse | common.FailedPayloadsError:
        topic, partition = kafka_bytestring(self.request.topic), self.request.partition
        if self.error is None:
            return common.ProduceResponse(topic, partition, 0, self.offset)
        code = error_code(self.error)
        if code == common.UnknownError.errno and self.error.code() < 0:
            return common.FailedPayloadsError(self.request, str(self.error))
        return common.ProduceResponse(topic, partition, code, -1)


class _Reading:
    """One FetchRequest and its messages."""

    def __init__(self, request: common.FetchRequest) -> None:
        self.topic, self.partition, self.offset = text(request.topic), request.partition, request.offset
        self.error = 0
        self.high = -1
        self.messages: list[common.OffsetAndMessage] = []
        self._at_end = self._full = False
        self._room = request.max_bytes

    @property
    def answered(self) -> bool:
        """Whether no more can come for now."""
        return bool(self.error or self._at_end or self._full)

    def take(self, message: Message) -> None:
        """A message, an error, or the end of the partition."""
        error = message.error()
        if error is not None:
            if error.code() == KafkaError._PARTITION_EOF:
                self._at_end = True
            else:
                self.error = error_code(error)
            return
        self._at_end = False
        self._room -= len(message.key() or b"") + len(message.value() or b"")
        if self._full or (self._room < 0 and self.messages):
            self._full = True
        else:
            self.messages.append(as_message(message))

    def response(self) -> common.FetchResponse:
        topic = kafka_bytestring(self.topic)
        return common.FetchResponse(topic, self.partition, self.error, self.high, iter(self.messages))


def as_message(message: Message) -> common.OffsetAndMessage:
    """A record that was read."""
    inner = common.Message(0, 0, message.key(), message.value())
    return common.OffsetAndMessage(message.offset() or 0, inner)


def _runs(outcomes: Sequence[_Outcome]) -> Iterator[tuple[_Outcome, int, list[common.Message]]]:
    """The messages of all requests with the codec of each run of them."""
    for outcome in outcomes:
        for message in outcome.request.messages:
            codec = message.attributes & ATTRIBUTE_CODEC_MASK
            yield outcome, codec, message.value if codec else [message]


def _produce(producer: Producer, outcome: _Outcome, message: common.Message) -> None:
    request = outcome.request
    while True:
        try:
            producer.produce(
                text(request.topic), message.value, message.key, request.partition, on_delivery=outcome.settle
            )
        except BufferError:
            producer.poll(POLL_S)
        except KafkaException as error:
            raise raised(error) from error
        else:
            return


def _topic_metadata(topic: Any) -> common.TopicMetadata:
    name = kafka_bytestring(topic.topic)
    partitions = [
        common.PartitionMetadata(
            name,
            each.id,
            each.leader,
            tuple(each.replicas),
            tuple(each.isrs),
            error_code(each.error) if each.error else 0,
        )
        for each in topic.partitions.values()
    ]
    return common.TopicMetadata(name, error_code(topic.error) if topic.error else 0, partitions)


def _answers(responses: Sequence[Any], fail_on_error: bool, callback: Callback) -> list[Any]:
    """The responses as the caller wants them.

    Raises:
        KafkaError: the first error, if it shall be raised.
    """
    for response in responses:
        if fail_on_error:
            common.check_error(response)
    return list(responses) if callback is None else [callback(response) for response in responses]
