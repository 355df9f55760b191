"""Text made of fields with separators between them, as some properties of librdkafka's hold.

Must not know the properties. Spec: librdkafka's CONFIGURATION.md and observed answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

SPACE: Final = " \t\n\v\f\r"
"""The characters that C's `isspace` takes for blank; a no-break space is none."""
ESCAPES: Final = {"t": "\t", "n": "\n", "r": "\r", "0": "\0"}


def _characters(raw: str) -> Iterator[tuple[str, bool]]:
    """Characters, and whether a backslash stood before them; one at the very end is dropped."""
    characters = iter(raw)
    for character in characters:
        if character != "\\":
            yield character, False
            continue
        escaped = next(characters, None)
        if escaped is not None:
            yield ESCAPES.get(escaped, escaped), True


def fields_of(raw: str, separator: str) -> list[str]:
    r"""Fields between separators, empty ones too.

    A backslash takes the next character as it is, but `\t`, `\n`, `\r` and `\0` for what they mean. Blanks before a
    field count only if escaped, blanks behind it never.
    """
    fields: list[list[str]] = [[]]
    for character, escaped in _characters(raw):
        if not escaped and not fields[-1] and character in SPACE:
            continue
        if not escaped and character == separator:
            fields.append([])
        else:
            fields[-1].append(character)
    return ["".join(field).rstrip(SPACE) for field in fields]
