"""Key-encryption keys in AWS KMS, through `boto3` (extra `aws`).

Keys are `aws-kms://<ARN>`. Source: the KMS API's Encrypt and Decrypt; configuration keys are those of confluent_kafka's
driver.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

from kserdes_base.extras import needed
from serdes.encryption.kms import KmsClient, register_kms_driver
from serdes.rules.model import RuleError

PREFIX: Final = "aws-kms://"
SESSION_NAME: Final = "kserdes-encrypt"
REFUSALS: Final = frozenset(
    f"{name}Exception"
    for name in ("Disabled", "IncorrectKey", "InvalidCiphertext", "InvalidKeyUsage", "KMSInvalidState", "NotFound")
)
"""Codes of errors that are about the key and what was encrypted with it; others are about who asks, or the service."""


class AwsKmsClient:
    """One KMS key.

    Args:
        client: a boto3 client of `kms`.
        key_arn: the key.
    """

    def __init__(self, client: Any, key_arn: str) -> None:
        self._client = client
        self._key_arn = key_arn
        exceptions = needed("botocore.exceptions", "aws", RuleError)
        self._errors = (exceptions.ClientError, exceptions.BotoCoreError)

    def encrypt(self, plaintext: bytes) -> bytes:
        """Encrypts a data key."""
        return bytes(self._call("encrypt", Plaintext=plaintext)["CiphertextBlob"])

    def decrypt(self, ciphertext: bytes) -> bytes:
        """Decrypts a data key."""
        return bytes(self._call("decrypt", CiphertextBlob=ciphertext)["Plaintext"])

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def _call(self, operation: str, **arguments: bytes) -> Mapping[str, Any]:
        try:
            answer: Mapping[str, Any] = getattr(self._client, operation)(KeyId=self._key_arn, **arguments)
        except self._errors as error:
            code = getattr(error, "response", {}).get("Error", {}).get("Code")
            text = f"AWS KMS: {operation} with {self._key_arn} failed: {error}"
            raise RuleError(text, away=code not in REFUSALS) from error
        return answer


class AwsKmsDriver:
    """Credentials: `access.key.id` and `secret.access.key`, or `profile`, else boto3's own search; with `role.arn`,
    `role.session.name`, `role.external.id` (or AWS_ROLE_*) a role is taken on. The region is the one in the ARN.
    """

    def get_key_url_prefix(self) -> str:
        """`aws-kms://`."""
        return PREFIX

    def new_kms_client(self, conf: Mapping[str, Any], key_url: str) -> KmsClient:
        """A client for one key; no call is made yet.

        Raises:
            RuleError: not the ARN of a key, or credentials that can't be used.
        """
        arn = key_url[len(PREFIX) :]
        parts = arn.split(":")
        if len(parts) < 6 or parts[:3:2] != ["arn", "kms"]:
            raise RuleError(f"AWS KMS key {arn!r} is not arn:aws:kms:<region>:<account>:key/<id>")
        boto3 = needed("boto3", "aws", RuleError)
        exceptions = needed("botocore.exceptions", "aws", RuleError)
        try:
            session = boto3.Session(
                region_name=parts[3],
                aws_access_key_id=conf.get("access.key.id"),
                aws_secret_access_key=conf.get("secret.access.key"),
                profile_name=conf.get("profile"),
            )
            role = conf.get("role.arn") or os.environ.get("AWS_ROLE_ARN")
            if role and not os.environ.get("AWS_WEB_IDENTITY_TOKEN_FILE"):  # boto3 itself takes a role on with that
                session = _with_role(session, role, conf)
            return AwsKmsClient(session.client("kms"), arn)
        except (exceptions.BotoCoreError, exceptions.ClientError) as error:
            raise RuleError(f"AWS KMS: no client for {arn}: {error}") from error

    @classmethod
    def register(cls) -> None:
        """As confluent_kafka has it; here the driver is found without."""
        register_kms_driver(cls())


def _with_role(session: Any, role_arn: str, conf: Mapping[str, Any]) -> Any:
    """A session whose credentials are those of a role, refreshed before they end."""
    credentials = needed("botocore.credentials", "aws", RuleError)
    botocore_session = needed("botocore.session", "aws", RuleError).get_session()
    name = conf.get("role.session.name") or os.environ.get("AWS_ROLE_SESSION_NAME") or SESSION_NAME
    external_id = conf.get("role.external.id") or os.environ.get("AWS_ROLE_EXTERNAL_ID")
    request = {"RoleArn": role_arn, "RoleSessionName": name}
    if external_id:
        request["ExternalId"] = external_id
    refresher = credentials.create_assume_role_refresher(session.client("sts"), request)
    botocore_session._credentials = credentials.DeferredRefreshableCredentials(refresher, "sts-assume-role")
    boto3 = needed("boto3", "aws", RuleError)
    return boto3.Session(botocore_session=botocore_session, region_name=session.region_name)
