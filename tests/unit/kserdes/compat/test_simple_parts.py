"""Parts of the 0.9.5 dialect that need no cluster: codecs, strings, partitioners, messages, timers, hosts."""

from __future__ import annotations

import importlib
import threading
import zlib

import pytest

from kserdes.compat.simple import Murmur2Partitioner, RoundRobinPartitioner, create_message
from kserdes.compat.simple.client import KafkaClient
from kserdes.compat.simple.codec import gzip_decode, gzip_encode, snappy_decode, snappy_encode
from kserdes.compat.simple.common import (
    BrokerResponseError,
    BufferUnderflowError,
    KafkaUnavailableError,
    ProduceResponse,
    ProtocolError,
    TopicAndPartition,
    UnknownError,
    UnsupportedCodecError,
    check_error,
    kafka_errors,
)
from kserdes.compat.simple.conn import KafkaConnection, collect_hosts
from kserdes.compat.simple.consumer import KafkaConsumer
from kserdes.compat.simple.partitioner.hashed import murmur2
from kserdes.compat.simple.producer import SimpleProducer
from kserdes.compat.simple.protocol import CODEC_SNAPPY, KafkaProtocol, create_message_set
from kserdes.compat.simple.table import NAMES_NOT_HERE
from kserdes.compat.simple.util import (
    ReentrantTimer,
    crc32,
    group_by_topic_and_partition,
    kafka_bytestring,
    read_int_string,
    read_short_string,
    write_int_string,
    write_short_string,
)

MANUAL = {
    "client": ("KafkaClient "),
    "codec": ("gzip_decode gzip_encode has_gzip has_snappy snappy_decode snappy_encode "),
    "common": (
        "AsyncProducerQueueFull BrokerMetadata BrokerNotAvailableError BrokerNotFoundError "
        "BrokerResponseError BufferUnderflowError ChecksumError ConnectionError "
        "ConsumerCoordinatorNotAvailable ConsumerCoordinatorNotAvailableCode ConsumerFetchSizeTooSmall "
        "ConsumerMetadataRequest ConsumerMetadataResponse ConsumerNoMoreData ConsumerTimeout "
        "FailedPayloadsError FetchRequest FetchResponse InvalidFetchRequest InvalidFetchRequestError "
        "InvalidMessageError KafkaConfigurationError KafkaError KafkaMessage KafkaTimeoutError "
        "KafkaUnavailableError LeaderNotAvailableError LeaderNotFoundError Message "
        "MessageSizeTooLargeError MetadataRequest MetadataResponse NotCoordinatorForConsumerCode "
        "NotLeaderForPartitionError OffsetAndMessage OffsetCommitRequest OffsetCommitResponse "
        "OffsetFetchRequest OffsetFetchResponse OffsetMetadataTooLargeError OffsetOutOfRangeError "
        "OffsetOutOfRangeException OffsetRequest OffsetResponse OffsetsLoadInProgressCode "
        "PartitionMetadata ProduceRequest ProduceResponse ProtocolError ReplicaNotAvailableError "
        "RequestTimedOutError RetryOptions StaleControllerEpochError StaleLeaderEpochCodeError "
        "TopicAndPartition TopicMetadata UnknownError UnknownTopicOrPartitionError UnsupportedCodecError "
        "check_error "
    ),
    "conn": ("KafkaConnection collect_hosts "),
    "consumer": ("KafkaConsumer MultiProcessConsumer SimpleConsumer "),
    "consumer.base": ("Consumer "),
    "consumer.kafka": ("KafkaConsumer OffsetsStruct "),
    "consumer.multiprocess": ("Events MultiProcessConsumer "),
    "consumer.simple": ("FetchContext SimpleConsumer "),
    "context": ("OffsetCommitContext "),
    "partitioner.base": ("Partitioner "),
    "partitioner.hashed": ("HashedPartitioner LegacyPartitioner Murmur2Partitioner murmur2 "),
    "partitioner.roundrobin": ("RoundRobinPartitioner "),
    "producer": ("KeyedProducer SimpleProducer "),
    "producer.base": ("Producer "),
    "producer.keyed": ("KeyedProducer "),
    "producer.simple": ("SimpleProducer "),
    "protocol": (
        "ALL_CODECS KafkaProtocol create_gzip_message create_message create_message_set create_snappy_message "
    ),
    "util": (
        "ReentrantTimer crc32 group_by_topic_and_partition kafka_bytestring read_int_string "
        "read_short_string relative_unpack write_int_string write_short_string "
    ),
}
"""Module to the names that the manual of 0.9.5 has for it."""

