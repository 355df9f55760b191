"""Common parts of both producers: requests sent at once, or by a thread that collects messages.

Spec: the manual of kafka-python 0.9.5 (kafka.producer.base).
"""

from __future__ import annotations

import logging
import queue
import threading
import time
import weakref
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from kserdes.compat.simple.client import KafkaClient
from kserdes.compat.simple.common import (
    AsyncProducerQueueFull,
    FailedPayloadsError,
    KafkaError,
    KafkaTimeoutError,
    ProduceRequest,
    RequestTimedOutError,
    RetryOptions,
    TopicAndPartition,
    UnsupportedCodecError,
    kafka_errors,
)
from kserdes.compat.simple.protocol import ALL_CODECS, CODEC_NONE, create_message_set
from kserdes.compat.simple.util import kafka_bytestring

logger: Final = logging.getLogger("kserdes.compat")

BATCH_SEND_DEFAULT_INTERVAL = 20
BATCH_SEND_MSG_COUNT = 20
SYNC_FAIL_ON_ERROR_DEFAULT = True
ASYNC_RETRY_LIMIT = None
ASYNC_RETRY_BACKOFF_MS = 100
ASYNC_STOP_TIMEOUT_SECS = 30
RENAMED: Final = {"async": "async_send"}  # a keyword since Python 3.7: it can only come in a dict


class Queued(NamedTuple):
    """A message that waits for its batch."""

    place: TopicAndPartition
    value: bytes | None
    key: bytes | None
    tries: int


class Collector:
    """The thread of an asynchronous producer: sends what has been collected, again and again if it fails.

    Args:
        client: its own.
        count: messages of a batch.
        interval_s: how long a message waits for others.
        request: `req_acks`, `ack_timeout` and the codec of requests.
    """

    def __init__(
        self,
        client: KafkaClient,
        count: int,
        interval_s: float,
        retry: RetryOptions,
        maxsize: int,
        request: tuple[int, int, int, int | None],
        log_messages: bool,
    ) -> None:
        self.queue: queue.Queue[Queued | None] = queue.Queue(maxsize)
        self._client, self._count, self._interval_s, self._retry = client, count, interval_s, retry
        self._acks, self._ack_timeout, self._codec, self._level = request
        self._log_messages = log_messages
        self._give_up_s: float | None = None
        self._thread = threading.Thread(target=self._run, name="kafka-simple-producer", daemon=True)
        self._thread.start()

    def stop(self, timeout_s: float) -> None:
        """Sends the rest; messages that can't be sent in this time are given up and logged."""
        self._give_up_s = time.monotonic() + timeout_s
        self._put_end(timeout_s)
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            logger.error("the producer's thread is still sending after %s s; its messages are given up", timeout_s)
        self._client.close()

    def _put_end(self, timeout_s: float) -> None:
        try:
            self.queue.put(None, timeout=timeout_s)
        except queue.Full:
            logger.error("the producer's queue is still full after %s s; its messages are given up", timeout_s)

    def _run(self) -> None:
        ended = False
        failed: list[Queued] = []
        while not ended or failed:
            batch, failed = failed, []
            ended = self._collect(batch, ended) or ended
            if batch:
                failed = self._send(batch)
            if failed and self._give_up_s is not None and time.monotonic() > self._give_up_s:
                self._log(failed, "were given up: the producer has been stopped")
                return
            if failed:
                time.sleep(self._retry.backoff_ms / 1000)

    def _collect(self, batch: list[Queued], ended: bool) -> bool:
        """Fills the batch up; whether the producer has been stopped."""
        deadline_s = time.monotonic() + (0 if ended or batch else self._interval_s)
        while len(batch) < self._count:
            try:
                each = self.queue.get(timeout=max(0.0, deadline_s - time.monotonic()))
            except queue.Empty:
                return False
            if each is None:
                return True
            batch.append(each)
        return False

    def _send(self, batch: Sequence[Queued]) -> list[Queued]:
        """Sends a batch; returns the messages to try again."""
        by_place: dict[TopicAndPartition, list[Queued]] = {}
        for each in batch:
            by_place.setdefault(each.place, []).append(each)
        requests = [
            ProduceRequest(
                place.topic,
                place.partition,
                create_message_set([(one.value, one.key) for one in messages], self._codec, None, self._level),
            )
            for place, messages in by_place.items()
        ]
        try:
            responses = self._client.send_produce_request(
                requests, self._acks, self._ack_timeout, fail_on_error=False, compresslevel=self._level
            )
        except KafkaError as error:
            responses = [FailedPayloadsError(request, str(error)) for request in requests]
        again: list[Queued] = []
        for response, messages in zip(responses, by_place.values(), strict=self._acks != 0):
            failure = _failure(response)
            if failure is None:
                continue
            retried = self._retry.retry_on_timeouts or not isinstance(
                failure, (RequestTimedOutError, KafkaTimeoutError)
            )
            left = [one for one in messages if self._retry.limit is None or one.tries < self._retry.limit]
            again += [one._replace(tries=one.tries + 1) for one in left if retried]
            self._log([one for one in messages if not retried or one not in left], f"were given up: {failure!r}")
        return again

    def _log(self, messages: Sequence[Queued], what: str) -> None:
        if messages:
            shown: Any = messages if self._log_messages else [hash(one) for one in messages]
            logger.error("%d messages %s: %s", len(messages), what, shown)


