"""serdes.encryption.azure: the official client over a transport that answers as Key Vault does."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from azure.keyvault.keys.crypto import CryptographyClient

from serdes.encryption import azure
from serdes.encryption.azure import AzureKmsClient, AzureKmsDriver, KeyId
from serdes.rules import RuleError

VAULT = "https://v.vault.azure.net"
KEY = f"{VAULT}/keys/k"
V1, V2 = "1" * 32, "2" * 32


class Crypto:
    """A `CryptographyClient` of one key version: encrypted is the version and the bytes, turned round."""

    def __init__(self, url: str) -> None:
        self.url = url

    def close(self) -> None:
        """Nothing is held."""

    def encrypt(self, algorithm: Any, data: bytes) -> Any:
        assert str(algorithm.value) == "RSA-OAEP-256"
        return type("Result", (), {"ciphertext": self.url.encode()[-1:] + data[::-1]})

    def decrypt(self, algorithm: Any, data: bytes) -> Any:
        if data[:1] != self.url.encode()[-1:]:
            raise ResourceNotFoundError("wrong version")
        return type("Result", (), {"plaintext": data[1:][::-1]})


def test_a_data_key_goes_there_and_back() -> None:
    client = AzureKmsClient(f"{KEY}/{V1}", Crypto)
    assert client.decrypt(client.encrypt(b"data key")) == b"data key"


def test_connections_are_closed() -> None:
    closed: list[str] = []

    class Closing(Crypto):
        def close(self) -> None:
            closed.append(self.url)

    client = AzureKmsClient(f"{KEY}/{V1}", Closing, release=lambda: closed.append("credential"))
    client.encrypt(b"data key")
    client.close()
    assert closed == [f"{KEY}/{V1}", "credential"]


def test_a_saved_version_finds_the_key_after_a_rotation() -> None:
    newest = V1
    saving = AzureKmsClient(KEY, Crypto, lambda: newest)
    before = saving.encrypt(b"old")
    newest = V2
    after = saving.encrypt(b"new")
    assert before.startswith(f"azure:v1:{V1}:".encode())
    assert after.startswith(f"azure:v1:{V2}:".encode())
    plain = AzureKmsClient(KEY, Crypto)  # reads them also when versions are no longer saved
    assert (plain.decrypt(before), plain.decrypt(after)) == (b"old", b"new")
    assert AzureKmsClient(f"{KEY}/{V1}", Crypto, lambda: V2).encrypt(b"x").startswith(f"azure:v1:{V1}:".encode())


def test_a_data_key_without_a_version_makes_no_url() -> None:
    with pytest.raises(RuleError, match="can't be one"):
        AzureKmsClient(KEY, Crypto).decrypt(b"azure:v1:../../other:xyz")
    with pytest.raises(RuleError, match="is not of 32 hexadecimal digits"):
        AzureKmsClient(KEY, Crypto, lambda: "latest").encrypt(b"x")


def test_refusals_of_the_vault_are_raised() -> None:
    with pytest.raises(RuleError, match=f"decrypt with {KEY} failed: wrong version"):
        AzureKmsClient(KEY, Crypto).decrypt(b"?x")


@pytest.mark.parametrize(
    ("status", "away"), [(400, False), (404, False), (401, True), (403, True), (429, True), (503, True), (None, True)]
)
def test_an_outage_is_told_from_a_lost_key(status: int | None, away: bool) -> None:
    class Failing(Crypto):
        def decrypt(self, algorithm: Any, data: bytes) -> Any:
            error = HttpResponseError("no")
            error.status_code = status
            raise error

    with pytest.raises(RuleError) as raised:
        AzureKmsClient(KEY, Failing).decrypt(b"x")
    assert raised.value.away is away


@pytest.mark.parametrize("text", ["", "keys/k", f"{VAULT}/secrets/k", f"{VAULT}/keys", f"{KEY}/1/2"])
def test_invalid_key_urls_are_refused(text: str) -> None:
    with pytest.raises(RuleError, match="is not https://"):
        KeyId.parse(text)


def test_the_official_client_is_used_and_a_missing_version_is_warned_of(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    made: list[tuple[str, Any]] = []
    monkeypatch.setattr(CryptographyClient, "__init__", lambda self, key, credential: made.append((key, credential)))
    monkeypatch.setattr(CryptographyClient, "encrypt", lambda *_: type("R", (), {"ciphertext": b"c"}))
    monkeypatch.setattr(CryptographyClient, "close", lambda self: None)
    conf = {"tenant.id": "t", "client.id": "c", "client.secret": "s"}
    with caplog.at_level(logging.WARNING, "serdes"):
        assert AzureKmsDriver().new_kms_client(conf, f"azure-kms://{KEY}").encrypt(b"x") == b"c"
    assert made[0][0] == KEY
    assert type(made[0][1]).__name__ == "ClientSecretCredential"
    assert "has no version" in caplog.text
    monkeypatch.setattr(azure, "newest_version", lambda key, credential: V2)
    saving = AzureKmsDriver().new_kms_client({**conf, azure.VERSION_SAVE: "true"}, f"azure-kms://{KEY}")
    assert saving.encrypt(b"x") == f"azure:v1:{V2}:".encode() + b"c"
    assert made[-1][0] == f"{KEY}/{V2}"


def test_thenewest_version_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    from azure.keyvault.keys import KeyClient

    class Found:
        id = f"{KEY}/{V2}"

    monkeypatch.setattr(KeyClient, "get_key", lambda self, name: Found)

    class Credential:
        def get_token(self, *scopes: str, **_: Any) -> Any:
            raise AssertionError

    assert azure.newest_version(KeyId.parse(KEY), Credential()) == V2
    Found.id = KEY
    with pytest.raises(RuleError, match="has no version"):
        azure.newest_version(KeyId.parse(KEY), Credential())

    def missing(self: Any, name: str) -> Any:
        raise ResourceNotFoundError("no such key")

    monkeypatch.setattr(KeyClient, "get_key", missing)
    with pytest.raises(RuleError, match=r"can't be looked up: .*no such key"):
        azure.newest_version(KeyId.parse(KEY), Credential())
