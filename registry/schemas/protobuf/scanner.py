"""The words of a `.proto` text: a cursor that skips blanks and comments.

Must not know the grammar. Source: lexical elements of the Protobuf language specification; square/wire's
`SyntaxReader`: a word is letters, digits, `_`, `-` and `.`, quoted strings next to each other are one.
"""

from __future__ import annotations

import re
from typing import Final, NoReturn

from registry.errors import InvalidSchemaError

BLANK = re.compile(r"(?:[ \t\r\n\f\v]++|//[^\n]*+|/\*.*?\*/)*+", re.DOTALL)
BLANKS: Final = " \t\r\n\f\v/"
WORD = re.compile(r"[A-Za-z0-9_.\-]+")
EXPONENT_WORD = re.compile(r"(?:-?\d+\.?\d*[eE]\+\d+|[A-Za-z0-9_.\-]+)")
"""Of protoc: a number may have a plus in its exponent, and protoc itself writes such defaults into descriptors."""
NUMBER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|\d{1,20})")
STRING_PART = re.compile(r"""[^"'\\\n]+""")
ESCAPE = re.compile(r"\\(?:[xX]([0-9a-fA-F]{1,2})|([0-7]{1,3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
NAMED_ESCAPES: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
SEMICOLONS = re.compile(r"[;\s]*")
MIN_INT, MAX_INT = -(2**31), 2**31 - 1


class Scanner:
    """A cursor in a text. What it returns is behind the cursor then.

    Args:
        text: the text; a byte order mark is skipped.
        prefix: in front of every error.
        as_protoc: whether numbers are read that protoc takes and wire does not.
    """

    __slots__ = ("_at", "_prefix", "_text", "_word")

    def __init__(self, text: str, prefix: str = "", as_protoc: bool = False) -> None:
        self._word = EXPONENT_WORD if as_protoc else WORD
        self._text = text
        self._prefix = prefix
        self._at = 1 if text.startswith("\ufeff") else 0

    def _skip(self) -> None:
        if self._text[self._at : self._at + 1] not in BLANKS:
            return
        found = BLANK.match(self._text, self._at)
        assert found is not None
        self._at = found.end()
        if self._text.startswith("/*", self._at):
            self.fail("unterminated comment")

    def at_end(self) -> bool:
        """Whether nothing is left."""
        self._skip()
        return self._at == len(self._text)

    def at(self, expected: str) -> bool:
        """Whether this is next."""
        self._skip()
        return self._text.startswith(expected, self._at)

    def at_string(self) -> bool:
        """Whether a quoted string is next."""
        return self.at('"') or self._text.startswith("'", self._at)

    def at_letter(self) -> bool:
        """Whether a word is next that is not a number."""
        self._skip()
        return self._text[self._at : self._at + 1].isalpha()

    def take(self, expected: str) -> bool:
        """Steps over this if it is next."""
        if not self.at(expected):
            return False
        self._at += len(expected)
        return True

    def skip_semicolons(self) -> None:
        """Steps over empty statements."""
        found = SEMICOLONS.match(self._text, self._at)
        assert found is not None
        self._at = found.end()

    def need(self, expected: str) -> None:
        """Steps over this.

        Raises:
            InvalidSchemaError: something else is next.
        """
        if not self.take(expected):
            self.fail(f"expected '{expected}', found {self._next()}")

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """A match of a pattern right here; `skip_to` its end accepts it."""
        return pattern.match(self._text, self._at)

    def skip_to(self, offset: int) -> None:
        """Moves the cursor."""
        self._at = offset

    def word(self) -> str:
        """A word: a keyword, a name with dots, a number.

        Raises:
            InvalidSchemaError: something else is next.
        """
        self._skip()
        found = self._word.match(self._text, self._at)
        if found is None:
            self.fail(f"expected a word, found {self._next()}")
        self._at = found.end()
        return found[0]

    def name(self) -> str:
        """A word, perhaps in parentheses or brackets, which are dropped.

        Raises:
            InvalidSchemaError: something else is next.
        """
        for opening, closing in ("()", "[]"):
            if self.take(opening):
                inner = self.word()
                while opening == "[" and self.take("/"):  # [type.googleapis.com/a.B] of text format
                    inner += "/" + self.word()
                self.need(closing)
                return inner
        return self.word()

    def integer(self) -> int:
        """A number, decimal or hexadecimal, of 32 bits.

        Raises:
            InvalidSchemaError: something else is next.
        """
        word = self.word()
        value = int(word, 16 if "x" in word.lower() else 10) if NUMBER.fullmatch(word) else None
        if value is None or not MIN_INT <= value <= MAX_INT:
            self.fail(f"expected an integer, found '{word[:100]}'")
        return value

    def string(self) -> str:
        """A quoted string, or several next to each other.

        Raises:
            InvalidSchemaError: something else is next, or it does not end.
        """
        if not self.at_string():
            self.fail(f"expected a string, found {self._next()}")
        parts: list[str] = []
        while self.at_string():
            self._quoted(parts)
        return "".join(parts)

    def _quoted(self, parts: list[str]) -> None:
        text, quote = self._text, self._text[self._at]
        self._at += 1
        while True:
            if (plain := STRING_PART.match(text, self._at)) is not None:
                parts.append(plain[0])
                self._at = plain.end()
            character = text[self._at : self._at + 1]
            if not character:
                self.fail("unterminated string")
            if character == "\\":
                parts.append(self._escape())
                continue
            self._at += 1
            if character == quote:
                return
            parts.append(character)

    def _escape(self) -> str:
        found = ESCAPE.match(self._text, self._at)
        if found is None:
            self.fail("unterminated string")
        self._at = found.end()
        hexadecimal, octal, short, long, other = found.groups()
        if other is not None:
            return NAMED_ESCAPES.get(other, other)
        code = int(octal, 8) if octal else int(hexadecimal or short or long, 16)
        return chr(code) if code < 0x110000 else "\ufffd"

    def _next(self) -> str:
        return f"'{self._text[self._at]}'" if self._at < len(self._text) else "the end"

    def fail(self, reason: str) -> NoReturn:
        """Refuses the text.

        Raises:
            InvalidSchemaError: always; with the place of the cursor.
        """
        before = self._text[: self._at]
        line, column = before.count("\n") + 1, self._at - (before.rfind("\n") + 1) + 1
        raise InvalidSchemaError.local(f"{self._prefix}line {line}, column {column}: {reason}")
