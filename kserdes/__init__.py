"""One import for the whole client: `from kserdes import Producer, SchemaRegistryClient, AvroSerializer`.

Re-exports the public names of `kafka_core` (with `admin` and `aio`), `registry` and `serdes` (with `avro`,
`json_schema` and `protobuf`), the embedded servers for tests, and Spark's `from_registry` and `tune` where PySpark is
installed. Every name is imported at its first use (PEP 562). The rest is imported from its own module: `serdes.rules`,
`serdes.encryption`, `serdes.columnar`, `registry.compat`, `registry.dek`, `pipeline`; other clients' APIs are in
`kserdes.compat`, the command line is in `kserdes.cli`.

Defines nothing of its own; no library imports it, and neither do its own subpackages.
"""

import importlib.util
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kserdes_base.lazy import public_names
from kserdes_base.neighbours import require_own
from kserdes_base.version import VERSION

if TYPE_CHECKING:
    from kafka_core import *  # noqa: F403
    from kafka_core.admin import *  # noqa: F403
    from kafka_core.aio import *  # noqa: F403
    from kafka_core.broker import EmbeddedCluster as EmbeddedCluster
    from pipeline import from_registry as from_registry
    from pipeline import tune as tune
    from registry import *  # noqa: F403
    from registry.dev import EmbeddedRegistry as EmbeddedRegistry
    from serdes import *  # noqa: F403
    from serdes.avro import *  # noqa: F403
    from serdes.errors import *  # noqa: F403
    from serdes.json_schema import *  # noqa: F403
    from serdes.protobuf import *  # noqa: F403

require_own(("kafka_core", "registry", "serdes", "pipeline"))  # a folder of the user's may hide one

__version__: Final = VERSION

