"""The headers in which a record names the schemas of its key and value.

Must not know what they hold: `serdes.frames.schema_id` reads and writes them.
"""

from typing import Final

__all__ = ["KEY_HEADER", "VALUE_HEADER"]

KEY_HEADER: Final = "__key_schema_id"
VALUE_HEADER: Final = "__value_schema_id"
