"""Assertions of the JWT bearer grant: read from a file, or signed with a private key (PyJWT, the extra `oauth`).

Must not know requests. Spec: RFC 7523, RFC 7519; names and claims are librdkafka's.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka_core.config import Config
from kafka_core.errors import AuthError, ConfigError
from kserdes_base.extras import needed

_PREFIX = "sasl.oauthbearer.assertion."


def assertion_of(config: Config, now_s: Callable[[], float]) -> Callable[[], str]:
    """A function that gives an assertion for each request: the file's content of that moment, or a newly signed one.

    Args:
        now_s: seconds since 1970.

    Raises:
        ConfigError: the key or the template cannot be used, or the packages that sign are not installed.
    """
    ready = config.optional_text(_PREFIX + "file")
    if ready is not None:
        return lambda: _read_assertion(ready)
    signer = _signer_of(config, now_s)
    signer()  # a key of the wrong kind is found here, not when the first token is needed
    return signer


def _read_assertion(path: str) -> str:
    """Raises AuthError: it cannot be read, or is empty."""
    try:
        text = Path(path).read_text("ascii").strip()
    except (OSError, ValueError) as error:
        raise AuthError(f"{_PREFIX}file: {error}") from error
    if not text:
        raise AuthError(f"{_PREFIX}file: {path} is empty")
    return text


@dataclass(frozen=True, slots=True, repr=False)
class Signer:
    """Signs a new assertion at each call.

    Args:
        key: a private key of `cryptography`.
        header, claims: what a template or the configuration says; the times are added.
        life_s: seconds after which an assertion ends.
        early_s: seconds before its making from which it holds.
        with_id: whether each has an id of its own (`jti`).
    """

    key: Any
    algorithm: str
    header: Mapping[str, Any]
    claims: Mapping[str, Any]
    life_s: int
    early_s: int
    with_id: bool
    now_s: Callable[[], float]

    def __call__(self) -> str:
        """Raises ConfigError: the key does not fit the algorithm."""
        jwt = needed("jwt", "oauth", ConfigError)
        now_s = int(self.now_s())
        times = {"iat": now_s, "exp": now_s + self.life_s, "nbf": now_s - self.early_s}
        ids = {"jti": str(uuid.uuid4())} if self.with_id else {}
        try:
            text: str = jwt.encode({**self.claims, **times, **ids}, self.key, self.algorithm, dict(self.header))
        except (jwt.PyJWTError, TypeError, ValueError, AttributeError) as error:
            name = f"{_PREFIX}algorithm"
            raise ConfigError(
                f"{name}={self.algorithm} does not fit the private key: {error}", property=name
            ) from error
        return text


def _signer_of(config: Config, now_s: Callable[[], float]) -> Signer:
    template = _template_of(config)
    claims = dict(template.get("payload", {}))
    for name in ("sub", "iss", "aud"):
        value = config.optional_text(f"{_PREFIX}claim.{name}")
        if value is not None:
            claims[name] = value
    return Signer(
        _private_key_of(config),
        config.text(_PREFIX + "algorithm"),
        template.get("header", {}),
        claims,
        config.integer(_PREFIX + "claim.exp.seconds"),
        config.integer(_PREFIX + "claim.nbf.seconds"),
        config.flag(_PREFIX + "claim.jti.include"),
        now_s,
    )


def _private_key_of(config: Config) -> Any:
    """Raises ConfigError: no file, no PEM key, or not with this passphrase."""
    pem, name = config.optional_text(_PREFIX + "private.key.pem"), _PREFIX + "private.key.pem"
    passphrase = config.optional_text(_PREFIX + "private.key.passphrase")
    serialization = needed("cryptography.hazmat.primitives.serialization", "oauth", ConfigError)
    try:
        if pem is None:
            name = _PREFIX + "private.key.file"
            pem = Path(config.text(name)).read_text("ascii")
        return serialization.load_pem_private_key(pem.encode(), passphrase.encode() if passphrase else None)
    except Exception as error:  # cryptography has classes of its own beside OSError, ValueError and TypeError
        raise ConfigError(f"{name}: the private key cannot be read: {error}", property=name) from error


def _template_of(config: Config) -> dict[str, dict[str, Any]]:
    """Raises ConfigError: not a JSON object of the objects `header` and `payload`."""
    name = _PREFIX + "jwt.template.file"
    path = config.optional_text(name)
    if path is None:
        return {}
    try:
        template = json.loads(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        raise ConfigError(f"{name}: {error}", property=name) from error
    if not isinstance(template, dict) or not all(isinstance(part, dict) for part in template.values()):
        raise ConfigError(f"{name}: {path} must be an object with the objects header and payload", property=name)
    return template
