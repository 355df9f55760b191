"""serdes.encryption.executor: the rules ENCRYPT and ENCRYPT_PAYLOAD."""

from __future__ import annotations

import base64
import uuid
from dataclasses import replace
from typing import Any

import pytest

from registry import RuleKind, RuleMode, RuleSet, SchemaRegistryClient
from registry.schemas.avro.model import parse
from serdes import MessageField, SerializationContext
from serdes.avro import AvroDeserializer, AvroSerializer
from serdes.encryption import EncryptionExecutor, FieldEncryptionExecutor
from serdes.encryption.executor import Clock
from serdes.rules import FieldType, RuleContext, RuleError, RuleRegistry
from serdes.rules.walks.avro import field_transformer, inline_tags
from tests.unit.serdes.encryption.test_keys import KEK
from tests.unit.serdes.rules.samples import context, rule, schema

PERSON = {"name": "Ada Lovelace", "nick": "A", "age": 36}
AVRO = parse(schema().schema_str)


def on_fields(mode: RuleMode, **params: str) -> RuleContext:
    chosen = rule(type="ENCRYPT", kind=RuleKind.TRANSFORM, tags=["PII"], params={**KEK, **params})
    return context(chosen, mode, inline_tags=inline_tags(AVRO), field_transformer=field_transformer(AVRO))


def on_payload(mode: RuleMode, **params: str) -> RuleContext:
    return context(rule(type="ENCRYPT_PAYLOAD", kind=RuleKind.TRANSFORM, params={**KEK, **params}), mode)


@pytest.fixture
def conf() -> dict[str, Any]:
    return {"url": f"mock://executor-{uuid.uuid4()}"}


def ready(executor: Any, conf: dict[str, Any]) -> Any:
    executor.configure(conf, {"secret": "s"})
    return executor


@pytest.mark.parametrize("params", [{}, {"encrypt.dek.expiry.days": "1"}, {"encrypt.dek.algorithm": "AES256_SIV"}])
def test_tagged_fields_are_encrypted_and_the_others_are_not(conf: dict[str, Any], params: dict[str, str]) -> None:
    written = ready(FieldEncryptionExecutor(), conf).transform(on_fields(RuleMode.WRITE, **params), PERSON)
    assert written["age"] == 36
    assert "Ada Lovelace" not in written["name"]
    raw = base64.b64decode(written["name"], validate=True)
    assert (raw[:5] == b"\x00\x00\x00\x00\x01") is ("encrypt.dek.expiry.days" in params)
    reader = ready(FieldEncryptionExecutor(), conf)
    assert reader.transform(on_fields(RuleMode.READ, **params), written) == PERSON
    reader.close()


def test_payloads_are_encrypted(conf: dict[str, Any]) -> None:
    executor = ready(EncryptionExecutor(), conf)
    encrypted = executor.transform(on_payload(RuleMode.WRITE), b"payload")
    assert b"payload" not in encrypted
    assert executor.transform(on_payload(RuleMode.READ), encrypted) == b"payload"


