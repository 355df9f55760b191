"""References between the schema files of a folder: Avro names, JSON Schema's `$ref`, Protobuf imports.

Must not judge schemas, nor open a file that the tree does not list: a reference that leads out of the folder or into
the network is an error, it is never followed. Every file becomes a `Schema` whose references name files of the tree.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from kserdes.cli.schema.outline.avro import AvroNames, avro_names
from kserdes.cli.schema.outline.positions import Lines
from kserdes.cli.schema.source.files import Tree
from kserdes.cli.schema.source.versions import numbered
from kserdes.cli.shell.unusable import Unusable
from registry import Schema, SchemaReference
from registry.schemas import documents

PROTO_NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|("[^"\\\n]*(?:\\.[^"\\\n]*)*"|\'[^\'\\\n]*(?:\\.[^\'\\\n]*)*\')', re.DOTALL
)
PROTO_IMPORT = re.compile(r"""(?:^|[;}])\s*import\s+(?:public\s+|weak\s+|option\s+)?(["'])(?P<path>[^"']+)\1\s*;""")
BUILT_IN_IMPORTS = ("google/protobuf/", "google/type/", "google/api/", "google/rpc/", "confluent/")
NAMED_SCHEMAS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")
DATA = ("enum", "const", "default", "examples")
META_SCHEMAS = ("http://json-schema.org/", "https://json-schema.org/")


@dataclass(frozen=True, slots=True)
class Document:
    """A schema file, read.

    Attributes:
        path: within the tree.
        text: its text.
        schema_type: AVRO, JSON or PROTOBUF.
        value: the JSON value; None for Protobuf.
    """

    path: str
    text: str
    schema_type: str
    value: Any


def parse_json(text: str, comments: bool = False) -> Any:
    """A JSON text as a value.

    Args:
        text: the text.
        comments: whether comments are passed over, as Java's Avro parser does.

    Raises:
        Unusable: it is not JSON, or nested too deep for a registry; with line and column.
    """
    try:
        return documents.loads(text)
    except ValueError as error:
        if comments and ("//" in text or "/*" in text):
            return parse_json(blank_comments(text))
        if isinstance(error, json.JSONDecodeError):
            raise Unusable(f"not JSON: {error.msg}", error.lineno, error.colno, "NOT_JSON") from error
        raise Unusable(f"not JSON: {error}", kind="NOT_JSON") from error


def blank_comments(text: str) -> str:
    """The text with `//` and `/* */` comments as blanks: all that is left keeps its place."""
    return PROTO_NOISE.sub(lambda match: match[1] or re.sub(r"[^\n]", " ", match[0]), text)


def proto_imports(text: str) -> list[tuple[str, int]]:
    """The paths a .proto file imports, each with its offset; comments and other strings are passed over."""
    found = []
    clean = blank_comments(text)
    at = 0
    while match := PROTO_IMPORT.search(clean, at):
        found.append((match["path"], match.start("path")))
        at = match.end() - 1
    return found


class Collection:
    """The schema files of one side of a comparison, with the references between them.

    Args:
        tree: the files.
        label: what to call this side in a reference's subject, e.g. `main`.
        type_of: path → schema type.
    """

    def __init__(self, tree: Tree, label: str, type_of: Callable[[str], str]) -> None:
        self.tree = tree
        self.label = label
        self._type_of = type_of
        self._documents: dict[str, Document] = {}
        self._schemas: dict[str, Schema] = {}

    def document(self, path: str) -> Document:
        """A file as a document.

        Raises:
            Unusable: it can't be read, or is not JSON where it should be.
        """
        found = self._documents.get(path)
        if found is None:
            text, kind = self.tree.read(path), self._type_of(path)
            found = Document(path, text, kind, None if kind == "PROTOBUF" else parse_json(text, kind == "AVRO"))
            self._documents[path] = found
        return found

    def schema(self, path: str) -> Schema:
        """A file as a schema whose references `resolve` understands.

        Raises:
            Unusable: it can't be read, or a reference leads nowhere.
        """
        found = self._schemas.get(path)
        if found is None:
            document = self.document(path)
            finders = {"AVRO": self._avro_references, "JSON": self._json_references, "PROTOBUF": self._proto_references}
            targets = dict(finders[document.schema_type](document))
            references = tuple(
                SchemaReference(name, f"{self.label}:{target}", 1) for name, target in sorted(targets.items())
            )
            found = Schema(document.text, document.schema_type, references)
            self._schemas[path] = found
        return found

    def owns(self, reference: SchemaReference) -> bool:
        """Whether a reference was made by this collection."""
        return reference.subject.startswith(f"{self.label}:")

    def target(self, reference: SchemaReference) -> str:
        """The path a reference of this collection leads to."""
        return reference.subject.removeprefix(f"{self.label}:")

    def resolve(self, reference: SchemaReference) -> Schema:
        """The schema a reference of this collection stands for."""
        return self.schema(self.target(reference))

    # --- Avro

    @cached_property
    def _avro_definers(self) -> dict[str, list[tuple[bool, str]]]:
        """Full name → (not the file's own type, path) of the files that define it; unreadable files define nothing."""
        found: dict[str, list[tuple[bool, str]]] = {}
        for path in self.tree.paths:
            if self._type_of(path) == "AVRO":
                names = self._names(path)
                for name in names.defined:
                    found.setdefault(name, []).append((names.top != name, path))
        return found

    def _names(self, path: str) -> AvroNames:
        try:
            return avro_names(self.document(path).value)
        except Unusable:
            return AvroNames()

    def _avro_references(self, document: Document) -> Iterator[tuple[str, str]]:
        for candidates in avro_names(document.value).missing:
            for name in candidates:
                definers = [item for item in self._avro_definers.get(name, ()) if item[1] != document.path]
                if definers:
                    yield name, self._best(name, definers, document)
                    break
            else:
                line, column = _place(document.text, f'"{candidates[-1]}"')
                raise Unusable(
                    f"{candidates[0]} is not defined in this file, nor in another below the root (--root)",
                    line,
                    column,
                    "UNRESOLVED_REFERENCE",
                )

    def _best(self, name: str, definers: list[tuple[bool, str]], document: Document) -> str:
        """The one file that defines a name: whose own type it is, in the same folder, of the highest version."""
        folder = posixpath.dirname(document.path)

        def rank(item: tuple[bool, str]) -> tuple[bool, bool, int]:
            version = numbered(item[1])
            return item[0], posixpath.dirname(item[1]) != folder, -(version.number if version else 0)

        ordered = sorted(definers, key=lambda item: (rank(item), item[1]))
        if len(ordered) > 1 and rank(ordered[0]) == rank(ordered[1]):
            line, column = _place(document.text, f'"{name}"', f'"{name.rpartition(".")[2]}"')
            paths = ", ".join(path for _, path in ordered)
            raise Unusable(f"{name} is defined in several files: {paths}", line, column, "AMBIGUOUS_REFERENCE")
        return ordered[0][1]

    # --- JSON Schema

    @cached_property
    def _json_ids(self) -> dict[str, str]:
        """`$id` (or draft-04's `id`) → path."""
        found: dict[str, str] = {}
        for path in self.tree.paths:
            if self._type_of(path) == "JSON":
                try:
                    identity = _json_id(self.document(path).value)
                except Unusable:
                    continue
                if identity:
                    found.setdefault(identity, path)
        return found

    def _json_references(self, document: Document) -> Iterator[tuple[str, str]]:
        identity = _json_id(document.value)
        inner = set(_inner_ids(document.value, identity))
        for reference in _json_refs(document.value):
            uri, _ = urldefrag(reference)
            absolute = urljoin(identity, uri) if identity else uri
            if not uri or absolute in inner or absolute == identity or uri.startswith(META_SCHEMAS):
                continue
            target = self._json_ids.get(absolute) or self._json_ids.get(uri)
            if target is None and not urlsplit(uri).scheme:
                target = self._beside(document, uri, reference)
            if target is None:
                raise _unresolved(
                    document, reference, "no file below the root (--root) has this $id; networks are not asked"
                )
            if target != document.path:
                yield uri, target

    def _beside(self, document: Document, uri: str, reference: str) -> str | None:
        """The file a relative reference leads to, seen from the file that has it."""
        folder = "" if uri.startswith("/") else posixpath.dirname(document.path)
        path = posixpath.normpath(posixpath.join(folder, unquote(uri).lstrip("/")))
        if path.startswith("../") or path == "..":
            raise _unresolved(document, reference, "it leads out of the root (--root) and is not read")
        if path not in self._paths:
            raise _unresolved(document, reference, f"there is no {path} below the root (--root)")
        return path

    # --- Protobuf

    @cached_property
    def _paths(self) -> frozenset[str]:
        return frozenset(self.tree.paths)

    def _proto_references(self, document: Document) -> Iterator[tuple[str, str]]:
        for name, offset in proto_imports(document.text):
            path = self._imported(document, name)
            if path is not None:
                yield name, path
            elif not name.startswith(BUILT_IN_IMPORTS):
                line, column = Lines(document.text).place(offset)
                inside = not posixpath.normpath(name).startswith(("../", "/")) and name != ".."
                reason = (
                    "there is no such file below the root (--root)"
                    if inside
                    else "it leads out of the root (--root) and is not read"
                )
                raise Unusable(f"import {name!r}: {reason}", line, column, "UNRESOLVED_REFERENCE")

    def _imported(self, document: Document, name: str) -> str | None:
        """The file an import names: from the root, else from the importing file's folder and those above it."""
        folder = posixpath.dirname(document.path)
        bases = [""]
        while folder:
            bases.append(folder)
            folder = posixpath.dirname(folder)
        for base in bases:
            path = posixpath.normpath(posixpath.join(base, name))
            if path in self._paths:
                return path
        return None


def _json_id(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    found = value.get("$id", value.get("id"))
    return urldefrag(found)[0] if isinstance(found, str) else ""


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    """All schemas in a JSON Schema; `enum`, `const`, `default` and `examples` hold data, unless they are names."""
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack += node
        elif isinstance(node, dict):
            yield node
            for key, item in node.items():
                if key in NAMED_SCHEMAS and isinstance(item, dict):
                    stack += item.values()
                elif key not in DATA:
                    stack.append(item)


def _json_refs(value: Any) -> Iterator[str]:
    for node in _nodes(value):
        for key in ("$ref", "$dynamicRef", "$recursiveRef"):
            found = node.get(key)
            if isinstance(found, str):
                yield found


def _inner_ids(value: Any, base: str) -> Iterator[str]:
    """The ids of schemas inside the document."""
    for node in _nodes(value):
        identity = _json_id(node)
        if identity:
            yield urljoin(base, identity)


def _place(text: str, *needles: str) -> tuple[int, int]:
    """Line and column of the first of some texts that is there."""
    return Lines(text).place(next((text.index(needle) for needle in needles if needle in text), 0))


def _unresolved(document: Document, reference: str, reason: str) -> Unusable:
    line, column = _place(document.text, json.dumps(reference))
    return Unusable(f"$ref {reference!r}: {reason}", line, column, "UNRESOLVED_REFERENCE")
