"""Variants and the Protobuf message `confluent.type.Variant`, each made of the other.

Names are those of `confluent_kafka.schema_registry.protobuf` and its `variant_pb2`. The message is that of the built-in
`confluent/type/variant.proto`: the two byte strings.
"""

from __future__ import annotations

from typing import Any, Final

from serdes import confluent_types
from serdes.variants import reading

Variant: Final[Any] = confluent_types.message_class(
    "Variant", (("metadata", confluent_types.BYTES), ("value", confluent_types.BYTES))
)
"""The message's class: `metadata`, `value`."""
DESCRIPTOR: Final = Variant.DESCRIPTOR.file


def variant_to_protobuf(value: reading.Variant) -> Any:
    """A message that holds the variant."""
    return Variant(metadata=value.metadata, value=value.standalone_value_bytes())


def protobuf_to_variant(value: Any) -> reading.Variant:
    """The variant in a message.

    Raises:
        VariantError: the message is empty, or its metadata is not of version 1.
    """
    return reading.Variant(value.value, value.metadata)
