"""Avro schemas, values and readers' schemas in bulk, from a seed: for comparisons with other implementations.

Each value comes with its text, made while it is drawn and from nothing but the draw: type by type what stands in the
payload, unions with the branch's place. `AvroCases.java` and `text_of` write the same of what was decoded.
"""

from __future__ import annotations

import copy
import datetime
import json
import math
import random
import struct
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from registry import InvalidSchemaError
from registry.schemas.avro.model import (
    ArrayType,
    AvroType,
    EnumType,
    FixedType,
    MapType,
    RecordType,
    TypeName,
    UnionType,
    parse,
)
from serdes.formats.avro.logical import Duration

__all__ = ["AvroPair", "Drawn", "pairs", "spoiled", "text_of", "without_logical_types"]

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
TEXTS = ["", "a", "é", "日本", "\x00", "x" * 70, "a\nb\t", "\U0001f600"]
UNITS = {
    "timestamp-millis": datetime.timedelta(milliseconds=1),
    "timestamp-micros": datetime.timedelta(microseconds=1),
    "local-timestamp-millis": datetime.timedelta(milliseconds=1),
    "local-timestamp-micros": datetime.timedelta(microseconds=1),
    "time-millis": datetime.timedelta(milliseconds=1),
    "time-micros": datetime.timedelta(microseconds=1),
}


@dataclass(frozen=True)
class Drawn:
    """A value as our encoder takes it, and its text."""

    value: Any
    text: str


@dataclass
class AvroPair:
    """A writer's schema with values, and a reader's."""

    writer: Any
    reader: Any
    values: list[Drawn] = field(default_factory=list)

    @property
    def texts(self) -> tuple[str, str]:
        """Both schemas as JSON."""
        return json.dumps(self.writer), json.dumps(self.reader)


def pairs(seed: int, count: int, values: int) -> Iterator[AvroPair]:
    """So many pairs of schemas with so many values each; the same for the same seed."""
    for at in range(count):
        rng = random.Random(f"{seed}/{at}")
        schemas = _Schemas(rng)
        writer = schemas.record(3)
        pair = AvroPair(writer, _Evolving(rng).valid(writer))
        drawing = _Values(rng, parse(json.dumps(writer)))
        pair.values = [drawing.drawn() for _ in range(values)]
        yield pair


