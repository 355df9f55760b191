"""The table of all properties a client may be given: name, type, default, range, roles, effect.

Knows nothing of parsing or of clients. Names, types and ranges are librdkafka's (truth: its CONFIGURATION.md);
defaults too, except where a row's doc ends with "librdkafka: ...". docs/configuration.md is generated from here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from kafka_core.config_option import (
    CS,
    INT32_MAX,
    C,
    Kind,
    Option,
    P,
    Role,
    S,
    callback,
    choice,
    flag,
    integer,
    number,
    refused,
    text,
    unused,
    words,
)
from kafka_core.debug_lines import CONTEXTS
from kafka_core.hooks import Hooks
from kserdes_base.config.table import Table


def logger_of(raw: object) -> object:
    """A logger as it is, or an adapter of one."""
    if not callable(getattr(raw, "log", None)):
        raise TypeError(raw)
    return raw


def hooks_of(raw: object) -> Hooks:
    """The dispatcher of one hook or of several."""
    return raw if isinstance(raw, Hooks) else Hooks(raw if isinstance(raw, list | tuple) else (raw,))


def tls_context_of(raw: object) -> object:
    """A TLS context as it is, known by what it can do: `ssl` belongs to the shells."""
    if not callable(getattr(raw, "wrap_bio", None)):
        raise TypeError(raw)
    return raw


def assignors_of(raw: object) -> object:
    """Names of assignors, and assignors of the application's own."""
    if not isinstance(raw, list | tuple) or not all(
        isinstance(item, str) or callable(getattr(item, "share", None)) for item in raw
    ):
        raise TypeError(raw)
    return tuple(raw)


def owners(option: Option) -> str:
    """The clients that a property is for, as text; empty if it is for all."""
    names = " and ".join(sorted(role.value for role in option.roles))
    return "" if option.roles == frozenset(Role) else f", a {names} property"


# Reasons that several rows share.
NO_C_LIBRARY: Final = "there is no C library underneath whose inner workings it would tune"
IN_PROCESS: Final = "tickets are asked for in this process, by MIT Kerberos, when they are needed"
OLD_BROKERS: Final = "brokers older than 0.10 are not supported"
FILE_OFFSETS: Final = "offsets are stored at the broker only"
SYSTEM_OPENSSL: Final = "Python's `ssl` gives no access to it; set it in the OpenSSL configuration of the machine"

