"""Bodies: bytes worked out by hand from the protocol guide, and every way a value or the bytes can be wrong."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from kafka_core.errors import ProtocolError, UnsupportedVersionError
from kafka_core.protocol import ApiMessage, decode, encode, encode_bytes
from kafka_core.protocol.coding import decode_from
from kafka_core.protocol.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from kafka_core.protocol.messages.client_quotas import (
    DescribeClientQuotasResponse,
    DescribeClientQuotasResponseEntryData,
    ValueData,
)
from kafka_core.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription, TopicPartition
from kafka_core.protocol.messages.create_topics import CreateTopicsRequest
from kafka_core.protocol.messages.describe_topic_partitions import Cursor, DescribeTopicPartitionsRequest, TopicRequest
from kafka_core.protocol.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
    ReplicaState,
)
from kafka_core.protocol.messages.heartbeat import HeartbeatRequest
from kafka_core.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_core.protocol.messages.offset_fetch import OffsetFetchRequest
from kafka_core.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_core.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from kafka_core.protocol.messages.update_features import UpdateFeaturesRequest
from tests.unit.kafka_core.protocol.sample_messages import LogPart, Logs

TOPIC_ID = UUID("00112233-4455-6677-8899-aabbccddeeff")


def produce(records: Any) -> ProduceRequest:
    partition = PartitionProduceData(index=7, records=records)
    return ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[TopicProduceData(name="t", partition_data=[partition])])


def title(value: object) -> str:
    """Part of a test's name: class, version, or the start of a text."""
    if isinstance(value, ApiMessage):
        return type(value).__name__
    return value.__name__ if isinstance(value, type) else str(value)[:40]


GOLDEN: list[tuple[ApiMessage, int, str]] = [
    (ApiVersionsRequest(), 0, ""),
    (ApiVersionsRequest("kserdes", "0.1"), 3, "08 6b736572646573 04 302e31 00"),
    (ApiVersionsResponse(35, [ApiVersion(18, 0, 4)]), 0, "0023 00000001 0012 0000 0004"),
    (ApiVersionsResponse(0, [ApiVersion(18, 0, 4)], 9), 3, "0000 02 0012 0000 0004 00 00000009 00"),
    (ApiVersionsResponse(finalized_features_epoch=5), 3, "0000 01 00000000 01 01 08 0000000000000005"),
    (MetadataRequest(topics=[]), 0, "00000000"),
    (MetadataRequest(topics=None), 1, "ffffffff"),
    (MetadataRequest([MetadataRequestTopic(name="ab")], False), 4, "00000001 0002 6162 00"),
    (MetadataRequest([MetadataRequestTopic(TOPIC_ID, None)]), 12, f"02 {TOPIC_ID.hex} 00 00 01 00 00"),
    (produce(b"abc"), 3, "ffff ffff 000003e8 00000001 0001 74 00000001 00000007 00000003 616263"),
    (produce(None), 3, "ffff ffff 000003e8 00000001 0001 74 00000001 00000007 ffffffff"),
    (produce(b"abc"), 9, "00 ffff 000003e8 02 02 74 02 00000007 04 616263 00 00 00"),
    (produce(None), 9, "00 ffff 000003e8 02 02 74 02 00000007 00 00 00 00"),
    (
        FetchResponse(responses=[FetchableTopicResponse("t", partitions=[PartitionData(2, 0, 9, 8, 1, records=b"r")])]),
        12,
        "00000000 0000 00000000 02 02 74 02"
        "00000002 0000 0000000000000009 0000000000000008 0000000000000001 01 ffffffff 02 72 00 00 00",
    ),
    (
        FetchResponse(
            session_id=3,
            responses=[
                FetchableTopicResponse(
                    topic_id=TOPIC_ID,
                    partitions=[
                        PartitionData(
                            diverging_epoch=EpochEndOffset(1, 2), aborted_transactions=[AbortedTransaction(5, 6)]
                        )
                    ],
                )
            ],
        ),
        13,
        f"00000000 0000 00000003 02 {TOPIC_ID.hex} 02"
        "00000000 0000 0000000000000000 ffffffffffffffff ffffffffffffffff"
        "02 0000000000000005 0000000000000006 00 ffffffff 00"
        "01 00 0d 00000001 0000000000000002 00 00 00",
    ),
    (DescribeTopicPartitionsRequest([TopicRequest("a")], 10), 0, "02 02 61 00 0000000a ff 00"),
    (DescribeTopicPartitionsRequest([], 10, Cursor("b", 4)), 0, "01 0000000a 01 02 62 00000004 00 00"),
    (
        ConsumerProtocolSubscription(["a", "b"], None, [TopicPartition("a", [1, 2])]),
        1,
        "00000002 0001 61 0001 62 ffffffff 00000001 0001 61 00000002 00000001 00000002",
    ),
    (SaslAuthenticateRequest(b"\x00u\x00p"), 1, "00000004 00750070"),
    (
        DescribeClientQuotasResponse(entries=[DescribeClientQuotasResponseEntryData([], [ValueData("k", 0.5)])]),
        0,
        "00000000 0000 0000 00000001 00000000 00000001 0001 6b 3fe0000000000000",
    ),
]


