"""`sasl.oauthbearer.config` of `aws_iam` by the names of confluent_kafka's private modules.

Must not know AWS. Our clients read the same property in `kafka_core.oidc.aws`; this is for code that imports theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Self

from kserdes.compat.confluent.client.strings import parse_key_values
from kserdes_base.oauth import aws

__all__ = [
    "ALLOWED_AWS_DEBUG_VALUES",
    "ALLOWED_SIGNING_ALGORITHMS",
    "AWS_DEBUG_CONSOLE",
    "AWS_DEBUG_NONE",
    "AWS_IAM_MARKER_KEY",
    "AWS_IAM_MARKER_VALUE",
    "CONFIG_KEY",
    "DEFAULT_DURATION_SECONDS",
    "DEFAULT_SIGNING_ALGORITHM",
    "MAX_DURATION_SECONDS",
    "MAX_TAGS",
    "MIN_DURATION_SECONDS",
    "TAG_KEY_PREFIX",
    "AwsOAuthBearerConfig",
]

AWS_IAM_MARKER_KEY: Final = aws.AUTHENTICATION
AWS_IAM_MARKER_VALUE: Final = aws.IAM

CONFIG_KEY: Final = aws.SETTINGS
ALLOWED_SIGNING_ALGORITHMS: Final = aws.ALGORITHMS
DEFAULT_SIGNING_ALGORITHM: Final = aws.ALGORITHMS[0]
MIN_DURATION_SECONDS: Final = aws.LIVES_S.start
MAX_DURATION_SECONDS: Final = aws.LIVES_S.stop - 1
DEFAULT_DURATION_SECONDS: Final = aws.DEFAULT_LIFE_S
TAG_KEY_PREFIX: Final = aws.TAG
MAX_TAGS: Final = aws.MAX_TAGS
ALLOWED_AWS_DEBUG_VALUES: Final = aws.DEBUG
AWS_DEBUG_NONE, AWS_DEBUG_CONSOLE = aws.DEBUG


def _wrong(reason: str) -> ValueError:
    return ValueError(f"{CONFIG_KEY} {reason}")


@dataclass(frozen=True)
class AwsOAuthBearerConfig:
    """The settings of `sasl.oauthbearer.config`, checked.

    Attributes:
        region: the region whose STS is asked.
        audience: for whom tokens are.
        signing_algorithm: `ES384` or `RS256`.
        duration_seconds: a token's life, from 60 to 3600.
        sts_endpoint: another endpoint of STS.
        aws_debug: `console` writes what boto3 does.
        tags: claims that go with tokens, at most 50.
        sasl_extensions: extensions that go with tokens.

    Raises:
        ValueError: a value is not allowed.
    """

    region: str
    audience: str
    signing_algorithm: str = DEFAULT_SIGNING_ALGORITHM
    duration_seconds: int = DEFAULT_DURATION_SECONDS
    sts_endpoint: str | None = None
    aws_debug: str = AWS_DEBUG_NONE
    tags: dict[str, str] | None = None
    sasl_extensions: dict[str, str] | None = None

    def __post_init__(self) -> None:
        for name in aws.MANDATORY:
            value: object = getattr(self, name)
            if not isinstance(value, str) or not value:
                raise _wrong(f"'{name}' must not be empty.")
        if self.signing_algorithm not in ALLOWED_SIGNING_ALGORITHMS:
            raise _wrong(f"'signing_algorithm' must be 'ES384' or 'RS256'; got {self.signing_algorithm!r}.")
        self._check_duration()
        if self.sts_endpoint == "":
            raise _wrong("'sts_endpoint' must not be empty.")
        if self.aws_debug not in ALLOWED_AWS_DEBUG_VALUES:
            raise _wrong(f"'aws_debug' must be one of: none, console. Got {self.aws_debug!r}.")
        if not isinstance(self.tags, dict | None):
            raise _wrong("'tags' must be a dict.")
        if self.tags is not None and len(self.tags) > MAX_TAGS:
            raise _wrong(f"has {len(self.tags)} tags; AWS allows at most {MAX_TAGS}.")
        if not isinstance(self.sasl_extensions, dict | None):
            raise ValueError("sasl_extensions, if set, must be a dict.")

    def _check_duration(self) -> None:
        seconds: object = self.duration_seconds
        if not isinstance(seconds, int) or isinstance(seconds, bool):
            raise _wrong("'duration_seconds' must be an integer.")
        if not MIN_DURATION_SECONDS <= seconds <= MAX_DURATION_SECONDS:
            bounds = f"{MIN_DURATION_SECONDS} and {MAX_DURATION_SECONDS} inclusive"
            raise _wrong(f"'duration_seconds' must be between {bounds}; got {seconds}.")

    @classmethod
    def parse(cls, raw: str, sasl_extensions: dict[str, str] | None = None) -> Self:
        """Reads the property; the last of a key counts.

        Args:
            raw: its text.
            sasl_extensions: sent with tokens.

        Raises:
            TypeError: `raw` is None.
            ValueError: an unknown or malformed key, a value that is not allowed, no region or no audience.
        """
        if raw is None:
            raise TypeError("raw must not be None")
        values: dict[str, Any] = {}
        tags: dict[str, str] = {}
        for key, value in parse_key_values(raw, ",", CONFIG_KEY):
            if key in aws.TEXTS and not value:
                raise _wrong(f"{key!r} must not be empty.")
            if key in aws.TEXTS:
                values[key] = value.lower() if key == "aws_debug" else value
            elif key == aws.LIFE:
                values[key] = _whole(value)
            elif key.startswith(TAG_KEY_PREFIX):
                if key == TAG_KEY_PREFIX:
                    raise _wrong(f"tag key {key!r} has empty name.")
                tags[key.removeprefix(TAG_KEY_PREFIX)] = value
            else:
                raise ValueError(f"Unknown key {key!r} in {CONFIG_KEY}.")
        for name in aws.MANDATORY:
            if name not in values:
                raise ValueError(f"'{name}' is required in {CONFIG_KEY}.")
        return cls(**values, tags=tags or None, sasl_extensions=sasl_extensions)


def _whole(value: str) -> int:
    try:
        return int(value)
    except ValueError as error:
        raise _wrong(f"'duration_seconds' must be an integer; got {value!r}.") from error
