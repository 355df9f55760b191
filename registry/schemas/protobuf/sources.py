"""The `.proto` files a schema consists of: its text, its references under their import paths, built-in files.

Must not know what declarations mean, nor read any file but the packages' own. Source: Confluent's registry
(`ProtobufSchema`: known dependencies, base64 of a descriptor in place of a text).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Final

from registry.errors import InvalidSchemaError
from registry.limits import MAX_BRACKETS, MAX_DESCRIPTOR_BYTES, MAX_PROTO_CHARACTERS, MAX_PROTO_MARKS, MAX_REFERENCES
from registry.models import Schema
from registry.schemas.formats import Referenced

STRING_OR_COMMENT = r'"(?:[^"\\\n]++|\\.)*+"?|' + r"'(?:[^'\\\n]++|\\.)*+'?|//[^\n]*+|/\*.*?(?:\*/|\Z)"
BRACKET = re.compile(STRING_OR_COMMENT + r"|(?P<bracket>[{}\[\]<>()])", re.DOTALL)
IMPORT = re.compile(
    STRING_OR_COMMENT + r"""|\bimport\b\s*(?:public\b|weak\b|option\b)?\s*(?P<path>"[^"\\\n]*"|'[^'\\\n]*')""",
    re.DOTALL,
)
TOO_MANY: Final = "more than {:,} declarations (semicolons, commas, colons and brackets, and braces as four)"
BASE64 = re.compile(r"[A-Za-z0-9+/\s]++={0,2}+\s*+")
PATH = re.compile("[^\\\\:\"'\\x00-\\x1f]{1,1024}")
CLOSES = {"}": "{", "]": "[", ">": "<", ")": "("}

WELL_KNOWN: Final = (
    "any, api, cpp_features, descriptor, duration, empty, field_mask, go_features, java_features, source_context, "
    "struct, timestamp, type, wrappers"
)
COMMON: Final = (
    "calendar_period, color, date, datetime, dayofweek, decimal, expr, fraction, interval, latlng, money, month, "
    "phone_number, postal_address, quaternion, timeofday"
)
BUILT_IN_NAMES: Final = (
    *(f"google/protobuf/{name}.proto" for name in WELL_KNOWN.split(", ")),
    *(f"google/type/{name}.proto" for name in COMMON.split(", ")),
    "confluent/meta.proto",
    "confluent/type/decimal.proto",
    "confluent/type/variant.proto",
)
"""Import paths every schema may use without a reference, as in Confluent's registry."""


@cache
def built_in(name: str) -> str | None:
    """The text of a built-in file; None if there is no such file."""
    if name not in BUILT_IN_NAMES:
        return None
    package, path = _place(name)
    try:
        return (resources.files(package) / path).read_text("utf-8")
    except ModuleNotFoundError as missing:
        raise InvalidSchemaError.local(
            f'import "{name}" needs an optional package: '
            "pip install grpcio-tools googleapis-common-protos (the extra 'proto' of kserdes)"
        ) from missing


def _place(name: str) -> tuple[str, str]:
    """The package whose data a built-in file is, and its path in there."""
    if name.startswith("confluent/"):
        return "registry.schemas.protobuf", f"protos/{name}"
    if name.startswith("google/type/"):
        return "google.type", name.removeprefix("google/type/")
    return "grpc_tools", f"_proto/{name}"


def decoded(text: str) -> bytes | None:
    """The bytes of a schema that is base64; None if it is a `.proto` text.

    Raises:
        InvalidSchemaError: there are more than `MAX_DESCRIPTOR_BYTES`.
    """
    if not BASE64.fullmatch(text) or text.lstrip().startswith("//"):  # nothing but a comment
        return None
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except binascii.Error:
        return None
    if len(data) > MAX_DESCRIPTOR_BYTES:
        raise InvalidSchemaError.local(
            f"a descriptor of {len(data):,} bytes; at most {MAX_DESCRIPTOR_BYTES:,} are taken"
        )
    return data


def imports(text: str) -> Iterator[str]:
    """The paths a text imports, in their order. Text that is not Protobuf gives what looks like imports."""
    for found in IMPORT.finditer(text):
        if found["path"]:
            yield found["path"][1:-1]


def is_path(name: str) -> bool:
    """Whether a name is a relative path of the kind imports have."""
    return bool(PATH.fullmatch(name)) and not any(part in ("", ".", "..") for part in name.split("/"))


def texts_by_name(schema: Schema, referenced: Referenced) -> dict[str, str]:
    """The texts of all referenced schemas by import path, each after those it uses; the first of a name counts.

    Raises:
        InvalidSchemaError: a reference's name is no relative path, or they are too many or together too large.
    """
    texts: dict[str, str] = {}
    for reference, found in referenced:
        name = reference.name
        if not is_path(name):
            raise InvalidSchemaError.local(f"reference name {name[:200]!r} is not an import path: use dir/file.proto")
        texts.setdefault(name, found.schema_str)
    if len(texts) > MAX_REFERENCES:
        raise InvalidSchemaError.local(f"more than {MAX_REFERENCES} referenced schemas")
    if sum(map(len, texts.values())) > MAX_PROTO_CHARACTERS or sum(map(marks, texts.values())) > MAX_PROTO_MARKS:
        most = f"{MAX_PROTO_CHARACTERS:,} characters or {MAX_PROTO_MARKS:,} declarations"
        raise InvalidSchemaError.local(f"{len(texts)} references of more than {most} together")
    return texts


def marks(text: str) -> int:
    """A measure of how much a text declares, in no time."""
    return sum(map(text.count, ";,:[")) + 4 * text.count("{")


def refuse_extremes(text: str, which: str) -> None:
    """Refuses what no parser should be handed.

    Args:
        text: a `.proto` text.
        which: how messages call it; empty if that is clear.

    Raises:
        InvalidSchemaError: too long, too many declarations, brackets nested too deep, or not encodable.
    """
    prefix = f"{which}: " if which else ""
    if len(text) > MAX_PROTO_CHARACTERS:
        raise InvalidSchemaError.local(f"{prefix}{len(text):,} characters; at most {MAX_PROTO_CHARACTERS:,} are taken")
    if marks(text) > MAX_PROTO_MARKS:
        raise InvalidSchemaError.local(f"{prefix}{TOO_MANY.format(MAX_PROTO_MARKS)}")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InvalidSchemaError.local(f"{prefix}not valid Unicode: {error.reason}") from error
    if text.count("{") + text.count("[") + text.count("<") + text.count("(") <= MAX_BRACKETS:
        return
    still_open: list[str] = []
    for found in BRACKET.finditer(text):
        bracket = found["bracket"]
        if not bracket:
            continue
        if bracket not in CLOSES:
            still_open.append(bracket)
            if len(still_open) > MAX_BRACKETS:
                line = text.count("\n", 0, found.start()) + 1
                raise InvalidSchemaError.local(f"{prefix}line {line}: nested deeper than {MAX_BRACKETS} levels")
        elif still_open and still_open[-1] == CLOSES[bracket]:
            still_open.pop()
