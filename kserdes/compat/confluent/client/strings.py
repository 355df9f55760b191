"""Texts of `key=value` fields as librdkafka splits them, by the names of confluent_kafka's private module.

Knows no property. Source: librdkafka's CONFIGURATION.md and observed answers.
"""

from __future__ import annotations

from kserdes_base.fields import fields_of

__all__ = ["parse_key_values", "split"]


def split(raw: str, sep: str, skip_empty: bool) -> list[str]:
    r"""Fields between separators.

    A backslash takes the next character as it is, but `\t`, `\n`, `\r` and `\0` for what they mean. Blanks before a
    field count only if escaped, blanks behind it never.

    Args:
        raw: the text.
        sep: the separator; of a longer text the first character.
        skip_empty: leaves empty fields out.

    Raises:
        TypeError: `raw` is None.
    """
    if raw is None:
        raise TypeError("raw must not be None")
    texts = fields_of(raw, sep[:1])
    return [text for text in texts if text or not skip_empty]


def parse_key_values(raw: str, sep: str, context_label: str | None = None) -> list[tuple[str, str]]:
    """Fields as (key, value), cut at their first `=`; empty ones are left out.

    Args:
        raw: the text.
        sep: the separator of fields.
        context_label: what errors say the text is.

    Raises:
        TypeError: `raw` is None.
        ValueError: a field has no `=`, or no key before it.
    """
    pairs = []
    for field in split(raw, sep, skip_empty=True):
        key, equals, value = field.partition("=")
        if not equals or not key:
            where = f" in {context_label}" if context_label else ""
            raise ValueError(f"Malformed entry '{field}'{where} (expected key=value).")
        pairs.append((key, value))
    return pairs
