"""Arrow columns written as Avro through the encoder of objects: the specification of the kernel, and its stand-in.

Must not know of frames or registries. A column becomes a list of values as `serdes.formats.avro` takes them, with a
`Bad` in the place of what does not fit; the encoder then writes one row after the other.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa

from serdes.columnar.avro.writing import UTF8_TEXT, UUID_TEXT, Step, WritePlan, place_of, reason_of
from serdes.columnar.ranges import octets_of, ranges_of
from serdes.formats.avro.codec import AvroSchema, encoder
from serdes.formats.avro.logical import UUID_TEXT as UUID_FORM
from serdes.formats.avro.logical import Duration
from serdes.kernels.arrays import Source
from serdes.kernels.avro_frames import Fault, Op
from serdes.kernels.misfit import Misfit, real_of, single_of

EXACT: Final = decimal.Context(prec=decimal.MAX_PREC, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)


@dataclass(frozen=True, slots=True)
class Bad:
    """A value that can't be written.

    Attributes:
        fault: why.
        step: where.
        indexes: places in lists and maps on the way, innermost first.
    """

    fault: Fault
    step: int
    indexes: tuple[int, ...] = ()


def encode_rows(
    plan: WritePlan, chunks: Sequence[pa.Array], prefix: bytes, max_row_bytes: int
) -> tuple[list[bytes | None], list[str | None]]:
    """A frame or an error for each row; neither for a row that is null.

    Args:
        plan: for the type of the arrays.
        chunks: struct arrays.
        prefix: in front of each frame.
        max_row_bytes: a longer frame is an error.
    """
    write = encoder(AvroSchema("", plan.model), prefix)
    frames: list[bytes | None] = []
    errors: list[str | None] = []
    for chunk in chunks:
        for value in _Values(plan).of(0, chunk):
            frame, error = None, None
            if value is not None and value.__class__ is not Bad:
                frame = write(value)
                if len(frame) > max_row_bytes:
                    frame, value = None, Bad(Fault.TOO_LARGE, 0)
            if value.__class__ is Bad:
                place = place_of(plan, value.step, value.indexes)
                reason = reason_of(value.fault, plan.steps[value.step], max_row_bytes)
                error = f"at {place}: {reason}" if place else reason
            frames.append(frame)
            errors.append(error)
    return frames, errors


class _Values:
    """Makes lists of values of arrays."""

    def __init__(self, plan: WritePlan) -> None:
        self._steps = plan.steps

    def of(self, number: int, array: pa.Array) -> list[Any]:
        """The values of a step's column; None for null where that fits."""
        step = self._steps[number]
        if isinstance(array, pa.ExtensionArray):
            array = array.storage
        values = MAKERS[step.op](self, number, step, array)
        null = None if step.null_place >= 0 or number == 0 or step.op is Op.NULL else Bad(Fault.NULL, number)
        valid = array.is_valid().to_pylist() if step.op not in (Op.VARIANT, Op.NULL) else [True] * len(array)
        made = [value if there else null for value, there in zip(values, valid, strict=True)]
        return made if step.place < 0 else [_branch(step, value) for value in made]

    def leaf(self, number: int, step: Step, array: pa.Array) -> list[Any]:
        """Values without parts, one function for each."""
        make = LEAVES[step.op](step)
        return [_tried(make, value, number) for value in _plain(step, array)]

    def null(self, number: int, step: Step, array: pa.Array) -> list[Any]:
        return [None] * len(array)

    def record(self, number: int, step: Step, array: pa.Array) -> list[Any]:
        fields = _fields(array)
        kids = [(self._steps[kid], kid) for kid in step.kids if self._steps[kid].op is not Op.CONSTANT]
        by_column = self._by_column(number, fields)
        columns = [(kid.part, self.of(at, by_column[kid.column])) for kid, at in kids]
        return [_record(columns, row) for row in range(len(array))]

    def _by_column(self, number: int, fields: Sequence[pa.Array]) -> dict[int, pa.Array]:
        """The fields of a struct by the numbers of their columns, which grow with the fields."""
        numbers = sorted(self._steps[kid].column for kid in self._steps[number].kids if self._steps[kid].column)
        return dict(zip(numbers, fields, strict=True))

    def members(self, number: int, step: Step, array: pa.Array) -> list[Any]:
        """The one member that is set."""
        fields = _fields(array)
        valid = [field.is_valid().to_pylist() for field in fields]
        made = [self.of(kid, field) for kid, field in zip(step.kids, fields, strict=True)]
        rows: list[Any] = []
        for row in range(len(array)):
            found = [at for at in range(len(fields)) if valid[at][row]]
            if len(found) > 1:
                rows.append(Bad(Fault.SEVERAL_MEMBERS, number))
            elif found:
                rows.append(made[found[0]][row])
            else:
                rows.append(None if step.null_place >= 0 else Bad(Fault.NO_MEMBER, number))
        return rows

    def variant(self, number: int, step: Step, array: pa.Array) -> list[Any]:
        """The member that the type id says."""
        dense = step.source is Source.DENSE
        buffers, rows, offset = array.buffers(), len(array), array.offset  # type_codes and offsets begin at 0 in slices
        codes = pa.Array.from_buffers(pa.int8(), rows, [None, buffers[1]], offset=offset).to_pylist()
        places: Iterable[int] = range(rows)
        if dense:
            places = pa.Array.from_buffers(pa.int32(), rows, [None, buffers[2]], offset=offset).to_pylist()
        made = [self.of(kid, array.field(at)) for at, kid in enumerate(step.kids)]
        return [made[step.data[0][code]][place] for code, place in zip(codes, places, strict=True)]

    def dictionary(self, number: int, step: Step, array: pa.Array) -> list[Any]:
        known = dict(enumerate(self.of(step.kids[0], array.dictionary)))  # under nulls places may be any
        beyond = Bad(Fault.BROKEN, number)
        return [None if at is None else known.get(at, beyond) for at in array.indices.to_pylist()]

    def items(self, number: int, step: Step, array: pa.Array) -> list[Any]:
        items = self.of(step.kids[0], _entries(array) if pa.types.is_map(array.type) else array.values)
        return [_items(items[start:end]) for start, end in ranges_of(array)]

    def entries(self, number: int, step: Step, array: pa.Array) -> list[Any]:
        keys, values = self.of(step.kids[0], array.keys), self.of(step.kids[1], array.items)
        return [self._entries(step, keys[start:end], values[start:end]) for start, end in ranges_of(array)]

    def _entries(self, step: Step, keys: list[Any], values: list[Any]) -> Any:
        twice = _twice(keys)
        if twice is not None:
            return Bad(Fault.KEY_TWICE, step.kids[0], (twice,))
        made: dict[Any, Any] = {}
        for at, (key, value) in enumerate(zip(keys, values, strict=True)):
            for part in (key, value):
                if isinstance(part, Bad):
                    null_key = part is key and part.fault is Fault.NULL
                    return replace(part, fault=Fault.NULL_KEY if null_key else part.fault, indexes=(*part.indexes, at))
            made[key] = value
        return made


