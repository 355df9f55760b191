"""kafka-python's library of metrics: sensors that record numbers, statistics over them, reporters that hear of them.

Complete in itself: programs keep numbers of their own with it. The clients here do not record into it; their
`metrics()` gives dictionaries. Spec: `kafka.metrics` of kafka-python 3.0, after `org.apache.kafka.common.metrics`.
"""

from kserdes.compat.kafka.metrics.describing import MetricConfig, MetricName, Quota
from kserdes.compat.kafka.metrics.measuring import AnonMeasurable, KafkaMetric, NamedMeasurable
from kserdes.compat.kafka.metrics.registry import Metrics
from kserdes.compat.kafka.metrics.reporting import DictReporter

__all__ = [
    "AnonMeasurable",
    "DictReporter",
    "KafkaMetric",
    "MetricConfig",
    "MetricName",
    "Metrics",
    "NamedMeasurable",
    "Quota",
]
