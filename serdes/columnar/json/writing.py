"""Arrow columns written as JSON documents: by the kernel, or by way of Python objects, which is its specification.

Must not know of ids or registries. How a column is written follows from its Arrow type (docs/guide/columns.md); whether
that fits is the schema's verdict, row by row: known beforehand where `serdes.columnar.json.steps` proves it, else asked
of the validator. Where the schema takes values of any shape, which are read as JSON text, a text is written as the JSON
it is (docs/decisions/0094). Rows that the kernel leaves go as objects, which say what is wrong.
"""

from __future__ import annotations

import base64
import datetime
import math
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson
import pyarrow as pa

from serdes.columnar.arrays import TEXT
from serdes.columnar.assemble import binary_of, errors_of
from serdes.columnar.contract import EncodeResult
from serdes.columnar.json.schema_of import json_schema_of
from serdes.columnar.json.steps import AS_JSON, SIGNED, Unnamed, plan_of
from serdes.columnar.json.types import UNNAMED, Part, alternatives_of, parts_of
from serdes.columnar.ranges import octets_of, ranges_of
from serdes.errors import SerializationError
from serdes.formats.json.codec import JsonSchema, resolver_of
from serdes.kernels.json_columns import Expected
from serdes.kernels.json_frames import native_program

DAY_SECONDS: Final = 86_400
EPOCH: Final = datetime.date(1970, 1, 1).toordinal()
UNITS: Final = {"s": 0, "ms": 3, "us": 6, "ns": 9}
NAMING: Final = frozenset(("properties", "allOf", "oneOf", "anyOf", "then", "else", "dependentSchemas", "dependencies"))
"""Keywords that name members, or hold schemas that do."""


@dataclass(frozen=True, slots=True)
class Bad:
    """A value that has no form in JSON.

    Attributes:
        reason: why.
        path: where, from the column on.
    """

    reason: str
    path: str = ""

    def inside(self, part: str) -> Bad:
        """The same, seen from what it is in."""
        joint = "" if not self.path or self.path.startswith("[") else "."
        return replace(self, path=f"{part}{joint}{self.path}")


class JsonFrames:
    """Writes arrays of one Arrow type as documents of one schema.

    Args:
        kind: the type, a struct.
        schema: what the documents have to be.
        prefix: in front of each.
        max_row_bytes: a longer frame is an error.
        rest: whether the entries of maps called `UNNAMED` that no schema names are members of the object itself.
        pure: whether to go through objects though the kernel is there.

    Raises:
        SerializationError: JSON has no form for a column's type.
    """

    def __init__(
        self,
        kind: pa.DataType,
        schema: JsonSchema,
        prefix: bytes,
        max_row_bytes: int,
        rest: bool = False,
        pure: bool = False,
    ) -> None:
        json_schema_of(kind)  # raises for types that have none
        self._schema, self._prefix, self._max_row_bytes = schema, prefix, max_row_bytes
        members = _Members(schema, rest)
        self._left_out = members.left_out(kind)
        self._any_json = members.any_json
        kernel = None if pure else native_program()
        self.plan = None if kernel is None else plan_of(kind, schema, self._left_out)
        self._program: Any = None
        if kernel is not None and self.plan is not None:
            from serdes.kernels.native import arrays

            shapes = arrays.Shapes([column.shape() for column in self.plan.columns])
            self._program = kernel([step.table() for step in self.plan.steps], shapes)

    def encode(self, struct: pa.StructArray | pa.ChunkedArray) -> EncodeResult:
        """Frames of all rows.

        Args:
            struct: of the encoder's type.
        """
        chunks = struct.chunks if isinstance(struct, pa.ChunkedArray) else [struct]
        if self._program is None:
            return self._by_objects(chunks)
        capsules = [chunk.__arrow_c_array__()[1] for chunk in chunks]
        made = self._program.run(capsules, self._prefix, self._max_row_bytes)
        frames = binary_of(*made[:6])
        errors = {} if self.plan is None or self.plan.proved else self._invalid(frames)
        changed: dict[int, bytes | None] = dict.fromkeys(errors)
        left = [fault[0] for fault in made[6]]
        if left:
            again = self._by_objects([_picked(chunks, left)])
            for row, frame, error in zip(left, again.frames.to_pylist(), again.errors.to_pylist(), strict=True):
                if frame is None:
                    errors[row] = error
                else:
                    changed[row] = frame
        if changed:
            frames = _binary([changed.get(row, frame) for row, frame in enumerate(frames.to_pylist())])
        return EncodeResult(frames, errors_of(len(frames), errors))

    def _invalid(self, frames: pa.Array) -> dict[int, str]:
        """The schema's errors for documents."""
        errors: dict[int, str] = {}
        for row, frame in enumerate(frames.to_pylist()):
            if frame is None:
                continue
            try:
                self._schema.check(orjson.loads(frame[len(self._prefix) :]), True)
            except SerializationError as error:
                errors[row] = str(error)
        return errors

    def _by_objects(self, chunks: Sequence[pa.Array]) -> EncodeResult:
        frames: list[bytes | None] = []
        errors: dict[int, str] = {}
        for chunk in chunks:
            for value in _values(chunk, self._left_out):
                frame = None if value is None else self._frame(value)
                if isinstance(frame, str):
                    errors[len(frames)] = frame
                frames.append(frame if isinstance(frame, bytes) else None)
        return EncodeResult(_binary(frames), errors_of(len(frames), errors))

    def _frame(self, value: Any) -> bytes | str:
        """The frame of a row, or what is wrong with it."""
        if isinstance(value, Bad):
            return f"at {value.path}: {value.reason}"
        document = orjson.dumps(value) if self._any_json else b""
        try:
            self._schema.check(orjson.loads(document) if self._any_json else value, self._any_json)
        except SerializationError as error:
            return str(error)
        frame = self._prefix + (document or orjson.dumps(value))
        if len(frame) > self._max_row_bytes:
            return f"the frame is longer than {self._max_row_bytes} bytes"
        return frame


