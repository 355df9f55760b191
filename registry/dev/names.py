"""Names of subjects: `subject` in the default context, `:.context:subject` in another one, `:.context:` for all of it.

Must not know of state. Source: Confluent's `QualifiedSubject`, without tenants.
"""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_CONTEXT = "."
GLOBAL_CONTEXT = ".__GLOBAL"
"""Settings of this context count where neither the subject nor its own context has any."""
EVERYWHERE = ":*:"
WILDCARD = "*"
RESERVED = frozenset({"__GLOBAL", "__EMPTY"})


def context_name(text: str) -> str:
    """The context a part of a URL means: `.a`, `a` and `:.a:` are all `.a`.

    Raises:
        ValueError: a colon inside.
    """
    name = text.removeprefix(":").removesuffix(":")
    if ":" in name:
        raise ValueError("Context name cannot contain a colon")
    return name if name.startswith(".") else f".{name}"


@dataclass(frozen=True, slots=True, order=True)
class Name:
    """A subject in its context.

    Attributes:
        context: starts with a dot; `.` is the default one.
        subject: empty for the context as a whole.
    """

    context: str
    subject: str

    @classmethod
    def parse(cls, text: str) -> Name:
        """Reads a name as it stands in URLs and bodies."""
        if text.startswith(EVERYWHERE):
            return cls(WILDCARD, text[len(EVERYWHERE) :])
        if not text.startswith(":."):
            return cls(DEFAULT_CONTEXT, text)
        context, _, subject = text[1:].partition(":")
        return cls(context, subject)

    def __str__(self) -> str:
        return self.prefix + self.subject

    @property
    def prefix(self) -> str:
        """The text before the subject: empty in the default context."""
        return "" if self.context == DEFAULT_CONTEXT else f":{self.context}:"

    @property
    def is_qualified(self) -> bool:
        """Whether it names a context other than the default one."""
        return self.context != DEFAULT_CONTEXT

    @property
    def scope(self) -> str:
        """The key of the context's settings: empty for the default one, which has the global ones."""
        return self.prefix

    def beside(self, text: str) -> Name:
        """The subject that `text` means when it is said within this name's context."""
        other = Name.parse(text)
        return other if other.is_qualified else Name(self.context, other.subject)

    def is_valid(self) -> bool:
        """Whether schemas may be registered under it."""
        if any(ord(letter) < 0x20 or 0x7F <= ord(letter) <= 0x9F for letter in str(self)):
            return False
        return bool(self.subject) and self.subject not in RESERVED and self.context not in (GLOBAL_CONTEXT, WILDCARD)
