"""Clients of Confluent's Schema Registry (blocking and asyncio), a compatibility check, an embedded registry.

Must not know of Kafka or of serializers. Names and arguments are those of `confluent_kafka.schema_registry`.
The clients are imported at their first use: the engine and the command line need no HTTP library.
"""

from typing import TYPE_CHECKING, Any, Final

from registry.associations import (
    Association,
    AssociationCreateOrUpdateInfo,
    AssociationCreateOrUpdateRequest,
    AssociationInfo,
    AssociationResponse,
)
from registry.errors import (
    IncompatibleSchemaError,
    InvalidSchemaError,
    ResponseError,
    SchemaRegistryError,
    TransportError,
    UnexpectedAnswerError,
)
from registry.models import (
    ConfigCompatibilityLevel,
    Metadata,
    MetadataProperties,
    MetadataTags,
    RegisteredSchema,
    Rule,
    RuleKind,
    RuleMode,
    RuleParams,
    RuleSet,
    Schema,
    SchemaReference,
    SchemaVersion,
    ServerConfig,
)

if TYPE_CHECKING:
    from registry.client.aio import AsyncSchemaRegistryClient
    from registry.client.blocking import SchemaRegistryClient

__version__: Final = "0.1.0"  # kafka_core.version says it too, and must not be known here; a test compares the two

__all__ = [
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
]

CLIENTS = {"AsyncSchemaRegistryClient": "registry.client.aio", "SchemaRegistryClient": "registry.client.blocking"}

if not TYPE_CHECKING:  # type checkers read the imports above, and know a misspelt name

    def __getattr__(name: str) -> Any:
        if name in CLIENTS:
            import importlib

            value = getattr(importlib.import_module(CLIENTS[name]), name)
            globals()[name] = value  # found without this function from now on
            return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
