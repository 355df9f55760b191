"""Numbers of the encoding of variants by the names of confluent_kafka's `variant_utils`.

`serdes.variants.encoding` has them in use; this is for code that makes or reads bytes with the other names. Spec:
Apache Parquet's Variant encoding.
"""

from __future__ import annotations

from typing import Final

from serdes.variants.encoding import MOST_SHORT, VERSION, Basic, Code

__all__ = ["MAX_SHORT_STR_SIZE", "VERSION"]

BASIC_TYPE_BITS: Final = 2
BASIC_TYPE_MASK: Final = 0b11
TYPE_INFO_MASK: Final = 0x3F
VERSION_MASK: Final = 0x0F
MAX_SHORT_STR_SIZE: Final = MOST_SHORT

PRIMITIVE: Final = Basic.PRIMITIVE
SHORT_STR: Final = Basic.SHORT_STRING
OBJECT: Final = Basic.OBJECT
ARRAY: Final = Basic.ARRAY

NULL: Final = Code.NULL
TRUE: Final = Code.TRUE
FALSE: Final = Code.FALSE
INT1: Final = Code.INT1
INT2: Final = Code.INT2
INT4: Final = Code.INT4
INT8: Final = Code.INT8
DOUBLE: Final = Code.DOUBLE
DECIMAL4: Final = Code.DECIMAL4
DECIMAL8: Final = Code.DECIMAL8
DECIMAL16: Final = Code.DECIMAL16
DATE: Final = Code.DATE
TIMESTAMP: Final = Code.TIMESTAMP_TZ
TIMESTAMP_NTZ: Final = Code.TIMESTAMP_NTZ
FLOAT: Final = Code.FLOAT
BINARY: Final = Code.BINARY
LONG_STR: Final = Code.LONG_STRING
TIME: Final = Code.TIME
TIMESTAMP_NANOS: Final = Code.TIMESTAMP_NANOS_TZ
TIMESTAMP_NANOS_NTZ: Final = Code.TIMESTAMP_NANOS_NTZ
UUID: Final = Code.UUID

U8_MAX: Final = 2**8 - 1
U16_MAX: Final = 2**16 - 1
U24_MAX: Final = 2**24 - 1
U24_SIZE: Final = 3
U32_SIZE: Final = 4
UUID_SIZE: Final = 16
I8_MIN: Final = -(2**7)
I8_MAX: Final = 2**7 - 1
I16_MIN: Final = -(2**15)
I16_MAX: Final = 2**15 - 1
I32_MIN: Final = -(2**31)
I32_MAX: Final = 2**31 - 1
I64_MIN: Final = -(2**63)
I64_MAX: Final = 2**63 - 1

MAX_DECIMAL4_PRECISION: Final = 9
MAX_DECIMAL4_VALUE: Final = 10**MAX_DECIMAL4_PRECISION
MAX_DECIMAL8_PRECISION: Final = 18
MAX_DECIMAL8_VALUE: Final = 10**MAX_DECIMAL8_PRECISION
MAX_DECIMAL16_PRECISION: Final = 38
MAX_DECIMAL16_VALUE: Final = 10**MAX_DECIMAL16_PRECISION
