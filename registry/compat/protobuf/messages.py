"""All differences between two schemas: messages, enums, oneofs, and the messages of other files their fields refer to.

Must not put anything into words. Source: Confluent's registry (`SchemaDiff`, `MessageSchemaDiff`, `OneOfDiff`,
`EnumSchemaDiff`). It follows references from field to field, again and again; here every pair of messages is compared
once and what is found is handed on to the fields that lead there, so that the cost is bounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from registry.compat.protobuf.fields import Pair, Side, compare_fields, same_scalars
from registry.compat.protobuf.kinds import COMPATIBLE, Change, ProtobufKind
from registry.errors import InvalidSchemaError
from registry.limits import MAX_PROTO_STEPS
from registry.schemas.protobuf.format import ProtobufSchema
from registry.schemas.protobuf.model import Enum, Field, File, Message, Type

K = ProtobufKind


Lead = tuple[Change, Pair]
"""A change to report of a field if the messages it refers to turn out to differ."""


@dataclass(slots=True)
class _Node:
    """A pair of messages reached through fields: what is different in there, and which fields lead on."""

    found: list[Change] = field(default_factory=list)
    leads: list[tuple[Change, int]] = field(default_factory=list)


def changes(reader: ProtobufSchema, writer: ProtobufSchema) -> list[Change]:
    """All that differs, each once, the harmless too.

    Raises:
        InvalidSchemaError: there is too much to compare.
    """
    return list(dict.fromkeys(_Comparison(reader, writer).all()))


class _Comparison:
    """One comparison. Node 0 is the two files, every other node a pair of messages."""

    def __init__(self, reader: ProtobufSchema, writer: ProtobufSchema) -> None:
        self.reader, self.writer = reader, writer
        self.nodes: list[_Node] = []
        self.numbers: dict[tuple[int, int], int] = {}
        self.pairs: list[Pair] = []
        self.steps = 0

    def all(self) -> Iterator[Change]:
        """The differences between the files, then those in messages of other files."""
        self.nodes.append(self.node(self.files()))
        for pair in self.pairs:  # grows meanwhile
            self.nodes.append(self.node(self.of_pair(pair)))
        self.hand_on()
        for node in self.nodes:
            yield from node.found

    def node(self, items: Iterable[Change | Lead]) -> _Node:
        """Sorts differences from pairs that remain to be compared."""
        node = _Node()
        for item in items:
            if isinstance(item, Change):
                node.found.append(item)
                continue
            change, pair = item
            key = (id(pair.reader.type), id(pair.writer.type))
            if key not in self.numbers:
                self.pairs.append(pair)
                self.numbers[key] = len(self.pairs)
            node.leads.append((change, self.numbers[key]))
        return node

    def hand_on(self) -> None:
        """Marks every field that leads to a message with an incompatibility."""
        leading: dict[int, list[tuple[Change, int]]] = {}
        for number, node in enumerate(self.nodes):
            for change, target in node.leads:
                leading.setdefault(target, []).append((change, number))
        waiting = [n for n, node in enumerate(self.nodes) if any(item.kind not in COMPATIBLE for item in node.found)]
        broken = set(waiting)
        while waiting:
            for change, number in leading.get(waiting.pop(), ()):
                self.nodes[number].found.append(change)
                if number not in broken:
                    broken.add(number)
                    waiting.append(number)

    def files(self) -> Iterator[Change | Lead]:
        reader, writer = self.reader.file, self.writer.file
        if reader.package != writer.package:
            yield Change(K.PACKAGE_CHANGED, (), "", _package(reader), _package(writer))
        here = Side(self.reader.types, self.reader.types.package, ())
        there = Side(self.writer.types, self.writer.types.package, ())
        yield from self.declared(reader.types, writer.types, here, there)

    def of_pair(self, pair: Pair) -> Iterator[Change | Lead]:
        reader, writer = pair.reader, pair.writer
        assert isinstance(reader.type, Message), "fields of enum type are scalars"
        assert isinstance(writer.type, Message), "fields of enum type are scalars"
        here = Side(self.reader.types, reader.package, reader.scope)
        there = Side(self.writer.types, writer.package, writer.scope)
        yield from self.message(reader.type, writer.type, here, there)

    # --- declarations

    def declared(self, reader: list[Type], writer: list[Type], here: Side, there: Side) -> Iterator[Change | Lead]:
        """The differences between two lists of types."""
        new, old = _messages(reader), _messages(writer)
        for name in sorted(new.keys() | old.keys()):
            inside, outside = _inside(here, name), _inside(there, name)
            path = inside.scope
            if name not in new:
                info = outside.find(name)
                if info is not None and info.map_entry is None:
                    yield Change(K.MESSAGE_REMOVED, path, ".".join(path))
            elif name not in old:
                info = inside.find(name)
                if info is not None and info.map_entry is None:
                    yield Change(K.MESSAGE_ADDED, path, ".".join(path))
            else:
                yield from self.message(new[name][1], old[name][1], inside, outside)
                if new[name][0] != old[name][0]:
                    yield Change(K.MESSAGE_MOVED, path, ".".join(path))
        yield from _enums(reader, writer, here.scope)

    def message(self, reader: Message, writer: Message, here: Side, there: Side) -> Iterator[Change | Lead]:
        """The differences between two messages of the same name."""
        new, old = _Fields.of(reader), _Fields.of(writer)
        self.steps += len(new.by_number) + len(old.by_number)
        if self.steps > MAX_PROTO_STEPS:
            raise InvalidSchemaError.local(f"more than {MAX_PROTO_STEPS:,} fields to be compared")
        if new.one_ofs or old.one_ofs:
            yield from _one_ofs(new, old, here.scope)
        alive = new.one_ofs.keys() | {home for number, home in old.homes.items() if number in new.by_number}
        for number in sorted(new.by_number.keys() | old.by_number.keys()):
            one, other = new.by_number.get(number), old.by_number.get(number)
            path = (*here.scope, *new.steps(number))
            if one is None:
                yield from _removed(number, old, alive, here.scope)
            elif other is None:
                yield _added(one, number in new.homes, path)
            else:
                if number in old.homes and number not in new.homes:
                    yield Change(K.ONEOF_FIELD_MOVED_TO_TOP_LEVEL, path, one.name)
                if not same_scalars(one, other, here, there):
                    yield from self.fields(one, other, here, there, path)
        if reader.nested or writer.nested:
            yield from self.declared(reader.nested, writer.nested, here, there)

    def fields(
        self, reader: Field, writer: Field, here: Side, there: Side, path: tuple[str, ...]
    ) -> Iterator[Change | Lead]:
        for item in compare_fields(reader, writer, here, there, path):
            if isinstance(item, Change):
                yield item
            else:
                yield Change(K.FIELD_NAMED_TYPE_CHANGED, path, reader.name, reader.type, writer.type), item


def _package(file: File) -> str:
    return "none" if file.package is None else f"'{file.package}'"


def _inside(side: Side, name: str) -> Side:
    return Side(side.types, side.package, (*side.scope, name))


def _messages(types: list[Type]) -> dict[str, tuple[int, Message]]:
    """Messages with their position among messages; of several with one name the last."""
    found = [item for item in types if isinstance(item, Message)]
    return {item.name: (index, item) for index, item in enumerate(found)}


# --- enums


def _enums(reader: list[Type], writer: list[Type], scope: tuple[str, ...]) -> Iterator[Change]:
    new = {item.name: item for item in reader if isinstance(item, Enum)}
    old = {item.name: item for item in writer if isinstance(item, Enum)}
    for name in sorted(new.keys() | old.keys()):
        path = (*scope, name)
        if name not in new:
            yield Change(K.ENUM_REMOVED, path, name)
        elif name not in old:
            yield Change(K.ENUM_ADDED, path, name)
        else:
            yield from _constants(new[name], old[name], path)


def _constants(reader: Enum, writer: Enum, path: tuple[str, ...]) -> Iterator[Change]:
    new = {item.number: item.name for item in reader.constants}
    old = {item.number: item.name for item in writer.constants}
    for number in sorted(new.keys() | old.keys()):
        if number not in new:
            yield Change(K.ENUM_CONST_REMOVED, (*path, str(number)), old[number])
        elif number not in old:
            yield Change(K.ENUM_CONST_ADDED, (*path, str(number)), new[number])
        elif new[number] != old[number]:
            yield Change(K.ENUM_CONST_CHANGED, (*path, str(number)), new[number], new[number], old[number])


# --- fields and oneofs of one message


@dataclass(slots=True)
class _Fields:
    """The fields of a message by number, in oneofs or not; the oneofs; which oneof a number is in."""

    by_number: dict[int, Field]
    one_ofs: dict[str, list[Field]]
    homes: dict[int, str]

    @classmethod
    def of(cls, message: Message) -> _Fields:
        by_number = {item.number: item for item in message.fields}
        homes: dict[int, str] = {}
        for one_of in message.one_ofs:
            for item in one_of.fields:
                by_number[item.number] = item
                homes[item.number] = one_of.name
        return cls(by_number, {one_of.name: one_of.fields for one_of in message.one_ofs}, homes)

    def steps(self, number: int) -> tuple[str, ...]:
        """The end of a field's path."""
        return (self.homes[number], str(number)) if number in self.homes else (str(number),)


