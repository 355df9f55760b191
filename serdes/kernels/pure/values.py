"""A look at a whole value before it is encoded as JSON, or after it was decoded: may the fast library be trusted?

Must not know of schemas or bytes. Nothing is changed here, and no code of the value's types runs.
"""

from __future__ import annotations

from typing import Any, Final

__all__ = ["DEEP", "LARGE", "NOT_FINITE", "OTHER", "survey"]

OTHER: Final = 1
"""Something is not exactly a dict with str keys, list, tuple, str, int, float, bool or None."""
NOT_FINITE: Final = 2
"""A float is NaN or infinite, which JSON has no numbers for."""
LARGE: Final = 4
"""A float is 2**63 or more: if it was decoded, it may have been an integer."""
DEEP: Final = 8
"""It is nested deeper than allowed; nothing below was looked at."""
INTEGERS_END: Final = 9223372036854775808.0


def survey(value: Any, levels: int) -> int:
    """The traits of a value, as a sum of the constants of this module; 0 for none.

    Args:
        value: the value.
        levels: how many levels of dicts, lists and tuples are allowed.
    """
    kind = value.__class__
    if kind is str or kind is int or value is None or kind is bool:
        return 0
    if kind is float:
        if value - value != 0.0:
            return NOT_FINITE
        return LARGE if abs(value) >= INTEGERS_END else 0
    if isinstance(value, dict):
        if levels <= 0:
            return DEEP
        found = 0 if kind is dict else OTHER
        for key, item in dict.items(value):
            found |= survey(item, levels - 1)
            if key.__class__ is not str:
                found |= OTHER
            if found & DEEP:
                break
        return found
    if isinstance(value, (list, tuple)):
        if levels <= 0:
            return DEEP
        found = 0 if kind is list or kind is tuple else OTHER
        for item in list.__iter__(value) if isinstance(value, list) else tuple.__iter__(value):
            found |= survey(item, levels - 1)
            if found & DEEP:
                break
        return found
    return OTHER