class _Schemas:
    """Draws schemas."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._names = 0
        self._open: list[str] = []
        self._closed: list[str] = []

    def _name(self, prefix: str) -> str:
        self._names += 1
        return f"{self._rng.choice(['', 'x.', 'x.y.'])}{prefix}{self._names}"

    def any(self, depth: int) -> Any:
        kinds = [self._leaf] * 4
        if depth > 0:
            kinds += [self.record, self._array, self._map, self._union, self._union]
        return self._rng.choice(kinds)(depth - 1)

    def record(self, depth: int) -> Any:
        name = self._name("R")
        full = name if "." in name else f".{name}"
        self._open.append(full)
        made: dict[str, Any] = {"type": "record", "name": name, "fields": []}
        if "." not in name:
            made["namespace"] = ""
        for at in range(self._rng.randint(0 if depth < 3 else 1, 5)):
            made["fields"].append({"name": f"f{at}", "type": self.any(depth)})
        if self._rng.random() < 0.2:
            made["fields"].append({"name": "again", "type": ["null", full.lstrip(".")]})
        self._open.pop()
        return made

    def _array(self, depth: int) -> Any:
        return {"type": "array", "items": self.any(depth)}

    def _map(self, depth: int) -> Any:
        return {"type": "map", "values": self.any(depth)}

    def _union(self, depth: int) -> Any:
        found: dict[str, Any] = {}
        for _ in range(self._rng.randint(1, 4)):
            branch = self.any(min(depth, 1))
            if not isinstance(branch, list):
                found.setdefault(_union_name(branch), branch)
        branches = list(found.values())
        if self._rng.random() < 0.6 and "null" not in found:
            branches.insert(self._rng.choice([0, len(branches)]), "null")
        return branches or ["null"]

    def _leaf(self, depth: int) -> Any:
        rng = self._rng
        draw = rng.randrange(14)
        if draw < 8:
            return PRIMITIVES[draw]
        if draw == 8:
            symbols = rng.sample(["A", "B", "C", "D", "E"], rng.randint(1, 4))
            return {"type": "enum", "name": self._name("E"), "symbols": symbols, "namespace": "n"}
        if draw == 9:
            return {"type": "fixed", "name": self._name("F"), "size": rng.randint(0, 5), "namespace": "n"}
        return self._logical()

    def _logical(self) -> Any:
        rng = self._rng
        draw = rng.randrange(7)
        if draw == 0:
            precision = rng.randint(1, 40)
            scale = rng.randint(0, precision)
            return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}
        if draw == 1:
            return {
                "type": "fixed", "name": self._name("F"), "namespace": "n", "size": 9, "logicalType": "decimal",
                "precision": rng.randint(1, 20),
            }  # fmt: skip
        if draw == 2:
            return {"type": "string", "logicalType": "uuid"}
        if draw == 3:
            name, size = rng.choice([("uuid", 16), ("duration", 12)])
            return {"type": "fixed", "name": self._name("F"), "namespace": "n", "size": size, "logicalType": name}
        if draw == 4:
            return rng.choice([
                {"type": "bytes", "logicalType": "decimal", "precision": 2, "scale": 5},
                {"type": "long", "logicalType": "date"},
                {"type": "string", "logicalType": "made-up"},
            ])  # fmt: skip
        if draw == 5:
            return {"type": "int", "logicalType": rng.choice(["date", "time-millis"])}
        names = ["time-micros", *UNITS, "timestamp-nanos", "local-timestamp-nanos"]
        return {"type": "long", "logicalType": rng.choice([name for name in names if name != "time-millis"])}


def _union_name(branch: Any) -> str:
    if isinstance(branch, str):
        return branch
    return str(branch["name"]) if branch["type"] in ("record", "enum", "fixed") else str(branch["type"])


class _Values:
    """Draws values of a schema, and their texts."""

    def __init__(self, rng: random.Random, model: AvroType) -> None:
        self._rng = rng
        self._model = model

    def drawn(self) -> Drawn:
        return Drawn(*self.of(self._model, 0))

    def of(self, avro: AvroType, depth: int) -> tuple[Any, str]:
        rng = self._rng
        if isinstance(avro, RecordType):
            parts = [(item.name, *self.of(item.type, depth + 1)) for item in avro.fields]
            return {name: value for name, value, _ in parts}, f"({''.join(f'{n}={t},' for n, _, t in parts)})"
        if isinstance(avro, ArrayType):
            items = [self.of(avro.items, depth + 1) for _ in range(rng.choice([0, 1, 2]) if depth < 6 else 0)]
            return [value for value, _ in items], f"[{''.join(f'{text},' for _, text in items)}]"
        if isinstance(avro, MapType):
            keys = rng.sample(TEXTS, rng.choice([0, 1, 2]) if depth < 6 else 0)
            entries = {key: self.of(avro.values, depth + 1) for key in keys}
            return {key: value for key, (value, _) in entries.items()}, _entries(
                (key, text) for key, (_, text) in entries.items()
            )
        if isinstance(avro, UnionType):
            return self._union(avro, depth)
        if isinstance(avro, EnumType):
            symbol = rng.choice(avro.symbols)
            return symbol, f"e{symbol}"
        logical = avro.props.get("logicalType")
        made = self._logical(avro, logical) if logical is not None else None
        return self._plain(avro) if made is None else made

    def _union(self, avro: UnionType, depth: int) -> tuple[Any, str]:
        places = range(len(avro.branches))
        nulls = [at for at in places if avro.branches[at].kind is TypeName.NULL]
        place = nulls[0] if nulls and depth > 5 else self._rng.choice(places)
        branch = avro.branches[place]
        value, text = self.of(branch, depth + 1)
        families = [_family(other) for other in avro.branches]
        bare = families.count(_family(branch)) == 1 and self._rng.random() < 0.8
        return value if bare else (_type_name(branch), value), f"u{place}:{text}"

    def _plain(self, avro: AvroType) -> tuple[Any, str]:
        rng = self._rng
        kind = avro.kind
        if kind is TypeName.NULL:
            return None, "n"
        if kind is TypeName.BOOLEAN:
            value = rng.random() < 0.5
            return value, "t" if value else "f"
        if kind in (TypeName.INT, TypeName.LONG):
            bits = 31 if kind is TypeName.INT else 63
            number = rng.choice([0, -1, 1, 63, 64, -64, -65, 2**bits - 1, -(2**bits), rng.getrandbits(bits)])
            return number, f"i{number}"
        if kind is TypeName.FLOAT:
            bits32 = rng.choice([0, 1 << 31, 0x7F800000, 0x7FC00000, 1, 0x7F7FFFFF, rng.getrandbits(31)])
            number32 = struct.unpack("<f", struct.pack("<I", bits32))[0]
            return number32, _single(number32)
        if kind is TypeName.DOUBLE:
            bits64 = rng.choice([0, 1 << 63, 0x7FF << 52, 1, rng.getrandbits(63), rng.getrandbits(63)])
            number64 = struct.unpack("<d", struct.pack("<Q", bits64))[0]
            return number64, _double(number64)
        if kind is TypeName.STRING:
            text = rng.choice(TEXTS)
            return text, f"s{text.encode().hex()}"
        data = rng.randbytes(avro.size if isinstance(avro, FixedType) else rng.choice([0, 1, 5, 80]))
        return data, f"b{data.hex()}"

    def _logical(self, avro: AvroType, name: Any) -> tuple[Any, str] | None:
        rng = self._rng
        if name == "decimal" and avro.props["precision"] >= avro.props.get("scale", 0):
            return self._decimal(avro)
        if name == "uuid":
            some = uuid.UUID(int=rng.getrandbits(128))
            return some, f"s{str(some).encode().hex()}" if avro.kind is TypeName.STRING else f"b{some.bytes.hex()}"
        if name == "duration":
            numbers = Duration(*(rng.choice([0, 1, 2**32 - 1]) for _ in range(3)))
            return numbers, f"b{struct.pack('<3I', *numbers).hex()}"
        if name == "date" and avro.kind is TypeName.INT:
            days = rng.choice([0, -1, -719162, 2932896, rng.randint(-20000, 50000)])
            return (EPOCH.replace(tzinfo=None) + datetime.timedelta(days)).date(), f"i{days}"
        if name in ("time-millis", "time-micros"):
            number = rng.randrange(86_400_000 if name == "time-millis" else 86_400_000_000)
            return (EPOCH + number * UNITS[name]).time(), f"i{number}"
        if name in ("timestamp-nanos", "local-timestamp-nanos"):
            number = rng.choice([0, -1, 2**63 - 1, rng.getrandbits(60)])
            return number, f"i{number}"
        if name in UNITS:
            number = rng.randint(-62135596800, 253402300799) * (datetime.timedelta(seconds=1) // UNITS[name])
            number += rng.choice([0, 1, 999]) if number < 0 else -rng.choice([0, 1])
            at = EPOCH + number * UNITS[name]
            return at.replace(tzinfo=None) if name.startswith("local") else at, f"i{number}"
        return None

    def _decimal(self, avro: AvroType) -> tuple[Any, str]:
        bound = 10 ** avro.props["precision"] - 1
        number = self._rng.choice([0, 1, -1, bound, -bound, self._rng.randint(-bound, bound)])
        digits = tuple(map(int, str(abs(number))))
        size = avro.size if isinstance(avro, FixedType) else (number.bit_length() + 8) // 8
        value = Decimal((number < 0, digits, -avro.props.get("scale", 0)))
        return value, f"b{number.to_bytes(size, 'big', signed=True).hex()}"


def _type_name(avro: AvroType) -> str:
    return avro.name if isinstance(avro, (RecordType, EnumType, FixedType)) else avro.kind.value


def _family(avro: AvroType) -> str:
    """The Python family of a type's values; branches of one family have to be named."""
    props = getattr(avro, "props", {})
    name = props.get("logicalType")
    if avro.kind in (TypeName.MAP, TypeName.RECORD):
        return "dict"
    if name in ("decimal", "uuid", "duration") and not (
        name == "decimal" and props.get("scale", 0) > props["precision"]
    ):
        return str(name)
    if name == "date" and avro.kind is TypeName.INT:
        return "date"
    if name in UNITS:
        return "time" if str(name).startswith("time-") else "datetime"
    groups = {TypeName.LONG: "int", TypeName.DOUBLE: "float", TypeName.ENUM: "string", TypeName.FIXED: "bytes"}
    return groups.get(avro.kind, avro.kind.value)


