"""A tree of fields as flat tables, which the kernel reads messages by: what names something does so by its number.

Must not know of payloads. Columns of one scope have the same slots: those of the rows (scope 0), and those of the items
of each list or map. The kernel (`serdes.kernels.native.protobuf_columns`) trusts the tables: `verify` looks at them.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import Any, Final

from serdes.columnar.protobuf.tree import Field, FieldType, Message, Shape, Symbols
from serdes.columnar.protobuf.writing import wire_of
from serdes.kernels.protobuf_columns import Content, Store

CONTENTS: Final = {
    "google.protobuf.Struct": Content.STRUCT,
    "google.protobuf.Value": Content.VALUE,
    "google.protobuf.ListValue": Content.LIST,
    "google.protobuf.Any": Content.ANY,
}
WIDE: Final = frozenset(
    (FieldType.DOUBLE, FieldType.INT64, FieldType.UINT64, FieldType.FIXED64, FieldType.SFIXED64, FieldType.SINT64)
)
GROUP: Final = 3
LENGTH: Final = 2


@dataclass(slots=True)
class FieldRow:
    """The reading of a field.

    Attributes:
        field: as the tree has it.
        place: in its message type, for the paths of errors.
        column: of its values, -1 for none.
        holder: the column that says how many there are, -1 for one value.
        message: the table of its message, -1 for none.
        case_column: says which member of its oneof is set; -1 for none.
        symbols: of its enum, -1 for none.
    """

    field: Field
    place: int
    column: int = -1
    holder: int = -1
    message: int = -1
    case_column: int = -1
    symbols: int = -1

    def table(self, case: int) -> tuple[int, ...]:
        """The row of the kernel's table; `case` is its place by number, from 1."""
        one = self.field
        wire = LENGTH if one.wrapped else wire_of(one.kind)
        packable = one.shape is Shape.LIST and not one.wrapped and not one.delimited and wire != LENGTH
        closed = one.symbols is not None and one.symbols.closed
        return (
            one.number, one.kind, one.shape, GROUP if one.delimited else wire, one.kept, one.wrapped, one.delimited,
            one.required, packable, closed, one.verified, CONTENTS.get(one.json or "", 0), self.column, self.holder,
            self.message, self.case_column, case, self.symbols, self.place,
        )  # fmt: skip


@dataclass(slots=True)
class MessageRow:
    """The reading of a message: its fields by number, in the slots of a scope.

    Attributes:
        scope: whose slots.
        entry: whether it is an entry of a map.
        fields: its fields.
        checks: whether something can be judged only when all parts are there.
    """

    scope: int
    entry: bool
    fields: list[FieldRow] = field(default_factory=list)
    checks: bool = False

    def table(self) -> tuple[Any, ...]:
        """The row of the kernel's table."""
        ordered = sorted(self.fields, key=lambda one: one.field.number)
        numbers = [number for at, one in enumerate(ordered) for number in one.table(at + 1)]
        return self.scope, self.checks, self.entry, array("i", numbers).tobytes()


@dataclass(slots=True)
class ColumnRow:
    """The storage of a column's cells.

    Attributes:
        store: how.
        scope: whose slots it has.
        nullable: whether it says of each slot if there is a value.
        width: bytes of a cell.
        kind: of the field.
        child_scope: whose slots its items are; -1 for none.
        symbols: of an enum by name, -1 for none.
        children: the columns in it.
    """

    store: Store
    scope: int
    nullable: bool = False
    width: int = 0
    kind: int = 0
    child_scope: int = -1
    symbols: int = -1
    children: list[int] = field(default_factory=list)

    def table(self) -> tuple[Any, ...]:
        """The row of the kernel's table."""
        facts = (self.store, self.nullable, self.width, self.kind, self.scope, self.child_scope, self.symbols)
        return array("i", facts).tobytes(), self.children


