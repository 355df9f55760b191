"""Framed bytes in, Arrow columns and row errors out. Needs pyarrow (the extra `arrow`)."""

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
