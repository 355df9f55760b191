"""Messages to send, one by one or compressed together, by the names of `kafka.protocol` in kafka-python 0.9.5.

A compressed message holds its messages until they are sent: today's record batches are made then. The old requests as
bytes are gone with the brokers that read them, and `KafkaProtocol` says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from kserdes.compat.simple.common import Message, ProtocolError, UnsupportedCodecError

ATTRIBUTE_CODEC_MASK = 0x03
CODEC_NONE = 0x00
CODEC_GZIP = 0x01
CODEC_SNAPPY = 0x02
ALL_CODECS = (CODEC_NONE, CODEC_GZIP, CODEC_SNAPPY)

Payload = tuple[bytes | None, bytes | None]


def create_message(payload: bytes | None, key: bytes | None = None) -> Message:
    """A message with this value and key."""
    return Message(0, 0, key, payload)


def create_gzip_message(
    payloads: Sequence[Payload], key: bytes | None = None, compresslevel: int | None = None
) -> Message:
    """Several messages, compressed together with gzip and sent in one batch.

    Args:
        payloads: (value, key) of each message.
        key: kept in the message; the records have the keys of `payloads`.
        compresslevel: is not used: `KafkaClient` decides for all it sends (`compresslevel=` of the producers).
    """
    return _set(payloads, key, CODEC_GZIP)


def create_snappy_message(payloads: Sequence[Payload], key: bytes | None = None) -> Message:
    """Several messages, compressed together with snappy and sent in one batch; arguments as above."""
    return _set(payloads, key, CODEC_SNAPPY)


def create_message_set(
    messages: Sequence[Payload], codec: int = CODEC_NONE, key: bytes | None = None, compresslevel: int | None = None
) -> list[Message]:
    """Messages for a ProduceRequest: one for each (value, key), or one that holds all of them, compressed.

    Raises:
        UnsupportedCodecError: the codec is none of ALL_CODECS.
    """
    if codec == CODEC_NONE:
        return [create_message(value, own) for value, own in messages]
    if codec not in ALL_CODECS:
        raise UnsupportedCodecError(f"codec 0x{codec:02x} is none of gzip (0x01) and snappy (0x02)")
    return [_set(messages, key, codec)]


def _set(payloads: Sequence[Payload], key: bytes | None, codec: int) -> Message:
    return Message(0, codec, key, [create_message(value, own) for value, own in payloads])


class KafkaProtocol:
    """The keys of requests. Requests as bytes are not made: brokers from Kafka 4.0 on do not read version 0 of them."""

    PRODUCE_KEY = 0
    FETCH_KEY = 1
    OFFSET_KEY = 2
    METADATA_KEY = 3
    OFFSET_COMMIT_KEY = 8
    OFFSET_FETCH_KEY = 9
    CONSUMER_METADATA_KEY = 10

    @classmethod
    def _gone(cls, *args: object, **kwargs: object) -> NoReturn:
        raise ProtocolError(
            "requests and responses as bytes of version 0 are gone, since no broker from Kafka 4.0 on reads them: "
            "call KafkaClient.send_produce_request, send_fetch_request, … with the same tuples"
        )

    encode_produce_request: Any = _gone
    decode_produce_response: Any = _gone
    encode_fetch_request: Any = _gone
    decode_fetch_response: Any = _gone
    encode_offset_request: Any = _gone
    decode_offset_response: Any = _gone
    encode_metadata_request: Any = _gone
    decode_metadata_response: Any = _gone
    encode_consumer_metadata_request: Any = _gone
    decode_consumer_metadata_response: Any = _gone
    encode_offset_commit_request: Any = _gone
    decode_offset_commit_response: Any = _gone
    encode_offset_fetch_request: Any = _gone
    decode_offset_fetch_response: Any = _gone
