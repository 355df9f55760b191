"""The vocabulary of tables that read Protobuf into columns: how columns keep cells, and what is in JSON's messages.

Must not know of schemas: `serdes.columnar.protobuf.lowered` makes tables. The kernel is `native/protobuf_columns.pyx`.
"""

from __future__ import annotations

import enum

__all__ = ["Content", "Store"]


class Store(enum.IntEnum):
    """The storage of a column's cells while a batch is read."""

    FIXED = 0
    BITS = 1
    BYTES = 2
    LIST = 3
    MAP = 4
    STRUCT = 5
    CASE = 6
    TIME = 7
    SYMBOL = 8


class Content(enum.IntEnum):
    """The kind of a message that becomes a text of JSON, or a part of one."""

    NONE = 0
    STRUCT = 1
    ENTRY = 2
    VALUE = 3
    LIST = 4
    ANY = 5
