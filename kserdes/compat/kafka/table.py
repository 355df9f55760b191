"""Modules of kafka-python 3.0, and our modules behind them.

Holds names only and imports nothing of ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kserdes.compat.aliases import Dialect

__all__ = ["DIALECT", "METHODS_NOT_HERE", "NAMES_NOT_HERE", "REFUSED"]

_HERE: Final = "kserdes.compat.kafka"
_METRICS: Final = f"{_HERE}.metrics."

DIALECT: Final = Dialect(
    root="kafka",
    guide="docs/guide/migrating-kafka-python.md",
    homes={
        "": (_HERE,),
        "admin": (f"{_HERE}.admin.client",),
        "admin.client": (f"{_HERE}.admin.client",),
        "admin.config_resource": (f"{_HERE}.admin.client",),
        "admin.new_partitions": (f"{_HERE}.admin.client",),
        "admin.new_topic": (f"{_HERE}.admin.client",),
        "cluster": (f"{_HERE}.cluster",),
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
        "codec": ("kserdes.compat.records.codecs",),
        "protocol": (),
        "protocol.consumer": (f"{_HERE}.assignors", f"{_HERE}.admin.values"),
        "protocol.consumer.metadata": (f"{_HERE}.assignors",),
        "record": ("kserdes.compat.records.memory",),
        "record.default_records": ("kserdes.compat.records.default", "kserdes.compat.records.util"),
        "record.legacy_records": ("kserdes.compat.records.legacy",),
        "record.memory_records": ("kserdes.compat.records.memory", "kserdes.compat.records.default"),
        "record.util": ("kserdes.compat.records.util",),
        "util": ("kserdes.compat.kafka.util",),
        "version": ("kserdes_base.version",),
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
    "net": "connections are asyncio's here; of its modules only `net.sasl.oauth` is for applications",
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

_REQUESTS: Final = "requests, and constants of them: no public method takes one; `KafkaAdminClient` has the calls"
_NETWORK: Final = REFUSED["net"]
_STICKY: Final = "steps of one algorithm; sticky shares come from the engine's"
_PACKAGES: Final = "another package, or None, that kafka-python found there; all codecs are built in here"


def _names(module: str, why: str, *names: str) -> dict[str, str]:
    return {f"{module}.{name}": why for name in names}


NAMES_NOT_HERE: Final[Mapping[str, str]] = {
    **_names("cluster", "connecting is asyncio's here", "expand_to_canonical_bootstrap_hosts"),
    **_names("codec", _PACKAGES, "PYPY", "lz4", "lz4f", "lz4framed", "snappy", "xxhash", "zstd"),
    **_names("codec", "a bound of decompression; `kafka_core.limits` has ours", "ZSTD_MAX_OUTPUT_SIZE"),
    **_names(
        "codec", "LZ4 with the wrong checksums of brokers before 0.10", "lz4_decode_old_kafka", "lz4_encode_old_kafka"
    ),
    **_names("consumer.fetcher", _CLIENT, "CompletedFetch", "ExceptionMetadata", "FetchManagerMetrics"),
    **_names("consumer.fetcher", _CLIENT, "FetchMetadata", "FetchMetrics", "FetchRequestData"),
    **_names("consumer.fetcher", _CLIENT, "FetchResponseMetricAggregator", "FetchSessionHandler", "Fetcher"),
    **_names("consumer.fetcher", _CLIENT, "UNKNOWN_OFFSET"),
    **_names("consumer.fetcher", "brokers since 0.10.1 give a record of any size", "RecordTooLargeError"),
    **_names("consumer.subscription_state", _CLIENT, "SubscriptionState", "SubscriptionType", "TopicPartitionState"),
    **_names("coordinator.assignors.sticky.sticky_assignor", _STICKY, "ConsumerGenerationPair"),
    **_names("coordinator.assignors.sticky.sticky_assignor", _STICKY, "StickyAssignmentExecutor"),
    **_names("coordinator.assignors.sticky.sticky_assignor", _STICKY, "StickyAssignorMemberMetadataV1"),
    **_names("coordinator.assignors.sticky.sticky_assignor", _STICKY, "has_identical_list_elements"),
    **_names("coordinator.assignors.sticky.sticky_assignor", _STICKY, "partitions_comparator_key", "remove_if_present"),
    **_names("coordinator.assignors.sticky.sticky_assignor", _STICKY, "subscriptions_comparator_key"),
    **_names("net", _NETWORK, "HttpConnectProxy", "KafkaConnection", "KafkaConnectionManager"),
    **_names("net", _NETWORK, "KafkaConnectionMetrics", "KafkaManagerMetrics", "KafkaNetClient", "KafkaNetSocket"),
    **_names("net", _NETWORK, "KafkaSSLTransport", "KafkaTCPTransport", "NetworkSelector", "Socks5Proxy"),
    **_names("net", _NETWORK, "WakeupNotifier", "create_connection"),
    **_names("net.sasl", _NETWORK, "SASL_MECHANISMS", "get_sasl_mechanism", "register_sasl_mechanism"),
    **_names("net.sasl.oauth", _NETWORK, "SaslMechanismOAuth"),
    **_names("producer.future", _CLIENT, "FutureProduceResult"),
    **_names("protocol.consumer", _REQUESTS, "DEFAULT_GENERATION_ID", "FetchRequest", "FetchResponse"),
    **_names("protocol.consumer", _REQUESTS, "HeartbeatRequest", "HeartbeatResponse", "JoinGroupRequest"),
    **_names("protocol.consumer", _REQUESTS, "JoinGroupResponse", "LeaveGroupRequest", "LeaveGroupResponse"),
    **_names("protocol.consumer", _REQUESTS, "ListOffsetsRequest", "ListOffsetsResponse", "OffsetCommitRequest"),
    **_names("protocol.consumer", _REQUESTS, "OffsetCommitResponse", "OffsetDeleteRequest", "OffsetDeleteResponse"),
    **_names("protocol.consumer", _REQUESTS, "OffsetFetchRequest", "OffsetFetchResponse"),
    **_names("protocol.consumer", _REQUESTS, "OffsetForLeaderEpochRequest", "OffsetForLeaderEpochResponse"),
    **_names("protocol.consumer", _REQUESTS, "OffsetResetStrategy", "SyncGroupRequest", "SyncGroupResponse"),
    **_names("protocol.consumer", _REQUESTS, "UNKNOWN_MEMBER_ID", "UNKNOWN_OFFSET"),
    **_names("protocol.consumer", _REQUESTS, "fetch_all", "group_all", "metadata_all", "offsets_all"),
    **_names("record.default_records", _PACKAGES, "lz4_decode", "lz4_encode"),
    **_names("record.legacy_records", _PACKAGES, "lz4_decode", "lz4_encode"),
    **_names("record.util", _PACKAGES, "crc32c_c"),
}
"""Public names of modules that are here, without those names: why. tests/interop/test_peer_modules.py compares."""

_VIEW: Final = "the view does not refresh itself: only the clients get answers of brokers"
_MESSAGE: Final = "a value here, not a message of the protocol"
CODING: Final = ("flexible_version_q", "parse_header", "to_dict")

METHODS_NOT_HERE: Final[Mapping[str, str]] = {
    **_names("cluster.ClusterMetadata", _VIEW, "add_coordinator", "add_listener", "add_topic", "attach", "close"),
    **_names("cluster.ClusterMetadata", _VIEW, "failed_update", "get_coordinator", "metadata_request"),
    **_names("cluster.ClusterMetadata", _VIEW, "leader_epoch_for_partition", "refresh_backoff", "refresh_metadata"),
    **_names("cluster.ClusterMetadata", _VIEW, "remove_listener", "request_update", "set_topics", "ttl"),
    **_names("cluster.ClusterMetadata", _VIEW, "start_refresh_loop", "update_metadata", "update_partition_leader"),
    **_names("coordinator.assignors.cooperative_sticky.CooperativeStickyAssignor", _STICKY, "parse_member_metadata"),
    **_names("coordinator.assignors.sticky.sticky_assignor.StickyPartitionAssignor", _STICKY, "parse_member_metadata"),
    **{
        f"{kind}.{name}": _MESSAGE
        for kind in (
            "coordinator.assignors.sticky.user_data.StickyAssignorUserData",
            "protocol.consumer.metadata.ConsumerProtocolAssignment",
            "protocol.consumer.metadata.ConsumerProtocolSubscription",
        )
        for name in (
            "decode",
            "encode",
            "encode_header",
            "encode_into",
            "flexible_version_q",
            "parse_header",
            "to_dict",
        )
    },
    **_names("coordinator.subscription.Subscription", _MESSAGE, "encode"),
    **_names("producer.future.FutureRecordMetadata", _CLIENT, "rebind"),
}
"""Methods of classes that are here, without these: why. tests/interop/test_peer_signatures.py compares."""
