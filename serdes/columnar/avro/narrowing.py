"""The reader's schema cut to what becomes columns: the paths that are asked for, and recursion to a depth.

Decoding with the narrower schema is all that projection is: what it lacks, resolution skips. Must not know of payloads
or of Arrow.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Final, TypeAlias

from registry.schemas.avro.model import ArrayType, AvroType, Field, MapType, RecordType, TypeName, UnionType
from serdes.columnar.contract import ColumnOptions
from serdes.errors import SerializationError

MAX_TYPES: Final = 100_000
"""Types in a schema written out, each as often as it is used: more don't become columns."""

Tree: TypeAlias = dict[str, "Tree"]
"""Wanted names → what of them is wanted; empty for all."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Narrowed:
    """A reader's schema as columns have it.

    Attributes:
        type: the schema.
        whole: fields of `type` by identity → their type before, where that is another: defaults are of that one.
    """

    type: AvroType
    whole: dict[int, AvroType]


def narrowed(reader: AvroType, options: ColumnOptions) -> Narrowed:
    """The schema with only the columns that `options` want.

    Raises:
        SerializationError: a path is not in the schema, or the schema is recursive and may not be, or too large.
    """
    cut = _Cut(options.recursive_max_depth)
    made = cut.of(reader, _tree(options.columns or ()), (), "")
    if made is None:
        raise SerializationError("the schema has no columns: it is nothing but recursion")
    return Narrowed(made, cut.whole)


def _tree(paths: Iterable[str]) -> Tree:
    tree: Tree = {}
    for path in sorted(paths, key=lambda path: path.count("."), reverse=True):
        *outer, last = path.split(".")
        at = tree
        for name in outer:
            at = at.setdefault(name, {})
        at[last] = {}  # shorter paths come last: `a` is all of `a`, whatever `a.b` said
    return tree


class _Cut:
    def __init__(self, max_depth: int) -> None:
        self._max_depth = max_depth
        self._types = 0
        self.whole: dict[int, AvroType] = {}

    def of(self, avro: AvroType, tree: Tree, inside: tuple[int, ...], path: str) -> AvroType | None:
        """The type cut; None if recursion leaves nothing of it."""
        self._types += 1
        if self._types > MAX_TYPES:
            raise SerializationError(
                f"the schema written out has over {MAX_TYPES} types: name the columns that you need"
            )
        if isinstance(avro, RecordType):
            return self._record(avro, tree, inside, path)
        if isinstance(avro, ArrayType):
            items = self.of(avro.items, tree, inside, path)
            return avro if items is avro.items else items and ArrayType(items, avro.props)
        if isinstance(avro, MapType):
            values = self.of(avro.values, tree, inside, path)
            return avro if values is avro.values else values and MapType(values, avro.props)
        if isinstance(avro, UnionType):
            return self._union(avro, tree, inside, path)
        if tree:
            raise SerializationError(f"columns: {path or 'the schema'} is no record, it has no {next(iter(tree))!r}")
        return avro

    def _union(self, avro: UnionType, tree: Tree, inside: tuple[int, ...], path: str) -> AvroType | None:
        if tree and sum(branch.kind is not TypeName.NULL for branch in avro.branches) != 1:
            raise SerializationError(f"columns: {path} is a union of several types, which can only be taken whole")
        made = [
            branch if branch.kind is TypeName.NULL else self.of(branch, tree, inside, path) for branch in avro.branches
        ]
        kept = [branch for branch in made if branch is not None]
        if len(kept) < len(made):
            return None
        same = all(one is other for one, other in zip(kept, avro.branches, strict=True))
        return avro if same else UnionType(kept, avro.props)

    def _record(self, avro: RecordType, tree: Tree, inside: tuple[int, ...], path: str) -> AvroType | None:
        depth = inside.count(id(avro))
        if depth and not self._max_depth:
            hint = "recursive types can't be columns; recursive_max_depth leaves out deeper fields"
            raise SerializationError(f"record {avro.name} contains itself: {hint}")
        if depth > self._max_depth:
            return None
        missing = [name for name in tree if name not in {field.name for field in avro.fields}]
        if missing:
            raise SerializationError(f"columns: {path or avro.name} has no field {missing[0]!r}")
        fields: list[Field] = []
        for field in avro.fields:
            if tree and field.name not in tree:
                continue
            kind = self.of(field.type, tree.get(field.name, {}), (*inside, id(avro)), _joined(path, field.name))
            if kind is None:
                continue
            if kind is field.type:
                fields.append(field)
            else:
                fields.append(dataclasses.replace(field, type=kind))
                self.whole[id(fields[-1])] = field.type
        if len(fields) == len(avro.fields) and all(a is b for a, b in zip(fields, avro.fields, strict=True)):
            return avro
        return dataclasses.replace(avro, fields=fields) if fields else None


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