@pytest.mark.parametrize(("message", "version", "text"), GOLDEN, ids=title)
def test_bytes_are_those_of_the_protocol_guide(message: ApiMessage, version: int, text: str) -> None:
    data = bytes.fromhex(text)
    assert encode_bytes(message, version) == data
    assert decode(type(message), version, data) == message


def test_long_compact_lengths_take_more_than_one_byte() -> None:
    message = MetadataRequest([MetadataRequestTopic(name="x" * 200)] * 130, False)
    data = encode_bytes(message, 9)
    assert data[:2] == b"\x83\x01"  # 131
    assert data[2:4] == b"\xc9\x01"  # 201
    assert decode(MetadataRequest, 9, data) == message


@pytest.mark.parametrize("size", [126, 127, 128, 16382, 16383, 16384, 32767])
def test_lengths_at_the_limits_of_varints(size: int) -> None:
    text = HeartbeatRequest("x" * size, unknown_tagged=[(size, b"y" * size)])
    assert decode(HeartbeatRequest, 4, encode_bytes(text, 4)) == text
    array = FetchRequest(forgotten_topics_data=[ForgottenTopic("a", partitions=[5] * size), ForgottenTopic("b")])
    assert decode(FetchRequest, 12, encode_bytes(array, 12)) == array
    structs = FetchRequest(topics=[FetchTopic("a")] * size)
    assert decode(FetchRequest, 12, encode_bytes(structs, 12)) == structs
    records = produce(b"r" * size)
    assert decode(ProduceRequest, 9, encode_bytes(records, 9)) == records
    raw = SaslAuthenticateRequest(b"b" * size)
    assert decode(SaslAuthenticateRequest, 2, encode_bytes(raw, 2)) == raw


# -- records pass through


def test_records_are_not_copied_on_the_way_out() -> None:
    first, second = bytearray(b"first"), memoryview(b"second")
    chunks = encode(produce([first, second]), 9)
    assert [bytes(chunk)[-6:] for chunk in chunks[1:3]] == [b"first", b"second"]
    assert isinstance(chunks[1], memoryview)
    assert chunks[1].obj is first
    assert len(chunks) == 4
    assert encode(produce(first), 9)[1] is first
    assert b"".join(chunks) == encode_bytes(produce(b"firstsecond"), 9)


def test_empty_records_add_no_buffer() -> None:
    assert len(encode(produce(b""), 9)) == 1
    assert decode(ProduceRequest, 9, encode_bytes(produce([]), 9)).topic_data[0].partition_data[0].records == b""


def test_records_are_not_copied_on_the_way_in() -> None:
    frame = bytearray(encode_bytes(produce(b"abc"), 9))
    records = decode(ProduceRequest, 9, frame).topic_data[0].partition_data[0].records
    assert isinstance(records, memoryview)
    assert records.obj is frame


def test_any_format_of_buffer_is_read() -> None:
    data = encode_bytes(HeartbeatRequest("group", 1, "m"), 0)
    assert decode(HeartbeatRequest, 0, memoryview(data).cast("H")) == HeartbeatRequest("group", 1, "m")


def test_trailing_bytes_are_refused_unless_allowed() -> None:
    data = encode_bytes(HeartbeatRequest("group"), 0) + b"more"
    with pytest.raises(ProtocolError, match="HeartbeatRequest v0: 4 bytes left over at byte 13"):
        decode(HeartbeatRequest, 0, data)
    assert decode(HeartbeatRequest, 0, data, exact=False) == HeartbeatRequest("group")
    assert decode_from(HeartbeatRequest, 0, memoryview(data), 0)[1] == 13


