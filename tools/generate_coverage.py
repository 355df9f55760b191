"""Writes docs/coverage.md: what is supported, partial, only on the wire, or left out, and why.

The lists of APIs come from the code (protocol and embedded broker), the features of the client from the table here.
"""

from __future__ import annotations

import sys

from kafka_core.broker.coverage import SKIPPED, api_coverage
from kafka_core.protocol import REQUESTS, ApiKey
from tools.pages import ROOT, write_or_check

PAGE = ROOT / "docs" / "coverage.md"

CLIENT = (
    ("Producer: idempotence, acks, batching, compression, partitioners, retries in order, time-outs, purge", "yes", ""),
    (
        "Producer and consumer: latency of lone records at most 1.2 times confluent_kafka's",
        "partial",
        "medians 1.22 (delivery) and 1.15 (`poll`), 99th percentiles 1.06 and 1.70; docs/performance.md, decision 0107",
    ),
    (
        "Producer: transactions (KIP-98, 360, 447, 588, 890)",
        "supported",
        "protocol 1 and 2; no two-phase commit (KIP-939)",
    ),
    ("Consumer: assign, seek, pause, positions, offsets by time, read_committed, fetch sessions (KIP-227)", "yes", ""),
    (
        "Consumer: logs that lost what was read are found out by leader epochs (KIP-320), `on_truncation`",
        "yes",
        "also for committed offsets and for those of assign() and seek() that have an epoch",
    ),
    ("Consumer: reading from a replica in its own rack (`client.rack`, KIP-392)", "yes", ""),
    (
        "Consumer groups, classic protocol: assignors look at racks (`client.rack`, KIP-881)",
        "yes",
        "`range` shares as Java does, cooperative-sticky has no fewer partitions nearby; not `roundrobin`, as in Java",
    ),
    ("Consumer groups, classic protocol: range, round-robin, sticky, cooperative-sticky, static members", "yes", ""),
    (
        "Consumer groups, KIP-848 (`group.protocol=consumer`), and live groups that change between both protocols",
        "yes",
        "docs/guide/groups.md",
    ),
    (
        "Share groups (KIP-932, 1206, 1222): `ShareConsumer`, `AIOShareConsumer`, deserializing ones",
        "yes",
        "docs/guide/share-groups.md; confluent_kafka has neither renewals nor record limits nor an asyncio face",
    ),
    (
        "Admin: share groups and their offsets",
        "yes",
        "docs/guide/share-groups.md; confluent_kafka has none; `list_groups` shows no members",
    ),
    ("Admin: topics, partitions, configs, groups, group offsets, list offsets, cluster", "yes", ""),
    ("Admin: ACLs, SCRAM users, delete records, elections", "yes", ""),
    (
        "Admin: offsets and members of groups removed, transactions, producers, features, log directories, "
        "reassignments, resources with configurations, moves between log directories, pages of partitions, the quorum",
        "yes",
        "`kafka_core.admin`, both faces; confluent_kafka has none",
    ),
    (
        "Admin: quotas, delegation tokens",
        "wire only",
        "confluent_kafka has none either",
    ),
    (
        "Security: TLS, mutual TLS (PEM, PKCS#12), SASL PLAIN, SCRAM-SHA-256/-512, OAUTHBEARER, re-authentication",
        "yes",
        "",
    ),
    (
        "Security: OAUTHBEARER tokens from `oauth_cb`, a token endpoint, Azure and AWS",
        "yes",
        "signed assertions: extra `oauth`; AWS: extra `aws`",
    ),
    (
        "Security: Kerberos (GSSAPI)",
        "yes",
        "by the system's MIT Kerberos; tickets of a keytab or of the default cache; waits for a KDC that is gone",
    ),
    ("`set_sasl_credentials` at run time", "yes", "for the connections made from then on"),
    (
        "Brokers: Apache Kafka 4.3 and 3.9",
        "yes",
        "the contract suite runs on 4.3.1 and 3.9.2 and finds no difference but the errors of groups that don't exist; "
        "2.1 is played by the embedded broker",
    ),
    ("Compression: none, gzip, snappy, lz4, zstd; reading message sets v0 and v1", "yes", ""),
    (
        "Metrics and traces: hooks, `stats_cb`, Prometheus, OpenTelemetry with the trace's context in headers",
        "yes",
        "docs/guide/metrics.md; no interceptors as Java has them",
    ),
    (
        "Client telemetry pushed to the cluster (KIP-714), `client_instance_id()`",
        "yes",
        "all metrics that the KIP requires; docs/guide/telemetry.md",
    ),
    (
        "Schema registry client: every operation of confluent_kafka's, blocking and asyncio; OAuth, custom tokens",
        "yes",
        "",
    ),
    (
        "DEK registry client: keys registered and looked up",
        "yes",
        "blocking and asyncio; no calls to update, delete or test keys",
    ),
    (
        "Compatibility engine: Avro, JSON Schema (draft-04 to 2020-12), Protobuf (proto2, proto3, editions)",
        "yes",
        "known differences are in docs/compatibility*.md",
    ),
    ("`kserdes schema`: check, diff, lint, register, get, list, delete, export, import", "yes", ""),
    (
        "Embedded registry: Confluent's REST API, in process, over HTTP, in memory or SQLite; DEK registry",
        "yes",
        "docs/rest-api.md lists endpoints; shared KEKs (keys the registry itself uses) are refused",
    ),
    ("Embedded cluster and registry as pytest fixtures", "yes", "docs/guide/testing.md"),
    ("Serializers: Avro, JSON Schema, Protobuf, simple ones; header and prefix ids; all name strategies", "yes", ""),
    (
        "Data contracts: CEL, CEL_FIELD, JSONATA, ENCRYPT, ENCRYPT_PAYLOAD, DLQ, own rules; migrations",
        "yes",
        "CEL's functions for decimals and variants are there",
    ),
    (
        "Rules inside schemas (`confluent:rules`, `validation.rules.*`), written and read",
        "yes",
        "compared with confluent_kafka: tests/interop/test_inline_rules_peers.py; not in Spark's functions and columns",
    ),
    (
        "Key services: local, Vault, AWS, Azure, Google",
        "yes",
        "tested against stand-ins (moto, a server with Vault's API, doubles), not against the services",
    ),
    (
        "Spark functions: `from_registry`, `to_registry`, `decode_frame`, `encode_frame`, `split`, `schema_id`, …",
        "yes",
        "Avro, Protobuf, JSON Schema; rules run on executors; the subject is named by arguments, by a column or by"
        " a row's type",
    ),
    (
        "Spark: source, batch and stream",
        "yes",
        "all options of Spark's own Kafka source, compared with it option by option; decodes inside; a topic"
        " made anew is told from the old one by its id, over a restart of a query too (decision 0099)",
    ),
    (
        "Spark: sink, batch and stream",
        "yes",
        "at least once, or exactly once in transactions of tasks: tested with a kill at each request of the protocol; "
        "kill -9 of drivers and executors under Spark: no row lost or doubled (counts in decision 0067)",
    ),
    (
        "Spark: variants",
        "partial",
        "as JSON text, by Spark's `parse_json` and `to_json`, both ways: `serdes.variants` makes other variants of the"
        " same text than Spark does (decision 0100)",
    ),
    (
        "Spark 4.0 and 4.1, Connect, clusters",
        "partial",
        "the tests run on Spark 4.3, on 4.1 and 4.0 with `make test-spark41` and `make test-spark40`, over Connect and"
        " on a cluster with tests/spark/everything.py; no admission control before 4.2; 4.0 has no functions of columns"
        " and writes no streams, which is said",
    ),
    (
        "Unchanged confluent_kafka programs (`kserdes.compat.confluent`)",
        "partial",
        "tests/interop/test_confluent_programs.py runs six services on both; "
        "tests/interop/test_confluent_names.py lists the names that are missing, with reasons",
    ),
    (
        "Decimals and variants as `confluent.type.Decimal` and `.Variant` messages, builders of serializers,"
        " mock registry clients",
        "yes",
        "`serdes.decimals`, `serdes.variants`, `serdes.builders`,"
        " `kserdes.compat.confluent.schema_registry.mock_clients`; Avro's records of the logical type `variant` stay"
        " maps of two byte strings",
    ),
    (
        "`debug` and `logger`: lines by context",
        "yes",
        "`queue`, `interceptor`, `plugin` and `mock` have none",
    ),
    ("Dialect of kafka-python 0.9.5 (`kserdes.compat.simple`)", "yes", "docs/guide/migrating-simple.md"),
    (
        "Dialect of kafka-python 3.0 (`kserdes.compat.kafka`)",
        "partial",
        "every name and module that is not there stands with its reason in docs/peers.md; no classes of its "
        "protocol (decision 0089); "
        "docs/guide/migrating-kafka-python.md says what differs",
    ),
    (
        "`kserdes migrate check PATH`",
        "yes",
        "modules, names, methods and keyword arguments of the four clients; clients that functions hand on, and keys "
        "of configuration dicts, are not followed",
    ),
    (
        "Dialect of aiokafka 0.14 (`kserdes.compat.aiokafka`)",
        "yes",
        "docs/guide/migrating-aiokafka.md lists what differs: no `AIOKafkaClient.send`, no classes of its protocol "
        "(decision 0089); `send` with a future per record is twice as fast as there (docs/performance.md)",
    ),
)