def _entries(texts: Iterable[tuple[str, str]]) -> str:
    """The entries of a map, sorted."""
    found = sorted((key.encode().hex(), text) for key, text in texts)
    return f"{{{''.join(f'{key}={text},' for key, text in found)}}}"


def _single(number: float) -> str:
    bits = 0x7FC00000 if math.isnan(number) else struct.unpack("<I", struct.pack("<f", number))[0]
    return f"f{bits:x}"


def _double(number: float) -> str:
    bits = 0x7FF8 << 48 if math.isnan(number) else struct.unpack("<Q", struct.pack("<d", number))[0]
    return f"d{bits:x}"


# --- decoded values


def text_of(avro: AvroType, value: Any) -> str:
    """The text of a value that was decoded with `Tags.PLACES`."""
    if isinstance(avro, RecordType):
        return f"({''.join(f'{item.name}={text_of(item.type, value[item.name])},' for item in avro.fields)})"
    if isinstance(avro, ArrayType):
        return f"[{''.join(f'{text_of(avro.items, item)},' for item in value)}]"
    if isinstance(avro, MapType):
        return _entries((key, text_of(avro.values, item)) for key, item in value.items())
    if isinstance(avro, UnionType):
        nulls = [at for at, branch in enumerate(avro.branches) if branch.kind is TypeName.NULL]
        others = [at for at, branch in enumerate(avro.branches) if branch.kind is not TypeName.NULL]
        place, inner = (nulls[0], None) if value is None else (others[0], value) if len(others) == 1 else value
        return f"u{place}:{text_of(avro.branches[place], inner)}"
    return LEAF_TEXTS[avro.kind](avro, value)


