"""Reads what clients push: OTLP's `MetricsData`, with protobuf's library and a descriptor of its own.

Must not know: brokers, clients. The descriptor is in a pool of its own: an application may have OpenTelemetry's classes
of the same names in the usual one.
Spec: OTLP's metrics.proto; the part of it in tools/otlp.proto.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from kafka_core.broker.telemetry.otlp_descriptor import DESCRIPTOR


@dataclass(frozen=True, slots=True)
class PushedMetric:
    """One value of a client's.

    Attributes:
        kind: `gauge`, `delta` (a sum since the last push) or `cumulative` (a sum of all time).
        start_ms, time_ms: what the value covers, ms since 1970; `start_ms` is 0 for most gauges.
    """

    name: str
    value: float
    kind: str
    start_ms: int
    time_ms: int
    attributes: Mapping[str, Any] = field(default_factory=dict)


def parsed(payload: bytes) -> tuple[Mapping[str, Any], list[PushedMetric]]:
    """Labels of the client, and its metrics; of other kinds than gauges and sums none is known.

    Raises:
        ValueError: it is no `MetricsData`.
    """
    from google.protobuf.message import DecodeError  # loaded when somebody looks, not by every broker

    try:
        data = _metrics_data().FromString(payload)
    except DecodeError as error:
        raise ValueError(f"no OTLP metrics: {error}") from error
    labels: dict[str, Any] = {}
    metrics: list[PushedMetric] = []
    for part in data.resource_metrics:
        labels.update(_pairs(part.resource.attributes))
        for scope in part.scope_metrics:
            for metric in scope.metrics:
                metrics.extend(_points(metric))
    return labels, metrics


def _points(metric: Any) -> list[PushedMetric]:
    if metric.WhichOneof("data") == "sum":
        points, kind = metric.sum.data_points, _KINDS[metric.sum.aggregation_temporality]
    else:
        points, kind = metric.gauge.data_points, "gauge"
    return [
        PushedMetric(
            metric.name,
            getattr(point, point.WhichOneof("value") or "as_double"),
            kind,
            point.start_time_unix_nano // 1_000_000,
            point.time_unix_nano // 1_000_000,
            _pairs(point.attributes),
        )
        for point in points
    ]


_KINDS = {0: "unspecified", 1: "delta", 2: "cumulative"}


def _pairs(attributes: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value") or "string_value") for pair in attributes}


@cache
def _metrics_data() -> Any:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message_factory import GetMessageClass

    pool = DescriptorPool()
    file = FileDescriptorProto.FromString(base64.b64decode(DESCRIPTOR))
    pool.Add(file)  # type: ignore[no-untyped-call, unused-ignore]
    return GetMessageClass(pool.FindMessageTypeByName(f"{file.package}.MetricsData"))
