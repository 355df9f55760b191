"""JSON values ↔ bytes, checked against a JSON Schema: what comes out is what went in, or it is refused with its path.

Must not know of frames, topics or registries. `serdes.formats.json.validator` judges values; `orjson` encodes and
decodes, and `json` what that library can't do exactly: integers beyond 64 bits, and telling what is wrong. Source: RFC
8259.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn, Protocol

import orjson
import referencing
import referencing.exceptions
from referencing.jsonschema import DRAFT7

from registry import Schema
from registry.schemas import documents
from serdes.errors import SerializationError, foreign
from serdes.formats.json.validator import Engine, check_schema
from serdes.formats.protocol import Decode, Encode, Referenced
from serdes.kernels import JsonDecoder, JsonEncoder, survey
from serdes.kernels.pure.values import DEEP, LARGE

MAX_DEPTH: Final = 250
"""Levels of a value; more are refused."""


class Check(Protocol):
    """Raises SerializationError for a value that is not valid."""

    def __call__(self, value: Any, shallow: bool = False) -> None:
        """Checks a value.

        Args:
            value: the value.
            shallow: whether it is known not to be nested deeper than `MAX_DEPTH`.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class JsonSchema:
    """A parsed schema.

    Attributes:
        document: the schema as a value.
        referenced: name of the reference → schema as a value.
        check: raises SerializationError for a value that is not valid.
        engine: judges values; None where nothing is to be checked.
    """

    document: Any
    referenced: Mapping[str, Any] = field(default_factory=dict)
    check: Check = field(default=lambda value, shallow=False: None)
    engine: Engine | None = None

    @property
    def name(self) -> str | None:
        """The title, which strategies take as the record's name."""
        title = self.document.get("title") if isinstance(self.document, dict) else None
        return title if isinstance(title, str) else None


def load(schema: Schema, referenced: Referenced = (), checked: bool = True) -> JsonSchema:
    """Parses a schema with all it refers to.

    Args:
        schema: the schema.
        referenced: the schemas it refers to.
        checked: whether values will be checked against it; if not, its references may lead nowhere.

    Raises:
        SerializationError: it is not a JSON Schema, or a reference leads nowhere.
    """
    document = _document(schema.schema_str)
    others = {reference.name: _document(found.schema_str) for reference, found in referenced}
    check_schema(document)
    if not checked:
        return JsonSchema(document, others)
    engine = Engine(document, others)
    return JsonSchema(document, others, _checker(engine), engine)


def resolver_of(schema: JsonSchema) -> Any:
    """Resolves the references in a schema (`referencing.Resolver`); draft 7 if the schema does not say which."""

    def retrieve(uri: str) -> Any:
        raise referencing.exceptions.NoSuchResource(uri)

    resources = [
        (name, referencing.Resource.from_contents(other, default_specification=DRAFT7))
        for name, other in schema.referenced.items()
    ]
    known: Any = referencing.Registry(retrieve=retrieve).with_resources(resources)  # type: ignore[call-arg]
    return known.resolver_with_root(referencing.Resource.from_contents(schema.document, DRAFT7))


def _document(text: str) -> Any:
    try:
        found = documents.loads(text)
    except ValueError as error:
        raise SerializationError(f"the JSON Schema is not JSON: {error}") from error
    if not isinstance(found, (dict, bool)):
        raise SerializationError(f"a JSON Schema is an object or a boolean, not {type(found).__name__}")
    return found


def _checker(engine: Engine) -> Check:
    def check(value: Any, shallow: bool = False) -> None:
        if not shallow and survey(value, MAX_DEPTH) & DEEP:
            raise SerializationError(f"the value is nested deeper than {MAX_DEPTH} levels")
        try:
            if engine.is_valid(value):
                return
        except (ValueError, TypeError, OverflowError) as error:  # of a type the engine does not know
            value = _plain(value, "")
            try:
                if engine.is_valid(value):
                    return
            except (ValueError, TypeError, OverflowError):
                raise foreign("the value can't be checked against its schema", error) from error
        raise engine.error(value)

    return check


# --- bytes


def dumps(value: Any) -> bytes:
    """A value as compact JSON in UTF-8.

    Raises:
        SerializationError: not a JSON value: another type, NaN, a key that is not a string, or too deep.
    """
    found = survey(value, MAX_DEPTH)
    if found:
        value = _exact(value, found)
    return _encoded(value)


def _exact(value: Any, found: int) -> Any:
    """A value whose survey found something, as what JSON knows.

    Raises:
        SerializationError: it can't be.
    """
    if found & DEEP:
        raise SerializationError(f"the value is nested deeper than {MAX_DEPTH} levels")
    return value if found == LARGE else _plain(value, "")


