"""The incompatibilities of two Avro schemas: what keeps the reader's from reading data of the writer's.

Must not know of levels or registries. Source: Avro specification 1.12, "Schema Resolution"; where the specification
leaves room (names compared without namespace, enum defaults), Java's `SchemaCompatibility` is followed, since it is
the judge inside Confluent's registry.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, TypeAlias

from registry.compat.difference import AvroKind, Difference, Roles
from registry.errors import InvalidSchemaError
from registry.limits import MAX_AVRO_PAIR_DEPTH, MAX_AVRO_PAIRS
from registry.schemas.avro.types import (
    ArrayType,
    AvroType,
    EnumType,
    Field,
    FixedType,
    MapType,
    NamedType,
    Primitive,
    RecordType,
    TypeName,
    UnionType,
    type_name,
)

END_STEPS: Final = 8
"""Of longer paths, only so many steps at the start and at the end are shown."""
MANY_BRANCHES = 8
"""Unions with more branches are searched by name and kind; those with fewer as Java does, one by one."""
REASONS_BUDGET: Final = 50
"""The most steps of a message's search for the reasons why a branch does not read a type."""

# reader kind → writer kinds whose values it can read as its own
PROMOTIONS: dict[TypeName, frozenset[TypeName]] = {
    TypeName.LONG: frozenset({TypeName.INT}),
    TypeName.FLOAT: frozenset({TypeName.INT, TypeName.LONG}),
    TypeName.DOUBLE: frozenset({TypeName.INT, TypeName.LONG, TypeName.FLOAT}),
    TypeName.BYTES: frozenset({TypeName.STRING}),
    TypeName.STRING: frozenset({TypeName.BYTES}),
}


def differences(
    reader: AvroType, writer: AvroType, roles: Roles | None = None, policy: str = "STRICT"
) -> list[Difference]:
    """The incompatibilities; empty if all data of `writer` can be read with `reader`.

    A difference in a type that is mentioned often is one difference, at the place where it was met first.

    Args:
        reader: reads.
        writer: has written.
        roles: how messages call the two.
        policy: not used, Avro knows only one.

    Cost: one comparison for each pair of types that meet, however often they meet; Python's stack is not used.

    Raises:
        InvalidSchemaError: more than `MAX_AVRO_PAIRS` pairs would have to be compared, or pairs deeper than
            `MAX_AVRO_PAIR_DEPTH`.
    """
    return _Comparison(roles or Roles()).run(reader, writer)


@dataclass(slots=True, eq=False)
class Result:
    """The result for a pair of types; `parts` in the order in which they were met."""

    compatible: bool = True
    parts: list[Difference | Result] = field(default_factory=list)

    def add(self, part: Difference | Result) -> None:
        """Takes in a difference, or the result of a pair inside this one."""
        if isinstance(part, Difference) or not part.compatible:
            self.compatible = False
            self.parts.append(part)

    def differences(self, budget: int | None = None) -> Iterator[Difference]:
        """All of them, each once, those of nested pairs too; with a budget, those found in so many steps."""
        seen: set[int] = set()
        todo: list[Difference | Result] = [self]
        while todo and budget != len(seen):
            part = todo.pop()
            if isinstance(part, Difference):
                yield part
            elif id(part) not in seen:
                seen.add(id(part))
                todo += reversed(part.parts)


@dataclass(frozen=True, slots=True)
class Path:
    """A place in the reader's schema; written out only where something is found, at a bounded cost."""

    parent: Path | None = None
    step: str = ""
    depth: int = 0
    head: str = ""
    """The start of the path, known from `END_STEPS` on."""

    def __str__(self) -> str:
        steps: list[str] = []
        at: Path = self
        while at.parent is not None and (len(steps) < END_STEPS or self.depth <= 2 * END_STEPS):
            steps.append(at.step)
            at = at.parent
        tail = "/".join(reversed(steps))
        return f"/{tail}" if at.parent is None else f"{self.head}/…/{tail}"

    def __truediv__(self, step: str) -> Path:
        made = Path(self, step, self.depth + 1, self.head)
        return Path(self, step, made.depth, str(made)) if made.depth == END_STEPS else made


