"""The validator of values by a JSON Schema, and the wording of its errors: one engine, `jsonschema-rs`.

Must not know of bytes, frames or registries; `$ref`s are resolved among the schemas at hand, never over a network. The
engine's own messages quote values: its structured errors are worded anew. Wording costs a bounded number of steps: in a
large value the failing part is looked for first. Source: JSON Schema draft-04 to 2020-12; docs/decisions/0051.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NoReturn
from urllib.parse import quote, urljoin, urlsplit

import jsonschema
import jsonschema_rs as rs
from jsonschema.validators import validator_for

from serdes.errors import SerializationError, foreign

BACKTRACKS: Final = 100_000
"""Steps of a pattern with look-around or back references, for one text; others are matched in linear time."""
WORDING_STEPS: Final = 2_000
"""The largest value that the engine words as a whole, counting each part once per level above it."""
NARROWING_STEPS: Final = 5_000
"""The most parts of a large value that are tried, to find the one that fails."""
TEXT_STEP: Final = 1 << 12
URIS: Final = ("$ref", "$id", "id")
URI_SAFE: Final = "%#/:?&=@!$'()*+,;~[]"
DATA: Final = ("const", "enum", "default", "examples")
ROOT: Final = "kserdes-root.json"
"""The schema's own name where parts of it are compiled alone."""
KINDS: Final[Mapping[str, Any]] = {
    "Draft4Validator": rs.Draft4Validator,
    "Draft6Validator": rs.Draft6Validator,
    "Draft7Validator": rs.Draft7Validator,
    "Draft201909Validator": rs.Draft201909Validator,
    "Draft202012Validator": rs.Draft202012Validator,
}
LIMITS: Final = frozenset(
    (
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"),
        *("minItems", "maxItems", "minProperties", "maxProperties", "pattern", "format", "enum", "const"),
        *("contentEncoding", "contentMediaType"),
    )
)
"""Keywords whose operand, which the schema holds, is part of the sentence."""


