"""The texts of Avro schemas: what a registry stores, what `normalize` makes of it, and the parsing canonical form.

Must not know of stores or networks. Source: Confluent's `AvroSchema` (`canonicalString`, `normalize`); Avro
specification 1.12, "Parsing Canonical Form for Schemas".
"""

from __future__ import annotations

from collections.abc import Iterable

from registry.schemas.avro.model import parse, type_name
from registry.schemas.avro.normal import Normal
from registry.schemas.avro.writer import Parsing, Stored


def avro_text(text: str, referenced: Iterable[str] = (), normalize: bool = False) -> str:
    """The schema as the registry stores it: compact JSON, attributes in one order, names qualified only where needed.

    Args:
        text: the schema.
        referenced: texts of the schemas it uses, each after those it uses itself; their names stay references.
        normalize: also order properties, aliases and the members of their values, write the defaults of numbers in
            one way, and drop empty docs and defaults that are not of the field's type.

    Raises:
        InvalidSchemaError: the schema is not valid Avro.
    """
    others = list(referenced)
    known = {type_name(parse(other, others[:at], strict=True)) for at, other in enumerate(others)}
    if normalize:
        # the registry reads the normalized text again, and stores what it then writes
        text = Normal(known).text(parse(text, others, strict=True))
    return Stored(known).text(parse(text, others, strict=True))


def parsing_form(text: str, referenced: Iterable[str] = ()) -> str:
    """The specification's canonical form: what a schema says about bytes, with all it refers to.

    Raises:
        InvalidSchemaError: the schema is not valid Avro.
    """
    return Parsing(()).text(parse(text, referenced, strict=True))