def _number_text(avro: AvroType, value: Any) -> str:
    name = str(getattr(avro, "props", {}).get("logicalType"))
    if isinstance(value, datetime.datetime):
        at = value if value.tzinfo is not None else value.replace(tzinfo=datetime.UTC)
        return f"i{(at - EPOCH) // UNITS[name]}"
    if isinstance(value, datetime.time):
        return f"i{(datetime.datetime.combine(EPOCH.date(), value, datetime.UTC) - EPOCH) // UNITS[name]}"
    if isinstance(value, datetime.date):
        return f"i{(value - EPOCH.date()).days}"
    assert type(value) is int
    return f"i{value}"


def _octets_text(avro: AvroType, value: Any) -> str:
    if isinstance(value, Decimal):
        number = int("".join(map(str, value.as_tuple().digits))) * (-1 if value.is_signed() else 1)
        assert value.as_tuple().exponent == -getattr(avro, "props", {}).get("scale", 0)
        size = avro.size if isinstance(avro, FixedType) else (number.bit_length() + 8) // 8
        value = number.to_bytes(size, "big", signed=True)
    elif isinstance(value, uuid.UUID):
        value = value.bytes
    elif isinstance(value, tuple):
        value = struct.pack("<3I", *value)
    assert type(value) is bytes
    return f"b{value.hex()}"


LEAF_TEXTS: dict[TypeName, Any] = {
    TypeName.NULL: lambda avro, value: "n" if value is None else "?",
    TypeName.BOOLEAN: lambda avro, value: {True: "t", False: "f"}[value],
    TypeName.INT: _number_text,
    TypeName.LONG: _number_text,
    TypeName.FLOAT: lambda avro, value: _single(value),
    TypeName.DOUBLE: lambda avro, value: _double(value),
    TypeName.STRING: lambda avro, value: f"s{str(value).encode().hex()}",
    TypeName.ENUM: lambda avro, value: f"e{value}",
    TypeName.BYTES: _octets_text,
    TypeName.FIXED: _octets_text,
}


