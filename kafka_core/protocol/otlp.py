"""Writes the payload of PushTelemetry: OTLP's `MetricsData` in Protobuf.

Knows nothing of what is measured. It only writes: protobuf's library is not loaded, which would hold up the event loop
that pushes for tenths of a second (decision 0087).
Spec: KIP-714; OTLP's metrics.proto (the part of it in tools/otlp.proto); Protobuf's encoding.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from kserdes_base.varint import uvarint

_DOUBLE: Final = struct.Struct("<d")
_FIXED64: Final = struct.Struct("<Q")
_VARINT, _FIXED, _BYTES = 0, 1, 2


class Temporality(IntEnum):
    """The time that the value of a sum covers: since the last push, or all time."""

    DELTA = 1
    CUMULATIVE = 2


@dataclass(frozen=True, slots=True)
class Metric:
    """One value.

    Attributes:
        temporality: of a sum that only grows; None for a gauge.
        start_ns: when what a sum covers began, nanoseconds since 1970; 0 for a gauge.
        attributes: what tells apart the values of one name.
    """

    name: str
    value: float
    temporality: Temporality | None = None
    start_ns: int = 0
    attributes: tuple[tuple[str, str], ...] = ()


def metrics_data(resource: Mapping[str, str], scope: tuple[str, str], metrics: Iterable[Metric], time_ns: int) -> bytes:
    """A `MetricsData` with one resource and one scope.

    Args:
        resource: attributes of the client.
        scope: name and version of the library that measured.
        time_ns: when the values were taken, nanoseconds since 1970.
    """
    named: dict[str, list[Metric]] = {}
    for metric in metrics:
        named.setdefault(metric.name, []).append(metric)
    scope_metrics = _message(1, _text(1, scope[0]) + _text(2, scope[1]))
    scope_metrics += b"".join(_message(2, _metric(name, points, time_ns)) for name, points in named.items())
    return _message(1, _message(1, _attributes(1, resource.items())) + _message(2, scope_metrics))


def _metric(name: str, points: Sequence[Metric], time_ns: int) -> bytes:
    data = b"".join(_message(1, _point(point, time_ns)) for point in points)
    temporality = points[0].temporality
    if temporality is None:
        return _text(1, name) + _message(5, data)
    monotonic = _tag(3, _VARINT) + b"\x01"
    return _text(1, name) + _message(7, data + _tag(2, _VARINT) + uvarint(temporality) + monotonic)


def _point(point: Metric, time_ns: int) -> bytes:
    start = _tag(2, _FIXED) + _FIXED64.pack(point.start_ns) if point.start_ns else b""
    time = _tag(3, _FIXED) + _FIXED64.pack(time_ns)
    value = _tag(4, _FIXED) + _DOUBLE.pack(point.value)
    return start + time + value + _attributes(7, point.attributes)


def _attributes(field: int, pairs: Iterable[tuple[str, str]]) -> bytes:
    return b"".join(_message(field, _text(1, key) + _message(2, _text(1, value))) for key, value in pairs)


def _text(field: int, value: str) -> bytes:
    return _message(field, value.encode())


def _message(field: int, body: bytes) -> bytes:
    return _tag(field, _BYTES) + uvarint(len(body)) + body


def _tag(field: int, kind: int) -> bytes:
    return bytes((field << 3 | kind,))
