"""SASL OAUTHBEARER: a token in place of a password, and what `oauth_cb` gives back.

Knows nothing of requests, sockets or where tokens come from; the time is passed in.
Spec: RFC 7628; KIP-255 (tokens), KIP-342 (extensions); RFC 7515 appendix A.5 (unsecured tokens).
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from kafka_core.errors import AuthError, ConfigError
from kafka_core.wire.sasl.mechanism import failed
from kserdes_base.oauth.renewal import renewal_s

SEPARATOR: Final = b"\x01"
EXTENSION_NAME: Final = re.compile(r"[A-Za-z]+")
EXTENSION_VALUE: Final = re.compile(r"[\x20-\x7E\t\r\n]+")
TOKEN: Final = re.compile(r"[A-Za-z0-9\-._~+/]+=*")
DEFAULT_LIFE_S: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Token:
    """A bearer token; `repr` does not show it.

    Args:
        value: the token itself (RFC 6750's b64token).
        expires_at_s: seconds since 1970 UTC at which it ends.
        principal: of the token; only for texts and logs.
        extensions: SASL extensions sent with it.
    """

    value: str = field(repr=False)
    expires_at_s: float
    principal: str = ""
    extensions: Mapping[str, str] = field(default_factory=dict)

    def refresh_delay_s(self, now_s: float) -> float:
        """Seconds from `now_s` (since 1970) after which a new token should be asked for: 80 % of what is left."""
        return renewal_s(self.expires_at_s - now_s)


class OAuthBearerMechanism:
    """One authentication with OAUTHBEARER.

    Args:
        token: the token to send.

    Raises:
        AuthError: token or extensions have characters that the format forbids.
    """

    name = "OAUTHBEARER"

    def __init__(self, token: Token) -> None:
        self.user = token.principal
        self._token = token
        self._refusal: str | None = None
        if not TOKEN.fullmatch(token.value):
            raise failed(self.name, self.user, "the token is empty or has forbidden characters")
        for name, value in token.extensions.items():
            if not is_extension(name, value):
                raise failed(self.name, self.user, f"the extension {name!r} is malformed")

    def start(self) -> bytes:
        """The initial client response: no authorization id, the token, the extensions."""
        pairs = [
            f"auth=Bearer {self._token.value}",
            *(f"{name}={value}" for name, value in self._token.extensions.items()),
        ]
        return b"n,," + SEPARATOR + b"".join(pair.encode() + SEPARATOR for pair in pairs) + SEPARATOR

    def respond(self, challenge: bytes) -> bytes | None:
        """Nothing to say if the broker accepts; a refusal is acknowledged, after which the broker fails the request.

        Raises:
            AuthError: the broker goes on after a refusal.
        """
        if self._refusal is not None:
            raise failed(self.name, self.user, self._refusal)
        if not challenge:
            return None
        self._refusal = f"the broker refuses the token: {describe_refusal(challenge)}"
        return SEPARATOR


def is_extension(name: str, value: str) -> bool:
    """Whether RFC 7628 §3.1 allows such an extension."""
    return bool(EXTENSION_NAME.fullmatch(name)) and name != "auth" and bool(EXTENSION_VALUE.fullmatch(value))


def describe_refusal(challenge: bytes) -> str:
    """The status (and scope) of RFC 7628's error object, or as much of the text as is readable."""
    text = challenge.decode("utf-8", "replace")
    try:
        reply = json.loads(text)
    except ValueError:
        return text[:200]
    if not isinstance(reply, dict):
        return text[:200]
    facts = [f"{name} {reply[name]}" for name in ("status", "scope", "openid-configuration") if reply.get(name)]
    return ", ".join(facts) or text[:200]


def token_from_callback(result: object, now_s: float) -> Token:
    """The result of the user's `oauth_cb`, as a token.

    Args:
        result: (token, expiry in seconds since 1970[, principal[, extensions]]), as confluent_kafka wants it; or a
            Token.
        now_s: seconds since 1970.

    Raises:
        AuthError: it is something else, or has expired. The text does not show the token.
    """
    if isinstance(result, Token):
        token = result
    else:
        if not isinstance(result, tuple | list) or not 2 <= len(result) <= 4:
            raise bad_callback(f"it returned {type(result).__name__}")
        value, expires_at_s = result[0], result[1]
        principal = result[2] if len(result) > 2 and result[2] is not None else ""
        extensions = result[3] if len(result) > 3 and result[3] is not None else {}
        if not isinstance(value, str) or not isinstance(principal, str):
            raise bad_callback("token and principal must be text")
        if (
            isinstance(expires_at_s, bool)
            or not isinstance(expires_at_s, int | float)
            or not math.isfinite(expires_at_s)
        ):
            raise bad_callback("the expiry must be a number")
        if not isinstance(extensions, Mapping) or not all(
            isinstance(part, str) for pair in extensions.items() for part in pair
        ):
            raise bad_callback("extensions must be a dict of texts")
        token = Token(value, float(expires_at_s), principal, dict(extensions))
    if token.expires_at_s <= now_s:
        raise bad_callback(
            f"the token expired {now_s - token.expires_at_s:.0f} s ago (the expiry is in seconds since 1970)"
        )
    return token


def bad_callback(reason: str) -> AuthError:
    return AuthError(f"oauth_cb must return (token, expiry[, principal[, extensions]]): {reason}", retriable=False)


def unsecured_token(config: str, now_s: float) -> Token:
    """An unsigned token as librdkafka's built-in handler makes it; for tests only.

    Args:
        config: `sasl.oauthbearer.config`: `principal=admin scope=a,b lifeSeconds=600 extension_name=value`, also
            `principalClaimName` and `scopeClaimName`.
        now_s: seconds since 1970.

    Raises:
        ConfigError: no principal, or something unknown or malformed in it.
    """
    settings = {
        "principalClaimName": "sub",
        "scopeClaimName": "scope",
        "scope": "",
        "lifeSeconds": f"{DEFAULT_LIFE_S:g}",
    }
    extensions: dict[str, str] = {}
    for entry in config.split():
        name, equals, value = entry.partition("=")
        if name.startswith("extension_") and equals:
            extensions[name.removeprefix("extension_")] = value
        elif name in (*settings, "principal") and equals:
            settings[name] = value
        else:
            raise bad_config(f"{name!r} is unknown or has no value")
    if not settings.get("principal"):
        raise bad_config("principal=NAME is missing")
    if not re.fullmatch(r"[1-9]\d{0,8}", settings["lifeSeconds"]):
        raise bad_config("lifeSeconds must be a positive number")
    expires_at_s = now_s + int(settings["lifeSeconds"])
    claims: dict[str, object] = {
        settings["principalClaimName"]: settings["principal"],
        "iat": round(now_s, 3),
        "exp": round(expires_at_s, 3),
    }
    if settings["scope"]:
        claims[settings["scopeClaimName"]] = settings["scope"].split(",")
    value = f"{base64url({'alg': 'none'})}.{base64url(claims)}."
    return Token(value, expires_at_s, settings["principal"], extensions)


def base64url(content: Mapping[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(content, separators=(",", ":")).encode()).rstrip(b"=").decode()


def bad_config(reason: str) -> ConfigError:
    return ConfigError(f"sasl.oauthbearer.config: {reason}", property="sasl.oauthbearer.config")
