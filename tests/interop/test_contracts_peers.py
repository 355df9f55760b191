"""Data contracts beside confluent-kafka: what one encrypts the other reads, and rules judge alike."""

from __future__ import annotations

import json
import uuid
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from registry import Rule, RuleKind, RuleMode, RuleSet, Schema, SchemaRegistryClient
from registry.dev import serve
from serdes import MessageField, SerializationContext, SerializationError
from serdes.avro import AvroDeserializer, AvroSerializer
from serdes.json_schema import JSONDeserializer, JSONSerializer

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # authlib warns of httpx when it is imported
    peer = pytest.importorskip("confluent_kafka.schema_registry", exc_type=ImportError)
    peer_avro = pytest.importorskip("confluent_kafka.schema_registry.avro", exc_type=ImportError)
    peer_json = pytest.importorskip("confluent_kafka.schema_registry.json_schema", exc_type=ImportError)
    peer_serialization = pytest.importorskip("confluent_kafka.serialization")
    peer_rules = pytest.importorskip("confluent_kafka.schema_registry.rule_registry")
    peer_encryption = pytest.importorskip(
        "confluent_kafka.schema_registry.rules.encryption.encrypt_executor", exc_type=ImportError
    )
    peer_local = pytest.importorskip(
        "confluent_kafka.schema_registry.rules.encryption.localkms.local_driver", exc_type=ImportError
    )
    peer_cel = pytest.importorskip("confluent_kafka.schema_registry.rules.cel.cel_executor", exc_type=ImportError)
    peer_cel_field = pytest.importorskip(
        "confluent_kafka.schema_registry.rules.cel.cel_field_executor", exc_type=ImportError
    )
    peer_jsonata = pytest.importorskip(
        "confluent_kafka.schema_registry.rules.jsonata.jsonata_executor", exc_type=ImportError
    )

pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore")]

T = RuleKind.TRANSFORM
BOTH = RuleMode.WRITEREAD
KEYS = {"encrypt.kek.name": "kek", "encrypt.kms.type": "local-kms", "encrypt.kms.key.id": "key"}
SECRET = {"secret": "shared"}
LATEST = {"auto.register.schemas": False, "use.latest.version": True}
AVRO = json.dumps(
    {
        "type": "record",
        "name": "Person",
        "namespace": "t",
        "fields": [
            {"name": "name", "type": "string", "confluent:tags": ["PII"]},
            {"name": "nicks", "type": {"type": "array", "items": "string"}, "confluent:tags": ["PII"]},
            {"name": "raw", "type": ["null", "bytes"], "default": None, "confluent:tags": ["PII"]},
            {"name": "age", "type": "int"},
        ],
    }
)
JSON = json.dumps(
    {
        "type": "object",
        "title": "Person",
        "properties": {
            "name": {"type": "string", "confluent:tags": ["PII"]},
            "nicks": {"type": "array", "items": {"type": "string"}, "confluent:tags": ["PII"]},
            "age": {"type": "integer"},
        },
    }
)
PERSON = {"name": "Ada", "nicks": ["A", "AL"], "raw": b"\x00\xff", "age": 36}
ADA = {"name": "Ada", "nicks": ["A", "AL"], "age": 36}
CTX = SerializationContext("people", MessageField.VALUE)
PEER_CTX = peer_serialization.SerializationContext("people", peer_serialization.MessageField.VALUE)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serve() as server:
        yield server.url


@pytest.fixture
def client(url: str) -> Iterator[SchemaRegistryClient]:
    """Every test has a topic of its own on the one server."""
    CTX.topic = PEER_CTX.topic = f"people-{uuid.uuid4()}"
    with SchemaRegistryClient({"url": url}) as made:
        yield made


@pytest.fixture(autouse=True)
def _peer_executors() -> Iterator[None]:
    peer_local.LocalKmsDriver.register()
    yield
    peer_rules.RuleRegistry.get_global_instance().clear()


def peer_registry() -> Any:
    """Executors of the peer, which each serializer needs for itself."""
    found = peer_rules.RuleRegistry()
    for executor in (
        peer_encryption.EncryptionExecutor(),
        peer_encryption.FieldEncryptionExecutor(),
        peer_cel.CelExecutor(),
        peer_cel_field.CelFieldExecutor(),
        peer_jsonata.JsonataExecutor(),
    ):
        found.register_executor(executor)
    return found


def pairs(kind: str, client: Any, url: str) -> tuple[Any, Any, Any, Any]:
    """Our writer and reader, and the peer's; all take and give dicts."""
    ours: tuple[Any, Any]
    other = peer.SchemaRegistryClient({"url": url})
    if kind == "AVRO":
        ours = AvroSerializer(client, conf=LATEST, rule_conf=SECRET), AvroDeserializer(client, rule_conf=SECRET)
        write = peer_avro.AvroSerializer(other, None, conf=LATEST, rule_conf=SECRET, rule_registry=peer_registry())
        read = peer_avro.AvroDeserializer(other, rule_conf=SECRET, rule_registry=peer_registry())
    else:
        ours = (
            JSONSerializer(None, client, conf=LATEST, rule_conf=SECRET),
            JSONDeserializer(None, schema_registry_client=client, rule_conf=SECRET),
        )
        write = peer_json.JSONSerializer(None, other, conf=LATEST, rule_conf=SECRET, rule_registry=peer_registry())
        read = peer_json.JSONDeserializer(
            None, schema_registry_client=other, rule_conf=SECRET, rule_registry=peer_registry()
        )
    return *ours, lambda value: write(value, PEER_CTX), lambda frame: read(frame, PEER_CTX)


