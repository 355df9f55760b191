"""Control records: the markers that end transactions, in batches of their own.

Must not know consumers; which batches were aborted is worked out in engine/consuming/aborted.py.
Spec: KIP-98 (control messages); EndTransactionMarker and ControlRecordType of kafka-clients.
"""

from __future__ import annotations

import struct
from enum import IntEnum

from kafka_core.errors import CorruptRecordError

_KEY = struct.Struct(">hh")
_VALUE = struct.Struct(">hi")
_VERSION = 0


class ControlType(IntEnum):
    """The end of a transaction."""

    ABORT = 0
    COMMIT = 1


def parse_control_key(key: bytes | None) -> ControlType | None:
    """The type in a control record's key; None for types that are no consumer's business.

    Raises:
        CorruptRecordError: too short, or of a negative version.
    """
    if key is None or len(key) < _KEY.size:
        raise CorruptRecordError(f"the key of a control record has {len(key or b'')} bytes, {_KEY.size} are needed")
    version, number = _KEY.unpack_from(key)
    if version < 0:
        raise CorruptRecordError(f"a control record's key has version {version}")
    return ControlType(number) if number in (ControlType.ABORT, ControlType.COMMIT) else None


def parse_control_value(value: bytes | None) -> int:
    """The epoch of the coordinator that wrote a marker.

    Raises:
        CorruptRecordError: too short.
    """
    if value is None or len(value) < _VALUE.size:
        raise CorruptRecordError(f"a marker's value has {len(value or b'')} bytes, {_VALUE.size} are needed")
    return int(_VALUE.unpack_from(value)[1])


def control_key(kind: ControlType) -> bytes:
    """The key of a marker."""
    return _KEY.pack(_VERSION, kind)


def control_value(coordinator_epoch: int) -> bytes:
    """The value of a marker."""
    return _VALUE.pack(_VERSION, coordinator_epoch)
