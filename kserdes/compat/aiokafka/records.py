"""Record batches and messages with aiokafka's errors: the names of `aiokafka.record`.

Must not know clients.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import ClassVar, Final, Self

from kserdes.compat.aiokafka.errors import CorruptRecordException, UnsupportedCodecError
from kserdes.compat.records import default, legacy, memory
from kserdes.compat.records.default import (
    DefaultRecord,
    DefaultRecordBase,
    DefaultRecordMetadata,
)
from kserdes.compat.records.legacy import LegacyRecord, LegacyRecordBase, LegacyRecordMetadata

__all__ = [
    "ABORT_MARKER",
    "COMMIT_MARKER",
    "ControlRecord",
    "DefaultRecord",
    "DefaultRecordBase",
    "DefaultRecordBatch",
    "DefaultRecordBatchBuilder",
    "DefaultRecordMetadata",
    "LegacyRecord",
    "LegacyRecordBase",
    "LegacyRecordBatch",
    "LegacyRecordBatchBuilder",
    "LegacyRecordMetadata",
    "MemoryRecords",
]


class DefaultRecordBatch(default.DefaultRecordBatch):
    """A received batch; its errors are a CorruptRecordException."""

    corrupt: ClassVar[type[Exception]] = CorruptRecordException


class DefaultRecordBatchBuilder(default.DefaultRecordBatchBuilder):
    """A batch that is filled record by record."""

    LEADER_EPOCH: ClassVar = -1


class LegacyRecordBatch(legacy.LegacyRecordBatch):
    """One message of magic 0 or 1, or a compressed set of them."""

    corrupt: ClassVar[type[Exception]] = CorruptRecordException
    unsupported: ClassVar[type[Exception]] = UnsupportedCodecError


class LegacyRecordBatchBuilder(legacy.LegacyRecordBatchBuilder):
    """Messages of magic 0 or 1 that are sent together."""

    unsupported: ClassVar[type[Exception]] = UnsupportedCodecError

    @classmethod
    def record_overhead(cls, magic: int) -> int:
        """Bytes of an empty message without its offset and length.

        Raises:
            ValueError: another magic.
        """
        if magic not in (0, 1):
            raise ValueError(f"Unsupported magic: {magic}")
        return super().record_overhead(magic)


class MemoryRecords(memory.MemoryRecords):
    """Batches in a buffer."""

    batch: ClassVar[type[default.DefaultRecordBatch]] = DefaultRecordBatch
    legacy: ClassVar[type[legacy.LegacyRecordBatch]] = LegacyRecordBatch


KEY: Final = struct.Struct(">HH")


@dataclass(frozen=True, slots=True)
class ControlRecord:
    """The key of a transaction's marker, decoded."""

    version: int
    type_: int

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Of the bytes of a key.

        Raises:
            struct.error: less than four of them.
        """
        return cls(*KEY.unpack_from(data))


ABORT_MARKER: Final = ControlRecord(0, 0)
COMMIT_MARKER: Final = ControlRecord(0, 1)
