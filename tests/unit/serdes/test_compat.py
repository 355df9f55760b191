"""serdes.compat: small names of confluent_kafka.schema_registry. Expected values were observed there (2.16)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from registry import RuleMode, Schema
from serdes import compat
from serdes.compat import AsyncMockSchemaRegistryClient, MockDekRegistryClient, MockSchemaRegistryClient
from serdes.encryption import EncryptionExecutor, FieldEncryptionExecutor, register_kms_driver, reset_kms_drivers
from serdes.encryption.executor import Clock
from serdes.encryption.keys import KeyRing
from serdes.rules import RuleError, RuleRegistry


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
    assert compat.wildcard_match(text, matcher) is matches


@pytest.mark.parametrize(
    ("given", "normal"), [(None, None), ("a", "a"), ("", ""), (["a", "b"], "a,b"), ([], ""), ("a,b", "a,b")]
)
def test_identity_pools_are_joined(given: Any, normal: str | None) -> None:
    assert compat.normalize_identity_pool(given) == normal


@pytest.mark.parametrize("given", [3, [1], ("a",)])
def test_other_identity_pools_are_refused(given: Any) -> None:
    with pytest.raises(TypeError):
        compat.normalize_identity_pool(given)


def test_statuses() -> None:
    assert [compat.is_success(status) for status in (199, 200, 299, 300)] == [False, True, True, False]
    assert [status for status in range(400, 600) if compat.is_retriable(status)][:4] == [408, 429, 500, 502]


def test_parsed_schemas_are_kept_by_schema() -> None:
    cache: compat.ParsedSchemaCache[int] = compat.ParsedSchemaCache()
    cache.set(Schema('"string"'), 1)
    assert cache.get_parsed_schema(Schema('"string"')) == 1
    assert cache.get_parsed_schema(Schema('"int"')) is None
    cache.clear()
    assert cache.get_parsed_schema(Schema('"string"')) is None


def test_a_migration_is_a_value() -> None:
    assert compat.Migration(RuleMode.UPGRADE, None, None) == compat.Migration(RuleMode.UPGRADE, None, None)


def test_a_driver_is_found_by_its_key() -> None:
    assert compat.get_kms_driver("local-kms://key").get_key_url_prefix() == "local-kms://"
    with pytest.raises(RuleError, match="no KMS driver for key"):
        compat.get_kms_driver("nowhere://key")


@pytest.mark.parametrize("url", ["http://nowhere", "mock://", None])
def test_mock_clients_need_no_network(url: str | None) -> None:
    conf = {} if url is None else {"url": url}
    with MockSchemaRegistryClient(conf) as first, MockSchemaRegistryClient(conf) as second:
        assert first.register_schema("s", Schema('"string"', "AVRO")) == 1
        assert second.get_subjects() == []
    with MockDekRegistryClient(conf) as keys:
        assert keys.register_kek("k", "local-kms", "id").name == "k"

    async def run() -> None:
        client = AsyncMockSchemaRegistryClient(conf)
        assert await client.get_subjects() == []
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
        with MockDekRegistryClient({}) as keys:
            service = KeyRing(keys, {}, lambda: 0)._service("my-kms://k", {})
            assert (service.encrypt(b"a"), service.decrypt(b"a!")) == (b"a!", b"a")
    finally:
        reset_kms_drivers()