def _binary(frames: list[bytes | None]) -> pa.Array:
    """With offsets of 32 bits, if they are enough."""
    small = sum(map(len, filter(None, frames))) <= 2**31 - 1
    return pa.array(frames, pa.binary() if small else pa.large_binary())


def _picked(chunks: Sequence[pa.Array], rows: Sequence[int]) -> pa.Array:
    """Some rows of arrays, in order."""
    parts, start = [], 0
    for chunk in chunks:
        parts += [chunk[row - start : row - start + 1] for row in rows if start <= row < start + len(chunk)]
        start += len(chunk)
    return pa.concat_arrays(parts)


Names = dict[str, Any]
"""Of a struct: for each member whether null leaves it out, or `Unnamed`; and what is so inside of it."""


class _Members:
    """Finds the members that must be missing rather than null, and the texts that are written as the JSON they are.

    Args:
        schema: what the documents have to be.
        rest: whether maps called `UNNAMED` that the schema does not name are members without a name.

    Attributes:
        any_json: whether there are such texts.
    """

    def __init__(self, schema: JsonSchema, rest: bool) -> None:
        self._schema, self._rest = schema, rest
        self.any_json = False

    def left_out(self, kind: pa.DataType) -> Any:
        try:
            part: Part | None = parts_of(self._schema, rest=self._rest)
        except SerializationError:  # such documents are not read as columns, so no text stands for a part of them
            part = None
        return self._of(kind, self._schema.document, resolver_of(self._schema), part)

    def _of(self, kind: pa.DataType, schema: Any, resolver: Any, part: Part | None) -> Any:
        """For a struct its members, each with whether null leaves it out; for a list or map what is so in its items.

        For a text that is any JSON it is AS_JSON: where the schema names it, and it is read as a text of JSON. For a
        number without a sign that is read as one with a sign it is SIGNED.
        """
        if pa.types.is_dictionary(kind):
            return self._of(kind.value_type, schema, resolver, part)
        if part is not None and part.expected is Expected.ANY and kind in TEXT:
            self.any_json = True
            return AS_JSON
        while _is_reference(schema):
            found = resolver.lookup(schema["$ref"])
            schema, resolver = found.contents, found.resolver
        if not isinstance(schema, dict):
            schema = {}
        if pa.types.is_struct(kind):
            named, needed = _named(schema, resolver, set()), schema.get("required", ())
            parts = dict(part.inner()) if part is not None and part.expected is Expected.OBJECT else {}
            made: dict[str, Any] = {}
            fields = [kind.field(at) for at in range(kind.num_fields)]
            for one in fields:
                if self._rest and one.name == UNNAMED and UNNAMED not in named and _is_object(one.type):
                    taken = frozenset([*named, *(other.name for other in fields)]) - {UNNAMED}
                    made[one.name] = Unnamed(taken), self._of(one.type, schema, resolver, parts.get(UNNAMED))
                    continue
                inner, around = named.get(one.name, (None, resolver))
                missing = one.name in named and one.name not in needed and not _takes_null(inner)
                made[one.name] = missing, self._of(one.type, inner, around, parts.get(one.name))
            return made
        if pa.types.is_map(kind):
            item = part.members[0][1] if part is not None and part.expected is Expected.MAP else None
            return self._of(kind.item_type, schema.get("additionalProperties"), resolver, item)
        if not hasattr(kind, "value_field"):
            signed = part is not None and part.expected is Expected.INTEGER and kind == pa.uint64()
            return SIGNED if signed else None
        item = part.members[0][1] if part is not None and part.expected is Expected.ARRAY else None
        return self._of(kind.value_type, schema.get("items"), resolver, item)


