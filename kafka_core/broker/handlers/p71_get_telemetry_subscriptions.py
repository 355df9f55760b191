"""GetTelemetrySubscriptions v0: which metrics a client should push, how often, and the id it gets for that.

Must not know: payloads. Served where brokers take telemetry. Spec: KIP-714.
"""

from __future__ import annotations

from uuid import UUID

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.telemetry.subscriptions import ACCEPTED
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.telemetry import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)


def handle(
    cluster: ClusterState, context: Context, request: GetTelemetrySubscriptionsRequest
) -> GetTelemetrySubscriptionsResponse:
    """The subscription of now, once in a push interval."""
    client_instance_id = request.client_instance_id
    if client_instance_id == ZERO_UUID:
        client_instance_id = UUID(int=cluster.rng.getrandbits(128), version=4)
    instance = cluster.telemetry.instance(context, client_instance_id)
    if not instance.may_ask(round(cluster.clock.monotonic() * 1000)):
        return fail(request, Code.THROTTLING_QUOTA_EXCEEDED)
    instance.last_error = Code.NONE
    return GetTelemetrySubscriptionsResponse(
        client_instance_id=client_instance_id,
        subscription_id=instance.subscription_id,
        accepted_compression_types=list(ACCEPTED),
        push_interval_ms=instance.interval_ms,
        telemetry_max_bytes=cluster.telemetry.max_bytes,
        delta_temporality=True,
        requested_metrics=instance.metrics,
    )


def fail(request: GetTelemetrySubscriptionsRequest, code: int) -> GetTelemetrySubscriptionsResponse:
    """An answer that is the error."""
    del request
    return GetTelemetrySubscriptionsResponse(error_code=code)


API = Api(GetTelemetrySubscriptionsRequest, handle, fail, offered=lambda cluster: cluster.telemetry.on)