def _encoded(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:  # integers beyond 64 bits, halves of surrogate pairs
        try:
            text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
            return text.encode()
        except UnicodeError as error:
            raise SerializationError("the value has text with half of a surrogate pair, which is no UTF-8") from error
        except ValueError as error:  # survey has found what else there may be
            raise SerializationError(f"not a JSON value: an integer has so many digits: {documents.LONG}") from error
        except (TypeError, RecursionError) as error:
            raise foreign("not a JSON value", error) from error


def _plain(value: Any, path: str) -> Any:
    """A copy of exactly the types that JSON has; subclasses, as of enums, count as what they derive from.

    Raises:
        SerializationError: something has no form in JSON; `path` says where.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise SerializationError("not a JSON value: JSON has no NaN and no infinities", path=path or None)
        return float.__float__(value)
    if isinstance(value, dict):
        made = {}
        for name, part in value.items():
            if not isinstance(name, str):
                reason = f"not a JSON value: names of properties are str, not {type(name).__name__}"
                raise SerializationError(reason, path=path or None)
            made[str.__str__(name)] = _plain(part, f"{path}.{name}" if path else name)
        return made
    if isinstance(value, (list, tuple)):
        return [_plain(part, f"{path}[{at}]") for at, part in enumerate(value)]
    raise SerializationError(f"not a JSON value: a value of type {type(value).__name__}", path=path or None)


def loads(data: bytes) -> Any:
    """The value of JSON in UTF-8.

    Raises:
        SerializationError: not JSON, or too deep.
    """
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        value = _loads(data)
    found = survey(value, MAX_DEPTH)
    if found & DEEP:
        raise SerializationError(f"the payload is nested deeper than {MAX_DEPTH} levels")
    return _loads(data) if found else value  # orjson makes floats of integers beyond 64 bits


def _loads(data: bytes) -> Any:
    try:
        value = json.loads(data, parse_constant=_no_constant, parse_float=_finite, parse_int=_whole)
        json.dumps(value, ensure_ascii=False).encode()  # halves of surrogate pairs
    except _NotJsonError as error:
        raise SerializationError(f"the payload is not JSON: {error}") from error
    except json.JSONDecodeError as error:
        raise SerializationError(f"the payload is not JSON: {error.msg} (at character {error.pos})") from error
    except RecursionError as error:
        raise SerializationError("the payload is not JSON: nested too deeply") from error
    except UnicodeError as error:
        raise SerializationError("the payload is not JSON: not UTF-8") from error
    return value


class _NotJsonError(ValueError):
    pass


def _whole(literal: str) -> int:
    try:
        return documents.whole(literal)
    except ValueError as error:
        raise SerializationError(f"the payload can't be read: {error}") from error


def _no_constant(name: str) -> NoReturn:
    raise _NotJsonError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _NotJsonError("a number is too large")
    return number


def encoder(
    schema: JsonSchema | None, prefix: bytes, validate: bool, encode_json: Callable[[Any], Any] | None = None
) -> Encode:
    """A function that checks and encodes values.

    Args:
        schema: what the values are to be, None for no check.
        prefix: put in front of every result.
        validate: whether to check.
        encode_json: the user's own encoder, value → str or bytes.
    """
    check = schema.check if schema is not None and validate else None
    own = encode_json

    def encode(value: Any) -> bytes:
        found = survey(value, MAX_DEPTH)
        if found:
            value = _exact(value, found)
        if check is not None:
            check(value, True)
        return prefix + _encoded(value)

    def encode_alone(value: Any) -> bytes:
        if check is not None:
            check(value)
        text = own(value)  # type: ignore[misc]
        return prefix + (text.encode() if isinstance(text, str) else bytes(text))

    if own is not None:
        return encode_alone
    return JsonEncoder(_judge(schema, validate), MAX_DEPTH, prefix, encode)


def decoder(
    schema: JsonSchema | None, skip: int, validate: bool, decode_json: Callable[[Any], Any] | None = None
) -> Decode:
    """A function that decodes and checks payloads.

    Args:
        schema: what the values are to be, None for no check.
        skip: bytes in front of every payload.
        validate: whether to check.
        decode_json: the user's own decoder, bytes → value.
    """
    check = schema.check if schema is not None and validate else None
    to_value, shallow = (loads, True) if decode_json is None else (decode_json, False)

    def decode(frame: bytes) -> Any:
        value = to_value(frame[skip:] if skip else frame)
        if check is not None:
            check(value, shallow)
        return value

    if decode_json is not None:
        return decode
    return JsonDecoder(orjson.loads, _judge(schema, validate), MAX_DEPTH, skip, decode)


def _judge(schema: JsonSchema | None, validate: bool) -> Callable[[Any], bool] | None:
    """Says whether a value is valid; None where nothing is to be checked."""
    return schema.engine.is_valid if schema is not None and schema.engine is not None and validate else None
