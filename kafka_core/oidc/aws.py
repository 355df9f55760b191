"""Tokens of AWS for the roles of its own hosts, through boto3 (the extra `aws`).

Must not know HTTP. STS's GetWebIdentityToken signs who the host is; boto3 finds the host's credentials.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kafka_core.config import Config
from kafka_core.errors import AuthError, ConfigError, NetworkError
from kafka_core.oidc.pairs import pairs_of
from kafka_core.wire.sasl import Token
from kserdes_base.extras import needed
from kserdes_base.oauth.answers import claims_of
from kserdes_base.oauth.aws import (
    ALGORITHMS,
    DEBUG,
    DEFAULT_LIFE_S,
    LIFE,
    LIVES_S,
    LOGGER,
    MANDATORY,
    MAX_TAGS,
    OLDEST_BOTO3,
    SETTINGS,
    TAG,
    TEXTS,
    web_identity_request,
)
from kserdes_base.retries import MAY_PASS


@dataclass(frozen=True, slots=True)
class AwsSettings:
    """The settings of `sasl.oauthbearer.config`: `region=eu-west-1,audience=https://…` and more.

    Attributes:
        audience: of the token.
        duration_seconds: its life.
        sts_endpoint: another endpoint of STS (FIPS, VPC).
        aws_debug: `console` writes what boto3 does.
        tags: claims that go with the token.
    """

    region: str
    audience: str
    duration_seconds: int = DEFAULT_LIFE_S
    signing_algorithm: str = ALGORITHMS[0]
    sts_endpoint: str | None = None
    aws_debug: str = DEBUG[0]
    tags: Mapping[str, str] = field(default_factory=dict)


def settings_of(text: str) -> AwsSettings:
    """Raises ConfigError: a name that is not known, one that is missing, a value out of its range."""
    known = {*TEXTS, LIFE}
    values: dict[str, Any] = {}
    tags: dict[str, str] = {}
    for name, value in pairs_of(text, SETTINGS):
        if name.startswith(TAG) and name != TAG:
            tags[name.removeprefix(TAG)] = value
        elif name not in known:
            raise _bad(f"{name!r} is not known; known are {', '.join(sorted(known))} and {TAG}NAME")
        elif not value:
            raise _bad(f"{name} must not be empty")
        else:
            values[name] = value
    for name in MANDATORY:
        if name not in values:
            raise _bad(f"{name} is missing")
    if LIFE in values:
        seconds = values[LIFE]
        if not (seconds.isascii() and seconds.isdigit() and int(seconds[:9]) in LIVES_S):
            raise _bad(f"{LIFE} must be a whole number from {LIVES_S.start} to {LIVES_S.stop - 1}")
        values[LIFE] = int(seconds)
    if values.get("signing_algorithm", ALGORITHMS[0]) not in ALGORITHMS:
        raise _bad(f"signing_algorithm must be {' or '.join(ALGORITHMS)}")
    if "aws_debug" in values:
        values["aws_debug"] = values["aws_debug"].lower()
        if values["aws_debug"] not in DEBUG:
            raise _bad(f"aws_debug must be {' or '.join(DEBUG)}")
    if len(tags) > MAX_TAGS:
        raise _bad(f"{len(tags)} tags, and STS takes {MAX_TAGS}")
    return AwsSettings(**values, tags=tags)


def _bad(reason: str) -> ConfigError:
    return ConfigError(f"{SETTINGS}: {reason}", property=SETTINGS)


def aws_tokens(config: Config, extensions: Mapping[str, str]) -> Callable[[], Token]:
    """A function that asks STS for a token at each call.

    Raises:
        ConfigError: the settings are wrong, or boto3 is missing or too old.
    """
    settings = settings_of(config.optional_text(SETTINGS) or "")
    boto3 = needed("boto3", "aws", ConfigError)
    exceptions = needed("botocore.exceptions", "aws", ConfigError)
    if settings.aws_debug == "console":
        boto3.set_stream_logger(LOGGER, logging.DEBUG)
    try:
        client = boto3.Session(region_name=settings.region).client("sts", endpoint_url=settings.sts_endpoint)
    except (exceptions.BotoCoreError, ValueError) as error:
        raise _bad(f"no client of STS: {error}") from error
    if not hasattr(client, "get_web_identity_token"):
        raise ConfigError(
            f"boto3 {boto3.__version__} has no GetWebIdentityToken: it takes boto3 {OLDEST_BOTO3} or later"
        )
    return lambda: _token_from(client, settings, extensions, exceptions)


def _token_from(client: Any, settings: AwsSettings, extensions: Mapping[str, str], exceptions: Any) -> Token:
    """Raises AuthError: STS refuses, or gives no token. NetworkError: it cannot be asked now."""
    request = web_identity_request(
        settings.audience, settings.signing_algorithm, settings.duration_seconds, settings.tags
    )
    try:
        answer = client.get_web_identity_token(**request)
    except (exceptions.BotoCoreError, exceptions.ClientError) as error:
        answered = getattr(error, "response", {}).get("ResponseMetadata", {}).get("HTTPStatusCode")
        away = (exceptions.HTTPClientError, exceptions.ConnectionError)
        passes = isinstance(error, away) or answered in MAY_PASS
        raise (NetworkError if passes else AuthError)(f"no token from AWS STS: {error}") from error
    value, expires = answer.get("WebIdentityToken"), answer.get("Expiration")
    if not value or expires is None:
        raise AuthError("the answer of AWS STS has no token, or does not say when it ends")
    subject = claims_of(value).get("sub")
    return Token(value, expires.timestamp(), subject if isinstance(subject, str) else "", extensions)
