"""Client of Confluent's Schema Registry, compatibility engine, embedded registry.

Must not know of Kafka or of serializers. Names and arguments are those of `confluent_kafka.schema_registry`.
"""

from registry.aio import AsyncSchemaRegistryClient
from registry.client import SchemaRegistryClient
from registry.errors import (
    IncompatibleSchemaError,
    InvalidSchemaError,
    ResponseError,
    SchemaRegistryError,
    TransportError,
)
from registry.models import (
    ConfigCompatibilityLevel,
    Metadata,
    RegisteredSchema,
    Rule,
    RuleKind,
    RuleMode,
    RuleSet,
    Schema,
    SchemaReference,
    SchemaVersion,
    ServerConfig,
)

__all__ = [
    "AsyncSchemaRegistryClient",
    "ConfigCompatibilityLevel",
    "IncompatibleSchemaError",
    "InvalidSchemaError",
    "Metadata",
    "RegisteredSchema",
    "ResponseError",
    "Rule",
    "RuleKind",
    "RuleMode",
    "RuleSet",
    "Schema",
    "SchemaReference",
    "SchemaRegistryClient",
    "SchemaRegistryError",
    "SchemaVersion",
    "ServerConfig",
    "TransportError",
]