def _twice(keys: Iterable[Any]) -> int | None:
    """The place of the first key that was there before."""
    known = set()
    for at, key in enumerate(keys):
        if not isinstance(key, Bad):
            if key in known:
                return at
            known.add(key)
    return None


MAKERS: Final[dict[Op, Callable[[_Values, int, Step, pa.Array], list[Any]]]] = {
    Op.NULL: _Values.null,
    Op.RECORD: _Values.record,
    Op.MEMBERS: _Values.members,
    Op.VARIANT: _Values.variant,
    Op.DICTIONARY: _Values.dictionary,
    Op.LIST: _Values.items,
    Op.MAP: _Values.entries,
    **dict.fromkeys(
        (
            Op.BOOLEAN, Op.INT, Op.FLOAT, Op.DOUBLE, Op.OCTETS, Op.ENUM, Op.FIXED, Op.DECIMAL, Op.UUID_OF_BYTES,
            Op.UUID_OF_TEXT, Op.INTERVAL, Op.LAPSE,
        ),
        _Values.leaf,
    ),
}  # fmt: skip


def _branch(step: Step, value: Any) -> Any:
    """A value with the name of its branch."""
    if value is None or isinstance(value, Bad):
        return value
    if step.int_place >= 0 and -(2**31) <= value < 2**31:
        return "int", value
    return step.branch, value


def _record(columns: Sequence[tuple[str, list[Any]]], row: int) -> Any:
    made = {}
    for name, values in columns:
        value = values[row]
        if isinstance(value, Bad):
            return value
        made[name] = value
    return made


def _items(items: list[Any]) -> Any:
    for at, item in enumerate(items):
        if isinstance(item, Bad):
            return replace(item, indexes=(*item.indexes, at))
    return items


def _fields(array: pa.Array) -> list[pa.Array]:
    return [array.field(at) for at in range(array.type.num_fields)]


def _entries(array: pa.Array) -> pa.Array:
    names = ["key", "value"]
    return pa.StructArray.from_arrays([array.keys, array.items], names)


# --- values without parts