PAYLOAD = b"some text, " * 10_000
HANG_S = 60.0
"""Nothing takes that long but what hangs."""


def test_codecs_come_back() -> None:
    assert gzip_decode(gzip_encode(PAYLOAD, 1)) == PAYLOAD
    assert len(gzip_encode(PAYLOAD)) <= len(gzip_encode(PAYLOAD, 1))
    assert snappy_decode(snappy_encode(PAYLOAD)) == PAYLOAD


def test_snappy_in_blocks_of_the_xerial_library() -> None:
    framed = snappy_encode(PAYLOAD, xerial_compatible=True, xerial_blocksize=1000)
    assert framed[:16] == b"\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01"
    first = int.from_bytes(framed[16:20])
    assert snappy_decode(framed[20 : 20 + first]) == PAYLOAD[:1000]
    assert snappy_decode(framed) == PAYLOAD


def test_strings_with_lengths() -> None:
    for write, read, prefix in (
        (write_int_string, read_int_string, b"\0\0\0\x03"),
        (write_short_string, read_short_string, b"\0\x03"),
    ):
        assert write(b"abc") == prefix + b"abc"
        assert read(b"?" + write(b"abc"), 1) == (b"abc", 1 + len(prefix) + 3)
        assert read(write(None), 0) == (None, len(prefix))
        with pytest.raises(BufferUnderflowError):
            read(write(b"abc")[:-1], 0)
        with pytest.raises(BufferUnderflowError):
            read(b"\0", 0)
    assert crc32(b"abc") == zlib.crc32(b"abc")
    assert kafka_bytestring("ä") == "ä".encode()
    with pytest.raises(TypeError):
        kafka_bytestring(7)  # type: ignore[arg-type]


def test_requests_are_grouped_and_never_hidden() -> None:
    places = [TopicAndPartition(b"a", 0), TopicAndPartition(b"a", 1), TopicAndPartition(b"b", 0)]
    assert group_by_topic_and_partition(places) == {b"a": {0: places[0], 1: places[1]}, b"b": {0: places[2]}}
    with pytest.raises(ValueError, match="two requests"):
        group_by_topic_and_partition([*places, places[0]])


def test_partitioners() -> None:
    turns = RoundRobinPartitioner([4, 5, 6])
    assert [turns.partition(None) for _ in range(4)] == [4, 5, 6, 4]
    assert [turns.partition(None, [1, 2]) for _ in range(3)] == [1, 2, 1]
    # what Java's client gives for these keys (Utils.murmur2), as an unsigned number
    assert [murmur2(key) for key in ("21", b"foobar", b"a-little-bit-long-string")] == [
        -973932308 % 2**32,
        -790332482 % 2**32,
        -985981536 % 2**32,
    ]
    hashed = Murmur2Partitioner(range(1000))
    assert hashed.partition(b"foobar") == (-790332482 & 0x7FFFFFFF) % 1000
    assert hashed.partition(b"foobar", [7]) == 7


def test_message_sets() -> None:
    pairs: list[tuple[bytes | None, bytes | None]] = [(b"v", b"k"), (None, b"gone")]
    assert create_message_set(pairs) == [create_message(b"v", b"k"), create_message(None, b"gone")]
    (whole,) = create_message_set(pairs, CODEC_SNAPPY, b"key")
    assert (whole.attributes, whole.key, whole.value) == (CODEC_SNAPPY, b"key", create_message_set(pairs))
    with pytest.raises(UnsupportedCodecError):
        create_message_set(pairs, 3)
    with pytest.raises(UnsupportedCodecError):
        SimpleProducer(None, codec=9)  # type: ignore[arg-type]