def _failure(response: Any) -> Exception | None:
    if isinstance(response, Exception):
        return response
    return kafka_errors.get(response.error, KafkaError)(response) if response.error else None


class Producer:
    """Sends messages to a partition that the caller names. Arguments as in the manual of kafka-python 0.9.5.

    Args:
        client: its cluster. An asynchronous producer has a copy of it.
        req_acks: ACK_NOT_REQUIRED, ACK_AFTER_LOCAL_WRITE or ACK_AFTER_CLUSTER_COMMIT.
        ack_timeout: milliseconds that brokers may take for acknowledgements.
        codec: CODEC_NONE, CODEC_GZIP or CODEC_SNAPPY.
        codec_compresslevel: for gzip.
        sync_fail_on_error: whether a failure is raised, or given back as a response.
        async_send: collect messages and send them in a thread; `async`, too, in a dict of keywords.
        batch_send_every_n, batch_send_every_t: messages and seconds after which that thread sends.
        async_retry_limit, async_retry_backoff_ms, async_retry_on_timeouts: how it tries again.
        async_queue_maxsize, async_queue_put_timeout: messages it holds (0: any number), and seconds to wait for room.
        async_log_messages_on_error: log whole messages that are given up, or only their hashes.
        async_stop_timeout: seconds that `stop` gives to what is left.
    """

    ACK_NOT_REQUIRED = 0
    ACK_AFTER_LOCAL_WRITE = 1
    ACK_AFTER_CLUSTER_COMMIT = -1
    DEFAULT_ACK_TIMEOUT = 1000

    def __init__(
        self,
        client: KafkaClient,
        req_acks: int = ACK_AFTER_LOCAL_WRITE,
        ack_timeout: int = DEFAULT_ACK_TIMEOUT,
        codec: int | None = None,
        codec_compresslevel: int | None = None,
        sync_fail_on_error: bool = SYNC_FAIL_ON_ERROR_DEFAULT,
        async_send: bool = False,
        batch_send: bool = False,
        batch_send_every_n: int = BATCH_SEND_MSG_COUNT,
        batch_send_every_t: float = BATCH_SEND_DEFAULT_INTERVAL,
        async_retry_limit: int | None = ASYNC_RETRY_LIMIT,
        async_retry_backoff_ms: int = ASYNC_RETRY_BACKOFF_MS,
        async_retry_on_timeouts: bool = True,
        async_queue_maxsize: int = 0,
        async_queue_put_timeout: float = 0,
        async_log_messages_on_error: bool = True,
        async_stop_timeout: float = ASYNC_STOP_TIMEOUT_SECS,
        **renamed: Any,
    ) -> None:
        unknown = set(renamed) - set(RENAMED)
        if unknown:
            raise TypeError(f"{type(self).__name__} has no argument {sorted(unknown)[0]!r}")
        self.codec = CODEC_NONE if codec is None else codec
        if self.codec not in ALL_CODECS:
            raise UnsupportedCodecError(f"codec 0x{self.codec:02x} is none of gzip (0x01) and snappy (0x02)")
        self.client, self.req_acks, self.ack_timeout = client, req_acks, ack_timeout
        self.codec_compresslevel, self.sync_fail_on_error = codec_compresslevel, sync_fail_on_error
        self.async_send = async_send or batch_send or bool(renamed.get("async"))
        if self.async_send and (batch_send_every_n <= 0 or batch_send_every_t <= 0):
            raise ValueError("batch_send_every_n and batch_send_every_t must be positive")
        self.async_queue_put_timeout, self.async_stop_timeout = async_queue_put_timeout, async_stop_timeout
        self.stopped = False
        self._collector: Collector | None = None
        if self.async_send:
            retry = RetryOptions(async_retry_limit, async_retry_backoff_ms, async_retry_on_timeouts)
            request = (req_acks, ack_timeout, self.codec, codec_compresslevel)
            self._collector = Collector(
                client.copy(),
                batch_send_every_n,
                batch_send_every_t,
                retry,
                async_queue_maxsize,
                request,
                async_log_messages_on_error,
            )
            self._at_end = weakref.finalize(self, self._collector.stop, async_stop_timeout)

    def send_messages(self, topic: str | bytes, partition: int, *msg: bytes) -> list[Any]:
        """Sends values without a key; see `SimpleProducer` and `KeyedProducer`.

        Returns:
            A response, or nothing from an asynchronous producer.

        Raises:
            TypeError: a value is not bytes. KafkaError: it failed (unless sync_fail_on_error=False).
            AsyncProducerQueueFull: there is no room.
        """
        return self._send_messages(topic, partition, *msg)

    def _send_messages(self, topic: str | bytes, partition: int, *msg: Any, key: Any = None) -> list[Any]:
        if not msg:
            raise TypeError("there is no message to send")
        for value in msg:
            if value is not None and not isinstance(value, bytes):
                raise TypeError(f"a message must be bytes, not {type(value).__name__}: encode it first")
        if key is not None and not isinstance(key, bytes):
            raise TypeError(f"a key must be bytes, not {type(key).__name__}: encode it first")
        if self.stopped:
            raise KafkaError("the producer has been stopped")
        name = kafka_bytestring(topic)
        if self._collector is not None:
            return self._enqueue(self._collector, TopicAndPartition(name, partition), msg, key)
        messages = create_message_set([(value, key) for value in msg], self.codec, key, self.codec_compresslevel)
        request = ProduceRequest(name, partition, messages)
        try:
            return self.client.send_produce_request(
                [request],
                self.req_acks,
                self.ack_timeout,
                fail_on_error=self.sync_fail_on_error,
                compresslevel=self.codec_compresslevel,
            )
        except KafkaError as error:
            if self.sync_fail_on_error:
                raise
            return [FailedPayloadsError(request, str(error))]

    def _enqueue(
        self, collector: Collector, place: TopicAndPartition, values: Sequence[bytes], key: bytes | None
    ) -> list[Any]:
        wait = self.async_queue_put_timeout
        for number, value in enumerate(values):
            try:
                collector.queue.put(Queued(place, value, key, 0), block=wait > 0, timeout=wait or None)
            except queue.Full:
                raise AsyncProducerQueueFull(
                    values[number:], f"the producer holds {collector.queue.maxsize} messages already"
                ) from None
        return []

    def stop(self, timeout: float | None = None) -> None:
        """Ends an asynchronous producer when what it holds is sent, or after `timeout` seconds."""
        self.stopped = True
        if self._collector is not None and self._at_end.detach():
            self._collector.stop(self.async_stop_timeout if timeout is None else timeout)