def register(client: SchemaRegistryClient, kind: str, **rules: list[Rule]) -> None:
    text = AVRO if kind == "AVRO" else JSON
    client.register_schema(f"{CTX.topic}-value", Schema(text, kind, rule_set=RuleSet(**rules)))


def agree(client: SchemaRegistryClient, url: str, kind: str, secret: bytes | None = b"Ada") -> None:
    """Both read what both write."""
    value = PERSON if kind == "AVRO" else ADA
    our_write, our_read, peer_write, peer_read = pairs(kind, client, url)
    ours, theirs = our_write(value, CTX), peer_write(json_copy(value))
    for frame in (ours, theirs):
        assert secret is None or secret not in frame
        assert our_read(frame, CTX) == value
        assert peer_read(frame) == value


def json_copy(value: dict[str, Any]) -> dict[str, Any]:
    """The peer changes what it is given."""
    return {key: list(item) if isinstance(item, list) else item for key, item in value.items()}


@pytest.mark.parametrize("kind", ["AVRO", "JSON"])
@pytest.mark.parametrize("algorithm", ["AES128_GCM", "AES256_GCM", "AES256_SIV"])
@pytest.mark.parametrize("days", ["0", "1"])
def test_fields_one_encrypts_the_other_reads(
    client: SchemaRegistryClient, url: str, kind: str, algorithm: str, days: str
) -> None:
    params = {**KEYS, "encrypt.dek.algorithm": algorithm, "encrypt.dek.expiry.days": days}
    enc = Rule("enc", kind=T, mode=BOTH, type="ENCRYPT", tags=["PII"], params=params)
    register(client, kind, domain_rules=[enc])
    agree(client, url, kind)


@pytest.mark.parametrize("kind", ["AVRO", "JSON"])
def test_payloads_one_encrypts_the_other_reads(client: SchemaRegistryClient, url: str, kind: str) -> None:
    register(client, kind, encoding_rules=[Rule("all", kind=T, mode=BOTH, type="ENCRYPT_PAYLOAD", params=KEYS)])
    agree(client, url, kind)


def test_equal_values_are_equal_bytes_for_both(client: SchemaRegistryClient, url: str) -> None:
    params = {**KEYS, "encrypt.dek.algorithm": "AES256_SIV"}
    enc = Rule("enc", kind=T, mode=BOTH, type="ENCRYPT", tags=["PII"], params=params)
    register(client, "AVRO", domain_rules=[enc])
    our_write, _, peer_write, _ = pairs("AVRO", client, url)
    assert our_write(PERSON, CTX) == peer_write(json_copy(PERSON))


EXPRESSIONS = [
    "message.age > 17",
    "message.age > 40",
    "size(message.name) == 3 && message.name.startsWith('A')",
    "message.age > 40 ; message.name == 'nobody'",
    "has(message.name)",
    "message.name.matches('^A.*')",
    "isEmail(message.name)",
    "message.nicks.all(nick, nick.startsWith('A'))",
    "message.missing == 1",
    "message.name > 3",
]


@pytest.mark.parametrize("kind", ["AVRO", "JSON"])
@pytest.mark.parametrize("expr", EXPRESSIONS)
def test_conditions_are_judged_alike(client: SchemaRegistryClient, url: str, kind: str, expr: str) -> None:
    register(
        client, kind, domain_rules=[Rule("c", kind=RuleKind.CONDITION, mode=RuleMode.WRITE, type="CEL", expr=expr)]
    )
    our_write, _, peer_write, _ = pairs(kind, client, url)
    value = PERSON if kind == "AVRO" else ADA
    verdicts = []
    for write in (lambda: our_write(value, CTX), lambda: peer_write(json_copy(value))):
        try:
            verdicts.append(write())
        except (SerializationError, peer_serialization.SerializationError):
            verdicts.append(None)
    assert verdicts[0] == verdicts[1]


TRANSFORMS = [
    ("CEL_FIELD", "typeName == 'STRING' ; value + '!'"),
    ("CEL_FIELD", "name == 'age' ; value + 1"),
    ("CEL_FIELD", "fullName.endsWith('name') ; message.age > 30 ? 'old' : 'young'"),
    ("CEL_FIELD", "'PII' in tags && typeName == 'STRING' ; 'x'"),
]


@pytest.mark.parametrize("kind", ["AVRO", "JSON"])
@pytest.mark.parametrize(("type_name", "expr"), TRANSFORMS)
def test_transforms_give_the_same(client: SchemaRegistryClient, url: str, kind: str, type_name: str, expr: str) -> None:
    register(client, kind, domain_rules=[Rule("t", kind=T, mode=RuleMode.WRITE, type=type_name, expr=expr)])
    our_write, our_read, peer_write, _ = pairs(kind, client, url)
    value = PERSON if kind == "AVRO" else ADA
    ours, theirs = our_write(value, CTX), peer_write(json_copy(value))
    assert our_read(ours, CTX) == our_read(theirs, CTX) != value
