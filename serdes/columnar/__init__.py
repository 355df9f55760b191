"""Framed values to Arrow columns and back, with an error for each row that can't be converted.

Needs pyarrow (the extra `arrow`).
"""

try:
    from serdes.columnar.avro.schema_of import avro_schema_of
    from serdes.columnar.contract import ColumnOptions, DecodeResult, EncodeResult
    from serdes.columnar.decoder import (
        MAX_UNKNOWN_IDS,
        ColumnarDecoder,
        SchemaResolver,
        UnappliedRulesError,
        reading_rules,
        rules_refused,
    )
    from serdes.columnar.encoder import ColumnarEncoder, writing_rules
    from serdes.columnar.json.schema_of import json_schema_of
except ModuleNotFoundError as missing:
    if missing.name != "pyarrow":
        raise
    raise ModuleNotFoundError(
        "pyarrow is not installed: pip install pyarrow (the extra 'arrow' of kserdes)", name="pyarrow"
    ) from missing

__all__ = [
    "MAX_UNKNOWN_IDS",
    "ColumnOptions",
    "ColumnarDecoder",
    "ColumnarEncoder",
    "DecodeResult",
    "EncodeResult",
    "SchemaResolver",
    "UnappliedRulesError",
    "avro_schema_of",
    "json_schema_of",
    "reading_rules",
    "rules_refused",
    "writing_rules",
]
