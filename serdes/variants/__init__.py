"""Variants: values of any shape in the binary form of Apache Parquet and Spark, read, built, and written as JSON.

Must not know of Protobuf (`serdes.variants.messages` does), Avro or serializers. Names are those of confluent_kafka's
`variant_utils`. Source: the Parquet format's "Variant Binary Encoding".
"""

from serdes.variants.building import VariantBuilder, parse_json
from serdes.variants.encoding import VariantError, VariantType
from serdes.variants.reading import Variant, from_bytes, to_json_string

__all__ = [
    "Variant",
    "VariantBuilder",
    "VariantError",
    "VariantType",
    "from_bytes",
    "parse_json",
    "to_json_string",
]
