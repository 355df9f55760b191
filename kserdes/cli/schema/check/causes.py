"""Puts differences that have one cause together: a change in a type that several places use is one finding.

Must not judge, nor lose a difference: those that a cause explains are kept as its users. The cause is the place in the
type's definition, in the file that defines it. What can't be traced to one changed type stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from kserdes.cli.schema.check.shared_types import Definition, Key, Types, Use, pointer_of
from kserdes.cli.schema.findings import Cause, FileResult, Finding, User
from kserdes.cli.schema.outline.pointing import carried
from kserdes.cli.schema.outline.positions import Lines, Positions, pointer_parts
from kserdes.cli.schema.outline.protobuf import outline
from kserdes.cli.schema.source.linking import Collection, Document, blank_comments
from registry import Schema, SchemaReference
from registry.compat import Difference
from registry.schemas.references import Resolver

ItemT = TypeVar("ItemT")
SAME_TYPE = re.compile(r"is an? \w+ (\S+), and is written as an? \w+ \1, ?")


@dataclass(frozen=True, slots=True)
class Traced:
    """The origin of a difference.

    Attributes:
        definition: the type, as the new schema has it.
        steps: into the document that defines it.
        direct: whether the path leads to the cause; else it leads to a place that uses the type.
    """

    definition: Definition
    steps: tuple[str, ...]
    direct: bool

    @property
    def pointer(self) -> str:
        """The place in the document that defines the type."""
        return f"#{pointer_of(self.steps)}"


class Tracer:
    """Finds what caused the differences between two schemas.

    Args:
        new: the new schema.
        old: the registered one.
        resolve: the schema a reference stands for.
    """

    def __init__(self, new: Schema, old: Schema, resolve: Resolver) -> None:
        self._new, self._old = Types(new, resolve), Types(old, resolve)

    def trace(self, paths: Sequence[str], forward: bool) -> list[Traced | None]:
        """The cause of each difference of one direction, None where it is not one type.

        Args:
            paths: those of the differences.
            forward: whether they lead into the old schema.
        """
        reader, other = (self._old, self._new) if forward else (self._new, self._old)
        found: list[Traced | None] = []
        open_ones: list[tuple[int, list[Definition]]] = []
        for path in paths:
            inside, rest, node = reader.trace(path)
            changed = self._used(reader, other, inside, rest, node)
            found.append(None if changed else self._direct(reader, other, inside, rest, forward))
            if changed:
                open_ones.append((len(found) - 1, changed))
        known = {item.definition.key for item in found if item is not None}
        for at, changed in open_ones:
            hit = [item for item in changed if item.key in known] or changed
            definition = self._new.get(hit[0].key) if len(hit) == 1 else None
            found[at] = None if definition is None else Traced(definition, definition.steps, False)
        return found

    def _direct(
        self, reader: Types, other: Types, inside: Definition | None, rest: tuple[str, ...], forward: bool
    ) -> Traced | None:
        counterpart = None if inside is None else other.get(inside.key)
        if inside is None or counterpart is None or reader.own(inside) == other.own(counterpart):
            return None
        new = counterpart if forward else inside
        return Traced(new, (*new.steps, *(carried(rest, inside.node, new.node) if forward else rest)), True)

    @staticmethod
    def _used(
        reader: Types, other: Types, inside: Definition | None, rest: tuple[str, ...], node: Any
    ) -> list[Definition]:
        """The changed types that a place uses which is itself the same on both sides."""
        base, theirs = reader.root, other.root
        if inside is not None:
            counterpart = other.get(inside.key)
            if counterpart is None:
                return []
            base, theirs = inside.node, counterpart.node
        steps = carried(rest, base, theirs)
        if node is None or len(steps) < len(rest):
            return []
        for step in steps:
            theirs = theirs[int(step)] if isinstance(theirs, list) else theirs[step]
        space = "" if inside is None else inside.inner(reader.avro)[0]
        if node is base or reader.shape(node, space) != other.shape(theirs, space):
            return []
        pairs = ((item, other.get(item.key)) for item in reader.used(node, inside))
        return [item for item, match in pairs if match is not None and reader.own(item) != other.own(match)]


class FindingCauses:
    """Gives the findings of one file their causes.

    Args:
        files: the files.
        shown: path within the root → path for people.
        document: the file.
    """

    def __init__(self, files: Collection, shown: Callable[[str], str], document: Document) -> None:
        self._files = files
        self._shown = shown
        self._document = document

    def place(self, finding: Finding, traced: Traced, forward: bool) -> Finding:
        """The finding of a JSON document at its cause."""
        definition = traced.definition
        path = self._path(definition.reference)
        document = self._files.document(path)
        line, column = Lines(document.text).place(Positions(document.text).offset(traced.steps))
        uses = definition.uses if definition.steps or definition.reference else []
        lines, positions = Lines(self._document.text), Positions(self._document.text)
        users = tuple(
            User(
                self._shown(self._document.path),
                f"#{pointer_of(use.steps)}",
                use.name,
                *lines.place(positions.offset(use.steps)),
            )
            for use in uses
        )
        cause = Cause(self._shown(path), traced.pointer, _name(definition.key), forward, traced.direct)
        other = None if path == self._document.path else self._shown(path)
        return replace(finding, line=line, column=column, cause=cause, users=users, path=other)

    def proto(self, finding: Finding, forward: bool) -> Finding:
        """The finding of a .proto file at its cause."""
        found = _proto_cause(_linked(self._files, self._document), finding.pointer)
        if found is None:
            return finding
        document, name, offset = found
        line, column = Lines(document.text).place(offset)
        lines = Lines(self._document.text)
        users = tuple(
            User(
                self._shown(self._document.path),
                f"#/{'/'.join(scope)}/{number}",
                ".".join((*scope, field)),
                *lines.place(at),
            )
            for scope, field, number, at in _proto_uses(self._document.text, name)
        )
        cause = Cause(self._shown(document.path), finding.pointer, name, forward, True)
        other = None if document.path == self._document.path else self._shown(document.path)
        return replace(finding, line=line, column=column, cause=cause, users=users, path=other)

    def proto_uses(self, findings: Sequence[Finding]) -> list[Finding]:
        """The findings, those of fields whose type is changed elsewhere with that change as their cause."""
        types = {item.cause.type.rpartition(".")[2]: item for item in findings if item.cause is not None}
        found = []
        for item in findings:
            match = SAME_TYPE.search(item.message)
            home = None if match is None else types.get(match[1].rpartition(".")[2])
            if home is None or home is item or home.cause is None:
                found.append(item)
            else:
                cause = replace(home.cause, direct=False)
                found.append(replace(item, cause=cause, path=home.path, line=home.line, column=home.column, users=()))
        return found

    def _path(self, reference: SchemaReference | None) -> str:
        return self._document.path if reference is None else self._files.target(reference)


def _name(key: Key) -> str:
    return key[0] if len(key) == 1 else f"{key[0]}#{pointer_of(key[1:])}"


def _linked(files: Collection, document: Document) -> Iterator[tuple[Document, str]]:
    """A file and those that it imports, each with its text."""
    pending, seen = [document], {document.path}
    while pending:
        item = pending.pop(0)
        yield item, item.text
        for reference in files.schema(item.path).references:
            target = files.target(reference)
            if target not in seen:
                seen.add(target)
                pending.append(files.document(target))


def _referred(schema: Schema, resolve: Resolver) -> Iterator[tuple[SchemaReference | None, str]]:
    """A schema and those that it refers to, each with its text."""
    pending: list[tuple[SchemaReference | None, Schema]] = [(None, schema)]
    seen: set[str] = set()
    while pending:
        made, item = pending.pop(0)
        yield made, item.schema_str
        for reference in item.references:
            if reference.name not in seen:
                seen.add(reference.name)
                pending.append((reference, resolve(reference)))


def _proto_steps(pointer: str) -> tuple[str, ...]:
    return tuple(part for step in pointer_parts(pointer) for part in step.split(".") if part)


def _proto_cause(texts: Iterable[tuple[ItemT, str]], pointer: str) -> tuple[ItemT, str, int] | None:
    """The file, message and offset of a path of names; None if no file has just this path."""
    steps = _proto_steps(pointer)
    for item, text in texts:
        items = outline(text)
        package = next((tuple(entry.name.split(".")) for entry in items if entry.kind == "package"), ())
        for wanted in dict.fromkeys((steps, steps[len(package) :] if steps[: len(package)] == package else steps)):
            for entry in items:
                full = (*entry.scope, entry.number or entry.name)
                if entry.scope and wanted in (full, (*entry.scope, entry.name)):
                    return item, ".".join(entry.scope), entry.offset
    return None


def trace_proto(new: Schema, resolve: Resolver, differences: Sequence[Difference]) -> list[Traced | None]:
    """The cause of each difference between Protobuf schemas, None where the new one has no such place.

    Args:
        new: the new schema.
        resolve: the schema a reference stands for.
        differences: those of one direction.
    """
    texts = list(_referred(new, resolve)) if differences else []
    found = [_traced_proto(new, texts, item) for item in differences]
    types = {item.definition.key[0].rpartition(".")[2]: item for item in found if item is not None}
    for at, item in enumerate(differences):
        match = SAME_TYPE.search(item.message)
        home = None if match is None else types.get(match[1].rpartition(".")[2])
        if home is not None and home is not found[at]:
            found[at] = replace(home, direct=False)
    return found


def _traced_proto(
    new: Schema, texts: Sequence[tuple[SchemaReference | None, str]], difference: Difference
) -> Traced | None:
    hit = _proto_cause(texts, difference.path)
    if hit is None:
        return None
    reference, name, _ = hit
    uses = [
        Use((*scope, number), ".".join((*scope, field)))
        for scope, field, number, _ in _proto_uses(new.schema_str, name)
    ]
    steps = tuple(pointer_parts(difference.path))
    return Traced(Definition((name,), reference, steps, None, uses=uses), steps, True)


def _proto_uses(text: str, message: str) -> Iterable[tuple[tuple[str, ...], str, str, int]]:
    """The fields of a message's type: scope, name, number, offset."""
    clean, last = blank_comments(text), message.rpartition(".")[2]
    for item in outline(text):
        if item.kind == "field" and item.number is not None:
            words = re.findall(r"[\w.]+", clean[item.offset : clean.find("=", item.offset)])
            if len(words) > 1 and words[-2].rpartition(".")[2] == last:
                yield item.scope, item.name, item.number, item.offset


