"""The catalogue: seventy-five defects over all packages, each with the tests that must notice it.

Must not know how they are put in (run.py). A row is an exact piece of a file that stands there once, and what it
becomes: who changes such a line changes its row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["MUTATIONS", "Mutation"]


@dataclass(frozen=True, slots=True)
class Mutation:
    """One defect.

    Attributes:
        what: what the program does wrong with it.
        path: the file, from the root of the repository.
        old: a piece of the file.
        new: what stands in its place.
        tests: files and folders of the tests that must notice.
    """

    what: str
    path: str
    old: str
    new: str
    tests: tuple[str, ...]


MUTATIONS: Final = (
    Mutation(
        "a number at its upper bound plus one is taken",
        "kserdes_base/config/reading.py",
        "if not low <= value <= high or",
        "if not low <= value or",
        ("tests/unit/kserdes_base",),
    ),
    Mutation(
        "a secret value is shown in a refusal",
        "kserdes_base/config/reading.py",
        "if secret or not isinstance(raw, str | int | float):",
        "if not isinstance(raw, str | int | float | dict | list | bytes):",
        ("tests/unit/kserdes_base",),
    ),
    Mutation(
        "the nearest name is not looked for in other case",
        "kserdes_base/config/table.py",
        'return name.lower().replace("_", ".")',
        'return name.replace("_", ".")',
        ("tests/unit/kserdes_base",),
    ),
    Mutation(
        "idempotence takes six requests in flight",
        "kafka_core/config_rules.py",
        "MAX_IDEMPOTENT_IN_FLIGHT: Final = 5",
        "MAX_IDEMPOTENT_IN_FLIGHT: Final = 6",
        ("tests/unit/kafka_core/test_config_rules.py",),
    ),
    Mutation(
        "a heartbeat interval as long as the session is taken",
        "kafka_core/config_rules.py",
        "if heartbeat >= session:",
        "if heartbeat > session:",
        ("tests/unit/kafka_core/test_config_rules.py",),
    ),
    Mutation(
        "a corrupt record is fetched again for ever",
        "kafka_core/engine/retry.py",
        "    if isinstance(error, CorruptRecordError):\n        return Action.FAIL",
        "    if isinstance(error, CorruptRecordError):\n        return Action.RETRY",
        ("tests/unit/kafka_core/engine/test_retry.py",),
    ),
    Mutation(
        "the back-off does not grow",
        "kafka_core/engine/retry.py",
        "doubled = math.ldexp(self._base_s, min(max(attempt, 0), 32))",
        "doubled = math.ldexp(self._base_s, 0)",
        ("tests/unit/kafka_core/engine/test_retry.py",),
    ),
    Mutation(
        "the jitter may exceed the longest wait",
        "kafka_core/engine/retry.py",
        "return min(min(doubled, self._max_s) * spread, self._max_s)",
        "return min(doubled, self._max_s) * spread",
        ("tests/unit/kafka_core/engine/test_retry.py",),
    ),
    Mutation(
        "an aborted transaction that begins at the last offset of a batch is missed",
        "kafka_core/engine/consuming/aborted.py",
        "self._coming[-1][0] < batch.end_offset",
        "self._coming[-1][0] < batch.end_offset - 1",
        ("tests/unit/kafka_core/engine/consuming/test_fetch_session.py",),
    ),
    Mutation(
        "control batches are handed out",
        "kafka_core/engine/consuming/aborted.py",
        "            return False\n        return not",
        "            return True\n        return not",
        ("tests/unit/kafka_core/engine/consuming/test_fetch_session.py",),
    ),
    Mutation(
        "committed offsets are committed again",
        "kafka_core/engine/consuming/offsets.py",
        "if state.stored >= 0 and state.stored != state.committed",
        "if state.stored >= 0",
        ("tests/unit/kafka_core/engine/consuming/test_offsets.py",),
    ),
    Mutation(
        "a negative offset may be stored",
        "kafka_core/engine/consuming/offsets.py",
        "if item.offset < 0 and item.offset not in LOGICAL_OFFSETS:",
        "if item.offset < -9 and item.offset not in LOGICAL_OFFSETS:",
        ("tests/unit/kafka_core/engine/consuming/test_offsets.py",),
    ),
    Mutation(
        "the range assignor gives the rest to the last members",
        "kafka_core/engine/groups/assignors.py",
        "for member_id in self.takers:",
        "for member_id in reversed(self.takers):",
        ("tests/unit/kafka_core/engine/groups/test_assignors.py",),
    ),
    Mutation(
        "an older claim wins over a newer generation",
        "kafka_core/engine/groups/assignors.py",
        "held is None or member.generation > held[0]",
        "held is None or member.generation < held[0]",
        ("tests/unit/kafka_core/engine/groups/test_assignors.py",),
    ),
    Mutation(
        "another cluster behind the same address is not noticed",
        "kafka_core/engine/metadata.py",
        "response.cluster_id != view.cluster_id:\n        view = ClusterView()",
        "False:\n        view = ClusterView()",
        ("tests/unit/kafka_core/engine/test_metadata.py",),
    ),
    Mutation(
        "an empty response overtakes a newer one",
        "kafka_core/engine/metadata.py",
        "    if number < view.asked:",
        "    if number < view.asked - 1:",
        ("tests/unit/kafka_core/engine/test_metadata.py",),
    ),
    Mutation(
        "a control key of three bytes is read",
        "kafka_core/records/control.py",
        "len(key) < _KEY.size",
        "len(key) < _KEY.size - 1",
        ("tests/unit/kafka_core/records/test_batch.py",),
    ),
    Mutation(
        "the CRC of old messages is not checked",
        "kafka_core/records/legacy.py",
        "if check_crc and zlib.crc32",
        "if False and zlib.crc32",
        ("tests/unit/kafka_core/records/test_legacy.py",),
    ),
    Mutation(
        "offsets of an old compressed set are one too high",
        "kafka_core/records/legacy.py",
        "first = outer.offset - found[-1].offset",
        "first = outer.offset - found[-1].offset + 1",
        ("tests/unit/kafka_core/records/test_legacy.py",),
    ),
    Mutation(
        "decompression has no bound",
        "kafka_core/records/compression.py",
        "            if room >= max_bytes:\n                raise _too_large(max_bytes) from None\n"
        "            room = min(room * _FIRST_GUESS, max_bytes)",
        "            room = max(room, 1) * _FIRST_GUESS",
        ("tests/unit/kafka_core/records/test_compression.py",),
    ),
    Mutation(
        "correlation ids overflow",
        "kafka_core/wire/correlation.py",
        "correlation_id + 1 if correlation_id < _MAX_CORRELATION_ID else 0",
        "correlation_id + 1",
        ("tests/unit/kafka_core/wire/test_correlation.py",),
    ),
    Mutation(
        "a shorter throttle ends a longer one",
        "kafka_core/wire/correlation.py",
        "max(self.throttled_until_s, now_s + silent_s)",
        "now_s + silent_s",
        ("tests/unit/kafka_core/wire/test_correlation.py",),
    ),
    Mutation(
        "a request at its deadline is not expired",
        "kafka_core/wire/correlation.py",
        "if request.deadline_s <= now_s), None)",
        "if request.deadline_s < now_s - 1), None)",
        ("tests/unit/kafka_core/wire/test_correlation.py",),
    ),
    Mutation(
        "SCRAM takes a nonce without the server's part",
        "kafka_core/wire/sasl/scram.py",
        " or len(nonce) <= len(self._nonce):",
        ":",
        ("tests/unit/kafka_core/wire/test_sasl_scram.py",),
    ),
    Mutation(
        "SCRAM believes any server",
        "kafka_core/wire/sasl/scram.py",
        "if self._server_signature is None or not hmac.compare_digest(signature, self._server_signature):",
        "if self._server_signature is None:",
        ("tests/unit/kafka_core/wire/test_sasl_scram.py",),
    ),
    Mutation(
        "a version that the broker does not have is chosen",
        "kafka_core/protocol/versions.py",
        "version = min(last, theirs[1])",
        "version = last",
        ("tests/unit/kafka_core/protocol/test_versions.py",),
    ),
    Mutation(
        "varints of eleven bytes are read",
        "kafka_core/kernels/pure/varint.py",
        "return None if value >> bits else (value, at + 1)",
        "return (value, at + 1)",
        ("tests/unit/kafka_core/kernels/test_varint.py",),
    ),
    Mutation(
        "the CRC of batches is not checked (pure kernels)",
        "kafka_core/kernels/pure/record_batch.py",
        "if check_crc and crc32c(batch[CRC_FROM:]) != crc:",
        "if False and crc32c(batch[CRC_FROM:]) != crc:",
        ("tests/unit/kafka_core/kernels/test_record_batch.py",),
    ),
    Mutation(
        "murmur2 forgets its last mixing (pure kernels)",
        "kafka_core/kernels/pure/hashes.py",
        "    return h ^ h >> 15",
        "    return h",
        ("tests/unit/kafka_core/kernels/test_partitioners.py",),
    ),
    Mutation(
        "partitions with equal names are equal whatever their number",
        "kafka_core/model.py",
        "return self.topic == other.topic and self.partition == other.partition",
        "return self.topic == other.topic",
        ("tests/unit/kafka_core/test_model.py",),
    ),
    Mutation(
        "the broker joins a group while a member is still out",
        "kafka_core/broker/groups/classic_groups.py",
        "return not self.promised_ids and all(",
        "return not self.promised_ids or all(",
        (
            "tests/unit/kafka_core/broker/groups/test_classic_groups.py",
            "tests/unit/kafka_core/broker/groups/test_classic_coordinator.py",
        ),
    ),
    Mutation(
        "min.insync.replicas may be 0",
        "kafka_core/broker/configs.py",
        'ConfigKey("min.insync.replicas", _I, "1", "min.insync.replicas", minimum=1)',
        'ConfigKey("min.insync.replicas", _I, "1", "min.insync.replicas", minimum=0)',
        ("tests/unit/kafka_core/broker/test_configs.py", "tests/unit/kafka_core/broker/test_config_handlers.py"),
    ),
    Mutation(
        "a transitive level looks at the newest version only",
        "registry/compat/verdict.py",
        "first = 0 if wanted.transitive else len(registered) - 1",
        "first = len(registered) - 1",
        ("tests/unit/registry/compat/test_verdict.py",),
    ),
    Mutation(
        "the policy LENIENT is unknown",
        "registry/compat/verdict.py",
        'if policy not in ("STRICT", "LENIENT"):',
        'if policy not in ("STRICT",):',
        ("tests/unit/registry/compat/test_verdict.py",),
    ),
    Mutation(
        "a maximum that was lowered is compatible",
        "registry/compat/json/rules.py",
        "elif (size(new) < size(old)) if upper else (size(new) > size(old)):",
        "elif (size(new) > size(old)) if upper else (size(new) > size(old)):",
        ("tests/unit/registry/compat/json/test_rules.py",),
    ),
    Mutation(
        "fewer branches of a combined schema are compatible",
        "registry/compat/json/combined.py",
        "if len(branches) < len(others):",
        "if len(branches) < len(others) - 1:",
        ("tests/unit/registry/compat/json/test_combined.py",),
    ),
    Mutation(
        "a Protobuf message's removed field passes unnoticed",
        "registry/compat/protobuf/messages.py",
        "            if name not in new:",
        "            if name in new:",
        ("tests/unit/registry/compat/protobuf/test_messages.py",),
    ),
    Mutation(
        "an int default of 2^31 fits an Avro int",
        "registry/schemas/avro/defaults.py",
        "values = range(-(2 ** (bits - 1)), 2 ** (bits - 1))",
        "values = range(-(2 ** (bits - 1)), 2 ** (bits - 1) + 1)",
        ("tests/unit/registry/schemas/avro/test_defaults.py",),
    ),
    Mutation(
        "a name may be defined twice in an Avro schema",
        "registry/schemas/avro/model.py",
        "if name in self._named or name in PRIMITIVES:",
        "if name in PRIMITIVES:",
        ("tests/unit/registry/schemas/avro/test_model.py",),
    ),
    Mutation(
        "an expired entry of the cache is still believed",
        "registry/client/cache.py",
        "self._clock() >= found.ends_at_s",
        "self._clock() >= found.ends_at_s + 1",
        ("tests/unit/registry/client/test_cache.py",),
    ),
    Mutation(
        "retries of the registry client have no deadline",
        "registry/client/delivery.py",
        "if self._clock() + pause_s >= deadline:",
        "if False:",
        ("tests/unit/registry/client/test_delivery.py",),
    ),
    Mutation(
        "a token with letters that no header takes is sent",
        "registry/client/auth.py",
        "        if not fits_header(token):\n",
        "        if not token:\n",
        ("tests/unit/registry/client/test_auth.py",),
    ),
    Mutation(
        "user info in the URL is kept where it is shown",
        "registry/client/config.py",
        'parts.netloc.rpartition("@")[2], parts.path, "", ""))',
        'parts.netloc, parts.path, "", ""))',
        (
            "tests/unit/registry/client/test_config.py",
            "tests/unit/registry/client/test_delivery.py",
        ),
    ),
    Mutation(
        "a permanent deletion needs no soft one",
        "registry/dev/operations/deletion.py",
        "    if permanent and not version.deleted:\n        raise",
        "    if False:\n        raise",
        ("tests/unit/registry/dev/operations/test_deletion.py",),
    ),
    Mutation(
        "rules of both defaults and overrides stand twice",
        "registry/dev/state/settings.py",
        "return [*(rule for rule in below or () if rule.name not in names), *(above or ())] or None",
        "return [*(below or ()), *(above or ())] or None",
        ("tests/unit/registry/dev/state/test_state.py",),
    ),
    Mutation(
        "a comparison is large whatever the schemas' size",
        "registry/dev/operations/comparison.py",
        "> LARGE",
        "< LARGE",
        ("tests/unit/registry/dev/operations/test_content.py",),
    ),
    Mutation(
        "the magic byte is not looked at",
        "serdes/frames/framing.py",
        "if len(frame) < PREFIX_BYTES or frame[0] != MAGIC:",
        "if len(frame) < PREFIX_BYTES:",
        ("tests/unit/serdes/frames",),
    ),
    Mutation(
        "a schema id of 2^32 is written",
        "serdes/frames/framing.py",
        "if not 0 <= schema_id < 2**32:",
        "if not 0 <= schema_id:",
        ("tests/unit/serdes/frames",),
    ),
    Mutation(
        "an association that is ambiguous is used",
        "serdes/subject.py",
        "if len(found) > 1:",
        "if len(found) > 2:",
        ("tests/unit/serdes/test_subject.py",),
    ),
    Mutation(
        "NaN becomes JSON",
        "serdes/formats/json/codec.py",
        "if not math.isfinite(value):",
        "if math.isinf(value):",
        ("tests/unit/serdes/formats/json/test_codec.py",),
    ),
    Mutation(
        "Protobuf dicts may nest without a bound",
        "serdes/formats/protobuf/dicts.py",
        "types: _Types) -> None:\n    if depth > MAX_DEPTH:",
        "types: _Types) -> None:\n    if depth > MAX_DEPTH * 1000:",
        ("tests/unit/serdes/formats/protobuf", "tests/unit/serdes/test_protobuf.py"),
    ),
    Mutation(
        "rules of the other direction run",
        "serdes/rules/engine.py",
        "return rule.mode is mode or",
        "return rule.mode is not None or",
        ("tests/unit/serdes/rules/test_engine.py",),
    ),
    Mutation(
        "a short ciphertext reaches the primitive",
        "serdes/encryption/cryptor.py",
        "if len(ciphertext) < NONCE_BYTES + 16:",
        "if len(ciphertext) < 1:",
        ("tests/unit/serdes/encryption/test_cryptor.py",),
    ),
    Mutation(
        "an unknown algorithm of a key is taken",
        "serdes/encryption/keys.py",
        "if algorithm not in DekAlgorithm.__members__:",
        "if not algorithm:",
        ("tests/unit/serdes/encryption/test_keys.py",),
    ),
    Mutation(
        "the version of an Azure key may hold a path",
        "serdes/encryption/azure.py",
        "if not VERSION.match(version):  # nobody",
        "if not version:  # nobody",
        ("tests/unit/serdes/encryption/test_azure.py",),
    ),
    Mutation(
        "a plan may end before it starts",
        "pipeline/source/splits.py",
        "    if end < start:",
        "    if end < start - 1:",
        ("tests/unit/pipeline/test_splits.py", "tests/unit/pipeline/test_resolver.py"),
    ),
    Mutation(
        "offsets below -2 are read",
        "pipeline/source/splits.py",
        "or value < lowest:",
        "or value < lowest - 5:",
        ("tests/unit/pipeline/test_splits.py", "tests/unit/pipeline/test_resolver.py"),
    ),
    Mutation(
        "batches grow without a bound",
        "pipeline/source/reading.py",
        "min(fitting, self.rows * GROWTH, self._most_rows)",
        "min(fitting, self._most_rows)",
        ("tests/unit/pipeline/test_reading.py",),
    ),
    Mutation(
        "the oldest version is the reader's schema",
        "pipeline/columns/resolver.py",
        "reader = found[-1].schema",
        "reader = found[0].schema",
        ("tests/unit/pipeline/test_splits.py", "tests/unit/pipeline/test_resolver.py"),
    ),
    Mutation(
        "offsets are committed by Spark's readers",
        "pipeline/client/options.py",
        "        if name in REFUSED:",
        "        if False:",
        ("tests/unit/pipeline/test_options.py",),
    ),
    Mutation(
        "a share session's epoch begins again at 0, which opens another one",
        "kafka_core/engine/sharing/session.py",
        "self._epoch = 1 if self._epoch >= MAX_EPOCH",
        "self._epoch = 0 if self._epoch >= MAX_EPOCH",
        ("tests/unit/kafka_core/engine/sharing/test_session.py",),
    ),
    Mutation(
        "a share session is not told what it need not fetch any more",
        "kafka_core/engine/sharing/session.py",
        "_forgotten(self._told - self._asked)",
        "_forgotten(self._asked - self._told)",
        ("tests/unit/kafka_core/engine/sharing/test_session.py",),
    ),
    Mutation(
        "an answer settles a record that was acquired again elsewhere",
        "kafka_core/engine/sharing/holdings.py",
        "if held is None or held.stage is not Stage.SENT or held.origin != sent.origin:",
        "if held is None or held.stage is not Stage.SENT:",
        ("tests/unit/kafka_core/engine/sharing/test_holdings.py",),
    ),
    Mutation(
        "a lock that was not renewed counts as renewed",
        "kafka_core/engine/sharing/holdings.py",
        "if kind == AcknowledgeType.RENEW and error is None:",
        "if kind == AcknowledgeType.RENEW:",
        ("tests/unit/kafka_core/engine/sharing/test_holdings.py",),
    ),
    Mutation(
        "a transaction is committed though its offsets may be missing",
        "kafka_core/engine/producing/transactions.py",
        "        if self.offsets_open:\n",
        "        if self.offsets_open and self._failed:\n",
        ("tests/unit/kafka_core/engine/producing/test_transactions.py",),
    ),
    Mutation(
        "records go out before their partition is part of the transaction",
        "kafka_core/engine/producing/transactions.py",
        "if self.protocol >= SECOND_PROTOCOL or key in self._members:",
        "if self.protocol >= 1 or key in self._members:",
        ("tests/unit/kafka_core/engine/producing/test_transactions.py",),
    ),
    Mutation(
        "a fenced producer only has to abort",
        "kafka_core/engine/producing/transactions.py",
        "    _E.PRODUCER_FENCED: Verdict.FENCED,",
        "    _E.PRODUCER_FENCED: Verdict.ABORT,",
        ("tests/unit/kafka_core/engine/producing/test_transactions.py",),
    ),
    Mutation(
        "metrics of a push without an answer are lost",
        "kafka_core/engine/telemetry/reporter.py",
        "self._settle(arrived=False)",
        "self._settle(arrived=True)",
        ("tests/unit/kafka_core/engine/telemetry",),
    ),
    Mutation(
        "a compression that the broker refused is used again",
        "kafka_core/engine/telemetry/reporter.py",
        "self._refused.add(self._codec())",
        "self._refused.discard(self._codec())",
        ("tests/unit/kafka_core/engine/telemetry",),
    ),
    Mutation(
        "the time spent in polls counts again in every push",
        "kafka_core/engine/telemetry/meters.py",
        "taken.waited_s += waited_s - self._waited_before_s",
        "taken.waited_s += waited_s",
        ("tests/unit/kafka_core/engine/telemetry",),
    ),
    Mutation(
        "a dialect's number above a property's range goes through as it is",
        "kserdes/compat/arguments.py",
        "return int(min(max(value, low), high))",
        "return int(max(value, low))",
        ("tests/unit/kserdes/compat/test_arguments.py",),
    ),
    Mutation(
        "aiokafka's records all have the producer's time",
        "kserdes/compat/aiokafka/values.py",
        "record.timestamp_type = 1 if kind == 2 else 0",
        "record.timestamp_type = 0",
        ("tests/unit/kserdes/compat/test_aiokafka.py",),
    ),
    Mutation(
        "kafka-python's sticky partitioner goes to another partition after any batch",
        "kserdes/compat/kafka/partitioner.py",
        "if self._sticky.get(topic) != prev_partition or not every:",
        "if not every:",
        ("tests/unit/kserdes/compat/test_kafka.py",),
    ),
    Mutation(
        "the simulator takes a record of an idempotent producer that is there twice",
        "tests/simulation/checkers/produced.py",
        "if count > 1 and producer_of(value) in idempotent:",
        "if count > 2 and producer_of(value) in idempotent:",
        ("tests/simulation/test_checkers.py",),
    ),
    Mutation(
        "the simulator lets two members of a share group have a record",
        "tests/simulation/checkers/shares.py",
        "elif record.holder is not None:",
        "elif record.holder == who:",
        ("tests/simulation/test_checkers.py",),
    ),
)
