"""Tokens of AWS: the names and ranges of their settings, and the request to STS. No I/O.

Must not know boto3, nor how settings are refused. Source: confluent_kafka's settings; STS's GetWebIdentityToken, which
signs who the host is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

AUTHENTICATION: Final = "sasl.oauthbearer.metadata.authentication.type"
IAM: Final = "aws_iam"
SETTINGS: Final = "sasl.oauthbearer.config"
"""The property that holds the settings as `name=value` pairs."""
TEXTS: Final = ("region", "audience", "signing_algorithm", "sts_endpoint", "aws_debug")
"""The settings that are texts; none may be empty."""
MANDATORY: Final = ("region", "audience")
LIFE: Final = "duration_seconds"
LIVES_S: Final = range(60, 3601)
DEFAULT_LIFE_S: Final = 300
ALGORITHMS: Final = ("ES384", "RS256")
"""Of the token's signature; the first is the default."""
TAG: Final = "tag_"
"""Settings that begin so are claims that go with the token."""
MAX_TAGS: Final = 50
DEBUG: Final = ("none", "console")
"""The words of `aws_debug`; with `console` botocore writes what it does."""
LOGGER: Final = "botocore"
OLDEST_BOTO3: Final = "1.42.25"
"""The first boto3 with GetWebIdentityToken."""


def web_identity_request(audience: str, algorithm: str, life_s: int, tags: Mapping[str, str] | None) -> dict[str, Any]:
    """The arguments of boto3's `get_web_identity_token`."""
    request: dict[str, Any] = {"Audience": [audience], "SigningAlgorithm": algorithm, "DurationSeconds": life_s}
    if tags:
        request["Tags"] = [{"Key": name, "Value": value} for name, value in tags.items()]
    return request
