"""The keyword arguments of kafka-python's three clients: what each means, its default, and the property that it sets.

Must not know clients. Spec: `DEFAULT_CONFIG` of KafkaProducer, KafkaConsumer and KafkaAdminClient, kafka-python 3.0.
"""

from __future__ import annotations

import selectors
import socket
from collections.abc import Callable, Mapping
from typing import Any, Final

from kserdes.compat.arguments import Argument, Arguments, addresses, clamped, host_check, older, own, sets, unused
from kserdes.compat.kafka.assignors import RangePartitionAssignor, RoundRobinPartitionAssignor, strategies
from kserdes.compat.kafka.errors import KafkaConfigurationError
from kserdes.compat.kafka.oauth import token_callback
from kserdes.compat.kafka.partitioner import DefaultPartitioner
from kserdes_base.version import VERSION

__all__ = ["ADMIN", "CONSUMER", "PRODUCER", "check_common", "check_delivery"]

INT32: Final = 2**31 - 1
CLIENT_ID: Final = f"kserdes-{VERSION}"
NO_SELECTOR: Final = "connections are asyncio's"
BROKERS_HOST: Final = "tickets are for the service on the broker's host"
NO_PROXY: Final = "connections go to the brokers directly"
NO_REPORTERS: Final = "metrics come from `metrics()` here, and from `hooks` of kafka_core"
ALWAYS: Final = "this client always does"

INFINITE: Final = float("inf")


def acknowledgements(value: Any) -> object:
    """`all` is -1."""
    return -1 if value == "all" else value


def at_most(limit: int) -> Callable[[float], int]:
    """A number of milliseconds or bytes from 1 on."""
    return clamped(1, limit)


def mechanism(value: str) -> str:
    """A mechanism as ours is spelled."""
    return value.upper()


def check_common(config: Mapping[str, Any]) -> None:
    """Refuses values of arguments that all three clients have, as kafka-python does.

    Raises:
        KafkaConfigurationError: `api_version` is neither a tuple nor a text.
        TypeError: `bootstrap_servers` is None.
        ValueError: `api_version` is a text that is no version.
    """
    if config["bootstrap_servers"] is None:
        raise TypeError("bootstrap_servers must be host:port or a list of them, not None")
    version = config["api_version"]
    if isinstance(version, str):
        if version != "auto" and not all(part.isdecimal() for part in version.split(".")):
            raise ValueError(f"api_version must be a tuple of numbers, not {version!r}")
    elif version is not None and not isinstance(version, tuple):
        raise KafkaConfigurationError("api_version must be tuple")


def check_delivery(config: Mapping[str, Any]) -> None:
    """Refuses a time for delivery in which no batch could wait and be sent once.

    Raises:
        KafkaConfigurationError: `delivery_timeout_ms` is less than `linger_ms` and `request_timeout_ms` together.
        TypeError: one of the three is not a number.
    """
    limit_ms, needed_ms = config["delivery_timeout_ms"], config["linger_ms"] + config["request_timeout_ms"]
    if limit_ms < needed_ms:
        raise KafkaConfigurationError(
            f"delivery_timeout_ms ({limit_ms}) must be at least linger_ms + request_timeout_ms ({needed_ms})"
        )


