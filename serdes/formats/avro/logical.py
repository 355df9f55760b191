"""Avro's logical types: which ones a schema really has, and what values of them are, in both directions.

A logical type that does not fit its type is ignored, as the specification says. Functions here make of a value what the
type beneath it holds, and back; both are exact, or refuse. Must not know of bytes of a payload, records or unions.
Source: Avro specification 1.12, "Logical Types".
"""

from __future__ import annotations

import datetime
import math
import re
import struct
import uuid
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

from registry.schemas.avro.model import AvroType, FixedType, NamedType, RecordType, TypeName
from serdes.formats.avro.decimal import decimal_reader, decimal_writer
from serdes.kernels.misfit import Misfit, octets_of, out_of_range, refuse, text_of, whole_of

Convert: TypeAlias = Callable[[Any], Any]
EPOCH: Final = datetime.datetime(1970, 1, 1)
EPOCH_UTC: Final = EPOCH.replace(tzinfo=datetime.UTC)
EPOCH_DAY: Final = EPOCH.toordinal()
DAYS: Final = (1 - EPOCH_DAY, datetime.date.max.toordinal() - EPOCH_DAY)
SECONDS: Final = (DAYS[0] * 86_400, (DAYS[1] + 1) * 86_400 - 1)
DURATION: Final = struct.Struct("<3I")
UUID_TEXT: Final = re.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
UUID_FORMS: Final = re.compile("(urn:)?(uuid:)?[{}]*[0-9a-fA-F-]*[{}]*")
INSTANTS: Final = {"timestamp-millis": 1000, "timestamp-micros": 10**6, "timestamp-nanos": 10**9}
"""Logical types of points in time → units in a second."""
LOCALS: Final = {f"local-{name}": units for name, units in INSTANTS.items()}
TIMES: Final = {"time-millis": 1000, "time-micros": 10**6}
LOGICAL: Final[dict[str, TypeName]] = {
    "date": TypeName.INT,
    "time-millis": TypeName.INT,
    "time-micros": TypeName.LONG,
    **dict.fromkeys([*INSTANTS, *LOCALS], TypeName.LONG),
}


VARIANT_FIELDS: Final = {("metadata", TypeName.BYTES), ("value", TypeName.BYTES)}


class Duration(NamedTuple):
    """A value of Avro's logical type `duration`: three independent numbers."""

    months: int
    days: int
    milliseconds: int


def logical_of(avro: AvroType) -> str | None:
    """The logical type, None if there is none, it is not known, or not valid for its type."""
    props = getattr(avro, "props", None)
    name = props.get("logicalType") if props else None
    if not isinstance(name, str):
        return None
    size = avro.size if isinstance(avro, FixedType) else None
    if name == "decimal":
        return name if props is not None and _is_decimal(avro.kind, size, props) else None
    if name == "uuid":
        return name if avro.kind is TypeName.STRING or size == 16 else None
    if name == "duration":
        return name if size == DURATION.size else None
    return name if LOGICAL.get(name) is avro.kind else None


def _is_decimal(kind: TypeName, size: int | None, props: dict[str, Any]) -> bool:
    precision, scale = props.get("precision"), props.get("scale", 0)
    if type(precision) is not int or type(scale) is not int or not 0 <= scale <= precision or precision <= 0:
        return False
    if size is None:
        return kind is TypeName.BYTES
    return size > 0 and precision <= math.floor(math.log10(2) * (8 * size - 1))


def described(avro: AvroType) -> str:
    """A type in a sentence."""
    logical = logical_of(avro)
    name = f"{avro.kind.value} {avro.name}" if isinstance(avro, NamedType) else avro.kind.value
    if logical == "decimal":
        return f"decimal({avro.props['precision']}, {avro.props.get('scale', 0)})"
    return name if logical is None else f"{name} ({logical})"


def is_variant(avro: AvroType) -> bool:
    """Whether a record is of the logical type `variant`: two fields of bytes, `metadata` and `value`."""
    if not isinstance(avro, RecordType) or avro.props.get("logicalType") != "variant":
        return False
    return {(field.name, field.type.kind) for field in avro.fields} == VARIANT_FIELDS


def as_variant(fields: dict[str, Any]) -> Any:
    """The variant that a record holds.

    Raises:
        Misfit: its metadata are not those of a variant.
    """
    from serdes.variants import Variant, VariantError

    try:
        return Variant(bytes(fields["value"]), bytes(fields["metadata"]))
    except VariantError as error:
        raise Misfit("bytes that are not a variant") from error


# --- writing


def preparing(avro: AvroType) -> Convert | None:
    """A function that makes of a value what the type beneath it holds; None for no logical type.

    The function raises:
        Misfit: the value is not of the type, can't be read back, or would lose something (but what is finer than the
            type's unit of time, which is cut off, as in Java).
    """
    logical, what = logical_of(avro), described(avro)
    if logical is None:
        return None
    if logical == "decimal":
        size = avro.size if isinstance(avro, FixedType) else None
        return decimal_writer(avro.props["precision"], avro.props.get("scale", 0), size, what)
    if logical == "uuid":
        return _uuid_text(what) if avro.kind is TypeName.STRING else _uuid_bytes(what)
    if logical == "duration":
        return _duration(what)
    if logical == "date":
        return _date(what)
    if logical in TIMES:
        return _time(TIMES[logical], what)
    if logical in INSTANTS:
        return _instant(INSTANTS[logical], what)
    return _local(LOCALS[logical], what)


def _uuid_text(what: str) -> Convert:
    def prepare(value: Any) -> str:
        if isinstance(value, uuid.UUID):
            return str(value)
        text = text_of(value, what)
        if UUID_TEXT.fullmatch(text) is None:
            raise Misfit("a text that is not a UUID (8-4-4-4-12 hexadecimal digits)")
        return text

    return prepare


