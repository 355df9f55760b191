"""Shared by the kernels of Protobuf: kinds of fields, as `serdes.columnar.protobuf.tree` numbers them."""

cdef enum KindOf:
    K_DOUBLE = 1
    K_FLOAT = 2
    K_INT64 = 3
    K_UINT64 = 4
    K_INT32 = 5
    K_FIXED64 = 6
    K_FIXED32 = 7
    K_BOOL = 8
    K_STRING = 9
    K_MESSAGE = 11
    K_BYTES = 12
    K_UINT32 = 13
    K_ENUM = 14
    K_SFIXED32 = 15
    K_SFIXED64 = 16
    K_SINT32 = 17
    K_SINT64 = 18
    K_TIMESTAMP = 19
    K_DURATION = 20
    K_JSON = 21
