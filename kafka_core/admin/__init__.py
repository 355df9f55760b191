"""Administration: the names of confluent_kafka.admin, so that only the import changes.

Holds no code of its own. `AIOAdminClient` is the same for asyncio (native, without threads).
"""

from kafka_core.admin_cluster import (
    FeatureMetadata,
    FeatureUpdate,
    FeatureUpgradeType,
    LogDirDescription,
    MemberToRemove,
    PartitionCursor,
    PartitionDescription,
    PartitionReassignment,
    ProducerState,
    QuorumInfo,
    QuorumListener,
    QuorumReplica,
    ReplicaInfo,
    TopicPartitionReplica,
    TopicPartitionsDescription,
    TopicPartitionsPage,
    TransactionDescription,
    TransactionListing,
    VersionRange,
)
from kafka_core.admin_model import (
    AclOperation,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    ConsumerGroupDescription,
    ConsumerGroupListing,
    DeletedRecords,
    DescribeClusterResult,
    ListConsumerGroupsResult,
    ListOffsetsResultInfo,
    MemberAssignment,
    MemberDescription,
    NewPartitions,
    NewTopic,
    Outcome,
    ResourceType,
    ShareGroupDescription,
    ShareMemberDescription,
    SharePartitionOffsetInfo,
    TopicDescription,
)
from kafka_core.admin_offsets import OffsetSpec
from kafka_core.admin_security import (
    AclBinding,
    AclBindingFilter,
    AclPermissionType,
    ResourcePatternType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialAlteration,
    UserScramCredentialDeletion,
    UserScramCredentialsDescription,
    UserScramCredentialUpsertion,
)
from kafka_core.aio.administering.admin import AIOAdminClient
from kafka_core.listings import (
    BrokerMetadata,
    ClusterMetadata,
    GroupMember,
    GroupMetadata,
    PartitionMetadata,
    TopicMetadata,
)
from kafka_core.sync.admin import AdminClient

# The reference API's old spellings, as values of the enums.
RESOURCE_UNKNOWN = ResourceType.UNKNOWN.value
"""The value of `ResourceType.UNKNOWN`."""
RESOURCE_ANY = ResourceType.ANY.value
"""The value of `ResourceType.ANY`."""
RESOURCE_TOPIC = ResourceType.TOPIC.value
"""The value of `ResourceType.TOPIC`."""
RESOURCE_GROUP = ResourceType.GROUP.value
"""The value of `ResourceType.GROUP`."""
RESOURCE_BROKER = ResourceType.BROKER.value
"""The value of `ResourceType.BROKER`."""
RESOURCE_TRANSACTIONAL_ID = ResourceType.TRANSACTIONAL_ID.value
"""The value of `ResourceType.TRANSACTIONAL_ID`."""
CONFIG_SOURCE_UNKNOWN_CONFIG = ConfigSource.UNKNOWN_CONFIG.value
"""The value of `ConfigSource.UNKNOWN_CONFIG`."""
CONFIG_SOURCE_DYNAMIC_TOPIC_CONFIG = ConfigSource.DYNAMIC_TOPIC_CONFIG.value
"""The value of `ConfigSource.DYNAMIC_TOPIC_CONFIG`."""
CONFIG_SOURCE_DYNAMIC_BROKER_CONFIG = ConfigSource.DYNAMIC_BROKER_CONFIG.value
"""The value of `ConfigSource.DYNAMIC_BROKER_CONFIG`."""
CONFIG_SOURCE_DYNAMIC_DEFAULT_BROKER_CONFIG = ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG.value
"""The value of `ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG`."""
CONFIG_SOURCE_STATIC_BROKER_CONFIG = ConfigSource.STATIC_BROKER_CONFIG.value
"""The value of `ConfigSource.STATIC_BROKER_CONFIG`."""
CONFIG_SOURCE_DEFAULT_CONFIG = ConfigSource.DEFAULT_CONFIG.value
"""The value of `ConfigSource.DEFAULT_CONFIG`."""
CONFIG_SOURCE_GROUP_CONFIG = ConfigSource.GROUP_CONFIG.value
"""The value of `ConfigSource.GROUP_CONFIG`."""

__all__ = [
    "CONFIG_SOURCE_DEFAULT_CONFIG",
    "CONFIG_SOURCE_DYNAMIC_BROKER_CONFIG",
    "CONFIG_SOURCE_DYNAMIC_DEFAULT_BROKER_CONFIG",
    "CONFIG_SOURCE_DYNAMIC_TOPIC_CONFIG",
    "CONFIG_SOURCE_GROUP_CONFIG",
    "CONFIG_SOURCE_STATIC_BROKER_CONFIG",
    "CONFIG_SOURCE_UNKNOWN_CONFIG",
    "RESOURCE_ANY",
    "RESOURCE_BROKER",
    "RESOURCE_GROUP",
    "RESOURCE_TOPIC",
    "RESOURCE_TRANSACTIONAL_ID",
    "RESOURCE_UNKNOWN",
    "AIOAdminClient",
    "AclBinding",
    "AclBindingFilter",
    "AclOperation",
    "AclPermissionType",
    "AdminClient",
    "AlterConfigOpType",
    "BrokerMetadata",
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
]