COMMON: Final[tuple[Argument, ...]] = (
    sets(
        "bootstrap_servers", "localhost", "bootstrap.servers", "first brokers to ask, port 9092 if left out", addresses
    ),
    sets("request_timeout_ms", 30_000, "socket.timeout.ms", "how long a request may take", clamped(10, 300_000)),
    sets("connections_max_idle_ms", 540_000, "connections.max.idle.ms", "close idle connections", clamped(0, INT32)),
    sets(
        "reconnect_backoff_ms", 50, "reconnect.backoff.ms", "first wait before connecting again", clamped(0, 3_600_000)
    ),
    sets(
        "reconnect_backoff_max_ms",
        30_000,
        "reconnect.backoff.max.ms",
        "longest wait before connecting again",
        clamped(0, 3_600_000),
    ),
    sets(
        "max_in_flight_requests_per_connection",
        5,
        "max.in.flight.requests.per.connection",
        "requests under way on a connection",
        clamped(1, 1_000_000),
    ),
    sets(
        "receive_message_max_bytes",
        100_000_000,
        "receive.message.max.bytes",
        "largest response",
        clamped(1000, INT32),
    ),
    sets("receive_buffer_bytes", None, "socket.receive.buffer.bytes", "SO_RCVBUF", clamped(0, 100_000_000)),
    sets("send_buffer_bytes", None, "socket.send.buffer.bytes", "SO_SNDBUF", clamped(0, 100_000_000)),
    unused(
        "socket_options",
        [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)],
        "options for sockets",
        "TCP_NODELAY is always set; other options have properties of their own",
    ),
    sets(
        "retry_backoff_ms",
        100,
        "retry.backoff.ms retry.backoff.max.ms",
        "wait before a request is sent again",
        at_most(300_000),
    ),
    sets(
        "metadata_max_age_ms",
        300_000,
        "topic.metadata.refresh.interval.ms",
        "how often metadata is asked for anew",
        clamped(1, 3_600_000),
    ),
    sets("client_dns_lookup", "use_all_dns_ips", "client.dns.lookup", "addresses of a name"),
    sets("security_protocol", "PLAINTEXT", "security.protocol", "TLS and authentication", str.lower),
    sets("ssl_context", None, "ssl.context", "a ready TLS context; the others do not count then"),
    sets(
        "ssl_check_hostname",
        True,
        "ssl.endpoint.identification.algorithm",
        "whether the certificate is for the host",
        host_check,
    ),
    sets("ssl_cafile", None, "ssl.ca.location", "file with the CAs to trust"),
    sets("ssl_certfile", None, "ssl.certificate.location", "file with the client's certificate"),
    sets("ssl_keyfile", None, "ssl.key.location", "file with its key"),
    sets("ssl_crlfile", None, "ssl.crl.location", "file with revoked certificates"),
    sets("ssl_password", None, "ssl.key.password", "password of the key"),
    unused("api_version", None, "version of the Kafka protocol", "versions are agreed with each broker"),
    older(
        "api_version_auto_timeout_ms",
        2_000,
        "how long to ask for the version",
        "versions are agreed with each broker; bootstrap_timeout_ms is the limit of the first contact",
    ),
    own("bootstrap_timeout_ms", 30_000, "how long the first contact may take"),
    unused("metric_reporters", [], "classes called for metrics", NO_REPORTERS),
    unused("metrics_num_samples", 2, "samples of a metric", NO_REPORTERS),
    unused("metrics_sample_window_ms", 30_000, "age of a sample", NO_REPORTERS),
    unused("selector", selectors.DefaultSelector, "how sockets are waited for", NO_SELECTOR),
    sets("sasl_mechanism", None, "sasl.mechanism", "how to authenticate", mechanism),
    sets("sasl_plain_username", None, "sasl.username", "user for PLAIN and SCRAM"),
    sets("sasl_plain_password", None, "sasl.password", "password for PLAIN and SCRAM"),
    unused("sasl_kerberos_name", None, "name for GSSAPI", BROKERS_HOST),
    sets("sasl_kerberos_service_name", "kafka", "sasl.kerberos.service.name", "service for GSSAPI"),
    unused("sasl_kerberos_domain_name", None, "domain for GSSAPI", BROKERS_HOST),
    sets("sasl_oauth_token_provider", None, "oauth_cb", "object with token() for OAUTHBEARER", token_callback),
    unused("proxy_url", None, "SOCKS5 proxy", NO_PROXY),
    unused("socks5_proxy", None, "SOCKS5 proxy", NO_PROXY),
    unused("kafka_client", None, "class of the network client", NO_SELECTOR),
)

CIPHERS: Final = sets("ssl_ciphers", None, "ssl.cipher.suites", "allowed ciphers")
METRICS: Final = own("metrics_enabled", True, "whether metrics() has anything")

