"""Which modules of ours stand behind each module of kafka-python 3.0.

Holds names only and imports nothing of ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kafka_core.compat.aliases import Dialect

__all__ = ["DIALECT", "REFUSED"]

_HERE: Final = "kafka_core.compat.kafka"
_METRICS: Final = f"{_HERE}.metrics."

DIALECT: Final = Dialect(
    root="kafka",
    guide="docs/guide/migrating-kafka-python.md",
    homes={
        "": (_HERE,),
        "admin": (f"{_HERE}.admin",),
        "admin.client": (f"{_HERE}.admin",),
        "admin.config_resource": (f"{_HERE}.admin",),
        "admin.new_partitions": (f"{_HERE}.admin",),
        "admin.new_topic": (f"{_HERE}.admin",),
        "cluster": (f"{_HERE}.partitioner",),
        "common": (f"{_HERE}.structs", f"{_HERE}.errors"),  # until 1.4; aiokafka's manual imports it
        "consumer": (f"{_HERE}.consumer",),
        "consumer.fetcher": (f"{_HERE}.structs",),
        "consumer.group": (f"{_HERE}.consumer",),
        "consumer.subscription_state": (f"{_HERE}.listener",),
        "coordinator": (),
        "coordinator.assignors": (),
        "coordinator.assignors.abstract": (f"{_HERE}.assignors",),
        "coordinator.assignors.cooperative_sticky": (f"{_HERE}.assignors",),
        "coordinator.assignors.range": (f"{_HERE}.assignors",),
        "coordinator.assignors.roundrobin": (f"{_HERE}.assignors",),
        "coordinator.assignors.sticky": (),
        "coordinator.assignors.sticky.sticky_assignor": (f"{_HERE}.assignors",),
        "coordinator.assignors.sticky.user_data": (f"{_HERE}.assignors",),
        "coordinator.subscription": (f"{_HERE}.assignors",),
        "errors": (f"{_HERE}.errors",),
        "future": (f"{_HERE}.future",),
        "metrics": (f"{_HERE}.metrics",),
        "metrics.compound_stat": (_METRICS + "measuring",),
        "metrics.dict_reporter": (_METRICS + "reporting",),
        "metrics.kafka_metric": (_METRICS + "measuring",),
        "metrics.measurable": (_METRICS + "measuring",),
        "metrics.measurable_stat": (_METRICS + "measuring",),
        "metrics.metric_config": (_METRICS + "describing",),
        "metrics.metric_name": (_METRICS + "describing",),
        "metrics.metrics": (_METRICS + "registry",),
        "metrics.metrics_reporter": (_METRICS + "reporting",),
        "metrics.quota": (_METRICS + "describing",),
        "metrics.stat": (_METRICS + "measuring",),
        "metrics.stats": (_METRICS + "stats", _METRICS + "histogram", _METRICS + "registry"),
        "metrics.stats.avg": (_METRICS + "stats",),
        "metrics.stats.count": (_METRICS + "stats",),
        "metrics.stats.histogram": (_METRICS + "histogram",),
        "metrics.stats.max_stat": (_METRICS + "stats",),
        "metrics.stats.min_stat": (_METRICS + "stats",),
        "metrics.stats.percentile": (_METRICS + "histogram",),
        "metrics.stats.percentiles": (_METRICS + "histogram",),
        "metrics.stats.rate": (_METRICS + "stats",),
        "metrics.stats.sampled_stat": (_METRICS + "stats",),
        "metrics.stats.sensor": (_METRICS + "registry",),
        "metrics.stats.total": (_METRICS + "stats",),
        "net": (),
        "net.sasl": (),
        "net.sasl.oauth": (f"{_HERE}.oauth",),
        "oauth": (f"{_HERE}.oauth",),
        "oauth.abstract": (f"{_HERE}.oauth",),
        "partitioner": (f"{_HERE}.partitioner",),
        "partitioner.abc": (f"{_HERE}.partitioner",),
        "partitioner.default": (f"{_HERE}.partitioner",),
        "partitioner.sticky": (f"{_HERE}.partitioner",),
        "producer": (f"{_HERE}.producer",),
        "producer.future": (f"{_HERE}.future", f"{_HERE}.structs"),
        "producer.kafka": (f"{_HERE}.producer",),
        "sasl": (),
        "sasl.oauth": (f"{_HERE}.oauth",),
        "serializer": (f"{_HERE}.serializer",),
        "serializer.abstract": (f"{_HERE}.serializer",),
        "serializer.default": (f"{_HERE}.serializer",),
        "serializer.json": (f"{_HERE}.serializer",),
        "serializer.wrapper": (f"{_HERE}.serializer",),
        "structs": (f"{_HERE}.structs",),
        "codec": ("kafka_core.compat.records.codecs",),
        "protocol": (),
        "protocol.consumer": (f"{_HERE}.assignors",),
        "protocol.consumer.metadata": (f"{_HERE}.assignors",),
        "record": ("kafka_core.compat.records.memory",),
        "record.default_records": ("kafka_core.compat.records.default", "kafka_core.compat.records.util"),
        "record.legacy_records": ("kafka_core.compat.records.legacy",),
        "record.memory_records": ("kafka_core.compat.records.memory", "kafka_core.compat.records.default"),
        "record.util": ("kafka_core.compat.records.util",),
        "util": ("kafka_core.compat.kafka.util",),
        "version": ("kafka_core.version",),
    },
)

_CLIENT: Final = "how kafka-python's clients work inside; ours work otherwise"
_PROGRAM: Final = "a program, not a module: kafka-python's own command line"

REFUSED: Final[Mapping[str, str]] = {
    "__main__": _PROGRAM,
    "admin.__main__": _PROGRAM,
    "benchmarks": "kafka-python's benchmarks",
    "cli": _PROGRAM,
    "consumer.__main__": _PROGRAM,
    "coordinator.assignors.sticky.partition_movements": _CLIENT,
    "coordinator.assignors.sticky.sorted_set": _CLIENT,
    "coordinator.base": _CLIENT,
    "coordinator.consumer": _CLIENT,
    "coordinator.heartbeat": _CLIENT,
    "net": "connections are asyncio's here; of its modules only `net.sasl.oauth` has what applications write",
    "producer.__main__": _PROGRAM,
    "producer.producer_batch": _CLIENT,
    "producer.record_accumulator": _CLIENT,
    "producer.sender": _CLIENT,
    "producer.transaction_manager": _CLIENT,
    "protocol": "messages of the protocol are generated classes here, not public; `KafkaAdminClient` has the calls",
    "record.abc": "bases of classes; the classes are in `record.default_records`",
    "vendor": "copies of other packages",
}
"""Modules (with all below them) that are not here: why. Nor is what starts with `_`, which is kafka-python's own."""
