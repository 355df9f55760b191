"""Tokens of AWS STS by the names of confluent_kafka's private modules. Needs the extra `aws`.

Our clients ask STS in `kafka_core.oidc.aws`; this is for code that imports theirs, and is not used by ours.
"""

from __future__ import annotations

import base64
import json
import logging
import re
from collections.abc import Callable
from typing import Any, Final

import boto3

from kserdes.compat.confluent.aws.extensions import parse as parse_extensions
from kserdes.compat.confluent.aws.settings import (
    AWS_DEBUG_CONSOLE,
    AWS_IAM_MARKER_KEY,
    AWS_IAM_MARKER_VALUE,
    CONFIG_KEY,
    AwsOAuthBearerConfig,
)
from kserdes_base.oauth.aws import LOGGER, OLDEST_BOTO3, web_identity_request

__all__ = ["MINIMUM_BOTO3_VERSION", "AwsStsTokenProvider", "OAuthBearerCallback", "create_handler", "extract_sub"]

OAuthBearerCallback = Callable[[str], tuple[str, float, str, dict[str, str]]]

MINIMUM_BOTO3_VERSION = OLDEST_BOTO3
_MAX_TOKEN_LENGTH_CHARS: Final = 8192


def _version_tuple(version: str) -> tuple[int, ...]:
    """The number at the start of each part of a version; 0 where there is none."""
    return tuple(int(re.match(r"\d*", part).group() or 0) for part in version.split("."))  # type: ignore[union-attr]


def _require_boto3_version() -> None:
    """Raises ImportError: this boto3 has no GetWebIdentityToken."""
    if _version_tuple(boto3.__version__) < _version_tuple(MINIMUM_BOTO3_VERSION):
        raise ImportError(
            f"The AWS IAM OAUTHBEARER path requires boto3>={MINIMUM_BOTO3_VERSION} "
            f"(for the STS GetWebIdentityToken operation), but found boto3 {boto3.__version__}."
        )


class AwsStsTokenProvider:
    """Asks STS for a token at each call of `token`.

    Args:
        config: what to ask for.
        sts_client: a client of boto3; None makes one.

    Raises:
        TypeError: no configuration.
        ImportError: boto3 is too old.
    """

    def __init__(self, config: AwsOAuthBearerConfig, sts_client: Any = None) -> None:
        if config is None:
            raise TypeError("config must not be None")
        self._cfg = config
        self._apply_aws_debug(config.aws_debug)
        self._sts = self._client() if sts_client is None else sts_client

    def _client(self) -> Any:
        _require_boto3_version()
        region = self._cfg.region
        endpoint = {"endpoint_url": self._cfg.sts_endpoint} if self._cfg.sts_endpoint else {}
        return boto3.Session(region_name=region).client("sts", region_name=region, **endpoint)

    @staticmethod
    def _apply_aws_debug(aws_debug: str) -> None:
        if aws_debug == AWS_DEBUG_CONSOLE:
            boto3.set_stream_logger(LOGGER, logging.DEBUG)

    def token(self, oauthbearer_config: str = "") -> tuple[str, float, str, dict[str, str]]:
        """(token, seconds since 1970 at which it ends, principal, extensions), as `oauth_cb` gives them.

        Args:
            oauthbearer_config: what the client passes on; the configuration has been read already.

        Raises:
            ValueError: the answer has no token, no end, or a token that is no JWT with a subject.
            botocore.exceptions.ClientError: STS refuses.
        """
        request = web_identity_request(
            self._cfg.audience, self._cfg.signing_algorithm, self._cfg.duration_seconds, self._cfg.tags
        )
        answer = self._sts.get_web_identity_token(**request)
        jwt, ends = answer.get("WebIdentityToken"), answer.get("Expiration")
        if not isinstance(jwt, str) or not jwt:
            raise ValueError("STS response missing WebIdentityToken; cannot mint OAUTHBEARER token.")
        if ends is None:
            raise ValueError("STS response missing Expiration; cannot compute token lifetime.")
        return jwt, ends.timestamp(), extract_sub(jwt), dict(self._cfg.sasl_extensions or {})


def create_handler(sasl_oauthbearer_config: str, sasl_oauthbearer_extensions: str | None) -> OAuthBearerCallback:
    """An `oauth_cb` for these two properties.

    Raises:
        ValueError: a property is missing or wrong.
        ImportError: boto3 is too old.
    """
    if not sasl_oauthbearer_config:
        raise ValueError(
            f"'{AWS_IAM_MARKER_KEY}={AWS_IAM_MARKER_VALUE}' is set but '{CONFIG_KEY}' is missing or empty. The AWS IAM "
            f"autowire path requires region and audience to be supplied via {CONFIG_KEY} "
            '(e.g. "region=us-east-1,audience=https://...").'
        )
    extensions = parse_extensions(sasl_oauthbearer_extensions)
    return AwsStsTokenProvider(AwsOAuthBearerConfig.parse(sasl_oauthbearer_config, extensions)).token


def extract_sub(jwt: str | None) -> str:
    """The subject of a token; its signature is not checked.

    Raises:
        ValueError: no JWT, or none with a subject.
    """
    if not jwt:
        raise ValueError("JWT is null." if jwt is None else "JWT is empty.")
    if len(jwt) > _MAX_TOKEN_LENGTH_CHARS:
        raise ValueError(f"JWT length {len(jwt)} exceeds maximum allowed ({_MAX_TOKEN_LENGTH_CHARS}).")
    parts = jwt.split(".")
    if len(parts) != 3:
        raise ValueError(f"JWT must have exactly 3 '.'-separated segments; got {len(parts)}.")
    claims = _claims(_decoded(parts[1]))
    subject = claims.get("sub")
    if not isinstance(subject, str):
        raise ValueError("JWT payload is missing a 'sub' string claim.")
    if not subject:
        raise ValueError("JWT 'sub' claim value is empty.")
    return subject


def _claims(payload: bytes) -> dict[str, Any]:
    try:
        text = payload.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"JWT payload is not valid UTF-8: {error}") from error
    try:
        claims = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"JWT payload is not valid JSON: {error}") from error
    if not isinstance(claims, dict):
        raise ValueError("JWT payload is not a JSON object.")
    return claims


def _decoded(segment: str) -> bytes:
    if not segment:
        raise ValueError("JWT payload segment is empty.")
    if len(segment) % 4 == 1:
        raise ValueError("JWT payload segment has invalid base64url length.")
    padded = segment.replace("-", "+").replace("_", "/") + "=" * (-len(segment) % 4)
    try:
        return base64.b64decode(padded.encode("ascii"), validate=True)
    except ValueError as error:
        raise ValueError(f"JWT payload segment is not valid base64url: {error}") from error
