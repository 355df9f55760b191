"""The error of input that a command can't use: it ends the command with a sentence, or becomes a finding of a file.

Must not know commands.
"""

from __future__ import annotations


class Unusable(Exception):
    """Input that can't be used: a file, a revision, a configuration.

    Attributes:
        message: a sentence for people.
        line: where in the file, from 1.
        column: where in the line, from 1.
        kind: the finding's kind.
    """

    def __init__(self, message: str, line: int = 1, column: int = 1, kind: str = "UNUSABLE_FILE") -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column
        self.kind = kind