HOMES: Final[Mapping[str, tuple[str, ...]]] = {
    "kafka_core": (
        "AcknowledgeType",
        "AuthError",
        "BrokerError",
        "ConcurrentModificationException",
        "ConfigError",
        "ConsumeError",
        "Consumer",
        "ConsumerGroupState",
        "ConsumerGroupTopicPartitions",
        "ConsumerGroupType",
        "CorruptRecordError",
        "ElectionType",
        "IllegalStateException",
        "IsolationLevel",
        "KafkaError",
        "KafkaException",
        "LogTruncation",
        "Message",
        "Messages",
        "NetworkError",
        "Node",
        "OFFSET_BEGINNING",
        "OFFSET_END",
        "OFFSET_INVALID",
        "OFFSET_STORED",
        "ProduceError",
        "Producer",
        "ProtocolError",
        "ShareConsumer",
        "StateError",
        "TIMESTAMP_CREATE_TIME",
        "TIMESTAMP_LOG_APPEND_TIME",
        "TIMESTAMP_NOT_AVAILABLE",
        "ThrottleEvent",
        "TopicCollection",
        "TopicPartition",
        "TopicPartitionInfo",
        "UnknownCodecError",
        "UnsupportedVersionError",
        "Uuid",
        "consistent",
        "fnv1a",
        "libversion",
        "murmur2",
        "version",
    ),
    "kafka_core.admin": (
        "AIOAdminClient",
        "AclBinding",
        "AclBindingFilter",
        "AclOperation",
        "AclPermissionType",
        "AdminClient",
        "AlterConfigOpType",
        "BrokerMetadata",
        "CONFIG_SOURCE_DEFAULT_CONFIG",
        "CONFIG_SOURCE_DYNAMIC_BROKER_CONFIG",
        "CONFIG_SOURCE_DYNAMIC_DEFAULT_BROKER_CONFIG",
        "CONFIG_SOURCE_DYNAMIC_TOPIC_CONFIG",
        "CONFIG_SOURCE_GROUP_CONFIG",
        "CONFIG_SOURCE_STATIC_BROKER_CONFIG",
        "CONFIG_SOURCE_UNKNOWN_CONFIG",
        "ClusterMetadata",
        "ConfigEntry",
        "ConfigResource",
        "ConfigSource",
        "ConsumerGroupDescription",
        "ConsumerGroupListing",
        "DeletedRecords",
        "DescribeClusterResult",
        "FeatureMetadata",
        "FeatureUpdate",
        "FeatureUpgradeType",
        "GroupMember",
        "GroupMetadata",
        "ListConsumerGroupsResult",
        "ListOffsetsResultInfo",
        "LogDirDescription",
        "MemberAssignment",
        "MemberDescription",
        "MemberToRemove",
        "NewPartitions",
        "NewTopic",
        "OffsetSpec",
        "Outcome",
        "PartitionCursor",
        "PartitionDescription",
        "PartitionMetadata",
        "PartitionReassignment",
        "ProducerState",
        "QuorumInfo",
        "QuorumListener",
        "QuorumReplica",
        "RESOURCE_ANY",
        "RESOURCE_BROKER",
        "RESOURCE_GROUP",
        "RESOURCE_TOPIC",
        "RESOURCE_TRANSACTIONAL_ID",
        "RESOURCE_UNKNOWN",
        "ReplicaInfo",
        "ResourcePatternType",
        "ResourceType",
        "ScramCredentialInfo",
        "ScramMechanism",
        "ShareGroupDescription",
        "ShareMemberDescription",
        "SharePartitionOffsetInfo",
        "TopicDescription",
        "TopicMetadata",
        "TopicPartitionReplica",
        "TopicPartitionsDescription",
        "TopicPartitionsPage",
        "TransactionDescription",
        "TransactionListing",
        "UserScramCredentialAlteration",
        "UserScramCredentialDeletion",
        "UserScramCredentialUpsertion",
        "UserScramCredentialsDescription",
        "VersionRange",
    ),
    "kafka_core.aio": (
        "AIOConsumer",
        "AIOProducer",
        "AIOShareConsumer",
    ),
    "kafka_core.broker": ("EmbeddedCluster",),
    "registry": (
        "Association",
        "AssociationCreateOrUpdateInfo",
        "AssociationCreateOrUpdateRequest",
        "AssociationInfo",
        "AssociationResponse",
        "AsyncSchemaRegistryClient",
        "ConfigCompatibilityLevel",
        "IncompatibleSchemaError",
        "InvalidSchemaError",
        "Metadata",
        "MetadataProperties",
        "MetadataTags",
        "PropertyError",
        "RegisteredSchema",
        "ResponseError",
        "Rule",
        "RuleKind",
        "RuleMode",
        "RuleParams",
        "RuleSet",
        "Schema",
        "SchemaReference",
        "SchemaRegistryClient",
        "SchemaRegistryError",
        "SchemaVersion",
        "ServerConfig",
        "TransportError",
        "UnexpectedAnswerError",
    ),
    "registry.dev": ("EmbeddedRegistry",),
    "serdes": (
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
    ),
    "serdes.avro": (
        "AsyncAvroDeserializer",
        "AsyncAvroSerializer",
        "AvroDeserializer",
        "AvroSerializer",
    ),
    "serdes.errors": (
        "KeyDeserializationError",
        "KeySerializationError",
        "UnfitError",
        "ValueDeserializationError",
        "ValueSerializationError",
    ),
    "serdes.json_schema": (
        "AsyncJSONDeserializer",
        "AsyncJSONSerializer",
        "JSONDeserializer",
        "JSONSerializer",
    ),
    "serdes.protobuf": (
        "AsyncProtobufDeserializer",
        "AsyncProtobufSerializer",
        "ProtobufDeserializer",
        "ProtobufSerializer",
    ),
}
"""Public module → the names that are taken from it."""
SPARK: Final = ("from_registry", "tune")
"""Names of `pipeline`: they need the extra `spark`, so neither `__all__` nor, without PySpark, `dir()` lists them."""
_NAMES: Final = frozenset(name for names in HOMES.values() for name in names)

if not TYPE_CHECKING:  # type checkers read the imports above, and know a misspelt name
    __all__ = sorted(_NAMES)
    __getattr__, _ = public_names(__name__, {**HOMES, "pipeline": SPARK})


def __dir__() -> list[str]:
    missing = SPARK if importlib.util.find_spec("pyspark") is None else ()
    return sorted({*globals(), *_NAMES, *SPARK} - set(missing))