CONNECTION: Final[tuple[Option, ...]] = (
    words(
        "bootstrap.servers",
        None,
        "",
        "First brokers to ask, as `host:port` with commas between them (port 9092 if left out); the rest of the "
        "cluster is learnt from them.",
        aliases=("metadata.broker.list",),
    ),
    text(
        "client.id",
        "kserdes",
        "Name by which brokers know this client in logs, quotas and metrics. librdkafka: rdkafka.",
    ),
    text(
        "client.rack",
        None,
        "Rack of this client; a consumer reads from a replica in the same rack if there is one, and the assignors"
        " range and cooperative-sticky give it such partitions first.",
    ),
    choice(
        "client.dns.lookup",
        "use_all_dns_ips",
        "use_all_dns_ips resolve_canonical_bootstrap_servers_only",
        "Try every address a name resolves to, or expand the bootstrap names into their canonical names first.",
    ),
    choice("broker.address.family", "any", "any v4 v6", "Families of a broker's IP addresses to try."),
    unused(
        integer("broker.address.ttl", 1000, 0, 86_400_000, "How long a resolved address is kept, in ms."),
        "names are looked up anew for every connection",
    ),
    integer("socket.timeout.ms", 60_000, 10, 300_000, "Longest wait for the response to a request."),
    integer(
        "socket.connection.setup.timeout.ms",
        30_000,
        1000,
        INT32_MAX,
        "Longest time for connecting, TLS handshake and authentication included.",
    ),
    integer("socket.send.buffer.bytes", 0, 0, 100_000_000, "Send buffer of a socket; 0 leaves it to the system."),
    integer("socket.receive.buffer.bytes", 0, 0, 100_000_000, "Receive buffer of a socket; 0 leaves it to the system."),
    flag("socket.keepalive.enable", False, "TCP keep-alive probes on idle connections."),
    flag("socket.nagle.disable", True, "Send small packets at once (TCP_NODELAY)."),
    unused(
        integer("socket.max.fails", 1, 0, 1_000_000, "Failed requests after which a connection is closed."),
        "a connection whose request timed out is always closed: a late answer could be taken for another one",
    ),
    unused(integer("socket.blocking.max.ms", 1000, 1, 60_000, "Longest blocking socket call."), NO_C_LIBRARY),
    integer(
        "connections.max.idle.ms", 0, 0, INT32_MAX, "Close a connection that was unused for so long; 0 keeps it open."
    ),
    integer(
        "reconnect.backoff.ms", 100, 0, 3_600_000, "Wait before the first new attempt to connect; doubles each time."
    ),
    integer("reconnect.backoff.max.ms", 10_000, 0, 3_600_000, "Longest wait between attempts to connect."),
    unused(
        integer("reconnect.backoff.jitter.ms", 0, 0, 3_600_000, "Random part of the wait."),
        "every back-off has jitter",
    ),
    integer("retry.backoff.ms", 100, 1, 300_000, "Wait before a failed request is sent again; doubles each time."),
    integer("retry.backoff.max.ms", 1000, 1, 300_000, "Longest wait before a failed request is sent again."),
    integer(
        "max.in.flight.requests.per.connection",
        5,
        1,
        1_000_000,
        "Requests that may wait for their responses at the same time on one connection; at most 5 with idempotence. "
        "librdkafka: 1000000 unless idempotent.",
        aliases=("max.in.flight",),
    ),
    integer(
        "message.max.bytes",
        1_000_000,
        1000,
        1_000_000_000,
        "Largest record that produce() takes, and largest request body. The broker has its own limit.",
    ),
    integer(
        "receive.message.max.bytes",
        100_000_000,
        1000,
        INT32_MAX,
        "Largest response taken from a broker; a larger one closes the connection. Raised to `fetch.max.bytes` + 512 "
        "if not set.",
    ),
    unused(
        integer("message.copy.max.bytes", 65_535, 0, 1_000_000_000, "Largest message that is copied when produced."),
        "a record is copied once, into its batch",
    ),
    flag(
        "api.version.request",
        True,
        "Ask brokers for their versions of each request. If false, the oldest version known to brokers from 2.1 "
        "to 4.x is used.",
    ),
    integer("api.version.request.timeout.ms", 10_000, 1, 300_000, "Longest wait for that answer."),
    unused(
        integer("api.version.fallback.ms", 0, 0, 604_800_000, "How long the fallback version is used."), OLD_BROKERS
    ),
    unused(text("broker.version.fallback", "0.10.0", "Version assumed when a broker can't be asked."), OLD_BROKERS),
    flag(
        "enable.metrics.push",
        True,
        "Measure and push the metrics that the cluster's operators subscribe to (KIP-714). Brokers without "
        "telemetry are asked nothing, and without a subscription nothing is measured.",
    ),
)

METADATA: Final[tuple[Option, ...]] = (
    integer(
        "topic.metadata.refresh.interval.ms",
        300_000,
        -1,
        3_600_000,
        "Time between metadata requests; -1: only when needed.",
    ),
    integer("metadata.max.age.ms", 900_000, 1, 86_400_000, "Age at which cached metadata is no longer trusted."),
    integer(
        "topic.metadata.refresh.fast.interval.ms",
        100,
        1,
        60_000,
        "First wait between metadata requests while a leader is missing.",
    ),
    unused(
        integer("topic.metadata.refresh.fast.cnt", 10, 0, 1000, "How often that is tried."),
        "it is tried until it works",
    ),
    unused(
        flag("topic.metadata.refresh.sparse", True, "Ask only for the topics in use."),
        "metadata is always asked for only the topics in use",
    ),
    integer(
        "topic.metadata.propagation.max.ms",
        30_000,
        0,
        3_600_000,
        "Time an unknown topic has to appear before its records fail or its group gives it up.",
    ),
    words("topic.blacklist", None, "", "Regular expressions of topic names that a pattern subscription leaves out."),
    choice(
        "metadata.recovery.strategy",
        "rebootstrap",
        "none rebootstrap",
        "Whether to begin again with `bootstrap.servers` when no known broker can be reached.",
    ),
    unused(
        integer(
            "metadata.recovery.rebootstrap.trigger.ms",
            300_000,
            0,
            INT32_MAX,
            "How long metadata may fail before beginning again.",
        ),
        "it begins again as soon as no known broker can be reached",
    ),
    replace(
        flag(
            "allow.auto.create.topics",
            False,
            "Let the broker create a missing topic on request, if the broker allows it too. True in producers, "
            "false elsewhere.",
        ),
        producer_default=True,
    ),
)