def _is_object(kind: pa.DataType) -> bool:
    """Whether a map is written as an object."""
    return bool(pa.types.is_map(kind)) and kind.key_type in TEXT


def _is_reference(schema: Any) -> bool:
    """Whether a schema is what it refers to, and names no members of its own."""
    return isinstance(schema, dict) and isinstance(schema.get("$ref"), str) and not set(schema) & NAMING


def _named(schema: Any, resolver: Any, seen: set[int]) -> dict[str, tuple[Any, Any]]:
    """The members that a schema names anywhere, each with its schema and what resolves references in there."""
    if not isinstance(schema, dict) or id(schema) in seen:
        return {}
    seen.add(id(schema))
    found: dict[str, tuple[Any, Any]] = {}
    for one in [*(schema["allOf"] if isinstance(schema.get("allOf"), list) else ()), *alternatives_of(schema)]:
        found.update(_named(one, resolver, seen))
    if isinstance(schema.get("$ref"), str):
        target = resolver.lookup(schema["$ref"])
        found.update(_named(target.contents, target.resolver, seen))
    own = schema.get("properties")
    found.update({name: (part, resolver) for name, part in own.items()} if isinstance(own, dict) else {})
    return found


def _takes_null(schema: Any) -> bool:
    """Whether a schema says that null is among its values, or says nothing of types."""
    if not isinstance(schema, dict):
        return True
    named = schema.get("type")
    if named is not None:
        return "null" in named if isinstance(named, list) else bool(named == "null")
    for rule in ("oneOf", "anyOf"):
        if isinstance(schema.get(rule), list):
            return any(_takes_null(one) for one in schema[rule])
    if isinstance(schema.get("enum"), list):
        return None in schema["enum"]
    return "$ref" not in schema and "allOf" not in schema


# --- values


def _values(array: pa.Array, left_out: Any) -> list[Any]:
    """The values of a column as JSON has them; `Bad` for those that have no form."""
    kind, types = array.type, pa.types
    if isinstance(array, pa.ExtensionArray):
        if kind.extension_name == "arrow.uuid":
            return [None if value is None else str(uuid.UUID(bytes=value)) for value in array.storage.to_pylist()]
        return _values(array.storage, left_out)
    if types.is_dictionary(kind):
        known = dict(enumerate(_values(array.dictionary, left_out)))  # under nulls places may be any
        beyond = Bad("a place beyond the end of its dictionary")
        return [None if at is None else known.get(at, beyond) for at in array.indices.to_pylist()]
    if types.is_struct(kind):
        made = _structs(array, left_out or {})
    elif types.is_map(kind):
        made = _maps(array, left_out)
    elif hasattr(kind, "value_field"):
        items = _values(array.values, left_out)
        made = [_items(items[start:end]) for start, end in ranges_of(array)]
    else:
        leaves = _leaves(array)
        if left_out is SIGNED:
            return [_signed(value) for value in leaves]
        return leaves if left_out is not AS_JSON else [None if text is None else _any_json(text) for text in leaves]
    return [value if there else None for value, there in zip(made, array.is_valid().to_pylist(), strict=True)]


def _structs(array: pa.Array, left_out: Names) -> list[Any]:
    columns = []
    for at in range(array.type.num_fields):
        name = array.type.field(at).name
        missing, inside = left_out.get(name, (False, None))
        columns.append((name, missing, _values(array.field(at), inside)))
    return [_struct(columns, row) for row in range(len(array))]


def _struct(columns: Sequence[tuple[str, bool | Unnamed, list[Any]]], row: int) -> Any:
    made: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for name, missing, values in columns:
        value = values[row]
        if isinstance(value, Bad):
            return value.inside(name)
        if isinstance(missing, Unnamed):
            taken = [at for at, key in enumerate(value or ()) if key in missing.names]
            if taken:
                return Bad("another column, or the schema, has a member of that name", f"{name}[entry {taken[0]}]")
            rest = value or {}
        elif value is not None or not missing:
            made[name] = value
    return made | rest


