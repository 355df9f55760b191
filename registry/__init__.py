"""Clients of Confluent's Schema Registry (blocking and asyncio), a compatibility check, an embedded registry.

Must not know of Kafka or of serializers. Names and arguments are those of `confluent_kafka.schema_registry`.
Every name is imported at its first use: a program that only compares schemas loads no HTTP library.
"""

from typing import TYPE_CHECKING, Final

from kserdes_base.lazy import public_names
from kserdes_base.version import VERSION

if TYPE_CHECKING:
    from kserdes_base.config.errors import PropertyError
    from registry.associations import (
        Association,
        AssociationCreateOrUpdateInfo,
        AssociationCreateOrUpdateRequest,
        AssociationInfo,
        AssociationResponse,
    )
    from registry.client.aio import AsyncSchemaRegistryClient
    from registry.client.blocking import SchemaRegistryClient
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

__version__: Final = VERSION

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
]

HOMES: Final = {
    "kserdes_base.config.errors": ("PropertyError",),
    "registry.associations": (
        "Association",
        "AssociationCreateOrUpdateInfo",
        "AssociationCreateOrUpdateRequest",
        "AssociationInfo",
        "AssociationResponse",
    ),
    "registry.client.aio": ("AsyncSchemaRegistryClient",),
    "registry.client.blocking": ("SchemaRegistryClient",),
    "registry.errors": (
        "IncompatibleSchemaError",
        "InvalidSchemaError",
        "ResponseError",
        "SchemaRegistryError",
        "TransportError",
        "UnexpectedAnswerError",
    ),
    "registry.models": (
        "ConfigCompatibilityLevel",
        "Metadata",
        "MetadataProperties",
        "MetadataTags",
        "RegisteredSchema",
        "Rule",
        "RuleKind",
        "RuleMode",
        "RuleParams",
        "RuleSet",
        "Schema",
        "SchemaReference",
        "SchemaVersion",
        "ServerConfig",
    ),
}

if not TYPE_CHECKING:  # type checkers read the imports above, and know a misspelt name
    __getattr__, __dir__ = public_names(__name__, HOMES, ("associations", "errors", "models"))