def _uuid_bytes(what: str) -> Convert:
    return lambda value: value.bytes if isinstance(value, uuid.UUID) else octets_of(value, what)


def _duration(what: str) -> Convert:
    def prepare(value: Any) -> bytes:
        if isinstance(value, datetime.timedelta):
            if value.microseconds % 1000:
                raise Misfit("a duration has milliseconds, this one is finer")
            value = (0, value.days, value.seconds * 1000 + value.microseconds // 1000)
        if isinstance(value, tuple):
            if len(value) != 3:
                refuse(value, what)
            numbers = [whole_of(number, what) for number in value]
            if not all(0 <= number < 2**32 for number in numbers):
                raise Misfit("a duration is three numbers of 32 bits without sign")
            return DURATION.pack(*numbers)
        return octets_of(value, what)

    return prepare


def _date(what: str) -> Convert:
    low, high = DAYS

    def prepare(value: Any) -> int:
        if isinstance(value, datetime.date):
            if isinstance(value, datetime.datetime):
                raise Misfit(f"a datetime does not fit {what}: its time would be lost; give its date()")
            return value.toordinal() - EPOCH_DAY
        if isinstance(value, str):
            try:
                return datetime.date.fromisoformat(value).toordinal() - EPOCH_DAY
            except ValueError:
                raise Misfit(f"a text that is not a date does not fit {what}") from None
        return _within(value, low, high, what)

    return prepare


def _within(value: Any, low: int, high: int, what: str) -> int:
    number = value if value.__class__ is int else whole_of(value, what)
    if not low <= number <= high:
        out_of_range(value, what)
    return number


def _time(units: int, what: str) -> Convert:
    cut, high = 10**6 // units, 86_400 * units - 1

    def prepare(value: Any) -> int:
        if isinstance(value, datetime.time):
            if value.tzinfo is not None:
                raise Misfit(f"a time with a time zone does not fit {what}: the zone would be lost")
            seconds = (value.hour * 60 + value.minute) * 60 + value.second
            return seconds * units + value.microsecond // cut
        return _within(value, 0, high, what)

    return prepare


def _instant(units: int, what: str) -> Convert:
    bounds = _bounds(units)

    def prepare(value: Any) -> int:
        if isinstance(value, datetime.datetime):
            try:
                gone = (value if value.tzinfo is not None else value.astimezone(datetime.UTC)) - EPOCH_UTC
            except (OverflowError, ValueError, OSError):
                out_of_range(value, what)
            value = _units(gone, units)
        return _within(value, *bounds, what)

    return prepare


def _local(units: int, what: str) -> Convert:
    bounds = _bounds(units)

    def prepare(value: Any) -> int:
        if isinstance(value, datetime.datetime):
            if value.tzinfo is not None:
                raise Misfit(f"a datetime with a time zone does not fit {what}: the zone would be lost")
            value = _units(value - EPOCH, units)
        return _within(value, *bounds, what)

    return prepare


def _bounds(units: int) -> tuple[int, int]:
    """The range that can be read back: the years 1 to 9999; nanoseconds are read as numbers."""
    if units == 10**9:
        return -(2**63), 2**63 - 1
    return SECONDS[0] * units, SECONDS[1] * units + units - 1


def _units(gone: datetime.timedelta, units: int) -> int:
    micros = (gone.days * 86_400 + gone.seconds) * 10**6 + gone.microseconds
    return micros * (units // 10**6) if units >= 10**6 else micros // (10**6 // units)


# --- reading


def presenting(avro: AvroType) -> Convert | None:
    """A function that makes of what stands in a payload what users get; None for no logical type.

    The function raises:
        Misfit: Python has no such value.
    """
    logical = logical_of(avro)
    if logical == "decimal":
        return decimal_reader(avro.props.get("scale", 0))
    if logical == "uuid":
        return _as_uuid if avro.kind is TypeName.STRING else lambda value: uuid.UUID(bytes=value)
    if logical == "duration":
        return lambda value: Duration(*DURATION.unpack(value))
    if logical == "date":
        return _as_date
    if logical in TIMES:
        return _as_time(10**6 // TIMES[logical])
    if logical in INSTANTS:
        return None if logical == "timestamp-nanos" else _as_datetime(EPOCH_UTC, 10**6 // INSTANTS[logical])
    if logical in LOCALS:
        return None if logical == "local-timestamp-nanos" else _as_datetime(EPOCH, 10**6 // LOCALS[logical])
    return None


def _as_uuid(value: str) -> uuid.UUID:
    try:
        if UUID_FORMS.fullmatch(value):  # Python alone would take spaces, signs and underlines too
            return uuid.UUID(value)
    except ValueError as error:
        raise Misfit("a text that is not a UUID") from error
    raise Misfit("a text that is not a UUID")


def _as_date(value: int) -> datetime.date:
    if not DAYS[0] <= value <= DAYS[1]:
        raise Misfit("a date outside of the years 1 to 9999")
    return datetime.date.fromordinal(value + EPOCH_DAY)


def _as_time(micros: int) -> Convert:
    def present(value: int) -> datetime.time:
        gone = value * micros
        if not 0 <= gone < 86_400 * 10**6:
            raise Misfit("a time that is not within a day")
        seconds, rest = divmod(gone, 10**6)
        return datetime.time(seconds // 3600, seconds // 60 % 60, seconds % 60, rest)

    return present


def _as_datetime(epoch: datetime.datetime, micros: int) -> Convert:
    delta = datetime.timedelta

    def present(value: int) -> datetime.datetime:
        try:
            return epoch + delta(0, 0, value * micros)
        except OverflowError:
            raise Misfit("a point in time outside of the years 1 to 9999") from None

    return present
