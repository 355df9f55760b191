"""The subject a schema file belongs to: by a table of patterns, else by a rule.

Must not read files. The rule is a text with `{stem}` (the file's name without suffix), `{folder}` (the folder's path),
`{path}` (both) and `{name}` (the schema's own full name); the default `{stem}` fits files named like their subjects.
A file of a version folder is called like the folder.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping

from kserdes.cli.schema.outline.avro import avro_names
from kserdes.cli.schema.source.files import matches
from kserdes.cli.schema.source.linking import Document, blank_comments
from kserdes.cli.schema.source.versions import numbered, split
from kserdes.cli.shell.unusable import Unusable

KNOWN = ("stem", "folder", "path", "name")
PROTO_PACKAGE = re.compile(r"(?:^|[;}])\s*package\s+([\w.]+)\s*;")
PROTO_MESSAGE = re.compile(r"(?:^|[;}])\s*message\s+(\w+)\s*\{")


def own_name(document: Document) -> str | None:
    """The schema's own full name: of the Avro type, JSON Schema's `title`, the first message with its package."""
    if document.schema_type == "AVRO":
        return avro_names(document.value).top
    if document.schema_type == "JSON":
        title = document.value.get("title") if isinstance(document.value, dict) else None
        return title if isinstance(title, str) and title else None
    clean = blank_comments(document.text)
    message, package = PROTO_MESSAGE.search(clean), PROTO_PACKAGE.search(clean)
    if message is None:
        return None
    return f"{package[1]}.{message[1]}" if package else message[1]


class Namer:
    """Names subjects.

    Args:
        rule: how a file without an entry is named.
        table: pattern of paths → subject.

    Raises:
        Unusable: the rule has a placeholder that does not exist.
    """

    def __init__(self, rule: str = "{stem}", table: Mapping[str, str] | None = None) -> None:
        self._rule = rule
        self._table = table or {}
        try:
            self._fields = {field for _, field, _, _ in string.Formatter().parse(rule) if field is not None}
        except ValueError as error:
            raise Unusable(f"subject rule {rule!r}: {error}", kind="CONFIGURATION") from error
        unknown = self._fields.difference(KNOWN)
        if unknown:
            known = ", ".join(f"{{{name}}}" for name in KNOWN)
            raise Unusable(
                f"subject rule {rule!r} has {{{min(unknown)}}}, which is not one of {known}", kind="CONFIGURATION"
            )

    def subject(self, path: str, document: Callable[[], Document]) -> str:
        """The subject of a file.

        Args:
            path: within the root.
            document: gives the file's document; called only if the rule needs it.

        Raises:
            Unusable: the rule needs a name and the schema has none, the document can't be read, or the name is no text.
        """
        for pattern, subject in self._table.items():
            if matches(path, (pattern,)):
                return subject
        version = numbered(path)
        folder, stem, _ = split(path) if version is None else split(version.key[0])
        name = None
        if "name" in self._fields:
            name = own_name(document())
            if name is None:
                raise Unusable(f"subject rule {self._rule!r}: the schema has no name", kind="NO_SUBJECT")
        if version is not None:  # of a folder `orders.v1` the whole name counts
            folder, _, stem = version.key[0].rpartition("/")
        whole = f"{folder}/{stem}" if folder else stem
        found = self._rule.format(stem=stem, folder=folder, path=whole, name=name)
        try:
            found.encode()
        except UnicodeEncodeError as error:
            shown = found.encode("utf-8", "backslashreplace").decode()
            raise Unusable(f"no subject can be called {shown}: that is not UTF-8", kind="NO_SUBJECT") from error
        return found
