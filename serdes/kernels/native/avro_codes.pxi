# The words of programs: operations, what `SKIP_RUN` passes, and what can be wrong with a payload. Their meaning is said in
# `serdes.columnar.avro.program`. A part of avro_columns.pyx.

cdef enum:
    END = 0
    JUMP = 1
    NULL_CELL = 2
    STRUCT = 3
    REFUSE = 4
    INPUT = 5
    OUTPUT = 6
    BRANCH = 7
    OPTIONAL = 8
    UNION = 9
    LIST = 10
    LIST_END = 11
    MAP = 12
    MAP_END = 13
    BOOL = 16
    INT = 17
    LONG = 18
    INT_LONG = 19
    FLOAT = 20
    DOUBLE = 21
    FLOAT_DOUBLE = 22
    WHOLE_FLOAT = 23
    WHOLE_DOUBLE = 24
    BYTES = 25
    STRING = 26
    FIXED = 27
    DECIMAL = 28
    UUID = 29
    ENUM = 30
    ENUM_NUMBER = 31
    INT_WITHIN = 32
    LONG_WITHIN = 33
    SCALED = 34
    SKIP_INT = 40
    SKIP_LONG = 41
    SKIP_BOOL = 42
    SKIP_BYTES = 43
    SKIP_TEXT = 44
    SKIP_ENUM = 45
    SKIP_LIST = 46
    SKIP_LIST_END = 47
    CALL = 48
    RETURN = 49
    SKIP_RUN = 50

cdef enum:  # `Pass`
    PASS_LONG = 0
    PASS_INT = 1
    PASS_BYTES = 2
    PASS_TEXT = 3
    PASS_BOOL = 4
    PASS_ENUM = 5
    PASS_OPTIONAL = 6
    PASS_LIST = 7

cdef enum:
    ENDS = 1
    LONG_NUMBER = 2
    LONG_INT = 3
    BOOLEAN = 4
    UTF8 = 5
    SYMBOL = 6
    NO_BRANCH = 7
    BLOCK = 8
    EMPTY_ITEMS = 9
    LEFT_OVER = 10
    DEEP = 11
    REFUSED = 12
    LACKING = 13
    FINER = 17
    UNIT = 18
    DIGITS = 19
    SCALE = 20
    NO_UUID = 21
    ROW_BYTES = 22


def codes():
    """The operations that this kernel runs, by their numbers, to compare with `Code`; and what it passes, with `Pass`."""
    cdef int[8] passes = [
        PASS_LONG, PASS_INT, PASS_BYTES, PASS_TEXT, PASS_BOOL, PASS_ENUM, PASS_OPTIONAL, PASS_LIST,
    ]
    cdef int[44] all_codes = [
        END, JUMP, NULL_CELL, STRUCT, REFUSE, INPUT, OUTPUT, BRANCH, OPTIONAL, UNION, LIST, LIST_END, MAP, MAP_END,
        BOOL, INT, LONG, INT_LONG, FLOAT, DOUBLE, FLOAT_DOUBLE, WHOLE_FLOAT, WHOLE_DOUBLE, BYTES, STRING, FIXED,
        DECIMAL, UUID, ENUM, ENUM_NUMBER, INT_WITHIN, LONG_WITHIN, SCALED, SKIP_INT, SKIP_LONG, SKIP_BOOL, SKIP_BYTES,
        SKIP_TEXT, SKIP_ENUM, SKIP_LIST, SKIP_LIST_END, CALL, RETURN, SKIP_RUN,
    ]
    return all_codes, passes
