"""serdes.encryption.aws: boto3 against moto, which answers as KMS and STS do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from moto import mock_aws

from serdes.encryption.aws import AwsKmsDriver
from serdes.rules import RuleError

REGION = "eu-west-1"
KEYS = {"access.key.id": "test", "secret.access.key": "test"}

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture
def arn(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name in ("AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    with mock_aws():
        found = boto3.client("kms", REGION).create_key()["KeyMetadata"]["Arn"]
        yield str(found)


def client(arn: str, **conf: Any) -> Any:
    return AwsKmsDriver().new_kms_client({**KEYS, **conf}, f"aws-kms://{arn}")


def test_a_data_key_goes_there_and_back(arn: str) -> None:
    encrypted = client(arn).encrypt(b"data key")
    assert encrypted != b"data key"
    assert client(arn).decrypt(encrypted) == b"data key"


def test_connections_are_closed(arn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = client(arn)
    closed: list[bool] = []
    monkeypatch.setattr(made._client, "close", lambda: closed.append(True))
    made.close()
    assert closed == [True]


def test_a_role_is_taken_on(arn: str) -> None:
    role = {
        "role.arn": "arn:aws:iam::123456789012:role/reader",
        "role.external.id": "out",
        "role.session.name": "reading",
    }
    made = client(arn, **role)
    assert made.decrypt(client(arn).encrypt(b"data key")) == b"data key"
    assert made._client._request_signer._credentials.get_frozen_credentials().token


def test_refusals_of_the_kms_are_raised(arn: str) -> None:
    with pytest.raises(RuleError, match=r"AWS KMS: decrypt with arn:aws:kms:eu-west-1:.* failed") as raised:
        client(arn).decrypt(b"not encrypted")
    assert not raised.value.away
    with pytest.raises(RuleError, match=r"AWS KMS: encrypt with .* failed") as raised:
        client(arn + "x").encrypt(b"x")
    assert not raised.value.away
    with pytest.raises(RuleError, match="no client for"):
        AwsKmsDriver().new_kms_client({"profile": "nope"}, f"aws-kms://{arn}")


@pytest.mark.parametrize(
    ("error", "away"),
    [
        (EndpointConnectionError(endpoint_url="https://kms"), True),
        (ClientError({"Error": {"Code": "ThrottlingException"}}, "Decrypt"), True),
        (ClientError({"Error": {"Code": "AccessDeniedException"}}, "Decrypt"), True),
        (ClientError({"Error": {"Code": "KMSInvalidStateException"}}, "Decrypt"), False),
    ],
)
def test_an_outage_is_told_from_a_lost_key(
    arn: str, monkeypatch: pytest.MonkeyPatch, error: Exception, away: bool
) -> None:
    made = client(arn)

    def fail(**_: Any) -> Any:
        raise error

    monkeypatch.setattr(made._client, "decrypt", fail)
    with pytest.raises(RuleError) as raised:
        made.decrypt(b"x")
    assert raised.value.away is away


@pytest.mark.parametrize("arn", ["", "key", "arn:aws:s3:::bucket/key", "arn:aws:kms:eu"])
def test_invalid_key_urls_are_refused(arn: str) -> None:
    with pytest.raises(RuleError, match="is not arn:aws:kms:<region>"):
        AwsKmsDriver().new_kms_client(KEYS, f"aws-kms://{arn}")
