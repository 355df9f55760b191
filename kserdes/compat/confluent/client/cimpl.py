"""The numbers of `confluent_kafka.cimpl`: those of the enums of `kafka_core`, one constant per member.

Must not hold anything else; what code of applications takes from there has its home in `kafka_core`.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from kafka_core import AcknowledgeType, ConsumerGroupState, ConsumerGroupType, ElectionType, IsolationLevel
from kafka_core.admin import (
    AclOperation,
    AclPermissionType,
    AlterConfigOpType,
    ConfigSource,
    ResourcePatternType,
    ResourceType,
    ScramMechanism,
)

ENUMS: Final[dict[str, type[Enum]]] = {
    "ACL_OPERATION": AclOperation,
    "ACL_PERMISSION_TYPE": AclPermissionType,
    "ALTER_CONFIG_OP_TYPE": AlterConfigOpType,
    "CONFIG_SOURCE": ConfigSource,
    "CONSUMER_GROUP_STATE": ConsumerGroupState,
    "CONSUMER_GROUP_TYPE": ConsumerGroupType,
    "ELECTION_TYPE": ElectionType,
    "ISOLATION_LEVEL": IsolationLevel,
    "RESOURCE": ResourceType,
    "RESOURCE_PATTERN": ResourcePatternType,
    "SCRAM_MECHANISM": ScramMechanism,
    "SHARE_ACKNOWLEDGE_TYPE": AcknowledgeType,
}
"""Beginning of a constant's name -> the enum whose members follow."""

SPELLED: Final = {"REBALANCING": "REBALANCE", "SCRAM_SHA": "SHA"}
"""Parts of members' names that are written otherwise in constants."""


def constants() -> dict[str, int]:
    """All of them by name."""
    found = {"OFFSET_SPEC_EARLIEST": -2, "OFFSET_SPEC_LATEST": -1, "OFFSET_SPEC_MAX_TIMESTAMP": -3}
    for beginning, enum in ENUMS.items():
        for member in enum:
            name = member.name
            for long, short in SPELLED.items():
                name = name.replace(long, short)
            found[f"{beginning}_{name}"] = member.value
    return found


CONSTANTS: Final = constants()

__all__ = list(CONSTANTS)  # as many as the enums have members


def __getattr__(name: str) -> int:
    if name in CONSTANTS:
        return CONSTANTS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