def test_a_closed_executor_refuses_until_it_is_configured_again(
    conf: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from registry.client.dek import DekRegistryClient

    made: list[Any] = []
    new_client = DekRegistryClient.new_client
    monkeypatch.setattr(DekRegistryClient, "new_client", lambda conf: made.append(conf) or new_client(conf))
    executor = ready(EncryptionExecutor(), conf)
    encrypted = executor.transform(on_payload(RuleMode.WRITE), b"payload")
    executor.close()
    executor.close()
    with pytest.raises(RuleError, match="the encryption executor is closed"):
        executor.transform(on_payload(RuleMode.READ), encrypted)
    assert len(made) == 1
    assert ready(executor, conf).transform(on_payload(RuleMode.READ), encrypted) == b"payload"
    executor.close()
    executor.configure({"url": "mock://another"}, {"secret": "other"})


def test_null_stays_null(conf: dict[str, Any]) -> None:
    value = {**PERSON, "nick": None}
    written = ready(FieldEncryptionExecutor(), conf).transform(on_fields(RuleMode.WRITE), value)
    assert written["nick"] is None


@pytest.mark.parametrize("kind", [FieldType.INT, FieldType.BOOLEAN, FieldType.ENUM])
def test_only_text_and_bytes_can_be_encrypted(conf: dict[str, Any], kind: FieldType) -> None:
    executor = ready(EncryptionExecutor(), conf)
    ctx = on_payload(RuleMode.WRITE)
    from serdes.encryption.keys import KeySettings

    with pytest.raises(RuleError, match=f"only strings and bytes can be encrypted, this is {kind.name}"):
        executor.apply(ctx, KeySettings.of(ctx), kind, 1)
    ctx = on_payload(RuleMode.READ)
    assert executor.apply(ctx, KeySettings.of(ctx), kind, 1) == 1  # nobody can have encrypted it


@pytest.mark.parametrize(("kind", "value"), [(FieldType.STRING, b"x"), (FieldType.STRING, 5), (FieldType.BYTES, 5)])
def test_a_value_that_is_not_of_its_type_is_refused(conf: dict[str, Any], kind: FieldType, value: Any) -> None:
    executor = ready(EncryptionExecutor(), conf)
    ctx = on_payload(RuleMode.WRITE)
    from serdes.encryption.keys import KeySettings

    with pytest.raises(RuleError, match=f"a {kind.name} is needed to be encrypted, this is a {type(value).__name__}"):
        executor.apply(ctx, KeySettings.of(ctx), kind, value)


def test_unencrypted_fields_are_refused(conf: dict[str, Any]) -> None:
    executor = ready(FieldEncryptionExecutor(), conf)
    executor.transform(on_fields(RuleMode.WRITE), PERSON)
    with pytest.raises(RuleError, match="the field is not encrypted: it is not base64"):
        executor.transform(on_fields(RuleMode.READ), {**PERSON, "name": "žluť"})
    with pytest.raises(RuleError, match="has 3 bytes, a nonce and a tag alone have 28"):
        executor.transform(on_fields(RuleMode.READ), {**PERSON, "name": "QURB"})
    days = {"encrypt.dek.expiry.days": "1"}
    with pytest.raises(RuleError, match="does not name the version"):
        executor.transform(on_fields(RuleMode.READ, **days), {**PERSON, "name": "QURB"})


def test_encryption_has_no_meaning_between_versions(conf: dict[str, Any]) -> None:
    with pytest.raises(RuleError, match="has no meaning in mode UPGRADE"):
        ready(EncryptionExecutor(), conf).transform(on_payload(RuleMode.UPGRADE), b"x")


def test_one_executor_has_one_registry() -> None:
    executor = EncryptionExecutor()
    with pytest.raises(RuleError, match="none is configured"):
        executor.transform(on_payload(RuleMode.WRITE), b"x")
    executor.configure({"url": "mock://a"}, {"secret": "s"})
    executor.configure({}, {})
    executor.configure({"url": "mock://a"}, {"secret": "s", "more": 1})
    with pytest.raises(RuleError, match="in use with another registry"):
        executor.configure({"url": "mock://b"}, {})
    with pytest.raises(RuleError, match="'secret' is set to another value"):
        executor.configure({"url": "mock://a"}, {"secret": "t"})


def test_encryption_executors_can_be_registered() -> None:
    EncryptionExecutor.register()
    FieldEncryptionExecutor.register()
    found = RuleRegistry.get_global_instance()
    assert {executor.type() for executor in found.get_executors()} >= {"ENCRYPT", "ENCRYPT_PAYLOAD"}
    found.clear()


def test_their_clients_are_confluents(conf: dict[str, Any]) -> None:
    fields = ready(FieldEncryptionExecutor(), conf)
    fields.transform(on_fields(RuleMode.WRITE), PERSON)
    client = fields.executor.client
    assert client.get_dek(KEK["encrypt.kek.name"], context(rule(), RuleMode.WRITE).subject).version == 1
    assert fields.executor.client is client
    fields.close()
    with pytest.raises(RuleError, match="closed"):
        _ = fields.executor.client


class Fixed(Clock):
    fixed_now = 5

    def now(self) -> int:
        return self.fixed_now


def test_the_clock_is_the_one_given() -> None:
    assert EncryptionExecutor(lambda: 7).clock.now() == 7
    clock = Fixed()
    assert EncryptionExecutor(clock).clock is clock


def test_readers_of_a_registry_of_its_own_find_its_keys() -> None:
    keyed = rule(type="ENCRYPT", kind=RuleKind.TRANSFORM, mode=RuleMode.WRITEREAD, tags=["PII"], params=KEK)
    with SchemaRegistryClient({"url": "mock://"}) as client:
        client.register_schema("t-value", replace(schema(), rule_set=RuleSet(domain_rules=[keyed])))
        settings = {"auto.register.schemas": False, "use.latest.version": True}
        here = SerializationContext("t", MessageField.VALUE)
        frame = AvroSerializer(client, None, conf=settings, rule_conf={"secret": "s"})(PERSON, here)
        assert frame is not None
        assert b"Ada Lovelace" not in frame
        assert AvroDeserializer(client, rule_conf={"secret": "s"})(frame, here) == PERSON
