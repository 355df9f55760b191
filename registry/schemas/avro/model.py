"""Avro schemas parsed: from a text to the types of `types`, names resolved.

Must not know of compatibility or of data. Source: Avro specification 1.12, "Schema Declaration" and "Names"; what it
leaves open is as Java's `Schema.Parser` has it, since that is the judge inside Confluent's registry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, TypeAlias

from registry.errors import InvalidSchemaError
from registry.schemas.avro.defaults import number_in
from registry.schemas.avro.parts import (
    ENUM_RESERVED,
    FIELD_RESERVED,
    RESERVED,
    Naming,
    is_name,
    naming_of,
    needed,
    props,
    short,
    strings,
    text_of,
)
from registry.schemas.avro.types import (
    NAMED_TYPES,
    NO_DEFAULT,
    PRIMITIVES,
    ArrayType,
    AvroType,
    EnumType,
    Field,
    FixedType,
    MapType,
    NamedType,
    Primitive,
    RecordType,
    TypeName,
    UnionType,
    type_name,
)
from registry.schemas.documents import loads, without_comments

__all__ = [
    "NO_DEFAULT",
    "ArrayType",
    "AvroType",
    "EnumType",
    "Field",
    "FixedType",
    "MapType",
    "NamedType",
    "Primitive",
    "RecordType",
    "TypeName",
    "UnionType",
    "parse",
    "type_name",
]

MAX_FIXED_SIZE: Final = 2**31 - 1
ORDERS: Final = ("ascending", "descending", "ignore")


def parse(text: str, referenced: Iterable[str] = (), *, strict: bool = False) -> AvroType:
    """Parses a schema.

    Args:
        text: the schema's JSON, comments allowed; a bare primitive name (`string`) is taken too.
        referenced: texts of the schemas whose names this one uses, each after those it uses itself.
        strict: refuse `{"type": {"type": ...}}`, which other libraries take and Java does not.

    Cost: linear in the texts; nothing in it depends on Python's stack.

    Raises:
        InvalidSchemaError: not JSON, or not a valid Avro schema, or nested deeper than `MAX_JSON_DEPTH`.
    """
    parser = _Parser(strict)
    for other in referenced:
        parser.parse(_document(other))
    return parser.parse(_document(text))


def _document(text: str) -> Any:
    if text.strip() in PRIMITIVES:
        return text.strip()
    try:
        try:
            return loads(text)
        except ValueError:
            plain = without_comments(text) if "/" in text else text
            if plain == text:
                raise
            return loads(plain)
    except ValueError as error:
        raise InvalidSchemaError.local(f"Avro schema is not JSON: {error}") from error


Put: TypeAlias = Callable[[AvroType], object]
"""A function that stores a type once it is made."""


class _Parser:
    """Reads one schema and those before it into one table of names.

    Nested types wait on a stack of the parser's own, the next one in the text on top, so depth costs nothing. Names
    that are used before they are defined are looked up at the end, as Java does since Avro 1.12.
    """

    def __init__(self, strict: bool) -> None:
        self._strict = strict
        self._named: dict[str, RecordType | EnumType | FixedType] = {}
        self._definitions: dict[str, Any] = {}
        self._waiting: list[tuple[Any, str, Put]] = []
        self._unknown: list[tuple[str, Put]] = []
        self._unions: list[UnionType] = []

    def parse(self, node: Any) -> AvroType:
        made: list[AvroType] = []
        self._waiting.append((node, "", made.append))
        while self._waiting:
            self._take(*self._waiting.pop())
        for name, put in self._unknown:
            found = self._named.get(name)
            if found is None:
                raise InvalidSchemaError.local(f"undefined name: {short(name)}")
            put(found)
        for union in self._unions:
            _check_union(union)
        self._unknown, self._unions = [], []
        return made[-1]

    def _take(self, node: Any, namespace: str, put: Put) -> None:
        while isinstance(node, dict) and isinstance(node.get("type"), (dict, list)) and not self._strict:
            node = node["type"]
        if isinstance(node, str):
            self._by_name(node, namespace, put)
        elif isinstance(node, list):
            put(self._union(node, namespace))
        elif isinstance(node, dict):
            kind = node.get("type")
            if not isinstance(kind, str):
                raise InvalidSchemaError.local(f"no type in {short(node)}")
            self._object(kind, node, namespace, put)
        else:
            raise InvalidSchemaError.local(f"{short(node)} is not an Avro schema")

    def _object(self, kind: str, node: dict[str, Any], namespace: str, put: Put) -> None:
        if kind in PRIMITIVES:
            put(Primitive(PRIMITIVES[kind], props(node)))
        elif kind == "array":
            array = ArrayType(UNKNOWN, props(node))
            put(array)
            self._waiting.append((needed(node, "items"), namespace, partial(setattr, array, "items")))
        elif kind == "map":
            made = MapType(UNKNOWN, props(node))
            put(made)
            self._waiting.append((needed(node, "values"), namespace, partial(setattr, made, "values")))
        elif kind in NAMED_TYPES:
            put(self._definition(kind, node, namespace))
        else:
            self._by_name(kind, namespace, put)

    def _definition(self, kind: str, node: dict[str, Any], namespace: str) -> AvroType:
        naming = naming_of(node, namespace, ENUM_RESERVED if kind == "enum" else RESERVED)
        name = naming[0]
        made: RecordType | EnumType | FixedType
        if kind == "enum":
            made = _enum(node, naming)
        elif kind == "fixed":
            made = FixedType(*naming, size=_size(node, name))
        else:
            made = RecordType(*naming, is_error=kind == "error")
        if name in self._named and self._is_repeated(made, node):
            return self._named[name]
        if name in self._named or name in PRIMITIVES:
            raise InvalidSchemaError.local(f"can't redefine: {name}")
        self._named[name], self._definitions[name] = made, node
        if isinstance(made, RecordType):
            self._fields(made, node)
        return made

    def _is_repeated(self, made: RecordType | EnumType | FixedType, node: Any) -> bool:
        """Whether a name is defined again as it is: Java leaves out doc, aliases and the defaults of enums.

        A record's fields are not parsed yet: its text has to be the same.
        """
        known = self._named[made.name]
        if isinstance(made, RecordType) or isinstance(known, RecordType):
            return _same(self._definitions[made.name], node)
        if isinstance(made, EnumType) and isinstance(known, EnumType):
            return made.symbols == known.symbols and _same(made.props, known.props)
        if isinstance(made, FixedType) and isinstance(known, FixedType):
            return made.size == known.size and _same(made.props, known.props)
        return False

    def _by_name(self, name: str, namespace: str, put: Put) -> None:
        if name in PRIMITIVES:
            put(Primitive(PRIMITIVES[name]))
            return
        names = [name] if "." in name or not namespace else [f"{namespace}.{name}", name]
        made = self._defined(names)
        if made is None:
            self._unknown.append((names[0], put))
        else:
            put(made)

    def _defined(self, names: list[str]) -> AvroType | None:
        return next((self._named[name] for name in names if name in self._named), None)

    def _union(self, node: list[Any], namespace: str) -> UnionType:
        made = UnionType([UNKNOWN] * len(node))
        self._unions.append(made)
        for at in range(len(node) - 1, -1, -1):
            self._waiting.append((node[at], namespace, partial(made.branches.__setitem__, at)))
        return made

    def _fields(self, record: RecordType, node: dict[str, Any]) -> None:
        fields = needed(node, "fields")
        if not isinstance(fields, list):
            raise InvalidSchemaError.local(f"fields of {record.name} are not a list")
        names: set[str] = set()
        namespace = record.namespace
        for item in fields:
            made = _field(item, record.name)
            if made.name in names:
                raise InvalidSchemaError.local(f"duplicate field {made.name!r} in record {record.name}")
            names.add(made.name)
            record.fields.append(made)
        for made, item in zip(reversed(record.fields), reversed(fields), strict=True):
            kind = item["type"]
            if isinstance(kind, str) and kind in PRIMITIVES:
                _put_field_type(made, Primitive(PRIMITIVES[kind]))
            else:
                self._waiting.append((kind, namespace, partial(_put_field_type, made)))


UNKNOWN: Final = Primitive(TypeName.NULL)
"""Stands where a type is not made yet."""


def _check_union(union: UnionType) -> None:
    seen: set[str] = set()
    for branch in union.branches:
        if isinstance(branch, UnionType):
            raise InvalidSchemaError.local("a union may not directly hold a union")
        name = type_name(branch)
        if name in seen:
            raise InvalidSchemaError.local(f"duplicate in union: {name}")
        seen.add(name)


def _field(node: Any, record: str) -> Field:
    if not isinstance(node, dict) or not isinstance(node.get("name"), str):
        raise InvalidSchemaError.local(f"a field of record {record} has no name")
    name = node["name"]
    if not is_name(name):
        raise InvalidSchemaError.local(f"illegal name of a field of {record}: {short(name)}")
    if "type" not in node:
        raise InvalidSchemaError.local(f"field {name!r} of record {record} has no type")
    order = node.get("order", "ascending")
    if not isinstance(order, str) or order.lower() not in ORDERS:
        raise InvalidSchemaError.local(f"order of field {name!r} of {record} is not one of {', '.join(ORDERS)}")
    aliases = strings(node["aliases"], f"aliases of field {name!r}") if "aliases" in node else []
    default = node.get("default", NO_DEFAULT)
    return Field(name, UNKNOWN, default, aliases, order.lower(), text_of(node, "doc"), props(node, FIELD_RESERVED))


def _put_field_type(field: Field, made: AvroType) -> None:
    field.type = made
    if isinstance(field.default, str) and made.kind in (TypeName.FLOAT, TypeName.DOUBLE):
        number = number_in(field.default)
        if number is None:
            raise InvalidSchemaError.local(f"default {short(field.default)} of field {field.name!r} is not a number")
        field.default = number


def _enum(node: dict[str, Any], naming: Naming) -> EnumType:
    name = naming[0]
    symbols = strings(needed(node, "symbols"), f"symbols of enum {name}")
    for symbol in symbols:
        if not is_name(symbol):
            raise InvalidSchemaError.local(f"illegal symbol of enum {name}: {short(symbol)}")
    if len(set(symbols)) != len(symbols):
        raise InvalidSchemaError.local(f"duplicate symbols in enum {name}")
    default = text_of(node, "default")
    if default is not None and default not in symbols:
        raise InvalidSchemaError.local(f"default {short(default)} of enum {name} is not one of its symbols")
    return EnumType(*naming, symbols=symbols, default=default)


def _size(node: dict[str, Any], name: str) -> int:
    size = needed(node, "size")
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size <= MAX_FIXED_SIZE:
        raise InvalidSchemaError.local(f"size of fixed {name} must be a whole number from 0: {short(size)}")
    return size


def _same(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except RecursionError:
        return False
