"""GUID of a schema until `registry.canonical` has it."""

from __future__ import annotations

import hashlib
import uuid

from registry.models import Schema

try:
    from registry.canonical import schema_guid  
except ImportError:

    def schema_guid(schema: Schema) -> str:
        return str(uuid.UUID(bytes=hashlib.md5(repr(schema).encode(), usedforsecurity=False).digest()))


__all__ = ["schema_guid"]