PRODUCER: Final = Arguments(
    (
        *COMMON,
        CIPHERS,
        METRICS,
        sets("client_id", None, "client.id", "name for brokers' logs"),
        own("key_serializer", None, "makes bytes of keys: a function or a Serializer"),
        own("value_serializer", None, "makes bytes of values: a function or a Serializer"),
        sets("enable_idempotence", True, "enable.idempotence", "no duplicates by retries"),
        sets("transactional_id", None, "transactional.id", "name of a transactional producer"),
        sets("transaction_timeout_ms", 60_000, "transaction.timeout.ms", "longest transaction", clamped(1000, INT32)),
        sets("delivery_timeout_ms", 120_000, "message.timeout.ms", "longest time to a verdict", clamped(1, INT32)),
        sets("acks", -1, "acks", "replicas that must have a record: 0, 1 or all", acknowledgements),
        sets("compression_type", None, "compression.type", "gzip, snappy, lz4 or zstd"),
        sets("retries", INFINITE, "retries", "how often a record is sent again", clamped(0, INT32)),
        sets("batch_size", 16_384, "batch.size", "bytes of a full batch", clamped(1, INT32)),
        sets("linger_ms", 0, "linger.ms", "how long a batch waits for more"),
        own("partitioner", DefaultPartitioner(), "chooses partitions"),
        own("max_block_ms", 60_000, "how long send() may wait for metadata and for room"),
        sets("max_request_size", 1_048_576, "message.max.bytes", "largest record and request", clamped(1000, 10**9)),
        sets("allow_auto_create_topics", True, "allow.auto.create.topics", "let brokers create topics"),
    )
)

CONSUMER: Final = Arguments(
    (
        *COMMON,
        CIPHERS,
        METRICS,
        sets("client_id", CLIENT_ID, "client.id", "name for brokers' logs"),
        sets("client_rack", "", "client.rack", "rack of this client", lambda rack: rack or None),
        own("group_id", None, "the group; None: no group, no commits"),
        sets("group_instance_id", None, "group.instance.id", "name of a static member"),
        own("key_deserializer", None, "makes keys of bytes: a function or a Deserializer"),
        own("value_deserializer", None, "makes values of bytes: a function or a Deserializer"),
        unused("enable_incremental_fetch_sessions", True, "fetch sessions (KIP-227)", ALWAYS),
        sets("fetch_max_wait_ms", 500, "fetch.wait.max.ms", "how long a fetch waits", clamped(0, 300_000)),
        sets("fetch_min_bytes", 1, "fetch.min.bytes", "smallest fetch", clamped(1, 100_000_000)),
        sets("fetch_max_bytes", 52_428_800, "fetch.max.bytes", "largest fetch", clamped(0, 2_147_483_135)),
        sets(
            "max_partition_fetch_bytes",
            1_048_576,
            "max.partition.fetch.bytes",
            "largest fetch of a partition",
            clamped(1, 10**9),
        ),
        own("auto_offset_reset", "latest", "start: earliest, latest; anything else raises"),
        own("enable_auto_commit", True, "commit the records handed out"),
        sets(
            "auto_commit_interval_ms", 5000, "auto.commit.interval.ms", "how often that is done", clamped(1, 86_400_000)
        ),
        own("default_offset_commit_callback", None, "called as callback(offsets, error or None) after commits"),
        sets("check_crcs", True, "check.crcs", "check records for damage"),
        sets("isolation_level", "read_uncommitted", "isolation.level", "whether open transactions are read"),
        sets("allow_auto_create_topics", True, "allow.auto.create.topics", "let brokers create topics"),
        sets(
            "partition_assignment_strategy",
            (RangePartitionAssignor, RoundRobinPartitionAssignor),
            "partition.assignors",
            "how a group shares partitions",
            strategies,
        ),
        own("max_poll_records", 500, "most records of a poll"),
        sets(
            "max_poll_interval_ms", 300_000, "max.poll.interval.ms", "longest time between polls", at_most(86_400_000)
        ),
        sets("session_timeout_ms", 45_000, "session.timeout.ms", "how long a silent member stays", at_most(3_600_000)),
        sets("heartbeat_interval_ms", 3000, "heartbeat.interval.ms", "time between heartbeats", at_most(3_600_000)),
        own("consumer_timeout_ms", INFINITE, "how long iteration waits for a record"),
        unused("metric_group_prefix", "consumer", "name of metrics", NO_REPORTERS),
        unused(
            "exclude_internal_topics",
            True,
            "whether patterns leave out internal topics",
            "internal topics are read if named",
        ),
        older(
            "skip_double_compressed_messages",
            False,
            "skip records that a bug of old producers compressed twice",
            "batches of today's brokers can't be compressed twice",
        ),
    )
)

ADMIN: Final = Arguments((*COMMON, sets("client_id", CLIENT_ID, "client.id", "name for brokers' logs")))