class Engine:
    """A compiled schema.

    Args:
        document: the schema.
        others: name of the reference → schema.

    Raises:
        SerializationError: it is not a JSON Schema, or a reference leads nowhere.
    """

    def __init__(self, document: Any, others: Mapping[str, Any]) -> None:
        self.document = document
        self._others = {name: _with_uris(other) for name, other in others.items()}
        self._given = others
        self._base = document.get("$id", document.get("id")) if isinstance(document, dict) else None
        self._kind, plain = _kind_of(document)
        self._plain = _with_uris(plain)
        self._validator = self.compiled(self._plain)
        self._parts: Any = None
        self._places: dict[int, str] = {}
        self._part_validators: dict[int, tuple[Any, Any]] = {}  # with the parts, so that ids stay theirs
        self.is_valid = self._validator.is_valid

    def compiled(self, schema: Any, maker: Any = None, with_root: bool = False) -> Any:
        """Another schema of this draft, with the same references; patterns run in linear time, or under a bound."""
        known = None
        if self._others or with_root:
            resources = [*self._resources(), *([(ROOT, self._plain)] if with_root else ())]
            known = rs.Registry(resources, draft=rs.Draft7, retriever=_refuse)
        options: list[Any] = [rs.RegexOptions(), rs.FancyRegexOptions(backtrack_limit=BACKTRACKS)]
        while True:
            try:
                return (maker or self._kind)(
                    schema,
                    validate_formats=True,
                    registry=known,
                    retriever=_refuse,
                    pattern_options=options.pop(0),
                )
            except (rs.ValidationError, rs.ReferencingError) as error:
                if not options:
                    raise SerializationError(_schema_fault(error)) from error
            except Exception as error:
                raise foreign("the JSON Schema can't be used", error) from error

    def _resources(self) -> Iterator[tuple[str, Any]]:
        for name, other in self._others.items():
            yield name, other
            if isinstance(self._base, str) and urlsplit(self._base).scheme and not urlsplit(name).scheme:
                yield urljoin(self._base, name), other

    def part_is_valid(self, part: Any, value: Any) -> bool:
        """Whether a value fits a part of the schema, or of one it refers to.

        Args:
            part: the very object inside the documents: its place says what its references are relative to.
            value: the value.
        """
        if isinstance(part, bool):
            return part
        found = self._part_validators.get(id(part))
        if found is None:
            if not self._places:
                documents = {ROOT: self.document, **self._given}
                self._places = {key: at for name, item in documents.items() for key, at in _places(name, item)}
            place = self._places.get(id(part))
            schema = part if place is None else {"$ref": place}
            found = self._part_validators[id(part)] = self.compiled(schema, with_root=True), part
        valid: bool = found[0].is_valid(value)
        return valid

    def error(self, value: Any) -> SerializationError:
        """The error of a value that is not valid."""
        path: list[Any] = []
        validator, part = self._validator, value
        if _steps(value) > WORDING_STEPS:
            path, pointer, part = self._narrowed(value)
            validator = self._validator if pointer == "#" else self._parts[pointer]
            if _steps(part) > WORDING_STEPS:
                return SerializationError("the value does not fit the schema here", path=_path(path))
        try:
            validator.validate(part)
        except rs.ValidationError as error:
            fault = _deepest(error)
            return SerializationError(_reason(fault), path=_path([*path, *fault.instance_path]))
        return SerializationError("the value does not fit the schema", path=_path(path))

    def _narrowed(self, value: Any) -> tuple[list[Any], str, Any]:
        """The path to a part of a large value that fails by itself, the schema it fails, and the part."""
        if self._parts is None:
            self._parts = self.compiled(self._plain, rs.validator_map_for)
        path: list[Any] = []
        pointer, tries = "#", 0
        while _steps(value) > WORDING_STEPS:
            for step, key, part in self._applied(pointer, value):
                tries += 1
                try:
                    failing = self._parts.get(step)
                except KeyError:
                    failing = None
                if failing is not None and not failing.is_valid(part):
                    path += [] if key is None else [key]
                    pointer, value = step, part
                    break
                if tries > NARROWING_STEPS:
                    return path, pointer, value
            else:
                break
        return path, pointer, value

    def _applied(self, pointer: str, value: Any) -> Iterator[tuple[str, Any, Any]]:
        """Schemas that a value and its parts must all fit, with the key of the part (None for the value itself)."""
        schema = _at(self._plain, pointer)
        if not isinstance(schema, dict):
            return
        reference = schema.get("$ref")
        if isinstance(reference, str) and (reference == "#" or reference.startswith("#/")):
            yield reference, None, value
        for at in range(len(schema["allOf"]) if isinstance(schema.get("allOf"), list) else 0):
            yield f"{pointer}/allOf/{at}", None, value
        if isinstance(value, dict):
            named = schema.get("properties", {})
            for name, part in value.items():
                if name in named:
                    yield f"{pointer}/properties/{name.replace('~', '~0').replace('/', '~1')}", name, part
                elif isinstance(schema.get("additionalProperties"), dict) and "patternProperties" not in schema:
                    yield f"{pointer}/additionalProperties", name, part
        elif isinstance(value, (list, tuple)) and isinstance(schema.get("items"), dict):
            start = len(schema.get("prefixItems", ()))
            for at, part in enumerate(value[start:], start):
                yield f"{pointer}/items", at, part


def _kind_of(document: Any) -> tuple[Any, Any]:
    """The engine's class for a draft (7 if the schema does not say, or names none that is known), and the schema."""
    if not isinstance(document, dict):
        return rs.Draft7Validator, document
    kind: Any = validator_for(document, default=None)  # type: ignore[arg-type]
    if kind is None:
        return rs.Draft7Validator, {key: part for key, part in document.items() if key != "$schema"}
    if kind.__name__ not in KINDS:
        raise SerializationError(f"the JSON Schema is of a draft that is not supported: {document.get('$schema')}")
    return KINDS[kind.__name__], document


