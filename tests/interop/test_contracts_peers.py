"""Data contracts beside confluent-kafka: what one encrypts the other reads, and rules judge alike."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from registry import RuleKind, RuleMode
from registry.client.dek import DekRegistryClient
from serdes.encryption import EncryptionExecutor, FieldEncryptionExecutor
from serdes.encryption.keys import MS_PER_DAY
from serdes.rules import RuleRegistry
from tests.interop.contract_peers import (
    BOTH,
    FAILED,
    KEYS,
    KINDS,
    SECRET,
    VALUES,
    Both,
    Setup,
    T,
    copy,
    peer_encryption,
    peer_registry,
    rule,
)

pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore")]


def agree(both: Both, kind: str, setup: Setup | None = None) -> None:
    """Both read what both write, and neither writes in clear."""
    value = VALUES[kind]
    ours, theirs = both.ours(kind, setup), both.theirs(kind, setup)
    for frame in (ours.write(value), theirs.write(copy(value))):
        assert b"Ada Lovelace" not in frame
        assert ours.read(frame) == value
        assert theirs.read(frame) == value


@KINDS
@pytest.mark.parametrize("algorithm", ["AES128_GCM", "AES256_GCM", "AES256_SIV"])
@pytest.mark.parametrize("days", ["0", "1"])
def test_fields_one_encrypts_the_other_reads(both: Both, kind: str, algorithm: str, days: str) -> None:
    params = {**KEYS, "encrypt.dek.algorithm": algorithm, "encrypt.dek.expiry.days": days}
    both.register(kind, domain_rules=[rule("enc", "ENCRYPT", tags=["PII"], params=params)])
    agree(both, kind)


@KINDS
@pytest.mark.parametrize("days", ["0", "1"])
def test_payloads_one_encrypts_the_other_reads(both: Both, kind: str, days: str) -> None:
    params = {**KEYS, "encrypt.dek.expiry.days": days}
    both.register(kind, encoding_rules=[rule("all", "ENCRYPT_PAYLOAD", params=params)])
    agree(both, kind)


@KINDS
def test_payloads_and_fields_may_both_be_encrypted(both: Both, kind: str) -> None:
    fields = rule("enc", "ENCRYPT", tags=["PII"], params={**KEYS, "encrypt.kek.name": "fields"})
    both.register(kind, domain_rules=[fields], encoding_rules=[rule("all", "ENCRYPT_PAYLOAD", params={**KEYS})])
    agree(both, kind)


@KINDS
def test_equal_values_are_equal_bytes_for_both(both: Both, kind: str) -> None:
    params = {**KEYS, "encrypt.dek.algorithm": "AES256_SIV"}
    both.register(kind, domain_rules=[rule("enc", "ENCRYPT", tags=["PII"], params=params)])
    assert both.ours(kind).write(VALUES[kind]) == both.theirs(kind).write(copy(VALUES[kind]))


class Ahead:
    """The time of both, some days from now."""

    def __init__(self, days: int) -> None:
        self.days = days

    def now(self) -> int:
        import time

        return time.time_ns() // 1_000_000 + self.days * MS_PER_DAY


@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_keys_that_one_rotates_the_other_finds(both: Both, first: str) -> None:
    params = {**KEYS, "encrypt.dek.expiry.days": "1"}
    both.register("AVRO", domain_rules=[rule("enc", "ENCRYPT", tags=["PII"], params=params)])

    def after(days: int) -> Setup:
        ours = RuleRegistry()
        ours.register_executor(FieldEncryptionExecutor(Ahead(days).now))
        return Setup(ours=ours, theirs=peer_registry(peer_encryption.FieldEncryptionExecutor(Ahead(days))))

    def make(side: str, days: int = 0) -> Callable[[], bytes]:
        writer = getattr(both, side)("AVRO", after(days))
        return lambda: bytes(writer.write(copy(VALUES["AVRO"])))

    second = "theirs" if first == "ours" else "ours"
    frames = [make(first)(), make(first, 2)(), make(second, 2)(), make(second, 4)(), make(first, 4)()]
    for side in (both.ours("AVRO"), both.theirs("AVRO")):
        assert [side.read(frame) for frame in frames] == [VALUES["AVRO"]] * len(frames)
    with DekRegistryClient({"url": both.url}) as client:
        assert client.get_dek("kek", f"{both.topic}-value", version=-1).version > len(frames)  # one for each value


def test_both_try_alternate_keys(both: Both) -> None:
    with DekRegistryClient({"url": both.url}) as client:
        client.register_kek(both.topic, "local-kms", "key", kms_props={"encrypt.alternate.kms.key.ids": "other, more"})
    params = {"encrypt.kek.name": both.topic}
    both.register("AVRO", domain_rules=[rule("enc", "ENCRYPT", tags=["PII"], params=params)])
    agree(both, "AVRO")


@pytest.mark.parametrize("change", [{"encrypt.kms.key.id": "another"}, {"encrypt.kms.type": "aws-kms"}])
def test_a_rule_that_contradicts_the_kek_is_refused_by_both(both: Both, change: dict[str, str]) -> None:
    both.register("AVRO", domain_rules=[rule("enc", "ENCRYPT", tags=["PII"], params=KEYS)])
    both.ours("AVRO").write(VALUES["AVRO"])
    both.register("AVRO", domain_rules=[rule("enc", "ENCRYPT", tags=["PII"], params={**KEYS, **change})])
    both.client.clear_caches()
    for side in (both.ours("AVRO"), both.theirs("AVRO")):
        with pytest.raises(FAILED):
            side.write(copy(VALUES["AVRO"]))


EXPRESSIONS = [
    "message.age > 17",
    "message.age > 40",
    "size(message.name) == 3 && message.name.startsWith('A')",
    "message.age > 40 ; message.name == 'nobody'",
    " ; message.age > 40",
    "has(message.name)",
    "message.name.matches('^A.*')",
    "isEmail(message.name)",
    "message.nicks.all(nick, nick.startsWith('A'))",
    "message.nicks.exists(nick, nick == 'AL') && !('B' in message.nicks)",
    "message.missing == 1",
    "message.name > 3",
    "message.age / 0 > 1",
    "message.age / 0 > 1 || true",
    "now > timestamp('2020-01-01T00:00:00Z')",
    "message.name",
    "nonsense(",
]


@KINDS
@pytest.mark.parametrize("expr", EXPRESSIONS)
def test_conditions_are_judged_alike(both: Both, kind: str, expr: str) -> None:
    both.register(kind, domain_rules=[rule("c", "CEL", RuleKind.CONDITION, RuleMode.WRITE, expr=expr)])
    assert both.ours(kind).outcome(VALUES[kind]) == both.theirs(kind).outcome(VALUES[kind])


FIELD_CONDITIONS = [
    "name == 'age' ; value > 17",
    "name == 'age' ; value > 40",
    "typeName == 'STRING' ; size(value) < 3",
    "typeName == 'BYTES' ; size(value) == 2",
    "'PII' in tags ; fullName != ''",
]


@KINDS
@pytest.mark.parametrize("expr", FIELD_CONDITIONS)
@pytest.mark.parametrize("mode", [RuleMode.WRITE, RuleMode.READ])
def test_conditions_on_fields_are_judged_alike(both: Both, kind: str, expr: str, mode: RuleMode) -> None:
    both.register(kind, domain_rules=[rule("c", "CEL_FIELD", RuleKind.CONDITION, mode, expr=expr)])
    assert both.ours(kind).outcome(VALUES[kind]) == both.theirs(kind).outcome(VALUES[kind])


TRANSFORMS = [
    ("CEL_FIELD", "typeName == 'STRING' ; value + '!'"),
    ("CEL_FIELD", "name == 'age' ; value + 1"),
    ("CEL_FIELD", "name == 'name' ; message.age > 30 ? 'old' : 'young'"),
    ("CEL_FIELD", "fullName.endsWith('name') ; message.age > 30 ? 'old' : 'young'"),
    ("CEL_FIELD", "'PII' in tags && typeName == 'STRING' ; 'x'"),
    ("CEL_FIELD", "name == 'name' ; fullName"),
    ("CEL_FIELD", "typeName == 'BYTES' ; value + b'!'"),
]


@KINDS
@pytest.mark.parametrize(("type_name", "expr"), TRANSFORMS)
@pytest.mark.parametrize("mode", [RuleMode.WRITE, RuleMode.READ, BOTH])
def test_transforms_give_the_same(both: Both, kind: str, type_name: str, expr: str, mode: RuleMode) -> None:
    both.register(kind, domain_rules=[rule("t", type_name, T, mode, expr=expr)])
    ours, theirs = both.ours(kind).outcome(VALUES[kind]), both.theirs(kind).outcome(VALUES[kind])
    assert ours == theirs
    assert ours is not None


MESSAGES = [
    "{'name': message.name + '!', 'nicks': message.nicks, 'age': message.age + 1}",
    "message.age > 40 ; {'name': 'x'}",
    "message",
]


@KINDS
@pytest.mark.parametrize("expr", MESSAGES)
def test_messages_made_anew_are_the_same(both: Both, kind: str, expr: str) -> None:
    both.register(kind, domain_rules=[rule("t", "CEL", T, RuleMode.WRITE, expr=expr)])
    ours, theirs = both.ours(kind).outcome(VALUES[kind]), both.theirs(kind).outcome(VALUES[kind])
    assert ours == theirs
    assert ours is not None


def test_an_executor_of_payloads_may_be_registered_by_name(both: Both) -> None:
    """As a user who comes from confluent-kafka does."""
    ours = RuleRegistry()
    ours.register_executor(EncryptionExecutor())
    both.register("AVRO", encoding_rules=[rule("all", "ENCRYPT_PAYLOAD", params=KEYS)])
    agree(both, "AVRO", Setup(rule_conf=SECRET, ours=ours))
