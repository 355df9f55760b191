"""A registry client out of options, the environment and the configuration file.

Must not know what the client is used for. Every property of the client can be set by an environment variable: its name
in capitals with `_` for `.`, after `SCHEMA_REGISTRY_`, e.g. `SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kserdes.cli.shell.settings import Settings
from kserdes.cli.shell.unusable import Unusable

if TYPE_CHECKING:
    from registry import SchemaRegistryClient

PREFIX = "SCHEMA_REGISTRY_"
NO_REGISTRY = "NO_REGISTRY"
NUMBERS = frozenset(
    (
        "timeout",
        "max.retries",
        "retries.wait.ms",
        "retries.max.wait.ms",
        "cache.capacity",
        "cache.latest.ttl.sec",
        "missing.cache.size",
        "missing.id.cache.ttl.sec",
    )
)


def _value(key: str, text: str) -> object:
    """A property's value out of a text."""
    if key in NUMBERS:
        try:
            return float(text) if "." in text else int(text)
        except ValueError as error:
            raise Unusable(f"{key} must be a number, not {text!r}", kind="CONFIGURATION") from error
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return text


def properties(
    settings: Settings, url: str | None, given: Sequence[str], environment: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The client's properties: those given, over the environment's, over the file's.

    Args:
        settings: the configuration file.
        url: of the command line, None if it has none.
        given: `key=value` texts of the command line.
        environment: variables; None for the process's.

    Raises:
        Unusable: no URL is known, or a text is not `key=value`.
    """
    from registry.client.config_table import TABLE

    variables = os.environ if environment is None else environment
    found: dict[str, Any] = dict(settings.client)
    if settings.registry is not None:
        found["url"] = settings.registry
    for key in TABLE.by_name:
        text = variables.get(PREFIX + key.upper().replace(".", "_"))
        if text:
            found[key] = _value(key, text)
    if url is not None:
        found["url"] = url
    for item in given:
        key, equals, text = item.partition("=")
        if not equals:
            raise Unusable(f"-X {item!r} is not key=value", kind="CONFIGURATION")
        found[key.strip()] = _value(key.strip(), text)
    if "url" not in found:
        raise Unusable(
            "which registry? Give --registry URL, set SCHEMA_REGISTRY_URL, or `registry` in kserdes.toml",
            kind=NO_REGISTRY,
        )
    return found


def connect(settings: Settings, url: str | None, given: Sequence[str]) -> SchemaRegistryClient:
    """A client.

    Raises:
        Unusable: the configuration does not do.
    """
    conf = properties(settings, url, given)
    from registry import SchemaRegistryClient

    try:
        return SchemaRegistryClient(conf)
    except (ValueError, TypeError) as error:
        raise Unusable(f"the registry client can't be configured: {error}", kind="CONFIGURATION") from error