def _with_uris(schema: Any) -> Any:
    """A schema whose `$ref`s and ids are URIs: registries take blanks and the like in them, the engine does not."""
    if isinstance(schema, list):
        return [_with_uris(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: quote(item, safe=URI_SAFE)
        if name in URIS and isinstance(item, str)
        else (item if name in DATA else _with_uris(item))
        for name, item in schema.items()
    }


def _places(name: str, document: Any) -> Iterator[tuple[int, str]]:
    """The ids of all objects in a schema, with references to them."""
    stack = [(document, f"{name}#")]
    while stack:
        part, place = stack.pop()
        if isinstance(part, dict):
            yield id(part), place
            stack += [(item, f"{place}/{_escaped(key)}") for key, item in part.items()]
        elif isinstance(part, list):
            stack += [(item, f"{place}/{at}") for at, item in enumerate(part)]


def _escaped(name: str) -> str:
    return quote(name.replace("~", "~0").replace("/", "~1"))


def _refuse(uri: Any) -> NoReturn:
    raise LookupError(f"{uri} is not among the schema's references")


def _schema_fault(error: Any) -> str:
    text = str(getattr(error, "message", error)).splitlines()[0]
    if isinstance(error, rs.ReferencingError) or error.kind.name == "$ref":
        return f"the JSON Schema refers to a name without a reference: {text}"
    return f"the JSON Schema is not valid at {_path(error.instance_path) or 'its root'}: {text}"


def _at(schema: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(schema, list) and name.isdecimal() and int(name) < len(schema):
            schema = schema[int(name)]
        elif isinstance(schema, dict) and name in schema:
            schema = schema[name]
        else:
            return None
    return schema


def _steps(value: Any) -> int:
    """The size of a value, each part counted once per level above it; stops when it is enough."""
    total, stack = 0, [(value, 1)]
    while stack and total <= WORDING_STEPS:
        part, depth = stack.pop()
        total += depth
        if isinstance(part, dict):
            total += depth * len(part)
            if total <= WORDING_STEPS:
                stack += [(item, depth + 1) for item in part.values()]
        elif isinstance(part, (list, tuple)):
            total += depth * len(part)
            if total <= WORDING_STEPS:
                stack += [(item, depth + 1) for item in part]
        elif isinstance(part, str):
            total += depth * (len(part) // TEXT_STEP)
    return total


# --- wording


def _deepest(error: Any) -> Any:
    """Of alternatives that all fail, the fault that lies deepest in the value: that alternative was meant."""
    while error.kind.name in ("anyOf", "oneOf"):
        inner = [fault for faults in error.kind.context for fault in faults]
        deeper = [fault for fault in inner if len(fault.instance_path) > len(error.instance_path)]
        if not deeper:
            return error
        error = max(deeper, key=lambda fault: len(fault.instance_path))
    return error


def _path(parts: Any) -> str:
    """`order.items[3].price`; empty for the value itself."""
    path = ""
    for part in parts:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += f".{part}" if path else str(part)
    return path


def _reason(error: Any) -> str:
    """The reason of an error, without the value."""
    rule, found = error.kind.name, _word(error.instance)
    if rule == "type":
        return f"{found} where {' or '.join(error.kind.types)} is needed"
    if rule == "required":
        return f"{error.kind.property!r} is a required property"
    if rule in ("additionalProperties", "unevaluatedProperties"):
        return _surplus(error.kind.unexpected)
    if rule == "falseSchema":
        if error.schema_path and error.schema_path[-1] in ("additionalProperties", "unevaluatedProperties"):
            return "it has properties that the schema does not allow"
        return "the schema allows no value here"
    if rule in ("anyOf", "oneOf"):
        return _alternatives(rule, found, error.kind.context)
    if "backtracking" in str(getattr(error.kind, "error", "")):
        return f"{found} that the schema's pattern needs more than {BACKTRACKS} steps for"
    if rule in LIMITS:
        text = json.dumps(error.kind.value, default=str)
        return f"{found} that breaks {rule!r}: {text if len(text) <= 200 else text[:200] + '…'}"
    return f"{found} that breaks {rule!r}"


def _surplus(names: list[str]) -> str:
    shown = ", ".join(repr(name[:80]) for name in names[:5])
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"it has properties that the schema does not allow: {shown}{more}"


def _alternatives(rule: str, found: str, context: list[list[Any]]) -> str:
    if rule == "oneOf" and sum(not faults for faults in context) > 1:
        return f"{found} that fits more than one alternative of 'oneOf'"
    if context and all(len(faults) == 1 and faults[0].kind.name == "type" for faults in context):
        types = dict.fromkeys(name for faults in context for name in faults[0].kind.types)
        return f"{found} where {' or '.join(types)} is needed"
    return f"{found} that fits no alternative of {rule!r}"


def _word(value: Any) -> str:
    for kind, word in (
        (bool, "a boolean"),
        (type(None), "null"),
        (str, "a string"),
        (int, "an integer"),
        (float, "a number"),
        (dict, "an object"),
        ((list, tuple), "an array"),
    ):
        if isinstance(value, kind):
            return word
    return f"a value of type {type(value).__name__}"


def check_schema(document: Any) -> None:
    """Holds a schema against the meta-schema of its draft, with `jsonschema`, whose errors say where.

    Raises:
        SerializationError: it is not a JSON Schema.
    """
    kind: Any = validator_for(document, default=jsonschema.Draft7Validator)
    try:
        kind.check_schema(document, format_checker=jsonschema.FormatChecker(()))  # patterns: the engine's are others
    except jsonschema.SchemaError as error:
        raise SerializationError(f"the JSON Schema is not valid at {error.json_path}: {error.message}") from error
    except RecursionError as error:
        raise SerializationError("the JSON Schema is nested too deeply") from error