def _items(items: list[Any]) -> Any:
    for at, item in enumerate(items):
        if isinstance(item, Bad):
            return item.inside(f"[{at}]")
    return items


def _maps(array: pa.Array, left_out: Any) -> list[Any]:
    """Objects if the keys are texts, else arrays of objects of key and value."""
    keys, values = _values(array.keys, None), _values(array.items, left_out)
    make = _object if _is_object(array.type) else _entries
    return [make(keys[start:end], values[start:end]) for start, end in ranges_of(array)]


def _object(keys: list[Any], values: list[Any]) -> Any:
    made = {}
    for at, (key, value) in enumerate(zip(keys, values, strict=True)):
        for part in (key, value):
            if isinstance(part, Bad):
                return part.inside(f"[entry {at}]")
        if key is None or key in made:
            return Bad("the key of a map is null" if key is None else "the map has the same key twice", f"[entry {at}]")
        made[key] = value
    return made


def _entries(keys: list[Any], values: list[Any]) -> Any:
    return _items(
        [
            _struct([("key", False, [key]), ("value", False, [value])], 0)
            for key, value in zip(keys, values, strict=True)
        ]
    )


def _any_json(text: str) -> Any:
    """The JSON that a text is, to the letter."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return Bad(f"the schema takes values of any shape here, as texts of JSON, and this is none: {error}")
    return orjson.Fragment(text)


def _signed(value: int | None) -> Any:
    if value is None or value < 2**63:
        return value
    return Bad('2^63 or more, which columns of this schema don\'t hold: that needs "arrowType": "uint64" in it')


def _leaves(array: pa.Array) -> list[Any]:
    """Values without parts."""
    kind, types = array.type, pa.types
    make: Callable[[Any], Any] | None = None
    if types.is_floating(kind):
        array, make = array.cast(pa.float64()), _number
    elif types.is_decimal(kind):
        make = _decimal
    elif types.is_date64(kind):
        array, make = array.view(pa.int64()), _date64
    elif types.is_date32(kind):
        array, make = array.view(pa.int32()), _date
    elif types.is_timestamp(kind):
        array, make = array.view(pa.int64()), _timestamp(UNITS[kind.unit], "" if kind.tz is None else "Z")
    elif types.is_time(kind):
        array, make = array.view(pa.int32() if types.is_time32(kind) else pa.int64()), _time(UNITS[kind.unit])
    elif types.is_duration(kind):
        array = array.view(pa.int64())
    elif types.is_fixed_size_binary(kind) or kind in (pa.binary(), pa.large_binary(), pa.binary_view()):
        make = _base64
    elif not types.is_primitive(kind) and not types.is_null(kind):
        array, make = octets_of(array), _text
    made: list[Any] = array.to_pylist()
    return made if make is None else [None if value is None else make(value) for value in made]


def _number(value: float) -> Any:
    return value if math.isfinite(value) else Bad("JSON has no NaN and no infinities")


def _decimal(value: Any) -> str:
    return format(value, "f")


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _text(value: bytes) -> Any:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return Bad("the text is not UTF-8")


def _date(days: int) -> Any:
    if not 1 <= days + EPOCH <= datetime.date.max.toordinal():
        return Bad("a date outside of the years 1 to 9999")
    return datetime.date.fromordinal(days + EPOCH).isoformat()


def _date64(millis: int) -> Any:
    days, rest = divmod(millis, DAY_SECONDS * 1000)
    return Bad("a date with a time of day, which would be lost") if rest else _date(days)


def _clock(seconds: int, fraction: int, digits: int) -> str:
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{fraction:0{digits}}" if digits and fraction else text


def _timestamp(digits: int, zone: str) -> Callable[[int], Any]:
    def make(value: int) -> Any:
        seconds, fraction = divmod(value, 10**digits)
        days, seconds = divmod(seconds, DAY_SECONDS)
        date = _date(days)
        return date if isinstance(date, Bad) else f"{date}T{_clock(seconds, fraction, digits)}{zone}"

    return make


def _time(digits: int) -> Callable[[int], Any]:
    def make(value: int) -> Any:
        seconds, fraction = divmod(value, 10**digits)
        return (
            _clock(seconds, fraction, digits) if 0 <= seconds < DAY_SECONDS else Bad("a time that is not within a day")
        )

    return make
