"""Tags of a field: patterns of its full name, as a schema's metadata gives them.

Must not know of rules. Source: the patterns of Confluent's `WildcardMatcher`: `?` is one character of a name, `*` any
of them but a dot, `**` any with dots, a backslash takes the next character as it is.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping

TOKENS = re.compile(r"\*\*|\*|\?|\\.|\\\Z|[^*?\\]+", re.DOTALL)
MEANING = {"**": ".*", "*": r"[^.]*", "?": r"[^.]"}


def matching_tags(full_name: str, tags: Mapping[str, Iterable[str]]) -> frozenset[str]:
    """All tags of the patterns that a full name matches."""
    return frozenset(tag for pattern, names in tags.items() if matches(full_name, pattern) for tag in names)


def matches(full_name: str, pattern: str) -> bool:
    """Whether a pattern matches a whole name."""
    return _compiled(pattern).fullmatch(full_name) is not None


@functools.lru_cache(1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    # "**.*" is any name with at least what "**" takes: the dot may be missing
    parts = [_part(token) for token in TOKENS.findall(pattern.replace("**.*", "**"))]
    # a run of stars says no more than its widest; written out it could take exponential time
    kept = [
        part for index, part in enumerate(parts) if not (index and part == parts[index - 1] and part in (".*", "[^.]*"))
    ]
    return re.compile("".join(kept), re.DOTALL)


def _part(token: str) -> str:
    if token in MEANING:
        return MEANING[token]
    return re.escape(token[1:] or "\\") if token.startswith("\\") else re.escape(token)
