"""Plans: how payloads of one schema become columns of another, compiled once to a program.

All of resolution is decided here, by the same rules as for objects (`serdes.formats.avro.reading`); a place that can't
be read is an error only of a value that has it. Must not know of frames or kernels. Source: Avro specification 1.12,
"Schema Resolution", "Logical Types".
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

from registry.schemas.avro.model import (
    ArrayType,
    AvroType,
    EnumType,
    Field,
    FixedType,
    MapType,
    NamedType,
    RecordType,
    TypeName,
    UnionType,
)
from serdes.columnar.avro.faults import Fault
from serdes.columnar.avro.narrowing import Narrowed
from serdes.columnar.avro.program import Code, Op, Pass, Program, verify
from serdes.columnar.contract import ColumnOptions
from serdes.columnar.layout import FIXED, LIST, UNION, Layout
from serdes.columnar.room import item_bytes
from serdes.errors import SerializationError
from serdes.formats.avro.logical import DAYS, INSTANTS, SECONDS, TIMES, logical_of
from serdes.formats.avro.reading import is_free, reader_of
from serdes.formats.avro.resolution import Resolution, units_of
from serdes.formats.avro.writing import default_bytes
from serdes.kernels.avro import Decoder
from serdes.kernels.misfit import Misfit

MAX_OPS: Final = 200_000
"""Operations of one plan: unions in unions, many times over, would need more."""
Path: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """A program and the columns it fills; immutable, shared by threads. `str(plan)` shows it.

    Attributes:
        program: the operations.
        layout: of the columns.
        root: the record's name, for paths in errors.
        reasons: why the schemas differ beyond reading, worked out when it is asked for.
    """

    program: Program
    layout: Layout
    root: str
    reasons: Callable[[], str]

    def __str__(self) -> str:
        return "\n".join(self.program.lines(_names(self.layout)))

    @cached_property
    def native(self) -> Any:
        """The program as the kernel has it."""
        from serdes.kernels.native import avro_columns

        program = self.program
        ops = array("q", [number for op in program.ops for number in op[:6]]).tobytes()
        table, numbers = (array("q", given).tobytes() for given in (program.table, program.numbers))
        return avro_columns.Program(ops, table, numbers, bytes(program.pool), self.layout.span)


def _names(layout: Layout) -> list[str]:
    """A name for each column, in preorder: `address.city`, `tags[]`."""
    made: list[str] = []

    def walk(column: Layout, name: str) -> None:
        made.append(name or "row")
        for at, child in enumerate(column.children):
            if column.shape == LIST:
                walk(child, f"{name}[]")
            else:
                walk(child, f"{name}.{column.type.field(at).name}" if name else column.type.field(at).name)

    walk(layout, "")
    return made


def compiled(
    writer: AvroType,
    reader: Narrowed,
    layout: Layout,
    options: ColumnOptions,
    reasons: Callable[[], str] = lambda: "",
) -> Plan:
    """Compiles a plan, and has it checked.

    Args:
        writer: the schema of the payloads.
        reader: the schema of the columns.
        layout: of its Arrow type.
        options: those it was narrowed with.
        reasons: why the schemas don't resolve, in words, for errors of values.

    Raises:
        SerializationError: the plan would be too large.
    """
    try:
        program = _Compiler(reader, options).run(writer, layout)
    except RecursionError as error:
        raise SerializationError("the Avro schema is nested too deep for columns") from error
    verify(program, layout)
    root = reader.type.short_name if isinstance(reader.type, NamedType) else ""
    return Plan(program, layout, root, reasons)


class _Compiler:
    def __init__(self, reader: Narrowed, options: ColumnOptions) -> None:
        self._reader = reader
        self._dense = options.unions == "dense"
        self._numbers = options.enums == "number"
        self._resolution = Resolution(reader.type)
        self._program = Program()
        self._ops = self._program.ops
        self._calls: list[tuple[int, RecordType]] = []
        self._pooled: dict[bytes, int] = {}
        self._cost = 0

    def run(self, writer: AvroType, layout: Layout) -> Program:
        self._value(writer, self._reader.type, layout, ())
        self._put(Op(Code.END))
        parts: dict[int, int] = {}
        while self._calls:
            at, record = self._calls.pop()
            if id(record) not in parts:
                parts[id(record)] = len(self._ops)
                self._skip_all([(field.type, (field.name,)) for field in record.fields])
                self._put(Op(Code.RETURN))
            self._ops[at] = self._ops[at]._replace(a=parts[id(record)])
        return self._program

    def _put(self, op: Op) -> int:
        if len(self._ops) >= MAX_OPS:
            raise SerializationError(f"the plan has over {MAX_OPS} operations: name the columns that you need")
        self._ops.append(op)
        return len(self._ops) - 1

    def _refuse(self, message: str, path: Path) -> None:
        self._program.messages.append(message)
        self._put(Op(Code.REFUSE, a=len(self._program.messages) - 1, path=path))

    def _pool(self, data: bytes) -> int:
        if data not in self._pooled:
            self._pooled[data] = len(self._program.pool)
            self._program.pool += data
        return self._pooled[data]

    # --- what both schemas have

    def _value(self, writer: AvroType, reader: AvroType, column: Layout, path: Path) -> None:
        """Adds operations that read one type as another into a column; the same order of questions as for objects."""
        if isinstance(writer, UnionType):
            self._from_union(writer, reader, column, path)
            return
        fault = self._resolution.fault(writer, reader)
        if fault is not None and not (isinstance(writer, RecordType) and isinstance(reader, RecordType)):
            self._refuse(fault, path)
        elif isinstance(reader, UnionType):
            self._into_union(writer, reader, column, path)
        elif isinstance(writer, RecordType) and isinstance(reader, RecordType):
            self._record(writer, reader, column, path)
        elif isinstance(writer, ArrayType) and isinstance(reader, ArrayType):
            self._array(writer, reader, column, path)
        elif isinstance(writer, MapType) and isinstance(reader, MapType):
            self._map(writer, reader, column, path)
        elif isinstance(writer, EnumType) and isinstance(reader, EnumType):
            self._enum(writer, reader, column, path)
        else:
            self._leaf(writer, reader, column, path)

    def _from_union(self, writer: UnionType, reader: AvroType, column: Layout, path: Path) -> None:
        null = self._place_of_null(writer, reader)
        if null is None:
            self._branches(writer, path, lambda branch: self._value(branch, reader, column, path))
            return
        at = self._put(Op(Code.OPTIONAL, column.place, a=null, path=path))
        self._value(writer.branches[1 - null], reader, column, path)
        self._ops[at] = self._ops[at]._replace(b=len(self._ops))

    def _place_of_null(self, writer: UnionType, reader: AvroType) -> int | None:
        """Of null in a union of null and one other type, if null is null for the column too."""
        if len(writer.branches) != 2 or not isinstance(reader, UnionType) or self._is_dense(reader):
            return None
        null = next((at for at, branch in enumerate(writer.branches) if branch.kind is TypeName.NULL), None)
        found = None if null is None else self._resolution.branch(writer.branches[null], reader)
        return null if found is not None and reader.branches[found].kind is TypeName.NULL else None

    def _is_dense(self, reader: UnionType) -> bool:
        return self._dense and sum(branch.kind is not TypeName.NULL for branch in reader.branches) > 1

    def _branches(self, writer: UnionType, path: Path, each: Callable[[AvroType], None]) -> None:
        table = self._program.table
        start = len(table)
        table.extend([0] * len(writer.branches))
        self._put(Op(Code.BRANCH, a=start, b=len(writer.branches), path=path))
        jumps = []
        for at, branch in enumerate(writer.branches):
            table[start + at] = len(self._ops)
            each(branch)
            jumps.append(self._put(Op(Code.JUMP)))
        for jump in jumps:
            self._ops[jump] = self._ops[jump]._replace(a=len(self._ops))

    def _into_union(self, writer: AvroType, reader: UnionType, column: Layout, path: Path) -> None:
        place = self._resolution.branch(writer, reader)
        assert place is not None
        branch = reader.branches[place]
        members = [at for at, other in enumerate(reader.branches) if other.kind is not TypeName.NULL]
        if self._is_dense(reader):
            self._put(Op(Code.UNION, column.place, a=place, path=path))
            self._value(writer, branch, column.children[place], path)
        elif branch.kind is TypeName.NULL:
            self._put(Op(Code.NULL, column.place, path=path))
        elif len(members) == 1 or column.shape == FIXED:  # several numbers are one column of the widest
            self._value(writer, branch, column, path)
        else:
            for member, child in zip(members, column.children, strict=True):
                if member == place:
                    self._value(writer, branch, child, path)
                else:
                    self._put(Op(Code.NULL, child.place, path=path))
            self._put(Op(Code.STRUCT, column.place, path=path))

    def _record(self, writer: RecordType, reader: RecordType, column: Layout, path: Path) -> None:
        found = self._resolution.fields(writer, reader)
        taken = [field.name for field in found.values()]
        missing = [field for field in reader.fields if field.name not in taken]
        if len(set(taken)) < len(taken) or not all(field.has_default for field in missing):
            self._refuse(self._resolution.fault(writer, reader) or "", path)
            return
        children = {field.name: child for field, child in zip(reader.fields, column.children, strict=True)}
        skipped: list[tuple[AvroType, Path]] = []
        for field in writer.fields:
            taker = found.get(field.name)
            if taker is None:
                skipped.append((field.type, (*path, field.name)))
                continue
            self._skip_all(skipped)
            skipped = []
            self._value(field.type, taker.type, children[taker.name], (*path, taker.name))
        self._skip_all(skipped)
        for field in missing:
            self._default(field, children[field.name], (*path, field.name))
        self._put(Op(Code.STRUCT, column.place, path=path))

    def _default(self, field: Field, column: Layout, path: Path) -> None:
        """A default is read like a value, from the pool; what is no value of its type is an error of each row."""
        whole = self._reader.whole.get(id(field), field.type)
        if field.default is None and column.shape != UNION:
            self._put(Op(Code.NULL, column.place, path=path))
            return
        try:
            data = default_bytes(_with_type(field, whole))
            Decoder(reader_of(whole), 0, len(data), lambda error, size: error)(data)
        except Misfit as error:
            self._refuse(f"field {field.name!r} was not written, and its default can't be used: {error.reason}", path)
            return
        self._cost += len(data)
        self._put(Op(Code.INPUT, c=self._pool(data), d=len(data), path=path))
        self._value(whole, field.type, column, path)
        self._put(Op(Code.OUTPUT, path=path))

    def _array(self, writer: ArrayType, reader: ArrayType, column: Layout, path: Path) -> None:
        def item(inside: Path) -> None:
            self._value(writer.items, reader.items, column.children[0], inside)

        self._list(Code.LIST, is_free(writer.items, frozenset()), column, path, item)

    def _map(self, writer: MapType, reader: MapType, column: Layout, path: Path) -> None:
        entry = column.children[0]

        def item(inside: Path) -> None:
            self._put(Op(Code.STRING, entry.children[0].place, path=inside))
            self._value(writer.values, reader.values, entry.children[1], inside)
            self._put(Op(Code.STRUCT, entry.place, path=inside))

        self._list(Code.MAP, False, column, path, item)

    def _list(self, code: Code, free: bool, column: Layout, path: Path, item: Callable[[Path], None]) -> None:
        outer, self._cost = self._cost, item_bytes(column.children[0])
        at = self._put(Op(code, column.place, b=free, path=path))
        item((*path, "[entry]" if code is Code.MAP else "[]"))
        end = Op(Code(code + 1), column.place, a=at + 1, b=free, c=self._cost, path=path)
        self._ops[at] = self._ops[at]._replace(a=self._put(end) + 1, c=self._cost)
        self._cost = outer

    def _enum(self, writer: EnumType, reader: EnumType, column: Layout, path: Path) -> None:
        symbols = [symbol if symbol in reader.symbols else reader.default for symbol in writer.symbols]
        table = self._program.table
        start = len(table)
        self._program.messages.append(f"enum {reader.name} lacks a written symbol and has no default")
        message = len(self._program.messages) - 1
        for symbol in symbols:
            if self._numbers:
                table.append(-1 if symbol is None else reader.symbols.index(symbol))
            else:
                data = b"" if symbol is None else symbol.encode()
                table += [-1 if symbol is None else self._pool(data), len(data)]
        code = Code.ENUM_NUMBER if self._numbers else Code.ENUM
        self._put(Op(code, column.place, a=start, b=len(symbols), c=message, path=path))

    def _leaf(self, writer: AvroType, reader: AvroType, column: Layout, path: Path) -> None:
        op = _timed(writer, reader, self._program.numbers) or _plain(writer, reader, column)
        self._put(op._replace(column=column.place, path=path))

    # --- what the reader does not have

    def _skip_all(self, values: Sequence[tuple[AvroType, Path]]) -> None:
        """Skips what comes one after the other, in one step as far as it is plain."""
        together: list[tuple[AvroType, Path]] = []
        passes: list[tuple[Pass, int]] = []
        for writer, path in _flat_ones(values):
            found = passes_of(writer)
            if found is None:
                self._skip_run(together, passes)
                together, passes = [], []
                self._skip(writer, path)
            else:
                together.append((writer, path))
                passes += found
        self._skip_run(together, passes)

    def _skip_run(self, values: Sequence[tuple[AvroType, Path]], passes: Sequence[tuple[Pass, int]]) -> None:
        """Skips plain values: in one step, and if that finds something else one by one, which says what is wrong."""
        at = None
        if len(passes) > 1:
            table = self._program.table
            start = len(table)
            table += [number for one in _joined(passes) for number in one]
            at = self._put(Op(Code.SKIP_RUN, b=start, c=(len(table) - start) // 2, path=values[0][1]))
        for writer, path in values:
            self._skip(writer, path)
        if at is not None:
            self._ops[at] = self._ops[at]._replace(a=len(self._ops))

    def _skip(self, writer: AvroType, path: Path) -> None:
        if isinstance(writer, UnionType):
            self._branches(writer, path, lambda branch: self._skip(branch, path))
        elif isinstance(writer, RecordType):
            if _is_flat(writer):
                self._skip_all([(field.type, (*path, field.name)) for field in writer.fields])
            else:
                self._calls.append((self._put(Op(Code.CALL, path=path)), writer))
        elif isinstance(writer, (ArrayType, MapType)):
            free = isinstance(writer, ArrayType) and is_free(writer.items, frozenset())
            inside = (*path, "[]" if isinstance(writer, ArrayType) else "[entry]")
            at = self._put(Op(Code.SKIP_LIST, b=free, path=path))
            if isinstance(writer, MapType):
                self._put(Op(Code.SKIP_TEXT, a=1, path=inside))
            self._skip(writer.items if isinstance(writer, ArrayType) else writer.values, inside)
            end = self._put(Op(Code.SKIP_LIST_END, a=at + 1, b=free, path=path))
            self._ops[at] = self._ops[at]._replace(a=end + 1)
        elif isinstance(writer, EnumType):
            self._put(Op(Code.SKIP_ENUM, a=len(writer.symbols), path=path))
        elif isinstance(writer, FixedType):
            self._put(Op(Code.SKIP_BYTES, a=writer.size, path=path))
        elif writer.kind is not TypeName.NULL:
            self._put(SKIPS[writer.kind]._replace(path=path))


def _flat_ones(values: Iterable[tuple[AvroType, Path]]) -> Iterator[tuple[AvroType, Path]]:
    """Values, those of flat records in place of these."""
    for writer, path in values:
        if isinstance(writer, RecordType) and _is_flat(writer):
            yield from ((field.type, (*path, field.name)) for field in writer.fields)
        else:
            yield writer, path


def _is_flat(record: RecordType) -> bool:
    """Whether a record has none inside that could be itself."""
    return all(field.type.kind in FLAT or passes_of(field.type) is not None for field in record.fields)


def passes_of(writer: AvroType) -> list[tuple[Pass, int]] | None:
    """The steps that pass values of a type; None if that takes operations."""
    if isinstance(writer, UnionType):
        nulls = [at for at, branch in enumerate(writer.branches) if branch.kind is TypeName.NULL]
        if len(writer.branches) != 2 or len(nulls) != 1:
            return None
        inner = passes_of(writer.branches[1 - nulls[0]])
        return None if inner is None or len(inner) != 1 else [(Pass.OPTIONAL, nulls[0]), *inner]
    if isinstance(writer, ArrayType):
        inner = None if is_free(writer.items, frozenset()) else passes_of(writer.items)
        return None if inner is None or len(inner) != 1 else [(Pass.LIST, 0), *inner]
    if isinstance(writer, EnumType):
        return [(Pass.ENUM, len(writer.symbols))]
    if isinstance(writer, FixedType):
        return [(Pass.BYTES, writer.size)]
    return [] if writer.kind is TypeName.NULL else PASSES.get(writer.kind)


def _joined(passes: Sequence[tuple[Pass, int]]) -> list[tuple[Pass, int]]:
    """The same with bytes that follow one another as one."""
    made: list[tuple[Pass, int]] = []
    alone = True
    for kind, operand in passes:
        if alone and made and kind is Pass.BYTES and made[-1][0] is Pass.BYTES:
            made[-1] = kind, made[-1][1] + operand
        else:
            alone = not made or made[-1][0] not in (Pass.OPTIONAL, Pass.LIST)
            made.append((kind, operand))
    return made


FLAT: Final = tuple(
    kind for kind in TypeName if kind not in (TypeName.RECORD, TypeName.ARRAY, TypeName.MAP, TypeName.UNION)
)
SKIPS: Final = {
    TypeName.BOOLEAN: Op(Code.SKIP_BOOL),
    TypeName.INT: Op(Code.SKIP_INT),
    TypeName.LONG: Op(Code.SKIP_LONG),
    TypeName.FLOAT: Op(Code.SKIP_BYTES, a=4),
    TypeName.DOUBLE: Op(Code.SKIP_BYTES, a=8),
    TypeName.BYTES: Op(Code.SKIP_TEXT),
    TypeName.STRING: Op(Code.SKIP_TEXT),
}
PASSES: Final = {
    TypeName.BOOLEAN: [(Pass.BOOL, 0)],
    TypeName.INT: [(Pass.INT, 0)],
    TypeName.LONG: [(Pass.LONG, 0)],
    TypeName.FLOAT: [(Pass.BYTES, 4)],
    TypeName.DOUBLE: [(Pass.BYTES, 8)],
    TypeName.BYTES: [(Pass.TEXT, 0)],
    TypeName.STRING: [(Pass.TEXT, 0)],
}


def _with_type(field: Field, kind: AvroType) -> Field:
    return Field(field.name, kind, field.default, field.aliases, field.order, field.doc, field.props)


def _timed(writer: AvroType, reader: AvroType, numbers: list[int]) -> Op | None:
    """The operation that reads points in time, which have bounds; None for other types, or if unbounded."""
    logical = logical_of(reader)
    if logical == "date":
        return Op(Code.INT_WITHIN, a=Fault.DATE, c=DAYS[0], d=DAYS[1])
    wanted = units_of(logical)
    if logical is None or wanted is None:
        return None
    low, high = _bounds(logical, wanted[1])
    error = Fault.TIME if logical in TIMES else Fault.INSTANT
    written = units_of(logical_of(writer))
    if written is not None and written[1] != wanted[1]:
        shared = math.gcd(wanted[1], written[1])
        numbers += [wanted[1] // shared, written[1] // shared, low, high, error]
        return Op(Code.SCALED, a=32 if writer.kind is TypeName.INT else 64, b=len(numbers) - 5)
    if reader.kind is TypeName.INT:
        return Op(Code.INT_WITHIN, a=error, c=low, d=high)
    return Op(Code.LONG_WITHIN, a=error, b=writer.kind is TypeName.INT, c=low, d=high)


def _bounds(logical: str, units: int) -> tuple[int, int]:
    if logical in TIMES:
        return 0, 86_400 * units - 1
    if units == INSTANTS["timestamp-nanos"]:
        return -(2**63), 2**63 - 1
    return SECONDS[0] * units, SECONDS[1] * units + units - 1


def _plain(writer: AvroType, reader: AvroType, column: Layout) -> Op:
    logical = logical_of(reader)
    text = writer.kind is TypeName.STRING
    if logical == "decimal":
        size = writer.size if isinstance(writer, FixedType) else -1
        scale = reader.props.get("scale", 0)
        shift = scale - writer.props.get("scale", 0) if logical_of(writer) == "decimal" else 0
        return Op(Code.DECIMAL, a=size, b=shift, c=reader.props["precision"], d=text)
    if isinstance(writer, FixedType):
        return Op(Code.FIXED, a=writer.size)
    if logical == "uuid":
        return Op(Code.UUID)
    if text or reader.kind is TypeName.STRING:
        return Op(Code.STRING)
    return _number(writer.kind, reader.kind, column)


def _number(writer: TypeName, reader: TypeName, column: Layout) -> Op:
    """The operation that reads a value on its own, or a number; the column may be wider than the reader's type."""
    if writer in (TypeName.INT, TypeName.LONG):
        bits = 32 if writer is TypeName.INT else 64
        if reader is TypeName.DOUBLE or (reader is TypeName.FLOAT and column.width == 8):
            return Op(Code.WHOLE_DOUBLE, a=bits, b=reader is TypeName.FLOAT)
        if reader is TypeName.FLOAT:
            return Op(Code.WHOLE_FLOAT, a=bits)
        return Op(Code.LONG if bits == 64 else Code.INT_LONG if column.width == 8 else Code.INT)
    if writer is TypeName.FLOAT:
        return Op(Code.FLOAT_DOUBLE if column.width == 8 else Code.FLOAT)
    return {
        TypeName.NULL: Op(Code.NULL),
        TypeName.BOOLEAN: Op(Code.BOOL),
        TypeName.DOUBLE: Op(Code.DOUBLE),
        TypeName.BYTES: Op(Code.BYTES),
    }[writer]
