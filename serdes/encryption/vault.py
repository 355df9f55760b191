"""Key-encryption keys in HashiCorp Vault's transit engine, through `hvac` (extra `vault`).

Keys are `hcvault://https://<host>:<port>/<mount>/keys/<name>`. Source: Vault's transit API; configuration keys are
those of confluent_kafka's driver.
"""

from __future__ import annotations

import base64
import functools
import os
import re
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from kserdes_base.extras import needed
from serdes.encryption.kms import KmsClient, register_kms_driver
from serdes.rules.model import RuleError

PREFIX: Final = "hcvault://"
KEY_PATH = re.compile(r"/?(?P<mount>[^/]+(?:/[^/]+)*)/keys/(?P<name>[^/]+)\Z")


class HcVaultKmsClient:
    """One transit key.

    Args:
        client: an `hvac.Client` that is logged in.
        key_path: `<mount>/keys/<name>`.
        log_in: gets a new token, since that of a role ends; None where there is no role.

    Raises:
        RuleError: the path is not of that form.
    """

    def __init__(self, client: Any, key_path: str, log_in: Callable[[], object] | None = None) -> None:
        found = KEY_PATH.match(key_path)
        if found is None:
            raise RuleError(f"Vault key path {key_path!r} is not <mount>/keys/<name>")
        self._mount, self._name = found["mount"], found["name"]
        self._close = client.adapter.close
        self._log_in = log_in
        self._transit = client.secrets.transit
        exceptions = needed("hvac", "vault", RuleError).exceptions
        self._errors = (exceptions.VaultError, needed("requests", "vault", RuleError).RequestException)
        self._forbidden: type[Exception] = exceptions.Forbidden
        self._refusals = (exceptions.InvalidRequest, exceptions.InvalidPath)  # no such key, not encrypted with it

    def encrypt(self, plaintext: bytes) -> bytes:
        """Encrypts a data key; the result is Vault's text (`vault:v1:…`)."""
        text = base64.b64encode(plaintext).decode()
        answer = self._call("encrypt_data", plaintext=text)
        return str(answer["ciphertext"]).encode()

    def decrypt(self, ciphertext: bytes) -> bytes:
        """Decrypts a data key."""
        answer = self._call("decrypt_data", ciphertext=ciphertext.decode("ascii", "replace"))
        return base64.b64decode(answer["plaintext"])

    def close(self) -> None:
        """Closes the connections."""
        self._close()

    def _call(self, operation: str, **arguments: str) -> Mapping[str, Any]:
        call = functools.partial(
            getattr(self._transit, operation), name=self._name, mount_point=self._mount, context="", **arguments
        )
        try:
            try:
                answer = call()
            except self._forbidden:
                if self._log_in is None:
                    raise
                self._new_token(self._log_in)  # the old one may have ended, after hours or weeks
                answer = call()
        except self._errors as error:
            text = f"Vault: {operation} with key {self._name!r} of {self._mount!r} failed: {error}"
            raise RuleError(text, away=not isinstance(error, self._refusals)) from error
        data: Mapping[str, Any] = answer["data"]
        return data

    def _new_token(self, log_in: Callable[[], object]) -> None:
        try:
            log_in()
        except self._errors as error:
            text = f"Vault: key {self._name!r} of {self._mount!r}: AppRole log-in failed: {error}"
            raise RuleError(text, away=True) from error


class HcVaultKmsDriver:
    """Logs in by token (`token.id`, VAULT_TOKEN) or AppRole (`approle.role.id`, `approle.secret.id`, or
    VAULT_APPROLE_*).

    Also: `namespace` (VAULT_NAMESPACE), `ssl.ca.location` (VAULT_CACERT), `ssl.certificate.location` and
    `ssl.key.location` (VAULT_CLIENT_CERT, VAULT_CLIENT_KEY). The server's certificate is always checked.
    """

    def get_key_url_prefix(self) -> str:
        """`hcvault://`."""
        return PREFIX

    def new_kms_client(self, conf: Mapping[str, Any], key_url: str) -> KmsClient:
        """A client, logged in.

        Raises:
            RuleError: the URL can't be used, or the log-in fails.
        """
        hvac = needed("hvac", "vault", RuleError)
        parts = urlsplit(key_url[len(PREFIX) :])
        if not parts.scheme or not parts.netloc:
            raise RuleError(f"Vault key {key_url!r} is not {PREFIX}https://<host>:<port>/<mount>/keys/<name>")
        certificate = _setting(conf, "ssl.certificate.location", "VAULT_CLIENT_CERT")
        key = _setting(conf, "ssl.key.location", "VAULT_CLIENT_KEY")
        if key and not certificate:
            raise RuleError("Vault: ssl.key.location needs ssl.certificate.location")
        client = hvac.Client(
            url=f"{parts.scheme}://{parts.netloc}",
            token=_setting(conf, "token.id", "VAULT_TOKEN"),
            namespace=_setting(conf, "namespace", "VAULT_NAMESPACE"),
            verify=_setting(conf, "ssl.ca.location", "VAULT_CACERT") or True,
            cert=(certificate, key) if certificate and key else certificate,
        )
        role = _setting(conf, "approle.role.id", "VAULT_APPROLE_ROLE_ID")
        secret = _setting(conf, "approle.secret.id", "VAULT_APPROLE_SECRET_ID")
        if role and secret:
            requests = needed("requests", "vault", RuleError)
            log_in = functools.partial(client.auth.approle.login, role_id=role, secret_id=secret)
            try:
                log_in()
            except (hvac.exceptions.VaultError, requests.RequestException) as error:
                raise RuleError(f"Vault: AppRole log-in at {parts.netloc} failed: {error}") from error
            return HcVaultKmsClient(client, parts.path, log_in)
        return HcVaultKmsClient(client, parts.path)

    @classmethod
    def register(cls) -> None:
        """As confluent_kafka has it; here the driver is found without."""
        register_kms_driver(cls())


def _setting(conf: Mapping[str, Any], key: str, variable: str) -> str | None:
    value = conf.get(key) or os.environ.get(variable)
    return str(value) if value else None
