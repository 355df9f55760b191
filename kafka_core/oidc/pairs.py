"""Text made of `name=value` pairs with commas between them, as some properties hold.

Knows nothing of the properties. A backslash takes the next character as it is. Spec: librdkafka's CONFIGURATION.md.
"""

from __future__ import annotations

import re
from typing import Final

from kafka_core.errors import ConfigError

_PIECES: Final = re.compile(r"(?:[^,\\]|\\.)+", re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)


def pairs_of(text: str, property: str) -> list[tuple[str, str]]:
    """The pairs in their order; blanks around names and values do not count.

    Args:
        property: whose text it is.

    Raises:
        ConfigError: a piece has no name or no `=`. The text shows the names only, for values may be secret.
    """
    pairs = []
    for number, piece in enumerate(_PIECES.findall(text), 1):
        if not piece.strip():
            continue
        name, equals, value = piece.partition("=")
        if not equals or not name.strip():
            raise ConfigError(f"{property}: piece {number} is not of the form name=value", property=property)
        pairs.append((_ESCAPED.sub(r"\1", name).strip(), _ESCAPED.sub(r"\1", value).strip()))
    return pairs
