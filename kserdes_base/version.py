"""The version of the distribution, as text and as confluent_kafka's pair of text and number."""

from __future__ import annotations

from typing import Final

VERSION: Final = "0.1.0"
"""Sent to brokers, so in the alphabet that KIP-511 allows: letters, digits, dots and hyphens."""


def version() -> str:
    """The version of kserdes."""
    return VERSION


def libversion() -> tuple[str, int]:
    """Version of the client core as (text, number); the number is 0xMMmmrrff as librdkafka counts."""
    major, minor, revision = (int(part) for part in VERSION.split("."))
    return VERSION, (major << 24) | (minor << 16) | (revision << 8) | 0xFF