def gathered(results: Sequence[FileResult]) -> list[FileResult]:
    """The results with one finding for each cause: in the file that has it, if that is among them."""
    homes: dict[tuple[str, str, str, bool, str | None], tuple[int, int]] = {}
    kept: list[list[Finding]] = []
    moved: list[list[Cause]] = []
    order: list[tuple[int, Finding]] = []
    for at, result in enumerate(results):
        kept.append([])
        moved.append([])
        order += ((at, finding) for finding in result.findings)

    def rank(entry: tuple[int, Finding]) -> tuple[bool, bool]:
        cause = entry[1].cause
        return cause is not None and not cause.direct, entry[1].path is not None

    by_type: dict[tuple[str, str, bool, str | None], tuple[int, int]] = {}
    for at, finding in sorted(order, key=rank):
        cause = finding.cause
        if cause is None:
            kept[at].append(finding)
            continue
        here = finding.path is None
        key = (cause.path, cause.pointer, finding.kind, cause.forward, finding.against if here else None)
        kind = (cause.path, cause.type, cause.forward, finding.against if here else None)
        home = homes.get(key) if cause.direct else by_type.get(kind)
        if home is None:
            home = (at, len(kept[at]))
            kept[at].append(finding)
        else:
            main = kept[home[0]][home[1]]
            kept[home[0]][home[1]] = replace(
                main, users=_joined(main.users, _as_user(results[at], finding), finding.users)
            )
            if home[0] != at:
                moved[at].append(cause)
        for wider in {key[4], None} if here else {None}:
            homes.setdefault((*key[:4], wider), home)
            by_type.setdefault((*kind[:3], wider), home)
    return [
        replace(result, findings=tuple(_ordered(result.findings, kept[at])), causes=tuple(dict.fromkeys(moved[at])))
        for at, result in enumerate(results)
    ]