def _plain(step: Step, array: pa.Array) -> list[Any]:
    """The values as numbers, bytes, decimals."""
    kind, types = array.type, pa.types
    if types.is_temporal(kind) and step.op in (Op.INT, Op.LAPSE):
        array = array.view(pa.int32() if step.source is Source.I32 else pa.int64())
    elif types.is_float16(kind):
        array = array.cast(pa.float32())
    made: list[Any] = octets_of(array).to_pylist()
    return made


def _tried(make: Callable[[Any], Any], value: Any, number: int) -> Any:
    if value is None:
        return None
    made = make(value)
    return Bad(made, number) if isinstance(made, Fault) else made


def _same(step: Step) -> Callable[[Any], Any]:
    return lambda value: value


def _whole(step: Step) -> Callable[[int], Any]:
    def make(value: int) -> Any:
        if value >= 2**63:
            return Fault.OUT_OF_RANGE
        if value % step.over:
            return Fault.LOSES_DIGITS
        value //= step.over
        if not step.low <= value <= step.high:
            return Fault.OUT_OF_RANGE
        return step.data[value].decode() if step.data else value * step.times

    return make


def _real(step: Step) -> Callable[[Any], Any]:
    check = single_of if step.op is Op.FLOAT else real_of

    def make(value: Any) -> Any:
        try:
            return check(value, "")
        except Misfit:
            return Fault.OUT_OF_RANGE if isinstance(value, float) else Fault.INEXACT

    return make


def _octets(step: Step) -> Callable[[bytes], Any]:
    if step.check == UTF8_TEXT:
        return _text
    return _uuid_text if step.check == UUID_TEXT else _same(step)


def _text(value: bytes) -> Any:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return Fault.NOT_UTF8


def _uuid_text(value: bytes) -> Any:
    text = _text(value)
    return text if isinstance(text, str) and UUID_FORM.fullmatch(text) is not None else Fault.NOT_UUID


def _symbol(step: Step) -> Callable[[bytes], Any]:
    known = {symbol: symbol.decode() for symbol in step.data}
    return lambda value: known.get(value, Fault.NO_SYMBOL)


def _fixed(step: Step) -> Callable[[bytes], Any]:
    return lambda value: value if len(value) == step.size else Fault.WRONG_SIZE


def _uuid_of_bytes(step: Step) -> Callable[[bytes], Any]:
    import uuid

    return lambda value: str(uuid.UUID(bytes=value)) if len(value) == 16 else Fault.WRONG_SIZE


def _uuid_of_text(step: Step) -> Callable[[bytes], Any]:
    import uuid

    def make(value: bytes) -> Any:
        text = _uuid_text(value)
        return text if isinstance(text, Fault) else uuid.UUID(text).bytes

    return make


def _decimal(step: Step) -> Callable[[decimal.Decimal], Any]:
    bound = int.from_bytes(step.data[0], "little")

    def make(value: decimal.Decimal) -> Any:
        exponent = value.as_tuple().exponent
        whole = int(value.scaleb(-int(exponent), EXACT)) * 10 ** (step.times - 1)
        whole, rest = divmod(abs(whole), 10 ** (step.over - 1))
        if rest:
            return Fault.LOSES_DIGITS
        return value if whole < bound else Fault.OUT_OF_RANGE

    return make


def _interval(step: Step) -> Callable[[Any], Any]:
    def make(value: Any) -> Any:
        return (
            Fault.LOSES_DIGITS
            if value.nanoseconds % 10**6
            else _span(value.months, value.days, value.nanoseconds // 10**6)
        )

    return make


def _span(months: int, days: int, millis: int) -> Any:
    made = Duration(months, days, millis)
    return made if all(0 <= part < 2**32 for part in made) else Fault.OUT_OF_RANGE


def _lapse(step: Step) -> Callable[[int], Any]:
    per_day = 86_400_000 * step.over // step.times

    def make(value: int) -> Any:
        if value < 0:
            return Fault.OUT_OF_RANGE
        days, rest = divmod(value, per_day)
        return Fault.LOSES_DIGITS if rest % step.over else _span(0, days, rest // step.over * step.times)

    return make


LEAVES: Final[dict[Op, Callable[[Step], Callable[[Any], Any]]]] = {
    Op.BOOLEAN: _same,
    Op.INT: _whole,
    Op.FLOAT: _real,
    Op.DOUBLE: _real,
    Op.OCTETS: _octets,
    Op.ENUM: _symbol,
    Op.FIXED: _fixed,
    Op.DECIMAL: _decimal,
    Op.UUID_OF_BYTES: _uuid_of_bytes,
    Op.UUID_OF_TEXT: _uuid_of_text,
    Op.INTERVAL: _interval,
    Op.LAPSE: _lapse,
}