def without_logical_types(node: Any) -> Any:
    """A schema whose values are what stands in payloads."""
    if isinstance(node, list):
        return [without_logical_types(part) for part in node]
    if isinstance(node, dict):
        return {key: without_logical_types(part) for key, part in node.items() if key != "logicalType"}
    return node


# --- readers


DEFAULTS: list[tuple[Any, Any]] = [
    ("null", None),
    ("boolean", True),
    ("int", -5),
    ("long", 2**40),
    ("float", 1.5),
    ("double", 1),
    ("string", "é"),
    ("bytes", "\x00\xff"),
    ({"type": "fixed", "name": "n.Added", "size": 2}, "\x01ÿ"),
    ({"type": "enum", "name": "n.Added", "symbols": ["A", "B"]}, "B"),
    ({"type": "array", "items": ["null", "bytes"]}, [None]),
    ({"type": "array", "items": {"type": "map", "values": "float"}}, [{"k": 2}]),
    ({"type": "map", "values": "long"}, {"k": 1}),
    (["null", "string"], None),
    (["string", "null"], "x"),
    ({"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2}, "\x01ÿ"),
    ({"type": "int", "logicalType": "date"}, 5),
    ({"type": "long", "logicalType": "timestamp-micros"}, -1),
    ({"type": "string", "logicalType": "uuid"}, "12345678-1234-5678-1234-567812345678"),
    (
        {
            "type": "record",
            "name": "n.Added",
            "fields": [
                {"name": "a", "type": "int", "default": 3},
                {"name": "b", "type": ["null", "n.Added"], "default": None},
                {"name": "c", "type": {"type": "array", "items": "string"}},
            ],
        },
        {"c": ["x"]},
    ),
]
PROMOTIONS = {
    "int": ["long", "float", "double"],
    "long": ["float", "double"],
    "float": ["double"],
    "string": ["bytes"],
    "bytes": ["bytes"],
}
SMALL = {"int": "date", "long": "timestamp-nanos"}


class _Evolving:
    """Makes readers' schemas of writers'."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._renamed: dict[str, str] = {}
        self._added = False

    def valid(self, writer: Any) -> Any:
        for _ in range(4):
            self._renamed, self._added = {}, False
            made = self.record(copy.deepcopy(writer))
            try:
                parse(json.dumps(made), strict=True)
            except InvalidSchemaError:
                continue
            return made
        return writer

    def any(self, node: Any, in_union: bool = False) -> Any:
        rng = self._rng
        if isinstance(node, list):
            return self._union(node)
        if not in_union and rng.random() < 0.03:
            return rng.choice(["int", "string", "bytes", "double", {"type": "array", "items": "int"}])
        if not in_union and node != "null" and rng.random() < 0.1:
            extra = rng.sample(["null", "string", "double", "bytes", "long", "float"], 2)
            return [*extra, node] if _union_name(node) not in extra else [node, "null"]
        if isinstance(node, str):
            if node in self._renamed:
                return self._renamed[node]
            promoted = PROMOTIONS.get(node, [node])
            return rng.choice(promoted) if rng.random() < 0.3 and not in_union else node
        kind = node["type"]
        if kind == "record":
            return self.record(node)
        if kind == "array":
            return {**node, "items": self.any(node["items"])}
        if kind == "map":
            return {**node, "values": self.any(node["values"])}
        return self._leaf(node)

    def _union(self, node: list[Any]) -> Any:
        rng = self._rng
        branches = [self.any(branch, True) for branch in node]
        draw = rng.random()
        if draw < 0.2:
            rng.shuffle(branches)
        elif draw < 0.3 and len(branches) > 1:
            branches.pop(rng.randrange(len(branches)))
        elif draw < 0.5:
            names = {_union_name(branch) for branch in branches}
            branches = [
                name for name in rng.sample(["null", "double", "bytes", "string"], 2) if name not in names
            ] + branches
        elif draw < 0.6:
            return rng.choice(branches)
        return branches

    def _leaf(self, node: Any) -> Any:
        rng = self._rng
        if node["type"] == "enum" and rng.random() < 0.5:
            symbols = rng.sample([*node["symbols"], "Z"], rng.randint(1, len(node["symbols"]) + 1))
            return self._named({**node, "symbols": symbols} | ({"default": symbols[0]} if rng.random() < 0.5 else {}))
        if node["type"] == "fixed" and "logicalType" not in node and rng.random() < 0.1:
            return {**node, "size": node["size"] + 1}
        if "logicalType" in node and rng.random() < 0.2:
            return {key: value for key, value in node.items() if key != "logicalType"}
        return self._named(node) if "name" in node else node

    def _named(self, node: Any) -> Any:
        """Perhaps of another name, with the old one as its alias."""
        if self._rng.random() < 0.2:
            space = node.get("namespace", "")
            full = node["name"] if "." in node["name"] or not space else f"{space}.{node['name']}"
            made = {**node, "name": f"{node['name']}New", "aliases": [full]}
            self._renamed[full] = f"{full}New"
            return made
        return node

    def record(self, node: Any) -> Any:
        rng = self._rng
        made = self._named(node)
        fields = []
        for item in node["fields"]:
            draw = rng.random()
            if draw < 0.1:
                continue
            kind = self.any(item["type"])
            if draw < 0.2:
                fields.append({"name": f"{item['name']}_new", "aliases": [item["name"]], "type": kind})
            else:
                fields.append({**item, "type": kind})
        if rng.random() < 0.3:
            rng.shuffle(fields)
        if rng.random() < 0.4 and not self._added:
            kind, default = rng.choice(DEFAULTS)
            self._added = True
            fields.append({"name": "added", "type": kind} | ({"default": default} if rng.random() < 0.9 else {}))
        return {**made, "fields": fields}


# --- values that do not fit


def spoiled(rng: random.Random, avro: AvroType, value: Any, path: str) -> tuple[Any, str] | None:
    """A value with one place that does not fit, and its path; None if this draw found no place for it.

    Unions are left alone: whether a value fits another branch is not said here.
    """
    if isinstance(avro, RecordType):
        if not avro.fields or rng.random() < 0.1:
            return rng.choice([5, "x", [], None, 1.5]), path
        item = rng.choice(avro.fields)
        found = spoiled(rng, item.type, value[item.name], f"{path}.{item.name}")
        return None if found is None else ({**value, item.name: found[0]}, found[1])
    if isinstance(avro, ArrayType) and value:
        at = rng.randrange(len(value))
        found = spoiled(rng, avro.items, value[at], f"{path}[{at}]")
        return None if found is None else ([*value[:at], found[0], *value[at + 1 :]], found[1])
    if isinstance(avro, MapType) and value:
        key = rng.choice(list(value))
        found = spoiled(rng, avro.values, value[key], f"{path}[entry {list(value).index(key)}]")
        return None if found is None else ({**value, key: found[0]}, found[1])
    if isinstance(avro, UnionType):
        return None
    return rng.choice(BAD[avro.kind]), path


BAD: dict[TypeName, list[Any]] = {
    TypeName.NULL: [0, False, "", {}],
    TypeName.BOOLEAN: [0, 1, "true", None],
    TypeName.INT: [1.0, True, "1 ", 2**31, None, Decimal(1)],
    TypeName.LONG: [1.0, False, "1", 2**63, -(2**63) - 1, None],
    TypeName.FLOAT: ["1", True, None, 1e39, 2**24 + 1, Decimal(1)],
    TypeName.DOUBLE: ["1", False, None, 2**53 + 1, Decimal(1)],
    TypeName.BYTES: ["x", None, 5, [1]],
    TypeName.STRING: [b"x", None, 5, "\ud800"],
    TypeName.ENUM: ["none of them", b"A", 0, None],
    TypeName.FIXED: [b"x" * 99, "x", None, 5],
    TypeName.ARRAY: ["x", b"x", {"a": 1}, 5, None],
    TypeName.MAP: [[], "x", 5, None],
}
