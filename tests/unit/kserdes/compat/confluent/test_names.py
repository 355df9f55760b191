"""Small names of confluent_kafka.schema_registry. Expected values were observed there (2.16)."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from kserdes.compat.confluent.schema_registry import keys, names
from kserdes.compat.confluent.schema_registry.mock_clients import (
    AsyncMockSchemaRegistryClient,
    MockDekRegistryClient,
    MockSchemaRegistryClient,
)
from kserdes.compat.confluent.schema_registry.rest import RestClient, SchemaCache
from kserdes.compat.confluent.serdes.serialization import Deserializer, Serializer
from registry import RegisteredSchema, RuleMode, Schema, SchemaRegistryClient, SchemaRegistryError
from registry.dek_models import Kek
from serdes.avro import AvroSerializer
from serdes.context import MessageField, SerializationContext
from serdes.encryption import EncryptionExecutor, FieldEncryptionExecutor, register_kms_driver, reset_kms_drivers
from serdes.encryption.executor import Clock
from serdes.rules import RuleError, RuleRegistry
from serdes.simple import StringDeserializer, StringSerializer


@pytest.mark.parametrize(
    ("text", "matcher", "matches"),
    [
        ("eve", "eve*", True),
        ("eve", "e?e", True),
        ("a.b", "a*", False),
        ("a.b", "a**", True),
        ("a.b.c", "a.*.c", True),
        ("", "*", True),
        ("a.", "a.*", True),
        ("a.b", "a?b", False),
        ("abc", "*c", True),
        ("a.c", "**c", True),
        (".c", "*c", False),
        ("a.b.c", "**.c", True),
        ("eve", "", False),
        ("", "", True),
        ("a[b", "a[b", True),
        ("a*", r"a\*", True),
        ("ab", r"a\*", False),
    ],
)
def test_names_match_wildcards(text: str, matcher: str, matches: bool) -> None:
    assert names.wildcard_match(text, matcher) is matches


@pytest.mark.parametrize(
    ("given", "normal"), [(None, None), ("a", "a"), ("", ""), (["a", "b"], "a,b"), ([], ""), ("a,b", "a,b")]
)
def test_identity_pools_are_joined(given: Any, normal: str | None) -> None:
    assert names.normalize_identity_pool(given) == normal


@pytest.mark.parametrize("given", [3, [1], ("a",)])
def test_other_identity_pools_are_refused(given: Any) -> None:
    with pytest.raises(TypeError):
        names.normalize_identity_pool(given)


def test_statuses() -> None:
    assert [names.is_success(status) for status in (199, 200, 299, 300)] == [False, True, True, False]
    assert [status for status in range(400, 600) if names.is_retriable(status)][:4] == [408, 429, 500, 502]


def test_parsed_schemas_are_kept_by_schema() -> None:
    cache: names.ParsedSchemaCache[int] = names.ParsedSchemaCache()
    cache.set(Schema('"string"'), 1)
    assert cache.get_parsed_schema(Schema('"string"')) == 1
    assert cache.get_parsed_schema(Schema('"int"')) is None
    cache.clear()
    assert cache.get_parsed_schema(Schema('"string"')) is None


def test_a_migration_is_a_value() -> None:
    assert names.Migration(RuleMode.UPGRADE, None, None) == names.Migration(RuleMode.UPGRADE, None, None)


def test_a_driver_is_found_by_its_key() -> None:
    assert names.get_kms_driver("local-kms://key").get_key_url_prefix() == "local-kms://"
    with pytest.raises(RuleError, match="no KMS driver for key"):
        names.get_kms_driver("nowhere://key")


@pytest.mark.parametrize("url", ["http://nowhere", "mock://", None])
def test_mock_clients_need_no_network(url: str | None) -> None:
    conf = {} if url is None else {"url": url}
    with MockSchemaRegistryClient(conf) as first, MockSchemaRegistryClient(conf) as second:
        assert first.register_schema("s", Schema('"string"', "AVRO")) == 1
        assert first.register_schema("s", Schema('"int"', "AVRO")) == 2  # nothing is compared, as there
        assert (first.get_compatibility(), second.get_subjects()) == ("NONE", [])
        assert (second.get_versions("u"), second.delete_subject("u"), first.get_versions("s")) == ([], [], [1, 2])
        with pytest.raises(SchemaRegistryError) as caught:
            first.delete_subject("s", permanent=True)
        assert caught.value.error_code == 40405  # a subject that is there, and not deleted softly
    with MockDekRegistryClient(conf) as keys:
        assert keys.register_kek("k", "local-kms", "id").name == "k"

    async def run() -> None:
        client = AsyncMockSchemaRegistryClient(conf)
        assert await client.get_subjects() == await client.get_versions("u") == await client.delete_subject("u") == []
        await client.aclose()

    asyncio.run(run())


def test_clients_of_one_mock_url_share_a_registry() -> None:
    with (
        MockSchemaRegistryClient({"url": "mock://x"}) as first,
        MockSchemaRegistryClient({"url": "mock://x"}) as second,
    ):
        first.register_schema("s", Schema('"string"', "AVRO"))
        assert second.get_subjects() == ["s"]


def test_executors_are_registered_with_a_clock() -> None:
    class Late(Clock):
        def now(self) -> int:
            return 5

    try:
        for kind in (EncryptionExecutor, FieldEncryptionExecutor):
            made = kind.register_with_clock(Late())
            assert RuleRegistry.get_global_instance().get_executor(made.type()) is made
            payloads = made if isinstance(made, EncryptionExecutor) else made._payloads
            assert payloads._now_ms() == 5
    finally:
        RuleRegistry.get_global_instance().clear()


def test_clients_of_drivers_may_be_tinks() -> None:
    class Aead:
        def encrypt(self, plaintext: bytes, associated_data: bytes) -> bytes:
            return plaintext + b"!" + associated_data

        def decrypt(self, ciphertext: bytes, associated_data: bytes) -> bytes:
            return ciphertext.removesuffix(b"!") + associated_data

    class Client:
        def get_aead(self, key_uri: str) -> Aead:
            assert key_uri == "my-kms://k"
            return Aead()

    class Driver:
        def get_key_url_prefix(self) -> str:
            return "my-kms://"

        def new_kms_client(self, conf: Any, key_url: str) -> Any:
            return Client()

    register_kms_driver(Driver())
    try:
        wrapper = keys.AeadWrapper({}, Kek("kek", "my-kms", "k"))
        assert (wrapper.encrypt(b"a", b""), wrapper.decrypt(b"a!", b"")) == (b"a!", b"a")
        with pytest.raises(RuleError, match="no associated data"):
            wrapper.encrypt(b"a", b"x")
    finally:
        reset_kms_drivers()


def test_the_cache_of_schemas_forgets_versions_and_subjects() -> None:
    cache, schema, other = SchemaCache(), Schema('"string"'), Schema('"int"')
    cache.set_schema("s", 1, "g1", schema)
    registered = RegisteredSchema(subject="s", version=2, schema_id=2, schema=other, guid="g2")
    cache.set_registered_schema(other, registered)
    assert cache.get_schema_by_id("s", 1) == ("g1", schema)
    assert cache.get_schema_by_guid("g2") == other
    assert cache.get_id_by_schema("s", other) == 2
    assert cache.get_registered_by_subject_schema("s", other) == registered
    assert cache.get_registered_by_subject_id("s", 2) == cache.get_registered_by_subject_version("s", 2) == registered
    cache.remove_by_subject_version("s", 2)
    assert cache.get_registered_by_subject_id("s", 2) is None
    assert cache.get_schema_by_id("s", 2) is None
    assert cache.get_schema_by_id("s", 1) == ("g1", schema)
    cache.remove_by_subject("s")
    assert cache.get_id_by_schema("s", schema) is None
    assert cache.get_schema_by_guid("g1") == schema
    cache.clear()
    assert cache.get_schema_by_guid("g1") is None


def test_plain_clients_are_made_of_a_configuration() -> None:
    assert RestClient({"url": "mock://"}).get("subjects") == []
    with pytest.raises(ValueError, match="Invalid url"):
        RestClient({"url": "ftp://a"})


def test_serializers_are_instances_of_the_bases() -> None:
    class Own(Serializer):
        def __call__(self, obj: Any, ctx: Any = None) -> bytes:
            return b"own"

    own = Own()
    own.close()
    own.set_cluster_id_resolver(lambda: "id")
    assert isinstance(own, Serializer)
    assert not isinstance(StringSerializer(), Own)
    assert isinstance(StringSerializer(), Serializer)
    assert not isinstance(StringSerializer(), Deserializer)
    assert isinstance(StringDeserializer(), Deserializer)
    assert not isinstance(StringDeserializer(), Serializer)
    assert issubclass(AvroSerializer, Serializer)
    assert not issubclass(AvroSerializer, Deserializer)
    with pytest.raises(NotImplementedError):
        Serializer()(b"")


def test_keys_of_key_vault_with_and_without_a_version() -> None:
    url = "https://v.vault.azure.net/keys/k"
    assert keys.is_versionless(url)
    assert not keys.is_versionless(f"{url}/1")
    assert keys.with_version(f"{url}/1", "2") == f"{url}/2" == keys.get_versioned_key_id({}, f"{url}/2")
    assert keys.KekId("k", False) == keys.KekId("k", False, None)


def test_primitive_schemas_are_put_into_objects() -> None:
    assert names.schema_loads(' "string" ').schema_str == '{"type":"string"}'
    assert names.schema_loads("[]").schema_str == "[]"


def test_the_key_of_a_value_may_be_set_for_a_thread() -> None:
    from serdes.rules.engine import original_key

    names.set_original_key({"id": 1})
    assert (names.get_original_key(), original_key.get()) == ({"id": 1}, {"id": 1})
    names.clear_original_key()
    assert names.get_original_key() is None


class Versioned:
    """Stands for a client of Key Vault."""

    def __init__(self, name: str) -> None:
        self.name = name

    def encrypt(self, algorithm: Any, data: bytes) -> Any:
        if data == b"refused":
            raise ValueError("no")
        return SimpleNamespace(ciphertext=data + self.name.encode())

    def decrypt(self, algorithm: Any, data: bytes) -> Any:
        return SimpleNamespace(plaintext=data.removesuffix(self.name.encode()))


VERSION = "0123456789abcdef" * 2


def test_key_vault_with_clients_that_are_given() -> None:
    plain = keys.AzureKmsAead(Versioned("d"), "rsa")
    assert (plain.encrypt(b"x", b""), plain.decrypt(b"xd", b"")) == (b"xd", b"x")
    saving = keys.AzureKmsAead(Versioned("d"), "rsa", lambda: (Versioned("v"), VERSION), Versioned)
    encrypted = saving.encrypt(b"x", b"")
    assert encrypted == f"azure:v1:{VERSION}:xv".encode()
    assert saving.decrypt(f"azure:v1:{VERSION}:x{VERSION}".encode(), b"") == b"x"
    assert saving.decrypt(b"azure:v1:short:d", b"") == b"azure:v1:short:"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: keys.AzureKmsAead(None, "rsa"), "client cannot be null"),
        (lambda: keys.AzureKmsAead(Versioned("d"), "rsa").encrypt(b"refused", b""), "no"),
        (
            lambda: keys.AzureKmsAead(Versioned("d"), "r", lambda: (Versioned("v"), "7")).encrypt(b"", b""),
            "32-character",
        ),
        (lambda: keys.AzureKmsAead(Versioned("d"), "r", lambda: 1 / 0).encrypt(b"", b""), "for encryption: division"),  # type: ignore[return-value]
        (lambda: keys.AzureKmsAead(Versioned("d"), "r").decrypt(f"azure:v1:{VERSION}:x".encode(), b""), "no client"),
        (lambda: keys.AzureKmsAead(Versioned("d"), "r").decrypt(b"azure:v1:" + b"/" * 32 + b":", b""), "invalid azure"),
    ],
)
def test_unsupported_key_vault_calls_are_refused(call: Any, words: str) -> None:
    with pytest.raises(RuleError, match=words):
        call()


class Associations:
    """A registry that knows one association, and counts who asks."""

    def __init__(self, *subjects: str) -> None:
        self.subjects, self.asked = subjects, []

    def get_associations_by_resource_name(self, name: str, namespace: str, kind: str, types: list[str]) -> list[Any]:
        self.asked.append((name, namespace, kind, types))
        return [SimpleNamespace(subject=each) for each in self.subjects]


VALUE = SerializationContext("orders", MessageField.VALUE)


def test_the_associated_strategy_may_be_called() -> None:
    client, strategy = Associations("s"), names.AssociatedNameStrategy(cache_capacity=2)
    assert [strategy(VALUE, "R", client) for _ in range(2)] == ["s", "s"]
    strategy.clear_cache()
    strategy.set_cluster_id_resolver(lambda: "c")
    assert strategy(VALUE, "R", client, {names.FALLBACK_TYPE: "NONE"}) == "s"
    assert [asked[1] for asked in client.asked] == ["-", "c"]
    strategy.clear_cache()
    assert strategy(VALUE, "R", client, {names.KAFKA_CLUSTER_ID: "k"}) == "s"
    assert client.asked[-1] == ("orders", "k", "topic", ["value"])
    assert names.AssociatedNameStrategy()(VALUE, "R", None) == "orders-value"
    assert names.AssociatedNameStrategy()(VALUE, "R", Associations(), {names.FALLBACK_TYPE: "record"}) == "R"
    with pytest.raises(ValueError, match="SerializationContext is required"):
        strategy(None, "R", client)
    with pytest.raises(ValueError, match="Valid values are: TOPIC"):
        names.AssociatedNameStrategy()(VALUE, "R", client, {names.FALLBACK_TYPE: "x"})


def test_the_associated_strategy_may_be_awaited() -> None:
    class Awaitable(Associations):
        async def get_associations_by_resource_name(self, *given: Any) -> list[Any]:  # type: ignore[override]
            return super().get_associations_by_resource_name(*given)

    async def cluster_id() -> str:
        return "c"

    async def run() -> None:
        client, strategy = Awaitable("s"), names.AsyncAssociatedNameStrategy()
        strategy.set_async_cluster_id_resolver(cluster_id)
        assert [await strategy(VALUE, "R", client) for _ in range(2)] == ["s", "s"]
        assert client.asked == [("orders", "c", "topic", ["value"])]

    asyncio.run(run())


def test_an_associated_strategy_serves_serializers() -> None:
    with SchemaRegistryClient({"url": "mock://"}) as client:
        conf = {"subject.name.strategy": names.AssociatedNameStrategy()}
        AvroSerializer(client, '"string"', conf=conf)("x", VALUE)
        assert client.get_subjects() == ["orders-value"]