class LoweredTree:
    """The tables of a tree.

    Args:
        tree: the fields of the rows.

    Attributes:
        json_columns: those that are made texts of JSON afterwards: column, message type, path.
    """

    def __init__(self, tree: Message) -> None:
        self.json_columns: list[tuple[int, str, str]] = []
        self._messages: list[MessageRow] = []
        self._columns: list[ColumnRow] = []
        self._scopes = 1
        self._symbols: list[Symbols] = []
        root = self._column(ColumnRow(Store.STRUCT, 0, nullable=True))
        self._message(tree, 0, root, False, ())

    def messages(self) -> list[tuple[Any, ...]]:
        """Of each its scope, whether there is something to check at its end, whether it is an entry, its fields.

        Fields are native ints of 32 bits, as `FieldRow.table` has them.
        """
        return [message.table() for message in self._messages]

    def columns(self) -> list[tuple[Any, ...]]:
        """Of each its store, whether it is nullable, width, kind, scope, scope of its items, enum; and its children."""
        return [column.table() for column in self._columns]

    def scopes(self) -> list[tuple[int, list[int]]]:
        """Of each the bytes of a slot, and its columns; the validity of rows is not a slot of its own."""
        made = []
        for scope in range(self._scopes):
            listed = [at for at, column in enumerate(self._columns) if column.scope == scope and at > 0]
            size = sum(self._columns[at].width + self._columns[at].nullable for at in listed)
            made.append((max(size, 1), listed))
        return made

    def symbols(self) -> list[tuple[bool, list[int], list[bytes]]]:
        """Of each enum whether it is closed, its numbers in order, and their names."""
        return [
            (one.closed, sorted(one.names), [one.names[number].encode() for number in sorted(one.names)])
            for one in self._symbols
        ]

    def verify(self) -> LoweredTree:
        """Checks the kernel's assumptions.

        Raises:
            ValueError: the tables are not sound, which is a defect of what made them.
        """
        columns, scopes = self._columns, range(self._scopes)
        for at, column in enumerate(columns):
            holds = column.store in (Store.LIST, Store.MAP)
            if column.scope not in scopes or holds != (column.child_scope in scopes[1:]):
                raise ValueError(f"column {at} has slots of a scope that is not its own")
            if not all(at < child < len(columns) for child in column.children):
                raise ValueError(f"column {at} has children that are not its own")
            if (column.symbols in range(len(self._symbols))) != (column.store is Store.SYMBOL):
                raise ValueError(f"column {at} has names of an enum that is not there")
        for number, message in enumerate(self._messages):
            for row in message.fields:
                self._verify_field(number, message, row)
        return self

    def _verify_field(self, number: int, message: MessageRow, row: FieldRow) -> None:
        columns, name = self._columns, f"field {row.field.number} of message {number}"
        if not row.field.kept:
            sound = row.column == row.holder == row.message == -1
        else:
            held = row.holder >= 0
            scope = columns[row.holder].child_scope if held else message.scope
            sound = held == (row.field.shape is not Shape.ONE) and (
                not held or columns[row.holder].scope == message.scope
            )
            sound = sound and columns[row.column].scope == scope
            inner = columns[row.column].store is Store.STRUCT
            sound = sound and (number < row.message < len(self._messages) if inner else row.message == -1)
            sound = sound and (not inner or self._messages[row.message].scope == scope)
        if row.case_column >= 0:
            sound = sound and columns[row.case_column].scope == message.scope
        if not sound or (row.field.symbols is not None) != (row.symbols in range(len(self._symbols))):
            raise ValueError(f"{name} goes into columns that are not its own")

    def _column(self, row: ColumnRow) -> int:
        self._columns.append(row)
        return len(self._columns) - 1

    def _message(self, tree: Message, scope: int, above: int, entry: bool, path: tuple[str, ...]) -> int:
        """A message's number; its columns become children of the column `above`."""
        made = MessageRow(scope, entry)
        self._messages.append(made)
        number = len(self._messages) - 1
        cases: dict[int, int] = {}
        oneofs = [one.oneof for one in tree.fields]
        for place, one in enumerate(tree.fields):
            row = self._field(one, place, scope, above, (*path, one.name))
            if one.oneof >= 0 and oneofs.count(one.oneof) > 1:
                if one.oneof not in cases:
                    cases[one.oneof] = self._column(ColumnRow(Store.CASE, scope, width=4))
                row.case_column = cases[one.oneof]
            made.fields.append(row)
            inner = row.message >= 0 and one.shape is Shape.ONE and self._messages[row.message].checks
            made.checks |= one.kept and (one.required or one.shape is Shape.MAP or inner)
        return number

    def _field(self, one: Field, place: int, scope: int, above: int, path: tuple[str, ...]) -> FieldRow:
        row = FieldRow(one, place)
        if one.symbols is not None:
            row.symbols = self._enum(one.symbols)
        if not one.kept:
            return row
        nullable = not one.implicit
        if one.shape is not Shape.ONE:
            inner = self._scopes
            self._scopes += 1
            store = Store.MAP if one.shape is Shape.MAP else Store.LIST
            row.holder = self._column(ColumnRow(store, scope, width=4, child_scope=inner))
            self._columns[above].children.append(row.holder)
            above, scope, nullable = row.holder, inner, False
        row.column = self._column(self._value(one, row.symbols, scope, nullable))
        if one.json is not None:
            self.json_columns.append((row.column, one.json, ".".join(path)))
        self._columns[above].children.append(row.column)
        if one.message is not None:
            row.message = self._message(one.message, scope, row.column, one.shape is Shape.MAP, path)
        return row

    def _value(self, one: Field, symbols: int, scope: int, nullable: bool) -> ColumnRow:
        kind = one.kind
        if kind is FieldType.MESSAGE:
            return ColumnRow(Store.STRUCT, scope, nullable)
        if kind in (FieldType.STRING, FieldType.BYTES, FieldType.JSON):
            return ColumnRow(Store.BYTES, scope, nullable, 4, kind)
        if kind in (FieldType.TIMESTAMP, FieldType.DURATION):
            return ColumnRow(Store.TIME, scope, nullable, 8, kind)
        if kind is FieldType.BOOL:
            return ColumnRow(Store.BITS, scope, nullable, 1, kind)
        if one.symbols is not None and not one.symbols.as_numbers:
            return ColumnRow(Store.SYMBOL, scope, nullable, 4, kind, symbols=symbols)
        return ColumnRow(Store.FIXED, scope, nullable, 8 if kind in WIDE else 4, kind)

    def _enum(self, symbols: Symbols) -> int:
        for at, known in enumerate(self._symbols):
            if known.full_name == symbols.full_name:
                return at
        self._symbols.append(symbols)
        return len(self._symbols) - 1