def _ordered(before: Sequence[Finding], kept: Sequence[Finding]) -> list[Finding]:
    places = {(item.kind, item.pointer, item.against): at for at, item in reversed(list(enumerate(before)))}
    return sorted(kept, key=lambda item: places[item.kind, item.pointer, item.against])


def _as_user(result: FileResult, finding: Finding) -> User:
    return User(result.path, finding.pointer, "", 0, 0, result.subject, finding.kind, finding.message, finding.against)


def _joined(users: Sequence[User], folded: User, more: Sequence[User]) -> tuple[User, ...]:
    """The users with a difference's: it belongs to the place it is at, or stands for itself."""
    found = dict.fromkeys(
        (*users, *(replace(user, subject=folded.subject) for user in more if user.path == folded.path))
    )
    found[folded] = None
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Group:
    """A difference, where it comes from, and the other differences that have the same cause."""

    difference: Difference
    cause: Traced | None
    others: Sequence[Difference] = ()

    @property
    def users(self) -> list[str]:
        """The places that use the type, if there are several."""
        if self.cause is None or len(self.cause.definition.uses) < 2:
            return []
        return list(dict.fromkeys(use.name for use in self.cause.definition.uses))


def grouped(differences: Sequence[Difference], traced: Sequence[Traced | None]) -> list[Group]:
    """Each cause once: a difference, where it comes from, and the other differences that it explains."""
    order = sorted(range(len(differences)), key=lambda at: (found := traced[at]) is not None and not found.direct)
    made: dict[object, tuple[int, list[int]]] = {}
    for at in order:
        found = traced[at]
        if found is None:
            made[at] = (at, [])
            continue
        types = (found.definition.key,)
        key: object = (found.pointer, differences[at].kind) if found.direct else types
        home = made.get(key)
        if home is None:
            home = made[key] = (at, [])
        else:
            home[1].append(at)
        made.setdefault(types, home)
    homes = dict(made.values())
    return [Group(differences[at], traced[at], [differences[other] for other in homes[at]]) for at in sorted(homes)]
