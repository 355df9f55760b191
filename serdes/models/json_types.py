"""JSON Schemas of Python types, and objects ↔ JSON values: pydantic's rules, but nothing comes back as another class.

Must not know of registries or frames. Unions of classes that pydantic could take for one another are refused while the
schema is made; where only a value can tell, it is read back before it is written.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from serdes.errors import SerializationError, foreign
from serdes.models.objects import class_guard

Convert = Callable[[Any, Any], Any]


def json_adapter(kind: Any) -> tuple[str, Convert, Convert]:
    """The JSON Schema of a type, and functions from objects to JSON values and back, for `to_dict` and `from_dict`.

    Raises:
        TypeError: pydantic is not installed, or knows no schema for the type; or alternatives of a union can't be told
            apart, or a field is written by one name and read by another.
    """
    from serdes.formats.json.codec import dumps

    try:
        import pydantic
    except ImportError as missing:
        raise TypeError("JSON Schemas of types need pydantic: pip install pydantic") from missing
    try:
        adapter: Any = pydantic.TypeAdapter(kind)
        schema = adapter.json_schema(mode="serialization")
        reading = adapter.json_schema(mode="validation")
    except pydantic.errors.PydanticUserError as error:
        raise TypeError(f"there is no JSON Schema for {kind!r}: {error}") from error
    name = getattr(kind, "__name__", str(kind))
    _refuse_two_names(name, schema, reading)
    guard = class_guard(kind)
    doubtful = _has_doubtful_unions(name, schema)

    def read(value: Any) -> Any:
        return adapter.validate_json(dumps(value))  # as JSON: that is what strict models want

    def to_value(value: Any, ctx: Any) -> Any:
        if guard is not None:
            guard(value)
        try:
            made = adapter.dump_python(value, mode="json", by_alias=True, warnings="error")
        except Exception as error:  # its text may quote the value
            raise foreign(f"the value can't be written as a {name}", error) from error
        if doubtful:
            try:
                same = _same(value, read(made))
            except pydantic.ValidationError:
                same = False
            if not same:
                raise SerializationError(
                    f"the {name} would be read back as something else: its union needs a discriminator"
                )
        return made

    def from_value(value: Any, ctx: Any) -> Any:
        try:
            return read(value)
        except pydantic.ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            text = f"the value is no {name}: {first['type']}"
            raise SerializationError(text, path=place or None) from error

    text = json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})
    return text, to_value, from_value


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal and of the same classes, all the way down."""
    if type(one) is not type(other):
        return False
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(_same(part, other[key]) for key, part in one.items())
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_same, one, other))
    if hasattr(type(one), "model_fields"):
        return all(_same(getattr(one, name), getattr(other, name)) for name in type(one).model_fields)
    if dataclasses.is_dataclass(one):
        return all(_same(getattr(one, item.name), getattr(other, item.name)) for item in dataclasses.fields(one))
    return bool(one == other)


# --- what schemas tell


def _objects(schema: Any) -> Iterator[tuple[str, Any]]:
    """The objects that a schema defines, by name."""
    yield "", schema
    yield from schema.get("$defs", {}).items()


def _refuse_two_names(name: str, writing: Any, reading: Any) -> None:
    read = {key: set(part.get("properties", ())) for key, part in _objects(reading)}
    for key, part in _objects(writing):
        written = {field for field, item in part.get("properties", {}).items() if not item.get("readOnly")}
        if key in read and read[key] - written:
            fields = ", ".join(sorted(read[key] - written))
            raise TypeError(f"{key or name} reads {fields} by a name that it does not write: give the fields one alias")


def _has_doubtful_unions(name: str, schema: Any) -> bool:
    """Whether values have to be looked at to tell alternatives apart.

    Raises:
        TypeError: no value could tell them apart.
    """
    definitions = schema.get("$defs", {})
    found = False
    stack = [schema]
    while stack:
        part = stack.pop()
        if isinstance(part, list):
            stack += part
        elif isinstance(part, dict):
            stack += part.values()
            for rule in ("anyOf", "oneOf"):
                if isinstance(part.get(rule), list) and "discriminator" not in part:
                    named = [_resolved(item, definitions) for item in part[rule]]
                    objects = [item for item in named if isinstance(item, dict) and "properties" in item]
                    found = found or len([item for item in named if item.get("type") != "null"]) > 1
                    _refuse_twins(name, objects)
    return found


def _resolved(item: Any, definitions: Mapping[str, Any]) -> Any:
    reference = item.get("$ref", "") if isinstance(item, dict) else ""
    return definitions.get(reference.removeprefix("#/$defs/"), item)


def _refuse_twins(name: str, objects: list[Any]) -> None:
    for at, one in enumerate(objects):
        for other in objects[at + 1 :]:
            if not _differ(one, other):
                both = f"{one.get('title')} and {other.get('title')}"
                raise TypeError(
                    f"{name}: {both} have the same fields and can't be told apart in JSON: give each a Literal field "
                    "with another value, and the union pydantic's Field(discriminator=…)"
                )


def _differ(one: Any, other: Any) -> bool:
    """Whether there is a value of one that is none of the other."""
    mine, theirs = one["properties"], other["properties"]
    if set(one.get("required", ())) - theirs.keys() or set(other.get("required", ())) - mine.keys():
        return True
    return any(_unlike(mine[field], theirs[field]) for field in mine.keys() & theirs.keys())


def _unlike(one: Any, other: Any) -> bool:
    """Whether no value fits both: other constants, or other types."""
    constants = [
        set(map(json.dumps, part.get("enum", [part["const"]] if "const" in part else []))) for part in (one, other)
    ]
    if all(constants):
        return not constants[0] & constants[1]
    types = [part.get("type") for part in (one, other)]
    return all(isinstance(kind, str) for kind in types) and types[0] != types[1] and set(types) != {"integer", "number"}