# -- versions


@pytest.mark.parametrize("version", [-1, 5])
def test_a_version_that_does_not_exist_is_named(version: int) -> None:
    with pytest.raises(UnsupportedVersionError, match=f"HeartbeatRequest has versions 0 to 4, not {version}"):
        encode(HeartbeatRequest(), version)
    with pytest.raises(UnsupportedVersionError):
        decode(HeartbeatRequest, version, b"")


def test_encoding_a_value_that_is_no_message_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="str is not a message"):
        encode("text", 0)  # type: ignore[arg-type]


def test_a_field_the_version_lacks_must_be_at_its_default() -> None:
    with pytest.raises(UnsupportedVersionError, match=r"FetchRequest v14: replica_state is set, but this version"):
        encode(FetchRequest(replica_state=ReplicaState(1, 2)), 14)
    with pytest.raises(UnsupportedVersionError, match=r"topics\[1\]\.partitions\[0\]\.last_fetched_epoch is set"):
        encode(
            FetchRequest(topics=[FetchTopic("a"), FetchTopic("b", partitions=[FetchPartition(last_fetched_epoch=3)])]),
            4,
        )
    with pytest.raises(UnsupportedVersionError, match="groups"):
        encode(OffsetFetchRequest(groups=None), 7)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedVersionError, match="validate_only"):
        encode(UpdateFeaturesRequest(validate_only=True), 0)


def test_a_field_the_version_lacks_is_dropped_when_ignorable() -> None:
    assert encode_bytes(FetchRequest(rack_id="r1"), 4) == encode_bytes(FetchRequest(), 4)


def test_unknown_tagged_fields_need_a_flexible_version() -> None:
    with pytest.raises(UnsupportedVersionError, match="unknown_tagged unknown tagged fields cannot be sent"):
        encode(HeartbeatRequest(unknown_tagged=[(9, b"")]), 3)


# -- values that cannot be sent


def fetch(**values: Any) -> FetchRequest:
    return FetchRequest(
        topics=[FetchTopic("a"), FetchTopic("b", partitions=[FetchPartition(), FetchPartition(**values)])]
    )


BAD_VALUES: list[tuple[ApiMessage, int, str]] = [
    (HeartbeatRequest(None), 0, "group_id: null in a field that may not be null"),  # type: ignore[arg-type]
    (HeartbeatRequest(None), 4, "group_id: null in a field that may not be null"),  # type: ignore[arg-type]
    (HeartbeatRequest(5), 4, "group_id: 'int' object has no attribute 'encode'"),  # type: ignore[arg-type]
    (HeartbeatRequest("g", 2**31), 0, "generation_id: 2147483648 is no int32"),
    (HeartbeatRequest("g", "7"), 0, "generation_id: '7' is no int32"),  # type: ignore[arg-type]
    (HeartbeatRequest("g", 1.5), 0, "generation_id: 1.5 is no int32"),  # type: ignore[arg-type]
    (HeartbeatRequest("g", None), 0, "generation_id: null in a field that may not be null"),  # type: ignore[arg-type]
    (HeartbeatRequest("x" * 32768), 0, "group_id: 32768 is no int16"),
    (HeartbeatRequest("x" * 32768), 4, "group_id: a string of 32768 bytes is longer than 32767"),
    (HeartbeatRequest("g\ud800"), 4, "group_id: 'utf-8' codec can't encode"),
    (fetch(fetch_offset=2**63), 12, r"topics[1].partitions[1].fetch_offset: 9223372036854775808 is no int64"),
    (
        fetch(replica_directory_id="id"),
        17,
        "topics[1].partitions[1].replica_directory_id: 'str' object has no attribute",
    ),
    (FetchRequest(topics=[FetchTopic(topic_id=None)]), 13, "topics[0].topic_id: 'NoneType' object"),  # type: ignore[arg-type]
    (FetchRequest(topics=None), 12, "topics: null in a field that may not be null"),  # type: ignore[arg-type]
    (FetchRequest(topics="ab"), 12, "topics: a list is needed, not str"),  # type: ignore[arg-type]
    (FetchRequest(topics={}), 4, "topics: a list is needed, not dict"),  # type: ignore[arg-type]
    (FetchRequest(topics=["ab"]), 12, "topics[0].topic: 'str' object has no attribute 'topic'"),  # type: ignore[list-item]
    (MetadataRequest(None), 0, "topics: null in a field that may not be null"),
    (MetadataRequest([], 1), 4, "allow_auto_topic_creation: a bool is needed, not int"),  # type: ignore[arg-type]
    (SaslAuthenticateRequest("text"), 0, "auth_bytes: memoryview: a bytes-like object is required"),  # type: ignore[arg-type]
    (SaslAuthenticateRequest(None), 2, "auth_bytes: null in a field that may not be null"),  # type: ignore[arg-type]
    (produce("text"), 9, "topic_data[0].partition_data[0].records: memoryview: a bytes-like object"),
    (produce(7), 3, "topic_data[0].partition_data[0].records: memoryview: a bytes-like object"),
    (ConsumerProtocolSubscription(["a", None]), 0, "topics[1]: null in a field"),  # type: ignore[list-item]
    (
        ConsumerProtocolSubscription(owned_partitions=[TopicPartition("a", ["x"])]),  # type: ignore[list-item]
        1,
        "owned_partitions[0].partitions: required argument is not an integer",
    ),
    (HeartbeatRequest(unknown_tagged=[(3, b""), (3, b"")]), 4, "unknown_tagged: unknown tag 3 comes after tag 3"),
    (HeartbeatRequest(unknown_tagged=[(3, "x")]), 4, "unknown_tagged: unknown tag 3 needs bytes"),  # type: ignore[list-item]
    (HeartbeatRequest(unknown_tagged=[7]), 4, "unknown_tagged: cannot unpack"),  # type: ignore[list-item]
    (FetchRequest(unknown_tagged=[(1, b"")]), 15, "unknown_tagged: tag 1 is a known field"),
]


