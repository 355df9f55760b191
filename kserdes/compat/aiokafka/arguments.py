"""The keyword arguments of aiokafka 0.14's clients: a row for each, with the property that it sets.

Must not know what the clients do with the rows.
"""

from __future__ import annotations

from typing import Final

from kserdes.compat.aiokafka.assignors import RoundRobinPartitionAssignor, assignors_of
from kserdes.compat.aiokafka.partitioner import DefaultPartitioner
from kserdes.compat.arguments import Argument, Arguments, addresses, clamped, older, own, sets, tls_context, unused

__all__ = ["ADMIN", "CLIENT_ID", "CONSUMER", "PRODUCER", "UNSET"]

CLIENT_ID: Final = "aiokafka-0.14.0"
UNSET: Final = object()
"""The default of `acks`, which tells 1 from nothing."""

INT32_MAX: Final = 2**31 - 1
NO_LOOP: Final = "a client belongs to the loop on which it is started"
NO_VERSION: Final = "versions are agreed on with each broker"
BROKERS_HOST: Final = "tickets are for the service on the broker's host"


def lower(value: str) -> str:
    """A protocol's name as ours has it."""
    return value.lower()


def idle(value: float | None) -> int | None:
    """Milliseconds until an idle connection is closed; ours has 0 for never."""
    return None if value is None else clamped(0, INT32_MAX)(value)


def common(client_id: object) -> tuple[Argument, ...]:
    """The arguments of all clients."""
    return (
        unused("loop", None, "The event loop.", NO_LOOP),
        sets("bootstrap_servers", "localhost", "bootstrap.servers", "`host[:port]`, or a list of them.", addresses),
        sets("client_id", client_id, "client.id", "Name of this client in brokers' logs."),
        sets(
            "metadata_max_age_ms", 300_000, "topic.metadata.refresh.interval.ms metadata.max.age.ms",
            "Age at which metadata is refreshed.", clamped(10, 3_600_000),
        ),
        sets("retry_backoff_ms", 100, "retry.backoff.ms", "Wait before another attempt.", clamped(1, 300_000)),
        unused("api_version", None, "The brokers' version.", NO_VERSION),
        sets("security_protocol", "PLAINTEXT", "security.protocol", "PLAINTEXT, SSL or SASL_ before them.", lower),
        sets("ssl_context", None, "ssl.context", "A ready TLS context (`create_ssl_context`).", tls_context),
        sets("connections_max_idle_ms", 540_000, "connections.max.idle.ms", "When idle connections are closed.", idle),
        own("sasl_mechanism", "PLAIN", "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER or GSSAPI."),
        own("sasl_plain_username", None, "The user of PLAIN and SCRAM."),
        own("sasl_plain_password", None, "The password of PLAIN and SCRAM."),
        sets("sasl_kerberos_service_name", "kafka", "sasl.kerberos.service.name", "The service's name in Kerberos."),
        unused("sasl_kerberos_domain_name", None, "The domain in Kerberos.", BROKERS_HOST),
        own("sasl_oauth_token_provider", None, "An AbstractTokenProvider, for OAUTHBEARER."),
    )  # fmt: skip


PRODUCER: Final = Arguments(
    (
        *common(None),
        own("request_timeout_ms", 40_000, "How long a record may take; with idempotence, a request."),
        own("acks", UNSET, "0, 1, -1 or `all`; 1 if not set, `all` with idempotence."),
        own("key_serializer", None, "Makes bytes of keys."),
        own("value_serializer", None, "Makes bytes of values."),
        sets("compression_type", None, "compression.type", "gzip, snappy, lz4, zstd or None."),
        sets("max_batch_size", 16_384, "batch.size", "Bytes of a batch.", clamped(1, INT32_MAX)),
        own("partitioner", DefaultPartitioner(), "Called with key bytes, all partitions, those with a leader."),
        sets("max_request_size", 1_048_576, "message.max.bytes", "Bytes of a request.", clamped(1000, 1_000_000_000)),
        sets("linger_ms", 0, "linger.ms", "Wait for more records of a batch.", clamped(0, 900_000)),
        older(
            "send_backoff_ms",
            100,
            "How often the background routine looks for batches.",
            "nothing is looked for at intervals: a batch that is due goes at once",
        ),
        own("enable_idempotence", False, "Every record once, though requests are sent again."),
        own("transactional_id", None, "Makes the producer transactional."),
        sets("transaction_timeout_ms", 60_000, "transaction.timeout.ms", "When brokers abort a transaction."),
    )
)

CONSUMER: Final = Arguments(
    (
        *common(CLIENT_ID),
        own("group_id", None, "The group; None: all partitions of the topics, and no commits."),
        sets("group_instance_id", None, "group.instance.id", "Makes the member a static one."),
        own("key_deserializer", None, "Makes objects of keys' bytes."),
        own("value_deserializer", None, "Makes objects of values' bytes."),
        sets("fetch_max_wait_ms", 500, "fetch.wait.max.ms", "How long a broker may wait for `fetch_min_bytes`.", int),
        sets("fetch_max_bytes", 52_428_800, "fetch.max.bytes", "Bytes of a fetch."),
        sets("fetch_min_bytes", 1, "fetch.min.bytes", "Bytes that are worth an answer."),
        sets("max_partition_fetch_bytes", 1_048_576, "max.partition.fetch.bytes", "Bytes of a partition in a fetch."),
        sets("request_timeout_ms", 40_000, "socket.timeout.ms", "How long a request may take.", clamped(10, 300_000)),
        own("auto_offset_reset", "latest", "Start without an offset: earliest, latest or none."),
        own("enable_auto_commit", True, "Commit offsets of records read, in the background."),
        own("auto_commit_interval_ms", 5_000, "How often."),
        sets("check_crcs", True, "check.crcs", "Check batches' checksums."),
        sets(
            "partition_assignment_strategy", (RoundRobinPartitionAssignor,), "partition.assignors",
            "Assignor classes, the best first.", assignors_of,
        ),
        sets("max_poll_interval_ms", 300_000, "max.poll.interval.ms", "How far calls that take records may be apart."),
        unused(
            "rebalance_timeout_ms", None, "How long a rebalance waits for this member.",
            "a rebalance waits for members for max_poll_interval_ms, as with the Java client",
        ),
        sets("session_timeout_ms", 10_000, "session.timeout.ms", "When a silent member is thrown out."),
        sets("heartbeat_interval_ms", 3_000, "heartbeat.interval.ms", "Time between heartbeats."),
        unused(
            "consumer_timeout_ms", 200, "How often the background routine looks for changes.",
            "changes are noticed at once, without intervals",
        ),
        own("max_poll_records", None, "The most records that getmany() gives."),
        unused(
            "exclude_internal_topics", True, "Leave internal topics out of patterns.", "patterns never bring them in",
        ),
        sets("isolation_level", "read_uncommitted", "isolation.level", "read_committed leaves aborted records out."),
        sets("client_rack", None, "client.rack", "Rack of this client, for fetches from the nearest replica."),
    )
)  # fmt: skip

ADMIN: Final = Arguments(
    (
        *common(CLIENT_ID),
        sets("request_timeout_ms", 40_000, "socket.timeout.ms", "How long a request may take.", clamped(10, 300_000)),
    )
)
