"""JSON values ↔ bytes, checked against a JSON Schema: validators compiled once, errors located.

Must not know of frames, topics or registries; `$ref`s are resolved among the schemas at hand, never over a network.
Source: JSON Schema draft-04 to 2020-12. With `jsonschema-rs` and `orjson` (extra `fast-json`) the work is done there;
`jsonschema` and `json` word the errors, and take over what those can't take (huge integers, deep values).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn, Protocol

import jsonschema
import referencing
import referencing.exceptions
from jsonschema.validators import validator_for
from referencing.jsonschema import DRAFT7

from registry import Schema
from registry.compat import documents
from serdes.errors import SerializationError
from serdes.formats import Decode, Encode, Referenced
from serdes.json_formats import formats_of

__all__ = ["JsonSchema", "decoder", "dumps", "encoder", "load", "loads", "validator_of"]

try:
    import orjson
except ImportError:
    orjson = None  # type: ignore[assignment]
try:
    import jsonschema_rs
except ImportError:
    jsonschema_rs = None  # type: ignore[assignment]
HAS_FAST = jsonschema_rs is not None
HAS_ORJSON = orjson is not None

MAX_DEPTH: Final = 250
"""Levels of a value that is checked; more are refused."""


CRASHES: Final = (TypeError, ValueError, ArithmeticError, re.error)
"""What jsonschema raises for numbers, patterns and combinations of rules that it can't take."""


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
    """

    document: Any
    referenced: Mapping[str, Any] = field(default_factory=dict)
    check: Check = field(default=lambda value, shallow=False: None)

    @property
    def name(self) -> str | None:
        """The title, which strategies take as the record's name."""
        title = self.document.get("title") if isinstance(self.document, dict) else None
        return title if isinstance(title, str) else None


def load(schema: Schema, referenced: Referenced = ()) -> JsonSchema:
    """Parses a schema with all it refers to.

    Raises:
        SerializationError: it is not a JSON Schema, or a reference leads nowhere.
    """
    document = _document(schema.schema_str)
    others = {reference.name: _document(found.schema_str) for reference, found in referenced}
    slow, fast = _slow(document, others), _fast(document, others)
    # the fast validator knows the regular expressions of ECMA 262, Python's differ
    formats = jsonschema.FormatChecker(()) if fast is not None else type(slow).FORMAT_CHECKER
    try:
        type(slow).check_schema(document, format_checker=formats)
    except jsonschema.SchemaError as error:
        raise SerializationError(f"the JSON Schema is not valid at {error.json_path}: {error.message}") from error
    except RecursionError as error:
        raise SerializationError("the JSON Schema is nested too deeply") from error
    return JsonSchema(document, others, _checker(slow, fast))


def validator_of(schema: JsonSchema) -> Any:
    """jsonschema's validator of a schema, which resolves references as `check` does."""
    return _slow(schema.document, schema.referenced)


def _document(text: str) -> Any:
    try:
        found = documents.loads(text)
    except ValueError as error:
        raise SerializationError(f"the JSON Schema is not JSON: {error}") from error
    if not isinstance(found, (dict, bool)):
        raise SerializationError(f"a JSON Schema is an object or a boolean, not {type(found).__name__}")
    return found


def _refuse(uri: Any) -> NoReturn:
    raise LookupError(f"{uri} is not among the schema's references")


def _slow(document: Any, others: Mapping[str, Any]) -> Any:
    """jsonschema's validator; draft 7 if the schema does not say which."""

    def retrieve(uri: str) -> Any:
        raise referencing.exceptions.NoSuchResource(uri)

    resources = [
        (name, referencing.Resource.from_contents(other, default_specification=DRAFT7))
        for name, other in others.items()
    ]
    known: Any = referencing.Registry(retrieve=retrieve).with_resources(resources)  # type: ignore[call-arg]
    kind = validator_for(document, default=jsonschema.Draft7Validator)
    return kind(document, registry=known, format_checker=formats_of(kind))


def _fast(document: Any, others: Mapping[str, Any]) -> Any:
    """jsonschema-rs' validator, None if it is not installed or does not take the schema."""
    if not HAS_FAST or not isinstance(document, dict):
        return None
    try:
        kind = jsonschema_rs.validator_cls_for(document) if "$schema" in document else jsonschema_rs.Draft7Validator
        known = None
        if others:
            known = jsonschema_rs.Registry([*others.items()], draft=jsonschema_rs.Draft7, retriever=_refuse)
        return kind(document, validate_formats=True, registry=known, retriever=_refuse)
    except (ValueError, jsonschema_rs.ReferencingError):
        return None  # what is wrong, if anything, the other validator says