@pytest.mark.parametrize(("message", "version", "text"), BAD_VALUES, ids=title)
def test_a_value_that_cannot_be_sent_names_its_field(message: ApiMessage, version: int, text: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        encode(message, version)
    assert str(caught.value.args[0].str()).startswith(f"{type(message).__name__} v{version}: {text}")


def test_a_null_struct_names_its_field() -> None:
    with pytest.raises(ProtocolError, match=r"FetchRequest v15: replica_state\.replica_id: 'NoneType' object"):
        encode(FetchRequest(replica_state=None), 15)  # type: ignore[arg-type]


def test_null_records_where_they_may_not_be() -> None:
    with pytest.raises(ProtocolError, match=r"parts\[0\]\.data: null in a field"):
        encode(Logs(parts=[LogPart()]), 0)


def test_a_tag_of_a_later_version_is_unknown_to_an_earlier_one() -> None:
    message = FetchRequest(unknown_tagged=[(1, b"later")])
    data = encode_bytes(message, 12)
    assert decode(FetchRequest, 12, data) == message


# -- bytes that cannot be read


BAD_BYTES: list[tuple[type[ApiMessage], int, str, str]] = [
    (HeartbeatRequest, 0, "", "group_id: truncated: 2 bytes needed, 0 left (at byte 0)"),
    (HeartbeatRequest, 0, "0002 61", "group_id: 2 bytes announced, but only 1 bytes are left (at byte 2)"),
    (HeartbeatRequest, 0, "ffff", "group_id: null in a field that may not be null (at byte 2)"),
    (HeartbeatRequest, 0, "0001 61 0000", "generation_id: truncated: 4 bytes needed, 2 left (at byte 3)"),
    (HeartbeatRequest, 0, "0001 61 00000001 00", "member_id: truncated: 2 bytes needed, 1 left (at byte 7)"),
    (HeartbeatRequest, 0, "0001 ff", "group_id: not valid UTF-8 (invalid start byte) (at byte 2)"),
    (HeartbeatRequest, 0, "0003 eda080", "group_id: not valid UTF-8"),
    (HeartbeatRequest, 4, "", "group_id: truncated: 1 byte needed, 0 left (at byte 0)"),
    (HeartbeatRequest, 4, "00", "group_id: null in a field that may not be null (at byte 1)"),
    (HeartbeatRequest, 4, "80", "group_id: the data ends inside a varint (at byte 0)"),
    (HeartbeatRequest, 4, "ffffffffff01", "group_id: a varint is longer than 32 bits"),
    (HeartbeatRequest, 4, "ffffffff1f", "group_id: a varint is longer than 32 bits"),
    (HeartbeatRequest, 4, "818002" + "00" * 40000, "group_id: a string of 32768 bytes is longer than 32767"),
    (HeartbeatRequest, 4, "01 00000000 01 00", "tags: truncated: 1 byte needed, 0 left (at byte 7)"),
    (HeartbeatRequest, 4, "01 00000000 01 00 02 05", "tags: 2 elements announced, but only 1 bytes are left"),
    (HeartbeatRequest, 4, "01 00000000 01 00 01 05 02 00", "tags: 2 bytes announced, but only 1 bytes are left"),
    (FetchRequest, 4, "00" * 17 + "7fffffff", "topics: 2147483647 elements announced, but only 0 bytes are left"),
    (
        FetchRequest,
        12,
        "00" * 25 + "02 02 61 02" + "00" * 31,
        "topics[0].partitions: 1 elements announced, but only 31 bytes",
    ),
    (FetchRequest, 12, "00" * 25 + "01 01 01 01 00 01 05", "cluster_id: 4 bytes announced, but only 0 bytes are left"),
    (
        FetchRequest,
        12,
        "00" * 25 + "01 01 01 01 00 03 0261 00",
        "cluster_id: tagged field of 3 bytes ends -1 bytes off",
    ),
    (FetchRequest, 12, "00" * 25 + "01 01 01 01 00 09 0261", "tags: 9 bytes announced, but only 2 bytes are left"),
    (FetchRequest, 12, "00" * 25 + "01 01 01 05 00 00", "tags: 5 elements announced, but only 2 bytes are left"),
    (CreateTopicsRequest, 2, "00000001 0001 61 0000", "topics: 1 elements announced, but only 5 bytes are left"),
    (ConsumerProtocolSubscription, 0, "00000002 0001 61 ffff ffffffff", "topics[1]: null in a field"),
    (DescribeTopicPartitionsRequest, 0, "01 00000000", "cursor: truncated: 1 bytes needed, 0 left (at byte 5)"),
    (SaslAuthenticateRequest, 0, "00000009 00", "auth_bytes: 9 bytes announced, but only 1 bytes are left"),
]


@pytest.mark.parametrize(("cls", "version", "data", "text"), BAD_BYTES, ids=title)
def test_bytes_that_cannot_be_read_name_field_and_position(
    cls: type[ApiMessage], version: int, data: str, text: str
) -> None:
    with pytest.raises(ProtocolError) as caught:
        decode(cls, version, bytes.fromhex(data))
    assert str(caught.value.args[0].str()).startswith(f"{cls.__name__} v{version}: {text}")


def test_negative_lengths_are_null_as_in_java() -> None:
    assert decode(MetadataRequest, 1, b"\x80\x00\x00\x00").topics is None
    assert decode(ProduceRequest, 3, b"\x80\x00" + bytes(10)).transactional_id is None


def test_a_repeated_known_tag_is_overwritten() -> None:
    body = bytes.fromhex("00" * 25 + "01 01 01 02 00 02 02 61 00 02 02 62")
    assert decode(FetchRequest, 12, body).cluster_id == "b"


def test_unknown_tags_are_kept_in_their_order_and_refused_on_writing_if_unsorted() -> None:
    body = bytes.fromhex("01 00000000 01 00 03 09 01 aa 05 00 05 01 bb")
    message = decode(HeartbeatRequest, 4, body)
    assert message.unknown_tagged == [(9, b"\xaa"), (5, b""), (5, b"\xbb")]
    with pytest.raises(ProtocolError, match="unknown tag 5 comes after tag 9"):
        encode(message, 4)
    message.unknown_tagged = [(5, b""), (9, b"\xaa")]
    assert decode(HeartbeatRequest, 4, encode_bytes(message, 4)) == message


def test_unknown_and_known_tags_are_merged_by_number() -> None:
    message = ApiVersionsResponse(finalized_features_epoch=5, zk_migration_ready=True, unknown_tagged=[(7, b"x")])
    data = encode_bytes(message, 3)
    assert data.hex(" ") == "00 00 01 00 00 00 00 03 01 08 00 00 00 00 00 00 00 05 03 01 01 07 01 78"
    assert decode(ApiVersionsResponse, 3, data) == message
