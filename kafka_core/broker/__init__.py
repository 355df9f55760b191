"""An embedded Kafka broker: several virtual brokers in memory, for tests, demos and development.

Shares no logic with the client (a shared mistake would not show). What it can and can't do: `coverage.py`.
Spec: https://kafka.apache.org/protocol; where it differs from Apache Kafka, it is wrong.
"""

from kafka_core.broker.cluster import Refused
from kafka_core.broker.context import Context
from kafka_core.broker.faults import Delay, Disconnect, Drop, Rule
from kafka_core.broker.security.sasl import SaslSettings
from kafka_core.broker.server import EmbeddedCluster
from kafka_core.broker.telemetry.otlp import PushedMetric
from kafka_core.broker.telemetry.subscriptions import PushedTelemetry

__all__ = [
    "Context",
    "Delay",
    "Disconnect",
    "Drop",
    "EmbeddedCluster",
    "PushedMetric",
    "PushedTelemetry",
    "Refused",
    "Rule",
    "SaslSettings",
]
