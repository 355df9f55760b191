"""Writers of a schema: the kernel's nodes put together, once per schema.

Must not know of frames, or of schemas that values are read with. The defaults of fields are encoded here, once, to be
written where a value has none. Source: Avro specification 1.12, "Binary Encoding", "Schema Declaration".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from registry.schemas.avro.model import (
    ArrayType,
    AvroType,
    EnumType,
    Field,
    FixedType,
    MapType,
    RecordType,
    TypeName,
    UnionType,
    type_name,
)
from serdes.formats.avro.logical import INSTANTS, LOCALS, TIMES, Convert, described, logical_of, preparing
from serdes.formats.avro.union import Chooser, quick_branches, takes_null
from serdes.kernels.avro import (
    Encoder,
    WriteArray,
    WriteBoolean,
    WriteBytes,
    WriteDate,
    WriteDecimal,
    WriteDouble,
    WriteEnum,
    WriteFixed,
    WriteFloat,
    WriteInstant,
    WriteInt,
    WriteMap,
    WriteNull,
    WritePrepared,
    Writer,
    WriteRecord,
    WriteString,
    WriteTimeOfDay,
    WriteUnion,
    WriteUUID,
)
from serdes.kernels.misfit import Misfit

MAX_DEFAULT_DEPTH: Final = 100
MAX_DEFAULT_PARTS: Final = 10_000
BITS: Final = {TypeName.INT: 31, TypeName.LONG: 63}


def writer_of(avro: AvroType, strict: bool = False, allow_default: bool = False) -> Writer:
    """The node that writes a type.

    Args:
        avro: the type.
        strict: records must have exactly the schema's fields.
        allow_default: as `strict`, but fields with a default may be missing.
    """
    made = Writers(strict, allow_default)
    node = made.of(avro)
    made.finish()
    return node


class Writers:
    """Makes a node per type; records that hold themselves hold the node of their record."""

    def __init__(self, strict: bool, allow_default: bool) -> None:
        self._strict, self._allow_default = strict, allow_default
        self._nodes: dict[int, Writer] = {}
        self._records: list[tuple[RecordType, WriteRecord]] = []

    def of(self, avro: AvroType) -> Writer:
        """The node that writes a type; it is ready after `finish`."""
        found = self._nodes.get(id(avro))
        if found is not None:
            return found
        if isinstance(avro, RecordType):
            record = WriteRecord(f"record {avro.name}", self._strict, self._allow_default)
            self._nodes[id(avro)] = record
            self._records.append((avro, record))
            for field in avro.fields:
                self.of(field.type)
            return record
        made = self._nodes[id(avro)] = self._made(avro)
        self._fill(avro, made)
        return made

    def _made(self, avro: AvroType) -> Writer:
        if isinstance(avro, UnionType):
            return WriteUnion(quick_branches(avro), Chooser(avro))
        prepare = preparing(avro)
        leaf = leaf_writer(avro)
        return leaf if prepare is None else logical_writer(avro, prepare, leaf)

    def _fill(self, avro: AvroType, made: Writer) -> None:
        if isinstance(made, WriteUnion) and isinstance(avro, UnionType):
            made.fill([self.of(branch) for branch in avro.branches])
        elif isinstance(made, WriteArray) and isinstance(avro, ArrayType):
            made.fill(self.of(avro.items))
        elif isinstance(made, WriteMap) and isinstance(avro, MapType):
            made.fill(self.of(avro.values))

    def finish(self) -> None:
        """Fills the records, with the defaults of their fields."""
        for avro, record in self._records:
            record.fill(
                [
                    (field.name, self.of(field.type), encoded_default(field), takes_null(field.type))
                    for field in avro.fields
                ]
            )


def encoded_default(field: Field) -> bytes | str | None:
    """A default as bytes; why there are none, if it is not valid."""
    if not field.has_default:
        return None
    try:
        return default_bytes(field)
    except Misfit as error:
        return f"the field is missing, and its default can't be used: {error.reason}"


def leaf_writer(avro: AvroType) -> Writer:
    what = described(avro)
    if isinstance(avro, FixedType):
        return WriteFixed(avro.size, what)
    if isinstance(avro, EnumType):
        return WriteEnum({symbol: at for at, symbol in enumerate(avro.symbols)}, what)
    if avro.kind in BITS:
        bound = 2 ** BITS[avro.kind]
        return WriteInt(-bound, bound - 1, what)
    return LEAVES[avro.kind](what)


def logical_writer(avro: AvroType, prepare: Convert, leaf: Writer) -> Writer:
    """The node of a logical type.

    Args:
        avro: the type.
        prepare: makes of a value what the type beneath holds.
        leaf: writes that.
    """
    logical = logical_of(avro)
    if logical in INSTANTS or logical in LOCALS:
        utc = logical in INSTANTS
        return WriteInstant(prepare, leaf, (INSTANTS if utc else LOCALS)[logical], utc)
    if logical in TIMES:
        return WriteTimeOfDay(prepare, leaf, TIMES[logical])
    if logical == "date":
        return WriteDate(prepare, leaf)
    if logical == "uuid":
        return WriteUUID(prepare, leaf, avro.kind is TypeName.STRING)
    if logical == "decimal":
        size = avro.size if isinstance(avro, FixedType) else None
        return WriteDecimal(prepare, leaf, avro.props["precision"], avro.props.get("scale", 0), size)
    return WritePrepared(prepare, leaf)


LEAVES: Final[dict[TypeName, Callable[[str], Writer]]] = {
    TypeName.NULL: lambda what: WriteNull(),
    TypeName.BOOLEAN: lambda what: WriteBoolean(),
    TypeName.FLOAT: lambda what: WriteFloat(),
    TypeName.DOUBLE: lambda what: WriteDouble(),
    TypeName.BYTES: WriteBytes,
    TypeName.STRING: WriteString,
    TypeName.ARRAY: WriteArray,
    TypeName.MAP: WriteMap,
}


# --- defaults


def default_bytes(field: Field) -> bytes:
    """The default of a field in Avro's encoding.

    Raises:
        Misfit: the default is not one of its type.
    """
    value = _Defaults().of(field.type, field.default, 0)
    return Encoder(_plain_writer(field.type), b"", _as_misfit)(value)


def _as_misfit(error: Exception) -> Exception:
    return error if isinstance(error, Misfit) else Misfit(f"{type(error).__name__}")


def _plain_writer(avro: AvroType) -> Writer:
    """Writes values whose records are complete."""
    made = _Complete()
    node = made.of(avro)
    made.finish()
    return node


class _Complete(Writers):
    """Writers of records that need no defaults, since `_value` has put them in."""

    def __init__(self) -> None:
        super().__init__(False, False)

    def finish(self) -> None:
        for avro, record in self._records:
            record.fill([(field.name, self.of(field.type), None, False) for field in avro.fields])


class _Defaults:
    """Makes values of one default: bytes of texts, unions with their branch named, records complete."""

    def __init__(self) -> None:
        self._left = MAX_DEFAULT_PARTS

    def of(self, avro: AvroType, default: Any, depth: int) -> Any:
        self._left -= 1
        if depth > MAX_DEFAULT_DEPTH or self._left < 0:
            raise Misfit("the default is too large, or part of itself")
        if isinstance(avro, UnionType):
            return self._union(avro, default, depth)
        if isinstance(avro, RecordType):
            return self._record(avro, default, depth)
        if isinstance(avro, ArrayType) and isinstance(default, list):
            return [self.of(avro.items, item, depth + 1) for item in default]
        if isinstance(avro, MapType) and isinstance(default, dict):
            return {key: self.of(avro.values, item, depth + 1) for key, item in default.items()}
        if avro.kind in (TypeName.BYTES, TypeName.FIXED):
            return _octets(avro, default)
        if avro.kind in (TypeName.FLOAT, TypeName.DOUBLE) and type(default) is int:
            try:
                return float(default)
            except OverflowError:
                raise Misfit(f"the default does not fit {described(avro)}") from None
        return default

    def _union(self, avro: UnionType, default: Any, depth: int) -> Any:
        """The first branch that takes the default (the first of all, before Avro 1.12)."""
        for branch in avro.branches:
            try:
                value = self.of(branch, default, depth + 1)
                Encoder(_plain_writer(branch), b"", _as_misfit)(value)
            except Misfit:
                if self._left < 0:
                    raise
                continue
            return (type_name(branch), value)
        raise Misfit("the default fits no branch of the union")

    def _record(self, avro: RecordType, default: Any, depth: int) -> dict[str, Any]:
        if not isinstance(default, dict):
            raise Misfit(f"the default does not fit record {avro.name}")
        made = {}
        for field in avro.fields:
            if field.name not in default and not field.has_default:
                raise Misfit(f"the default has no field {field.name!r} of record {avro.name}")
            made[field.name] = self.of(field.type, default.get(field.name, field.default), depth + 1)
        return made


def _octets(avro: AvroType, default: Any) -> bytes:
    if not isinstance(default, str):
        raise Misfit(f"the default does not fit {described(avro)}")
    try:
        return default.encode("latin-1")
    except UnicodeEncodeError:
        raise Misfit("the default of bytes has characters beyond U+00FF") from None
