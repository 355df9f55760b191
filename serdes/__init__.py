"""Kafka serializers and deserializers: Avro, JSON Schema and Protobuf with a schema registry, strings, numbers.

The producers and consumers that use them are here too. Names and arguments are those of
`confluent_kafka.serialization`; the serializers of a format are in `serdes.avro`, `serdes.json_schema` and
`serdes.protobuf`. Every name is imported at its first use: a program that only decodes loads no Kafka client.
"""

from typing import TYPE_CHECKING, Final

from kserdes_base.lazy import public_names
from kserdes_base.neighbours import require_own

if TYPE_CHECKING:
    from serdes.clients import (
        AIODeserializingConsumer,
        AIODeserializingShareConsumer,
        AIOSerializingProducer,
        DeserializingConsumer,
        DeserializingShareConsumer,
        SerializingProducer,
    )
    from serdes.context import (
        Deserializer,
        MessageField,
        SerializationContext,
        Serializer,
    )
    from serdes.errors import (
        SerializationError,
    )
    from serdes.formats.avro.logical import Duration
    from serdes.frames.schema_id import (
        SchemaId,
        dual_schema_id_deserializer,
        header_schema_id_serializer,
        prefix_schema_id_deserializer,
        prefix_schema_id_serializer,
    )
    from serdes.simple import (
        BytesDeserializer,
        BytesSerializer,
        DoubleDeserializer,
        DoubleSerializer,
        FloatDeserializer,
        FloatSerializer,
        IntegerDeserializer,
        IntegerSerializer,
        LongDeserializer,
        LongSerializer,
        NullDeserializer,
        NullSerializer,
        ShortDeserializer,
        ShortSerializer,
        StringDeserializer,
        StringSerializer,
        UUIDDeserializer,
        UUIDSerializer,
    )
    from serdes.subject import (
        AssociatedNameStrategy,
        SubjectNameStrategyType,
        record_subject_name_strategy,
        reference_subject_name_strategy,
        topic_record_subject_name_strategy,
        topic_subject_name_strategy,
    )

if TYPE_CHECKING:
    __version__: str

__all__ = [
    "AIODeserializingConsumer",
    "AIODeserializingShareConsumer",
    "AIOSerializingProducer",
    "AssociatedNameStrategy",
    "BytesDeserializer",
    "BytesSerializer",
    "Deserializer",
    "DeserializingConsumer",
    "DeserializingShareConsumer",
    "DoubleDeserializer",
    "DoubleSerializer",
    "Duration",
    "FloatDeserializer",
    "FloatSerializer",
    "IntegerDeserializer",
    "IntegerSerializer",
    "LongDeserializer",
    "LongSerializer",
    "MessageField",
    "NullDeserializer",
    "NullSerializer",
    "SchemaId",
    "SerializationContext",
    "SerializationError",
    "Serializer",
    "SerializingProducer",
    "ShortDeserializer",
    "ShortSerializer",
    "StringDeserializer",
    "StringSerializer",
    "SubjectNameStrategyType",
    "UUIDDeserializer",
    "UUIDSerializer",
    "dual_schema_id_deserializer",
    "header_schema_id_serializer",
    "prefix_schema_id_deserializer",
    "prefix_schema_id_serializer",
    "record_subject_name_strategy",
    "reference_subject_name_strategy",
    "topic_record_subject_name_strategy",
    "topic_subject_name_strategy",
]

require_own(("kafka_core", "registry"))

HOMES: Final = {
    "serdes.formats.avro.logical": ("Duration",),
    "serdes.clients": (
        "AIODeserializingConsumer",
        "AIODeserializingShareConsumer",
        "AIOSerializingProducer",
        "DeserializingConsumer",
        "DeserializingShareConsumer",
        "SerializingProducer",
    ),
    "serdes.context": (
        "Deserializer",
        "MessageField",
        "SerializationContext",
        "Serializer",
    ),
    "serdes.errors": ("SerializationError",),
    "serdes.frames.schema_id": (
        "SchemaId",
        "dual_schema_id_deserializer",
        "header_schema_id_serializer",
        "prefix_schema_id_deserializer",
        "prefix_schema_id_serializer",
    ),
    "serdes.simple": (
        "BytesDeserializer",
        "BytesSerializer",
        "DoubleDeserializer",
        "DoubleSerializer",
        "FloatDeserializer",
        "FloatSerializer",
        "IntegerDeserializer",
        "IntegerSerializer",
        "LongDeserializer",
        "LongSerializer",
        "NullDeserializer",
        "NullSerializer",
        "ShortDeserializer",
        "ShortSerializer",
        "StringDeserializer",
        "StringSerializer",
        "UUIDDeserializer",
        "UUIDSerializer",
    ),
    "serdes.subject": (
        "AssociatedNameStrategy",
        "SubjectNameStrategyType",
        "record_subject_name_strategy",
        "reference_subject_name_strategy",
        "topic_record_subject_name_strategy",
        "topic_subject_name_strategy",
    ),
}

if not TYPE_CHECKING:  # type checkers read the imports above, and know a misspelt name
    __getattr__, __dir__ = public_names(__name__, HOMES, others={"__version__": ("kserdes_base.version", "VERSION")})