def page() -> str:
    """The whole page."""
    lines = [
        "<!-- Written by tools/generate_coverage.py; do not edit. -->",
        "# Coverage",
        "",
        "*yes*: works and is tested. *partial*: see the note. *wire only*: the messages can be encoded and decoded, no "
        "client uses them. *no*: left out.",
        "",
        "## Features",
        "",
        "| feature | supported | note |",
        "|---|---|---|",
        *(f"| {feature} | {state} | {note} |" for feature, state, note in CLIENT),
        "",
        "## The embedded broker leaves out",
        "",
        "| feature | what happens instead |",
        "|---|---|",
        *(f"| {feature} | {instead} |" for feature, instead in SKIPPED.items()),
        "",
        "## APIs",
        "",
        "Every request and response of Kafka 4.3.1 between clients and brokers can be encoded and decoded in the "
        "versions named first; the last column says what the embedded broker serves.",
        "",
        "| key | API | versions | embedded broker |",
        "|---|---|---|---|",
    ]
    served = {row.api_key: row for row in api_coverage()}
    for key in sorted(REQUESTS):
        low, high = REQUESTS[key].VALID_VERSIONS
        row = served.get(key)
        versions = f"{row.versions[0]} to {row.versions[1]}" if row is not None and row.versions is not None else "no"
        lines.append(f"| {key} | {ApiKey(key).name} | {low} to {high} | {versions} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page()))