def _one_ofs(new: _Fields, old: _Fields, scope: tuple[str, ...]) -> Iterator[Change]:
    """Oneofs that only one side has, and oneofs of fields that could be written together."""
    for name in sorted(new.one_ofs.keys() | old.one_ofs.keys()):
        path = (*scope, name)
        if name not in new.one_ofs:
            yield Change(K.ONEOF_REMOVED, path, name)
            continue
        if name not in old.one_ofs:
            yield Change(K.ONEOF_ADDED, path, name)
        known = [item for item in new.one_ofs[name] if item.number in old.by_number]
        free = [item for item in known if item.number not in old.homes]
        origins = {old.homes[item.number] for item in known if item.number in old.homes}
        if len(free) + len(origins) > 1:
            kind = K.MULTIPLE_FIELDS_MOVED_TO_ONEOF if len(free) > 1 else K.FIELD_MOVED_TO_EXISTING_ONEOF
            yield Change(kind, path, name, ", ".join(f"'{item.name}'" for item in known))


def _added(item: Field, in_one_of: bool, path: tuple[str, ...]) -> Change:
    if in_one_of:
        return Change(K.ONEOF_FIELD_ADDED, path, item.name)
    return Change(K.REQUIRED_FIELD_ADDED if item.label == "required" else K.FIELD_ADDED, path, item.name)


def _removed(number: int, old: _Fields, alive: set[str], scope: tuple[str, ...]) -> Iterator[Change]:
    """A field that is nowhere now. A oneof may go as a whole, but not lose fields while it or others of it live on."""
    item, home, path = old.by_number[number], old.homes.get(number), (*scope, *old.steps(number))
    if home is None:
        yield Change(K.REQUIRED_FIELD_REMOVED if item.label == "required" else K.FIELD_REMOVED, path, item.name)
    elif home in alive:
        yield Change(K.ONEOF_FIELD_REMOVED, path, item.name, "", f"'{home}'")
