"""serdes.encryption.vault: hvac against a small server that speaks Vault's transit API."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from serdes.encryption.vault import HcVaultKmsDriver
from serdes.rules import RuleError

TOKEN = "s.root"


class Transit(ThreadingHTTPServer):
    """Answers as Vault does: ciphertext is `vault:v1:` and what was sent, turned round."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[tuple[str, str | None, str | None]] = []
        self.tokens = [TOKEN]
        self.roles = [{"role_id": "role", "secret_id": "secret"}]


class Handler(BaseHTTPRequestHandler):
    server: Transit

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        token = self.headers.get("X-Vault-Token")
        self.server.seen.append((self.path, token, self.headers.get("X-Vault-Namespace")))
        status, answer = self.answer(body, token)
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def answer(self, body: dict[str, Any], token: str | None) -> tuple[int, dict[str, Any]]:
        if self.path == "/v1/auth/approle/login":
            if body in self.server.roles:
                return 200, {"auth": {"client_token": (self.server.tokens or ["s.none"])[0]}}
            return 400, {"errors": ["invalid role or secret ID"]}
        if token not in self.server.tokens:
            return 403, {"errors": ["permission denied"]}
        if self.path == "/v1/team/transit/encrypt/key":
            return 200, {"data": {"ciphertext": "vault:v1:" + body["plaintext"][::-1]}}
        if self.path == "/v1/team/transit/decrypt/key":
            return 200, {"data": {"plaintext": body["ciphertext"].removeprefix("vault:v1:")[::-1]}}
        return 404, {"errors": ["no handler for route"]}

    do_PUT = do_POST

    def log_message(self, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def vault(monkeypatch: pytest.MonkeyPatch) -> Iterator[Transit]:
    for name in ("TOKEN", "NAMESPACE", "CACERT", "CLIENT_CERT", "CLIENT_KEY", "APPROLE_ROLE_ID", "APPROLE_SECRET_ID"):
        monkeypatch.delenv(f"VAULT_{name}", raising=False)
    with Transit() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def url(vault: Transit, path: str = "team/transit/keys/key") -> str:
    return f"hcvault://http://127.0.0.1:{vault.server_address[1]}/{path}"


def test_a_data_key_goes_there_and_back(vault: Transit) -> None:
    client = HcVaultKmsDriver().new_kms_client({"token.id": TOKEN, "namespace": "ns"}, url(vault))
    encrypted = client.encrypt(b"data key")
    assert encrypted == b"vault:v1:" + base64.b64encode(b"data key")[::-1]
    assert client.decrypt(encrypted) == b"data key"
    assert vault.seen == [
        ("/v1/team/transit/encrypt/key", TOKEN, "ns"),
        ("/v1/team/transit/decrypt/key", TOKEN, "ns"),
    ]


def test_connections_are_closed(vault: Transit, monkeypatch: pytest.MonkeyPatch) -> None:
    from hvac.adapters import JSONAdapter

    closed: list[bool] = []
    monkeypatch.setattr(JSONAdapter, "close", lambda self: closed.append(True))
    client: Any = HcVaultKmsDriver().new_kms_client({"token.id": TOKEN}, url(vault))
    client.close()
    assert closed == [True]


def test_the_token_may_come_from_the_environment_or_from_a_role(
    vault: Transit, monkeypatch: pytest.MonkeyPatch
) -> None:
    role = {"approle.role.id": "role", "approle.secret.id": "secret"}
    assert HcVaultKmsDriver().new_kms_client(role, url(vault)).encrypt(b"x")
    monkeypatch.setenv("VAULT_TOKEN", TOKEN)
    assert HcVaultKmsDriver().new_kms_client({}, url(vault)).encrypt(b"x")


def test_a_role_s_token_that_has_ended_is_asked_for_again(vault: Transit) -> None:
    role = {"approle.role.id": "role", "approle.secret.id": "secret"}
    client = HcVaultKmsDriver().new_kms_client(role, url(vault))
    encrypted = client.encrypt(b"x")
    vault.tokens = ["s.second"]
    assert client.decrypt(encrypted) == b"x"
    assert client.decrypt(encrypted) == b"x"
    logins = [path for path, *_ in vault.seen if path.endswith("/login")]
    assert len(logins) == 2
    vault.tokens = []  # the role is let in, and may not use the key
    with pytest.raises(RuleError, match="permission denied"):
        client.decrypt(encrypted)
    vault.roles = []  # nor is it let in any more, which says nothing of the key
    with pytest.raises(RuleError, match="AppRole log-in failed: invalid role") as raised:
        client.decrypt(encrypted)
    assert raised.value.away


def test_refusals_of_vault_are_raised(vault: Transit) -> None:
    with pytest.raises(RuleError, match="encrypt_data with key 'key' of 'team/transit' failed: permission denied"):
        HcVaultKmsDriver().new_kms_client({"token.id": "wrong"}, url(vault)).encrypt(b"x")
    with pytest.raises(RuleError, match=r"key 'other' .* failed: no handler") as raised:
        HcVaultKmsDriver().new_kms_client({"token.id": TOKEN}, url(vault, "transit/keys/other")).decrypt(b"x")
    assert not raised.value.away
    with pytest.raises(RuleError, match=r"AppRole log-in at 127\.0\.0\.1:\d+ failed: invalid role"):
        HcVaultKmsDriver().new_kms_client({"approle.role.id": "role", "approle.secret.id": "no"}, url(vault))


def test_a_server_that_is_not_there_is_told() -> None:
    client = HcVaultKmsDriver().new_kms_client({"token.id": TOKEN}, "hcvault://http://127.0.0.1:1/transit/keys/key")
    with pytest.raises(RuleError, match="encrypt_data with key 'key' of 'transit' failed") as raised:
        client.encrypt(b"x")
    assert raised.value.away


def test_who_is_not_let_in_has_learnt_nothing_of_the_key(vault: Transit) -> None:
    with pytest.raises(RuleError, match="permission denied") as raised:
        HcVaultKmsDriver().new_kms_client({"token.id": "wrong"}, url(vault)).decrypt(b"x")
    assert raised.value.away


@pytest.mark.parametrize(
    ("key_url", "text"),
    [
        ("hcvault://transit/keys/key", "is not hcvault://https://"),
        ("hcvault://http://h/transit", "is not <mount>/keys/<name>"),
        ("hcvault://http://h/transit/keys/", "is not <mount>/keys/<name>"),
        ("hcvault://http://h/transit/keys/a/b", "is not <mount>/keys/<name>"),
    ],
)
def test_urls_that_name_no_key(key_url: str, text: str) -> None:
    with pytest.raises(RuleError, match=text):
        HcVaultKmsDriver().new_kms_client({"token.id": TOKEN}, key_url)


def test_a_client_key_needs_its_certificate() -> None:
    with pytest.raises(RuleError, match=r"ssl\.key\.location needs ssl\.certificate\.location"):
        HcVaultKmsDriver().new_kms_client({"ssl.key.location": "k"}, "hcvault://http://h/transit/keys/k")
