"""Classes of messages as protoc would generate them, for tests of Protobuf."""

from __future__ import annotations

from typing import Any

from google.protobuf.message_factory import GetMessageClass

from registry import Schema, SchemaReference
from registry.schemas.protobuf import parser as protobuf_parser

PART = 'syntax = "proto3"; package shop; import "google/type/money.proto"; message Part { google.type.Money m = 1; }'
PART_REFERENCE = SchemaReference("shop/part.proto", "shop/part.proto", 1)
TEXT = """syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "shop/part.proto";
message First { string a = 1; }
message Order {
  message Line { string sku = 1; int64 count = 2; }
  string id = 1;
  repeated Line lines = 2;
  google.protobuf.Timestamp at = 3;
  Part part = 4;
}
"""


def message_class(name: str) -> Any:
    schema = Schema(TEXT, "PROTOBUF", [PART_REFERENCE])
    pool = protobuf_parser.pool(schema, [(PART_REFERENCE, Schema(PART, "PROTOBUF"))], "shop/order.proto")
    return GetMessageClass(pool.FindMessageTypeByName(name))
