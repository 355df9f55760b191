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
        "Producer: transactions (KIP-98, 360, 447, 588, 890)",
        "supported",
        "protocol 1 and 2; no two-phase commit (KIP-939)",
    ),
    ("Consumer: assign, seek, pause, positions, offsets by time, read_committed, fetch sessions (KIP-227)", "yes", ""),
    ("Consumer groups, classic protocol: range, round-robin, cooperative-sticky, static members", "yes", ""),
    (
        "Consumer groups, KIP-848 (`group.protocol=consumer`), and live groups that change between both protocols",
        "yes",
        "docs/guide/groups.md",
    ),
    ("Share groups (KIP-932)", "wire only", "`ShareConsumer` and its names are not there"),
    ("Admin: topics, partitions, configs, groups, group offsets, list offsets, cluster", "yes", ""),
    ("Admin: ACLs, SCRAM users, delete records, elections", "yes", ""),
    (
        "Admin: quotas, delegation tokens, reassignments, log directories",
        "wire only",
        "confluent_kafka has none either",
    ),
    (
        "Security: TLS, mutual TLS, SASL PLAIN, SCRAM-SHA-256/-512, OAUTHBEARER by callback, re-authentication",
        "yes",
        "",
    ),
    ("Security: Kerberos (GSSAPI), OIDC token fetching, PKCS#12 key stores", "no", "refused with a sentence"),
    ("`set_sasl_credentials` at run time", "yes", "for the connections made from then on"),
    (
        "Brokers: Apache Kafka 4.3 and 3.9",
        "yes",
        "the contract suite runs on 4.3.1 and 3.9.2 and finds no difference but the errors of groups that don't exist; "
        "2.1 is played by the embedded broker",
    ),
    ("Compression: none, gzip, snappy, lz4, zstd; reading message sets v0 and v1", "yes", ""),
    (
        "Interceptors, metrics",
        "partial",
        "hooks (`kafka_core.hooks`) and `stats_cb`; no OpenTelemetry or Prometheus yet",
    ),
    (
        "Schema registry client: every operation of confluent_kafka's, blocking and asyncio; OAuth, custom tokens",
        "yes",
        "",
    ),
    ("DEK registry client: keys registered and looked up", "yes", "blocking; not updated, deleted or tested from here"),
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
        "no inline validation rules (`confluent:rules`), no CEL functions for decimals and variants",
    ),
    (
        "Key services: local, Vault, AWS, Azure, Google",
        "yes",
        "tested against stand-ins (moto, a server with Vault's API, doubles), not against the services",
    ),
    (
        "Spark functions: `from_registry`, `to_registry`, `decode_frame`, `encode_frame`, `split`, `schema_id`, …",
        "yes",
        "Avro, Protobuf, JSON Schema; rules run on executors; encoding takes one subject per column",
    ),
    (
        "Spark: source, batch and stream",
        "yes",
        "all options of Spark's own Kafka source; decodes inside; not yet compared with Spark's in tests",
    ),
    ("Spark: sink, batch and stream", "partial", "at least once; `delivery=exactly-once` is refused"),
    ("Spark: variant, 4.0 and 4.1, Connect", "partial", "no variant; the tests run on Spark 4.3, without Connect"),
    (
        "Unchanged confluent_kafka programs (`kafka_core.compat.confluent`)",
        "partial",
        "tests/interop/test_confluent_names.py lists the names that are missing, with reasons",
    ),
    ("Dialects of kafka-python and aiokafka", "no", "docs/guide/migrating-kafka-python.md has the calls side by side"),
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
