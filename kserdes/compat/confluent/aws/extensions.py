"""`sasl.oauthbearer.extensions` as confluent_kafka's private module for AWS reads it."""

from __future__ import annotations

from typing import Final

from kserdes.compat.confluent.client.strings import parse_key_values

__all__ = ["CONFIG_KEY", "parse"]

CONFIG_KEY: Final = "sasl.oauthbearer.extensions"


def parse(raw: str | None) -> dict[str, str] | None:
    """Extensions by name, the last of a name; None where there are none.

    Raises:
        ValueError: a field has no `=` or no name.
    """
    return dict(parse_key_values(raw, ",", CONFIG_KEY)) or None if raw else None
