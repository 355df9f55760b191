"""The incompatibilities of two JSON Schemas: what keeps one from accepting what the other accepts.

Must not know of levels or registries. Source: Confluent's `SchemaDiff`.
"""

from __future__ import annotations

from registry.compat.difference import Difference, Roles
from registry.compat.json.compare import Comparison
from registry.schemas.json.format import JsonSchema


def differences(
    reader: JsonSchema, writer: JsonSchema, roles: Roles | None = None, policy: str = "STRICT"
) -> list[Difference]:
    """The incompatibilities; empty if all data that `writer` accepts is accepted by `reader`.

    Args:
        reader: reads; the registry calls it the update.
        writer: has written; the registry calls it the original.
        roles: how messages call the two.
        policy: `STRICT`, or `LENIENT`, which allows some changes of what is not named.

    Raises:
        InvalidSchemaError: comparing them would take too long.
    """
    return Comparison(roles or Roles(), policy).run(writer.root, reader.root)
