"""PushTelemetry v0: a client's metrics, kept for `EmbeddedCluster.telemetry`.

Must not know: what is in them. Served where brokers take telemetry. Spec: KIP-714.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.protocol.messages.telemetry import PushTelemetryRequest, PushTelemetryResponse


def handle(cluster: ClusterState, context: Context, request: PushTelemetryRequest) -> PushTelemetryResponse:
    """Keep it, or say why not."""
    return PushTelemetryResponse(error_code=cluster.telemetry.take(context, request))


def fail(request: PushTelemetryRequest, code: int) -> PushTelemetryResponse:
    """An answer that is the error."""
    del request
    return PushTelemetryResponse(error_code=code)


API = Api(PushTelemetryRequest, handle, fail, offered=lambda cluster: cluster.telemetry.on)
