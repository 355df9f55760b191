"""The incompatibilities of two Protobuf schemas: what keeps one from reading data of the other.

Must not know of levels or registries. Source: Confluent's registry (`SchemaDiff`); what it finds and how it judges is
in docs/compatibility-protobuf.md.
"""

from __future__ import annotations

from registry.compat.difference import Difference, Roles
from registry.compat.protobuf.kinds import COMPATIBLE
from registry.compat.protobuf.messages import changes
from registry.schemas.protobuf.format import ProtobufSchema


def differences(reader: ProtobufSchema, writer: ProtobufSchema, roles: Roles, policy: str) -> list[Difference]:
    """The incompatibilities that keep `reader` from reading data of `writer`.

    Args:
        reader: the schema that reads.
        writer: the schema of the data.
        roles: how messages call them.
        policy: without meaning for Protobuf.

    Raises:
        InvalidSchemaError: there is too much to compare.
    """
    return [change.worded(roles) for change in changes(reader, writer) if change.kind not in COMPATIBLE]
