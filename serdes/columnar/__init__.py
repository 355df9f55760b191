"""Decodes framed Avro into Arrow columns, with an error for each row that can't be.

Needs pyarrow (the extra `arrow`).
"""

from serdes.columnar.decoder import (
    MAX_UNKNOWN_IDS,
    ColumnarDecoder,
    DecodeResult,
    SchemaResolver,
    UnappliedRulesError,
    reading_rules,
    rules_refused,
)

__all__ = [
    "MAX_UNKNOWN_IDS",
    "ColumnarDecoder",
    "DecodeResult",
    "SchemaResolver",
    "UnappliedRulesError",
    "reading_rules",
    "rules_refused",
]