def test_removed_calls_name_their_successors() -> None:
    with pytest.raises(ProtocolError, match="send_produce_request"):
        KafkaProtocol.encode_produce_request("client", 1)
    with pytest.raises(ProtocolError, match="KafkaClient"):
        KafkaConnection("localhost", 9092)


def test_error_codes_are_raised_by_their_classes() -> None:
    check_error(ProduceResponse(b"t", 0, 0, 5))
    for code, kind in kafka_errors.items():
        with pytest.raises(kind) as caught:
            check_error(ProduceResponse(b"t", 0, code, -1))
        assert isinstance(caught.value, BrokerResponseError)
        assert caught.value.errno == code
    with pytest.raises(UnknownError):
        check_error(ProduceResponse(b"t", 0, 999, -1))
    with pytest.raises(ZeroDivisionError):
        check_error(ZeroDivisionError())


def test_hosts() -> None:
    assert collect_hosts("a:1,b, c:3", randomize=False) == [("a", 1), ("b", 9092), ("c", 3)]
    assert sorted(collect_hosts(["a:1", "b:2"])) == [("a", 1), ("b", 2)]


def test_nobody_answers(refused_port: int) -> None:
    with pytest.raises(KafkaUnavailableError):
        KafkaClient(f"127.0.0.1:{refused_port}", timeout=0.3)


def test_a_timer_calls_until_it_is_stopped_and_may_be_started_again() -> None:
    calls = threading.Semaphore(0)
    timer = ReentrantTimer(1, calls.release)
    for _ in range(2):
        timer.start()
        assert calls.acquire(timeout=HANG_S)
        timer.stop()
        thread = timer.thread
        assert thread is None
        while calls.acquire(blocking=False):
            pass
    for bad in ((0, print), (5, None)):
        with pytest.raises(ValueError):
            ReentrantTimer(*bad)  # type: ignore[arg-type]


def test_a_timer_begins_anew_while_its_call_waits_for_the_thread_that_begins_it() -> None:
    """As a commit does that the reader makes in the moment in which the timer makes one."""
    lock, waits, begun = threading.Lock(), threading.Event(), threading.Event()

    def call() -> None:
        waits.set()
        with lock:
            pass

    def read() -> None:
        timer = ReentrantTimer(1, call)
        with lock:
            timer.start()
            waits.wait()
            timer.start()
        timer.stop()
        begun.set()

    threading.Thread(target=read, daemon=True).start()
    assert begun.wait(HANG_S), "the timer waits for its own call"


def test_defaults_of_the_consumer() -> None:
    """Those that the manual lists, by which a constructor without settings goes."""
    listed = dict(KafkaConsumer.DEFAULT_CONFIG)
    assert listed.pop("deserializer_class")(b"as it is") == b"as it is"
    assert listed == {
        "client_id": "kafka.consumer.kafka", "group_id": None, "fetch_message_max_bytes": 1024 * 1024,
        "fetch_min_bytes": 1, "fetch_wait_max_ms": 100, "refresh_leader_backoff_ms": 200, "bootstrap_servers": [],
        "socket_timeout_ms": 30 * 1000, "auto_offset_reset": "largest", "auto_commit_enable": False,
        "auto_commit_interval_ms": 60 * 1000, "auto_commit_interval_messages": None, "consumer_timeout_ms": -1,
    }  # fmt: skip


def test_every_name_of_the_manual_is_there_or_has_its_reason() -> None:
    missing = {
        f"{module}.{name}"
        for module, names in MANUAL.items()
        for name in names.split()
        if not hasattr(importlib.import_module(f"kserdes.compat.simple.{module}"), name)
    }
    assert missing == set(NAMES_NOT_HERE)