def _checker(slow: Any, fast: Any) -> Check:
    """The check of values: the fast validator says yes; anything else is looked at by the slow one."""

    def check(value: Any, shallow: bool = False) -> None:
        if not shallow and _too_deep(value):
            raise SerializationError(f"the value is nested deeper than {MAX_DEPTH} levels")
        try:
            valid = fast is not None and fast.is_valid(value)
        except (ValueError, TypeError, OverflowError):
            valid, taken = False, False  # not a value this validator can take
        else:
            taken = fast is not None
        if valid:
            return
        try:
            _check_slowly(slow, value)
        except CRASHES as crash:
            if not taken:
                message = f"the value can't be checked against its schema: {type(crash).__name__}: {crash}"
                raise SerializationError(message) from crash
        if taken:
            error = next(fast.iter_errors(value))
            raise SerializationError(error.message, path=_path(error.instance_path))

    return check


def _too_deep(value: Any) -> bool:
    """Whether a value is deeper than validators can stand: jsonschema-rs would overflow the stack."""
    level, depth = [value], 0
    while level and depth <= MAX_DEPTH:
        holders = [part for part in level if isinstance(part, (dict, list, tuple))]
        level = [item for part in holders for item in (part.values() if isinstance(part, dict) else part)]
        depth += bool(holders)
    return depth > MAX_DEPTH


def _check_slowly(slow: Any, value: Any) -> None:
    try:
        error = jsonschema.exceptions.best_match(slow.iter_errors(value))
    except referencing.exceptions.Unresolvable as unresolvable:
        missing = f"the JSON Schema refers to {unresolvable.ref!r}, which it has no reference for"
        raise SerializationError(missing) from unresolvable
    except RecursionError as deep:
        raise SerializationError("the value is nested too deeply") from deep
    if error is not None:
        raise SerializationError(_reason(error), path=_path(error.absolute_path))


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
    """What is wrong, without the value."""
    rule, wanted, found = error.validator, error.validator_value, _kind(error.instance)
    if rule == "type":
        return f"{found} where {wanted if isinstance(wanted, str) else ' or '.join(wanted)} is needed"
    if rule == "required" and isinstance(error.instance, dict):
        missing = ", ".join(repr(name) for name in wanted if name not in error.instance)
        return f"{missing} is required and missing"
    if rule == "additionalProperties" and isinstance(error.instance, dict):
        return "it has properties that the schema does not allow"
    if error.validator is None:
        return "the schema allows no value here"
    text = json.dumps(wanted, default=str)
    return f"{found} that breaks {rule!r}: {text if len(text) <= 200 else text[:200] + '…'}"


def _kind(value: Any) -> str:
    for kind, word in (
        (bool, "a boolean"),
        (type(None), "null"),
        (str, "a string"),
        (int, "an integer"),
        (float, "a number"),
        (dict, "an object"),
        (list, "an array"),
    ):
        if isinstance(value, kind):
            return word
    return f"a value of type {type(value).__name__}"


# --- bytes


def dumps(value: Any) -> bytes:
    """A value as compact JSON in UTF-8.

    Raises:
        SerializationError: not a JSON value: another type, NaN, a key that is not a string, or too deep.
    """
    if not HAS_ORJSON:
        return _dumps(value)
    try:
        return orjson.dumps(value)
    except (orjson.JSONEncodeError, RecursionError):
        return _dumps(value)


def _dumps(value: Any) -> bytes:
    try:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise SerializationError(f"not a JSON value: {_why(error)}") from error


def loads(data: bytes) -> Any:
    """The value of JSON in UTF-8.

    Raises:
        SerializationError: not JSON, or too deep.
    """
    if not HAS_ORJSON:
        return _loads(data)
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return _loads(data)


def _loads(data: bytes) -> Any:
    try:
        return json.loads(data, parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise SerializationError(f"the payload is not JSON: {_why(error)}") from error


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text[:40]} is too large")
    return number


def _why(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, UnicodeError):
        return "not UTF-8"
    return error.msg if isinstance(error, json.JSONDecodeError) else str(error)


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
    to_bytes = dumps if own is None else _own_dumps(own)

    def encode(value: Any) -> bytes:
        try:
            payload = to_bytes(value)
        except SerializationError:
            if check is not None:
                check(value)  # it may say where
            raise
        if check is not None:
            check(value, own is None and payload.count(b"[") + payload.count(b"{") <= MAX_DEPTH)
        return prefix + payload

    return encode


def _own_dumps(encode_json: Callable[[Any], Any]) -> Encode:
    def to_bytes(value: Any) -> bytes:
        text = encode_json(value)
        return text.encode() if isinstance(text, str) else bytes(text)

    return to_bytes


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
    own = decode_json
    to_value = loads if own is None else own

    def decode(frame: bytes) -> Any:
        value = to_value(frame[skip:] if skip else frame)
        if check is not None:
            check(value, own is None and frame.count(b"[") + frame.count(b"{") <= MAX_DEPTH)
        return value

    return decode
