"""The wire protocol: every message in every version as a dataclass, and the codec for them.

Does no I/O and knows nothing of what messages mean. Message classes live in `kafka_core.protocol.messages.<api>`.
Spec: https://kafka.apache.org/protocol; the definitions come from org.apache.kafka:kafka-clients.
"""

from kafka_core.protocol.api import DATA_MESSAGES, REQUESTS, RESPONSES, api_name
from kafka_core.protocol.coding import decode, encode, encode_bytes
from kafka_core.protocol.frames import (
    decode_request,
    decode_request_header,
    decode_response,
    encode_request,
    encode_response,
)
from kafka_core.protocol.messages import ApiKey
from kafka_core.protocol.schema import ZERO_UUID, ApiMessage, ApiRequest, Buffer, Records
from kafka_core.protocol.versions import BrokerVersions, negotiate

__all__ = [
    "DATA_MESSAGES",
    "REQUESTS",
    "RESPONSES",
    "ZERO_UUID",
    "ApiKey",
    "ApiMessage",
    "ApiRequest",
    "BrokerVersions",
    "Buffer",
    "Records",
    "api_name",
    "decode",
    "decode_request",
    "decode_request_header",
    "decode_response",
    "encode",
    "encode_bytes",
    "encode_request",
    "encode_response",
    "negotiate",
]