Walk: TypeAlias = Generator[tuple[AvroType, AvroType, Path], Result, Result]
"""A comparison under way: yields pairs of types, is sent their results, returns its own."""

COMPATIBLE: Final = Result()


class _Comparison:
    """One run over two schemas. Pairs that are being compared count as compatible: recursive types end so."""

    def __init__(self, roles: Roles) -> None:
        self._roles = roles
        self._seen: dict[tuple[int, int], Result] = {}
        self._branches: dict[int, _Branches] = {}
        self._ambiguous = Result()

    def run(self, reader: AvroType, writer: AvroType) -> list[Difference]:
        """Drives the walks: a walk waits on the stack for the results of those it asked for."""
        answer = self._start(reader, writer, Path())
        stack: list[tuple[Walk, tuple[int, int]]] = []
        while True:
            if isinstance(answer, Result):
                if not stack:
                    return list(dict.fromkeys([*self._ambiguous.differences(), *answer.differences()]))
                walk, key = stack[-1]
            else:
                walk, key = answer, (id(reader), id(writer))
                stack.append((walk, key))
                if len(stack) > MAX_AVRO_PAIR_DEPTH:
                    raise InvalidSchemaError.local(f"types are nested deeper than {MAX_AVRO_PAIR_DEPTH} levels")
            try:
                reader, writer, path = walk.send(answer if isinstance(answer, Result) else None)  # type: ignore[arg-type]
            except StopIteration as stop:
                answer = self._seen[key] = stop.value if not stop.value.compatible else COMPATIBLE
                stack.pop()
            else:
                answer = self._start(reader, writer, path)

    def _start(self, reader: AvroType, writer: AvroType, path: Path) -> Result | Walk:
        """The result if it is known or simple, else a walk that will find it."""
        key = (id(reader), id(writer))
        if key in self._seen:
            return self._seen[key]
        walk = self._walk(reader, writer, path)
        if walk is None:
            return self._simple(reader, writer, path)
        if len(self._seen) >= MAX_AVRO_PAIRS:
            raise InvalidSchemaError.local(f"more than {MAX_AVRO_PAIRS} pairs of types would have to be compared")
        self._seen[key] = COMPATIBLE
        return walk

    def _walk(self, reader: AvroType, writer: AvroType, path: Path) -> Walk | None:
        if isinstance(writer, UnionType):
            return self._writer_union(reader, writer, path)
        if isinstance(reader, UnionType):
            return self._reader_union(reader, writer, path)
        if isinstance(reader, RecordType) and isinstance(writer, RecordType):
            return self._records(reader, writer, path)
        if isinstance(reader, ArrayType) and isinstance(writer, ArrayType):
            return self._inner(reader.items, writer.items, path / "items")
        if isinstance(reader, MapType) and isinstance(writer, MapType):
            return self._inner(reader.values, writer.values, path / "values")
        return None

    def _simple(self, reader: AvroType, writer: AvroType, path: Path) -> Result:
        if isinstance(reader, EnumType) and isinstance(writer, EnumType):
            found = self._names(reader, writer, path)
            self._symbols(reader, writer, path, found)
        elif isinstance(reader, FixedType) and isinstance(writer, FixedType):
            found = self._names(reader, writer, path)
            self._size(reader, writer, path, found)
        elif reader.kind is writer.kind or writer.kind in PROMOTIONS.get(reader.kind, ()):
            return COMPATIBLE
        else:
            return self._type_mismatch(reader, writer, path)
        self._seen[id(reader), id(writer)] = found
        return found

    def _inner(self, reader: AvroType, writer: AvroType, path: Path) -> Walk:
        return (yield reader, writer, path)

    def _writer_union(self, reader: AvroType, writer: UnionType, path: Path) -> Walk:
        """Every branch that may have been written must be readable."""
        found = Result()
        for branch in writer.branches:
            if not _has_primitive(reader, branch):
                found.add((yield reader, branch, path))
        return found

    def _reader_union(self, reader: UnionType, writer: AvroType, path: Path) -> Walk:
        near: list[Result] = []
        for at in self._candidates(reader, writer):
            branch = reader.branches[at]
            known = self._seen.get((id(branch), id(writer)))
            result = known if known is not None else (yield branch, writer, path / str(at))
            if result.compatible:
                return COMPATIBLE
            if not isinstance(branch, NamedType):
                near += [result] if branch.kind is writer.kind else []
            elif isinstance(writer, NamedType) and branch.kind is writer.kind and _named_alike(branch, writer):
                near.append(result)
        return self._missing_branch(reader, writer, path, near)

    def _candidates(self, reader: UnionType, writer: AvroType) -> Iterable[int]:
        if len(reader.branches) <= MANY_BRANCHES:
            return range(len(reader.branches))
        if id(reader) not in self._branches:
            self._branches[id(reader)] = _Branches(reader)
        return self._branches[id(reader)].like(writer)

    def _records(self, reader: RecordType, writer: RecordType, path: Path) -> Walk:
        found = self._names(reader, writer, path)
        written = {item.name: item for item in writer.fields}
        for at, item in enumerate(reader.fields):
            names = [name for name in (item.name, *item.aliases) if name in written]
            if len(names) > 1:
                self._ambiguous.add(self._ambiguity(item, reader, names, path / f"fields/{at}"))
            elif names:
                source = written[names[0]]
                if not isinstance(item.type, Primitive) or item.type.kind is not source.type.kind:
                    found.add((yield item.type, source.type, path / f"fields/{at}/type"))
            elif not item.has_default:
                if isinstance(item.type, EnumType) and item.type.default is not None:
                    # Java compares the enum with the whole record here: a difference of another kind, still one.
                    found.add((yield item.type, writer, path / f"fields/{at}/type"))
                else:
                    found.add(self._missing_default(item, reader, path / f"fields/{at}"))
        return found

    # --- the differences, each with its sentence

    def _names(self, reader: RecordType | EnumType | FixedType, writer: NamedType, path: Path) -> Result:
        if _named_alike(reader, writer):
            return Result()
        return self._difference(
            AvroKind.NAME_MISMATCH,
            path / "name",
            f"{reader.kind.value} {reader.name} is called {writer.name} in {self._roles.writer}",
            f"keep the name {writer.name}, or add it to the aliases of {reader.name}",
            f"keep the name {reader.name}",
        )

    def _missing_branch(self, reader: UnionType, writer: AvroType, path: Path, near: list[Result]) -> Result:
        branches = ", ".join(type_name(branch) for branch in reader.branches[:20]) or "nothing"
        name = type_name(writer)
        what = f"the union of {branches} has no branch that reads {name}, which {self._roles.writer} may write"
        reasons = [
            f"{item.path} {item.kind}" for result in near for item in islice(result.differences(REASONS_BUDGET), 3)
        ]
        if reasons:
            what += f" (in the branch of this type: {', '.join(reasons)})"
            return self._difference(
                AvroKind.MISSING_UNION_BRANCH,
                path,
                what,
                f"make the branch {name} read it, or add another that does",
                f"change {name} back there, or keep it to what the union reads",
            )
        helps = f"add {name} to the union", f"write only what the union has: {branches}"
        return self._difference(AvroKind.MISSING_UNION_BRANCH, path, what, *helps)

    def _ambiguity(self, item: Field, reader: RecordType, names: list[str], path: Path) -> Result:
        return self._difference(
            AvroKind.AMBIGUOUS_FIELD,
            path,
            f"field {item.name!r} of {reader.name} and its aliases match more than one written field: "
            f"{', '.join(map(repr, names))}",
            "remove all but one of these aliases",
            f"keep only one field of {', '.join(map(repr, dict.fromkeys(names)))}",
        )

    def _missing_default(self, item: Field, reader: RecordType, path: Path) -> Result:
        return self._difference(
            AvroKind.READER_FIELD_MISSING_DEFAULT_VALUE,
            path,
            f"field {item.name!r} of {reader.name} has no default and is not in {self._roles.writer}",
            "give it a default",
            f"keep the field {item.name!r}",
        )

    def _symbols(self, reader: EnumType, writer: EnumType, path: Path, found: Result) -> None:
        known = set(reader.symbols)
        missing = [symbol for symbol in writer.symbols if symbol not in known]
        if not missing or reader.default is not None:
            return
        names = ", ".join(missing[:20]) + (f" and {len(missing) - 20} more" if len(missing) > 20 else "")
        found.add(
            self._difference(
                AvroKind.MISSING_ENUM_SYMBOLS,
                path / "symbols",
                f"enum {reader.name} has no default and lacks {names}, which {self._roles.writer} may write",
                "keep these symbols, or give the enum a default",
                "leave these symbols out",
            )
        )

    def _size(self, reader: FixedType, writer: FixedType, path: Path, found: Result) -> None:
        if reader.size == writer.size:
            return
        helps = "keep the size, or add a field of another fixed type instead"
        what = f"fixed {reader.name} has {reader.size} bytes, in {self._roles.writer} it has {writer.size}"
        found.add(self._difference(AvroKind.FIXED_SIZE_MISMATCH, path / "size", what, helps, helps))

    def _type_mismatch(self, reader: AvroType, writer: AvroType, path: Path) -> Result:
        wider = [kind.value for kind, readable in PROMOTIONS.items() if writer.kind in readable]
        return self._difference(
            AvroKind.TYPE_MISMATCH,
            path,
            f"{type_name(reader)} can't read {type_name(writer)}, which {self._roles.writer} writes",
            " or ".join(["keep the type", *([f"use {', '.join(wider)}"] if wider else []), "add a new field for it"]),
            f"keep the type {type_name(reader)}, or add a new field for the other type",
        )

    def _difference(self, kind: AvroKind, path: Path, what: str, reader_helps: str, writer_helps: str) -> Result:
        where = str(path)
        sentence = self._roles.sentence(where, what, reader_helps, writer_helps)
        return Result(False, [Difference(kind.value, where, sentence)])


