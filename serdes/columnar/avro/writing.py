"""Plans that write Avro from Arrow columns: made once per (Arrow type, Avro type), verified, and printed by `str`.

Must not know of frames or registries. The kernel `serdes.kernels.native.avro_frames` runs a plan over a batch;
`serdes.columnar.avro.objects` does the same with the encoder of objects. What can't fit for any row is refused here,
when the plan is made. Sources: Avro specification 1.12; Arrow columnar format 1.5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pyarrow as pa

from registry.schemas.avro.model import (
    AvroType,
    Field,
    FixedType,
    RecordType,
    TypeName,
    UnionType,
    type_name,
)
from serdes.columnar.arrays import OCTETS, REAL, TEXT, WHOLE, Column, columns_of, is_list, list_source
from serdes.columnar.avro.schema_of import ORIGINAL_NAME, SPAN_UNIT
from serdes.errors import SerializationError
from serdes.formats.avro.logical import DAYS, INSTANTS, LOCALS, SECONDS, TIMES, described, logical_of
from serdes.formats.avro.union import takes_null
from serdes.formats.avro.writing import default_bytes
from serdes.kernels.arrays import Source
from serdes.kernels.avro_frames import MAX_STEPS, Fault, Op
from serdes.kernels.misfit import Misfit

__all__ = ["Column", "Step", "WritePlan", "place_of", "plan_of", "reason_of", "verify"]

MAX_DIGITS: Final = 76
LOW, HIGH = -(2**63), 2**63 - 1
INT_RANGE: Final = (-(2**31), 2**31 - 1)
PLAIN_TEXT, UTF8_TEXT, UUID_TEXT = 0, 1, 2
UNITS: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
DAY_MILLIS: Final = 86_400_000


@dataclass(frozen=True, slots=True)
class Step:
    """The step that writes one column as one Avro type.

    Attributes:
        op: the form written.
        source: how Arrow holds it.
        column: the column's number; 0 for constants.
        kids: numbers of the steps of its parts, all higher than its own.
        place: of the branch in a union, -1 outside of unions.
        null_place: of the branch for null, -1 if null does not fit.
        int_place: of the branch `int`, where `place` is that of `long`; else -1.
        low: the least source number, once divided.
        high: the greatest.
        times: factor of a number; of a decimal, digits to add and one more.
        over: divisor of a number, which must leave no rest; of a decimal, digits to take away and one more.
        width: bytes of a value in Arrow, or items of a fixed-size list.
        size: bytes of a fixed type, else -1.
        check: of a text: none, UTF-8, UUID.
        data: a constant's bytes; an enum's symbols; a decimal's bound (32 bytes, little-endian); a union's kids by type
            id.
        parent: the step it is a part of, -1 for the root.
        part: its name there; `[` for items, `{` for entries, empty where the path does not grow.
        what: the Avro type in a sentence.
        branch: the branch's name, as the encoder of objects knows it.
    """

    op: Op
    source: Source = Source.I8
    column: int = 0
    kids: tuple[int, ...] = ()
    place: int = -1
    null_place: int = -1
    int_place: int = -1
    low: int = LOW
    high: int = HIGH
    times: int = 1
    over: int = 1
    width: int = 0
    size: int = -1
    check: int = PLAIN_TEXT
    data: tuple[bytes, ...] = ()
    parent: int = -1
    part: str = ""
    what: str = ""
    branch: str = ""

    def table(self) -> tuple[Any, ...]:
        """The row of the kernel's table."""
        return (
            int(self.op), int(self.source), self.column, self.place, self.null_place, self.int_place, self.low,
            self.high, self.times, self.over, self.width, self.size, self.check, self.kids, self.data,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class WritePlan:
    """The plan to write arrays of an Arrow type as an Avro type. Immutable; threads share it.

    Attributes:
        arrow_type: the struct.
        steps: the first is the root.
        columns: all arrays of the type.
        model: the Avro record.
        depth: how many lists and maps are inside of one another at most.
    """

    arrow_type: pa.DataType
    steps: tuple[Step, ...]
    columns: tuple[Column, ...]
    model: RecordType
    depth: int = field(default=0)

    def __str__(self) -> str:
        return "\n".join(self._lines(0, 0))

    def _lines(self, number: int, level: int) -> Iterator[str]:
        step = self.steps[number]
        name = {"[": "each item", "{": "each value"}.get(step.part, step.part) or "·"
        held = "" if step.op is Op.CONSTANT else f" of {self.columns[step.column].type}"
        union = "" if step.place < 0 else f", branch {step.place}"
        null = "" if step.null_place < 0 else f", null is branch {step.null_place}"
        shown = held if len(held) <= 60 else held[:59] + "…"
        yield f"{'  ' * level}{name}: {step.op.name.lower()} {step.what}{shown}{union}{null}"
        for kid in step.kids:
            yield from self._lines(kid, level + 1)


def plan_of(arrow: pa.DataType, avro: AvroType) -> WritePlan:
    """The plan for an Arrow struct and an Avro record.

    Fields are found by name, or by the property `arrowName` of schemas that `avro_schema_of` made. A field that the
    struct lacks is written as its default (null without one, where it may be null).

    Raises:
        SerializationError: no value of a column can be of its Avro type, a field is missing, or the struct has one that
            the record lacks; `path` says which.
    """
    if not pa.types.is_struct(arrow) or not isinstance(avro, RecordType):
        raise SerializationError(
            f"columns are written as records: a struct is needed for {described(avro)}, not {arrow}"
        )
    compiler = _Compiler()
    columns = columns_of(arrow)
    compiler.step(columns[0], avro, -1, "")
    plan = WritePlan(arrow, tuple(compiler.steps), columns, avro, _lists(compiler.steps))
    verify(plan)
    return plan


class _Compiler:
    def __init__(self) -> None:
        self.steps: list[Step] = []

    # --- steps

    def step(self, column: Column, avro: AvroType, parent: int, part: str, **union: Any) -> int:
        """Adds the step of a column and those of its parts; gives its number."""
        number = len(self.steps)
        union = {**union, "parent": parent, "part": part, "column": column.number}
        self.steps.append(Step(Op.NULL, parent=parent, part=part))
        self.steps[number] = self._made(number, column, avro, union)
        if len(self.steps) > MAX_STEPS:
            raise SerializationError(f"a plan of more than {MAX_STEPS} steps")
        return number

    def _made(self, number: int, column: Column, avro: AvroType, union: dict[str, Any]) -> Step:
        kind = column.type
        if pa.types.is_dictionary(kind):
            placing = {key: union[key] for key in ("place", "null_place", "int_place", "branch") if key in union}
            kid = self.step(column.kids[0], avro, number, "", **placing)
            inner = self.steps[kid]
            return Step(
                Op.DICTIONARY, WHOLE[kind.index_type], column.number, (kid,), null_place=inner.null_place,
                parent=union["parent"], part=union["part"], what=inner.what,
            )  # fmt: skip
        if isinstance(avro, UnionType):
            return self._union(number, column, avro, union)
        if pa.types.is_null(kind) and avro.kind is TypeName.NULL:
            return Step(Op.NULL, what="null", **union)
        if pa.types.is_null(kind) and union.get("null_place", -1) >= 0:
            return Step(Op.NULL, what="null", **{**union, "place": -1})
        if pa.types.is_union(kind):
            raise self._refused(union, f"{kind} is a union, {described(avro)} is none")
        made = PARTS[avro.kind](self, number, column, avro, union) if avro.kind in PARTS else _leaf(column, avro)
        if made is None:
            raise self._refused(union, f"{kind} can't be written as {described(avro)}{_hint(kind, avro)}")
        return made if avro.kind in PARTS else replace(made, what=described(avro), **union)

    def _refused(self, union: dict[str, Any], reason: str) -> SerializationError:
        number, part = union["parent"], union["part"]
        steps = [*self.steps, Step(Op.NULL, parent=number, part=part)]
        return SerializationError(f"the plan can't be made: {reason}", path=_path(steps, len(steps) - 1, None) or None)

    # --- unions

    def _union(self, number: int, column: Column, avro: UnionType, union: dict[str, Any]) -> Step:
        nulls = [at for at, branch in enumerate(avro.branches) if branch.kind is TypeName.NULL]
        null_place = nulls[0] if nulls else -1
        members = [at for at, branch in enumerate(avro.branches) if branch.kind is not TypeName.NULL]
        kind = column.type
        what = f"the union [{', '.join(described(branch) for branch in avro.branches)}]"
        if pa.types.is_null(kind) and nulls:
            return Step(Op.NULL, what=what, **_placed(union, null_place))
        if pa.types.is_union(kind):
            return self._variant(number, column, avro, _placed(union, null_place), what)
        if len(members) > 1 and _is_members(kind, len(members)):
            kids = tuple(
                self.step(kid, avro.branches[at], number, f"member{n}", place=at, branch=type_name(avro.branches[at]))
                for n, (kid, at) in enumerate(zip(column.kids, members, strict=True))
            )
            return Step(Op.MEMBERS, kids=kids, what=what, **_placed(union, null_place))
        return self._branch(number, column, avro, members, _placed(union, null_place), what)

    def _branch(
        self, number: int, column: Column, avro: UnionType, members: list[int], union: dict[str, Any], what: str
    ) -> Step:
        """The branch a column is of, for all rows: the first that is most like it."""
        kinds = {avro.branches[at].kind: at for at in members}
        if (
            column.type in WHOLE
            and kinds.keys() == {TypeName.INT, TypeName.LONG}
            and not any(logical_of(avro.branches[at]) for at in members)
        ):
            both = {**union, "place": kinds[TypeName.LONG], "int_place": kinds[TypeName.INT], "branch": "long"}
            return self._made(number, column, avro.branches[kinds[TypeName.LONG]], both)
        known, refusals = len(self.steps), []
        for at in sorted(members, key=lambda at: _unlikeness(column, avro.branches[at])):
            branch = avro.branches[at]
            try:
                return self._made(number, column, branch, {**union, "place": at, "branch": type_name(branch)})
            except SerializationError as error:
                refusals.append(error)
                del self.steps[known:]
        if len(refusals) == 1:
            raise refusals[0]
        raise self._refused(union, f"{column.type} can't be written as any branch of {what}")

    def _variant(self, number: int, column: Column, avro: UnionType, union: dict[str, Any], what: str) -> Step:
        """Members of an Arrow union: in the order of the branches if there are as many, else each to the most alike."""
        kind = column.type
        members = [at for at, branch in enumerate(avro.branches) if branch.kind is not TypeName.NULL]
        in_order = len(members) == len(column.kids)
        by_id = bytearray(b"\xff" * 128)
        kids = []
        if len(column.kids) > 254:
            raise self._refused(union, "a union of more than 254 members")
        for n, (kid, code) in enumerate(zip(column.kids, kind.type_codes, strict=True)):
            name = kind.field(n).name
            if in_order:
                placing = {"place": members[n], "branch": type_name(avro.branches[members[n]])}
                placing["null_place"] = union["null_place"]
                kids.append(self.step(kid, avro.branches[members[n]], number, name, **placing))
            else:
                kids.append(self.step(kid, avro, number, name))
            by_id[code] = n
        source = Source.DENSE if kind.mode == "dense" else Source.SPARSE
        return Step(Op.VARIANT, source, kids=tuple(kids), data=(bytes(by_id),), what=what, **union)

    # --- parts

    def record(self, number: int, column: Column, avro: Any, union: dict[str, Any]) -> Step | None:
        """A struct as a record."""
        kind = column.type
        if not pa.types.is_struct(kind):
            return None
        names = [kind.field(at).name for at in range(kind.num_fields)]
        if len(set(names)) < len(names):
            raise self._refused(union, f"two fields of the struct have the same name: {kind}")
        left = dict(zip(names, column.kids, strict=True))
        kids = []
        for one in avro.fields:
            name = one.props.get(ORIGINAL_NAME, one.name)
            found = left.pop(name, None)
            if found is None:
                kids.append(self._constant(number, one))
            else:
                kids.append(self.step(found, one.type, number, one.name))
        if left:
            listed = ", ".join(map(repr, list(left)[:5]))
            raise self._refused(
                union, f"{described(avro)} has no field for {listed}: drop them, or add them to the schema"
            )
        return Step(Op.RECORD, kids=tuple(kids), what=described(avro), **union)

    def _constant(self, parent: int, one: Field) -> int:
        """The default of a field that the struct lacks."""
        where: dict[str, Any] = {"parent": parent, "part": one.name}
        if one.has_default:
            try:
                data = default_bytes(one)
            except Misfit as error:
                raise self._refused(
                    where, f"the column is missing, and the default can't be used: {error.reason}"
                ) from error
        elif isinstance(one.type, UnionType) and takes_null(one.type):
            at = next(at for at, branch in enumerate(one.type.branches) if branch.kind is TypeName.NULL)
            data = bytes([at << 1]) if at < 64 else bytes([at << 1 & 0x7F | 0x80, at >> 6])
        elif takes_null(one.type):
            data = b""
        else:
            raise self._refused(where, "the column is missing, and the field has no default")
        self.steps.append(Step(Op.CONSTANT, data=(data,), what=described(one.type), **where))
        return len(self.steps) - 1

    def array(self, number: int, column: Column, avro: Any, union: dict[str, Any]) -> Step | None:
        """A list, of any layout, as an array; a map as an array of records of key and value."""
        kind = column.type
        if pa.types.is_map(kind):
            source, width = Source.OFFSETS_32, 0
        elif is_list(kind):
            source, width = list_source(kind)
        else:
            return None
        kid = self.step(column.kids[0], avro.items, number, "[")
        return Step(Op.LIST, source, kids=(kid,), width=width, what="array", **union)

    def map(self, number: int, column: Column, avro: Any, union: dict[str, Any]) -> Step | None:
        """A map whose keys are texts as a map."""
        if not pa.types.is_map(column.type):
            return None
        key, value = column.kids[0].kids
        if key.type not in TEXT:
            return None
        keys = len(self.steps)
        text = Step(Op.OCTETS, TEXT[key.type], key.number, check=UTF8_TEXT, parent=number, part="{", what="a key")
        self.steps.append(text)
        return Step(
            Op.MAP, Source.OFFSETS_32, kids=(keys, self.step(value, avro.values, number, "{")), what="map", **union
        )


PARTS: Final[dict[TypeName, Callable[..., Step | None]]] = {
    TypeName.RECORD: _Compiler.record,
    TypeName.ARRAY: _Compiler.array,
    TypeName.MAP: _Compiler.map,
}


def _placed(union: dict[str, Any], null_place: int) -> dict[str, Any]:
    return {**union, "null_place": null_place}


def _lists(steps: list[Step]) -> int:
    """The greatest depth of lists and maps inside of one another."""
    inside: list[int] = []
    for step in steps:
        around = inside[step.parent] if step.parent >= 0 else 0
        inside.append(around + (step.op in (Op.LIST, Op.MAP)))
    return max(inside)


def _is_members(kind: pa.DataType, count: int) -> bool:
    """Whether a type is how columns hold unions: a struct of `member0`, `member1`, …"""
    if not pa.types.is_struct(kind) or kind.num_fields != count:
        return False
    return all(kind.field(at).name == f"member{at}" for at in range(count))


def _unlikeness(column: Column, branch: AvroType) -> int:
    """The unlikeness of an Avro type and a column: of branches that fit, the least unlike one is taken."""
    kind, logical = column.type, logical_of(branch)
    if pa.types.is_temporal(kind) or pa.types.is_decimal(kind):
        return int(logical is None)
    if column.uuid:
        return int(logical != "uuid")
    nearest = NEAREST_32 if kind in NARROW else NEAREST.get(kind, ())
    return (nearest.index(branch.kind) if branch.kind in nearest else len(nearest)) + 10 * (logical is not None)


NARROW: Final = (pa.int8(), pa.int16(), pa.int32(), pa.uint8(), pa.uint16())
NEAREST_32: Final = (TypeName.INT, TypeName.LONG, TypeName.DOUBLE, TypeName.FLOAT)
NEAREST: Final = {
    **dict.fromkeys(
        (pa.int64(), pa.uint32(), pa.uint64()), (TypeName.LONG, TypeName.INT, TypeName.DOUBLE, TypeName.FLOAT)
    ),
    **dict.fromkeys((pa.float16(), pa.float32()), (TypeName.FLOAT, TypeName.DOUBLE)),
    pa.float64(): (TypeName.DOUBLE, TypeName.FLOAT),
    **dict.fromkeys(TEXT, (TypeName.STRING, TypeName.ENUM)),
    **dict.fromkeys(OCTETS, (TypeName.BYTES, TypeName.FIXED)),
}


# --- types without parts


def _leaf(column: Column, avro: AvroType) -> Step | None:
    """The step of a type without parts, without its place; None if no value of the column can be of it."""
    logical = logical_of(avro)
    if logical == "decimal":
        return _decimal(column.type, avro)
    if logical == "uuid":
        return _uuid(column.type, avro)
    if logical == "duration":
        return _duration(column.type)
    if avro.kind in (TypeName.INT, TypeName.LONG):
        return _whole(column.type, avro, logical)
    return LEAVES[avro.kind](column, avro) if avro.kind in LEAVES else None


def _boolean(column: Column, avro: AvroType) -> Step | None:
    return Step(Op.BOOLEAN) if pa.types.is_boolean(column.type) else None


def _float(column: Column, avro: AvroType) -> Step | None:
    source = REAL.get(column.type, WHOLE.get(column.type))
    return None if source is None else Step(Op.FLOAT if avro.kind is TypeName.FLOAT else Op.DOUBLE, source)


def _bytes(column: Column, avro: AvroType) -> Step | None:
    source, width = _octets(column.type)
    return None if source is None else Step(Op.OCTETS, source, width=width)


def _octets(kind: pa.DataType) -> tuple[Source | None, int]:
    if pa.types.is_fixed_size_binary(kind):
        return Source.WIDTH, kind.byte_width
    return OCTETS.get(kind), 0


def _string(column: Column, avro: AvroType) -> Step | None:
    if column.uuid:
        return Step(Op.UUID_OF_BYTES, Source.WIDTH, width=16)
    source = TEXT.get(column.type)
    return None if source is None else Step(Op.OCTETS, source, check=UTF8_TEXT)


def _enum(column: Column, avro: Any) -> Step | None:
    data = tuple(name.encode() for name in avro.symbols)
    if column.type in WHOLE:  # columns of numbers, as `enums="number"` makes them
        return Step(Op.INT, WHOLE[column.type], low=0, high=len(data) - 1, data=data)
    source = TEXT.get(column.type)
    return None if source is None else Step(Op.ENUM, source, data=data)


def _fixed(column: Column, avro: Any) -> Step | None:
    source, width = _octets(column.type)
    if source is None or (source is Source.WIDTH and width != avro.size):
        return None
    return Step(Op.FIXED, source, width=width, size=avro.size)


LEAVES: Final[dict[TypeName, Callable[[Column, Any], Step | None]]] = {
    TypeName.BOOLEAN: _boolean,
    TypeName.FLOAT: _float,
    TypeName.DOUBLE: _float,
    TypeName.BYTES: _bytes,
    TypeName.STRING: _string,
    TypeName.ENUM: _enum,
    TypeName.FIXED: _fixed,
}


def _uuid(kind: pa.DataType, avro: AvroType) -> Step | None:
    if kind in TEXT:
        if avro.kind is TypeName.STRING:
            return Step(Op.OCTETS, TEXT[kind], check=UUID_TEXT)
        return Step(Op.UUID_OF_TEXT, TEXT[kind], size=16)
    source, width = _octets(kind)
    if source is None or width not in (0, 16):
        return None
    if avro.kind is TypeName.STRING:
        return Step(Op.UUID_OF_BYTES, source, width=width)
    return Step(Op.FIXED, source, width=width, size=16)


def _duration(kind: pa.DataType) -> Step | None:
    if pa.types.is_interval(kind):
        return Step(Op.INTERVAL, width=16)
    if pa.types.is_duration(kind):
        units = UNITS[kind.unit]
        return Step(Op.LAPSE, Source.I64, times=max(1000 // units, 1), over=max(units // 1000, 1))
    source, width = _octets(kind)
    if source is None or width not in (0, 12):
        return None
    return Step(Op.FIXED, source, width=width, size=12)


def _decimal(kind: pa.DataType, avro: Any) -> Step | None:
    size = avro.size if isinstance(avro, FixedType) else -1
    if not pa.types.is_decimal(kind):
        return None
    precision, scale = avro.props["precision"], avro.props.get("scale", 0)
    if precision > MAX_DIGITS:
        raise SerializationError(f"decimal({precision}, {scale}): columns have {MAX_DIGITS} digits at most")
    more = scale - kind.scale
    return Step(
        Op.DECIMAL, width=kind.bit_width // 8, size=size, data=((10**precision).to_bytes(32, "little"),),
        times=max(more, 0) + 1, over=max(-more, 0) + 1,
    )  # fmt: skip


def _whole(kind: pa.DataType, avro: AvroType, logical: str | None) -> Step | None:
    """Whole numbers, dates, times, points in time; `times` or `over` turn one unit into the other."""
    least, most = INT_RANGE if avro.kind is TypeName.INT else (LOW, HIGH)
    if logical is not None:
        least, most = _logical_range(logical)
    if kind in WHOLE:
        return _scaled(WHOLE[kind], least, most, 1, 1)
    types = pa.types
    if logical == "date":
        if types.is_date32(kind):
            return _scaled(Source.I32, least, most, 1, 1)
        return _scaled(Source.I64, least, most, 1, DAY_MILLIS) if types.is_date64(kind) else None
    if logical in TIMES and types.is_time(kind):
        return _scaled(
            Source.I32 if types.is_time32(kind) else Source.I64, least, most, TIMES[logical], UNITS[kind.unit]
        )
    known = {**INSTANTS, **LOCALS}
    if logical in known and types.is_timestamp(kind) and (logical in INSTANTS) == (kind.tz is not None):
        return _scaled(Source.I64, least, most, known[logical], UNITS[kind.unit])
    if logical is None and types.is_duration(kind) and getattr(avro, "props", {}).get(SPAN_UNIT) in UNITS:
        return _scaled(Source.I64, least, most, UNITS[avro.props[SPAN_UNIT]], UNITS[kind.unit])
    return None


def _logical_range(logical: str) -> tuple[int, int]:
    """The range that can be read back as an object, as the encoder of objects has it."""
    if logical == "date":
        return DAYS
    if logical in TIMES:
        return 0, 86_400 * TIMES[logical] - 1
    units = {**INSTANTS, **LOCALS}[logical]
    return (LOW, HIGH) if units == 10**9 else (SECONDS[0] * units, SECONDS[1] * units + units - 1)


def _scaled(source: Source, least: int, most: int, target: int, held: int) -> Step:
    """A number of `held` units in a second as one of `target` units; bounds are those of the number before `times`."""
    times, over = max(target // held, 1), max(held // target, 1)
    return Step(Op.INT, source, low=-(-least // times), high=most // times, times=times, over=over)


def _hint(kind: pa.DataType, avro: AvroType) -> str:
    logical = logical_of(avro)
    if pa.types.is_timestamp(kind) and (logical in INSTANTS or logical in LOCALS):
        if kind.tz is None:
            return ": it has no time zone, so it is no point in time (assume_timezone gives it one)"
        return ": its time zone would be lost (local_timestamp takes it away)"
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return ": the schema does not say in which unit"
    return ""


# --- verification


def verify(plan: WritePlan) -> None:
    """Checks what the kernel relies on: kids come after their parents, numbers are in range, columns are as steps need.

    Raises:
        ValueError: the plan is not sound, which is a defect of what made it.
    """
    steps, columns = plan.steps, plan.columns
    for number, step in enumerate(steps):
        if not 0 <= step.column < len(columns):
            raise ValueError(f"step {number} reads column {step.column} of {len(columns)}")
        for kid in step.kids:
            if not number < kid < len(steps) or steps[kid].parent != number:
                raise ValueError(f"step {number} has step {kid} of {len(steps)} as its part")
        wanted = {Op.LIST: 1, Op.MAP: 2, Op.DICTIONARY: 1}.get(step.op)
        if wanted is not None and len(step.kids) != wanted:
            raise ValueError(f"step {number} has {len(step.kids)} parts")
        if step.times < 1 or step.over < 1 or (step.times > 1 and step.over > 1):
            raise ValueError(f"step {number} multiplies by {step.times} and divides by {step.over}")
        if step.op is Op.INT and (step.low * step.times < LOW or step.high * step.times > HIGH):
            raise ValueError(f"step {number} can overflow")
        if step.op is not Op.CONSTANT and not _reads(step, columns[step.column]):
            raise ValueError(f"step {number} ({step.op.name}) can't read {columns[step.column].type}")
    if steps[0].parent != -1 or steps[0].op is not Op.RECORD or steps[0].column != 0:
        raise ValueError("the first step is not the record")
    if plan.depth < _lists(list(steps)):
        raise ValueError("lists are nested deeper than the plan says")


WIDTHS: Final = {
    Source.I8: 1, Source.I16: 2, Source.I32: 4, Source.I64: 8, Source.U8: 1, Source.U16: 2, Source.U32: 4,
    Source.U64: 8, Source.F16: 2, Source.F32: 4, Source.F64: 8,
}  # fmt: skip


def _reads(step: Step, column: Column) -> bool:
    """Whether a step reads just the memory that an array of this type has."""
    kind, types = column.type, pa.types
    if step.op in (Op.INT, Op.FLOAT, Op.DOUBLE, Op.LAPSE):
        plain = not types.is_nested(kind) and not types.is_boolean(kind)
        return plain and bool(kind.bit_width == 8 * WIDTHS[step.source])
    if step.op in (Op.OCTETS, Op.ENUM, Op.FIXED, Op.UUID_OF_BYTES, Op.UUID_OF_TEXT):
        if step.source is Source.WIDTH:
            return bool(types.is_fixed_size_binary(kind) and kind.byte_width == step.width)
        return TEXT.get(kind, OCTETS.get(kind)) is step.source
    if step.op is Op.LIST:
        return (types.is_map(kind) and step.source is Source.OFFSETS_32) or (
            is_list(kind) and list_source(kind) == (step.source, step.width)
        )
    checks: dict[Op, Callable[[pa.DataType], Any]] = {
        Op.NULL: types.is_null,
        Op.BOOLEAN: types.is_boolean,
        Op.DECIMAL: lambda kind: types.is_decimal(kind) and kind.bit_width == 8 * step.width <= 256,
        Op.INTERVAL: types.is_interval,
        Op.MAP: types.is_map,
        Op.RECORD: types.is_struct,
        Op.MEMBERS: types.is_struct,
        Op.VARIANT: lambda kind: (
            types.is_union(kind)
            and (kind.mode == "dense") == (step.source is Source.DENSE)
            and all(by == 255 or by < len(step.kids) for by in step.data[0])
        ),
        Op.DICTIONARY: lambda kind: types.is_dictionary(kind) and WHOLE[kind.index_type] is step.source,
    }
    return bool(checks[step.op](kind))


# --- words


def _path(steps: Any, number: int, indexes: Any) -> str:
    """The place of a step, e.g. `items[3].price`; `indexes` come innermost first, None for none."""
    left = list(indexes) if indexes is not None else None
    parts: list[str] = []
    while number >= 0:
        step = steps[number]
        if step.part in ("[", "{"):
            at = str(left.pop(0)) if left else ""
            parts.append(f"[entry {at}]" if at and step.part == "{" else f"[{at}]")
        elif step.part:
            parts.append(step.part)
        number = step.parent
    made = ""
    for part in reversed(parts):
        made = f"{made}{part}" if part[0] == "[" and made else f"{made}.{part}" if made else part
    return made


def place_of(plan: WritePlan, number: int, indexes: tuple[int, ...]) -> str:
    """The place of a fault in a row, e.g. `items[3].price`; empty for the row itself."""
    return _path(plan.steps, number, indexes)


def reason_of(fault: Fault, step: Step, max_row_bytes: int) -> str:
    """The reason of a fault, without the value."""
    if fault is Fault.TOO_LARGE:
        return f"the frame is longer than {max_row_bytes} bytes"
    return REASONS[fault].format(what=step.what)


REASONS: Final = {
    Fault.NULL: "null does not fit {what}",
    Fault.OUT_OF_RANGE: "the value is out of the range of {what}",
    Fault.LOSES_DIGITS: "the value is finer than {what}: digits would be lost",
    Fault.NOT_UTF8: "the text is not UTF-8",
    Fault.NO_SYMBOL: "the text is no symbol of {what}",
    Fault.WRONG_SIZE: "the value has another number of bytes than {what}",
    Fault.NOT_UUID: "the text is no UUID (8-4-4-4-12 hexadecimal digits)",
    Fault.NO_MEMBER: "no member is set, and null does not fit {what}",
    Fault.SEVERAL_MEMBERS: "more than one member of {what} is set",
    Fault.KEY_TWICE: "the map has the same key twice",
    Fault.NULL_KEY: "the key of a map is null",
    Fault.BROKEN: "the Arrow array is not valid here (validate(full=True) says why)",
    Fault.INEXACT: "the whole number can't be written exactly as {what}",
}
