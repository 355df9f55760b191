"""Properties made of `name=value` pairs with commas between them.

Must not know which properties; how fields are split is in `kserdes_base.fields`.
"""

from __future__ import annotations

from kafka_core.errors import ConfigError
from kserdes_base.fields import SPACE, fields_of


def pairs_of(text: str, property: str) -> list[tuple[str, str]]:
    """The pairs in their order, cut at their first `=`; blanks around names and values do not count.

    Args:
        text: the property's value.
        property: whose text it is.

    Raises:
        ConfigError: a piece has no name or no `=`. The text shows the names only, for values may be secret.
    """
    pairs = []
    for number, piece in enumerate(filter(None, fields_of(text, ",")), 1):
        name, equals, value = piece.partition("=")
        if not equals or not name.strip():
            raise ConfigError(f"{property}: piece {number} is not of the form name=value", property=property)
        pairs.append((name.strip(SPACE), value.strip(SPACE)))
    return pairs