SECURITY: Final[tuple[Option, ...]] = (
    choice(
        "security.protocol",
        "plaintext",
        "plaintext ssl sasl_plaintext sasl_ssl",
        "Whether the connection uses TLS, and whether the client authenticates with SASL.",
    ),
    text("ssl.ca.location", None, "File or folder with the CA certificates to trust; the system's store if not set."),
    text("ssl.ca.pem", None, "The CA certificates to trust, as PEM text."),
    text("ssl.certificate.location", None, "File with the client's certificate chain (PEM)."),
    text("ssl.certificate.pem", None, "The client's certificate chain as PEM text."),
    text("ssl.key.location", None, "File with the client's private key (PEM)."),
    text("ssl.key.pem", None, "The client's private key as PEM text.", secret=True),
    text("ssl.key.password", None, "Passphrase of the private key.", secret=True),
    text(
        "ssl.keystore.location",
        None,
        "PKCS#12 file with the client's private key and certificates, instead of the four properties above. Needs the "
        "extra `encryption`.",
    ),
    text("ssl.keystore.password", None, "Password of the PKCS#12 file.", secret=True),
    text("ssl.crl.location", None, "File with revoked certificates (PEM) to check the broker's against."),
    text("ssl.cipher.suites", None, "Allowed cipher suites as OpenSSL spells them (TLS 1.2)."),
    flag("enable.ssl.certificate.verification", True, "Check the broker's certificate. Turn it off only in tests."),
    choice(
        "ssl.endpoint.identification.algorithm",
        "https",
        "none https",
        "Whether the certificate must be for the host name we connect to.",
    ),
    Option(
        "ssl.context",
        Kind.OBJECT,
        None,
        "A ready ssl.SSLContext; no other `ssl.*` property counts then. Ours.",
        takes="an ssl.SSLContext",
        read=tls_context_of,
    ),
    unused(text("ssl.curves.list", None, "Allowed curves."), SYSTEM_OPENSSL),
    unused(text("ssl.sigalgs.list", None, "Allowed signature algorithms."), SYSTEM_OPENSSL),
    unused(
        text("ssl.ca.certificate.stores", "Root", "Windows certificate stores."),
        "the system's store is used as a whole",
    ),
    refused(text("ssl.engine.location", None, "OpenSSL engine library."), "OpenSSL engines are not supported"),
    unused(text("ssl.engine.id", "dynamic", "Name of the OpenSSL engine."), "OpenSSL engines are not supported"),
    unused(text("ssl.providers", None, "OpenSSL providers."), SYSTEM_OPENSSL),
    Option(
        "sasl.mechanism",
        Kind.ENUM,
        "GSSAPI",
        "Mechanism of authentication with `sasl_plaintext` and `sasl_ssl`. GSSAPI is Kerberos and needs the "
        "system's MIT Kerberos (libgssapi_krb5).",
        words=("GSSAPI", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"),
        aliases=("sasl.mechanisms",),
    ),
    text("sasl.username", None, "User name for PLAIN and SCRAM."),
    text("sasl.password", None, "Password for PLAIN and SCRAM.", secret=True),
    callback(
        "oauth_cb",
        "Called with the text of `sasl.oauthbearer.config` when a token is needed; returns (token, expiry in seconds "
        "since 1970[, principal[, extensions]]). Runs in the background: no poll() is needed for it. Inside "
        "it, calls of its own client that wait (flush(), poll(), close(), …) raise StateError until there is a token.",
    ),
    text(
        "sasl.oauthbearer.config",
        None,
        "Text for `oauth_cb`, the claims of the unsecured token, or the parameters for a cloud: `query=…` for "
        "`azure_imds`, `region=…,audience=…` for `aws_iam`.",
        secret=True,
    ),
    flag(
        "enable.sasl.oauthbearer.unsecure.jwt",
        False,
        "Make an unsigned token from `sasl.oauthbearer.config` if there is no `oauth_cb`. Only for tests.",
    ),
    choice(
        "sasl.oauthbearer.method",
        "default",
        "default oidc",
        "Source of tokens: `oauth_cb`, or, with `oidc` and no `oauth_cb`, a token endpoint or a cloud.",
    ),
    choice(
        "sasl.oauthbearer.grant.type",
        "client_credentials",
        "client_credentials urn:ietf:params:oauth:grant-type:jwt-bearer",
        "Credentials for the token endpoint: id and secret, or an assertion.",
    ),
    text("sasl.oauthbearer.token.endpoint.url", None, "The token endpoint; with `azure_imds` it has a default."),
    text(
        "sasl.oauthbearer.client.id",
        None,
        "Client id for the token endpoint.",
        aliases=("sasl.oauthbearer.client.credentials.client.id",),
    ),
    text(
        "sasl.oauthbearer.client.secret",
        None,
        "The secret of `sasl.oauthbearer.client.id`.",
        secret=True,
        aliases=("sasl.oauthbearer.client.credentials.client.secret",),
    ),
    text("sasl.oauthbearer.scope", None, "Scope of the token."),
    text(
        "sasl.oauthbearer.extensions",
        None,
        "SASL extensions that go with the token of an endpoint or a cloud, `name=value` with commas between them.",
    ),
    text("sasl.oauthbearer.sub.claim.name", "sub", "The claim of the token that names the principal, for logs."),
    text(
        "sasl.oauthbearer.assertion.file",
        None,
        "File with a ready assertion, read anew for each token.",
    ),
    text("sasl.oauthbearer.assertion.private.key.file", None, "PEM file with the key that signs assertions."),
    text("sasl.oauthbearer.assertion.private.key.pem", None, "That key as PEM text.", secret=True),
    text("sasl.oauthbearer.assertion.private.key.passphrase", None, "Passphrase of that key.", secret=True),
    choice("sasl.oauthbearer.assertion.algorithm", "RS256", "RS256 ES256", "Signature of assertions."),
    text("sasl.oauthbearer.assertion.claim.aud", None, "Audience claim of assertions."),
    text("sasl.oauthbearer.assertion.claim.iss", None, "Issuer claim of assertions."),
    text("sasl.oauthbearer.assertion.claim.sub", None, "Subject claim of assertions."),
    integer("sasl.oauthbearer.assertion.claim.exp.seconds", 300, 1, INT32_MAX, "Seconds until an assertion ends."),
    integer(
        "sasl.oauthbearer.assertion.claim.nbf.seconds",
        60,
        0,
        INT32_MAX,
        "Seconds before its making from which an assertion holds.",
    ),
    flag("sasl.oauthbearer.assertion.claim.jti.include", False, "Give each assertion its own id."),
    text(
        "sasl.oauthbearer.assertion.jwt.template.file",
        None,
        "JSON file with the objects `header` and `payload`, to which the claims above and the times are added.",
    ),
    choice(
        "sasl.oauthbearer.metadata.authentication.type",
        "none",
        "none azure_imds aws_iam",
        "With `oidc`, take tokens from the cloud that the client runs in: Azure's instance metadata service, or "
        "AWS STS through boto3.",
    ),
    text("https.ca.location", None, "File or folder with the CA certificates for the token endpoint."),
    text("https.ca.pem", None, "CA certificates for the token endpoint as PEM text."),
    text("sasl.kerberos.service.name", "kafka", "First part of the brokers' Kerberos principals (GSSAPI)."),
    text("sasl.kerberos.principal", "kafkaclient", "The client's Kerberos principal, if there is a keytab."),
    text(
        "sasl.kerberos.keytab",
        None,
        "File with the principal's key. Without it the tickets of the default cache count (`kinit` fills it).",
    ),
    unused(text("sasl.kerberos.kinit.cmd", None, "Command that gets a ticket."), IN_PROCESS),
    unused(integer("sasl.kerberos.min.time.before.relogin", 60_000, 0, 86_400_000, "Time between logins."), IN_PROCESS),
)

PRODUCER: Final[tuple[Option, ...]] = (
    replace(
        integer(
            "acks",
            -1,
            -1,
            1000,
            "Brokers that must have a record before it counts as delivered: 0 none, 1 the leader, -1 or `all` "
            "every replica in sync.",
            roles=P,
            aliases=("request.required.acks",),
        ),
        synonyms=(("all", -1),),
    ),
    flag(
        "enable.idempotence",
        True,
        "No record is doubled or reordered by retries. Needs acks=all, retries > 0 and at most 5 requests in flight: "
        "it is turned off (and logged) if one of those is set otherwise and this is not set. librdkafka: false.",
        roles=P,
    ),
    text(
        "transactional.id",
        None,
        "Identity of a transactional producer, the same after a restart: a new producer with it fences the "
        "previous one. Needs idempotence.",
        roles=P,
    ),
    integer(
        "transaction.timeout.ms",
        60_000,
        1000,
        INT32_MAX,
        "Time after which the broker aborts an abandoned transaction. message.timeout.ms and socket.timeout.ms "
        "are lowered to it (less 100 ms).",
        roles=P,
    ),
    number(
        "linger.ms",
        5.0,
        0,
        900_000,
        "Time a batch waits for more records before it is sent.",
        roles=P,
        aliases=("queue.buffering.max.ms",),
    ),
    integer(
        "batch.size",
        131_072,
        1,
        INT32_MAX,
        "Size in bytes at which a batch is closed; a single larger record still gets a batch of its own. "
        "librdkafka: 1000000.",
        roles=P,
    ),
    integer("batch.num.messages", 10_000, 1, 1_000_000, "Number of records at which a batch is closed.", roles=P),
    integer(
        "queue.buffering.max.messages",
        100_000,
        0,
        INT32_MAX,
        "Records that may wait for delivery, all topics together; 0 for no limit. Beyond it produce() raises "
        "BufferError (or waits, see max.block.ms).",
        roles=P,
    ),
    integer(
        "queue.buffering.max.kbytes",
        1_048_576,
        1,
        INT32_MAX,
        "The same as a size in KiB; whichever comes first.",
        roles=P,
    ),
    integer(
        "max.block.ms",
        0,
        0,
        INT32_MAX,
        "Longest wait of produce() for room before it raises BufferError; 0 raises at once, as librdkafka does. "
        "Ours; librdkafka has none.",
        roles=P,
    ),
    integer(
        "message.timeout.ms",
        300_000,
        0,
        INT32_MAX,
        "Time a record has from produce() to its delivery, retries included; 0 for no limit.",
        roles=P,
        aliases=("delivery.timeout.ms",),
    ),
    integer("request.timeout.ms", 30_000, 1, 900_000, "Longest wait of the broker for its replicas.", roles=P),
    integer(
        "retries",
        INT32_MAX,
        0,
        INT32_MAX,
        "Number of times a batch is sent again; message.timeout.ms ends it earlier.",
        roles=P,
        aliases=("message.send.max.retries",),
    ),
    choice(
        "compression.type",
        "none",
        "none gzip snappy lz4 zstd",
        "Codec of batches.",
        roles=P,
        aliases=("compression.codec",),
    ),
    integer(
        "compression.level",
        -1,
        -1,
        22,
        "Level of the codec (gzip 0-9, lz4 0-12, zstd 1-22; higher ones are cut down); -1 takes the codec's fast one. "
        "librdkafka: up to 12.",
        roles=P,
    ),
    integer(
        "compression.gzip.level",
        -1,
        -1,
        9,
        "Level of gzip (KIP-390), as the Java client calls it: goes before compression.level where gzip is the codec.",
        roles=P,
    ),
    integer(
        "compression.lz4.level",
        -1,
        -1,
        17,
        "The same for lz4; above 12 it is cut down.",
        roles=P,
    ),
    integer(
        "compression.zstd.level",
        -1,
        -1,
        22,
        "The same for zstd; Java's levels below -1 are not supported.",
        roles=P,
    ),
    choice(
        "partitioner",
        "murmur2_random",
        "random consistent consistent_random murmur2 murmur2_random fnv1a fnv1a_random",
        "Function from keys to partitions; murmur2_random is the Java client's. librdkafka: consistent_random.",
        roles=P,
    ),
    unused(
        integer(
            "sticky.partitioning.linger.ms",
            10,
            0,
            900_000,
            "How long records without key stay with one partition.",
            roles=P,
        ),
        "records without key stay with one partition until its batch is full or has lingered",
    ),
    flag("delivery.report.only.error", False, "Report only records that failed.", roles=P),
    callback(
        "on_delivery",
        "Called by poll() and flush() with (error or None, message) for each record without its own callback.",
        roles=P,
        aliases=("dr_cb", "dr_msg_cb"),
    ),
    unused(
        integer(
            "queue.buffering.backpressure.threshold",
            1,
            1,
            1_000_000,
            "Unsent requests that hold back new ones.",
            roles=P,
        ),
        "a batch goes on collecting as long as earlier ones are in flight",
    ),
    unused(
        flag("enable.gapless.guarantee", False, "Stop at the first batch that can't be delivered.", roles=P),
        "not built; deprecated in librdkafka",
    ),
    refused(
        choice("queuing.strategy", "fifo", "fifo lifo", "Order of sending.", roles=P),
        "records are always sent in the order in which they were produced",
    ),
    unused(flag("produce.offset.report", False, "Report offsets.", roles=P), "delivery reports always have the offset"),
)

CONSUMER: Final[tuple[Option, ...]] = (
    text("group.id", None, "Group whose members share the partitions; needed by every consumer.", roles=CS),
    text(
        "group.instance.id",
        None,
        "Name of a static member: it may restart within session.timeout.ms without a rebalance.",
        roles=C,
    ),
    choice(
        "group.protocol",
        "classic",
        "classic consumer",
        "Assignment of the group's partitions: with `classic` by a member, with `consumer` by the broker "
        "(KIP-848, Kafka 4.0 or newer). With `consumer`, `session.timeout.ms`, `heartbeat.interval.ms`, "
        "`partition.assignment.strategy` and `group.protocol.type` can't be set: the broker has them.",
        roles=C,
    ),
    text(
        "group.remote.assignor",
        None,
        "With `group.protocol=consumer`: the broker's assignor, `uniform` or `range`; by default the broker chooses.",
        roles=C,
    ),
    unused(
        text("group.protocol.type", "consumer", "Type of the classic group protocol.", roles=C),
        "consumers always use the type `consumer`",
    ),
    words(
        "partition.assignment.strategy",
        "range,roundrobin",
        "range roundrobin cooperative-sticky sticky",
        "Assignors, best first; the group takes one that all members know. cooperative-sticky can't be mixed with"
        " others. sticky (KIP-54) is that of other clients; librdkafka has none.",
        roles=C,
    ),
    Option(
        "partition.assignors",
        Kind.OBJECT,
        None,
        "Instead of `partition.assignment.strategy`: names from there, and assignors of the application's own, best "
        "first. The group's leader runs one that all members know. Ours.",
        roles=C,
        takes="a list of names and of objects with name, cooperative, user_data, share and assigned",
        read=assignors_of,
    ),
    integer("session.timeout.ms", 45_000, 1, 3_600_000, "Silence after which the group drops a member.", roles=C),
    integer("heartbeat.interval.ms", 3000, 1, 3_600_000, "Time between heartbeats to the group.", roles=C),
    integer(
        "max.poll.interval.ms",
        300_000,
        1,
        86_400_000,
        "Longest time between two calls of poll() or consume(); beyond it the member leaves the group and the next "
        "call reports it.",
        roles=CS,
    ),
    unused(
        integer(
            "coordinator.query.interval.ms", 600_000, 1, 3_600_000, "How often the coordinator is looked up.", roles=C
        ),
        "it is looked up whenever it is missing or has moved",
    ),
    flag(
        "enable.auto.commit",
        True,
        "Commit stored offsets in the background.",
        roles=C,
    ),
    integer("auto.commit.interval.ms", 5000, 0, 86_400_000, "Time between automatic commits; 0: none.", roles=C),
    flag(
        "enable.auto.offset.store",
        True,
        "Store the offset of a message for the next commit when it is handed out; otherwise call store_offsets().",
        roles=C,
    ),
    replace(
        choice(
            "auto.offset.reset",
            "latest",
            "earliest latest error",
            "Start of reading if the group has no offset, or a lost one; `error` reports it instead.",
            roles=C,
        ),
        synonyms=(("smallest", "earliest"), ("beginning", "earliest"), ("largest", "latest"), ("end", "latest")),
    ),
    choice(
        "isolation.level",
        "read_committed",
        "read_uncommitted read_committed",
        "Whether records of open and aborted transactions are skipped.",
        roles=C,
    ),
    flag(
        "enable.partition.eof",
        False,
        "Report the end of each partition as a message with error _PARTITION_EOF.",
        roles=C,
    ),
    choice(
        "share.acknowledgement.mode",
        "implicit",
        "implicit explicit",
        "With `implicit`, the records of a poll are accepted by the next poll or commit; with `explicit`, each of them "
        "has to be acknowledged before the next poll.",
        roles=S,
    ),
    choice(
        "share.acquire.mode",
        "batch_optimized",
        "batch_optimized record_limit",
        "With `record_limit` a poll never gives more than `max.poll.records`; with `batch_optimized` the broker gives "
        "out whole batches, which costs less and may exceed it (KIP-1206, as in the Java client).",
        roles=S,
    ),
    integer("max.poll.records", 500, 1, INT32_MAX, "Most records of one poll of a share consumer.", roles=S),
    flag("check.crcs", True, "Check the checksum of every batch. librdkafka: false.", roles=CS),
    integer("fetch.min.bytes", 1, 1, 100_000_000, "Data the broker waits for before it answers a fetch.", roles=CS),
    integer("fetch.wait.max.ms", 500, 0, 300_000, "Longest wait of the broker for that.", roles=CS),
    integer(
        "fetch.max.bytes",
        52_428_800,
        0,
        2_147_483_135,
        "Most data in one fetch response; a single larger batch still comes.",
        roles=CS,
    ),
    integer(
        "max.partition.fetch.bytes",
        1_048_576,
        1,
        1_000_000_000,
        "Most data of one partition in one fetch response; a single larger batch still comes.",
        roles=C,
        aliases=("fetch.message.max.bytes",),
    ),
    integer("fetch.error.backoff.ms", 500, 0, 300_000, "Wait after a partition could not be fetched.", roles=C),
    integer(
        "queued.min.messages",
        100_000,
        1,
        10_000_000,
        "Records that the consumer tries to have ready.",
        roles=C,
    ),
    integer("queued.max.messages.kbytes", 65_536, 1, 2_097_151, "Most data kept ready, in KiB.", roles=C),
    unused(
        integer("fetch.queue.backoff.ms", 1000, 0, 300_000, "Wait while the queue is full.", roles=C),
        "fetching goes on as soon as there is room",
    ),
    callback("on_commit", "Called by poll() with (error or None, list of TopicPartition) after each commit.", roles=C),
    callback(
        "on_truncation",
        "Called by poll() with a LogTruncation when a partition's log has lost records that were read (KIP-320). "
        "Without it poll() returns a Message with the error _LOG_TRUNCATION, whose offset is the one where the log was "
        "cut. Reading goes on there, unless `auto.offset.reset` is `error`: then it goes on after a seek().",
        roles=C,
    ),
    unused(
        choice("offset.store.method", "broker", "none file broker", "Where offsets are kept.", roles=C), FILE_OFFSETS
    ),
    unused(text("offset.store.path", ".", "File for offsets.", roles=C), FILE_OFFSETS),
    unused(integer("offset.store.sync.interval.ms", -1, -1, 86_400_000, "fsync of that file.", roles=C), FILE_OFFSETS),
    unused(
        replace(flag("auto.commit.enable", True, "Automatic commits of the simple consumer.", roles=C)),
        "it belongs to librdkafka's old simple consumer; use enable.auto.commit",
    ),
    unused(
        integer("consume.callback.max.messages", 0, 0, 1_000_000, "Messages per consume callback.", roles=C),
        "there is no consume callback; call consume()",
    ),
)

OBSERVING: Final[tuple[Option, ...]] = (
    callback("error_cb", "Called by poll() with a KafkaError when something fails in the background."),
    callback("throttle_cb", "Called by poll() with a ThrottleEvent when a broker throttles the client."),
    callback("stats_cb", "Called by poll() with statistics as JSON text."),
    integer("statistics.interval.ms", 0, 0, 86_400_000, "Time between statistics; 0 for none."),
    Option(
        "logger",
        Kind.OBJECT,
        None,
        "A logging.Logger (or an adapter of one) for this client's lines: failed connections, and the contexts of"
        " `debug`.",
        takes="a logging.Logger",
        read=logger_of,
    ),
    Option(
        "hooks",
        Kind.OBJECT,
        None,
        "Objects called for connections, requests, batches and rebalances (kafka_core.hooks). Ours.",
        takes="a list of objects with hook methods",
        read=hooks_of,
    ),
    words(
        "debug",
        None,
        " ".join(sorted(CONTEXTS)),
        "Contexts to log, to `logger` or, if there is none, to the logger `kafka_core.client`.",
    ),
    integer("log_level", 6, 0, 7, "syslog's level up to which `logger` gets lines; `debug` lifts it to 7."),
    flag("log.thread.name", True, "Whether lines name the thread."),
    flag("log.connection.close", True, "Whether connections closed by brokers are logged to `logger`."),
    unused(flag("log.queue", False, "Hand logs out by poll()."), "lines reach `logger` at once, on any thread"),
    unused(integer("enabled_events", 0, 0, INT32_MAX, "Events of the C API."), NO_C_LIBRARY),
    unused(flag("enable.random.seed", True, "Seed the C random source."), NO_C_LIBRARY),
    unused(integer("internal.termination.signal", 0, 0, 128, "Signal that ends inner threads."), NO_C_LIBRARY),
    unused(words("builtin.features", None, "", "Features the library was built with."), NO_C_LIBRARY),
    refused(text("plugin.library.paths", None, "C plugins to load."), "C plugins can't be loaded; use `hooks`"),
)

SECTIONS: Final[tuple[tuple[str, tuple[Option, ...]], ...]] = (
    ("Connections", CONNECTION),
    ("Metadata", METADATA),
    ("Security", SECURITY),
    ("Producer", PRODUCER),
    ("Consumer", CONSUMER),
    ("Callbacks, logs and metrics", OBSERVING),
)

OPTIONS: Final[tuple[Option, ...]] = tuple(option for _, section in SECTIONS for option in section)

# Names that users of other clients try, and what they are called here.
ELSEWHERE: Final = {
    "key.serializer": "serializers belong to serdes.SerializingProducer",
    "value.serializer": "serializers belong to serdes.SerializingProducer",
    "key.deserializer": "deserializers belong to serdes.DeserializingConsumer",
    "value.deserializer": "deserializers belong to serdes.DeserializingConsumer",
    "buffer.memory": "use queue.buffering.max.kbytes",
    "sasl.jaas.config": "use sasl.username and sasl.password",
    "interceptor.classes": "use hooks",
}

TABLE: Final = Table(
    OPTIONS,
    elsewhere=ELSEWHERE,
    note=owners,
    unknown='No such configuration property: "{}"',  # as librdkafka says it
)

# Every spelling, aliases included.
BY_NAME: Final = TABLE.by_name
