"""JSON documents read into columns by way of Python objects: the specification of the kernel, and its stand-in.

Must not know of frames or registries. The parser is that of the standard library, which says where each value ends.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import datetime
import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, Final, NoReturn

from serdes.columnar.json.plan import JsonPlan, Step
from serdes.columnar.json.types import UNNAMED
from serdes.formats.avro.logical import UUID_TEXT
from serdes.kernels.json_columns import MAX_DEPTH, Expected, Fault, exact_float, exact_int

SPACE: Final = " \t\n\r"
NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
CLOCK: Final = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?", re.ASCII)
ZONE: Final = re.compile(r"[Zz]|([+-])([0-9]{2}):([0-9]{2})", re.ASCII)
DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
PLAIN_DECIMAL: Final = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?")
EPOCH: Final = datetime.date(1970, 1, 1).toordinal()
DAY: Final = 86_400 * 10**6


class Bad(Exception):
    """A document that can't be read.

    Attributes:
        fault: why.
        step: where; None until a step has taken it for its own.
        indexes: places in arrays and maps on the way, innermost first.
    """

    def __init__(self, fault: Fault, step: int | None = None) -> None:
        super().__init__(fault.name)
        self.fault = fault
        self.step = step
        self.indexes: list[int] = []


def read(plan: JsonPlan, payload: bytes, max_row_bytes: int) -> Any:
    """The value of a document, as `pyarrow.array` takes it for the plan's type.

    Raises:
        Bad: it can't be read.
    """
    try:
        text = payload.decode()
    except UnicodeDecodeError:
        raise Bad(Fault.NOT_UTF8, 0) from None
    reader = _RowReader(plan, text, max_row_bytes)
    value = reader.value(0, reader.space(0))
    if reader.space(reader.at) != len(text):
        raise Bad(Fault.LEFT_OVER, 0)
    if reader.left < 0:
        raise Bad(Fault.ROW_BYTES, 0)
    return value


class _RowReader:
    def __init__(self, plan: JsonPlan, text: str, left: int) -> None:
        self._steps, self._text, self.left = plan.steps, text, left
        self.at = 0
        self._level = 0
        self._decoder = json.JSONDecoder(parse_constant=_no_constant, parse_float=str, parse_int=str)

    def space(self, at: int) -> int:
        """The place of the next token."""
        text = self._text
        while at < len(text) and text[at] in SPACE:
            at += 1
        return at

    def value(self, number: int, at: int) -> Any:
        """The value of a step; `at` is where it stands, `self.at` is behind it then."""
        step = self._steps[number]
        with _owned(number):
            if self._text.startswith("null", at):
                self.at = at + 4
                return None
            if at >= len(self._text):
                raise Bad(Fault.ENDS)
            return READERS[step.part.expected](self, step, at)

    def skipped(self, at: int) -> str:
        """The text of a value of any kind."""
        try:
            value, self.at = self._decoder.raw_decode(self._text, at)
            json.dumps(value, ensure_ascii=False).encode()
        except json.JSONDecodeError:
            raise Bad(Fault.NOT_JSON) from None
        except UnicodeError:  # half of a surrogate pair
            raise Bad(Fault.ESCAPE) from None
        except RecursionError:
            raise Bad(Fault.DEEP) from None
        if self._level + _depth(value) > MAX_DEPTH:
            raise Bad(Fault.DEEP)
        return self._text[at : self.at]

    def unexpected(self, at: int) -> NoReturn:
        """Says that there is another kind of value, or none."""
        self.skipped(at)
        raise Bad(Fault.NOT_EXPECTED)

    def string(self, at: int) -> str:
        """A string, which has to be here."""
        if self._text[at : at + 1] != '"':
            raise Bad(Fault.NOT_JSON)
        found = self.skipped(at)
        made: str = json.loads(found)
        return made

    def any(self, step: Step, at: int) -> str:
        found = self.skipped(at)
        self.left -= len(found.encode())
        return found

    def boolean(self, step: Step, at: int) -> bool:
        word = "true" if self._text.startswith("true", at) else "false"
        if not self._text.startswith(word, at):
            self.unexpected(at)
        self.at = at + len(word)
        return word == "true"

    def number(self, step: Step, at: int) -> Any:
        found = NUMBER.match(self._text, at)
        if found is None:
            self.unexpected(at)
        self.at = found.end()
        digits, expected = found[0].encode(), step.part.expected
        made = exact_float(digits) if expected is Expected.NUMBER else exact_int(digits, expected is Expected.INTEGER)
        if isinstance(made, Fault):
            raise Bad(made)
        return made

    def text(self, step: Step, at: int) -> Any:
        """The value of a quoted text."""
        if self._text[at] != '"':
            self.unexpected(at)
        found = self.string(at)
        if step.part.expected in (Expected.TEXT, Expected.BASE64):
            size = len(found.encode())
            self.left -= size if step.part.expected is Expected.TEXT else size // 4 * 3
        return TEXTS[step.part.expected](step, found)

    def array(self, step: Step, at: int) -> Any:
        items: list[Any] = []

        def item(at: int) -> None:
            self._spend(step)
            items.append(self.value(step.kids[0], at))

        self._inside(at, "[", "]", lambda at: _counted(item, at, items))
        return items

    def map(self, step: Step, at: int) -> Any:
        entries: list[tuple[str, Any]] = []

        def entry(at: int) -> None:
            if self._text[at : at + 1] == '"':
                self._spend(step)
            key, at = self._key(at)
            self.left -= len(key.encode())
            entries.append((key, self.value(step.kids[0], at)))

        self._inside(at, "{", "}", lambda at: _counted(entry, at, entries))
        return _distinct(entries)

    def object(self, step: Step, at: int) -> Any:
        made: dict[str, Any] = {}
        rest: list[tuple[str, Any]] = []
        kids = {name: kid for (name, _), kid in zip(step.part.members, step.kids, strict=True)}

        def member(at: int) -> None:
            key, at = self._key(at)
            if key not in kids and key not in step.part.unwanted:
                if step.closed:
                    raise Bad(Fault.UNNAMED)
                if step.rest >= 0:
                    self._unnamed(step.rest, rest, key, at)
                    return
            if key not in kids:
                self.skipped(at)
                return
            if key in made:
                raise Bad(Fault.KEY_TWICE, kids[key])
            made[key] = self.value(kids[key], at)

        self._inside(at, "{", "}", member)
        found = {name: made.get(name) for name in kids}
        if step.rest >= 0:
            with _owned(step.rest):
                found[UNNAMED] = _distinct(rest)
        return found

    def _unnamed(self, number: int, entries: list[tuple[str, Any]], key: str, at: int) -> None:
        """A member that goes into the map of those without a name."""

        def entry(at: int) -> None:
            self._spend(self._steps[number])
            self.left -= len(key.encode())
            entries.append((key, self.value(self._steps[number].kids[0], at)))

        with _owned(number):
            _counted(entry, at, entries)

    def _spend(self, step: Step) -> None:
        self.left -= step.cost
        if self.left < 0:
            raise Bad(Fault.ROW_BYTES)

    def _key(self, at: int) -> tuple[str, int]:
        """A name, and where its value stands."""
        key = self.string(at)
        at = self.space(self.at)
        if self._text[at : at + 1] != ":":
            raise Bad(Fault.NOT_JSON)
        return key, self.space(at + 1)

    def _inside(self, at: int, opening: str, closing: str, each: Callable[[int], None]) -> None:
        """Reads the parts between brackets, with commas between."""
        if self._text[at] != opening:
            self.unexpected(at)
        self._level += 1
        if self._level > MAX_DEPTH:
            raise Bad(Fault.DEEP)
        at = self.space(at + 1)
        if self._text[at : at + 1] != closing:
            while True:
                each(at)
                at = self.space(self.at)
                if self._text[at : at + 1] == closing:
                    break
                if self._text[at : at + 1] != ",":
                    raise Bad(Fault.NOT_JSON)
                at = self.space(at + 1)
        self._level -= 1
        self.at = at + 1


@contextlib.contextmanager
def _owned(number: int) -> Iterator[None]:
    """Names the step in faults raised inside, unless an inner step has been named."""
    try:
        yield
    except Bad as error:
        if error.step is None:
            error.step = number
        raise


def _distinct(entries: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    known: set[str] = set()
    for place, (key, _) in enumerate(entries):
        if key in known:
            error = Bad(Fault.KEY_TWICE)
            error.indexes.append(place)
            raise error
        known.add(key)
    return entries


def _counted(read: Callable[[int], None], at: int, items: list[Any]) -> None:
    try:
        read(at)
    except Bad as error:
        error.indexes.append(len(items))
        raise


def _no_constant(name: str) -> NoReturn:
    raise Bad(Fault.NOT_JSON)


def _depth(value: Any) -> int:
    deepest, stack = 0, [(value, 1)]
    while stack:
        part, level = stack.pop()
        if isinstance(part, (dict, list)):
            deepest = max(deepest, level)
            stack += [(item, level + 1) for item in (part.values() if isinstance(part, dict) else part)]
    return deepest


# --- texts


def _uuid(step: Step, text: str) -> str:
    if UUID_TEXT.fullmatch(text) is None:
        raise Bad(Fault.NOT_OF_FORMAT)
    return text


def _base64(step: Step, text: str) -> bytes:
    if BASE64.fullmatch(text) is None:
        raise Bad(Fault.NOT_OF_FORMAT)
    try:
        made = base64.b64decode(text, validate=True)
    except binascii.Error:
        raise Bad(Fault.NOT_OF_FORMAT) from None
    if base64.b64encode(made).decode() != text:  # bits beyond the last byte
        raise Bad(Fault.NOT_OF_FORMAT)
    return made


def _decimal(step: Step, text: str) -> Decimal:
    found = PLAIN_DECIMAL.fullmatch(text) if text.isascii() else None
    if found is None:
        raise Bad(Fault.NOT_OF_FORMAT)
    sign, whole, fraction = found[1], found[2], found[3] or ""
    digits = (whole + fraction.ljust(step.part.scale, "0")[: step.part.scale]).lstrip("0") or "0"
    if len(digits) > step.part.digits:
        raise Bad(Fault.OUT_OF_RANGE)
    if fraction[step.part.scale :].strip("0"):
        raise Bad(Fault.LOSES_DIGITS)
    return Decimal((sign == "-", tuple(map(int, digits)), -step.part.scale))


def _days(text: str) -> int:
    if DATE.fullmatch(text) is None:
        raise Bad(Fault.NOT_OF_FORMAT)
    try:
        return datetime.date.fromisoformat(text).toordinal() - EPOCH
    except ValueError:
        raise Bad(Fault.NOT_OF_FORMAT) from None


def _date(step: Step, text: str) -> datetime.date:
    return datetime.date.fromordinal(_days(text) + EPOCH)


def _moment(step: Step, text: str) -> int:
    """Microseconds since 1970, or since midnight."""
    expected = step.part.expected
    days = 0
    if expected in (Expected.INSTANT, Expected.LOCAL_TIMESTAMP):
        days = _days(text[:10])
        if text[10:11] not in ("T", "t", " "):
            raise Bad(Fault.NOT_OF_FORMAT)
        text = text[11:]
    found = CLOCK.match(text)
    if found is None:
        raise Bad(Fault.NOT_OF_FORMAT)
    hours, minutes, seconds = map(int, found.groups()[:3])
    if hours > 23 or minutes > 59 or seconds > 59:
        raise Bad(Fault.NOT_OF_FORMAT)
    fraction = found[4] or ""
    if fraction[6:].strip("0"):
        raise Bad(Fault.LOSES_DIGITS)
    micros = ((hours * 60 + minutes) * 60 + seconds) * 10**6 + int(fraction[:6].ljust(6, "0"))
    shift = _shift(text[found.end() :], expected)
    return days * DAY + micros - shift * 60 * 10**6


def _shift(text: str, expected: Expected) -> int:
    """Minutes that a zone is ahead of UTC."""
    if expected in (Expected.LOCAL_TIMESTAMP, Expected.LOCAL_TIME):
        if text:
            raise Bad(Fault.NOT_OF_FORMAT)
        return 0
    found = ZONE.fullmatch(text)
    if found is None:
        raise Bad(Fault.NOT_OF_FORMAT)
    if found[1] is None:
        return 0
    hours, minutes = int(found[2]), int(found[3])
    shift = (hours * 60 + minutes) * (-1 if found[1] == "-" else 1)
    if hours > 23 or minutes > 59 or (expected is Expected.TIME and shift):
        raise Bad(Fault.NOT_OF_FORMAT)
    return shift


TEXTS: Final[dict[Expected, Callable[[Step, str], Any]]] = {
    Expected.TEXT: lambda step, text: text,
    Expected.BASE64: _base64,
    Expected.DATE: _date,
    Expected.INSTANT: _moment,
    Expected.LOCAL_TIMESTAMP: _moment,
    Expected.TIME: _moment,
    Expected.LOCAL_TIME: _moment,
    Expected.UUID: _uuid,
    Expected.DECIMAL: _decimal,
}
READERS: Final[dict[Expected, Callable[[_RowReader, Step, int], Any]]] = {
    Expected.BOOLEAN: _RowReader.boolean,
    Expected.INTEGER: _RowReader.number,
    Expected.UNSIGNED: _RowReader.number,
    Expected.NUMBER: _RowReader.number,
    **dict.fromkeys(TEXTS, _RowReader.text),
    Expected.ANY: _RowReader.any,
    Expected.ARRAY: _RowReader.array,
    Expected.MAP: _RowReader.map,
    Expected.OBJECT: _RowReader.object,
}
