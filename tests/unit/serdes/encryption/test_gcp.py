"""serdes.encryption.gcp: the official client, its calls answered here."""

from __future__ import annotations

from typing import Any

import pytest
from google.api_core.exceptions import NotFound, ServiceUnavailable
from google.cloud import kms_v1

from serdes.encryption.gcp import GcpKmsDriver
from serdes.rules import RuleError

NAME = "projects/p/locations/eu/keyRings/r/cryptoKeys/k"


class Answer:
    def __init__(self, **values: bytes) -> None:
        self.__dict__.update(values)


class Client:
    """Encrypted is what was sent, turned round."""

    def __init__(self, credentials: Any = None) -> None:
        self.credentials = credentials
        self.transport = self
        self.closed = False

    def close(self) -> None:
        self.closed = True

    def encrypt(self, request: dict[str, Any]) -> Answer:
        assert request["name"] == NAME
        return Answer(ciphertext=request["plaintext"][::-1])

    def decrypt(self, request: dict[str, Any]) -> Answer:
        if not request["ciphertext"]:
            raise NotFound("no such key")
        if request["ciphertext"] == b"away":
            raise ServiceUnavailable("down")
        return Answer(plaintext=request["ciphertext"][::-1])


@pytest.fixture(autouse=True)
def _answered_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kms_v1, "KeyManagementServiceClient", Client)


def test_a_data_key_goes_there_and_back() -> None:
    client = GcpKmsDriver().new_kms_client({}, f"gcp-kms://{NAME}")
    assert client.encrypt(b"abc") == b"cba"
    assert client.decrypt(b"cba") == b"abc"


def test_connections_are_closed() -> None:
    client: Any = GcpKmsDriver().new_kms_client({}, f"gcp-kms://{NAME}")
    client.close()
    assert client._client.closed


def test_refusals_of_the_kms_are_raised() -> None:
    client = GcpKmsDriver().new_kms_client({}, f"gcp-kms://{NAME}")
    with pytest.raises(RuleError, match=f"decrypt with {NAME} failed: 404 no such key") as raised:
        client.decrypt(b"")
    assert not raised.value.away
    with pytest.raises(RuleError, match="failed: 503 down") as raised:
        client.decrypt(b"away")
    assert raised.value.away


@pytest.mark.parametrize("name", ["", "projects/p", NAME + "/cryptoKeyVersions/1"])
def test_invalid_key_urls_are_refused(name: str) -> None:
    with pytest.raises(RuleError, match="is not projects/"):
        GcpKmsDriver().new_kms_client({}, f"gcp-kms://{name}")


def test_a_service_account_is_taken_and_a_bad_one_told() -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(65537, 2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    conf = {"client.id": "1", "client.email": "a@b.c", "private.key.id": "2", "private.key": key.decode()}
    client: Any = GcpKmsDriver().new_kms_client(conf, f"gcp-kms://{NAME}")
    assert client._client.credentials.service_account_email == "a@b.c"
    with pytest.raises(RuleError, match="no client for"):
        GcpKmsDriver().new_kms_client({**conf, "private.key": "nonsense"}, f"gcp-kms://{NAME}")
    with pytest.raises(RuleError, match=r"account\.type must be service_account"):
        GcpKmsDriver().new_kms_client({"account.type": "user"}, f"gcp-kms://{NAME}")