class _Branches:
    """The branches of a large union by the types they read."""

    def __init__(self, union: UnionType) -> None:
        self._at: dict[Any, list[int]] = {}
        for at, branch in enumerate(union.branches):
            if isinstance(branch, NamedType):
                self._note(at, (branch.kind, branch.short_name))
                for alias in branch.aliases:
                    self._note(at, (branch.kind, "alias", alias))
            else:
                for kind in (branch.kind, *PROMOTIONS.get(branch.kind, ())):
                    self._note(at, kind)

    def _note(self, at: int, key: Any) -> None:
        self._at.setdefault(key, []).append(at)

    def like(self, writer: AvroType) -> list[int]:
        """Positions of the branches that may read a type, in their order."""
        if not isinstance(writer, NamedType):
            return self._at.get(writer.kind, [])
        by_name = self._at.get((writer.kind, writer.short_name), [])
        return sorted({*by_name, *self._at.get((writer.kind, "alias", writer.name), [])})


def _named_alike(reader: NamedType, writer: NamedType) -> bool:
    """Whether names match as Java has it: without their namespaces, or through an alias of the reader."""
    return reader.short_name == writer.short_name or writer.name in reader.aliases


def _has_primitive(reader: AvroType, writer: AvroType) -> bool:
    """Whether a small union has the very primitive; saves most of the work for nullable fields."""
    if not isinstance(writer, Primitive) or not isinstance(reader, UnionType) or len(reader.branches) > MANY_BRANCHES:
        return False
    return any(branch.kind is writer.kind for branch in reader.branches)
